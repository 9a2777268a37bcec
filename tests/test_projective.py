"""Designs without a list: geometry by enumeration, sums by convolution, and a million categories."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import ProjectiveDesign
from maskwell.designs.channels import Channel
from maskwell.designs.geometry.cycle import cycle
from maskwell.designs.geometry.space import Space, is_order
from maskwell.designs.rounding import split_at_parity
from maskwell.sampling import projective_kernels

SPACES = [(2, 2), (2, 3), (2, 5), (3, 3), (3, 4), (4, 3), (4, 4), (5, 3), (7, 3), (8, 3), (13, 2), (16, 2)]
GAMMA = Fraction("2.718281828459045")

every_space = pytest.mark.parametrize(("q", "t"), SPACES)


def design_of(q: int, t: int, k: int, gamma: Fraction = GAMMA) -> ProjectiveDesign:
    space = Space(q, t)
    _, (inside,), (outside,) = split_at_parity(space.points, {space.through: Decimal(1)}, gamma)
    return ProjectiveDesign(tuple(range(k)), q, t, inside, outside, name="given")


@every_space
def test_points_are_numbered_and_found_again(q: int, t: int) -> None:
    space = Space(q, t)
    vectors = space.vectors(np.arange(space.points))
    assert len(np.unique(vectors, axis=0)) == space.points
    assert all(row[row != 0][0] == 1 for row in vectors)
    np.testing.assert_array_equal(space.numbers(vectors), np.arange(space.points))


@every_space
def test_hyperplanes_are_drawn_alike_with_and_without_a_list(q: int, t: int) -> None:
    """Many records of a small space are drawn from a list of its hyperplanes; the reports are the same bits."""
    sampler, unlisted = (design_of(q, t, Space(q, t).points).sampler for _ in range(2))
    points = Space(q, t).points
    truth = np.arange(points**2, dtype=np.uint32) % points
    for stride in (3, 4, 5):
        words = np.random.Generator(np.random.PCG64(stride)).integers(0, 1 << 32, stride * len(truth), np.uint32)
        listed, one_by_one = sampler.empty(len(truth)), sampler.empty(len(truth))
        exhausted, none = np.zeros(len(truth), np.uint8), np.zeros(1, np.uint8)
        sampler.run(truth, words, stride, listed, exhausted)
        for i in range(0, len(truth), 7):
            none[0] = 0
            unlisted.run(truth[i : i + 1], words[stride * i :], stride, one_by_one[i : i + 1], none)
            assert none[0] == exhausted[i]
            assert exhausted[i] or listed[i] == one_by_one[i]
    assert "_listed" in vars(sampler)
    assert "_listed" not in vars(unlisted)


def test_a_record_that_is_drawn_again_comes_from_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one pick in a billion would wait for another kernel to be compiled, in the middle of a draw."""
    sampler = design_of(3, 3, 10).sampler
    rejected = np.array([0, 2**32 - 1, 0, 5], np.uint32)  # past the truth, a pick of 0 among 9 and then another
    out, exhausted, again = sampler.empty(200), np.zeros(200, np.uint8), np.zeros(1, np.uint8)
    sampler.run(np.zeros(200, np.uint32), np.tile(rejected[:3], 200), 3, out, exhausted)
    assert exhausted.all()
    monkeypatch.setattr(projective_kernels, "hyperplanes", None)
    sampler.run(np.zeros(1, np.uint32), rejected, 4, out[:1], again)
    assert not again[0]


@every_space
def test_hyperplanes_are_a_balanced_design(q: int, t: int) -> None:
    space = Space(q, t)
    held = space.incidence(space.points).astype(int)
    np.testing.assert_array_equal(held, held.T)
    together = (space.through - space.through_two) * np.eye(space.points, dtype=int) + space.through_two
    np.testing.assert_array_equal(held.T @ held, together)


@every_space
def test_sums_over_hyperplanes_are_exact(q: int, t: int) -> None:
    space = Space(q, t)
    held = space.incidence(space.points)
    counts = np.random.default_rng(1).integers(0, 1 << 50, space.points)
    np.testing.assert_array_equal(cycle(space).whole_sums(counts), counts @ held)
    weights = np.random.default_rng(2).random(space.points)
    np.testing.assert_allclose(cycle(space).sums(weights), weights @ held, rtol=1e-12)


