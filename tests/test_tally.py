"""Tallies add up: in any order, from any batches, with or without weights, and to what counting by hand gives."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell.reports.tally import Patterns
from maskwell.sampling.counting import count_sets
from tests.conformance.masking_helpers import refused, values_for

DESIGNS = {
    "codes": mw.designs.gamma_diagonal(4, epsilon=1),
    "one size": mw.designs.minimax(9, epsilon=0.3),
    "many sizes": mw.designs.rappor(5, epsilon=1),
    "matrix": mw.designs.average_secure(["a", "b", "c"], phi=1.5),
    "binary": mw.designs.warner(truth_prob=0.8),
    "product": mw.designs.product(mw.designs.warner(truth_prob=0.8), mw.designs.local_diversity(3, l=2)),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
SETS = DESIGNS["many sizes"]


def reports_of(design: mw.Design, rows: list[int | None]) -> mw.Reports:
    """Reports given as rows of the matrix; None is no report."""
    packed = design.pack_rows(np.array([row or 0 for row in rows], np.int64))
    missing = np.array([row is None for row in rows], np.bool_)
    packed[missing] = 0
    return mw.Reports(design, packed, missing if missing.any() else None)


@st.composite
def batches(draw: Any, count: int = 3) -> tuple[mw.Design, list[mw.Reports]]:
    design = draw(st.sampled_from(list(DESIGNS.values())))
    row = st.none() | st.integers(0, design.report_count() - 1)
    return design, [reports_of(design, draw(st.lists(row, max_size=12))) for _ in range(count)]


def identical(first: mw.Tally, second: mw.Tally) -> bool:
    """Equal in everything, patterns included."""
    same = first == second and first.counts.dtype == second.counts.dtype
    mine, theirs = first.patterns, second.patterns
    if mine is None or theirs is None:
        return same and mine is theirs
    return same and (mine.packed == theirs.packed).all() and (mine.counts == theirs.counts).all()


@given(batches(), st.sampled_from([None, True, False]))
def test_merging_is_tallying_together(parts: tuple[mw.Design, list[mw.Reports]], patterns: bool | None) -> None:
    _, reports = parts
    together = mw.Reports.concatenate(reports).tally(patterns=patterns)
    assert identical(mw.Tally.merge([part.tally(patterns=patterns) for part in reports]), together)


@given(batches(), st.booleans())
def test_merging_is_associative_and_commutative(parts: tuple[mw.Design, list[mw.Reports]], patterns: bool) -> None:
    a, b, c = (part.tally(patterns=patterns) for part in parts[1])
    merge = mw.Tally.merge
    left, right = merge([merge([a, b]), c]), merge([a, merge([b, c])])
    assert identical(left, right)
    assert identical(left, merge([c, a, b]))
    assert identical(left, merge([b, c, a]))
    assert identical(merge([a]), a)


@given(batches())
def test_streaming_is_tallying_together(parts: tuple[mw.Design, list[mw.Reports]]) -> None:
    design, reports = parts
    together = mw.Reports.concatenate(reports)
    assert identical(mw.Tally.stream(design, reports, True), together.tally(patterns=True))
    assert identical(mw.Tally.stream(design, iter(reports)), together.tally())


@given(batches(count=1))
def test_counts_are_those_of_the_decoded_reports(parts: tuple[mw.Design, list[mw.Reports]]) -> None:
    design, (reports,) = parts
    tally = reports.tally(patterns=True)
    decoded = [report for report in reports.decode() if report is not None]
    assert (tally.n, tally.missing) == (len(decoded), len(reports) - len(decoded))
    if isinstance(design, mw.designs.SubsetDesign):
        sets = [report if isinstance(report, frozenset) else frozenset([report]) for report in decoded]
        assert tally.inclusions.tolist() == [sum(c in held for held in sets) for c in design.categories]
        for size, row in zip(design.sizes, tally.counts, strict=True):
            of_size = [held for held in sets if len(held) == size]
            assert row.tolist() == [sum(c in held for held in of_size) for c in design.categories] + [len(of_size)]
    elif isinstance(design, mw.designs.ProductDesign):
        assert tally.counts.tolist() == [len(decoded)]
        for axis, name in enumerate(design.names):
            alone = Counter(report[axis] for report in decoded)
            by_row = mw.Tally.from_counts(
                design.part(name), [alone[label] for label in design.part(name).report_labels()]
            )
            assert (tally.marginal(name).counts == by_row.counts).all()
    else:
        assert tally.counts.tolist() == [decoded.count(label) for label in design.report_labels()]
    patterns = tally.patterns
    assert patterns is not None
    shown = design.decode(patterns.packed)
    assert Counter(dict(zip(shown, patterns.counts.tolist(), strict=True))) == Counter(decoded)


@given(batches(count=1))
def test_counts_per_row_give_the_same_tally(parts: tuple[mw.Design, list[mw.Reports]]) -> None:
    design, (reports,) = parts
    by_label = Counter(report for report in reports.decode() if report is not None)
    counts = [by_label[label] for label in design.report_labels()]
    tally = mw.Tally.from_counts(design, counts)
    present = reports if reports.missing is None else mw.Reports(design, reports.packed[~reports.missing])
    assert tally == present.tally()
    assert identical(tally, present.tally(patterns=True))


@every_design
def test_patterns_come_in_rising_order(design: mw.Design) -> None:
    rows = np.arange(design.report_count())
    for tally in (
        mw.Reports(design, design.pack_rows(rows[::-1])).tally(patterns=True),
        mw.Tally.from_counts(design, np.ones(len(rows), int)),
    ):
        assert isinstance(tally.patterns, Patterns)
        packed = tally.patterns.packed.reshape(len(rows), -1).tolist()
        assert packed == sorted(packed)


def test_patterns_are_kept_only_where_asked_for_or_free() -> None:
    assert SETS.mask([0, 1], seed=1).tally().patterns is None
    assert SETS.mask([0, 1], seed=1).tally(patterns=True).patterns is not None
    assert DESIGNS["codes"].mask([0, 1], seed=1).tally().patterns is not None
    assert DESIGNS["matrix"].mask(["a", "b"], seed=1).tally().patterns is not None


@pytest.mark.parametrize("k", [3, 8, 64, 65, 130])
def test_counting_many_reports(k: int) -> None:
    """More than a byte counts, and more than one thread takes: 70,000 sets against NumPy's unpacking."""
    for design in (mw.designs.local_diversity(k, l=2), mw.designs.rappor(k, epsilon=2)):
        reports = design.mask(np.arange(70_000) % k, seed=k)
        bits = np.unpackbits(reports.packed, axis=1, count=k, bitorder="little")
        tally = reports.tally()
        assert (tally.inclusions == bits.sum(axis=0, dtype=np.int64)).all()
        sizes = bits.sum(axis=1, dtype=np.int64)
        assert tally.counts[:, -1].tolist() == [int((sizes == s).sum()) for s in design.sizes]
        ones = reports.tally(weights=np.ones(len(reports)))
        assert (ones.counts == tally.counts).all()


