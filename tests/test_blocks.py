"""Block designs: the catalogue is balanced, the designs are as good as symmetric ones, embeddings cost what they say.

The chi-squares of this file have a false-alarm rate of 1e-6 together.
"""

import itertools
import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import BlockDesign, BlockEntry, SubsetDesign, catalogue
from maskwell.designs.block_catalogue import fewest_blocks, hadamard_matrix, hadamard_orders
from maskwell.designs.block_choice import points_to_keep
from maskwell.designs.finite_fields import field, prime_powers
from maskwell.designs.rounding import split_at_parity
from maskwell.designs.rows import RowDesign
from maskwell.sampling.plans import TOTAL, BlockPlan
from tests.conformance import checks, sampling_checks

GAMMA = Fraction(3)
SMALL = catalogue(21)
FANO = next(entry for entry in catalogue(7, 7) if entry.name == "projective plane of order 2")


def on_entry(entry: BlockEntry, *, k: int | None = None, gamma: Fraction | None = GAMMA) -> BlockDesign:
    """The design on the first k points of an entry; always inside without a γ."""
    k = k or entry.v
    inside = TOTAL if gamma is None else split_at_parity(entry.b, {entry.r: Decimal(1)}, gamma)[1][0]
    return BlockDesign.of(tuple(range(k)), entry.members()[:, :k], inside, name="block")


def symmetric(k: int, q: int, gamma: Fraction | None = GAMMA) -> SubsetDesign:
    """All sets of one size."""
    weights: Any = ((q,), (TOTAL,), (0,)) if gamma is None else split_at_parity(k, {q: Decimal(1)}, gamma)
    return SubsetDesign(tuple(range(k)), *weights, name="minimax")


def assert_balanced(entry: BlockEntry) -> None:
    v, b, r, q, pair = entry.parameters
    members = entry.members()
    assert members.shape == (b, v), entry.name
    assert (v * r, pair * (v - 1)) == (b * q, r * (q - 1)), entry.name
    held = members.astype(np.float32)  # whole numbers below 2^24 are exact
    together = held.T @ held
    expected = np.full((v, v), pair, np.float32)
    np.fill_diagonal(expected, r)
    assert (together == expected).all(), entry.name
    assert (members.sum(axis=1) == q).all(), entry.name


# The catalogue.


@pytest.mark.parametrize("v", range(2, 33))
def test_every_small_entry_is_balanced(v: int) -> None:
    for entry in catalogue(v, v):
        assert_balanced(entry)


def test_large_entries_are_balanced() -> None:
    """One of each family with some hundred points."""
    families = {}
    for entry in catalogue(1100, 250, most_blocks=3000):
        words = [word for word in entry.name.split() if not any(c.isdigit() for c in word)]
        families.setdefault(" ".join(words), entry)
    assert len(families) >= 20
    for entry in families.values():
        assert_balanced(entry)


@pytest.mark.parametrize(
    "parameters",
    [
        (7, 7, 3, 3, 1),  # Fano plane
        (13, 13, 4, 4, 1),
        (31, 31, 15, 15, 7),  # PG(4, 2)
        (40, 40, 13, 13, 4),  # PG(3, 3)
        (9, 12, 4, 3, 1),  # affine planes
        (25, 30, 6, 5, 1),
        (11, 11, 5, 5, 2),  # squares
        (27, 27, 13, 13, 6),
        (37, 37, 9, 9, 2),  # fourth powers
        (109, 109, 28, 28, 7),  # and zero
        (35, 35, 17, 17, 8),  # twin primes
        (16, 16, 6, 6, 2),
        (39, 39, 19, 19, 9),  # Hadamard
        (7, 7, 4, 4, 2),  # complements
        (12, 12, 1, 1, 0),
        (12, 12, 11, 11, 10),
    ],
)
def test_known_designs_are_there(parameters: tuple[int, ...]) -> None:
    v = parameters[0]
    assert parameters in {entry.parameters for entry in catalogue(v, v)}


