"""Closed forms of channels against their definition: the exact rows alone, through the base class."""

import dataclasses
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs.channels import Channel, ProductChannel, SizeRow, SymmetricChannel, TableChannel
from maskwell.designs.channels.exchange import ExchangeChannel
from maskwell.designs.channels.numbers import Exact
from maskwell.designs.channels.stages import StageChannel, chained, stage
from maskwell.ordering.admissibility import admissible
from maskwell.ordering.improvement import improvement
from maskwell.release.drawing import applied
from maskwell.release.identification.theta import exchange
from maskwell.sampling.entropy import Source
from tests.conformance.members import PRODUCTS
from tests.statistics_helpers import fit_test
from tests.unusual_designs import ALL

EVERY = {**ALL, **PRODUCTS}
TOTAL = 1 << 64
# Channels that no design has: those of a release.
DRAWN: dict[str, StageChannel | ExchangeChannel] = {
    "stage": stage([[3, 1, 0], [1, 5, 2], [1, 0, 7]]),
    "stage of 2^64": stage([[TOTAL - 2, 1], [2, 2]]),
    "one block": exchange(np.array([0, 4]), np.array([1, 2, 2, 1]), Fraction(1, 2)),
    "blocks": exchange(np.array([0, 3, 5]), np.array([1, 2, 2, 1, 1]), Fraction(3, 4)),
}
TWO_STAGES = chained(stage([[4, 1, 1], [1, 3, 1], [1, 1, 9]]), stage([[7, 1, 2], [2, 5, 2], [0, 3, 1]]))
CHANNELS = {title: design.channel for title, design in EVERY.items()} | DRAWN | {"two stages": TWO_STAGES}


@dataclasses.dataclass(frozen=True, eq=False)
class Enumerated(Channel):
    """The rows of another channel, without what it knows about them."""

    rows: Exact

    def exact(self) -> Exact:
        return self.rows


def enumerated(channel: Channel) -> Enumerated:
    return Enumerated(channel.k, channel.name, channel.exact())


@pytest.fixture(params=CHANNELS.values(), ids=CHANNELS.keys(), scope="module")
def channel(request: pytest.FixtureRequest) -> Channel:
    found: Channel = request.param
    return found


def test_exact_figures(channel: Channel) -> None:
    rows = enumerated(channel)
    assert channel.parity == rows.parity
    assert channel.column_distance == rows.column_distance
    assert channel.diversity == rows.diversity
    assert channel.report_count() == rows.report_count()
    assert channel.exposure().chance == rows.exposure().chance
    assert channel.proportional_rows() == rows.proportional_rows()
    assert channel.rank == rows.rank
    assert channel.always_certain == rows.always_certain
    assert sorted(p for _, p, n in channel.row_classes() for _ in range(n)) == sorted(
        p for _, p, _ in rows.row_classes()
    )


def test_what_reports_do_to_the_odds_of_a_truth(channel: Channel) -> None:
    rows = enumerated(channel)
    strongest = set()
    for truth in range(channel.k):
        factors = {shift.factor for shift in rows.shifts(truth)}
        assert {shift.factor for shift in channel.shifts(truth)} == factors
        strongest.add(max(factors))
    if channel.truths_alike:
        assert len(strongest) == 1


def test_figures_in_floats(channel: Channel) -> None:
    rows = enumerated(channel)
    np.testing.assert_allclose(channel.floats, rows.floats, rtol=1e-14)
    if math.isfinite(rows.condition_number):
        assert channel.condition_number == pytest.approx(rows.condition_number, rel=1e-9)
    else:
        assert math.isinf(channel.condition_number)
    falling = 1 / np.arange(1, channel.k + 1)
    for prior in (None, falling / falling.sum()):
        mine, theirs = channel.leakage(prior), rows.leakage(prior)
        assert mine.size() == pytest.approx(theirs.size(), abs=1e-12)
        assert float(mine.prediction()) == pytest.approx(float(theirs.prediction()), rel=1e-12)
        assert mine.largest_posterior() == pytest.approx(theirs.largest_posterior(), rel=1e-12)
        low, high = mine.mutual_information()
        assert low - 1e-10 <= theirs.mutual_information().middle <= high + 1e-10