# Weights.


@every_design
def test_weights_of_one_change_nothing(design: mw.Design) -> None:
    reports = design.mask(values_for(design, 500), seed=2)
    plain, ones = mw.estimate(reports.tally()), mw.estimate(reports.tally(weights=np.ones(500)))
    np.testing.assert_allclose(plain.proportions, ones.proportions, rtol=1e-12, atol=1e-14)
    assert plain.effective_n == ones.effective_n
    np.testing.assert_allclose(plain.covariance, ones.covariance, rtol=1e-12, atol=1e-15)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0.01, 100)), min_size=2, max_size=40))
def test_weighted_direct_answers_are_the_textbook(answers: list[tuple[int, float]]) -> None:
    """The Hájek mean sum(w y) / sum(w), and its linearised variance sum w^2 (y - mean)(y - mean)' / (sum w)^2."""
    truths, w = np.array([a for a, _ in answers]), np.array([b for _, b in answers])
    estimate = mw.estimate(mw.designs.direct(4).mask(truths, seed=1).tally(weights=w))
    y = np.eye(4)[truths]
    mean = w @ y / w.sum()
    residuals = w[:, None] * (y - mean) / w.sum()
    np.testing.assert_allclose(estimate.proportions, mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(estimate.covariance, residuals.T @ residuals, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(estimate.standard_errors**2, np.diag(residuals.T @ residuals), rtol=1e-9, atol=1e-13)


@every_design
def test_a_weight_of_two_is_two_reports(design: mw.Design) -> None:
    reports = design.mask(values_for(design, 60), seed=3)
    twice = np.arange(60) < 20
    weighted = reports.tally(weights=1 + twice)
    doubled = mw.Reports(design, np.concatenate([reports.packed, reports.packed[twice]])).tally()
    assert (weighted.counts == doubled.counts).all()
    np.testing.assert_allclose(
        mw.estimate(weighted).proportions, mw.estimate(doubled).proportions, rtol=1e-12, atol=1e-14
    )
    assert weighted.n == 60
    assert weighted.squares.sum() == pytest.approx(reports.tally(weights=(1 + twice) ** 2).counts.sum())


def test_weighted_tallies_merge() -> None:
    reports = SETS.mask(np.arange(100) % 5, seed=4)
    w = np.linspace(0.5, 2, 100)
    parts = [mw.Reports(SETS, reports.packed[part]) for part in (slice(0, 37), slice(37, 100))]
    merged = mw.Tally.merge([parts[0].tally(weights=w[:37]), parts[1].tally(weights=w[37:])])
    together = reports.tally(weights=w)
    np.testing.assert_allclose(merged.counts, together.counts, rtol=1e-12)
    np.testing.assert_allclose(merged.squares, together.squares, rtol=1e-12)


def test_weights_of_missing_reports_do_not_count() -> None:
    design = DESIGNS["codes"]
    reports = design.mask([0, None, 1, 2], missing="keep", seed=1)
    tally = reports.tally(weights=[1.0, 50.0, 2.0, 3.0])
    assert (tally.n, tally.missing, float(tally.counts[0, -1])) == (3, 1, 6.0)


# Refusals, each in one line.


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [1.0, 1.0, -1.0],
        [1.0, np.nan, 1.0],
        [1.0, np.inf, 1.0],
        [0.0, 0.0, 0.0],
        [[1.0], [1.0], [1.0]],
        ["1", "one", "2"],
        [1.0, None, 1.0],
        3.0,
    ],
)
def test_weights_that_are_none(weights: Any) -> None:
    refused(mw.DataError, "weights", lambda: SETS.mask([0, 1, 2], seed=1).tally(weights=weights))


