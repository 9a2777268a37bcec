"""Reports: many masked answers, packed, carrying the design that made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.designs.channels.numbers import Vector
from maskwell.designs.storage import about
from maskwell.errors import DataError, ReportError
from maskwell.plain_json import jsonable
from maskwell.reports.batch import Batch
from maskwell.reports.elsewhere.labels import read_reports_of
from maskwell.reports.elsewhere.positions import packed_positions, positions_of
from maskwell.reports.files import read_reports, to_table, write_reports
from maskwell.reports.randomness import EXTERNAL, UNKNOWN, joined_randomness
from maskwell.reports.tally import Tally
from maskwell.results.blocks import Part, Table, Text
from maskwell.results.result import Result
from maskwell.tables.labels import report_text
from maskwell.tables.matching import Missing, check_missing

if TYPE_CHECKING:
    from maskwell.designs.base import Design

_FIRST = 5


class Reports(Result, Batch):
    """Many masked answers. What they are made of stands in :class:`~maskwell.reports.batch.Batch`."""

    @staticmethod
    def of(
        design: Design,
        values: Any,
        missing: Missing = "refuse",
        *,
        separator: str | None = None,
        question: str | None = None,
    ) -> Reports:
        """Reports that were drawn elsewhere, by a die, a spinner, a form or another program, checked one by one.

        ``values`` is a column of any library. It holds the labels of reports (``design.report_labels()``): for a
        yes/no question "yes" and "no", for ``crosswise`` "same" and "different", for ``kuk`` the number of red cards.
        Reports that are sets of categories are lists, or text: a 0 or 1 for each category, or labels with
        ``separator`` between them. For a product it is a table with a column for each variable. A missing value is an
        error unless ``missing="keep"``. ``randomness`` is "external": how these reports were drawn was not seen.

        >>> from maskwell import designs
        >>> die = designs.forced_response(yes_prob="1/6", no_prob="1/6")
        >>> Reports.of(die, ["yes", "no", "no", None], missing="keep").decode()
        ['yes', 'no', 'no', None]
        >>> Reports.of(die, ["yes", "maybe"])
        Traceback (most recent call last):
        ...
        maskwell.errors.ReportError: values hold something that forced_response cannot produce in 1 of 2 rows, first \
