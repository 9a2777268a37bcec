r"""Matching at equal precision: the strongest parity bound that a given added variance can pay for.

Two designs with the same added variance estimate every population equally well in total, so their privacy can be
compared side by side. A set of q out of k categories that holds the truth with chance p adds the variance v if

.. math:: p = \frac{q}{k} + \frac{k-q}{k}\,t, \qquad t^2 = \frac{(k-1)^2\, q}{(k(v+1)-1)(k-q)},

and its parity is then :math:`\gamma = (q + (k-q)t) / (q(1-t))`: the root above 1 of the quadratic that eq. 3.3 of
nayak-zhai-2019 is in γ. No set of size q is precise enough where t would reach 1.
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from operator import index

import numpy as np

from maskwell import designs
from maskwell.errors import DesignError
from maskwell.exact import fraction
from maskwell.results.result import Result

# Sizes whose parities agree to fifty of sixty digits are tied; a double could not tell a tie from a near miss.
_DECIMAL = Context(prec=60)
_TIE = Fraction(1, 10**50)
# Below it, parities leave the range of a double.
_LEAST = Fraction(1, 10**300)
# Where 1 - t² is at least the first, round-off moves a parity by far less than the second.
_BORDER, _NEAR = 1e-6, 1e-9


@dataclass(frozen=True)
class Match(Result):
    """The smallest parity γ at which a minimax design adds exactly the given variance.

    ``sizes`` are the set sizes that reach it, more than one on an exact tie. ``truth_prob`` is the chance that a report
    holds the truth and ``guess_probability`` that of naming it from a report without prior knowledge, both at ``size``.
    """

    k: int
    added_variance: float
    gamma: float
    epsilon: float
    sizes: tuple[int, ...]
    truth_prob: float
    guess_probability: float

    def _title(self) -> str:
        return f"minimax design for {self.k:,} categories that adds the variance {self.added_variance:.4g}"

    @property
    def size(self) -> int:
        """The set size of the minimax design: the smallest on a tie."""
        return self.sizes[0]


def match_added_variance(k: int, added_variance: float | Fraction) -> Match:
    """The strongest privacy, as parity, among minimax designs for ``k`` categories with this added variance.

    >>> match = match_added_variance(10, Fraction(36, 5))
    >>> match.gamma, match.sizes
    (6.0, (1, 2))
    """
    k = _count(k)
    variance = fraction(added_variance, "added_variance", DesignError)
    if variance < _LEAST:
        raise DesignError(
            f"added_variance must be above 0; got {added_variance}. "
            "Only the direct question adds nothing; state the variance that masking may add per respondent.",
            parameter="added_variance",
        )
    parities = {q: root for q in _near_best(k, float(variance)) if (root := _parity(k, q, variance)) is not None}
    gamma = min(parities.values())
    sizes = tuple(q for q, parity in parities.items() if parity - gamma <= gamma * _TIE)
    size = sizes[0]
    truth_prob = size * gamma / (size * gamma + k - size)
    return Match(
        k=k,
        added_variance=float(variance),
        gamma=float(gamma),
        epsilon=float(_DECIMAL.ln(_decimal(gamma))),
        sizes=sizes,
        truth_prob=float(truth_prob),
        guess_probability=float(truth_prob / size),
    )


def match_local_diversity(k: int, l: int) -> Match:
    """The minimax design that is as precise as local l-diversity, whose added variance is (k-1)(l-1)/(k-l).

    Reproduced in ``published`` (nayak-zhai-2019, Table 2).

    >>> match = match_local_diversity(20, 5)
    >>> round(match.gamma, 2), match.size, round(match.guess_probability, 4)
    (14.19, 1, 0.4275)
    """
    k = _count(k)
    (size,) = designs.local_diversity(k, l=l).sizes
    return match_added_variance(k, Fraction((k - 1) * (size - 1), k - size))


def _count(k: int) -> int:
    try:
        count = index(k)
    except TypeError:
        raise DesignError(
            f"k must be a whole number of categories; got {k!r}. Pass len(categories).", parameter="k"
        ) from None
    if count < 2:
        raise DesignError(f"k must be at least 2; got {k}. One category leaves nothing to mask.", parameter="k")
    return count


def _near_best(k: int, variance: float) -> list[int]:
    """The sizes that doubles cannot tell from the best, or from being precise enough: a million are tried at once."""
    q = np.arange(1, k, dtype=float)
    squared = (k - 1) ** 2 * q / ((k * (variance + 1) - 1) * (k - q))
    clear = squared < 1 - _BORDER
    unclear = q[~clear & (squared < 1 + _BORDER)]
    q, squared = q[clear], squared[clear]
    t = np.sqrt(squared)
    parity = (q + (k - q) * t) * (1 + t) / (q * (1 - squared))
    near = q[parity <= parity.min(initial=math.inf) * (1 + _NEAR)]
    return sorted({int(size) for size in (*near, *unclear)})


def _parity(k: int, q: int, variance: Fraction) -> Fraction | None:
    """The parity at which sets of size q add this variance; None where even sets that always hold the truth add it."""
    squared = (k - 1) ** 2 * q / ((k * (variance + 1) - 1) * (k - q))
    if squared >= 1:
        return None
    t = Fraction(_DECIMAL.sqrt(_decimal(squared)))
    # 1 - t is taken as (1 - t²) / (1 + t), whose numerator is exact: nothing cancels when t is close to 1.
    return (q + (k - q) * t) * (1 + t) / (q * (1 - squared))


def _decimal(value: Fraction) -> Decimal:
    return _DECIMAL.divide(Decimal(value.numerator), Decimal(value.denominator))
