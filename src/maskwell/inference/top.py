"""The most frequent categories, with limits that hold for all categories together.

Whoever picks the largest of many estimates picks those that chance has raised, so a limit that holds for a category
named beforehand fails for the first of a million. Limits that hold for all k categories at once hold for whichever are
picked, and say as well which places in the order remain open.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import EstimationError
from maskwell.inference.documents import estimate_document
from maskwell.inference.summary import heading
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.results.result import Result
from maskwell.tables.labels import text_of

if TYPE_CHECKING:
    from maskwell.designs.base import Design, Matrix, Vector
    from maskwell.inference.estimates import Estimate
    from maskwell.reports.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Top(Result):
    """The categories with the largest estimates, in falling order; ``positions`` says where they are in the design.

    ``limits`` cover the proportions of all categories of the design, and not only of these, with probability ``level``;
    ``rank_limits`` are the places in the order of all categories that they leave open.
    """

    estimate: Estimate
    positions: NDArray[np.int64]
    level: float
    kind: str
    limits: Matrix
    rank_limits: NDArray[np.int64]

    @property
    def design(self) -> Design:
        """The design that the reports came from."""
        return self.estimate.design

    @property
    def tally(self) -> Tally:
        """All reports."""
        return self.estimate.tally

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.estimate.n

    @property
    def categories(self) -> tuple[Any, ...]:
        """The labels, the most frequent first."""
        return tuple(self.design.categories[at] for at in self.positions.tolist())

    @property
    def proportions(self) -> Vector:
        """Unbiased for each category by itself; the largest of many estimates is on average too large."""
        return self.estimate.proportions[self.positions]

    @property
    def standard_errors(self) -> Vector:
        """Of each category by itself."""
        return self.estimate.standard_errors[self.positions]

    @property
    def present(self) -> int:
        """How many of these are held by somebody for sure: their lower limit is above 0."""
        return int((self.limits[:, 0] > 0).sum())

    def summary(self) -> str:
        """The list in plain text."""
        return visible_lines(self._text())

    def _text(self) -> list[str]:
        labels = [text_of(label) for label in self.categories]
        width = max(8, *map(len, labels))
        lines = [*heading(self.estimate), ""]
        lines.append(f"{'category':{width}}  estimate  {100 * self.level:g} % limits, all together  place")
        rows = zip(labels, self.proportions.tolist(), self.limits.tolist(), self.rank_limits.tolist(), strict=True)
        for label, share, (low, high), (best, worst) in rows:
            place = f"{best:,}" if best == worst else f"{best:,} to {worst:,}"
            lines.append(f"{label:{width}}  {share:8.4f}  [{low:8.4f}, {high:8.4f}]        {place}")
        return [
            *lines,
            "",
            f"the limits ({self.kind}) hold for all {self.design.k:,} categories together, so also for the largest; "
            f"{self.present:,} of these {len(labels):,} are certainly above zero",
        ]

    def _columns(self) -> dict[str, Any]:
        columns = self.estimate.category_columns(self.positions.tolist())
        figures = {
            "estimate": self.proportions,
            "standard_error": self.standard_errors,
            "lower": self.limits[:, 0],
            "upper": self.limits[:, 1],
            "first_place": self.rank_limits[:, 0],
            "last_place": self.rank_limits[:, 1],
        }
        return {**columns, **figures}

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"<the {len(self)} largest of {self.estimate!r}>"

    def _title(self) -> str:
        return f"the {len(self):,} largest of {self.design.k:,} estimated proportions, from {self.n:,} reports"

    def _figures(self) -> dict[str, Any]:
        return {
            "level": self.level,
            "limits": f"{self.kind}, for all categories together",
            "certainly above zero": self.present,
        }

    def to_dict(self) -> dict[str, Any]:
        """The list as plain values."""
        asked = {"level": self.level, "interval": self.kind, "simultaneous": True, "places": self.rank_limits}
        document = estimate_document(self.estimate, self.limits, [self.tally.randomness], asked, self)
        return dict(jsonable(document))


def top(estimate: Estimate, n: int, level: float, kind: str) -> Top:
    """The ``n`` largest, all categories if there are fewer."""
    try:
        count = index(n)
    except TypeError:
        count = 0
    if count < 1:
        raise EstimationError(f"n must be a whole number of categories, 1 or more; got {n!r}.", parameter="n")
    limits = estimate.interval(level, kind, simultaneous=True)
    positions = np.argsort(-estimate.proportions, kind="stable")[:count]
    chosen = limits[positions]
    # Ahead for sure: whose lower limit is above the upper one. Behind for sure: whose upper limit is below the lower.
    lower, upper = np.sort(limits[:, 0]), np.sort(limits[:, 1])
    ahead = len(limits) - np.searchsorted(lower, chosen[:, 1], side="right")
    not_behind = len(limits) - np.searchsorted(upper, chosen[:, 0], side="left")
    return Top(estimate, positions, level, kind, chosen, np.stack([ahead + 1, not_behind], axis=1))
