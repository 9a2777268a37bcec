"""The order of designs by what they tell: which of two tells more, and which reports say the same.

Every "yes" is checked by multiplying out its transition matrix, every "no" by evaluating its decision problem; neither
check uses the code that found them.
"""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell import designs
from maskwell.ordering import dominates, equivalent, merge_proportional, proportional_rows
from tests.conformance.members import MEMBERS
from tests.order_checks import Table, dirichlet, judged, several, tables


def split_and_shuffled(table: Table, generator: np.random.Generator) -> Table:
    """An equivalent table: some rows in two pieces, in another order."""
    shares = generator.uniform(0.1, 0.9, len(table))
    halves = np.vstack([table * shares[:, None], table * (1 - shares)[:, None]])
    return halves[generator.permutation(len(halves))]


# The order.


@given(several(2))
def test_every_verdict_is_proven(pair: list[Table]) -> None:
    judged(*pair)
    judged(*pair[::-1])


@given(st.data())
def test_what_is_drawn_from_a_design_is_dominated_by_it(data: st.DataObject) -> None:
    table = data.draw(tables(data.draw(st.integers(2, 4))))
    assert judged(table, data.draw(tables(len(table))) @ table)


@given(several(3))
def test_domination_is_transitive(three: list[Table]) -> None:
    a, b, c = three
    if judged(a, b) and judged(b, c):
        assert judged(a, c)


@given(several(2), st.integers(0, 1000))
def test_domination_is_antisymmetric_up_to_order_and_merging(pair: list[Table], seed: int) -> None:
    """chai-nayak-2018, Theorem 4.1: designs that dominate each other have the same rows once these are merged."""
    a, b = pair
    assert bool(judged(a, b) and judged(b, a)) == bool(equivalent(a, b))
    same = split_and_shuffled(a, np.random.default_rng(seed))
    assert equivalent(a, same)
    assert judged(a, same)
    assert judged(same, a)


@given(several(2))
def test_merging_preserves_distances_and_order(pair: list[Table]) -> None:
    a, b = pair
    merged = merge_proportional(a)
    assert equivalent(a, merged)
    assert len(proportional_rows(merged)) == len(merged) == len(proportional_rows(a))
    assert distances(merged) == pytest.approx(distances(a), abs=1e-12)
    assert bool(dominates(a, b)) == bool(dominates(merged, b))
    assert bool(dominates(b, a)) == bool(dominates(b, merged))


def distances(table: Table) -> Table:
    return np.abs(table[:, :, None] - table[:, None, :]).sum(axis=0)


@given(several(2, least=1))
def test_a_second_draw_never_raises_parity(pair: list[Table]) -> None:
    """chai-nayak-2018, Lemma 4.1."""
    a, b = (max(row.max() / row.min() for row in table if row.any()) for table in pair)
    if judged(*pair):
        assert b <= a * (1 + 1e-8)
    elif b > a * (1 + 1e-6):
        assert "odds" in dominates(*pair).why


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_trimmed_rappor_strictly_dominates_rappor(k: int) -> None:
    trimmed, full = designs.trimmed_rappor(k, epsilon=1), designs.rappor(k, epsilon=1)
    assert judged(trimmed, full)
    assert not judged(full, trimmed)
    assert not equivalent(full, trimmed)


def test_symmetric_designs_are_judged_as_their_tables_are() -> None:
    """By set size, and again entry by entry, over all pairs of a family that has dominated and unrelated members."""
    family = [
        designs.direct(4),
        designs.gamma_diagonal(4, epsilon=1),
        designs.gamma_diagonal(4, epsilon=2),
        designs.minimax(4, epsilon=0.5),
        designs.rappor(4, epsilon=1),
        designs.trimmed_rappor(4, epsilon=2),
        designs.optimized_unary(4, gamma=5),
        designs.local_diversity(4, l=2),
        designs.uniform_subsets(4),
    ]
    verdicts = [(bool(judged(a, b)), bool(judged(a.matrix(), b.matrix()))) for a in family for b in family]
    assert all(by_size == by_row for by_size, by_row in verdicts)
    # Every design dominates itself; some but not all of the other pairs are ordered.
    assert len(family) < sum(by_size for by_size, _ in verdicts) < len(verdicts)


@pytest.mark.parametrize("better", ["gamma_diagonal", "minimax", "rappor", "trimmed_rappor", "optimized_unary"])
def test_more_epsilon_tells_more(better: str) -> None:
    much, little = (getattr(designs, better)(6, epsilon=epsilon) for epsilon in (2, 1))
    assert judged(much, little) or better == "minimax"  # its set size changes with epsilon
    verdict = judged(little, much)
    assert not verdict
    assert "odds" in verdict.why