def test_only_missing_reports_have_weight() -> None:
    reports = DESIGNS["codes"].mask([0, None], missing="keep", seed=1)
    refused(mw.MaskwellError, "weight", lambda: mw.estimate(reports.tally(weights=[0, 1])).proportions)


def test_tallies_that_do_not_belong_together() -> None:
    first = mw.designs.minimax(5, epsilon=1).mask([0, 1], seed=1)
    other = mw.designs.minimax(5, epsilon=1.1).mask([0, 1], seed=1).tally()
    refused(mw.ReportError, "different designs", lambda: mw.Tally.merge([first.tally(), other]))
    refused(mw.ReportError, "weighted", lambda: mw.Tally.merge([first.tally(), first.tally(weights=[1, 1])]))
    refused(mw.ReportError, "no tallies", lambda: mw.Tally.merge([]))


@pytest.mark.parametrize(
    "counts",
    [[1, 2], [[1, 2, 3, 4]], [1, 2, 3, -1], [1, 2, np.nan, 4], [1, 2, np.inf, 4], ["1", "2", "3", "4"], None, 7],
)
def test_counts_that_are_none(counts: Any) -> None:
    refused(mw.ReportError, "counts", lambda: mw.Tally.from_counts(DESIGNS["codes"], counts))


def test_counts_of_a_report_that_cannot_occur() -> None:
    """The message names the row of the matrix."""
    design = mw.designs.from_matrix([["1/2", "0"], ["0", "0"], ["1/2", "1"]])
    assert mw.Tally.from_counts(design, [1, 0, 2]).n == 3
    refused(mw.ReportError, "row 1", lambda: mw.Tally.from_counts(design, [0, 1, 2]))


def test_counts_beyond_the_exact_floats_stay_exact() -> None:
    tally = mw.Tally.from_counts(mw.designs.direct(2), [2**53 + 1, 3])
    assert tally.counts.tolist() == [[2**53 + 1, 3, 2**53 + 4]]
    assert tally.n == 2**53 + 4