def test_every_design_has_its_complement() -> None:
    sizes = {(entry.v, entry.q, entry.b) for entry in SMALL}
    assert all((v, v - q, b) in sizes for v, q, b in sizes if v > 2)


def test_fewest_blocks_keeps_one_per_size() -> None:
    kept = fewest_blocks(SMALL)
    assert {(entry.v, entry.q) for entry in kept} == {(entry.v, entry.q) for entry in SMALL}
    assert all(entry.b <= other.b for entry in kept for other in SMALL if (entry.v, entry.q) == (other.v, other.q))


@pytest.mark.parametrize("order", [2, 3, 4, 5, 8, 9, 16, 25, 27, 49, 64])
def test_fields_are_fields(order: int) -> None:
    of = field(order)
    assert sorted(of.powers.tolist()) == list(range(1, order))
    elements = np.arange(order)
    times, plus = of.multiplication, of.addition
    assert (times[1] == elements).all()
    assert (plus[0] == elements).all()
    a, b, c = np.meshgrid(elements, elements, elements[: min(order, 9)], indexing="ij")
    assert (times[a, plus[b, c]] == plus[times[a, b], times[a, c]]).all()
    assert (times[times[a, b], c] == times[a, times[b, c]]).all()
    assert all(sorted(row) == list(range(order)) for row in plus.tolist())


def test_prime_powers() -> None:
    found = prime_powers(32)
    assert list(found) == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]
    assert (found[32], found[27]) == (2, 3)


def test_hadamard_matrices_are_orthogonal() -> None:
    """All orders up to 120 but 92 and 116, for which these constructions give none."""
    assert set(range(4, 121, 4)) - set(hadamard_orders(120)) == {92, 116}
    for order in hadamard_orders(120):
        matrix = hadamard_matrix(order).astype(int)
        assert (matrix @ matrix.T == order * np.eye(order, dtype=int)).all()


# Designs on them.


def test_added_variance_is_the_symmetric_designs() -> None:
    """For every entry up to 21 points, to 1e-12; with the truth always inside too."""
    for entry in SMALL:
        for gamma in (GAMMA, None) if entry.q > 1 else (GAMMA,):
            design, same_size = on_entry(entry, gamma=gamma), symmetric(entry.v, entry.q, gamma)
            assert design.added_variance == pytest.approx(same_size.added_variance, rel=1e-12), entry.name
            assert design.inclusion_probabilities() == pytest.approx(same_size.inclusion_probabilities(), rel=1e-12)
            assert design.column_distance() == pytest.approx(same_size.column_distance(), rel=1e-12)
            assert design.diversity() == same_size.diversity()
            assert design.parity == pytest.approx(same_size.parity, rel=1e-12)
            assert design.embedding is None


@pytest.mark.parametrize("v", range(3, 14))
def test_covariance_from_the_blocks_is_that_of_enumeration(v: int) -> None:
    """For every entry; single variances are the symmetric design's, and covariances are where blocks are all sets."""
    population = np.arange(1, v + 1) / (v * (v + 1) / 2)
    for entry in fewest_blocks(catalogue(v, v)):
        design = on_entry(entry)
        chances = design.matrix() @ population
        expected = mw.Tally.from_counts(design, 1000 * chances)
        scores = design.scores("linear").rows(np.arange(design.report_count()))
        enumerated = (scores.T * chances) @ scores - np.outer(population, population)
        found = 1000 * mw.estimate(expected).covariance
        assert np.abs(found - enumerated).max() <= 1e-9 * np.abs(enumerated).max(), entry.name
        other = symmetric(v, entry.q).scores("linear")
        assert np.diagonal(enumerated) == pytest.approx(
            other.second_moment_diagonal(population) - population**2, rel=1e-9
        )
        if design.report_count() == math.comb(v, entry.q):
            everything = other.second_moment(population) - np.outer(population, population)
            assert enumerated == pytest.approx(everything, rel=1e-9, abs=1e-9)