def test_large_symmetric_designs_are_compared_by_size() -> None:
    trimmed, full = designs.trimmed_rappor(100, epsilon=2), designs.rappor(100, epsilon=1)
    verdict = dominates(trimmed, full)
    assert verdict
    reached = verdict.transition.applied_to(trimmed.channel.sizes)
    for size, inside, outside in zip(full.sizes, full.inside, full.outside, strict=True):
        assert reached.get(size, (0, 0)) == pytest.approx((inside / 2**64, outside / 2**64), abs=1e-9)
    with pytest.raises(mw.DesignError, match="use transition"):
        _ = verdict.C
    unrelated = dominates(designs.gamma_diagonal(1000, epsilon=1), designs.minimax(1000, epsilon=1))
    assert not unrelated
    assert unrelated.witness.value_worse > unrelated.witness.value_better
    with pytest.raises(mw.DesignError, match="use bet"):
        _ = unrelated.witness.payoffs


@pytest.mark.parametrize(("rows", "k"), [(200, 200), (200, 20), (60, 12)])
def test_large_tables_in_seconds(rows: int, k: int) -> None:
    """Drawn with room, drawn by merging reports (no room at all), unrelated, and the wrong way round."""
    generator = np.random.default_rng(7)
    table = dirichlet(rows, k, generator)
    merging = np.zeros((rows // 2, rows))
    merging[np.arange(rows) % (rows // 2), np.arange(rows)] = 1
    start = time.perf_counter()
    assert judged(table, dirichlet(rows, rows, generator) @ table)
    assert judged(table, merging @ table)
    assert not judged(table, dirichlet(rows, k, generator))
    assert not judged(merging @ table, table)
    assert judged(table, table[generator.permutation(rows)])
    assert time.perf_counter() - start < 60


def test_verdicts_turn_at_the_tolerance() -> None:
    """A design with a little more parity is not dominated, down to where 1e-9 relative becomes the limit."""
    for excess, expected in ((1e-4, False), (1e-7, False), (1e-13, True)):
        base, more = (np.array([[g, 1], [1, g]]) / (g + 1) for g in (3.0, 3.0 * (1 + excess)))
        assert bool(judged(base, more)) is expected
        assert judged(more, base)


def test_a_rare_report_that_gives_the_truth_away_is_not_overlooked() -> None:
    safe = np.array([[0.75, 0.25], [0.25, 0.75]])
    rare = np.vstack([safe * (1 - 1e-7), 1e-7 * np.eye(2)])
    assert not judged(safe, rare)
    assert judged(rare, safe)


def test_designs_are_matched_by_label() -> None:
    matrix = [[0.7, 0.2, 0.1], [0.3, 0.8, 0.9]]
    one = designs.from_matrix(matrix, ["a", "b", "c"])
    other = designs.from_matrix([row[::-1] for row in matrix], ["c", "b", "a"])
    assert equivalent(one, other)
    assert judged(one, designs.from_matrix(matrix, ["a", "b", "c"]))
    assert dominates(one, other)
    assert not equivalent(one.matrix(), other.matrix())


@pytest.mark.parametrize(
    ("better", "worse", "message"),
    [
        (designs.minimax(3, epsilon=1), designs.minimax(4, epsilon=1), "same categories"),
        (designs.minimax(["a", "b"], epsilon=1), designs.warner(truth_prob=0.7), "pass design.matrix"),
        (np.eye(3), np.eye(2), "better has 3 and worse has 2"),
        (np.eye(2), [[0.5, 0.5], [0.4, 0.5]], "columns of worse must sum to 1"),
        (np.eye(2), [[1.5, 0.5], [-0.5, 0.5]], "must hold probabilities"),
        ("minimax", np.eye(2), "better must be a design or a table"),
    ],
)
def test_what_cannot_be_compared_is_named(better: object, worse: object, message: str) -> None:
    with pytest.raises(mw.DesignError, match=message) as error:
        dominates(better, worse)
    assert "\n" not in str(error.value)


# Merging.


def test_merging_a_symmetric_design_stays_symmetric() -> None:
    """Empty and full set say the same: nothing."""
    rappor = designs.rappor(5, epsilon=1)
    merged = merge_proportional(rappor)
    assert merged.sizes == (1, 2, 3, 4, 5)
    assert merged.exact_parity() == rappor.exact_parity()
    assert merged.column_distance() == rappor.column_distance()
    assert merged.added_variance == pytest.approx(rappor.added_variance, rel=1e-12)
    assert judged(merged, rappor)
    assert judged(rappor, merged)
    minimax = designs.minimax(5, epsilon=1)
    assert merge_proportional(minimax) is minimax


def test_complementary_sets_are_merged() -> None:
    """Size 1 favours its member 2 : 1, size 2 disfavours its members 1 : 2: the same three reports twice."""
    weight = 2**64 // 8
    design = designs.SubsetDesign((0, 1, 2), (1, 2), (2 * weight, 2 * weight), (2 * weight, 2 * weight), name="direct")
    merged = merge_proportional(design)
    assert merged.sizes == (1,)
    assert equivalent(design, merged)
    assert equivalent(design.matrix(), merged.matrix())


@pytest.mark.parametrize("design", MEMBERS.values(), ids=MEMBERS.keys())
def test_merging_named_designs(design: mw.Design) -> None:
    merged = merge_proportional(design)
    assert equivalent(design, merged)
    assert merged.column_distance() == design.column_distance()
    assert merged.exact_parity() == design.exact_parity()
