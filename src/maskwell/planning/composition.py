r"""Several questions to the same people: privacy adds up in ε, and this says where it goes and how to share it out.

Questions that are masked independently have a joint parity that is the product of theirs, for the worst combination of
true answers; their ε is the sum. The same holds for one question that is asked, and masked afresh, several times.

With :math:`g = 1/(e^\varepsilon - 1)` a report of q out of k categories adds the variance
:math:`(k-1)^2 (q + k g)^2 / (k q (k-q)) + 1/k - 1`, a convex function of ε. The minimax design has the best q, and the
least of convex functions is not quite convex; a Lagrangian bound therefore says how far a split can be from the best.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import Any

import numpy as np

from maskwell.demands import LDP
from maskwell.designs.base import Design, Vector
from maskwell.errors import DesignError
from maskwell.exact import fraction, log_above
from maskwell.plain_text import visible_lines
from maskwell.results.result import Result

_ROUNDS = 64
_LEAST_SHARE = 1e-9
# Below the logarithm of the largest float.
_MOST_EPSILON = 700


@dataclass(frozen=True)
class Composition(Result):
    """The privacy of several reports of one person together.

    ``shares`` say which part of the total ε each question takes. Where some have no finite ε, these take all of it, in
    equal parts.
    """

    names: tuple[str, ...]
    epsilons: tuple[float, ...]
    shares: tuple[float, ...]
    epsilon: float
    exact_parity: Fraction | float

    @property
    def parity(self) -> float:
        """The largest factor by which all reports of a person together can shift anybody's odds."""
        try:
            return float(self.exact_parity)
        except OverflowError:
            return math.inf

    def _title(self) -> str:
        return f"privacy of {len(self.names)} reports of one person together: ε = {self.epsilon:.4g}"

    def _columns(self) -> dict[str, Sequence[Any]]:
        return {"question": self.names, "epsilon": self.epsilons, "share": self.shares}

    def _figures(self) -> dict[str, Any]:
        return {}

    def summary(self) -> str:
        """Each question's ε and share, and that of all together: the same as ``str``."""
        return str(self)

    def __str__(self) -> str:
        width = max(len(name) for name in (*self.names, "together"))
        rows = [
            f"{name:{width}}  {epsilon:8.4g}  {100 * share:5.1f} %"
            for name, epsilon, share in zip(self.names, self.epsilons, self.shares, strict=True)
        ]
        return visible_lines(
            [f"{'question':{width}}   epsilon    share", *rows, f"{'together':{width}}  {self.epsilon:8.4g}"]
        )


def compose(designs: Iterable[Design], names: Sequence[str] | None = None) -> Composition:
    """What independently masked answers of one person to several questions give away together.

    >>> from maskwell import designs
    >>> spinners = [designs.warner(truth_prob=Fraction(share, 20)) for share in (15, 18)]
    >>> both = compose(spinners, ["tax", "drugs"])
    >>> both.exact_parity, [round(share, 3) for share in both.shares]
    (Fraction(27, 1), [0.333, 0.667])
    """
    parts = list(designs)
    if not parts:
        raise DesignError("there are no designs to compose; pass one for each question.")
    titles = tuple(design.title for design in parts) if names is None else tuple(names)
    if len(titles) != len(parts):
        raise DesignError(
            f"names must name each question once; got {len(titles)} names for {len(parts)} designs.", parameter="names"
        )
    parities = [design.exact_parity() for design in parts]
    epsilons = tuple(design.epsilon for design in parts)
    unbounded = [math.isinf(epsilon) for epsilon in epsilons]
    if any(unbounded):
        shares = tuple(without / sum(unbounded) for without in unbounded)
        return Composition(titles, epsilons, shares, math.inf, math.inf)
    parity = math.prod((Fraction(p) for p in parities), start=Fraction(1))
    total = math.fsum(epsilons)
    shares = tuple(e / total if total else 1 / len(parts) for e in epsilons)
    return Composition(titles, epsilons, shares, log_above(parity), parity)


def repeat(design: Design, times: int) -> Composition:
    """What ``times`` fresh reports of the same answer give away together.

    The worst case is that all reports are the same one, so this is not a bound but what happens: parity to the power of
    ``times``. Repeating the stored report, as keyed masking does, gives nothing further away.

    >>> from maskwell import designs
    >>> repeat(designs.minimax(4, gamma=3), 2).exact_parity <= 9
    True
    """
    count = fraction(times, "times", DesignError)
    if count.denominator != 1 or count < 1:
        raise DesignError(f"times must be a whole number >= 1; got {times}.", parameter="times")
    return compose([design] * int(count), [f"answer {i}" for i in range(1, int(count) + 1)])


@dataclass(frozen=True)
class Split(Result):
    """A total ε shared out over questions.

    ``added_variance`` is the weighted sum over questions of what minimax designs at ``epsilons`` add;
    ``even_added_variance`` the same for equal parts, never below it. No split of the total can come below
    ``lower_bound``.
    """

    total: float
    epsilons: tuple[float, ...]
    added_variance: float
    even_added_variance: float
    lower_bound: float

    def _title(self) -> str:
        return f"ε = {self.total:.4g} shared out over {len(self.epsilons)} questions"

    def _figures(self) -> dict[str, Any]:
        return {
            "added variance": self.added_variance,
            "with equal parts": self.even_added_variance,
            "no split is below": self.lower_bound,
        }

    def _columns(self) -> dict[str, Sequence[Any]]:
        return {"question": range(1, len(self.epsilons) + 1), "epsilon": self.epsilons}

    @property
    def demands(self) -> tuple[LDP, ...]:
        """One demand for each question; together they ask for no more than the total."""
        return tuple(LDP(epsilon) for epsilon in self.epsilons)


