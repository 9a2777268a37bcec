"""What every test gives back, and the two things that chi-square tests share: a tail and pooled cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Vector
from maskwell.numerics import chi_square
from maskwell.plain_text import visible_lines
from maskwell.results.numbers import figure
from maskwell.results.result import Result

LEAST_EXPECTED = 5.0
_SMALLEST_SHOWN = 1e-4


@dataclass(frozen=True)
class HypothesisTest(Result):
    """A test of a hypothesis: its statistic, its reference distribution, and what to make of it."""

    method: str
    statistic: float
    df: float | None
    p_value: float
    permutations: int = 0
    advice: str = ""
    mean: float = 1.0
    """What the statistic is divided by before its chi-square tail is taken: its mean per degree of freedom."""
    law: str = ""
    """What the statistic was compared with, where that is neither a chi-square law nor exact tails nor shuffles."""
    choice: str = ""
    """What the test chose by itself, and why."""
    draws: int = 0
    """Samples drawn under the hypothesis that the p-value comes from; 0 where it comes from none."""
    p_error: float = 0.0
    """The standard error that so few permutations or draws leave the p-value with, where it is known."""

    @property
    def reference(self) -> str:
        """What the statistic was compared with."""
        error = f", standard error of p {self.p_error:.2g}" if self.p_error else ""
        if self.permutations:
            return f"{self.permutations} permutations{error}"
        if self.draws:
            return f"{self.draws} samples drawn under the hypothesis{error}"
        if self.df is None or self.law:
            return self.law or "exact tails"
        divided = f" after division by {self.mean:.4f}" if abs(self.mean - 1) >= 1e-4 else ""
        return f"chi-square, {self.df:.4g} df{divided}"

    def _title(self) -> str:
        return f"test: {self.method}"

    def _figures(self) -> dict[str, Any]:
        return {"statistic": self.statistic, "compared with": self.reference, "p-value": figure(self.p_value)}

    def _remarks(self) -> list[str]:
        return [str(line) for line in (self.choice, self.advice) if line]

    def lines(self) -> list[str]:
        """The lines of the summary."""
        text = f"{self.method}: statistic {self.statistic:.4f}, p {_shown(self.p_value)} ({self.reference})"
        return [line for line in (text, self.choice, self.advice) if line]

    def __str__(self) -> str:
        return visible_lines(self.lines())

    def summary(self) -> str:
        """The result in plain text: the same as ``str``."""
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, with ``reference`` in the place of ``law``, which it tells."""
        return {
            "reference" if name == "law" else name: self.reference if name == "law" else value
            for name, value in vars(self).items()
        }


def _shown(p_value: float) -> str:
    """A p-value in a sentence: far out in the tails its digits say how the law was approximated, and nothing else."""
    return f"= {p_value:.4g}" if p_value >= _SMALLEST_SHOWN else f"< {_SMALLEST_SHOWN:.4f}"


def chi_square_tail(statistic: float, df: float) -> float:
    """The chance that a chi-square variable exceeds the statistic."""
    return chi_square.chi_square_tail(df, max(statistic, 0.0))


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
