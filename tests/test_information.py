"""The most informative design: every vertex is known, the optimum is global, and the bound proves it on its own."""

import inspect
import itertools
import math
import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from maskwell import Design, published
from maskwell.auditing import audit
from maskwell.demands import LDP
from maskwell.errors import DemandError, DesignError
from maskwell.published import ayed_2020
from maskwell.release.optimum import branch_and_bound, staircase
from maskwell.release.optimum.branch_and_bound import search
from maskwell.release.optimum.information import Optimum, most_informative, price_of_restriction
from maskwell.release.optimum.relaxation import Problem, information, relative_entropy
from maskwell.release.optimum.vertices import all_vertices, excess, families, v, v_max, v_min

ALPHAS = (0.5, 1, 1.5, 2)


def parity(alpha: float) -> Fraction:
    return LDP(alpha).exact_bound()


def matrix(q: np.ndarray) -> np.ndarray:
    """P[report, truth] of the class."""
    size = len(q)
    return np.where(np.eye(size, dtype=bool), q, (1 - q) / (size - 1))


def mutual_information(p: np.ndarray, q: np.ndarray) -> float:
    """In nats, term by term from the definition."""
    joint = matrix(np.asarray(q)) * p
    independent = joint.sum(axis=1, keepdims=True) * p
    positive = joint > 0
    return float((joint[positive] * np.log(joint[positive] / independent[positive])).sum())


def vertices(size: int, alpha: float) -> list[tuple[Fraction, ...]]:
    return [tuple(family.chances[i].stay for i in choice) for family, choice in all_vertices(size, parity(alpha))]


def limits(size: int, g: Fraction) -> list[tuple[list[Fraction], Fraction]]:
    """The constraints (10) of ayed-2020 as coefficients of q and a right-hand side that may not be exceeded."""
    found = []
    for j, k in itertools.permutations(range(size), 2):
        one, other = [Fraction(int(i == j)) for i in range(size)], [Fraction(int(i == k)) for i in range(size)]
        found.append(([(size - 1) * a + g * b for a, b in zip(one, other, strict=True)], g))
        found.append(([-a - (size - 1) * g * b for a, b in zip(one, other, strict=True)], Fraction(-1)))
        if size >= 3:
            found.append(([g * b - a for a, b in zip(one, other, strict=True)], g - 1))
    return found


def populations(size: int, seed: int) -> list[np.ndarray]:
    """Spread, even, lopsided, with ties and with an empty category."""
    random = np.random.default_rng(seed)
    drawn = [random.dirichlet(np.full(size, c)) for c in (0.1, 0.5, 3)]
    tied = np.where(np.arange(size) == 0, 0.4, 0.6 / (size - 1))
    empty = np.append(random.dirichlet(np.ones(size - 1)), 0)
    return [*drawn, np.full(size, 1 / size), tied, empty]


# Every vertex.


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("alpha", [0.3, 0.9, 1.05, 1.3, 2, 4])
def test_the_listed_points_are_feasible_and_hold_every_vertex(size: int, alpha: float) -> None:
    g = parity(alpha)
    listed = vertices(size, alpha)
    constraints = limits(size, g)
    for q in listed:
        assert all(sum(a * x for a, x in zip(row, q, strict=True)) <= b for row, b in constraints)
    from scipy.spatial import HalfspaceIntersection

    halfspaces = np.array([[*map(float, row), -float(b)] for row, b in constraints])
    corners = HalfspaceIntersection(halfspaces, np.full(size, 1 / size)).intersections
    if size == 2:
        useless = np.array([[0, 1], [1, 0]])
        assert len(np.unique(corners.round(9), axis=0)) == 4
        assert all(abs(mutual_information(np.array([0.3, 0.7]), q)) < 1e-15 for q in useless)
        listed = [*listed, *map(tuple, useless.tolist())]
    distance = np.abs(corners[:, None] - np.array(listed, dtype=float)[None]).max(axis=2).min(axis=1)
    assert distance.max() < 1e-9


@pytest.mark.parametrize("size", range(4, 12))
def test_the_papers_list_is_complete_exactly_up_to_log_of_two_less_than_the_categories(size: int) -> None:
    def v_max_is_feasible(g: Fraction) -> bool:
        q = (v_max(size, g), *([v(size, 1 / g)] * (size - 1)))
        return all(sum(a * x for a, x in zip(row, q, strict=True)) <= b for row, b in limits(size, g))

    edge = Fraction(size - 2)
    assert v_max_is_feasible(edge)
    assert not v_max_is_feasible(edge + Fraction(1, 10**9))
    assert len(families(size, edge)) == 3
    assert len(families(size, edge + Fraction(1, 10**9))) == 5


