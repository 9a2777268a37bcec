"""What estimates over rounds have in common: figures by category, their errors, limits, a summary and a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference.intervals.closed_form import level_of_each, normal_quantile
from maskwell.plain_text import visible_lines
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.results.result import Result
from maskwell.tables.labels import text_of

_ROWS = 20
MOST_IN_COVARIANCE = 4096
"""Beyond so many categories a covariance of all of them is not formed, only the variances."""
SCORES_AT_ONCE = 1 << 23


def check_rounds(rounds: Sequence[Any], parameter: str | None = None) -> None:
    """An error unless these are reports or tallies of one design, and of one question as far as they name it.

    A survey may be named by its round, ``"panel 2026-06/habit"``, so only what comes after that name is compared.
    """
    for given in rounds:
        if not isinstance(given, (Reports, Tally)):
            raise EstimationError(
                f"rounds must be the reports or the tally of each; got {type(given).__name__}. Read stored ones with "
                "Reports.read or Tally.read.",
                parameter=parameter,
            )
    if any(given.design != rounds[0].design for given in rounds):
        raise EstimationError("all rounds must be of one design; estimate rounds of different designs apart.")
    asked = {_without_survey(given.question): given.question for given in rounds if given.question is not None}
    if len(asked) > 1:
        one, other, *_ = asked.values()
        raise EstimationError(
            f"rounds must be of one question; got {one!r} and {other!r}: estimate them apart. If that is one question "
            "under two names, pass dataclasses.replace(reports, question=None).",
            parameter=parameter,
        )


def _without_survey(question: str) -> str:
    survey, slash, column = question.partition("/")
    return column if slash else survey


@dataclass(frozen=True, eq=False)
class RoundsEstimate(Result):
    """Figures by category; ``basis`` says what their variances rest on, ``n`` is how many people.

    ``covariance`` is None where only variances are known.
    """

    categories: tuple[Any, ...]
    figures: Vector
    variances: Vector
    covariance: Matrix | None
    basis: str
    n: int

    word: ClassVar[str]

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances."""
        return np.sqrt(np.maximum(self.variances, 0.0))

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Matrix:
        """Wald limits by category; simultaneous ones hold for all together (Bonferroni)."""
        each = level_of_each(level, len(self.categories) if simultaneous else 1)
        margin = normal_quantile(each) * self.standard_errors
        return np.stack([self.figures - margin, self.figures + margin], axis=1)

    def summary(self, level: float = 0.95) -> str:
        """The figures in plain text; of many the largest ones, with limits that hold for all categories together.

        Limits for one category would not hold for those that were picked because they are the largest.
        """
        k, errors = len(self.categories), self.standard_errors
        limits, picked = self.interval(level, simultaneous=k > _ROWS), k > _ROWS
        listed = range(k) if k <= _ROWS else self._order()[:_ROWS]
        labels = [text_of(self.categories[j]) for j in listed]
        width = max(8, *map(len, labels))
        lines = [self._title(), ""]
        what = "limits, all together" if picked else "interval"
        lines.append(f"{'category':{width}}  {self.word:>8}  std.error  {100 * level:g} % {what}")
        for label, j in zip(labels, listed, strict=True):
            low, high = limits[j]
            lines.append(f"{label:{width}}  {self.figures[j]:8.4f}  {errors[j]:9.4f}  [{low:8.4f}, {high:8.4f}]")
        if picked:
            lines.append(f"… and {k - _ROWS:,} smaller ones; to_frame() has them all")
        return visible_lines(lines)

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        lower, upper = self.interval().T
        figures = {self.word: self.figures, "standard error": self.standard_errors, "95 % from": lower, "to": upper}
        return {"category": [text_of(c) for c in self.categories], **figures}

    def _order(self) -> list[int]:
        return list(np.argsort(-np.abs(self.figures), kind="stable").tolist())

    def to_frame(self, level: float = 0.95, backend: Backend = "pandas") -> Any:
        """A data frame: category, figure, standard error, and limits of an interval."""
        lower, upper = self.interval(level).T
        figures = {self.word: self.figures, "standard_error": self.standard_errors, "lower": lower, "upper": upper}
        return data_frame({"category": [str(c) for c in self.categories], **figures}, backend)


def sums_over(parts: Iterable[Matrix], k: int) -> tuple[Vector, Vector, Matrix | None]:
    """Sums, sums of squares and sums of products over the rows of some matrices of k columns."""
    sums, squares = np.zeros(k), np.zeros(k)
    products = np.zeros((k, k)) if k <= MOST_IN_COVARIANCE else None
    for rows in parts:
        sums += rows.sum(axis=0)
        squares += np.einsum("ij,ij->j", rows, rows)
        if products is not None:
            products += rows.T @ rows
    return sums, squares, products


def covariance_of_mean(products: Matrix | None, mean: Vector, n: int) -> Matrix | None:
    """The covariance of a mean of n rows, from their sums of products where there are any."""
    return None if products is None else (products - n * np.outer(mean, mean)) / (n - 1) / n
