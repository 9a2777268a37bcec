"""What an attack found: how often its surest guesses are right, and which columns are behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.plain_text import visible_lines
from maskwell.release.attack.thresholds import DECIDES
from maskwell.results.numbers import share
from maskwell.results.result import Result

_Z = 1.959963984540054
"""Of 95 % intervals."""


@dataclass(frozen=True)
class Surest:
    """The cells that an intruder is surest of, and how many of them are true."""

    share: float
    """Of all cells shown once."""
    cells: int
    right: float
    """How many are true, on average over the order of cells that look alike."""

    @property
    def share_right(self) -> float:
        """The share that is true."""
        return self.right / self.cells

    @property
    def interval(self) -> tuple[float, float]:
        """95 % limits of the chance behind it (Wilson)."""
        n, p = self.cells, self.share_right
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        reach = _Z / (1 + _Z**2 / n) * float(np.sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2)))
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        lower, upper = self.interval
        return {
            "share": self.share,
            "cells": self.cells,
            "right": self.right,
            "share_right": self.share_right,
            "lower": lower,
            "upper": upper,
        }


@dataclass(frozen=True)
class ColumnAttack:
    """What one column that stays does for the intruder."""

    name: str
    surest: tuple[Surest, ...]
    """With this column alone."""
    told_apart: float
    """How far this column alone tells moved records from those that stayed: 0 not at all, 1 all of them."""
    by_chance: float
    """What a column that tells nothing exceeds once in 10,000 times, for as many records (Kolmogorov and Smirnov)."""
    without: tuple[Surest, ...]
    """With all columns but this one."""
    made_of: tuple[str, ...] = ()
    """The columns that it is made of, if the intruder derived it from others."""

    @property
    def decides(self) -> bool:
        """Whether it decides a key: given its value, keys are all but certain or ruled out."""
        return self.told_apart >= max(DECIDES, self.by_chance)

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "column": self.name,
            "made_of": list(self.made_of),
            "told_apart": self.told_apart,
            "decides": self.decides,
            "alone": [one.to_dict() for one in self.surest],
            "without": [one.to_dict() for one in self.without],
        }


@dataclass(frozen=True)
class Attack(Result):
    """What somebody finds out from the released file alone."""

    shown_once: int
    """Cells of the keys in which the released file has one record."""
    true: int
    """Of these, the ones whose record truly belongs there."""
    surest: tuple[Surest, ...]
    """Empty if no cell is shown once."""
    columns: tuple[ColumnAttack, ...]
    """The columns behind it, the most telling first; those that the intruder derived from others among them."""
    derived_tried: int = 0
    """Columns that were derived (sums, differences, parts, pairs) and compared with the keys."""
    derived_not_tried: int = 0
    """Pairs of columns that were too many to derive anything from."""

    @property
    def base_rate(self) -> float:
        """The share of true ones among all cells shown once: what a blind guess attains."""
        return self.true / self.shown_once if self.shown_once else 0.0

    @property
    def deciding(self) -> tuple[ColumnAttack, ...]:
        """The columns that decide a key. Of derived ones, those without an ingredient that does so by itself."""
        alone = {column.name for column in self.columns if column.decides and not column.made_of}
        return tuple(column for column in self.columns if column.decides and alone.isdisjoint(column.made_of))

    @property
    def worst(self) -> float:
        """The largest share right, among the surest of any size."""
        return max((one.share_right for one in self.surest), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {
            "shown_once": self.shown_once,
            "true": self.true,
            "base_rate": self.base_rate,
            "surest": [one.to_dict() for one in self.surest],
            "columns": [column.to_dict() for column in self.columns],
            "derived_tried": self.derived_tried,
            "derived_not_tried": self.derived_not_tried,
        }

    def _title(self) -> str:
        return "attack with the released file alone"

    def _figures(self) -> dict[str, Any]:
        return {"cells shown once": self.shown_once, "truly there": self.true, "right by a blind guess": self.base_rate}

    def _columns(self) -> dict[str, Any]:
        return {
            "surest": [share(one.share) for one in self.surest],
            "cells": [one.cells for one in self.surest],
            "right": [one.share_right for one in self.surest],
            "95 % from": [one.interval[0] for one in self.surest],
            "to": [one.interval[1] for one in self.surest],
        }

    def _remarks(self) -> list[str]:
        return [self.sentence()]

    def sentence(self) -> str:
        """The figures in one sentence."""
        if not self.surest:
            return "the released file shows no combination of keys once, so there is no single record to be sure of"
        rights = " / ".join(f"{one.share_right:.2f}" for one in self.surest)
        shares = " / ".join(f"{100 * one.share:g}" for one in self.surest)
        cells = ", ".join(f"{one.cells:,}" for one in self.surest[:-1]) + f" and {self.surest[-1].cells:,}"
        behind = ", ".join(column.name for column in self.columns[:3] if column.told_apart > column.by_chance)
        return (
            f"one with the released file alone is right in {rights} of the surest {shares} % of the "
            f"{self.shown_once:,} cells shown once, that is of {cells} ({self.base_rate:.2f} by a blind guess)"
            f"{f', mostly by {behind}' if behind else ''}"
        )

    def summary(self) -> str:
        """The attack in plain text, with the columns behind it."""
        lines = [f"Attack with the released file alone: {self.sentence()}"]
        if self.surest:
            lines.append(f"  {'surest':>8} {'cells':>8} {'right':>8}   95 % interval")
            for one in self.surest:
                lower, upper = one.interval
                lines.append(
                    f"  {100 * one.share:>6g} % {one.cells:>8,} {one.share_right:>8.3f}   {lower:.3f} to {upper:.3f}"
                )
        if self.columns:
            lines.append("  by column alone (surest 5 / 20 / 50 %), told apart, and all columns without it:")
        for column in self.columns:
            alone, rest = (
                " / ".join(f"{one.share_right:.2f}" for one in part) for part in (column.surest, column.without)
            )
            lines.append(f"    {column.name}: {alone}; {column.told_apart:.2f}; {rest}")
        if self.derived_tried:
            left = f"; {self.derived_not_tried:,} pairs were too many to try" if self.derived_not_tried else ""
            lines.append(f"  {self.derived_tried:,} sums, differences, parts and pairs of columns were tried{left}")
        return visible_lines(lines)

    def __repr__(self) -> str:
        rights = " / ".join(f"{one.share_right:.2f}" for one in self.surest) or "nothing to be sure of"
        return f"<attack on {self.shown_once} cells shown once: right {rights}>"