def test_off_diagonal_covariances_need_the_blocks() -> None:
    """In the Fano plane, with unequal proportions, they are not those of all sets of three."""
    population = np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])
    blocks = on_entry(FANO).scores("linear").second_moment(population)
    sets = symmetric(7, 3).scores("linear").second_moment(population)
    assert np.diagonal(blocks) == pytest.approx(np.diagonal(sets), rel=1e-12)
    assert np.abs(blocks - sets).max() > 0.05


def test_intervals_are_binomial() -> None:
    """Wilson and Clopper-Pearson limits are those of the symmetric design with the same inclusion counts."""
    design = mw.designs.block(7, epsilon=0.5)
    reports = design.mask(np.repeat(np.arange(7), [70, 60, 50, 40, 30, 20, 10]), seed=1)
    found = mw.estimate(reports)
    sets = mw.designs.minimax(7, epsilon=0.5)
    tally = reports.tally()
    rows = [sets.report_labels().index(label) for label in design.report_labels()]
    counts = np.zeros(sets.report_count(), int)
    counts[rows] = tally.counts
    same = mw.estimate(mw.Tally.from_counts(sets, counts))
    assert found.proportions == pytest.approx(same.proportions, abs=1e-12)
    assert tally.inclusions.tolist() == mw.Tally.from_counts(sets, counts).inclusions.tolist()
    for method in ("wilson", "clopper-pearson"):
        assert found.interval(method=method) == pytest.approx(same.interval(method=method), abs=1e-9)


# Embedding.


def test_six_categories_in_the_fano_plane() -> None:
    """9.389 by weighted least squares, 9.667 by moments."""
    design = on_entry(FANO, k=6, gamma=Fraction(4))
    assert design.added_variance == pytest.approx(169 / 18, rel=1e-12)
    scores = design.scores("moments").rows(np.arange(design.report_count()))
    by_truth = design.matrix().T @ (scores**2).sum(axis=1) - 1
    assert by_truth.max() == pytest.approx(29 / 3, rel=1e-12)
    embedding = design.embedding
    assert embedding is not None
    assert (embedding.points, embedding.block_size) == (7, 3)
    assert embedding.symmetric_added_variance == pytest.approx(mw.designs.minimax(6, gamma=4).added_variance)
    assert embedding.ratio == pytest.approx(169 / 18 / embedding.symmetric_added_variance)


EMBEDDED = {
    "6 of 7": on_entry(FANO, k=6, gamma=Fraction(4)),
    "4 of 7, blocks that become equal": on_entry(FANO, k=4, gamma=Fraction(4)),
    "2 of 7, an empty block": on_entry(FANO, k=2, gamma=Fraction(4)),
    "6 of 7, always inside": on_entry(FANO, k=6, gamma=None),
    "10 by epsilon": mw.designs.block(10, epsilon=1),
    "10 by l": mw.designs.block(list("abcdefghij"), l=3),
    "12 by epsilon": mw.designs.block(12, epsilon=1),
}
every_embedded = pytest.mark.parametrize("design", EMBEDDED.values(), ids=EMBEDDED.keys())


@every_embedded
def test_embedded_designs_conform(design: BlockDesign) -> None:
    """The checks of the conformance suite that need no draws."""
    assert design.embedded
    checks.check_matrix(design)
    checks.check_privacy(design)
    checks.check_unbiased(design)
    checks.check_covariance(design)
    checks.check_added_variance(design)
    checks.check_json(design)


@every_embedded
def test_least_squares_are_those_of_any_matrix(design: BlockDesign) -> None:
    """The closed form gives the scores that general weighted least squares give."""
    general = RowDesign.estimator(design, "linear")
    assert design.estimator("linear") == pytest.approx(general, rel=1e-9, abs=1e-9)
    assert design.added_variance <= by_moments(design) + 1e-9


