r"""The exact chance that a match is right, for every cell of a block and every number of matches.

An intruder who knows that a person is in the file, and the person's true cell j, finds ``a`` released records there
and picks one of them. With ``stay`` = 1 - θ/t_j and W the number of records that come in from other cells, the pick is
right with chance

.. math:: R_j(a) = \frac{stay \cdot P(Bin(t_j - 1, stay) + W = a - 1)}{a \cdot P(Bin(t_j, stay) + W = a)}.

W is a sum of binomials, one for each frequency that occurs in the block, so cells of equal frequency are alike and a
block of a million cells costs no more than one of ten. Both probabilities share the factor P(W = 0), which cancels;
what remains is rational, and is computed as a fraction. As R_j(a) <= 1/a, only a few ``a`` can hold the maximum.

This intruder uses the released count of the person's own cell. One who uses all counts of the block (``all_counts``)
can do better, and that figure stands beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from maskwell.release.identification.all_counts import AllCounts, audit_all_counts
from maskwell.release.identification.chances import in_digits
from maskwell.results.numbers import figure
from maskwell.results.result import Result

_FEW, _MANY = 4, 64


def match_risk(sizes: Mapping[int, int], theta: Fraction, size: int, matches: int) -> Fraction:
    """R_j(a): for a cell of frequency ``size`` when ``matches`` released records are found in it.

    ``sizes`` says how many cells of the block have each frequency.

    >>> match_risk({1: 3}, Fraction(1, 2), 1, 1)
    Fraction(3, 5)
    """
    return _risks(sizes, theta, size, matches)[-1]


def _risks(sizes: Mapping[int, int], theta: Fraction, size: int, most: int) -> list[Fraction]:
    """R_j(a) for a = 1 .. most."""
    k, stay = sum(sizes.values()), 1 - theta / size
    incoming = _incoming({s: n - (s == size) for s, n in sizes.items()}, theta, k, most)
    others = _product(_binomial(size - 1, stay, most), incoming, most)
    everyone = _product(_binomial(size, stay, most), incoming, most)
    return [stay * others[a - 1] / (a * everyone[a]) if everyone[a] else Fraction(0) for a in range(1, most + 1)]


def _incoming(sizes: Mapping[int, int], theta: Fraction, k: int, degree: int) -> list[Fraction]:
    """P(W = w) / P(W = 0) for w = 0 .. degree."""
    total = [Fraction(1)]
    for size, cells in sizes.items():
        arrival = theta / ((k - 1) * size) if k > 1 else Fraction(0)
        odds, n = arrival / (1 - arrival), size * cells
        total = _product(total, [math.comb(n, w) * odds**w for w in range(min(n, degree) + 1)], degree)
    return total + [Fraction(0)] * (degree + 1 - len(total))


def _binomial(n: int, chance: Fraction, degree: int) -> list[Fraction]:
    return [math.comb(n, w) * chance**w * (1 - chance) ** (n - w) for w in range(min(n, degree) + 1)]


def _product(left: Sequence[Fraction], right: Sequence[Fraction], degree: int) -> list[Fraction]:
    """The product of two polynomials, up to a degree."""
    out = [Fraction(0)] * (degree + 1)
    for i, a in enumerate(left[: degree + 1]):
        for j, b in enumerate(right[: degree + 1 - i]):
            out[i + j] += a * b
    return out


@dataclass(frozen=True)
class BlockAudit:
    """The largest risk in one block, and where it is reached."""

    sizes: Mapping[int, int]
    """How many cells have each frequency."""
    risk: Fraction
    size: int
    """The frequency of the cell that reaches it."""
    matches: int
    """The number of released records in that cell."""
    all_counts: AllCounts
    """The largest risk for an intruder who uses the released counts of all cells of the block."""

    @property
    def cells(self) -> int:
        """The number of cells."""
        return sum(self.sizes.values())

    @property
    def records(self) -> int:
        """The number of records, or of groups where groups are moved together."""
        return sum(size * cells for size, cells in self.sizes.items())


def audit_block(sizes: Mapping[int, int], theta: Fraction) -> BlockAudit:
    """The maximum of R_j(a) over all cells of a block and all a >= 1, and that for one who sees all counts.

    Blocks whose risk is below 1/65 are given that bound, with ``size`` 0: how far below they are does not matter.
    """
    sizes = {size: cells for size, cells in sizes.items() if cells}
    records = sum(size * cells for size, cells in sizes.items())
    for most in (min(_FEW, records), min(_MANY, records)):
        risks = {(size, a): r for size in sizes for a, r in enumerate(_risks(sizes, theta, size, most), start=1)}
        size, matches = max(risks, key=lambda where: risks[where])
        # R(a) <= 1/a: nothing further on can be larger.
        if most == records or risks[size, matches] * (most + 1) >= 1:
            return BlockAudit(sizes, risks[size, matches], size, matches, audit_all_counts(sizes, theta))
    return BlockAudit(sizes, Fraction(1, _MANY + 1), 0, _MANY + 1, audit_all_counts(sizes, theta))


@dataclass(frozen=True)
class IdentificationAudit(Result):
    """The proof that the limit holds: the largest exact risk of every block, and of what was left alone."""

    xi: Fraction
    theta: Fraction
    blocks: tuple[BlockAudit, ...]
    untouched: Fraction
    """The largest risk among cells that were not sensitive: one over their least frequency; 0 if there are none."""
    before: Fraction
    """The largest risk in the file as it was."""

    @property
    def exact_risk(self) -> Fraction:
        """The largest chance that any match is right, over all cells and numbers of matches."""
        return max([self.untouched, *(block.risk for block in self.blocks)])

    @property
    def risk(self) -> float:
        """``exact_risk`` as a float."""
        return float(self.exact_risk)

    def risk_in_digits(self, digits: int) -> str:
        """``exact_risk`` in about so many digits, never rounded across the limit."""
        return in_digits(self.exact_risk, digits, self.xi)

    @property
    def holds(self) -> bool:
        """Whether no risk exceeds the limit, decided in exact arithmetic."""
        return self.exact_risk <= self.xi

    @property
    def all_counts(self) -> AllCounts:
        """The largest chance for an intruder who uses the released counts of all cells of the person's block.

        ``risk`` is for one who uses the count of the person's own cell alone, as the limit does.
        """
        found = [AllCounts(self.untouched, True), *(block.all_counts for block in self.blocks)]
        # Where a block is not exact the worst outcome may be worse than any other, so nothing is exact.
        return AllCounts(max(each.risk for each in found), all(each.exact for each in found))

    @property
    def holds_for_all_counts(self) -> bool:
        """Whether the limit holds for that intruder too, proven by trying all outcomes of every block."""
        return self.all_counts.exact and self.all_counts.risk <= self.xi

    @property
    def kinds(self) -> list[tuple[BlockAudit, int]]:
        """Blocks that differ in how many cells have each frequency, and how many there are of each."""
        number = Counter(tuple(sorted(block.sizes.items())) for block in self.blocks)
        one = {tuple(sorted(block.sizes.items())): block for block in self.blocks}
        return [(one[sizes], count) for sizes, count in number.items()]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {
            "xi": float(self.xi),
            "holds": self.holds,
            "risk": self.risk,
            "risk_before": float(self.before),
            "risk_untouched": float(self.untouched),
            "all_counts": self.all_counts.to_dict(),
            "holds_for_all_counts": self.holds_for_all_counts,
            "blocks": [
                {
                    "number": number,
                    "cells": block.cells,
                    "records": block.records,
                    "risk": float(block.risk),
                    "at_frequency": block.size,
                    "at_matches": block.matches,
                    "all_counts": block.all_counts.to_dict(),
                }
                for block, number in self.kinds
            ],
        }

    def _title(self) -> str:
        return f"audit of {len(self.blocks):,} blocks: the limit {'holds' if self.holds else 'FAILS'}"

    def _figures(self) -> dict[str, Any]:
        return {
            "limit": figure(self.xi),
            "largest risk": self.risk_in_digits(4),
            "before": figure(self.before),
            "by the counts of all cells": str(self.all_counts),
        }

    def _columns(self) -> dict[str, Any]:
        kinds = self.kinds
        return {
            "blocks": [number for _, number in kinds],
            "cells": [block.cells for block, _ in kinds],
            "records": [block.records for block, _ in kinds],
            "largest risk": [float(block.risk) for block, _ in kinds],
        }

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        risk = f"largest risk {self.risk_in_digits(4)}, limit {float(self.xi)!r} {verdict}"
        return f"<audit of {len(self.blocks)} blocks: {risk}>"