def test_the_named_chances() -> None:
    g, size = parity(1), 6
    e = math.e
    assert float(v(size, g)) == pytest.approx(e / (e + 5), rel=1e-14)
    assert float(v(size, 1 / g)) == pytest.approx((1 / e) / (1 / e + 5), rel=1e-14)
    assert float(v_min(size, g)) == pytest.approx((1 / e) / (e + 5), rel=1e-14)
    assert float(v_max(size, g)) == pytest.approx(e / (1 / e + 5), rel=1e-14)


# The optimum.


@pytest.mark.parametrize("size", [2, 3, 4, 6])
@pytest.mark.parametrize("alpha", [0.01, 0.4, 1, 1.5, 2, 4])
def test_the_search_finds_what_enumeration_finds(size: int, alpha: float) -> None:
    listed = [excess([family.chances[i] for i in c], size) for family, c in all_vertices(size, parity(alpha))]
    for p in populations(size, seed=size):
        best = max(information(p, t) for t in listed)
        found = search(p, families(size, parity(alpha)))
        assert found.value == pytest.approx(best, rel=1e-9, abs=1e-14)
        assert best <= found.bound <= best * (1 + 1e-9) + 1e-13


def test_optima_of_every_kind_are_found() -> None:
    kinds = Counter()
    for size, alpha in ((3, 0.5), (4, 1), (7, 2), (9, 2), (9, 1.5)):
        for p in populations(size, seed=17 * size):
            found = search(p, families(size, parity(alpha)))
            kinds[len(found.family.common), len(found.family.single)] += 1
    assert set(kinds) >= {(2, 0), (1, 1), (2, 1)}


def test_a_feasible_matrix_between_vertices_is_never_better() -> None:
    random = np.random.default_rng(5)
    for size, alpha in ((3, 0.7), (5, 1), (5, 2.5)):
        corners = np.array(vertices(size, alpha), dtype=float)
        for p in populations(size, seed=3):
            bound = most_informative(p, alpha).bound
            for weights in random.dirichlet(np.full(len(corners), 0.02), size=50):
                assert mutual_information(p, weights @ corners) <= bound + 1e-14


# Mutual information at the optimum, in nats, as computed once by enumeration or by a linear program; not in print.
GLOBAL = {
    "I": ("0.013283", "0.066189", "0.178089", "0.359138"),
    "II": ("0.012899", "0.064034", "0.171565", "0.344413"),
    "III": ("0.005301", "0.028695", "0.086248", "0.199873"),
    "IV": ("0.005502", "0.029992", "0.090935", "0.212914"),
}
# The same without the restriction to one chance of staying per category.
UNRESTRICTED = {("I", "0.5"): "0.031136", ("I", "2"): "0.467712", ("II", "0.5"): "0.031117", ("II", "2"): "0.461189"}


@pytest.mark.parametrize("scenario", ["I", "II", "III", "IV"])
def test_the_scenarios_of_the_paper(scenario: str) -> None:
    p = np.array(ayed_2020.SCENARIOS[scenario])
    for alpha, text in zip(ALPHAS, GLOBAL[scenario], strict=True):
        optimum = most_informative(p, epsilon=alpha)
        assert optimum.q is not None
        np.testing.assert_allclose(optimum.q, math.exp(alpha) / (math.exp(alpha) + len(p) - 1), rtol=1e-14)
        assert optimum.vertex == "v_α for all"
        assert f"{optimum.value:.6f}" == text
        assert optimum.value == pytest.approx(mutual_information(p, optimum.q), abs=1e-14)
        assert optimum.proved
        assert optimum.gap < 1e-9 * optimum.bound