def by_moments(design: BlockDesign) -> float:
    return float((design.floats.T @ (design.estimator("moments") ** 2).sum(axis=0)).max()) - 1


@every_embedded
def test_embedded_samplers_fit(design: BlockDesign) -> None:
    """False alarm 1e-6 over all truths of all embedded designs; 100,000 draws catch an error of 2.5 % or less."""
    truths = sum(other.k for other in EMBEDDED.values())
    sampling_checks.check_sampler(design, n=100_000, false_alarm=5e-7 / truths, worst_error=0.025)


def test_changed_json_is_refused() -> None:
    for design in (EMBEDDED["6 of 7"], EMBEDDED["4 of 7, blocks that become equal"]):
        for text in checks.changed_documents(design).values():
            checks.check_refused(text)


# Choosing.


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 19, 20, 21, 25, 27, 31])
def test_the_best_size_is_attained_where_it_fits(k: int) -> None:
    """Without an embedding and at the size of the minimax design, the error is the least that the parity allows."""
    fitting = 0
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        design, best = mw.designs.block(k, epsilon=epsilon), mw.designs.minimax(k, epsilon=epsilon)
        if (design.points, design.block_size) == (k, best.sizes[0]):
            fitting += 1
            assert design.added_variance == pytest.approx(best.added_variance, rel=1e-12)
            assert design.embedding is None
            assert design.report_count() <= best.report_count()
        assert mw.LDP(epsilon).holds_for(design)
    # With a field on k elements there are blocks of every size.
    assert fitting == 5 if k in prime_powers(31) else fitting >= 1


@pytest.mark.parametrize("k", [12, 14, 22, 24, 33, 45, 60, 99])
def test_an_embedding_says_its_price(k: int) -> None:
    """The ratio is that of added variances, above 1 and for these below 1.02; no exact design of the list is better."""
    for epsilon in (0.3, 1.0, 1.7):
        design, best = mw.designs.block(k, epsilon=epsilon), mw.designs.minimax(k, epsilon=epsilon)
        embedding = design.embedding
        if embedding is None:
            continue
        assert embedding.points == design.points > k
        assert embedding.added_variance == design.added_variance
        assert embedding.symmetric_added_variance == pytest.approx(best.added_variance, rel=1e-9)
        assert 1 <= embedding.ratio == pytest.approx(design.added_variance / best.added_variance, rel=1e-9)
        assert embedding.ratio < 1.02
        # A bit is taken to be worth a thousandth, so what was left aside is at most as many thousandths better.
        bound = design.exact_parity()
        exact = [symmetric(k, entry.q, bound).added_variance for entry in fewest_blocks(catalogue(k, k))]
        assert design.added_variance <= min(exact) * (1 + 1e-3 * design.communication_bits)


