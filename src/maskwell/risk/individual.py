r"""The chance that a match with a record is right, when weights say how many people its cell holds.

Benedetti and Franconi take the population frequency F of a cell with f records as negative binomial: people are met
until the f-th one falls into the sample, each with the chance p = f / (sum of the cell's weights). A match with one of
them is right with the chance

.. math:: E[1/F \mid f] = \int_0^1 E[s^{F-1}] \, ds = \int_0^1 \frac{(ps)^f}{(1-qs)^f} \frac{ds}{s}
          = \int_0^1 \frac{t^{f-1}}{1+at} \, dt, \qquad q = 1-p, \; a = q/p, \; t = \frac{ps}{1-qs}.

Dividing :math:`t^f` by :math:`1+at` gives :math:`I_{f+1} = (1/f - I_f)/a` from :math:`I_1 = \ln(1+a)/a`, and expanding
the integrand around t = 1 gives a series of positive terms, :math:`(p/f) \sum_n q^n / \binom{f+n}{n}`.
"""

import numpy as np

from maskwell.tables.codes import Floats, Ints

# The recursion loses nothing while a >= 1; the series needs few terms where q or 1/f is small.
_SERIES_FROM = 30
_ENOUGH = 1e-17


def individual_risk(counts: Ints, population: Floats) -> Floats:
    """E[1/F | f] for cells of ``counts`` records whose weights sum to ``population``.

    Weights below one person a record cannot be: such a cell is taken as fully sampled, with the risk 1/f.

    >>> import numpy as np
    >>> individual_risk(np.array([1, 2]), np.array([2.0, 4.0])).round(4)
    array([0.6931, 0.3069])
    """
    p = np.minimum(counts / population, 1.0)
    by_series = (counts >= _SERIES_FROM) | (p > 0.5)
    risk = np.empty(len(counts))
    risk[by_series] = _series(counts[by_series], p[by_series])
    risk[~by_series] = _recursion(counts[~by_series], p[~by_series])
    return risk


def _series(counts: Ints, p: Floats) -> Floats:
    q, term, total, n = 1 - p, np.ones(len(p)), np.ones(len(p)), 0
    while term.max(initial=0.0) > _ENOUGH:
        n += 1
        term = term * q * n / (counts + n)
        total += term
    result: Floats = p / counts * total
    return result


def _recursion(counts: Ints, p: Floats) -> Floats:
    a = (1 - p) / p
    risk = np.log1p(a) / a
    for f in range(1, int(counts.max(initial=1))):
        larger = counts > f
        risk[larger] = (1 / f - risk[larger]) / a[larger]
    return risk