@pytest.mark.parametrize("scenario", ["I", "II"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_scenarios_with_ten_categories_against_all_vertices(scenario: str, alpha: float) -> None:
    p = np.array(ayed_2020.SCENARIOS[scenario])
    g = parity(alpha)
    values = []
    for family in families(10, g):
        t = excess(family.chances, 10)[np.array(list(family.choices(10)))]
        reports = relative_entropy((t @ p)[:, None] - 10 * t * p) / 10
        own = (relative_entropy(-9 * t) + 9 * relative_entropy(t)) / 10
        values.append(float((own @ p - reports.sum(axis=1)).max()))
    assert most_informative(p, alpha).value == pytest.approx(max(values), rel=1e-12)


def test_scenario_iv_against_all_vertices() -> None:
    """Its 29 equal categories are interchangeable, so that a vertex is a count and the odd category's chance."""
    p = np.array(ayed_2020.SCENARIOS["IV"])
    for alpha in ALPHAS:
        g = parity(alpha)
        high, low, least, most = (float(x) for x in (v(30, g), v(30, 1 / g), v_min(30, g), v_max(30, g)))
        tried = [[first] + [high] * n + [low] * (29 - n) for first in (high, low) for n in range(30)]
        tried += [[least] + [high] * 29, [high, least] + [high] * 28, [most] + [low] * 29, [low, most] + [low] * 28]
        best = max(mutual_information(p, np.array(q)) for q in tried)
        assert most_informative(p, alpha).value == pytest.approx(best, rel=1e-12)


# The proof.


def test_five_hundred_categories_are_certified_in_seconds() -> None:
    random = np.random.default_rng(1)
    start = time.perf_counter()
    for alpha, concentration in ((0.1, 0.1), (1, 1), (3, 0.1), (6, 1), (7, 0.1)):
        optimum = most_informative(random.dirichlet(np.full(500, concentration)), alpha)
        assert optimum.proved
        assert optimum.gap <= 1e-9 * optimum.bound
        assert optimum.design.demand.holds_for(optimum.design)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(("size", "alpha"), [(30, 4.0), (60, 4.2), (200, 5.5)])
def test_large_mixed_optima_beyond_the_papers_range_are_certified(size: int, alpha: float) -> None:
    random = np.random.default_rng(size)
    for top in (0.4, 0.6, 0.8):
        p = np.append(top, (1 - top) * random.dirichlet(np.full(size - 1, 0.1)))
        assert most_informative(p, alpha).proved


def test_the_bound_takes_no_solution_from_outside() -> None:
    assert set(inspect.signature(search).parameters) == {"p", "families", "tolerance", "limit"}


def test_a_worse_solution_leaves_the_bound_and_widens_the_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part offers a poor vertex, valued as such: the search works longer and its bound does not sink below."""
    p = populations(6, seed=8)[1]
    kinds = families(6, parity(1))
    true = search(p, kinds)

    def poor(problem: Problem, choice: np.ndarray) -> float:
        return 0.5 * information(problem.p, problem.t[choice])

    monkeypatch.setattr(Problem, "value", poor)
    misled = search(p, kinds, limit=2000)
    assert misled.value < 0.6 * true.value
    assert misled.bound == pytest.approx(true.bound, rel=1e-9)
    assert misled.bound >= true.value


def test_a_search_that_gives_up_still_bounds() -> None:
    for p in populations(7, seed=2)[:3]:
        kinds = families(7, parity(1.8))
        done = search(p, kinds)
        for limit in (6, 10, 20):
            early = search(p, kinds, limit=limit)
            assert early.value <= done.value <= early.bound
            assert done.bound <= early.bound * (1 + 1e-12)


def test_an_open_gap_is_said_to_be_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maskwell.release.optimum.information.search", lambda p, f: search(p, f, limit=6))
    optimum = most_informative(populations(7, seed=2)[1], 1.8)
    assert not optimum.proved
    assert "not proved: others may reach" in optimum.summary()


def test_every_vertex_lies_in_some_part() -> None:
    """No split loses a vertex, and no part's bound lies below a vertex in it."""
    p = np.sort(populations(4, seed=9)[1])
    for family in families(4, parity(1.2)):
        problem = Problem(p, family)
        t = problem.t
        open_parts = [problem.whole()]
        for _ in range(15):
            covered = set()
            for part in open_parts:
                answer = problem.answer(part)
                for choice in family.choices(4):
                    picked = np.array(choice)
                    inside = (part.low <= picked).all() and (picked <= part.high).all()
                    if inside and part.start - 1e-12 <= p @ t[picked] <= part.stop + 1e-12:
                        covered.add(choice)
                        assert answer is not None
                        assert problem.value(picked) <= answer.bound
            assert covered == set(family.choices(4))
            first = open_parts.pop(0)
            answer = problem.answer(first)
            children = branch_and_bound._split(first, answer) if answer else []
            open_parts += children or [first]


# Beyond the paper's range, and two or three categories.


def test_two_categories_have_the_papers_optimum() -> None:
    for alpha in (0.05, 1, 3):
        optimum = most_informative([0.48, 0.52], alpha)
        assert optimum.q is not None
        g = math.exp(alpha)
        assert sorted(optimum.q) in (
            pytest.approx([g / (1 + g)] * 2, rel=1e-14),
            pytest.approx([1 / (1 + g)] * 2, rel=1e-14),
        )
        assert optimum.value == pytest.approx(mutual_information(np.array([0.48, 0.52]), optimum.q), abs=1e-15)


@pytest.mark.parametrize("alpha", [0.2, 1, 1.5, 4])
def test_three_categories_and_large_alpha_against_a_random_search(alpha: float) -> None:
    """No feasible q among many drawn ones is better."""
    random = np.random.default_rng(7)
    rows = [(np.array(row, dtype=float), float(b)) for row, b in limits(3, parity(alpha))]
    for p in populations(3, seed=4)[:3]:
        bound = most_informative(p, alpha).bound
        drawn = [q for q in random.uniform(0, 1, (4000, 3)) if all(row @ q <= b for row, b in rows)]
        assert drawn
        assert max(mutual_information(p, q) for q in drawn) <= bound + 1e-14


def test_extremes_of_epsilon_and_population() -> None:
    for p, alpha in (([0.3, 0.7], 1e-9), ([0.3, 0.3, 0.4], 100), ([0.3, 0.3, 0.4], 5000), ([1, 0, 0], 1)):
        optimum = most_informative(p, alpha)
        assert optimum.proved
        assert optimum.design.demand.holds_for(optimum.design)
    entropy = -sum(x * math.log(x) for x in (0.3, 0.3, 0.4))
    assert most_informative([0.3, 0.3, 0.4], 100).value == pytest.approx(entropy, rel=1e-12)


# The design.


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.05, 2, 7, 30])
def test_the_integers_keep_the_class_and_never_exceed_the_parity(alpha: float) -> None:
    for size in (2, 4, 9):
        for p in populations(size, seed=size + 1):
            optimum = most_informative(p, alpha)
            design = optimum.design
            assert Fraction(design.exact_parity()) <= parity(alpha)
            assert design.epsilon <= alpha
            exact = design.matrix(exact=True)
            off = [{exact[i, j] for i in range(size) if i != j} for j in range(size)]
            assert all(len(values) == 1 for values in off)
            np.testing.assert_array_equal(design.matrix().diagonal(), optimum.q)
            if optimum.value > 1e-12 and alpha < 10:
                assert design.epsilon > alpha * (1 - 1e-12)


