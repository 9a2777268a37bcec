r"""The exact chance that a match is right, for every cell of a block and every number of matches.

An intruder who knows that a person is in the file, and the person's true cell j, finds ``a`` released records there
and picks one of them. With ``stay`` = 1 - θ/t_j and W the number of records that come in from other cells, the pick is
right with chance

.. math:: R_j(a) = \frac{stay \cdot P(Bin(t_j - 1, stay) + W = a - 1)}{a \cdot P(Bin(t_j, stay) + W = a)}.

W is a sum of binomials, one for each frequency that occurs in the block, so cells of equal frequency are alike and a
block of a million cells costs no more than one of ten. Both probabilities share the factor P(W = 0), which cancels;
what remains is rational, and is computed in whole numbers. As R_j(a) <= 1/a, only a few ``a`` can hold the maximum.

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

import numpy as np

from maskwell.numerics.saddle import log_gamma
from maskwell.release.identification.all_counts import AllCounts, audit_all_counts
from maskwell.release.identification.chances import in_digits
from maskwell.results.numbers import figure
from maskwell.results.result import Result
from maskwell.tables.codes import Floats

_FEW, _MANY, _MOST = 4, 64, 512


def match_risk(sizes: Mapping[int, int], theta: Fraction, size: int, matches: int) -> Fraction:
    """R_j(a): for a cell of frequency ``size`` when ``matches`` released records are found in it.

    ``sizes`` says how many cells of the block have each frequency.

    >>> match_risk({1: 3}, Fraction(1, 2), 1, 1)
    Fraction(3, 5)
    """
    return _risks(sizes, theta, size, matches)[-1]


def holds(sizes: Mapping[int, int], theta: Fraction, limit: Fraction) -> bool:
    """Whether no match in such a block is right with more than this chance, decided in whole numbers."""
    records = sum(size * cells for size, cells in sizes.items())
    # R(a) <= 1/a: nothing beyond 1/limit can exceed it.
    most = min(records, limit.denominator // limit.numerator)
    return all(risk <= limit for size, cells in sizes.items() if cells for risk in _risks(sizes, theta, size, most))


def near_risk(sizes: Mapping[int, int], theta: float, limit: Fraction) -> float:
    """The largest R_j(a) that may exceed the limit, in floats: for searching, not for deciding."""
    k, records = sum(sizes.values()), sum(size * cells for size, cells in sizes.items())
    most, worst = min(records, limit.denominator // limit.numerator), 0.0
    for size in sizes:
        stay, incoming = 1 - theta / size, np.ones(1)
        for other, cells in sizes.items():
            comes = theta / ((k - 1) * other)
            incoming = np.convolve(incoming, _chances(other * (cells - (other == size)), comes, most))[: most + 1]
        with_person = np.convolve(_chances(size - 1, stay, most), incoming)[:most]
        everyone = np.convolve(_chances(size, stay, most), incoming)[1 : most + 1]
        risks = stay * with_person[: len(everyone)] / np.arange(1, len(everyone) + 1) / everyone
        worst = max(worst, float(np.nanmax(risks)))
    return worst


def _chances(n: int, chance: float, degree: int) -> Floats:
    """The binomial chances of 0 .. degree out of n."""
    w = np.arange(min(n, degree) + 1)
    ways = math.lgamma(n + 1) - log_gamma(w + 1) - log_gamma(n - w + 1)
    return np.asarray(np.exp(ways + w * math.log(chance) + (n - w) * math.log1p(-chance)))


def _risks(sizes: Mapping[int, int], theta: Fraction, size: int, most: int) -> list[Fraction]:
    """R_j(a) for a = 1 .. most.

    With θ = p/q and whole weights, p for leaving and qt - p for staying, all denominators are alike and cancel.
    """
    k, home = sum(sizes.values()), theta.denominator * size - theta.numerator
    incoming = _incoming({s: n - (s == size) for s, n in sizes.items()}, theta, k, most)
    others = _product(_binomial(size - 1, home, theta.numerator, most), incoming, most)
    everyone = _product(_binomial(size, home, theta.numerator, most), incoming, most)
    return [Fraction(home * others[a - 1], a * everyone[a]) if everyone[a] else Fraction(0) for a in range(1, most + 1)]


def _incoming(sizes: Mapping[int, int], theta: Fraction, k: int, degree: int) -> list[int]:
    """P(W = w) for w = 0 .. degree, up to a factor that all share."""
    total = [1]
    for size, cells in sizes.items():
        n = size * cells
        if k > 1 and n:
            comes, stays_out = theta.numerator, theta.denominator * (k - 1) * size - theta.numerator
            top = min(n, degree)
            own = [math.comb(n, w) * comes**w * stays_out ** (top - w) for w in range(top + 1)]
            total = _product(total, own, degree)
    return total + [0] * (degree + 1 - len(total))


def _binomial(n: int, stays: int, leaves: int, degree: int) -> list[int]:
    """The chances of 0 .. degree out of n, up to a factor that all share."""
    return [math.comb(n, w) * stays**w * leaves ** (n - w) for w in range(min(n, degree) + 1)]


def _product(left: Sequence[int], right: Sequence[int], degree: int) -> list[int]:
    """The product of two polynomials, up to a degree."""
    out = [0] * (degree + 1)
    for i, a in enumerate(left[: degree + 1]):
        for j, b in enumerate(right[: degree + 1 - i]):
            out[i + j] += a * b
    return out


@dataclass(frozen=True)
class BlockAudit:
    """The largest risk in one block, and where it is reached."""

    sizes: Mapping[int, int]
    """How many cells have each frequency."""
    theta: Fraction
    """How many records leave each cell on average, and as many enter it."""
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

    Blocks whose risk is below 1/513 are given that bound, with ``size`` 0: how far below they are does not matter.
    """
    sizes = {size: cells for size, cells in sizes.items() if cells}
    records = sum(size * cells for size, cells in sizes.items())
    for most in (min(_FEW, records), min(_MANY, records), min(_MOST, records)):
        risks = {(size, a): r for size in sizes for a, r in enumerate(_risks(sizes, theta, size, most), start=1)}
        size, matches = max(risks, key=lambda where: risks[where])
        # R(a) <= 1/a: nothing further on can be larger.
        if most == records or risks[size, matches] * (most + 1) >= 1:
            break
    else:
        size, matches, risks[0, _MOST + 1] = 0, _MOST + 1, Fraction(1, _MOST + 1)
    risk, by_all = risks[size, matches], audit_all_counts(sizes, theta)
    if size and by_all.risk < risk:
        # Over all outcomes with these matches, the own count is right as often as the others on average.
        by_all = AllCounts(risk, by_all.exact)
    return BlockAudit(sizes, theta, risk, size, matches, by_all)


@dataclass(frozen=True)
class IdentificationAudit(Result):
    """The proof that the limit holds: the largest exact risk of every block, and of what was left alone."""

    xi: Fraction
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
        # Blocks that are alike in this have the same θ.
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
                    "theta": float(block.theta),
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
            "theta": [float(block.theta) for block, _ in kinds],
            "largest risk": [float(block.risk) for block, _ in kinds],
        }

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        risk = f"largest risk {self.risk_in_digits(4)}, limit {float(self.xi)!r} {verdict}"
        return f"<audit of {len(self.blocks)} blocks: {risk}>"