def split_epsilon(total: float, ks: Sequence[int], weights: Sequence[float] | None = None) -> Split:
    """Share a total ε out over questions with ``ks`` categories so that the (weighted) sum of added variances is least.

    >>> split = split_epsilon(2.0, [2, 10])
    >>> [round(epsilon, 3) for epsilon in split.epsilons], round(split.added_variance, 2)
    ([0.57, 1.43], 18.5)
    """
    budget = float(fraction(total, "total", DesignError))
    if not 0 < budget <= _MOST_EPSILON:
        raise DesignError(
            f"total must lie above 0 and at most {_MOST_EPSILON}; got {total}. It is the sum of all ε.",
            parameter="total",
        )
    questions = _questions(ks, weights)
    even = np.full(len(questions), budget / len(questions))
    # A high price of ε buys too little of it, a low price too much; the dual value at any price is a lower bound.
    low, high, bound = -800.0, 800.0, -math.inf
    for _ in range(_ROUNDS):
        price = math.exp((low + high) / 2)
        bought = np.array([q.bought(price, budget) for q in questions])
        bound = max(bound, _cost(questions, bought) + price * float(bought.sum() - budget))
        low, high = ((low + high) / 2, high) if bought.sum() > budget else (low, (low + high) / 2)
    candidates = [even]
    for price in (math.exp(low), math.exp(high)):
        sizes = [q.best_size(q.bought(price, budget)) for q in questions]
        candidates.append(_equal_slopes(questions, sizes, budget))
    best = min(candidates, key=lambda x: _cost(questions, x))
    epsilons = _within(best, budget)
    return Split(
        budget,
        tuple(epsilons.tolist()),
        _cost(questions, epsilons),
        _cost(questions, even),
        min(bound, _cost(questions, epsilons)),
    )


@dataclass(frozen=True)
class _Question:
    k: int
    weight: float

    @property
    def sizes(self) -> Vector:
        """All set sizes that a minimax design can have."""
        return np.arange(1, self.k // 2 + 1, dtype=float)

    def variance(self, epsilon: float | Vector, q: float | Vector) -> Vector:
        k, g = self.k, 1 / np.expm1(epsilon)
        added: Vector = (k - 1) ** 2 * (q + k * g) ** 2 / (k * q * (k - q)) + 1 / k - 1
        return added

    def slope(self, epsilon: float | Vector, q: float | Vector) -> Vector:
        """How fast the weighted variance falls as ε grows."""
        k, g = self.k, 1 / np.expm1(epsilon)
        fall: Vector = self.weight * 2 * (k - 1) ** 2 * (q + k * g) * (g + g**2) / (q * (k - q))
        return fall

    def best_size(self, epsilon: float) -> float:
        return float(self.sizes[np.argmin(self.variance(epsilon, self.sizes))])

    def at_slope(self, price: float, q: Vector, most: float) -> Vector:
        """The ε up to ``most`` at which the variance falls by ``price`` per unit, by size."""
        low, high = np.full(len(q), most * _LEAST_SHARE), np.full(len(q), most)
        for _ in range(_ROUNDS):
            middle = np.sqrt(low * high)
            steep = self.slope(middle, q) > price
            low, high = np.where(steep, middle, low), np.where(steep, high, middle)
        found: Vector = np.sqrt(low * high)
        return found

    def bought(self, price: float, most: float) -> float:
        """The ε that is worth its price."""
        epsilons = self.at_slope(price, self.sizes, most)
        net = self.weight * self.variance(epsilons, self.sizes) + price * epsilons
        return float(epsilons[np.argmin(net)])


def _questions(ks: Sequence[int], weights: Sequence[float] | None) -> list[_Question]:
    try:
        counts = [index(k) for k in ks]
    except TypeError:
        raise DesignError(f"ks must be numbers of categories, one per question; got {ks!r}.", parameter="ks") from None
    if not counts or min(counts) < 2:
        raise DesignError(
            f"ks must give at least 2 categories for each of one or more questions; got {list(ks)}.", parameter="ks"
        )
    given: list[Any] = [1.0] * len(counts) if weights is None else list(weights)
    if len(given) != len(counts):
        raise DesignError(
            f"weights must be one per question; got {len(given)} for {len(counts)} questions.", parameter="weights"
        )
    values = [float(fraction(w, "weights", DesignError)) for w in given]
    if min(values) <= 0:
        raise DesignError(
            f"weights must be above 0; got {min(values)}. Leave out a question that does not matter.",
            parameter="weights",
        )
    return [_Question(k, w) for k, w in zip(counts, values, strict=True)]


def _cost(questions: list[_Question], epsilons: Vector) -> float:
    return math.fsum(
        q.weight * float(q.variance(e, q.sizes).min()) for q, e in zip(questions, epsilons.tolist(), strict=True)
    )


def _equal_slopes(questions: list[_Question], sizes: list[float], budget: float) -> Vector:
    """The best split for given set sizes: all variances fall equally fast."""
    low, high = -800.0, 800.0
    for _ in range(_ROUNDS):
        price = math.exp((low + high) / 2)
        parts = [q.at_slope(price, np.array([s]), budget)[0] for q, s in zip(questions, sizes, strict=True)]
        low, high = ((low + high) / 2, high) if sum(parts) > budget else (low, (low + high) / 2)
    split: Vector = np.array(parts) * (budget / sum(parts))
    return split


def _within(epsilons: Vector, budget: float) -> Vector:
    """The same split, its exact sum brought down to the budget if rounding took it above."""
    parts = epsilons.copy()
    largest = int(np.argmax(parts))
    while sum(map(Fraction, parts.tolist())) > Fraction(budget):
        parts[largest] = np.nextafter(parts[largest], 0.0)
    return parts
