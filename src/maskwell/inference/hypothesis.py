"""What every test gives back, and the two things that chi-square tests share: a tail and pooled cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Matrix, Vector

LEAST_EXPECTED = 5.0


@dataclass(frozen=True)
class HypothesisTest:
    """A test of a hypothesis: its statistic, its reference distribution, and what to make of it."""

    method: str
    statistic: float
    df: int | None
    p_value: float
    permutations: int = 0
    advice: str = ""
    mean: float = 1.0
    """What the statistic is divided by before its chi-square tail is taken: its mean per degree of freedom."""

    def __str__(self) -> str:
        exact = f"{self.permutations} permutations" if self.permutations else "exact tails"
        divided = f" after division by {self.mean:.4f}" if self.mean >= 1.0001 else ""
        reference = f"chi-square, {self.df} df{divided}" if self.df is not None and not self.permutations else exact
        text = f"{self.method}: statistic {self.statistic:.4f}, p = {self.p_value:.4g} ({reference})"
        return f"{text}\n{self.advice}" if self.advice else text

    def summary(self) -> str:
        """The result in plain text: the same as ``str``."""
        return str(self)

    def as_dict(self) -> dict[str, object]:
        """The result as plain values."""
        return {
            "method": self.method,
            "statistic": self.statistic,
            "df": self.df,
            "p_value": self.p_value,
            "permutations": self.permutations,
            "advice": self.advice,
            "mean": self.mean,
        }


def chi_square_tail(statistic: float, df: int) -> float:
    """The chance that a chi-square variable exceeds the statistic."""
    from scipy.special import chdtrc

    return float(chdtrc(df, max(statistic, 0.0)))


def most_likely(rows: Matrix, counts: NDArray[np.int64]) -> Vector:
    """The maximum-likelihood proportions for reports with these likelihood rows."""
    from maskwell.inference.maximum import maximise
    from maskwell.inference.report_rows import dense_rows

    k = rows.shape[1]
    return maximise(dense_rows(rows), counts.astype(float), np.full(k, 1 / k)).proportions


def pool(expected: Vector, least: float = LEAST_EXPECTED) -> NDArray[np.int64]:
    """A pool number for each cell: cells of at least ``least`` stay alone, smaller ones share until they reach it.

    >>> pool(np.array([6.0, 3.0, 1.0, 2.0]))
    array([0, 1, 1, 1])
    """
    order = np.argsort(-expected, kind="stable")
    pools = np.empty(len(expected), np.int64)
    number, held = -1, least
    for cell in order:
        if held >= least:
            number, held = number + 1, 0.0
        pools[cell] = number
        held += expected[cell]
    if held < least and number > 0:
        pools[pools == number] = number - 1
    return pools
