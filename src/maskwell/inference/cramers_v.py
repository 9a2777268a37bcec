r"""Cramér's V of two variables from an estimated table, corrected for the table's noise, with limits inside [0, 1].

V is :math:`\sqrt{\varphi^2 / (\min(r, c) - 1)}` with :math:`\varphi^2 = \sum_{ij} w_{ij}^2 / (w_{i+} w_{+j}) - 1`.
Noise in the table, of sampling, masking or release, adds to :math:`\varphi^2` whatever its direction: under heavy
masking so much that V would exceed 1. The table's covariance says how much that is on average, and it is taken off (for
open answers of independent variables this is the correction of Bergsma 2013).

What is left has no normal law near V = 0. Its limits come from turning a test around: with y the standardised
differences from independence and :math:`\Omega` their covariance, :math:`|y|^2` has about the law of a scaled
non-central chi-square with its mean and its variance, :math:`2 \mathrm{tr}\, \Omega^2` and a part that grows with
:math:`\varphi^2` (delta method).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.results.numbers import figure
from maskwell.results.result import Result

Floats = NDArray[np.float64]

_TURNS = 60
_ROUND_OFF = 1e-12
_LARGE = 1e4  # from this non-centrality on the law is normal


@dataclass(frozen=True)
class Quadratic:
    """The second-order law of φ² of a noisy table; everything that V, its error and its limits are made of."""

    observed: float
    """φ² of the estimated table."""
    noise: float
    """What noise adds to it on average where the variables are independent: tr Ω."""
    noise_here: float
    """The same at the estimated association."""
    squares: float
    """tr Ω²."""
    growth: float
    """The variance of φ² by the delta method, for each unit of φ²."""
    most: int
    """The largest possible φ²: one less than the smaller number of categories."""

    @property
    def corrected(self) -> float:
        return min(max(self.observed - self.noise_here, 0.0), float(self.most))

    @property
    def spread(self) -> float:
        """The variance of φ² at the corrected one."""
        return 2 * self.squares + self.corrected * self.growth

    @property
    def error(self) -> float:
        """The standard error of the uncorrected V."""
        size = max(self.observed, self.noise)
        return math.sqrt(self.spread / (4 * self.most * size)) if size > 0 else 0.0

    def v(self) -> CramersV:
        value = math.sqrt(self.corrected / self.most)
        error = math.sqrt(self.spread) / (2 * self.most * value) if value > 0 else math.inf
        return CramersV(value, math.sqrt(max(self.observed, 0.0) / self.most), error, self)

    def v_at(self, chance: float) -> float:
        """The V at which what was observed is the quantile of this chance; 0 or 1 if none lies inside."""
        low, high = 0.0, float(self.most)
        if self.chance_below(low) <= chance:
            return 0.0
        if self.chance_below(high) >= chance:
            return 1.0
        for _ in range(_TURNS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.chance_below(middle) > chance else (low, middle)
        return math.sqrt((low + high) / 2 / self.most)

    def chance_below(self, true: float) -> float:
        """The chance that noise leaves φ² at or below the observed one, where the true one is this."""
        from maskwell.numerics.chi_square import noncentral_chi_square_cdf
        from maskwell.numerics.normal import normal_cdf

        if self.noise <= 0:
            return float(true <= self.observed)
        scale = (2 * self.squares + true * self.growth) / (2 * self.noise + 4 * true)
        share = min(true / self.corrected, 1.0) if self.corrected > 0 else 0.0
        excess = share * (self.noise_here - self.noise)
        if scale <= 0:
            return float(true + excess <= self.observed)
        x, df, shift = (self.observed - excess) / scale, self.noise / scale, true / scale
        if shift > _LARGE:
            return float(normal_cdf((x - df - shift) / math.sqrt(2 * df + 4 * shift)))
        return noncentral_chi_square_cdf(max(x, 0.0), df, shift)


@dataclass(frozen=True)
class CramersV(Result):
    """Cramér's V with its correction and limits: 0 for independent variables, 1 where one decides the other."""

    value: float
    """Corrected for noise, and never outside [0, 1]."""
    uncorrected: float
    """V of the estimated table as it stands; above 1 where the table is mostly noise."""
    standard_error: float
    """By the delta method; infinite at V = 0, where the method fails: use ``interval``."""
    form: Quadratic
    """What it was computed from."""

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The values of V that a two-sided test does not reject; they lie inside [0, 1], and never at 0 alone."""
        normal_quantile(level)  # refuses a level outside (0, 1)
        tail = (1 - level) / 2
        # A table that happens to lie nearer to independence than noise allows proves no less than one at its mean.
        at_least = replace(self.form, observed=max(self.form.observed, self.form.noise))
        return self.form.v_at(1 - tail), at_least.v_at(tail)

    def _title(self) -> str:
        return "association: Cramér's V, corrected for noise"

    def _figures(self) -> dict[str, Any]:
        low, high = self.interval()
        return {"V": self.value, "95 % interval": f"{figure(low)} to {figure(high)}", "uncorrected": self.uncorrected}

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The figures by name."""
        return {
            "cramers_v": self.value,
            "uncorrected": self.uncorrected,
            "standard_error": self.standard_error,
            "interval": self.interval(level),
            "level": level,
        }


