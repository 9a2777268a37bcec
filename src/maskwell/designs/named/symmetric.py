"""Named symmetric subset designs. Each says how often a report has which size; the rest is in ``subsets``.

In all designs with a parity bound γ, a set is γ times likelier if it holds the truth than if it does not.
"""

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from maskwell.demands import LDP, BetaFactor, Demand, LocalDiversity
from maskwell.designs.kinds.subsets import SubsetDesign, refuse_many_for_sets
from maskwell.designs.registry import named
from maskwell.designs.rounding import always_inside, split_at_parity
from maskwell.errors import DesignError
from maskwell.exact import fraction, written_fraction
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import as_labels

Categories = Iterable[Any] | int
Number = float | Fraction | Decimal | str

# Size shares are computed to 50 digits, so that no machine's exponential can change an integer.
_DECIMAL = Context(prec=50)
_GRID = (
    {"k": 2, "epsilon": 1.0},
    {"k": 5, "epsilon": 1.0},
    {"k": 7, "epsilon": 0.3},
    {"k": 6, "gamma": Fraction(9)},
)


def _claim(epsilon: Number | None, gamma: Number | None) -> tuple[Fraction, Demand, dict[str, Any]]:
    """The parity bound as a rational at or below it, the demand that states it, and the parameter as given."""
    if (epsilon is None) == (gamma is None):
        raise DesignError(
            f"give epsilon= or gamma= (gamma is e to the epsilon), not both or neither; got epsilon={epsilon}, "
            f"gamma={gamma}."
        )
    demand: Demand = LDP(epsilon) if epsilon is not None else BetaFactor(gamma)  # type: ignore[arg-type]
    bound = demand.exact_bound()
    assert isinstance(bound, Fraction)
    name, given = ("epsilon", epsilon) if epsilon is not None else ("gamma", gamma)
    return bound, demand, {name: written_fraction(given, name, DesignError) if isinstance(given, str) else given}


def _at_parity(
    name: str,
    labels: tuple[Any, ...],
    shares: Mapping[int, Decimal],
    claim: tuple[Fraction, Demand, dict[str, Any]],
) -> SubsetDesign:
    bound, demand, parameters = claim
    weights = split_at_parity(len(labels), shares, bound)
    return SubsetDesign(labels, *weights, name=name, parameters=parameters, demand=demand)


def _set_labels(categories: Categories) -> tuple[Any, ...]:
    """Labels of a design whose reports are sets of any size, which are drawn from a limited number of categories."""
    labels = as_labels(categories)
    refuse_many_for_sets(len(labels))
    return labels


def _decimal(value: Fraction) -> Decimal:
    return _DECIMAL.divide(Decimal(value.numerator), Decimal(value.denominator))


def _binomial(trials: int, chance: Decimal) -> list[Decimal]:
    """The probabilities of 0 .. trials successes."""
    against = _DECIMAL.subtract(Decimal(1), chance)
    odds = _DECIMAL.divide(chance, against)
    terms = [_DECIMAL.power(against, trials)]
    for s in range(trials):
        step = _DECIMAL.divide(_DECIMAL.multiply(odds, Decimal(trials - s)), Decimal(s + 1))
        terms.append(_DECIMAL.multiply(terms[-1], step))
    return terms


def _flipped_sizes(k: int, keep: Decimal, flip: Decimal) -> dict[int, Decimal]:
    """The size of a set that holds the truth with chance ``keep`` and each other category with chance ``flip``."""
    others = [Decimal(0), *_binomial(k - 1, flip), Decimal(0)]
    drop = _DECIMAL.subtract(Decimal(1), keep)
    parts = ((_DECIMAL.multiply(keep, others[s]), _DECIMAL.multiply(drop, others[s + 1])) for s in range(k + 1))
    return {s: _DECIMAL.add(*both) for s, both in enumerate(parts)}


@named("nayak-zhai-2019", examples=({"k": 2}, {"k": 5}))
def direct(categories: Categories) -> SubsetDesign:
    """Report the true category: no masking, the yardstick for all others."""
    return SubsetDesign(as_labels(categories), (1,), (TOTAL,), (0,), name="direct")


@named("chai-nayak-2018", examples=_GRID)
def gamma_diagonal(
    categories: Categories, *, epsilon: Number | None = None, gamma: Number | None = None
) -> SubsetDesign:
    """Report the true category γ times as often as any other one (k-ary randomized response)."""
    return _at_parity("gamma_diagonal", as_labels(categories), {1: Decimal(1)}, _claim(epsilon, gamma))


@named("nayak-zhai-2019", "ye-barg-2018", examples=_GRID)
def minimax(categories: Categories, *, epsilon: Number | None = None, gamma: Number | None = None) -> SubsetDesign:
    r"""Report a set of q categories, with the least worst-case error that the parity allows (subset selection).

    With :math:`f(x) = k^2 (x\gamma^2 + k - x)/(x\gamma + k - x)^2`, q is the better of the two integers around
    :math:`k/(1+\gamma)` and the added variance is :math:`(k-1)^2/(f(q)-k) + 1/k - 1` (nayak-zhai-2019, eq. 3.3).

    >>> minimax(10, gamma=20).sizes
    (1,)
    """
    labels = as_labels(categories)
    claim = _claim(epsilon, gamma)
    return _at_parity("minimax", labels, {minimax_size(len(labels), claim[0]): Decimal(1)}, claim)


