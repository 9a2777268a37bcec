"""Tallies: the additive counts of reports, all that inference ever sees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Vector
from maskwell.designs.storage import about
from maskwell.errors import DataError, EstimationError, ReportError
from maskwell.input_files import read_whole
from maskwell.plain_json import jsonable
from maskwell.reports.batch import Batch
from maskwell.reports.files import read_reports
from maskwell.reports.randomness import is_simulated, joined_randomness
from maskwell.reports.recurrence import may_recur, warn_of_recurrence
from maskwell.reports.tally_storage import SUFFIX, read_tally, tally_text
from maskwell.results.result import Result
from maskwell.sampling.samplers import Packed
from maskwell.tables.labels import shown, text_of
from maskwell.whole_files import complete_file

if TYPE_CHECKING:
    from maskwell.designs.base import Design


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct reports, packed and in rising order; how often each came, or its sums of weights and squared weights."""

    packed: Packed
    counts: NDArray[Any]
    squares: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Tally(Result):
    """Counts in the shape that the design's estimators need.

    For set-valued designs ``counts[size, category]`` with a last column for reports of that size; for matrices one
    count per row. A weighted tally holds sums of weights there and sums of squared weights in ``squares``. Integer
    tallies merge exactly, in any order. ``randomness`` says how the reports were drawn, as they do, and ``runs`` which
    runs masked them, as far as that is known.
    """

    design: Design
    counts: NDArray[Any]
    n: int
    missing: int = 0
    squares: NDArray[Any] | None = None
    kept_patterns: Patterns | None = None
    randomness: str = "unknown"
    question: str | None = None
    from_sample: bool = False
    """Whether its weights are those of a sample, whose strata and clusters a tally does not know."""
    runs: frozenset[str] = frozenset()

    @staticmethod
    def of(reports: Batch, weights: Vector | None = None, patterns: bool | None = None) -> Tally:
        """The tally of reports."""
        design, packed = reports.design, reports.packed
        keep = design.keeps_patterns if patterns is None else patterns
        absent = 0
        if reports.missing is not None:
            present = ~reports.missing
            absent = int(reports.missing.sum())
            packed, weights = packed[present], None if weights is None else weights[present]
        if weights is not None and len(packed) and not weights.any():
            raise DataError(
                "weights are zero for every report that is there; nothing can be weighted.", parameter="weights"
            )
        return Tally(
            design,
            design.codec.count(packed, weights),
            len(packed),
            absent,
            None if weights is None else design.codec.count(packed, weights**2),
            _distinct(packed, weights) if keep and packed.ndim > 1 else None,
            reports.randomness,
            reports.question,
            runs=frozenset() if reports.run is None else frozenset({reports.run}),
        )

    @staticmethod
    def from_counts(design: Design, counts: Any) -> Tally:
        """A tally from one count per report, by its label or in the order of ``design.report_labels()``.

        >>> from maskwell.designs import warner
        >>> Tally.from_counts(warner(truth_prob=0.8), {"no": 70, "yes": 30}).n
        100
        """
        per_row = np.asarray(_by_label(design, counts) if isinstance(counts, Mapping) else counts)
        if per_row.shape != (design.report_count(),):
            raise ReportError(
                f"counts must hold one count per report: {design.report_count()} numbers in the order of "
                f"design.report_labels(), or a mapping from label to count; got shape {per_row.shape}.",
                parameter="counts",
            )
        if per_row.dtype.kind not in "iuf" or not np.isfinite(per_row).all() or (per_row < 0).any():
            raise ReportError("counts must be numbers >= 0; check for negative or missing entries.", parameter="counts")
        rows = np.flatnonzero(per_row)
        packed = design.pack_rows(rows)
        wrong = design.codec.first_impossible(packed)
        if wrong >= 0:
            raise ReportError(
                f"counts has reports in row {rows[wrong]}, which {design.title} cannot produce.", parameter="counts"
            )
        whole = bool((per_row == np.round(per_row)).all())
        shaped = _exact_count(design, packed, per_row[rows].astype(np.int64 if whole else float))
        kept = _merged([Patterns(packed, per_row[rows])]) if packed.ndim > 1 else None
        total = per_row.sum()
        return Tally(design, shaped, int(total) if whole else total, kept_patterns=kept)

    @staticmethod
    def read(path: str | PathLike[str], patterns: bool | None = None, column: str | None = None) -> Tally:
        """The tally of a file of reports, read in batches; or a tally that ``write`` has stored as .json.

        ``column`` says which one, where a file holds several masked columns.
        """
        if Path(path).suffix.lower() == SUFFIX:
            try:
                return Tally.from_json(read_whole(path, ReportError), f"{Path(path).name!r}")
            except OSError as error:
                raise ReportError(f"{Path(path).name!r} cannot be read: {error.strerror or error}.") from None
        design, batches = read_reports(path, Batch, column)
        return Tally.stream(design, batches, patterns)

    def write(self, path: str | PathLike[str]) -> None:
        """Store the tally as a .json file with its design and a checksum, whole or not at all."""
        if Path(path).suffix.lower() != SUFFIX:
            raise ReportError(f"a tally is stored as {SUFFIX}; got {Path(path).name!r}.")
        try:
            with complete_file(path) as file:
                file.write(self.to_json().encode())
        except OSError as error:
            raise ReportError(f"{Path(path).name!r} could not be written: {error.strerror or error}.") from None

    def to_json(self) -> str:
        """The tally as text, complete, with its design and a checksum."""
        self.refuse_sample("keep the reports with the columns of the sample beside them")
        return tally_text(self)

    @staticmethod
    def from_json(text: str | bytes, what: str = "tally") -> Tally:
        """Read a tally back; one that was changed, or that its design cannot have given, is an error."""
        members = read_tally(text, what)
        kept = members.pop("patterns")
        tally = Tally(**members, kept_patterns=None if kept is None else Patterns(*kept))
        if not tally._is_possible():
            raise ReportError(f"{what} holds counts that {tally.design.title} cannot have given.")
        return tally

    def _is_possible(self) -> bool:
        """Whether the counts fit the number of reports, the patterns, and the design."""
        design, kept, whole = self.design, self.kept_patterns, self.squares is None
        sizes = self.counts[..., -1] if self.counts.ndim > 1 else self.counts
        if (whole and sizes.sum() != self.n) or (self.counts.ndim > 1 and (self.counts > sizes[:, None]).any()):
            return False
        if self.counts.ndim == 1 and design.sampler.empty(0).ndim == 1:
            return design.codec.first_impossible(design.pack_rows(np.flatnonzero(self.counts))) < 0
        if kept is None:
            return not design.keeps_patterns or not self.n
        if len(kept.packed) and design.codec.first_impossible(kept.packed) >= 0:
            return False
        again = _merged([kept]) if len(kept.packed) else kept
        same = np.array_equal(again.packed, kept.packed)
        return same and (not whole or np.array_equal(_exact_count(design, kept.packed, kept.counts), self.counts))

    @staticmethod
    def stream(design: Design, batches: Iterable[Batch], patterns: bool | None = None) -> Tally:
        """The tally of batches of reports, one in memory at a time."""
        tallies = (Tally.of(batch, None, patterns) for batch in batches)
        start = next(tallies, None) or Tally.of(Batch(design, design.sampler.empty(0)), None, patterns)
        return reduce(lambda total, tally: Tally.added([total, tally]), tallies, start)

    @staticmethod
    def merge(tallies: Iterable[Tally], *, different_people: bool = False) -> Tally:
        """The tally of all reports together.

        Reports of different designs or questions do not belong together. A ``SimulationWarning`` says when some were
        drawn from a seed and others were not.

        An estimate takes every report for that of another person. Where people or devices send one each day, masked
        with a key or by a design of two layers, the days of one person share their noise, and intervals from merged
        days are far too narrow: estimate each day and take ``rounds.mean``. A ``RecurrenceWarning`` says so when such
        tallies are of several runs, unless ``different_people`` says that nobody is in two of them.
        """
        parts = list(tallies)
        together = Tally.added(parts, different_people=True)
        if not different_people:
            warn_of_recurrence([part._recurring() for part in parts], each_alone=True)
        return together

    @staticmethod
    def added(tallies: Iterable[Tally], *, different_people: bool = False) -> Tally:
        """The tally of the parts of one source; a ``RecurrenceWarning`` only if they say that their runs differ."""
        parts = list(tallies)
        if not parts:
            raise ReportError("there are no tallies to merge.")
        first = parts[0]
        for part in parts[1:]:
            if part.design != first.design:
                raise ReportError(
                    f"tallies of different designs cannot be merged: {part.design.title} "
                    f"({part.design.fingerprint[:12]}) "
                    f"and {first.design.title} ({first.design.fingerprint[:12]}); estimate them apart."
                )
        asked = sorted({part.question for part in parts if part.question is not None})
        if len(asked) > 1:
            raise ReportError(
                f"reports of different questions cannot be counted together: {asked[0]!r} and {asked[1]!r}; estimate "
                "them apart."
            )
        weighted = [part.squares is not None for part in parts if part.n]
        if any(weighted) and not all(weighted):
            raise ReportError("weighted and unweighted tallies cannot be merged; tally all reports with weights.")
        if not different_people:
            warn_of_recurrence([part._recurring() for part in parts])
        squares = [part.squares for part in parts if part.squares is not None]
        kept = [part.kept_patterns for part in parts]
        return replace(
            first,
            counts=np.sum([part.counts for part in parts], axis=0),
            n=sum(part.n for part in parts),
            missing=sum(part.missing for part in parts),
            squares=np.sum(squares, axis=0) if squares else None,
            kept_patterns=_merged([p for p in kept if p]) if all(kept) else None,
            randomness=joined_randomness((part.randomness, part.n + part.missing) for part in parts),
            from_sample=any(part.from_sample for part in parts),
            question=asked[0] if asked else None,
            runs=frozenset().union(*(part.runs for part in parts)),
        )

    def refuse_sample(self, remedy: str) -> None:
        """An error if this tally belongs to an estimate from a sample: by itself it would be taken as independent."""
        if self.from_sample:
            raise EstimationError(
                "this tally belongs to an estimate from a sample, and by itself knows neither its strata nor its "
                f"clusters: {remedy}."
            )

    def _recurring(self) -> frozenset[str] | None:
        """The runs of reports that a person may send again; None where there are no such reports."""
        if not self.n or not may_recur(self.randomness, layered=self.design.has_permanent_layer):
            return None
        return self.runs

    @property
    def simulated(self) -> bool:
        """Whether some of the reports were drawn from a seed."""
        return is_simulated(self.randomness)

    @property
    def effective_n(self) -> float:
        """How many unweighted reports they are worth: n, or Kish's (sum of weights)^2 / (sum of squared weights)."""
        if self.squares is None:
            return float(self.n)
        return report_total(self.counts) ** 2 / report_total(self.squares)

    @property
    def inclusions(self) -> NDArray[Any]:
        """V: in how many reports each category stands."""
        return self.design.codec.inclusions(self.counts)

    @property
    def scored_counts(self) -> NDArray[Any]:
        """What a linear estimator averages over: the counts, or for a product those of its distinct reports."""
        return (
            self.counts if self.kept_patterns is None or not self.design.keeps_patterns else self.kept_patterns.counts
        )

    @property
    def scored_squares(self) -> Any:
        """The same with squared weights; None if unweighted."""
        if self.kept_patterns is None or not self.design.keeps_patterns:
            return self.squares
        return self.kept_patterns.squares

    def marginal(self, name: str) -> Tally:
        """The tally of one variable of a product, as if its reports had been tallied alone, with patterns.

        Who is missing from one variable of a joint report is missing from all.
        """
        if not self.design.variables or self.kept_patterns is None:
            raise ReportError("marginal(name) needs the tally of a product design, with its patterns kept.")
        part, kept = self.design.part(name), self.kept_patterns
        packed = self.design.codec.split(kept.packed)[list(self.design.variables).index(name)]
        counts = _exact_count(part, packed, kept.counts)
        squares = None if kept.squares is None else part.codec.count(packed, kept.squares)
        patterns = _merged([Patterns(packed, kept.counts, kept.squares)]) if packed.ndim > 1 else None
        about: dict[str, Any] = {"from_sample": self.from_sample, "runs": self.runs}
        return Tally(part, counts, self.n, self.missing, squares, patterns, self.randomness, **about)

    @property
    def patterns(self) -> Patterns | None:
        """Distinct reports and their counts, where the tally has them."""
        if self.design.sampler.empty(0).ndim > 1:
            return self.kept_patterns
        counts = self.counts if self.counts.ndim == 1 else self.counts[0, :-1]
        rows = np.flatnonzero(counts)
        return Patterns(self.design.pack_rows(rows), counts[rows])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        same = self.design == other.design and (self.n, self.missing) == (other.n, other.missing)
        mine, theirs = self.squares, other.squares
        if not same or (mine is None) != (theirs is None):
            return False
        return bool((self.counts == other.counts).all() and (mine is None or (mine == theirs).all()))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        weighted = ", weighted" if self.squares is not None else ""
        seeded = f" {self.randomness}" if self.simulated else ""
        return f"<tally of {self.n}{seeded} reports{weighted}, {self.missing} missing, of {self.design!r}>"

    def _title(self) -> str:
        weighted = ", weighted" if self.squares is not None else ""
        return f"tally of {self.n:,} {self.randomness} reports{weighted} of a {self.design.title} design"

    def _figures(self) -> dict[str, Any]:
        return {"missing": self.missing, "fingerprint": self.design.fingerprint[:12]}

    def _columns(self) -> dict[str, Any]:
        if not self.design.variables:
            return {"category": [text_of(c) for c in self.design.categories], "reports that hold it": self.inclusions}
        if self.kept_patterns is None:
            return {"variable": list(self.design.variables)}
        parts = {name: self.marginal(name) for name in self.design.variables}
        return {
            "variable": [name for name, part in parts.items() for _ in part.design.categories],
            "category": [text_of(c) for part in parts.values() for c in part.design.categories],
            "reports that hold it": np.concatenate([part.inclusions for part in parts.values()]),
        }

    def _order(self) -> list[int]:
        if self.design.variables:
            return list(range(len(self._columns()["variable"])))
        return list(np.argsort(-self.inclusions, kind="stable").tolist())

    def to_dict(self) -> dict[str, Any]:
        """The counts as plain values."""
        return {
            "design": jsonable(about(self.design)),
            "n": self.n,
            "missing": self.missing,
            "randomness": self.randomness,
            "weighted": self.squares is not None,
            "categories": jsonable(self.design.categories),
            "inclusions": None if self.design.variables else jsonable(self.inclusions),
        }