def test_deviations_from_what_a_demand_allows(channel: Channel) -> None:
    rows = enumerated(channel)
    if 1 < channel.parity < math.inf:
        mine, theirs = (max(d.deviation for d in c.parity_deviations(channel.parity)) for c in (channel, rows))
        # By size the slack is what the ratio lacks; by row it may be how far a value lies between the two allowed.
        assert (mine > 1e-9) == (theirs > 1e-9)
        assert mine <= theirs + 1e-9
    if reach := float(channel.column_distance):
        mine, theirs = (max(d.deviation for d in c.distance_deviations(reach)) for c in (channel, rows))
        assert mine == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("title", [title for title, design in EVERY.items() if math.isfinite(design.added_variance)])
def test_scores_against_their_rows(title: str) -> None:
    """Extremes, mean squares and moments by truth, from the scores of every report."""
    design = EVERY[title]
    scores, P = design.scores("linear"), design.matrix()
    table = scores.rows(design.pack_rows(np.arange(design.report_count())))
    possible = table[P.any(axis=1)]
    assert scores.extremes() == pytest.approx((possible.min(), possible.max()), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(scores.mean_squares(), (table**2).T @ P, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores.by_truth(), np.einsum("zi,zj,zt->ijt", table, table, P), rtol=1e-8, atol=1e-10)
    if (line := scores.common_line()) is not None:
        np.testing.assert_allclose(scores.mean_squares(), line[0] + line[1] * np.eye(design.k), rtol=1e-12)
    uniform = np.full(design.k, 1 / design.k)
    masked = float(np.trace(scores.second_moment(uniform))) - 1 / design.k
    assert design.worth == pytest.approx((1 - 1 / design.k) / masked)


def test_classes_of_rows_are_called_by_size_or_by_label() -> None:
    cut = mw.designs.projective(10, gamma=2)
    by_size = mw.audit(cut).row_parities()
    sizes = [len(cut.members(report)) for report in cut.report_labels()]
    assert {row.report: row.rows for row in by_size} == {size: sizes.count(size) for size in set(sizes)}
    assert admissible(mw.designs.rappor(10, epsilon=1)).why.startswith("the empty set has chance ")
    kuk = mw.designs.kuk(red_if_yes=0.8, red_if_no=0.2, draws=2)
    assert [row.report for row in mw.audit(kuk).row_parities()] == kuk.report_labels()


def test_a_design_that_cannot_be_improved_needs_no_table() -> None:
    many = mw.designs.projective(100_000, epsilon=1)
    found = improvement(many)
    assert found.design is many
    with pytest.raises(mw.DesignError, match="cells"):
        _ = found.C
    few = mw.designs.minimax(4, epsilon=1)
    np.testing.assert_array_equal(improvement(few).C, np.eye(few.report_count()))


def test_one_report_is_packed_as_it_is_shown() -> None:
    for design in EVERY.values():
        rows = np.flatnonzero(design.matrix().any(axis=1))
        labels = design.report_labels()
        packed = design.pack_rows(rows)
        for at, row in enumerate(rows.tolist()):
            np.testing.assert_array_equal(design.pack(labels[row]), packed[at : at + 1])
            assert design.exact_row(labels[row]) == list(design.matrix(exact=True)[row])


@pytest.mark.parametrize("title", DRAWN)
def test_a_release_draws_the_chances_of_its_channel(title: str) -> None:
    """Every truth 40,000 times, each with a chance of a false alarm of 1e-8."""
    channel, n = DRAWN[title], 40_000
    for truth in range(channel.k):
        drawn = applied(channel, np.full(n, truth), Source(seed=truth + 1).stream("", n))
        observed, chances = np.bincount(drawn, minlength=channel.k), channel.floats[:, truth]
        assert not observed[chances == 0].any()
        assert fit_test(observed, chances, 1e-8).p_value > 1e-8


def test_a_size_says_how_it_favours_the_truth() -> None:
    row = SizeRow(2, 3, 9)
    assert row.weight == 12
    assert row.odds(5) == Fraction(3 * 3, 9 * 2)
    assert row.parity(5) == 2
    assert row.favouring(5) == row.complement(5) == SizeRow(3, 9, 3)
    assert row.complement(5).odds(5) == 2
    assert SizeRow(2, 1, 0).odds(5) == SizeRow(2, 0, 1).parity(5) == math.inf
    assert SizeRow(0, 0, 4).parity(5) == SizeRow(5, 4, 0).parity(5) == 1
    assert [SizeRow(2, 1, 0).possible(5), SizeRow(2, 0, 1).possible(5), SizeRow(2, 1, 1).possible(5)] == [2, 3, 5]


# One computation of each exact figure.


@pytest.fixture
def parities(monkeypatch: pytest.MonkeyPatch) -> list[Channel]:
    """Every channel whose exact parity was computed, as often as it was."""
    computed: list[Channel] = []
    for kind in (Channel, SymmetricChannel, ProductChannel, TableChannel):
        prop = vars(kind).get("parity")
        if prop is not None:
            original = prop.func
            monkeypatch.setattr(prop, "func", lambda self, f=original: (computed.append(self), f(self))[1])
    return computed


@pytest.mark.parametrize(
    "make",
    [
        lambda: mw.designs.rappor(5, epsilon=1),
        lambda: mw.designs.warner(truth_prob=0.8),
        lambda: mw.designs.product(mw.designs.minimax(4, epsilon=1), mw.designs.kuk(red_if_yes=0.8, red_if_no=0.4)),
    ],
)
def test_an_audit_computes_the_exact_parity_once(make: Any, parities: list[Channel]) -> None:
    from maskwell.views.pages.audit import audit_page

    design = make()
    parities.clear()
    audit = mw.audit(design)
    audit.summary()
    audit.to_dict()
    repr(design)
    repr(audit)
    audit_page(audit)
    mw.codebook(design)
    # An improved design beside it has a parity of its own; nobody's is computed twice.
    assert sum(channel is design.channel for channel in parities) == 1
    assert len(parities) == len({id(channel) for channel in parities})


@pytest.mark.parametrize("option", [[], ["--json"], ["--explain", "respondent"], ["--html", "page.html"]])
def test_the_command_computes_the_exact_parity_once(
    option: list[str], tmp_path: Path, parities: list[Channel], monkeypatch: pytest.MonkeyPatch
) -> None:
    from maskwell.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.json").write_text(mw.designs.rappor(5, epsilon=1).to_json())
    parities.clear()
    assert main(["audit", "design.json", *option]) == 0
    assert [channel.name for channel in parities].count("rappor") == 1


def test_showing_a_design_computes_nothing_twice(monkeypatch: pytest.MonkeyPatch, parities: list[Channel]) -> None:
    design = mw.designs.from_matrix([["2/3", "1/3", "1/3"], ["1/3", "2/3", "1/3"], [0, 0, "1/3"]])
    asked: list[str] = []
    original = type(design).estimator
    monkeypatch.setattr(
        type(design), "estimator", lambda self, method: (asked.append(method), original(self, method))[1]
    )
    assert repr(design) == repr(design)
    design._repr_html_()
    assert asked == ["linear"]
    assert len(parities) == 1


def test_a_product_compares_the_truths_of_its_variables_in_either_order() -> None:
    """A variable whose first label is the certain one, beside one whose second is: (a, d) and (b, c) lie farthest."""
    one = mw.designs.from_matrix([["1", "1/2"], ["0", "1/2"]], reports=["x", "y"])
    other = mw.designs.from_matrix([["1/2", "1"], ["1/2", "0"]], reports=["x", "y"])
    joint = mw.designs.product(one, other).answering(mw.AverageSecurity(Fraction(3, 2)))
    assert joint.column_distance() == enumerated(joint.channel).column_distance == Fraction(3, 2)
    with pytest.raises(mw.DesignError, match="which its integers do not give"):
        mw.Design.from_json(joint.to_json())


def test_a_product_whose_parity_no_float_holds_can_be_stored() -> None:
    joint = mw.designs.product(*[mw.designs.gamma_diagonal(2, gamma=2**62)] * 18)
    assert mw.Design.from_json(joint.to_json()) == joint
    assert joint.parity == math.inf > joint.epsilon