def minimax_size(k: int, gamma: Fraction) -> int:
    """The set size q of the minimax design; the smaller one on a tie."""
    below = int(k / (1 + gamma))
    candidates = [q for q in (below, below + 1) if 1 <= q < k]
    return max(candidates, key=lambda q: ((q * gamma**2 + k - q) / (q * gamma + k - q) ** 2, -q))


@named("erlingsson-2014", "chai-nayak-2018", examples=_GRID)
def rappor(categories: Categories, *, epsilon: Number | None = None, gamma: Number | None = None) -> SubsetDesign:
    """Flip each of the k membership bits of the truth with the same chance 1/(√γ + 1) (basic one-time RAPPOR)."""
    labels, claim = _set_labels(categories), _claim(epsilon, gamma)
    keep, flip = _rappor_chances(claim[0])
    return _at_parity("rappor", labels, _flipped_sizes(len(labels), keep, flip), claim)


def _rappor_chances(gamma: Fraction) -> tuple[Decimal, Decimal]:
    root = _DECIMAL.sqrt(_decimal(gamma))
    flip = _DECIMAL.divide(Decimal(1), _DECIMAL.add(root, Decimal(1)))
    return _DECIMAL.subtract(Decimal(1), flip), flip


@named("chai-nayak-2018", "nayak-zhai-2019", examples=_GRID)
def trimmed_rappor(
    categories: Categories, *, epsilon: Number | None = None, gamma: Number | None = None
) -> SubsetDesign:
    """RAPPOR without its empty and its full set, which say nothing: the admissible design that dominates it."""
    labels, claim = _set_labels(categories), _claim(epsilon, gamma)
    sizes = _flipped_sizes(len(labels), *_rappor_chances(claim[0]))
    kept = {s: share for s, share in sizes.items() if 0 < s < len(labels)}
    total = _DECIMAL.subtract(Decimal(1), _DECIMAL.add(sizes[0], sizes[len(labels)]))
    return _at_parity("trimmed_rappor", labels, {s: _DECIMAL.divide(p, total) for s, p in kept.items()}, claim)


@named("wang-2017", examples=_GRID)
def optimized_unary(
    categories: Categories, *, epsilon: Number | None = None, gamma: Number | None = None
) -> SubsetDesign:
    """Keep the true bit with chance 1/2 and set each other bit with chance 1/(γ + 1) (optimized unary encoding)."""
    labels, claim = _set_labels(categories), _claim(epsilon, gamma)
    flip = _decimal(1 / (claim[0] + 1))
    return _at_parity("optimized_unary", labels, _flipped_sizes(len(labels), Decimal("0.5"), flip), claim)


@named("nayak-zhai-2019", examples=({"k": 3, "l": 2}, {"k": 6, "l": 3}, {"k": 5, "l": 4}))
def local_diversity(categories: Categories, *, l: int) -> SubsetDesign:
    r"""Report the true category hidden among ``l - 1`` others drawn at random.

    Adds the variance :math:`(k-1)(l-1)/(k-l)` whatever the population is (nayak-zhai-2019, eq. 4.4). The truth is
    always in the reported set: who knows that all but one of its members are impossible learns it.

    >>> round(local_diversity(20, l=5).added_variance, 4)
    5.0667
    """
    labels = _set_labels(categories)
    k = len(labels)
    size = fraction(l, "l", DesignError)
    if size.denominator != 1 or not 2 <= size <= k - 1:
        advice = max(2, k // 2 - 1)
        remedy = (
            f"try l={advice} (adds variance {(k - 1) * (advice - 1) / (k - advice):.3g} per respondent)"
            if k > 2
            else "it needs at least 3 categories"
        )
        raise DesignError(
            f"local_diversity needs 2 <= l <= k - 1; got l={l} with k={k} categories. "
            f"With l = 1 the report is the truth, with l = k every report is the full set; {remedy}."
        )
    return SubsetDesign(
        labels,
        (int(size),),
        (TOTAL,),
        (0,),
        name="local_diversity",
        parameters={"l": int(size)},
        demand=LocalDiversity(int(size)),
    )


@named("wang-ding-2021", examples=({"k": 4}, {"k": 6}))
def uniform_subsets(categories: Categories) -> SubsetDesign:
    """Report a set drawn uniformly from all that hold the truth and have 2 to k - 2 members (subset privacy)."""
    labels = _set_labels(categories)
    k = len(labels)
    if k < 4:
        raise DesignError(
            f"uniform_subsets needs k >= 4 categories; got k={k}. Combine two variables into one, or use "
            "local_diversity or minimax."
        )
    total, ways = 2 ** (k - 1) - k - 1, 1
    shares = {}
    for s in range(2, k - 1):
        ways = ways * (k - s + 1) // (s - 1)  # C(k - 1, s - 1)
        if ways.bit_length() + 192 >= total.bit_length():  # else too rare to count
            shares[s] = _DECIMAL.divide(Decimal((ways << 192) // total), Decimal(1 << 192))
    return SubsetDesign(labels, *always_inside(shares), name="uniform_subsets", demand=LocalDiversity(2))