def test_the_value_is_that_of_the_design() -> None:
    p = np.array(ayed_2020.SCENARIOS["I"])
    for restricted in (True, False):
        optimum = most_informative(p, 1, restricted=restricted)
        bits = audit(optimum.design, prior=p).mutual_information
        assert optimum.value == pytest.approx(bits * math.log(2), rel=1e-9)


def test_the_design_is_stored_and_masks() -> None:
    optimum = most_informative({"a": 0.5, "b": 0.3, "c": 0.2}, 1)
    design = optimum.design
    assert design.categories == ("a", "b", "c")
    assert design.report_labels() == ["a", "b", "c"]
    assert Design.from_json(design.to_json()) == design
    assert design.demand == LDP(1)
    reports = design.mask(["a", "b", "c"] * 20, seed=1)
    assert set(reports.decode()) <= {"a", "b", "c"}


def test_labels_come_from_a_list_a_mapping_or_a_series() -> None:
    import pandas

    p = [0.5, 0.3, 0.2]
    labels = ["x", "y", "z"]
    designs = [
        most_informative(p, 1, categories=labels).design,
        most_informative(dict(zip(labels, p, strict=True)), 1).design,
        most_informative(pandas.Series(p, index=labels), 1).design,
    ]
    assert {d.fingerprint for d in designs} == {designs[0].fingerprint}
    assert most_informative(p, 1).design.categories == (0, 1, 2)


# Any shape.


@pytest.mark.parametrize(("place", "printed"), UNRESTRICTED.items(), ids=str)
def test_the_unrestricted_optima_of_two_scenarios(place: tuple[str, str], printed: str) -> None:
    scenario, alpha = place
    optimum = most_informative(ayed_2020.SCENARIOS[scenario], float(alpha), restricted=False)
    assert f"{optimum.value:.6f}" == printed
    assert optimum.proved
    assert optimum.q is None
    assert Fraction(optimum.design.exact_parity()) <= parity(float(alpha))


def test_no_design_at_the_parity_is_above_the_unrestricted_bound() -> None:
    from maskwell.designs import minimax

    random = np.random.default_rng(3)
    for size, alpha in ((2, 1), (4, 0.3), (6, 1), (8, 3)):
        p = random.dirichlet(np.ones(size))
        free = most_informative(p, alpha, restricted=False)
        assert free.proved
        assert most_informative(p, alpha).value <= free.bound + 1e-14
        assert staircase.matrix_information(p, minimax(size, epsilon=alpha).matrix()) <= free.bound + 1e-14


