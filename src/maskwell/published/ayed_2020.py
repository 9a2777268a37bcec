"""Ayed, Battiston & Camerlenghi (2020): the most informative matrices of four scenarios, and what else is printed.

Tables 1 to 4 count how many chances of staying are v_α, v_-α, v_min and v_max at the optimum. Most of what is
printed is a local maximum, where a local solver stops: its value is given beside that of the global optimum, and
the explanation is checked by computing that no direction from it leads upwards. Scenario III (Table 3) draws its
proportions from a gamma distribution and does not print them: the quantiles of that distribution stand for the draw.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations

import numpy as np

from maskwell.demands import LDP
from maskwell.published.ayed_2020_errata import ERRATA, KEY, largest_complete_alpha
from maskwell.published.model import Explanation, Row
from maskwell.release.information import Optimum, most_informative
from maskwell.release.relaxation import information
from maskwell.release.vertices import Vector, families, v, v_max, v_min

_GAMMA = -np.log1p(-(np.arange(30) + 0.5) / 30)
SCENARIOS = {
    "I": (0.3, 0.1, 0.2, 0.08, 0.02, 0.04, 0.06, 0.1, 0.01, 0.09),
    "II": (0.0336, 0.1059, 0.1697, 0.0962, 0.0180, 0.0062, 0.1097, 0.0005, 0.1233, 0.3369),
    "III": tuple(_GAMMA / _GAMMA.sum()),
    "IV": (0.05, *([0.95 / 29] * 29)),
}
ALPHAS = ("0.5", "1", "1.5", "2")
PLACES = {"I": "Table 1", "II": "Table 2", "III": "Table 3", "IV": "Table 4"}

# For each α: how many chances are v_α, v_-α, v_min, v_max as printed, and the best f that such a vertex can have.
PRINTED = {
    "I": (("4 6 0 0", 0.010324), ("5 5 0 0", 0.051809), ("2 8 0 0", 0.085988), ("0 9 0 1", 0.278843)),
    "II": (("7 3 0 0", 0.012605), ("6 4 0 0", 0.059650), ("6 4 0 0", 0.157967), ("0 9 0 1", 0.289146)),
    "III": (("29 0 1 0", 0.005299), ("29 0 1 0", 0.028681), ("30 0 0 0", 0.086248), ("29 0 1 0", 0.199743)),
    "IV": (("0 29 0 1", 0.003099), ("30 0 0 0", 0.029992), ("30 0 0 0", 0.090935), ("30 0 0 0", 0.212914)),
}

# Mutual information at the global optimum, in nats: every chance is v_α.
GLOBAL = {
    "I": ("0.013283", "0.066189", "0.178089", "0.359138"),
    "II": ("0.012899", "0.064034", "0.171565", "0.344413"),
    "III": ("0.005301", "0.028695", "0.086248", "0.199873"),
    "IV": ("0.005502", "0.029992", "0.090935", "0.212914"),
}

# The same without the restriction to one chance of staying per category.
UNRESTRICTED = {("I", "0.5"): "0.031136", ("I", "2"): "0.467712", ("II", "0.5"): "0.031117", ("II", "2"): "0.461189"}

_REFERENCE = "references computed by enumeration or linear program, not in print"


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


def local_maximum(scenario: str, alpha: str, printed: str) -> tuple[str, float]:
    """The best vertex with the printed counts: the counts if no direction leads upwards from it, and its value.

    Tried is every placement that can differ: one per subset of categories with different proportions.
    """
    p = np.array(SCENARIOS[scenario])
    chances = named_chances(scenario, alpha)
    number = [int(n) for n in printed.split()]
    placed: dict[tuple[float, ...], tuple[float, Vector]] = {}
    # In each printed vertex one kind has few categories, all others have another kind.
    few, rest = (2, 0) if number[2] else (3, 1) if number[3] else (0, 1)
    for subset in combinations(range(len(p)), number[few]):
        q = [chances[few] if k in subset else chances[rest] for k in range(len(p))]
        t = np.array([float((1 - len(p) * chance) / (len(p) - 1)) for chance in q])
        placed.setdefault(tuple(sorted(p[list(subset)])), (information(p, t), t))
    value, t = max(placed.values(), key=lambda pair: pair[0])
    return (printed if is_local_maximum(p, t, chances) else "no local maximum"), value


def is_local_maximum(p: Vector, t: Vector, chances: Sequence[Fraction]) -> bool:
    """Whether the slope of f at this vertex, in t = S·r - 1, points away from every other vertex (α ≤ ln(S - 2))."""
    size = len(p)
    reports = np.log1p(p @ t - size * p * t)
    slope = p * ((size - 1) / size * (np.log1p(t) - np.log1p(-(size - 1) * t)) - reports.mean() + reports)
    high, low, least, most = (float((1 - size * chance) / (size - 1)) for chance in chances)
    reached = [
        np.maximum(slope * high, slope * low).sum(),
        (slope * high).sum() + (slope * (least - high)).max(),
        (slope * low).sum() + (slope * (most - low)).max(),
    ]
    return bool(slope @ t >= max(reached) - 1e-12)


def _table(scenario: str) -> list[Row]:
    rows = []
    for alpha, (printed, value), best in zip(ALPHAS, PRINTED[scenario], GLOBAL[scenario], strict=True):
        why = f"a local maximum, where a local solver stops: f is at most {value:.6f}, at the global one {best}"
        same = printed == counts_of_all(scenario)
        rows.append(
            Row(
                KEY,
                f"{PLACES[scenario]}: scenario {scenario}, how many q are v_α, v_-α, v_min, v_max",
                f"α={alpha}",
                printed,
                partial(counts, scenario, alpha),
                None if same else Explanation(why, partial(_local_counts, scenario, alpha, printed)),
                "at the quantiles of its gamma distribution: the paper's draw is not printed"
                if scenario == "III"
                else "",
            )
        )
    return rows


def counts_of_all(scenario: str) -> str:
    """The counts where every chance is v_α."""
    return f"{len(SCENARIOS[scenario])} 0 0 0"


def _local_counts(scenario: str, alpha: str, printed: str) -> str:
    return local_maximum(scenario, alpha, printed)[0]


def _values() -> list[Row]:
    place = "All scenarios: mutual information of the optimum, in nats"
    rows = [
        Row(KEY, place, f"{name}, α={alpha}", text, partial(_value, name, alpha), note=_REFERENCE)
        for name, texts in GLOBAL.items()
        for alpha, text in zip(ALPHAS, texts, strict=True)
    ]
    return rows + [
        Row(KEY, place, f"{name}, α={alpha}, any shape", text, partial(_value, name, alpha, False), note=_REFERENCE)
        for (name, alpha), text in UNRESTRICTED.items()
    ]


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


def _constraints(size: int) -> float:
    """How many inequalities (10) has: three for every ordered pair of categories."""
    return float(sum(3 for j in range(size) for k in range(size) if j != k))


def _text_rows() -> list[Row]:
    place = "Sections 3 and 4.2, and the appendix"
    return [
        Row(KEY, place, "Section 4.2: least q, α=0.05", "0.4875", lambda: _binary_range(0)),
        Row(KEY, place, "Section 4.2: largest q, α=0.05", "0.5125", lambda: _binary_range(1)),
        Row(KEY, place, "Section 3.2.1: optimal q of a binary variable", "two", _solutions),
        Row(KEY, place, "Section 3.1: least of f, at q = 1/S", "0", lambda: _value_at(0.5)),
        Row(KEY, place, "Section 3.3: least S for which the list holds up to α=2", "10", lambda: _least_categories(2)),
        Row(KEY, place, "Section 5.2: inequalities, 3S(S-1), S=10", "270", lambda: _constraints(10)),
    ]


ROWS = (*(row for scenario in SCENARIOS for row in _table(scenario)), *_values(), *_text_rows(), *ERRATA)