@pytest.mark.parametrize(("q", "t"), [(4, 9), (53, 4), (1009, 3)])
def test_the_cycle_meets_every_point_of_a_large_space_once(q: int, t: int) -> None:
    space = Space(q, t)
    walked = cycle(space)
    for order in (walked.point, walked.hyperplane):
        np.testing.assert_array_equal(np.sort(order), np.arange(space.points))
    assert walked.zeros.sum() == space.through
    counts = np.random.default_rng(1).integers(0, 1 << 40, space.points)
    sums = walked.whole_sums(counts)
    for point in (0, space.points // 3, space.points - 1):
        assert sums[point] == counts[space.holds_point(np.arange(space.points), point)].sum()


@every_space
def test_every_pick_gives_another_hyperplane(q: int, t: int) -> None:
    """One record for each pick, in the middle of its share of the words: a bijection, so reports are uniform."""
    space = Space(q, t)
    held = space.incidence(space.points)
    sampler = design_of(q, t, space.points).sampler
    for truth, inside in itertools.product(range(space.points), (True, False)):
        picks = space.through if inside else space.points - space.through
        words = np.zeros((picks, 3), np.uint32)
        words[:, :2] = 0 if inside else (1 << 32) - 1
        words[:, 2] = [((2 * i + 1) << 32) // (2 * picks) for i in range(picks)]
        out, exhausted = sampler.empty(picks), np.zeros(picks, np.uint8)
        sampler.run(np.full(picks, truth, np.uint32), words.ravel(), 3, out, exhausted)
        assert not exhausted.any()
        np.testing.assert_array_equal(np.sort(out), np.flatnonzero(held[:, truth] == inside))


@pytest.mark.parametrize(("q", "t", "k", "printed"), [(3, 3, 13, 40.2355), (4, 3, 21, 69.662), (3, 4, 28, 99.265)])
def test_added_variance_as_enumerated(q: int, t: int, k: int, printed: float) -> None:
    """At γ = e; with every point a category and the best share 1/q it is the minimax design's."""
    design = design_of(q, t, k)
    assert design.added_variance == pytest.approx(printed, abs=6e-4)
    scores = design.estimator("linear")
    by_truth = (scores**2).sum(axis=0) @ design.matrix() - 1
    assert design.added_variance == pytest.approx(by_truth.max(), rel=1e-12)


PARTLY = [(3, 3, 13), (4, 3, 21), (4, 3, 18), (3, 4, 15), (2, 5, 17), (5, 3, 8), (2, 4, 15)]


@pytest.mark.parametrize(("q", "t", "k"), PARTLY)
def test_closed_forms_are_those_of_the_table(q: int, t: int, k: int) -> None:
    """Every figure of the channel against the same figure from its exact rows."""
    channel = design_of(q, t, k).channel

    class Table(Channel):
        def exact(self):  # type: ignore[no-untyped-def]
            return channel.exact()

    table = Table(k, "table")
    assert channel.parity == table.parity
    assert channel.exposure() == table.exposure()
    assert channel.column_distance == table.column_distance
    assert channel.diversity == table.diversity
    assert channel.rank == table.rank
    assert channel.best_guesses() == table.best_guesses()
    assert channel.always_certain == table.always_certain
    assert channel.proportional_rows() == table.proportional_rows()
    assert channel.condition_number == pytest.approx(table.condition_number, rel=1e-9)
    np.testing.assert_array_equal(channel.floats, table.floats)
    for row in (0, 1, channel.report_count() - 1):
        assert channel.exact_row(row) == table.exact_row(row)
    found = {entry.at: entry.rows for entry in channel.row_classes()}
    sizes, counts = np.unique((channel.exact() == channel.member).sum(axis=1), return_counts=True)
    assert found == dict(zip(sizes.tolist(), counts.tolist(), strict=True))
    prior = np.arange(1, k + 1) / (k * (k + 1) / 2)
    for weights in (None, prior):
        ours, theirs = channel.leakage(weights), table.leakage(weights)
        assert float(ours.prediction()) == pytest.approx(float(theirs.prediction()), rel=1e-12)
        assert ours.mutual_information().middle == pytest.approx(theirs.mutual_information().middle, rel=1e-9)
        assert ours.largest_posterior() == pytest.approx(theirs.largest_posterior(), rel=1e-12)
        assert ours.size() == pytest.approx(theirs.size(), abs=1e-12)


def test_the_capacity_without_a_table_encloses_the_one_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    leakage = design_of(4, 3, 18).channel.leakage(None)
    exact = leakage.capacity()
    monkeypatch.setattr("maskwell.designs.channels.hyperplanes._TABLE_CELLS", 0)
    wide = leakage.capacity()
    assert wide.lower <= exact.upper + 1e-12
    assert wide.upper >= exact.lower - 1e-12


@pytest.mark.parametrize("k", [100, 1000, 40_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_the_order_is_chosen_near_the_best_share(k: int, epsilon: float) -> None:
    design = mw.designs.projective(k, epsilon=epsilon)
    best = mw.designs.minimax(k, epsilon=epsilon)
    price = (math.exp(epsilon) + design.q - 1) ** 2 / (4 * math.exp(epsilon) * (design.q - 1))
    # Beside the price of the share, that of the points to spare; at 100 categories it is a few per cent.
    assert design.added_variance / best.added_variance <= price * (1 + (1 + math.exp(epsilon)) / k)
    assert design.exact_parity() <= best.demand.exact_bound()
    assert mw.audit(design).demand_holds


def test_every_report_of_a_design_tells_something() -> None:
    """Points are numbered so that a hyperplane holds some category and not all, and the design is admissible."""
    for k, epsilon in itertools.product((5, 14, 40, 90, 300), (0.2, 1.0, 3.0)):
        design = mw.designs.projective(k, epsilon=epsilon)
        sizes = design.channel.set_sizes
        assert 0 < sizes.min() <= sizes.max() < k
        assert mw.audit(design).admissible


def test_a_million_categories() -> None:
    """Masked, counted and estimated without a table; the largest error of the true ones within five standard errors."""
    k, n = 1_000_000, 1_000_000
    design = mw.designs.projective(k, epsilon=1)
    minimax = 4 * math.e / (math.e - 1) ** 2 * k  # the limit for many categories
    assert design.added_variance == pytest.approx(minimax, rel=0.01)
    truths = np.where(np.arange(n) % 2 == 0, 77, 999_999)
    estimate = mw.estimate(design.mask(truths, seed=4))
    for category in (77, 999_999):
        # Two figures at five standard errors: a false alarm once in 900,000 seeds, and the seed is fixed.
        assert abs(estimate.proportions[category] - 0.5) < 5 * estimate.standard_errors[category]
    # Over a million others the squared errors average to the variance that is claimed, within .5 % (their sum has a
    # relative deviation of .14 %).
    rest = np.delete(np.arange(k), [77, 999_999])
    found = (estimate.proportions[rest] ** 2).mean()
    stated = design.scores("linear")
    assert found == pytest.approx(stated.common_line()[0] / n, rel=0.007)


def test_it_is_stored_explained_compared_and_counted(tmp_path) -> None:  # type: ignore[no-untyped-def]
    design = mw.designs.projective(["a", "b", "c", "d", "e"], epsilon=1)
    assert mw.Design.from_json(design.to_json()) == design
    reports = design.mask(["a", "e", None, "c"], seed=1, missing="keep")
    for name in ("reports.parquet", "reports.csv"):
        reports.write(tmp_path / name)
        assert mw.Reports.read(tmp_path / name).decode() == reports.decode()
    assert all(set(design.members(label)) <= set("abcde") for label in design.report_labels())
    assert str(mw.explain(design))
    assert mw.codebook(design, "answer").to_markdown()
    assert mw.audit(design).summary()
    likelihood = mw.estimate(design.mask(["a"] * 4000 + ["b"] * 4000, seed=2), method="likelihood")
    # Five categories, five standard errors of at most .02.
    assert np.abs(likelihood.proportions - [0.5, 0.5, 0, 0, 0]).max() < 0.1
    assert not mw.audit_sampler(design, n=20_000, seed=2).flagged


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"q": 6}, "prime"),
        ({"q": 9}, "prime"),
        ({"q": 8192}, "prime"),
        ({"q": 1}, "q and t"),
        ({"t": 1}, "q and t"),
        ({"t": 2}, "points"),
        ({"t": 60}, "points"),
        ({"t": 10**9}, "points"),
        ({"inside": 0, "outside": 1 << 64}, "weights"),
        ({"inside": 1 << 64, "outside": 0}, "weights"),
        ({"inside": 5}, "sum"),
        ({"q": 3.0}, "q and t"),
        ({"q": True}, "q and t"),
    ],
)
def test_what_is_not_a_projective_design_is_refused(changed: dict[str, object], reason: str) -> None:
    given = {"q": 3, "t": 3, "inside": 1 << 62, "outside": 3 << 62, **changed}
    with pytest.raises(mw.DesignError, match=reason):
        ProjectiveDesign(tuple(range(13)), name="given", **given)


@pytest.mark.parametrize("report", ["h13", "h-1", "h01", "13", 3, "h", None, "h99999999999"])
def test_what_is_not_a_report_is_refused(report: object) -> None:
    with pytest.raises(mw.ReportError, match="h0 to h12"):
        mw.designs.projective(13, epsilon=1).pack(report)


def test_orders() -> None:
    assert [q for q in range(1, 33) if is_order(q)] == [2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23, 29, 31, 32]
    assert not is_order(65537)
    assert is_order(65521)