def test_no_reports_no_estimate() -> None:
    refused(mw.EstimationError, "no reports", lambda: mw.estimate(SETS.mask([], seed=1)))
    refused(mw.EstimationError, "Tally or Reports", lambda: mw.estimate([1, 2, 3]))
    refused(mw.EstimationError, "method", lambda: mw.estimate(SETS.mask([1], seed=1), "magic"))


def test_estimates_are_not_clipped() -> None:
    """Unbiased estimates leave [0, 1] when chance wants it so; a projection is asked for and says what it is."""
    design = DESIGNS["codes"]
    estimate = mw.estimate(mw.Tally.from_counts(design, [50, 0, 0, 0]))
    assert estimate.proportions[0] > 1
    assert estimate.proportions[1] < 0
    assert estimate.proportions.sum() == pytest.approx(1, abs=1e-12)
    projection = estimate.projected()
    assert projection.proportions.tolist() == [1, 0, 0, 0]
    assert "biased" in projection.label


@pytest.mark.parametrize(
    ("design", "counts"),
    [
        (mw.designs.local_diversity(7, l=6), [1, 1, 1, 1, 1, 1, 0]),
        (mw.designs.uniform_subsets(5), [1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0]),
    ],
)
def test_standard_errors_are_numbers(design: mw.Design, counts: list[int]) -> None:
    """Everyone reported category 0: its variance is 0, and round-off must not turn its root into nan."""
    for method in ("linear", "moments"):
        estimate = mw.estimate(mw.Tally.from_counts(design, counts), method)
        assert np.isfinite(estimate.standard_errors).all()
        if method == "moments":
            assert estimate.standard_errors[0] == pytest.approx(0, abs=1e-6)
        assert np.isfinite(estimate.interval()).all()


def test_reports_of_different_questions_are_not_counted_together() -> None:
    """Under one key the same person's reports of two questions are of two answers, and of one design none tells."""
    key, ids = bytes(32), ["a", "b", "c"]
    first, second = (SETS.mask([0, 1, 2], key=key, ids=ids, question=asked) for asked in ("drugs", "drink"))
    with pytest.raises(mw.ReportError, match=r"'drink' and 'drugs'; estimate them apart"):
        mw.Tally.merge([first.tally(), second.tally()])
    unknown = SETS.mask([0, 1, 2]).tally()
    for parts in ([first.tally(), unknown], [unknown, first.tally()]):
        assert mw.Tally.merge(parts).question == "drugs"
        with pytest.raises(mw.ReportError, match="different questions"):
            mw.Tally.merge([mw.Tally.merge(parts), second.tally()])
    assert mw.Tally.merge([first.tally(), first.tally()], different_people=True).n == 6


def test_a_marginal_is_of_no_question_of_its_own() -> None:
    pair = mw.designs.product(mw.designs.direct(2), mw.designs.direct(2))
    tally = pair.mask([[0, 1], [1, 1]], question="both").tally()
    assert (tally.question, tally.marginal("x1").question) == ("both", None)


@pytest.mark.parametrize("k", [2, 7, 8, 9, 15, 16, 17, 64, 65, 130])
@pytest.mark.parametrize("sizes", ["one", "all"])
def test_sets_are_counted_as_they_are_by_hand(k: int, sizes: str) -> None:
    """Few and many sets, narrow and wide, in the last places of a byte and of a word."""
    generator = np.random.Generator(np.random.PCG64(k))
    bits = generator.random((1 << 16, k)) < 0.4
    index = np.arange(k + 1) if sizes == "all" else np.zeros(k + 1, np.int64)
    shape = (k + 1 if sizes == "all" else 1, k + 1)
    for n in (0, 1, 300, 1 << 16):
        expected = np.zeros(shape, np.int64)
        np.add.at(expected[:, :k], index[bits[:n].sum(axis=1)], bits[:n].astype(np.int64))
        np.add.at(expected[:, k], index[bits[:n].sum(axis=1)], 1)
        counts = count_sets(np.packbits(bits[:n], axis=1, bitorder="little"), index, shape)
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts, expected)


def test_a_folder_or_a_pattern_is_told_where_it_is_counted(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "*.parquet"):
        with pytest.raises(mw.ReportError, match=r"(is a folder|stands for many files).* mw\.engines\.tally"):
            mw.Tally.read(path)
