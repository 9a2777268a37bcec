"""Reports: many masked answers, packed, carrying the design that made them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Vector
from maskwell.errors import DataError, ReportError, SimulationWarning
from maskwell.plain_text import visible_html
from maskwell.sampling.plans import Packed

if TYPE_CHECKING:
    from maskwell.tally import Tally


_KINDS = {"secure", "keyed", "seeded", "unknown"}
_AND = " and "


def joined_randomness(parts: Iterable[tuple[str, float]]) -> str:
    """How reports from several sources were drawn, from each source's randomness and how many reports it has.

    >>> joined_randomness([("secure", 10), ("secure", 20), ("keyed", 5)])
    'keyed and secure'
    """
    sources = list(parts)
    # A source without reports drew nothing.
    kinds = {kind for source, n in sources if n or not any(n for _, n in sources) for kind in source.split(_AND)}
    seeded = [is_simulated(source) for source, n in sources if n]
    if any(seeded) and not all(seeded):
        warnings.warn(
            "reports drawn from a seed, which protect nobody, are counted together with others: for simulation only.",
            SimulationWarning,
            stacklevel=3,
        )
    return _AND.join(sorted(kinds))


def is_simulated(randomness: str) -> bool:
    """Whether some of the reports were drawn from a seed."""
    return "seeded" in randomness.split(_AND)


def checked_randomness(found: Any, name: str) -> str:
    """What a file says of how its reports were drawn, if it is one of the things it can say."""
    kinds = found.split(_AND) if isinstance(found, str) else []
    if not kinds or not set(kinds) <= _KINDS or kinds != sorted(set(kinds)):
        raise ReportError(f"{name!r} does not say how its reports were drawn.")
    return str(found)


@dataclass(frozen=True, eq=False, repr=False)
class Reports:
    """Packed reports: category or row codes, or bit masks (bit j of a row, lowest first, is category j).

    ``missing`` marks rows without a report. ``randomness`` says how they were drawn: "secure", "keyed" or, for
    simulations only, "seeded"; of reports from several sources it names all, such as "secure and seeded".
    ``question`` is what was asked, where ``mask`` was told.
    """

    design: Design
    packed: Packed
    missing: NDArray[np.bool_] | None = None
    randomness: str = "secure"
    question: str | None = None

    def __len__(self) -> int:
        return len(self.packed)

    def check(self, first_row: int = 0) -> Reports:
        """These reports, if the design can have produced each of them; ``first_row`` is the number of the first."""
        empty = self.design.plan.empty(0)
        if self.packed.dtype != empty.dtype or self.packed.shape[1:] != empty.shape[1:]:
            raise ReportError(
                f"reports have type {self.packed.dtype}{list(self.packed.shape[1:])}, but {self.design.name} with "
                f"k={self.design.k} makes {empty.dtype}{list(empty.shape[1:])}; they belong to another design."
            )
        present = self.packed if self.missing is None else self.packed[~self.missing]
        wrong = self.design.codec.first_impossible(present)
        if wrong >= 0:
            row = wrong if self.missing is None else int(np.flatnonzero(~self.missing)[wrong])
            raise ReportError(
                f"the report in row {first_row + row} is one that {self.design.name} cannot produce; "
                "the file was changed or belongs to another design."
            )
        return self

    def part(self, rows: slice | NDArray[Any]) -> Reports:
        """The reports of some rows."""
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, packed=self.packed[rows], missing=missing)

    def decode(self) -> list[Any]:
        """Each report as its label, as a frozenset of labels, or None where there is no report."""
        decoded = self.design.decode(self.packed)
        if self.missing is None:
            return decoded
        return [None if gone else report for report, gone in zip(decoded, self.missing.tolist(), strict=True)]

    def tally(self, weights: Any = None, patterns: bool | None = None) -> Tally:
        """Count the reports; ``weights`` are sampling weights, ``patterns=True`` also keeps each distinct report."""
        from maskwell.tally import Tally

        return Tally.of(self, _checked_weights(weights, len(self)), patterns)

    @staticmethod
    def concatenate(parts: Iterable[Reports]) -> Reports:
        """One after the other; all must be of one design.

        A ``SimulationWarning`` says when some were drawn from a seed and others were not.
        """
        batches = list(parts)
        if not batches:
            raise ReportError("there are no reports to put together.")
        first = batches[0]
        if any(batch.design != first.design for batch in batches):
            raise ReportError("reports of different designs cannot be put together; estimate them apart.")
        asked = {batch.question for batch in batches}
        if len(asked - {None}) > 1:
            raise ReportError("reports of different questions cannot be put together; estimate them apart.")
        missing = None
        if any(batch.missing is not None for batch in batches):
            masks = [np.zeros(len(b), np.bool_) if b.missing is None else b.missing for b in batches]
            missing = np.concatenate(masks)
        return Reports(
            first.design,
            np.concatenate([batch.packed for batch in batches]),
            missing,
            joined_randomness((batch.randomness, len(batch)) for batch in batches),
            asked.pop() if len(asked) == 1 else None,
        )

    @staticmethod
    def side_by_side(columns: Mapping[str, Reports]) -> Reports:
        """Joint reports of variables that were masked apart, row by row about the same people.

        Who is missing from one variable is missing. Reports that share a key or a seed must be of different questions:
        otherwise they share their noise, and what they have in common says nothing about the people.
        """
        from maskwell.designs.product import product

        if len(columns) < 2 or len({len(reports) for reports in columns.values()}) > 1:
            counted = ", ".join(f"{name!r} has {len(reports):,}" for name, reports in columns.items())
            raise ReportError(
                f"joint reports need two variables or more, of the same people in the same order; got: {counted}."
            )
        _refuse_shared_noise(columns)
        design = product(*(reports.design for reports in columns.values()), names=list(columns))
        gone = [reports.missing for reports in columns.values() if reports.missing is not None]
        absent = np.logical_or.reduce(gone) if gone else None
        packed = design.join([reports.packed for reports in columns.values()])
        if absent is not None:
            packed[absent] = 0
        drawn = joined_randomness((reports.randomness, len(reports)) for reports in columns.values())
        return Reports(design, packed, absent, drawn)

    def to_arrow(self) -> Any:
        """An Arrow table with one column, ``report``, and the design in its metadata."""
        from maskwell.report_files import to_table

        return to_table(self)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a .parquet, .arrow or .csv file, whole or not at all; a .csv has its design beside it."""
        from maskwell.report_files import write_reports

        write_reports(path, self.design, [self])

    @staticmethod
    def read(path: str | PathLike[str]) -> Reports:
        """Read a file of reports and check that its design can have produced each one."""
        from maskwell.report_files import read_reports

        design, batches = read_reports(path)
        parts = list(batches)
        return Reports.concatenate(parts) if parts else Reports(design, design.plan.empty(0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reports) or self.design != other.design or len(self) != len(other):
            return NotImplemented if not isinstance(other, Reports) else False
        nothing = np.zeros(len(self), np.bool_)
        mine, theirs = (nothing if r.missing is None else r.missing for r in (self, other))
        return bool((mine == theirs).all() and (self.packed == other.packed).all())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        absent = 0 if self.missing is None else int(self.missing.sum())
        without = f", {absent} missing" if absent else ""
        return f"<{len(self)} {self.randomness} reports{without} of {self.design!r}>"

    def _repr_html_(self) -> str:
        return f"<p>{visible_html(repr(self))}</p>"


def _refuse_shared_noise(columns: Mapping[str, Reports]) -> None:
    """An error if two variables may have been drawn from the same random words."""
    for kind, secret in (("keyed", "key"), ("seeded", "seed")):
        asked = [reports.question for reports in columns.values() if kind in reports.randomness.split(_AND)]
        if len(asked) > 1 and (None in asked or len(set(asked)) < len(asked)):
            raise ReportError(
                f"{len(asked)} of the variables hold {kind} reports of one question or of none: drawn with one "
                f"{secret}, they share their noise and cannot be analysed together. Mask each with a question= of its "
                "own (on the command line each column is one)."
            )


def _checked_weights(weights: Any, n: int) -> Vector | None:
    if weights is None:
        return None
    try:
        checked = np.asarray(weights, float)
    except (TypeError, ValueError):
        raise DataError(f"weights must be {n} numbers, one per report.", parameter="weights") from None
    if checked.shape != (n,) or not np.isfinite(checked).all() or (checked < 0).any() or not checked.any():
        raise DataError(
            f"weights must be {n} finite numbers >= 0, not all zero: one per report; got shape {checked.shape}.",
            parameter="weights",
        )
    return checked
