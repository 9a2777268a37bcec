"""A line of the bench: one figure, and the ratio that it is there for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple


class Ratio(NamedTuple):
    """The median over the rounds of one run, with the least and the greatest."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Ratio:
        return cls(median(values), min(values), max(values))

    def __str__(self) -> str:
        if self.low == self.high:
            return shown(self.middle)
        return f"{shown(self.middle)} ({shown(self.low)}–{shown(self.high)})"


class Goal(NamedTuple):
    """What the ratio (or, without one, the figure) has to reach."""

    at_least: float | None = None
    at_most: float | None = None

    def met(self, value: float) -> bool:
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        bounds = (("at least", self.at_least), ("at most", self.at_most))
        return " and ".join(f"{word} {shown(bound)}" for word, bound in bounds if bound is not None)


@dataclass(frozen=True)
class Row:
    """``figure`` in ``unit`` for ``what``; ``ratio`` compares it with ``beside``, and says more as it grows better."""

    what: str
    figure: Ratio
    unit: str
    ratio: Ratio | None = None
    beside: str = ""
    goal: Goal | None = None

    @property
    def verdict(self) -> str:
        """Whether the goal is met, by the middle of the rounds; empty without one."""
        if self.goal is None:
            return ""
        return "met" if self.goal.met((self.ratio or self.figure).middle) else "missed"

    def cells(self) -> tuple[str, str, str, str]:
        """The row as text: what, figure, ratio and goal."""
        ratio = f"{self.ratio} × {self.beside}" if self.ratio else self.beside
        goal = f"{self.goal}: {self.verdict}" if self.goal else ""
        return self.what, f"{self.figure} {self.unit}", ratio, goal

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Row:
        """The row that ``dataclasses.asdict`` and JSON made of one."""
        ratio, goal = found["ratio"], found["goal"]
        return cls(
            found["what"],
            Ratio(*found["figure"]),
            found["unit"],
            None if ratio is None else Ratio(*ratio),
            found["beside"],
            None if goal is None else Goal(*goal),
        )


def shown(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
