"""Block designs: as good as symmetric ones, embeddings cost what they say, the sampler is exact.

The chi-squares of this file have a false-alarm rate of 1e-6 together.
"""

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import BlockDesign, catalogue
from maskwell.designs.base import Design
from maskwell.designs.blocks.catalogue import fewest_blocks
from maskwell.sampling.block_samplers import BlockSampler
from maskwell.sampling.samplers import TOTAL
from tests.block_helpers import FANO, GAMMA, SMALL, on_entry, symmetric
from tests.conformance import checks, sampling_checks

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
            assert (design.embedding is None) == (design.symmetric.sizes == (entry.q,))


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
    general = Design.estimator(design, "linear")
    assert design.estimator("linear") == pytest.approx(general, rel=1e-9, abs=1e-9)
    assert design.added_variance <= by_moments(design) + 1e-9


def by_moments(design: BlockDesign) -> float:
    return float((design.channel.floats.T @ (design.estimator("moments") ** 2).sum(axis=0)).max()) - 1


@every_embedded
def test_embedded_samplers_fit(design: BlockDesign) -> None:
    """False alarm 1e-6 over all truths of all embedded designs; 100,000 draws catch an error of 2.5 % or less."""
    truths = sum(other.k for other in EMBEDDED.values())
    sampling_checks.check_sampler(design, n=100_000, false_alarm=5e-7 / truths, worst_error=0.025)


def test_changed_json_is_refused() -> None:
    for design in (EMBEDDED["6 of 7"], EMBEDDED["4 of 7, blocks that become equal"]):
        for text in checks.changed_documents(design).values():
            checks.check_refused(text)


# The sampler.


def test_threshold_to_the_last_bit() -> None:
    """A record's first number decides whether the block holds the truth, exactly at the weight inside."""
    for design in (mw.designs.block(7, epsilon=0.3), EMBEDDED["4 of 7, blocks that become equal"]):
        for j, truth in enumerate(design.categories):
            for number, held in ((0, True), (design.inside - 1, True), (design.inside, False), (TOTAL - 1, False)):
                words = np.array([number & 0xFFFFFFFF, number >> 32, 1 << 31], np.uint32)
                (report,) = run(design.sampler, j, words)
                assert (truth in design.report_labels()[report]) is held


def run(sampler: BlockSampler, code: int, words: Any) -> list[int]:
    out, exhausted = sampler.empty(1), np.zeros(1, np.uint8)
    sampler.run(np.array([code], np.uint32), np.asarray(words, np.uint32), len(words), out, exhausted)
    return [] if exhausted[0] else out.tolist()


@pytest.mark.parametrize("make", [lambda: mw.designs.block(7, epsilon=0.3), lambda: mw.designs.block(7, l=3)])
def test_a_pick_that_would_favour_a_block_is_rejected(make: Callable[[], BlockDesign]) -> None:
    """2^32 = 1 mod 3: of all words just 0 is rejected, so that each of the 3 blocks has (2^32 - 1) / 3 of them."""
    design = make()
    start = [0, 0] if design.outside else []
    assert run(design.sampler, 0, [*start, 0]) == []
    third = (2**32 - 1) // 3
    holding = [row for row, label in enumerate(design.report_labels()) if 0 in label]
    for place, row in enumerate(holding):
        first, last = place * third + 1, (place + 1) * third
        assert run(design.sampler, 0, [*start, first]) == [row]
        assert run(design.sampler, 0, [*start, last]) == [row]
        assert run(design.sampler, 0, [*start, 0, 0, last]) == [row]


def test_slots() -> None:
    assert mw.designs.block(7, epsilon=0.3).sampler.width == 3
    assert mw.designs.block(7, l=3).sampler.width == 1


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
    forward = design.mask(values, key=key, question="q", ids=values)
    backward = design.mask(values[::-1], key=key, question="q", ids=values[::-1])
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
    assert "projective" in str(caught.value)


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