def test_two_categories_lose_nothing_by_the_restriction() -> None:
    price = price_of_restriction([0.3, 0.7], 1)
    assert price.lost == pytest.approx(0, abs=1e-12)
    assert price.kept == pytest.approx(1, rel=1e-9)


def test_the_price_of_the_restriction() -> None:
    price = price_of_restriction(ayed_2020.SCENARIOS["I"], 0.5)
    assert price.lost == pytest.approx(0.031136 - 0.013283, abs=1e-6)
    assert price.kept == pytest.approx(0.013283 / 0.031136, rel=1e-4)


def test_fourteen_categories_are_the_most_for_any_shape() -> None:
    p = np.full(14, 1 / 14)
    assert most_informative(p, 1, restricted=False).proved
    with pytest.raises(DesignError, match="at most 14 categories; got 15"):
        most_informative(np.full(15, 1 / 15), 1, restricted=False)


# What is refused, and what is shown.


@pytest.mark.parametrize(
    ("p", "options", "message"),
    [
        ([0.5, 0.6], {}, "p must sum to 1; it sums to 1.1"),
        ([50, 50], {}, "Divide counts by their sum"),
        ([0.5, -0.5, 1], {}, "none below 0"),
        ([0.5, math.nan], {}, "finite numbers"),
        ([1], {}, "at least 2 categories"),
        (["a", "b"], {}, "as numbers"),
        ([[0.5, 0.5]], {}, "one list of proportions"),
        ([0.5, 0.5], {"categories": ["a"]}, "at least 2"),
        ([0.5, 0.5], {"categories": ["a", "b", "c"]}, "p has 2 entries but categories names 3"),
        ({"a": 0.5, "b": 0.5}, {"categories": ["a", "b"]}, "given twice"),
    ],
)
def test_a_population_that_cannot_be_read_is_refused(p: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(DesignError, match=message) as caught:
        most_informative(p, 1, **options)
    assert "\n" not in str(caught.value)


def test_an_epsilon_that_cannot_be_met_is_refused() -> None:
    for epsilon in (0, -1, math.nan):
        with pytest.raises(DemandError, match="epsilon"):
            most_informative([0.5, 0.5], epsilon)
    with pytest.raises(DesignError, match="cannot be given in integers"):
        most_informative([0.5, 0.5], 1e-22)
    with pytest.raises(DesignError, match="Use restricted=True"):
        most_informative([0.5, 0.5], 1e-7, restricted=False)


def test_the_summary_says_what_was_proved() -> None:
    text = most_informative(ayed_2020.SCENARIOS["I"], 2).summary()
    assert "0.359138 nats (0.518126 bits)" in text
    assert "a proved global optimum" in text
    assert "v_α for all" in text
    assert isinstance(most_informative([0.5, 0.5], 1), Optimum)


@pytest.mark.parametrize(
    "t", [-1.0, -0.999, -0.3, -0.0201, -0.0199, -1e-6, -1e-12, 0.0, 1e-9, 0.0199, 0.0201, 2.0, 499.0]
)
def test_relative_entropy_is_accurate_near_zero(t: float) -> None:
    import mpmath

    with mpmath.workdps(50):
        x = mpmath.mpf(t)
        exact = float((1 + x) * mpmath.log(1 + x) - x) if t > -1 else 1.0
    assert float(relative_entropy(np.array(t))) == pytest.approx(exact, rel=1e-13)


# The paper's tables beside ours.


def test_every_row_of_the_paper_comes_out_as_recorded() -> None:
    comparisons = published.compare(ayed_2020.ROWS)
    assert published.counts(comparisons) == {
        "printed": {"agrees": 6, "differs": 9},
        "formula": {"agrees": 2},
        "correction": {"explained": 6},
        "unprinted": {"not compared": 24},
    }
    assert max(map(len, published.report(comparisons).splitlines())) <= 120


def test_no_vertex_with_other_printed_counts_is_as_informative() -> None:
    for scenario, printed in ayed_2020.PRINTED.items():
        for alpha, counts in zip(ayed_2020.ALPHAS, printed, strict=True):
            best, optimum = ayed_2020.best_value(scenario, alpha, counts), ayed_2020.optimum(scenario, alpha).value
            if counts == ayed_2020.counts_of_all(scenario):
                assert best == pytest.approx(optimum, rel=1e-12)
            else:
                assert best < optimum - 1e-6
    assert f"{ayed_2020.best_value('I', '0.5', '4 6 0 0'):.6f}" == "0.010324"
    assert f"{ayed_2020.best_value('IV', '0.5', '0 29 0 1'):.6f}" == "0.003099"
