"""Ayed, Battiston & Camerlenghi (2020): the most informative matrices of four scenarios, and what else is printed.

Tables 1 to 4 count how many chances of staying are v_α, v_-α, v_min and v_max at the optimum. Most of what is printed
is not the optimum: even the best vertex with these counts tells less, as the tests compute. That a local solver stopped
there is likely and explains nothing, as nearly all counts belong to some local maximum. Scenario III (Table 3) draws
its proportions and does not print them: our optimum at the quantiles of their distribution is shown alone.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import combinations

import numpy as np

from maskwell.demands import LDP
from maskwell.published.errata.ayed_2020 import ERRATA, KEY, largest_complete_alpha
from maskwell.published.model import EXACT, Row
from maskwell.release.optimum.information import Optimum, most_informative
from maskwell.release.optimum.relaxation import information
from maskwell.release.optimum.vertices import families, v, v_max, v_min

_GAMMA = -np.log1p(-(np.arange(30) + 0.5) / 30)
SCENARIOS = {
    "I": (0.3, 0.1, 0.2, 0.08, 0.02, 0.04, 0.06, 0.1, 0.01, 0.09),
    "II": (0.0336, 0.1059, 0.1697, 0.0962, 0.0180, 0.0062, 0.1097, 0.0005, 0.1233, 0.3369),
    "III": tuple(_GAMMA / _GAMMA.sum()),
    "IV": (0.05, *([0.95 / 29] * 29)),
}
ALPHAS = ("0.5", "1", "1.5", "2")
PLACES = {"I": "Table 1", "II": "Table 2", "III": "Table 3", "IV": "Table 4"}

# For each α: how many chances are v_α, v_-α, v_min, v_max as printed.
PRINTED = {
    "I": ("4 6 0 0", "5 5 0 0", "2 8 0 0", "0 9 0 1"),
    "II": ("7 3 0 0", "6 4 0 0", "6 4 0 0", "0 9 0 1"),
    "III": ("29 0 1 0", "29 0 1 0", "30 0 0 0", "29 0 1 0"),
    "IV": ("0 29 0 1", "30 0 0 0", "30 0 0 0", "30 0 0 0"),
}
_NOT_PRINTED = "III"
"""The scenario whose proportions the paper does not print."""
_ANY_SHAPE = (("I", "0.5"), ("I", "2"), ("II", "0.5"), ("II", "2"))
"""Where the optimum without the restriction to one chance of staying per category is shown as well."""


@cache
def optimum(scenario: str, alpha: str, restricted: bool = True) -> Optimum:
    """Our optimum for a scenario, computed once."""
    return most_informative(SCENARIOS[scenario], Fraction(alpha), restricted=restricted)


def named_chances(scenario: str, alpha: str) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """v_α, v_-α, v_min and v_max."""
    size, parity = len(SCENARIOS[scenario]), LDP(Fraction(alpha)).exact_bound()
    return v(size, parity), v(size, 1 / parity), v_min(size, parity), v_max(size, parity)


def counts(scenario: str, alpha: str) -> str:
    """How many chances of staying of our optimum are v_α, v_-α, v_min and v_max."""
    q = optimum(scenario, alpha).q
    assert q is not None
    return " ".join(
        str(int(np.isclose(q, float(chance), rtol=1e-12).sum())) for chance in named_chances(scenario, alpha)
    )


def best_value(scenario: str, alpha: str, printed: str) -> float:
    """The most that a vertex with the printed counts can tell, in nats.

    Tried is every placement that can differ: one per subset of categories with different proportions.
    """
    p = np.array(SCENARIOS[scenario])
    chances = named_chances(scenario, alpha)
    number = [int(n) for n in printed.split()]
    placed: dict[tuple[float, ...], float] = {}
    # In each printed vertex one kind has few categories, all others have another kind.
    few, rest = (2, 0) if number[2] else (3, 1) if number[3] else (0, 1)
    for subset in combinations(range(len(p)), number[few]):
        shares = tuple(sorted(p[list(subset)]))
        if shares not in placed:
            q = [chances[few] if k in subset else chances[rest] for k in range(len(p))]
            placed[shares] = information(p, np.array([float((1 - len(p) * chance) / (len(p) - 1)) for chance in q]))
    return max(placed.values())


def _table(scenario: str) -> list[Row]:
    place = f"{PLACES[scenario]}: scenario {scenario}, how many q are v_α, v_-α, v_min, v_max"
    rows = []
    for alpha, printed in zip(ALPHAS, PRINTED[scenario], strict=True):
        ours = partial(counts, scenario, alpha)
        if scenario == _NOT_PRINTED:
            note = "its proportions are drawn and not printed: ours are the quantiles of their distribution"
            rows.append(Row(KEY, place, f"α={alpha}", printed, ours, kind="unprinted", note=note))
            continue
        same = printed == counts_of_all(scenario)
        why = "" if same else "no vertex with the printed counts is optimal: the best of them tells less"
        rows.append(Row(KEY, place, f"α={alpha}", printed, ours, differs=why))
    return rows


def counts_of_all(scenario: str) -> str:
    """The counts where every chance is v_α."""
    return f"{len(SCENARIOS[scenario])} 0 0 0"


def _values() -> list[Row]:
    place = "All scenarios: mutual information of the optimum, in nats"
    named = [(f"{name}, α={alpha}", partial(_value, name, alpha)) for name in SCENARIOS for alpha in ALPHAS]
    named += [(f"{name}, α={alpha}, any shape", partial(_value, name, alpha, False)) for name, alpha in _ANY_SHAPE]
    return [Row(KEY, place, what, "", compute, kind="unprinted") for what, compute in named]


def _value(scenario: str, alpha: str, restricted: bool = True) -> float:
    return optimum(scenario, alpha, restricted).value


def _binary_range(end: int) -> float:
    """The least or the largest chance of staying of a binary variable at α = 0.05: both ends are optimal."""
    family, *_ = families(2, LDP(0.05).exact_bound())
    return float(sorted(chance.stay for chance in family.common)[end])


def _value_at(stay: float) -> float:
    """Mutual information of a binary variable with shares 0.48 and 0.52 under a symmetric matrix."""
    return information(np.array([0.48, 0.52]), np.full(2, 1 - 2 * stay))


def _solutions() -> str:
    """Whether both ends of the range are optimal and equally informative."""
    best = most_informative([0.48, 0.52], Fraction("0.05")).value
    both = all(np.isclose(_value_at(_binary_range(end)), best, rtol=1e-9) for end in (0, 1))
    return "two" if both else "one"


def _least_categories(alpha: float) -> float:
    """The least number of categories for which the list of Proposition 3.2 is complete up to α."""
    return float(next(size for size in range(4, 100) if largest_complete_alpha(size) >= alpha))


def _text_rows() -> list[Row]:
    place = "Sections 3 and 4.2, and the appendix"

    def formula(what: str, printed: str, compute: Callable[[], float | str], value: float | None = None) -> Row:
        return Row(KEY, place, what, printed, compute, kind="formula", formula=None if value is None else lambda: value)

    return [
        Row(KEY, place, "Section 4.2: least q, α=0.05", "0.4875", lambda: _binary_range(0)),
        Row(KEY, place, "Section 4.2: largest q, α=0.05", "0.5125", lambda: _binary_range(1)),
        formula("Section 3.2.1: optimal q of a binary variable", "two", _solutions),
        formula("Section 3.1: least of f, at q = 1/S", "0", lambda: _value_at(0.5), 0.0),
        Row(
            KEY,
            place,
            "Section 3.3: least S for which the list holds up to α=2",
            "10",
            lambda: _least_categories(2),
            unit=EXACT,
        ),
    ]


ROWS = (*(row for scenario in SCENARIOS for row in _table(scenario)), *_values(), *_text_rows(), *ERRATA)