in row 1; its reports are 'yes', 'no'.
        """
        found = read_reports_of(design, values, separator)
        check_missing(missing)
        if found.absent.any() and missing == "refuse":
            raise DataError(
                f"values are missing in {int(found.absent.sum()):,} of {len(found.absent):,} rows, first in row "
                f'{int(np.argmax(found.absent)):,}; pass missing="keep" to leave those reports empty.',
                parameter="values",
            )
        return Reports(design, found.packed, found.absent if found.absent.any() else None, EXTERNAL, question)

    @staticmethod
    def from_positions(design: Design, reports: Any, *, question: str | None = None) -> Reports:
        """Reports that devices sent, as ``mask.js`` and ``positions`` give them, checked one by one.

        Each is the position of a row, block or hyperplane; for sets a rising list of positions of categories; for a
        product a list with one for each variable; None where there is none. ``randomness`` is "unknown": whoever sends
        reports may have drawn them otherwise.

        >>> import json
        >>> from maskwell import designs
        >>> received = [json.loads(line)["report"] for line in ['{"report": [0, 2]}', '{"report": [1, 2]}']]
        >>> Reports.from_positions(designs.local_diversity(["a", "b", "c"], l=2), received).tally().inclusions.tolist()
        [1, 1, 2]
        """
        column = reports.tolist() if hasattr(reports, "tolist") else reports
        if isinstance(column, str | bytes) or not isinstance(column, Sequence):
            raise DataError(
                f"reports must be a list of positions, or of lists of them; got {type(reports).__name__}.",
                parameter="reports",
            )
        packed, absent = packed_positions(design, column)
        return Reports(design, packed, absent if absent.any() else None, UNKNOWN, question)

    def positions(self) -> list[Any]:
        """Each report as a device sends it, ready for JSON; ``from_positions`` reads it back.

        >>> from maskwell import designs
        >>> designs.direct(["yes", "no"]).mask(["no", "yes"]).positions()
        [1, 0]
        """
        sent = positions_of(self.design, self.packed)
        if self.missing is None:
            return sent
        return [None if gone else report for report, gone in zip(sent, self.missing.tolist(), strict=True)]

    def decode(self) -> list[Any]:
        """Each report as its label, as a frozenset of labels, or None where there is no report."""
        decoded = self.design.decode(self.packed)
        if self.missing is None:
            return decoded
        return [None if gone else report for report, gone in zip(decoded, self.missing.tolist(), strict=True)]

    def tally(self, weights: Any = None, patterns: bool | None = None) -> Tally:
        """Count the reports; ``weights`` are sampling weights, ``patterns=True`` also keeps each distinct report."""
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
            first.run if all(batch.run == first.run for batch in batches) else None,
        )

    def to_arrow(self) -> Any:
        """An Arrow table with one column, ``report``, and the design in its metadata."""
        return to_table(self)

    def write(self, path: str | PathLike[str]) -> None:
        """Write a .parquet, .arrow or .csv file, whole or not at all; a .csv has its design beside it."""
        write_reports(path, self.design, [self])

    @staticmethod
    def read(path: str | PathLike[str], column: str | None = None) -> Reports:
        """Read a file of reports and check that its design can have produced each one.

        ``column`` says which one, where a file holds several masked columns.
        """
        design, batches = read_reports(path, Reports, column)
        parts = list(batches)
        return Reports.concatenate(parts) if parts else Reports(design, design.sampler.empty(0))

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

    def _title(self) -> str:
        return f"{len(self):,} {self.randomness} reports of a {self.design.title} design"

    def _figures(self) -> dict[str, Any]:
        return {"missing": self.to_dict()["missing"], "question": self.question or "not named"}

    def _columns(self) -> dict[str, Any]:
        """What arrived, in its order."""
        return {"report": [report_text(report, self.design.categories) for report in self.decode()]}

    def _parts(self) -> list[Part]:
        # The first ones are enough to see what reports look like; nobody decodes millions for it.
        first = Reports(self.design, self.packed[:_FIRST], None if self.missing is None else self.missing[:_FIRST])
        shown = Table("", ["report"], [[text] for text in first._columns()["report"]], "<")
        facts = Table("", ["", ""], [[name, str(value)] for name, value in self._figures().items()], "<=")
        more = (
            [Text(f"The first {_FIRST} of {len(self):,}; to_frame() has them all.", "note")]
            if len(self) > _FIRST
            else []
        )
        return [Text(self._title(), "lead"), facts, shown, *more]

    def to_dict(self) -> dict[str, Any]:
        """What the reports are, as plain values; ``write`` stores the reports themselves."""
        return {
            "design": jsonable(about(self.design)),
            "n": len(self),
            "missing": 0 if self.missing is None else int(self.missing.sum()),
            "randomness": self.randomness,
            "question": self.question,
        }


def _checked_weights(weights: Any, n: int) -> Vector | None:
    if weights is None:
        return None
    try:
        checked = np.asarray(weights, float)
    except (TypeError, ValueError):
        raise DataError(f"weights must be {n} numbers, one per report.", parameter="weights") from None
    if checked.shape != (n,):
        got = " by ".join(map(str, checked.shape)) or "a single one"
        raise DataError(f"weights must be {n} numbers, one per report; got {got}.", parameter="weights")
    infinite, negative = int((~np.isfinite(checked)).sum()), int((checked < 0).sum())
    why = f"{infinite:,} are missing or infinite" if infinite else f"{negative:,} are negative" if negative else ""
    if why or not checked.any():
        raise DataError(
            f"weights must be finite numbers >= 0, not all zero; {why or 'all are zero'}.", parameter="weights"
        )
    return checked