def report_total(counts: Any) -> float:
    """The sum over reports of a tally's counts."""
    return float(counts.sum() if counts.ndim == 1 else counts[:, -1].sum())


def _by_label(design: Design, counts: Mapping[Any, Any]) -> list[Any]:
    """Counts in the order of the reports; a report that is not named did not come."""
    labels = design.report_labels()
    if unknown := [label for label in counts if label not in labels]:
        raise ReportError(
            f"counts name {unknown[0]!r}, which is no report of {design.title}; its reports are "
            f"{shown(tuple(labels))}.",
            parameter="counts",
        )
    return [counts.get(label, 0) for label in labels]


def _exact_count(design: Design, packed: Packed, counts: NDArray[Any]) -> NDArray[Any]:
    """Counts of reports that came ``counts`` times; whole numbers in two halves that a float holds exactly."""
    if counts.dtype.kind == "f":
        return design.codec.count(packed, counts)
    high, low = np.divmod(counts, 1 << 31)
    parts = [design.codec.count(packed, half.astype(float)).astype(np.int64) for half in (high, low)]
    exact: NDArray[Any] = (parts[0] << 31) + parts[1]
    return exact


def _distinct(packed: Packed, weights: Vector | None) -> Patterns:
    keys, inverse, counts = _unique_rows(packed)
    if weights is None:
        return Patterns(keys, counts)
    return Patterns(keys, *(np.bincount(inverse, w, minlength=len(keys)) for w in (weights, weights**2)))


def _merged(parts: list[Patterns]) -> Patterns:
    keys, inverse, _ = _unique_rows(np.concatenate([p.packed for p in parts]))

    def added(columns: list[NDArray[Any]]) -> NDArray[Any]:
        total = np.zeros(len(keys), np.result_type(*columns))
        np.add.at(total, inverse, np.concatenate(columns))
        return total

    weighted = [p.squares for p in parts if p.squares is not None]
    return Patterns(keys, added([p.counts for p in parts]), added(weighted) if weighted else None)


def _unique_rows(packed: Packed) -> tuple[Packed, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows in rising order, where each row stands among them, and how often it came."""
    n, width = packed.shape
    if width > 8:
        keys, inverse, counts = np.unique(packed, axis=0, return_inverse=True, return_counts=True)
        return keys, inverse.ravel(), counts
    # Up to eight bytes a row sorts as one number, many times faster.
    wide = np.zeros((n, 8), np.uint8)
    wide[:, 8 - width :] = packed
    numbers, inverse, counts = np.unique(wide.view(">u8").ravel(), return_inverse=True, return_counts=True)
    keys = numbers.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - width :]
    return np.ascontiguousarray(keys), inverse, counts