def plain_v(counts: Any) -> float:
    """V of a table that is taken as it stands.

    >>> plain_v([[5, 0], [0, 5]]), plain_v([[1, 2], [2, 4]])
    (1.0, 0.0)
    """
    table = occupied(np.asarray(counts, float))
    if min(table.shape) < 2:
        return 0.0
    return math.sqrt(max(phi_squared(table), 0.0) / (min(table.shape) - 1))


def occupied(counts: Floats) -> Floats:
    """The shares of a table of counts without rows and columns that nobody is in."""
    kept: Floats = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    shares: Floats = kept / kept.sum()
    return shares


def phi_squared(table: Floats) -> float:
    """Of a table of shares."""
    return float((table**2 / np.outer(table.sum(axis=1), table.sum(axis=0))).sum()) - 1


def phi_slope(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """The derivative of φ² by each cell, with the margins that go with them."""
    by_row = (table**2 / columns).sum(axis=1) / rows**2
    by_column = (table**2 / rows[:, None]).sum(axis=0) / columns**2
    slope: Floats = 2 * table / np.outer(rows, columns) - by_row[:, None] - by_column
    return slope


def corrected_v(table: Floats, covariance: Floats) -> CramersV | None:
    """V of an estimated joint table with the covariance of its cells; None if a variable has fewer than two categories.

    Estimated margins at or below their standard error are taken to be that large: they only weight the cells, and a
    share that noise put at 0 would make its cells count without bound.
    """
    cells = covariance.reshape(*table.shape, *table.shape)
    errors = [np.sqrt(np.maximum(np.diagonal(c), 0)) for c in (cells.sum(axis=(1, 3)), cells.sum(axis=(0, 2)))]
    rows, columns = (np.maximum(m, e) for m, e in zip((table.sum(axis=1), table.sum(axis=0)), errors, strict=True))
    kept = np.ix_(rows > 0, columns > 0)
    if min(kept[0].size, kept[1].size) < 2:
        return None
    cells = cells[np.ix_(rows > 0, columns > 0, rows > 0, columns > 0)]
    return _form(table[kept], cells, rows[rows > 0], columns[columns > 0]).v()


def sampled_v(counts: Any) -> CramersV | None:
    """V of open answers, counted in a simple random sample; None if a variable has fewer than two categories.

    >>> found = sampled_v([[30, 20], [20, 30]])
    >>> round(found.value, 3), round(found.uncorrected, 3), [round(limit, 3) for limit in found.interval()]
    (0.174, 0.2, [0.0, 0.392])
    """
    whole = np.asarray(counts, float)
    table, n = occupied(whole), float(whole.sum())
    if min(table.shape) < 2:
        return None
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    observed, df = phi_squared(table), (len(rows) - 1) * (len(columns) - 1)
    slope = phi_slope(table, rows, columns)
    variance = float((table * slope**2).sum() - (table * slope).sum() ** 2) / n
    here = added_noise(table, rows, columns, Seconds.of_sample(table, n))
    growth = variance / observed if observed > _ROUND_OFF else 4 / n
    return Quadratic(observed, df / n, here, df / n**2, growth, min(table.shape) - 1).v()


def _form(table: Floats, cells: Floats, rows: Floats, columns: Floats) -> Quadratic:
    independent = np.outer(rows, columns)
    difference = table - np.outer(table.sum(axis=1), table.sum(axis=0))
    roots = np.sqrt(independent)
    spread = _of_differences(cells, rows, columns) / roots[:, :, None, None] / roots
    y = (difference / roots).reshape(-1)
    matrix = spread.reshape(y.size, y.size)
    observed, noise = float(y @ y), float(np.trace(matrix))
    most = min(table.shape) - 1
    noise_here, true, seconds = noise, 0.0, Seconds.of(cells)
    squares = float((matrix**2).sum())
    growth = 4 * float(y @ matrix @ y) / observed if observed > _ROUND_OFF else 4 * squares / max(noise, _ROUND_OFF)
    for _ in range(3):
        # The second-order terms depend on the association, which is known only after they are taken off.
        true = min(observed - noise_here, observed, float(most))
        if true <= 0:
            break
        here = independent + math.sqrt(true / observed) * difference
        noise_here = added_noise(here, rows, columns, seconds)
        slope = phi_slope(here, rows, columns).reshape(-1)
        growth = float(slope @ cells.reshape(y.size, y.size) @ slope) / true
    return Quadratic(observed, noise, noise_here, squares, max(growth, 0.0), most)


def _of_differences(cells: Floats, rows: Floats, columns: Floats) -> Floats:
    """The covariance of the differences from independence."""

    def centred(array: Floats) -> Floats:
        """Along the first two axes."""
        by_row = np.einsum("j,i...->ij...", columns, array.sum(axis=1))
        by_column = np.einsum("i,j...->ij...", rows, array.sum(axis=0))
        return np.asarray(array - by_row - by_column)

    once = centred(cells)
    twice: Floats = np.transpose(centred(np.transpose(once, (2, 3, 0, 1))), (2, 3, 0, 1))
    return twice


class Seconds(NamedTuple):
    """Variances and covariances of cells and margins, as far as the mean of φ² depends on them; arrays like a table."""

    cell: Floats
    cell_and_row: Floats
    cell_and_column: Floats
    row: Floats
    """By row."""
    column: Floats
    """By column."""
    row_and_column: Floats

    @staticmethod
    def of(cells: Floats) -> Seconds:
        """From the covariances of all cells."""
        return Seconds(
            np.einsum("ijij->ij", cells),
            np.einsum("ijil->ij", cells),
            np.einsum("ijkj->ij", cells),
            np.diagonal(cells.sum(axis=(1, 3))),
            np.diagonal(cells.sum(axis=(0, 2))),
            cells.sum(axis=(1, 2)),
        )

    @staticmethod
    def of_sample(table: Floats, n: float) -> Seconds:
        """Of the shares in a simple random sample."""
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        return Seconds(
            table * (1 - table) / n,
            table * (1 - rows[:, None]) / n,
            table * (1 - columns) / n,
            rows * (1 - rows) / n,
            columns * (1 - columns) / n,
            (table - np.outer(rows, columns)) / n,
        )


def added_noise(table: Floats, rows: Floats, columns: Floats, of: Seconds) -> float:
    """What noise adds to φ² on average at this table, to second order."""
    a, b = 1 / rows[:, None], 1 / columns
    terms = (
        of.cell * a * b
        - 2 * table * a * b * (of.cell_and_row * a + of.cell_and_column * b)
        + table**2 * a * b * (of.row[:, None] * a**2 + of.column * b**2 + of.row_and_column * a * b)
    )
    return float(terms.sum())