@pytest.mark.parametrize("k", [3, 4, 6, 7, 8, 10, 12, 15, 20, 33])
def test_diversity(k: int) -> None:
    for l in range(2, k, max(1, k // 6)):
        design, best = mw.designs.block(k, l=l), mw.designs.local_diversity(k, l=l)
        assert design.diversity() >= l
        assert design.demand == mw.LocalDiversity(l)
        assert design.exact_parity() == math.inf
        if design.embedding is None and design.block_size == l:
            assert design.added_variance == pytest.approx(best.added_variance, rel=1e-12)
            assert design.added_variance == pytest.approx((k - 1) * (l - 1) / (k - l), rel=1e-12)
        else:
            assert best.added_variance < design.added_variance < math.inf
        assert design.symmetric.added_variance == best.added_variance


def test_a_construction_by_name() -> None:
    """What a design's parameters say gives the same design again."""
    fano = mw.designs.block(6, gamma=4, construction="projective plane of order 2")
    assert fano == EMBEDDED["6 of 7"]
    for design in (fano, mw.designs.block(10, l=3), mw.designs.block(20, epsilon=1), mw.designs.block(5, epsilon=0.5)):
        assert mw.designs.block(design.k, **design.parameters) == design
    with pytest.raises(mw.DesignError, match="'windmill' is no entry"):
        mw.designs.block(6, gamma=4, construction="windmill")
    with pytest.raises(mw.DesignError, match="fewer than l=3"):
        mw.designs.block(6, l=3, construction="projective plane of order 2")


def test_points_that_are_kept_leave_blocks_large_enough() -> None:
    plane = next(entry for entry in catalogue(21, 21) if entry.name == "projective plane of order 4")
    kept = points_to_keep(plane.members(), 15, 3)
    assert kept is not None
    assert len(kept) == 15
    assert plane.members()[:, kept].sum(axis=1).min() == 3
    assert points_to_keep(FANO.members(), 5, 2) is None


def test_communication_bits() -> None:
    """A plane of order 4 tells one of 21 lines, the symmetric design one of C(21, 5) sets."""
    design = mw.designs.block(21, gamma=3)
    assert design.report_count() == 21
    assert design.communication_bits == math.log2(21)
    assert design.symmetric_communication_bits == pytest.approx(math.log2(math.comb(21, 5)))
    assert design.symmetric.sizes == (5,)


def test_many_categories() -> None:
    """1,000 categories: built, stored, masked and estimated without a table of fractions."""
    design = mw.designs.block(1000, epsilon=1)
    assert design.embedding is not None
    assert 1 < design.embedding.ratio < 1.01
    assert design.communication_bits < 11 < 800 < design.symmetric_communication_bits
    assert mw.Design.from_json(design.to_json()) == design
    reports = design.mask(np.repeat(np.arange(1000), 5), seed=2)
    found = mw.estimate(reports)
    assert found.proportions.sum() == pytest.approx(1, abs=1e-9)
    assert (found.standard_errors > 0).all()
    assert 0 < design.column_distance() < 2
    assert design.diversity() == 0


# The sampler.


def test_threshold_to_the_last_bit() -> None:
    """A record's first number decides whether the block holds the truth, exactly at the weight inside."""
    for design in (mw.designs.block(7, epsilon=0.3), EMBEDDED["4 of 7, blocks that become equal"]):
        for j, truth in enumerate(design.categories):
            for number, held in ((0, True), (design.inside - 1, True), (design.inside, False), (TOTAL - 1, False)):
                words = np.array([number & 0xFFFFFFFF, number >> 32, 1 << 31], np.uint32)
                (report,) = run(design.plan, j, words)
                assert (truth in design.report_labels()[report]) is held


def run(plan: BlockPlan, code: int, words: Any) -> list[int]:
    out, exhausted = plan.empty(1), np.zeros(1, np.uint8)
    plan.run(np.array([code], np.uint32), np.asarray(words, np.uint32), len(words), out, exhausted)
    return [] if exhausted[0] else out.tolist()


@pytest.mark.parametrize("make", [lambda: mw.designs.block(7, epsilon=0.3), lambda: mw.designs.block(7, l=3)])
def test_a_pick_that_would_favour_a_block_is_rejected(make: Callable[[], BlockDesign]) -> None:
    """2^32 = 1 mod 3: of all words just 0 is rejected, so that each of the 3 blocks has (2^32 - 1) / 3 of them."""
    design = make()
    start = [0, 0] if design.outside else []
    assert run(design.plan, 0, [*start, 0]) == []
    third = (2**32 - 1) // 3
    holding = [row for row, label in enumerate(design.report_labels()) if 0 in label]
    for place, row in enumerate(holding):
        first, last = place * third + 1, (place + 1) * third
        assert run(design.plan, 0, [*start, first]) == [row]
        assert run(design.plan, 0, [*start, last]) == [row]
        assert run(design.plan, 0, [*start, 0, 0, last]) == [row]


def test_slots() -> None:
    assert mw.designs.block(7, epsilon=0.3).plan.width == 3
    assert mw.designs.block(7, l=3).plan.width == 1


def test_equal_blocks_are_one_report_with_more_weight() -> None:
    design = EMBEDDED["2 of 7, an empty block"]
    assert dict(zip(design.report_labels(), design.copies, strict=True)) == {
        frozenset(): 2,
        frozenset({0}): 2,
        frozenset({1}): 2,
        frozenset({0, 1}): 1,
    }
    assert (design.counts, design.points, design.block_size) == ((7, 3, 1), 7, 3)


def test_keyed_reports_do_not_depend_on_order() -> None:
    design = mw.designs.block(13, epsilon=0.5)
    values, key = np.arange(13), bytes(range(32))
    forward = design.mask(values, key=key, ids=values)
    backward = design.mask(values[::-1], key=key, ids=values[::-1])
    assert (forward.packed == backward.packed[::-1]).all()


# Errors and storage.


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({}, "give one of epsilon=, gamma= and l="),
        ({"epsilon": 1, "l": 2}, "give one of"),
        ({"l": 1}, "2 <= l <= k - 1; got l=1"),
        ({"l": 7}, "got l=7 with k=7"),
        ({"l": 2.5}, "got l=2.5"),
        ({"epsilon": 1e-30}, "epsilon"),
    ],
)
def test_refused(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(mw.MaskwellError, match=match) as caught:
        mw.designs.block(7, **arguments)
    assert "\n" not in str(caught.value)


def test_too_many_categories_are_refused_at_once() -> None:
    with pytest.raises(mw.DesignError, match="k=4000") as caught:
        mw.designs.block(4000, epsilon=1)
    assert "minimax" in str(caught.value)


def test_unbalanced_blocks_are_refused() -> None:
    members = np.array(FANO.members())
    for wrong in (members[:-1], np.concatenate([members, members[:1]]), np.ones((3, 7), bool)):
        with pytest.raises(mw.DesignError, match="balanced"):
            BlockDesign.of(tuple(range(7)), wrong, TOTAL // 2, name="block")
    swapped = members.copy()
    swapped[0, np.flatnonzero(members[0])[0]] = False
    with pytest.raises(mw.DesignError, match="balanced"):
        BlockDesign.of(tuple(range(7)), swapped, TOTAL // 2, name="block")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"blocks": []}, "copies"),
        ({"copies": [1] * 6}, "copies"),
        ({"copies": [0] + [1] * 6}, "copies"),
        ({"inside": "0", "outside": str(TOTAL)}, "sum to 2"),
        ({"inside": "5"}, "sum to 2"),
    ],
)
def test_weights_that_are_no_design_are_refused(change: dict[str, Any], match: str) -> None:
    document = json.loads(mw.designs.block(7, epsilon=0.3).to_json())
    document["weights"].update(change)
    with pytest.raises(mw.DesignError, match=match):
        mw.Design.from_json(json.dumps(document))


def test_json_names_the_construction_and_lists_the_blocks() -> None:
    document = json.loads(mw.designs.block(7, epsilon=0.3).to_json())
    assert document["kind"] == "blocks"
    assert document["parameters"] == {"epsilon": 0.3, "construction": "projective plane of order 2"}
    assert all(int(block, 16).bit_count() == 3 for block in document["weights"]["blocks"])


def test_labels_are_kept_and_single_categories_plain() -> None:
    design = mw.designs.block(["a", "b", "c"], epsilon=1)
    assert design.report_labels() == ["a", "b", "c"]
    pairs = mw.designs.block(["a", "b", "c"], l=2)
    assert pairs.report_labels() == [frozenset(pair) for pair in itertools.combinations("abc", 2)]
    assert set(design.mask(["a"] * 50, seed=3).decode()) <= {"a", "b", "c"}
    assert "Nayak" in design.citation()
