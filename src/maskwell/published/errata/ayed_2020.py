"""Statements of Ayed, Battiston & Camerlenghi (2020) that hold only after a correction, each with a computation."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

from maskwell.demands import LDP
from maskwell.published.model import Explanation, Row
from maskwell.release.optimum.vertices import all_vertices, v, v_max, v_min

KEY = "ayed-2020"
_PLACE = "Statements that need a correction"
_SIZE = 6
_PARITY = LDP(1).exact_bound()
_INVERSE = 1 / _PARITY


def _pairs() -> set[tuple[Fraction, Fraction]]:
    """Every pair of chances of staying that some vertex has, for six categories at α = 1."""
    found: set[tuple[Fraction, Fraction]] = set()
    for family, choice in all_vertices(_SIZE, _PARITY):
        found.update(permutations((family.chances[i].stay for i in choice), 2))
    return found


def _holds(condition: Callable[[Fraction, Fraction], bool]) -> bool:
    return all(condition(x, y) for x, y in _pairs())


def _constraint_15() -> str:
    """(15) with the sign of y for which everything feasible satisfies it."""
    sign = "-" if _holds(lambda x, y: -(_SIZE - 1) * _PARITY * x - y <= -1) else "+"
    return f"-(S-1)e^α x {sign} y ≤ -1"


def _constraint_15_as_printed() -> str:
    """(15) with the other sign, if it then rules out x = y = v_-α, which is feasible."""
    least = v(_SIZE, _INVERSE)
    fails = -(_SIZE - 1) * _PARITY * least + least > -1
    return "-(S-1)e^α x + y ≤ -1" if fails else "holds"


def _constraint_18() -> str:
    return "y ≤ e^(2α) x" if _holds(lambda x, y: y <= _PARITY**2 * x) else "y > e^(2α) x"


def _constraint_18_as_printed() -> str:
    """A difference in place of a ratio, if nothing feasible satisfies it."""
    fails = _holds(lambda x, y: y - _PARITY**2 * x < 1)
    return "y - e^(2α) x ≥ 1" if fails else "holds"


def largest_complete_alpha(size: int) -> float:
    """The α up to which v_max satisfies every constraint: 1 - v_-α ≤ e^α (1 - v_max), by bisection."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        parity = LDP(middle).exact_bound()
        within = 1 - v(size, 1 / parity) <= parity * (1 - v_max(size, parity))
        low, high = (middle, high) if within else (low, middle)
    return low


def _without_minus_two(size: int) -> float:
    """The appendix has log((S - 2 + √(S(S-4))) / 2), where u_α satisfies (16) and (17); the proposition lost the 2."""
    root = math.sqrt(size * (size - 4))
    appendix = math.log((size - 2 + root) / 2)
    return math.log(math.exp(appendix) + 1)


def _row(what: str, printed: str, compute: Callable[[], float | str], explanation: Explanation) -> Row:
    return Row(KEY, _PLACE, what, printed, compute, explanation, kind="correction")


ERRATA = (
    _row(
        "Proposition 3.2: complete up to α, S=10",
        "2.1830",
        lambda: largest_complete_alpha(10),
        Explanation(
            "log(S-2) is sharp; the printed bound is the appendix's without its -2", lambda: _without_minus_two(10)
        ),
    ),
    _row(
        "Proposition 3.2: v_min, S=6, α=1",
        "0.0685",
        lambda: float(v_min(_SIZE, _PARITY)),
        Explanation("the formula printed is that of v_-α", lambda: float(v(_SIZE, _INVERSE))),
    ),
    _row(
        "Appendix, list: v_α, S=6, α=1",
        "0.5064",
        lambda: float(v(_SIZE, _PARITY)),
        Explanation("the formula printed is that of v_max", lambda: float(v_max(_SIZE, _PARITY))),
    ),
    _row(
        "Appendix, list: v_-α, S=6, α=1",
        "0.0477",
        lambda: float(v(_SIZE, _INVERSE)),
        Explanation("the formula printed is that of v_min", lambda: float(v_min(_SIZE, _PARITY))),
    ),
    _row(
        "Equation (15)",
        "-(S-1)e^α x + y ≤ -1",
        _constraint_15,
        Explanation("a sign slip: as printed it fails at x = y = v_-α", _constraint_15_as_printed),
    ),
    _row(
        "Equation (18); (19) likewise",
        "y - e^(2α) x ≥ 1",
        _constraint_18,
        Explanation("as printed it fails everywhere; what is bounded is a ratio", _constraint_18_as_printed),
    ),
)
