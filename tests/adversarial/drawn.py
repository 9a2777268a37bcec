"""What a design's sampler really draws, enumerated in plain Python from the sampler, and the privacy of that.

Nothing here asks the design about itself: chances come from the numbers that the kernels are given, and parity,
diversity, distance and demands are worked out from those chances alone.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

import maskwell as mw
from maskwell.sampling.block_samplers import BlockSampler, HyperplaneSampler
from maskwell.sampling.layer_samplers import BitsSampler, TwoTablesSampler
from maskwell.sampling.samplers import (
    CopySampler,
    RowSampler,
    SingleSampler,
    SubsetSampler,
)

TOTAL = 2**64
Chances = dict[Any, Fraction]
_DIGITS = Context(prec=80)


def drawn(design: mw.Design) -> list[Chances]:
    """For each truth, the chance of every report that the sampler can draw."""
    if isinstance(design, mw.designs.ProductDesign):
        parts = [drawn(part) for part in design.parts]
        return [
            {
                reports: math.prod((own[r] for own, r in zip(columns, reports, strict=True)), start=Fraction(1))
                for reports in product(*columns)
            }
            for columns in product(*parts)
        ]
    sampler: Any = design.sampler
    match sampler:
        case HyperplaneSampler():
            return _hyperplanes(sampler, design.k)
        case BitsSampler():
            return _bits(sampler)
    return [_of_sampler(sampler, truth) for truth in range(design.k)]


def _of_sampler(sampler: Any, truth: int) -> Chances:
    match sampler:
        case CopySampler():
            return {truth: Fraction(1)}
        case SingleSampler():
            other = Fraction(TOTAL - sampler.stay, TOTAL * (sampler.k - 1))
            return {j: Fraction(sampler.stay, TOTAL) if j == truth else other for j in range(sampler.k)}
        case SubsetSampler():
            return _sets(sampler, truth)
        case RowSampler():
            return _rows(sampler, truth)
        case BlockSampler():
            return _blocks(sampler, truth)
        case TwoTablesSampler():
            return _tables(sampler, truth)
    raise AssertionError(f"no enumeration of {type(sampler).__name__}")


def _sets(sampler: SubsetSampler, truth: int) -> Chances:
    others = [j for j in range(sampler.k) if j != truth]
    chances: Chances = {}
    for size, inside, outside in zip(sampler.sizes, sampler.inside, sampler.outside, strict=True):
        for weight, own in ((inside, (truth,)), (outside, ())):
            sets = list(combinations(others, size - len(own))) if weight else []
            for members in sets:
                report = frozenset({*members, *own})
                chances[report] = chances.get(report, Fraction(0)) + Fraction(weight, TOTAL * len(sets))
    return chances


def _rows(sampler: RowSampler, truth: int) -> Chances:
    """A number below the total is looked up among the cumulative weights; the last row takes what is left."""
    _, _, starts, which, cumulative = sampler._arrays
    own = slice(int(starts[truth]), int(starts[truth + 1]))
    total = sampler.totals[truth]
    edges = [0, *(int(c) for c in cumulative[own][:-1]), total]
    rows = [int(row) for row in which[own]]
    chances: Chances = {}
    for row, (low, high) in zip(rows, pairwise(edges), strict=True):
        chances[row] = chances.get(row, Fraction(0)) + Fraction(high - low, total)
    return chances


def _blocks(sampler: BlockSampler, truth: int) -> Chances:
    listed = [int(report) for report in sampler.table[truth]]
    sides = ((listed[: sampler.n_inside], sampler.inside), (listed[sampler.n_inside :], TOTAL - sampler.inside))
    chances: Chances = {}
    for reports, weight in sides:
        for report in reports if weight else ():
            chances[report] = chances.get(report, Fraction(0)) + Fraction(weight, TOTAL * len(reports))
    return chances


def _tables(sampler: TwoTablesSampler, truth: int) -> Chances:
    chances: Chances = {}
    for kept, first in _rows(sampler.first, truth).items():
        for row, second in _rows(sampler.second, kept).items():
            chances[row] = chances.get(row, Fraction(0)) + first * second
    return chances


# Bits of other categories than these come alike for all of them: summed out, they change no ratio and no distance.
_MOST_BITS = 6


def _bits(sampler: BitsSampler) -> list[Chances]:
    k, chance = min(sampler.k, _MOST_BITS), [Fraction(0), Fraction(1)]
    for one, zero in sampler.layers:
        chance = [(bit * one + (1 - bit) * zero) / TOTAL for bit in chance]
    sets = list(product((0, 1), repeat=k))

    def of(report: tuple[int, ...], truth: int) -> Fraction:
        ones = (chance[j == truth] for j in range(k))
        return math.prod((p if bit else 1 - p for p, bit in zip(ones, report, strict=True)), start=Fraction(1))

    return [{report: of(report, truth) for report in sets} for truth in range(k)]


def _hyperplanes(sampler: HyperplaneSampler, k: int) -> list[Chances]:
    """Hyperplanes that hold the same truths are one report here, counted exactly: there can be 2^26 of them.

    The truths span the last ``s`` coordinates, so only those of a hyperplane matter; each choice of them comes
    ``q^(t - s)`` times, and hyperplanes for which they are all 0 hold every truth.
    """
    q, t, through, past = sampler.shape
    s = next(s for s in range(1, t + 1) if (q**s - 1) // (q - 1) >= k)
    points = _points(q, s)
    held = np.zeros((len(points), k), np.int64)
    for at in range(s):
        term = _times(sampler, points[:, None, at], points[None, :k, at])
        held = held ^ term if q & (q - 1) == 0 else (held + term) % q
    counts = Counter({tuple(row): q ** (t - s) * int(n) for row, n in zip(*_distinct(held == 0), strict=True)})
    counts[(True,) * k] += (q ** (t - s) - 1) // (q - 1)
    inside, outside = Fraction(sampler.inside, TOTAL * through), Fraction(TOTAL - sampler.inside, TOTAL * past)
    return [{row: n * (inside if row[j] else outside) for row, n in counts.items() if n} for j in range(k)]


def _points(q: int, s: int) -> Any:
    """The points of a space by number: those with the most zeros before their 1 come first."""
    found = []
    for after in range(s):
        rest = np.arange(q**after)[:, None] // q ** np.arange(after - 1, -1, -1) % q
        head = np.zeros((q**after, s - after), np.int64)
        head[:, -1] = 1
        found.append(np.concatenate([head, rest], axis=1))
    return np.concatenate(found)


def _times(sampler: HyperplaneSampler, a: Any, b: Any) -> Any:
    powers, logarithms = sampler.tables
    return np.where((a == 0) | (b == 0), 0, powers[logarithms[a] + logarithms[b]])


def _distinct(rows: Any) -> tuple[list[list[bool]], list[int]]:
    found, counts = np.unique(np.packbits(rows, axis=1), axis=0, return_counts=True)
    return np.unpackbits(found, axis=1, count=rows.shape[1]).astype(bool).tolist(), counts.tolist()


def rows_of(columns: list[Chances]) -> list[list[Fraction]]:
    """The matrix of chances, a row for each report that some truth can lead to."""
    reports = {report for column in columns for report, chance in column.items() if chance}
    return [[column.get(report, Fraction(0)) for column in columns] for report in reports]


def parity(rows: list[list[Fraction]]) -> Fraction | float:
    """The largest ratio within a row."""
    return max(math.inf if not min(row) else max(row) / min(row) for row in rows)


def diversity(rows: list[list[Fraction]]) -> int:
    """The least number of truths that a report leaves possible, if they are alike; else 0."""
    supports = [[chance for chance in row if chance] for row in rows]
    return 0 if any(len(set(support)) > 1 for support in supports) else min(map(len, supports))


def distance(columns: list[Chances]) -> Fraction:
    """The largest L1 distance between two columns."""
    return max(
        sum((abs(a.get(r, Fraction(0)) - b.get(r, Fraction(0))) for r in {*a, *b}), Fraction(0))
        for a, b in combinations(columns, 2)
    )


def false_claims(design: mw.Design, most_reports: int = 5_000) -> list[str]:
    """Everything that a design says of its privacy and that the drawn chances contradict."""
    columns = drawn(design)
    rows = rows_of(columns)
    found = [
        f"truth {j} has chances that sum to {sum(c.values())}" for j, c in enumerate(columns) if sum(c.values()) != 1
    ]
    true = parity(rows)
    if design.exact_parity() != true:
        found.append(f"parity {design.exact_parity()} is shown, {true} is drawn")
    if math.isfinite(true) and _exp(design.epsilon) < Decimal(true.numerator) / Decimal(true.denominator) * (1 - _TINY):
        found.append(f"epsilon {design.epsilon} is shown for a parity of {float(true)}")
    if design.diversity() != diversity(rows):
        found.append(f"diversity {design.diversity()} is shown, {diversity(rows)} is drawn")
    if len(rows) * design.k**2 <= most_reports and design.column_distance() != distance(columns):
        found.append(f"a distance of {design.column_distance()} is shown, {distance(columns)} is drawn")
    claims = {**(design.demand.to_dict() if design.demand else {}), **_numbers(design.parameters)}
    return found + _broken(claims, rows, columns)


_TINY = Decimal("1e-15")  # an epsilon is a float


def _exp(exponent: Any) -> Decimal:
    exact = Fraction(exponent)
    return _DIGITS.exp(_DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator)))


def _numbers(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name in ("epsilon", "gamma", "l", "phi")}


def _broken(claims: dict[str, Any], rows: list[list[Fraction]], columns: list[Chances]) -> list[str]:
    """The claims, by the names that they are stored under, that do not hold."""
    true = parity(rows)
    found = []
    bounds = {name: Fraction(claims[name]) for name in ("beta", "gamma", "parity_bound") if claims.get(name)}
    if "rho1" in claims:
        low, high = Fraction(claims["rho1"]), Fraction(claims["rho2"])
        bounds["rho"] = high * (1 - low) / (low * (1 - high))
    found += [f"{name} allows {bound}, {true} is drawn" for name, bound in bounds.items() if true > bound]
    if "epsilon" in claims and (
        true == math.inf or _exp(claims["epsilon"]) < _DIGITS.divide(Decimal(true.numerator), Decimal(true.denominator))
    ):
        found.append(f"epsilon {claims['epsilon']} is claimed, a parity of {float(true)} is drawn")
    if "l" in claims and diversity(rows) < claims["l"]:
        found.append(f"l {claims['l']} is claimed, {diversity(rows)} is drawn")
    if "phi" in claims and distance(columns) > 2 * (Fraction(claims["phi"]) - 1):
        found.append(f"phi {claims['phi']} is claimed for a distance of {float(distance(columns))}")
    return found
