"""Tests of sampled frequencies whose false-alarm rate and power are computed, so that no tolerance is tuned.

The number of draws is chosen from the smallest error worth catching: ``Fit.smallest_error`` is the total-variation
distance from which on a wrong sampler is caught with probability ``POWER``. Draws come from fixed seeds, so a test
that has passed once passes always; the rates say how much a pass means.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

POWER = 0.99
# With at least this many expected draws in a cell the chi-square law is good to a factor of 3 even at 1e-9.
LEAST_EXPECTED = 1000.0

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """How well counts fit probabilities, and how wrong the probabilities could be without being noticed."""

    p_value: float
    cells: int
    smallest_error: float


def fit_test(observed: Counts | Floats, probabilities: Floats, false_alarm: float) -> Fit:
    """Pearson's chi-square test of counts against known probabilities; rare cells are pooled into one.

    Which cells are pooled depends on the expected counts alone, so pooling does not disturb the test. Counts where the
    probability is zero are the caller's to refuse: no number of draws makes them acceptable.
    """
    n = float(observed.sum())
    counts, expected = _pool(np.asarray(observed, float), np.asarray(probabilities, float) * n)
    cells = len(expected)
    if cells == 1:
        # Nothing to compare: an error shows as an impossible report, unless n draws miss it.
        return Fit(1.0, 1, -math.log(1 - POWER) / n)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return Fit(float(stats.chi2.sf(statistic, cells - 1)), cells, smallest_error(cells - 1, n, false_alarm))


def _pool(observed: Floats, expected: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    first = int(np.searchsorted(expected, LEAST_EXPECTED))
    # The pool itself may be too small; it then takes in the smallest of the other cells.
    while 0 < first < len(expected) and expected[:first].sum() < LEAST_EXPECTED:
        first += 1
    if first == 0:
        return observed, expected
    return (np.append(part[first:], part[:first].sum()) for part in (observed, expected))  # type: ignore[return-value]


def smallest_error(df: int, n: float, false_alarm: float) -> float:
    """The total-variation distance that a chi-square test on ``n`` draws catches with probability ``POWER``.

    A distance t means an effect size w = sqrt(sum (q - p)^2 / p) of at least 2t (Cauchy-Schwarz), and the statistic is
    then non-central with parameter n w^2.
    """
    critical = float(stats.chi2.isf(false_alarm, df))
    noncentrality = optimize.brentq(lambda c: stats.ncx2.sf(critical, df, c) - POWER, 1e-9, 10 * critical + 1000)
    return math.sqrt(float(noncentrality) / n) / 2


def binomial_p_values(counts: Counts, n: int, chances: Floats | float) -> Floats:
    """Exact two-sided p-values of binomial counts, twice the smaller tail."""
    tails = np.minimum(stats.binom.cdf(counts, n, chances), stats.binom.sf(counts - 1, n, chances))
    return np.minimum(1.0, 2 * tails)


def smallest_binomial_error(n: int, chance: float, false_alarm: float) -> float:
    """The error of a binomial chance that ``n`` draws catch with probability ``POWER``, by the normal approximation."""
    quantiles = stats.norm.isf(false_alarm / 2) + stats.norm.ppf(POWER)
    return float(quantiles * math.sqrt(chance * (1 - chance) / n))


def same_distribution(first: Counts, second: Counts) -> float:
    """The p-value of the chi-square test that two samples of counts come from one distribution."""
    table = np.array([first, second])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0


def independence_p_value(first: Sequence[object], second: Sequence[object]) -> float:
    """The p-value of the chi-square test of independence between two paired columns."""
    rows = np.unique(np.array([str(x) for x in first]), return_inverse=True)[1]
    columns = np.unique(np.array([str(x) for x in second]), return_inverse=True)[1]
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1)
    return float(stats.chi2_contingency(table, correction=False).pvalue)
