"""Repeated collection: exact parities of many rounds, an attack on a thousand of them, changes, and the ledger."""

import itertools
import json
import math
import pickle
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom

import maskwell as mw
from maskwell import rounds
from maskwell.designs import LayeredBits, LayeredDesign, LayeredTables
from maskwell.designs.channels import Channel
from maskwell.designs.layered.base import MOST_ROUNDS
from maskwell.designs.layered.bit_channel import BitChannel
from maskwell.reports.joint import side_by_side
from maskwell.sampling.samplers import TOTAL
from tests.conformance import checks, sampling_checks

KEY = bytes(range(32))
GENERAL = rounds.layers(
    mw.designs.from_matrix([["1/2", "1/4"], ["1/4", "1/4"], ["1/4", "1/2"]]),
    mw.designs.from_matrix([["5/8", "1/4", "1/8"], ["3/8", "3/4", "7/8"]]),
)
PAIRS: dict[str, LayeredDesign] = {
    "k-ary": rounds.kary(["a", "b", "c"], longitudinal=2, per_round=1),
    "bits": rounds.unary(["a", "b", "c"], longitudinal=2, per_round=1),
    "rappor": rounds.rappor(4, f=0.5, p=0.5, q=0.75),
    "warner": rounds.layers(mw.designs.warner(truth_prob=0.75), mw.designs.warner(truth_prob=0.8)),
    "general": GENERAL,
}
every_pair = pytest.mark.parametrize("design", PAIRS.values(), ids=PAIRS)


def second_layer(design: LayeredDesign) -> np.ndarray:
    """The exact chance of each report given each permanent one, from the integers that are drawn."""
    if isinstance(design, LayeredTables):
        return np.array([[Fraction(w, TOTAL) for w in row] for row in design.second], dtype=object)
    assert isinstance(design, LayeredBits)
    one, zero = (Fraction(w, TOTAL) for w in design.second)
    masks = BitChannel(design.k, "", one, zero).masks()

    def chance(sent: int, kept: int) -> Fraction:
        bits = [(sent >> j & 1, one if kept >> j & 1 else zero) for j in range(design.k)]
        return math.prod((p if bit else 1 - p for bit, p in bits), start=Fraction(1))

    return np.array([[chance(sent, kept) for kept in masks] for sent in masks], dtype=object)


@every_pair
def test_one_round_is_the_product_of_the_layers(design: LayeredDesign) -> None:
    composed = second_layer(design) @ design.permanent.matrix(exact=True)
    np.testing.assert_array_equal(design.matrix(exact=True), composed)
    assert design.parity_of_rounds(1).value == design.exact_parity()


@every_pair
def test_the_conformance_suite_holds(design: LayeredDesign) -> None:
    """Matrix, privacy, storage and estimators by enumeration; samplers by a chi-square per truth, 1e-6 in all."""
    for part in (design, design.permanent):
        checks.check_matrix(part)
        checks.check_privacy(part)
        checks.check_json(part)
        checks.check_unbiased(part)
        checks.check_covariance(part)
        checks.check_added_variance(part)
        sampling_checks.check_one_form(part)
        sampling_checks.check_sampler(part, n=100_000, false_alarm=1e-6 / 40, worst_error=0.03)


@every_pair
def test_closed_forms_are_those_of_the_table(design: LayeredDesign) -> None:
    channel = design.channel

    class Table(Channel):
        def exact(self):  # type: ignore[no-untyped-def]
            return channel.exact()

    table = Table(design.k, "table")
    for figure in ("parity", "column_distance", "diversity", "rank", "always_certain"):
        assert getattr(channel, figure) == getattr(table, figure), figure
    assert channel.exposure() == table.exposure()
    assert channel.best_guesses() == table.best_guesses()
    assert channel.condition_number == pytest.approx(table.condition_number, rel=1e-9)
    if design is not GENERAL:
        assert channel.proportional_rows() == table.proportional_rows()


def test_leakage_of_many_bits_is_that_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = rounds.unary(7, longitudinal=2, per_round=1).channel
    prior = np.arange(1, 8) / 28
    for weights in (None, prior):
        exact = channel.leakage(weights)
        monkeypatch.setattr("maskwell.designs.layered.bit_channel._TABLE_CATEGORIES", 0)
        by_size = channel.leakage(weights)
        monkeypatch.undo()
        assert float(by_size.prediction()) == pytest.approx(float(exact.prediction()), rel=1e-12)
        assert by_size.mutual_information().middle == pytest.approx(exact.mutual_information().middle, rel=1e-6)
        assert by_size.largest_posterior() == pytest.approx(exact.largest_posterior(), rel=1e-9)


@pytest.mark.parametrize(("name", "count"), [("k-ary", 4), ("bits", 3), ("rappor", 2), ("warner", 6), ("general", 5)])
def test_the_parity_of_rounds_by_every_sequence(name: str, count: int) -> None:
    """The chance of each sequence of reports, summed over permanent reports, in fractions."""
    design = PAIRS[name]
    first, second = design.permanent.matrix(exact=True), second_layer(design)
    found = Fraction(1)
    for sequence in itertools.combinations_with_replacement(range(len(second)), count):
        chances = np.prod(second[list(sequence)], axis=0) @ first
        found = max(found, max(chances) / min(chances))
    assert design.parity_of_rounds(count) == (found, True)


@every_pair
def test_more_rounds_tell_more_but_never_more_than_the_permanent_report(design: LayeredDesign) -> None:
    limit = design.longitudinal_parity()
    found = [design.parity_of_rounds(count).value for count in (1, 2, 3, 10, 40)]
    assert found == sorted(found)
    assert found[0] < found[-1] <= limit
    assert found[-1] < design.parity_of_rounds(MOST_ROUNDS + 1).value <= limit
    if design is not GENERAL:
        assert float(design.parity_of_rounds(1000).value) == pytest.approx(float(limit), rel=1e-9)


@pytest.mark.parametrize("make", [rounds.kary, rounds.unary])
def test_any_number_of_rounds_has_a_parity_in_no_time(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Powers that are rounded up stand in for those of exact integers: never below them, and by less than a digit."""
    weak = make(4, longitudinal=2, per_round=Fraction(1, 1000))
    for count in (1, 7, 500, 2000):
        exact = weak.parity_of_rounds(count)
        with monkeypatch.context() as patch:
            patch.setattr("maskwell.designs.layered.base.MOST_ROUNDS", 0)
            bound = weak.parity_of_rounds(count)
        assert exact.exact
        assert not bound.exact
        assert exact.value <= bound.value < exact.value * (1 + Fraction(1, 10**20))
    found = [rounds.privacy(weak, count, values=1) for count in (MOST_ROUNDS, MOST_ROUNDS + 1, 10**6, 10**18)]
    epsilons = [one.epsilon for one in found]
    assert epsilons[0] < epsilons[1] < epsilons[0] + 1e-4
    assert epsilons[2:] == [found[0].limit] * 2
    assert found[-1].without_memory == pytest.approx(10**18 * weak.epsilon, rel=1e-12)
    many = rounds.privacy(make(300, longitudinal=2, per_round=1), rounds=4000)
    assert many.epsilon == pytest.approx(600, rel=1e-9)
    rounds.Ledger(limit=1000).spend("daily", many)
    with pytest.raises(mw.DesignError, match="rounds must be a whole number"):
        rounds.privacy(weak, 0)


def test_rounds_that_are_too_many_to_enumerate_have_a_bound() -> None:
    three = mw.designs.from_matrix([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/8"], ["1/4", "1/4", "5/8"]])
    design = rounds.layers(three, three)
    small, large = design.parity_of_rounds(5), design.parity_of_rounds(4000)
    assert small.exact
    assert not large.exact
    assert small.value < large.value == design.longitudinal_parity()


def test_rappors_parameters_give_its_published_formula() -> None:
    """ε∞ = 2 h ln((1 - f/2) / (f/2)) and ε1 = h log(q*(1 - p*) / (p*(1 - q*))) with one bit an answer, h = 1."""
    for f, p, q in ((0.5, 0.5, 0.75), (0.75, 0.5, 0.75), (0.25, 0.35, 0.65)):
        design = rounds.rappor(16, f=f, p=p, q=q)
        assert design.permanent.epsilon == pytest.approx(2 * math.log((1 - f / 2) / (f / 2)), rel=1e-12)
        one, zero = f / 2 * (p + q) + (1 - f) * q, f / 2 * (p + q) + (1 - f) * p
        assert design.epsilon == pytest.approx(math.log(one * (1 - zero) / (zero * (1 - one))), rel=1e-12)


@pytest.mark.parametrize("make", [rounds.kary, rounds.unary])
@pytest.mark.parametrize("k", [2, 3, 20, 300])
@pytest.mark.parametrize(("longitudinal", "per_round"), [(0.2, 0.1), (2, 1), (Fraction(7, 2), 0.3), (1, 1), (8, 5)])
def test_both_demands_hold_and_are_used_up(make: Any, k: int, longitudinal: Any, per_round: Any) -> None:
    design = make(k, longitudinal=longitudinal, per_round=per_round)
    assert mw.LDP(longitudinal).holds_for(design.permanent)
    assert mw.LDP(per_round).holds_for(design)
    assert design.permanent.epsilon == pytest.approx(float(longitudinal), rel=1e-9)
    assert design.epsilon == pytest.approx(float(per_round), rel=1e-9)


def test_a_plan_has_the_least_error_of_its_family_in_one_round_and_in_the_long_run() -> None:
    """Against a grid of permanent chances and every instantaneous pair that gives the same ε of a round."""
    k, kept, sent = 30, math.exp(2), math.exp(1)
    ours = rounds.unary(k, longitudinal=2, per_round=1)
    for own in np.linspace(0.05, 0.95, 19):
        other = own / (own + kept * (1 - own))
        for a in np.linspace(0.05, 0.95, 19):
            b = a / (a + sent * (1 - a))
            if a / b > own / other or (1 - b) / (1 - a) > (1 - other) / (1 - own):
                continue  # no instantaneous layer leads there
            one_round, long_run = (
                (x * (1 - x) + (k - 1) * y * (1 - y)) / (x - y) ** 2 for x, y in ((a, b), (own, other))
            )
            # The best chances depend on k a little; a half is within 2 % of them.
            assert ours.added_variance <= 1.02 * one_round
            assert rounds.long_run_variance(ours) <= 1.02 * long_run
    few = rounds.plan(3, longitudinal=2, per_round=1)
    assert few.kind == "layered tables"
    assert few.added_variance < rounds.unary(3, longitudinal=2, per_round=1).added_variance
    assert few.added_variance == pytest.approx(mw.designs.gamma_diagonal(3, epsilon=1).added_variance, rel=1e-9)
    assert rounds.long_run_variance(few) == pytest.approx(mw.designs.gamma_diagonal(3, epsilon=2).added_variance)


def test_words_become_reports_as_it_is_written() -> None:
    """The rules of docs/sampling_format.md, section 10, in plain Python."""
    words = np.random.default_rng(1).integers(0, 1 << 32, 4000, dtype=np.uint32)

    def numbers(record: int, width: int) -> list[int]:
        own = [int(word) for word in words[record * width : (record + 1) * width]]
        return [own[i] + (own[i + 1] << 32) for i in range(0, width, 2)]

    for design in (PAIRS["bits"], PAIRS["rappor"], PAIRS["k-ary"], GENERAL):
        sampler = design.sampler
        truths = np.arange(40, dtype=np.uint32) % design.k
        out = sampler.empty(40)
        sampler.run(truths, words, sampler.width, out, np.zeros(40, np.uint8))
        for record, truth in enumerate(truths.tolist()):
            drawn = iter(numbers(record, sampler.width))
            if isinstance(design, LayeredBits):
                bits = [int(j == truth) for j in range(design.k)]
                for one, zero in (design.first, design.second):
                    bits = [int(next(drawn) < (one if bit else zero)) for bit in bits]
                assert np.unpackbits(out[record], count=design.k, bitorder="little").tolist() == bits
            else:
                assert isinstance(design, LayeredTables)
                at = truth
                for table in (design.first, design.second):
                    u, sums = next(drawn), itertools.accumulate(row[at] for row in table)
                    at = next(row for row, total in enumerate(sums) if u < total)
                assert out[record] == at


# An attack on a thousand rounds.


def guesses(design: LayeredDesign, counts: np.ndarray) -> np.ndarray:
    """The exact log-likelihood of each truth given how often each permanent coordinate showed what: Bayes-optimal.

    ``counts[person, z]`` for tables, ``counts[person, category]`` (ones, of a thousand) for bits.
    """
    if isinstance(design, LayeredTables):
        second = np.log((np.array(design.second, dtype=object) / TOTAL).astype(float))
        first = np.log((np.array(design.first, dtype=object) / TOTAL).astype(float))
        return np.asarray(logsumexp((counts @ second)[:, :, None] + first[None], axis=1))
    assert isinstance(design, LayeredBits)
    (own, other), (one, zero) = ([w / TOTAL for w in layer] for layer in (design.first, design.second))
    seen = [counts * math.log(p) + (ROUNDS - counts) * math.log1p(-p) for p in (one, zero)]
    by_bit = [np.logaddexp(math.log(bit) + seen[0], math.log1p(-bit) + seen[1]) for bit in (own, other)]
    return np.asarray(by_bit[0] - by_bit[1])  # the truth's bit instead of another's


ROUNDS, PEOPLE = 1000, 2000
ATTACKED = {
    "k-ary": rounds.kary(4, longitudinal=1.5, per_round=1),
    "bits": rounds.unary(4, longitudinal=1.5, per_round=1),
}


def seen_in_rounds(design: LayeredDesign, truths: np.ndarray, remember: bool) -> np.ndarray:
    """What somebody who records a thousand rounds has of each person; a mutant draws the permanent report anew."""
    permanent = design.permanent.mask(truths, key=KEY, ids=np.arange(len(truths)), question="q").packed
    from maskwell.sampling.entropy import Source

    counts = np.zeros((len(truths), design.k))
    for number in range(ROUNDS):
        stream = Source(seed=number).stream("", len(truths))
        if remember:
            sent = design.again(permanent, stream)
        else:
            sent = design.mask(truths, seed=number).packed
        if isinstance(design, LayeredTables):
            counts[np.arange(len(truths)), sent] += 1
        else:
            counts += np.unpackbits(sent, axis=1, count=design.k, bitorder="little")
    return counts


@pytest.mark.parametrize("design", ATTACKED.values(), ids=ATTACKED)
def test_an_attacker_who_averages_a_thousand_rounds_gets_no_further_than_the_bound(design: LayeredDesign) -> None:
    truths = np.arange(PEOPLE) % design.k
    likelihood = guesses(design, seen_in_rounds(design, truths, remember=True))
    bound = math.log(design.parity_of_rounds(ROUNDS).value)
    assert bound <= 1.5
    # Nobody's odds move further than the bound, for any two answers.
    assert (likelihood.max(axis=1) - likelihood.min(axis=1)).max() <= bound + 1e-6
    right = int((likelihood.argmax(axis=1) == truths).sum())
    best = float(mw.audit(design.permanent).exact_guess_probability)
    # As often right as the permanent report allows, and no more: false alarm 1e-6 on each side.
    assert binom.ppf(1e-6, PEOPLE, best) <= right <= binom.isf(1e-6, PEOPLE, best)
    # The attack is a real one: without memory it names nearly everybody.
    mutant = guesses_without_memory(design, seen_in_rounds(design, truths[:200], remember=False))
    assert (mutant.argmax(axis=1) == truths[:200]).mean() > 0.99
    assert (mutant.max(axis=1) - mutant.min(axis=1)).min() > 2 * bound


def guesses_without_memory(design: LayeredDesign, counts: np.ndarray) -> np.ndarray:
    if isinstance(design, LayeredTables):
        return np.asarray(counts @ np.log(design.matrix()))
    a, b = (float(x) for x in (design.channel.own, design.channel.other))
    return np.asarray(counts * math.log(a / b) + (ROUNDS - counts) * math.log((1 - a) / (1 - b)))


# The respondent's side.


def test_a_device_keeps_to_its_permanent_report_and_holds_no_answer() -> None:
    design = rounds.unary(["a secret answer", "b", "c"], longitudinal=3, per_round=2)
    device = rounds.Device(design, "q", key=KEY)
    first = device.report("a secret answer", round=0)
    assert first.design == design
    assert device.report("b", round=0) is first  # one report a round, whatever is asked
    for number in range(1, 5):
        assert len(device.report("a secret answer", round=number)) == 1
    held = pickle.dumps({name: value for name, value in vars(device).items() if name not in ("design", "_last")})
    assert b"secret" not in held
    assert "secret" not in repr(device)
    for wrong in (3, -5):
        with pytest.raises(mw.DataError, match="above 4"):
            device.report("b", round=wrong)
    with pytest.raises(mw.DataError, match="whole number") as refused:
        device.report("a secret answer", round="today")  # type: ignore[arg-type]
    assert "secret" not in str(refused.value)
    with pytest.raises(mw.DataError) as unknown:
        device.report("another secret", round=9)
    assert "another" not in str(unknown.value)
    assert len(rounds.Device(design, "q").key) == 32


def test_rounds_share_the_permanent_part_and_nothing_else() -> None:
    """With a second layer that hardly flips, rounds are nearly equal; a changed answer has a report of its own."""
    design = LayeredBits(tuple("abcd"), (TOTAL // 2, TOTAL // 4), (TOTAL - (1 << 40), 1 << 40), name="given")
    ids = np.arange(500)
    reports = [
        rounds.report(design, list(values) * 125, key=KEY, ids=ids, question="q") for values in ("abcd", "abcd", "bcda")
    ]
    np.testing.assert_array_equal(reports[0].packed, reports[1].packed)
    assert (reports[0].packed != reports[2].packed).any(axis=1).mean() > 0.8
    assert reports[0].randomness == "keyed"
    with pytest.raises(mw.ReportError, match="share their noise"):
        side_by_side({"first": reports[0], "second": reports[1]})
    noisy = rounds.unary(list("abcd"), longitudinal=2, per_round=0.5)
    two = [rounds.report(noisy, list("abcd") * 125, key=KEY, ids=ids, question="q") for _ in range(2)]
    assert (two[0].packed != two[1].packed).any(axis=1).mean() > 0.5
    kept = rounds.report(noisy, ["a", None], key=KEY, ids=[1, 2], question="q", missing="keep", seed=1)
    assert kept.missing is not None
    assert kept.randomness == "seeded"


# Changes.


@every_pair
def test_what_two_rounds_share_by_every_pair_of_reports(design: LayeredDesign) -> None:
    first = design.permanent.matrix()
    second = second_layer(design).astype(float)
    scores = design.estimator("linear")
    joint = np.random.default_rng(2).dirichlet(np.ones(design.k**2)).reshape(design.k, design.k)
    expected = np.zeros((design.k, design.k))
    for x, y in itertools.product(range(design.k), repeat=2):
        pair = (second * first[:, x]) @ second.T if x == y else np.outer(second @ first[:, x], second @ first[:, y])
        expected += joint[x, y] * scores @ pair @ scores.T
    np.testing.assert_allclose(design.shared_moment(joint), expected, rtol=1e-9, atol=1e-12)


def survey(design: LayeredDesign, n: int, joint: np.ndarray, seed: int) -> tuple[mw.Reports, mw.Reports]:
    rng = np.random.default_rng(seed)
    cells = rng.choice(design.k**2, size=n, p=joint.ravel())
    key = rng.bytes(32)
    answers = [np.array(design.categories, dtype=object)[c].tolist() for c in (cells // design.k, cells % design.k)]
    made = [
        rounds.report(design, values, key=key, ids=np.arange(n), question="q", seed=2 * seed + at)
        for at, values in enumerate(answers)
    ]
    return made[0], made[1]


JOINT = np.array([[0.5, 0.02, 0.0], [0.0, 0.3, 0.03], [0.0, 0.0, 0.15]])


def test_rows_and_joint_shares_give_one_covariance() -> None:
    """Of 40,000 pairs, the covariance by row against that by the formula, within five of its standard errors."""
    for design in (PAIRS["k-ary"], PAIRS["bits"]):
        first, second = survey(design, 40_000, JOINT, 5)
        by_row, by_share = rounds.change(first, second), rounds.change(first.tally(), second.tally(), joint=JOINT)
        np.testing.assert_allclose(by_row.differences, by_share.differences, atol=1e-12)
        # A variance of 40,000 scores with heavy tails has a relative deviation of about 1 %.
        np.testing.assert_allclose(by_row.variances, by_share.variances, rtol=0.05)
        apart = rounds.change(first, second, same_people=False)
        assert (by_share.variances < 0.9 * apart.variances).all()  # the shared noise cancels
        wide = rounds.change(first.tally(), second.tally())
        assert wide.covariance is None
        assert (wide.variances >= by_share.variances).all()
        truth = JOINT.sum(axis=0) - JOINT.sum(axis=1)
        assert (np.abs(by_row.differences - truth) < 5 * by_row.standard_errors).all()
        assert "of the same people, row by row" in by_row.summary()
        assert list(by_row.to_frame()["category"]) == ["a", "b", "c"]
        each, together = by_row.interval(), by_row.interval(simultaneous=True)
        assert (together[:, 1] > each[:, 1]).all()


def test_what_is_no_pair_of_rounds_is_refused() -> None:
    design = PAIRS["bits"]
    first, second = survey(design, 50, JOINT, 1)
    for wrong in (np.eye(3), np.full((3, 3), -1), np.ones((2, 2)) / 4):
        with pytest.raises(mw.EstimationError, match="joint"):
            rounds.change(first.tally(), second.tally(), joint=wrong)
    with pytest.raises(mw.EstimationError, match="row by row"):
        rounds.change(first, second.part(slice(10)))
    with pytest.raises(mw.EstimationError, match="as many"):
        rounds.change(first.tally(), second.part(slice(10)).tally())
    with pytest.raises(mw.EstimationError, match="one design"):
        rounds.change(first, survey(PAIRS["k-ary"], 50, JOINT, 1)[1])
    plain = mw.designs.minimax(3, epsilon=1).mask([0, 1, 2], seed=1)
    with pytest.raises(mw.DesignError, match="two layers"):
        rounds.change(plain.tally(), plain.tally(), joint=np.eye(3) / 3)


def kept_reports(design: mw.Design, n: int, seed: int) -> tuple[mw.Reports, mw.Reports, np.ndarray]:
    """Two rounds in which everybody keeps the report of an answer, one in ten changes it, and the true change."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, design.k // 2, n)
    second = np.where(rng.random(n) < 0.1, rng.integers(0, design.k, n), first)
    key = rng.bytes(32)
    sent = [design.mask(answers, key=key, ids=np.arange(n), question="q") for answers in (first, second)]
    shares = [np.bincount(answers, minlength=design.k) / n for answers in (first, second)]
    return sent[0], sent[1], shares[1] - shares[0]


@pytest.mark.parametrize("design", [mw.designs.minimax(8, epsilon=1), mw.designs.projective(60, epsilon=1)])
def test_changes_of_reports_that_are_kept_as_they_are(design: mw.Design) -> None:
    """Whoever keeps an answer keeps the report: the errors are a fraction of those of different people, and hold."""
    z = []
    for seed in range(30):
        first, second, truth = kept_reports(design, 4000, seed)
        change = rounds.change(first, second)
        z.append((change.differences - truth) / change.standard_errors)
    apart = rounds.change(first, second, same_people=False)
    np.testing.assert_allclose(apart.differences, change.differences, atol=1e-12)
    assert (change.standard_errors < 0.5 * apart.standard_errors).all()
    wide = rounds.change(first.tally(), second.tally())
    assert (wide.variances >= change.variances).all()
    # The mean of 240 or more squares of z, if they were independent, has a deviation of 0.09.
    assert 0.6 < np.mean(np.square(z)) < 1.4


def test_large_changes_are_bounded_by_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwell.rounds import changes, figures

    first, second, _ = kept_reports(mw.designs.projective(60, epsilon=1), 4000, 1)
    exact = rounds.change(first, second)
    monkeypatch.setattr(figures, "MOST_IN_COVARIANCE", 10)
    monkeypatch.setattr(changes, "MOST_IN_COVARIANCE", 10)
    assert rounds.change(first, second).covariance is None
    np.testing.assert_allclose(rounds.change(first, second).variances, exact.variances, rtol=1e-9)
    monkeypatch.setattr(changes, "_MOST_SCORES", 1000)
    bounded = rounds.change(first, second)
    np.testing.assert_allclose(bounded.differences, exact.differences, atol=1e-12)
    assert (bounded.variances >= exact.variances).all()
    assert (bounded.variances < 1.7 * exact.variances).all()
    assert "errors at most" in bounded.summary()


def test_the_largest_of_many_changes_have_limits_that_hold_for_all() -> None:
    first, second, _ = kept_reports(mw.designs.projective(60, epsilon=1), 500, 1)
    change = rounds.change(first, second)
    low, high = change.interval(simultaneous=True)[np.argmax(np.abs(change.differences))]
    assert "limits, all together" in change.summary()
    assert f"[{low:8.4f}, {high:8.4f}]" in change.summary()


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda: rounds.unary(3, longitudinal=1, per_round=2), "per_round"),
        (lambda: rounds.rappor(3, f=0, p=0.2, q=0.3), "f must"),
        (lambda: rounds.rappor(3, f=0.5, p=0.6, q=0.3), "p < q"),
        (
            lambda: rounds.layers(mw.designs.warner(truth_prob=0.7), mw.designs.gamma_diagonal(3, epsilon=1)),
            "2 reports",
        ),
        (lambda: rounds.layers(mw.designs.direct(2), mw.designs.warner(truth_prob=0.7)), "rule an answer out"),
        (lambda: rounds.unary(5000, longitudinal=2, per_round=1), "4,096"),
        (lambda: rounds.privacy(PAIRS["bits"], rounds=2, values=3), "at most 2"),
        (lambda: rounds.privacy(PAIRS["bits"], rounds=0), "whole number"),
        (lambda: LayeredBits((0, 1), (5, 7), (9, 3), name="x"), "smaller one"),
        (lambda: LayeredTables((0, 1), ((1, 1), (1, 1)), ((1, 1), (1, 1)), (0, 1), name="x"), "2^64"),
    ],
)
def test_what_is_no_pair_of_layers_is_refused(made: Any, reason: str) -> None:
    with pytest.raises(mw.DesignError, match=reason.replace("^", r"\^")):
        made()


# Accounts.


def test_all_rounds_with_several_answers_are_bounded_by_every_sequence() -> None:
    """Two answers in three rounds, changing at the same round: the largest ratio over all reports."""
    design = PAIRS["warner"]
    first, second = design.permanent.matrix(exact=True), second_layer(design)
    found = Fraction(1)
    for sequence in itertools.product(range(2), repeat=3):
        for cut in (1, 2):
            parts = [np.prod(second[list(part)], axis=0) @ first for part in (sequence[:cut], sequence[cut:])]
            for x, y in itertools.permutations(range(2)):
                chances = [parts[0][a] * parts[1][b] for a, b in ((x, y), (y, x))]
                found = max(found, chances[0] / chances[1])
    stated = rounds.privacy(design, rounds=3, values=2)
    assert found <= stated.exact_parity() <= design.longitudinal_parity() ** 2
    assert stated.epsilon <= stated.limit
    assert "3 rounds" in stated.summary()
    assert rounds.privacy(design, rounds=3).values == 2


def test_explanations_state_numbers_of_the_design() -> None:
    sentences = rounds.explain(PAIRS["rappor"], rounds=365, values=2)
    text = " ".join(map(str, sentences))
    assert "365 rounds" in text
    assert "90 in 100" in text  # odds of nine to one at most
    assert "2 different answers" in text
    assert str(rounds.explain(PAIRS["rappor"], rounds=1, values=1)[0]).endswith("1 rounds.")


def test_a_ledger_adds_exactly_and_refuses_to_overspend() -> None:
    ledger = rounds.Ledger(limit=Fraction(5, 2))
    one = mw.designs.minimax(4, epsilon=1)
    for _ in range(2):
        ledger.spend("weekly", one)
    assert ledger.spent == 2 * Fraction(one.epsilon)
    assert isinstance(ledger.left, Fraction)
    with pytest.raises(mw.DemandError, match="'weekly' takes ε 1"):
        ledger.spend("weekly", one)
    assert len(ledger.entries) == 2
    half = rounds.unary(4, longitudinal=Fraction(1, 2), per_round=Fraction(1, 10))
    ledger.spend("daily", rounds.privacy(half, rounds=10_000, values=1))
    assert ledger.left >= 0
    assert "daily" in ledger.summary()
    for what in (mw.designs.direct(3), mw.designs.local_diversity(4, l=2)):
        with pytest.raises(mw.DemandError, match="no finite parity"):
            ledger.spend("open", what)
    with pytest.raises(mw.DemandError, match="limit"):
        rounds.Ledger(limit=0)
    with pytest.raises(mw.DemandError, match="question"):
        ledger.spend("", one)


def test_rounds_that_share_a_permanent_report_are_entered_together() -> None:
    ledger, design = rounds.Ledger(limit=3), rounds.kary(3, longitudinal=1, per_round=Fraction(1, 2))
    with pytest.raises(mw.DemandError, match=r"do not add up: enter all of them at once.*mw\.rounds\.privacy"):
        ledger.spend("monday", design)
    ledger.spend("a year", rounds.privacy(design, rounds=365, values=1))


def test_a_bound_for_many_rounds_is_never_below_what_they_tell() -> None:
    """A first report can say which others to look for: such rounds tell more than rounds that share nothing."""
    permanent = mw.designs.from_matrix([["49/100", "2/100"], ["2/100", "96/100"], ["49/100", "2/100"]], ["no", "yes"])
    again = [["1/100", "1/2", "989/1000"], ["99/100", "1/2", "11/1000"]]
    design = rounds.layers(permanent, mw.designs.from_matrix(again, 3))
    known = [design.parity_of_rounds(t) for t in (1, 2, 5, 20, 100, 400)]
    assert all(parity.exact for parity in known)
    assert known[1].value > Fraction(design.exact_parity()) ** 2
    most = design.longitudinal_parity()
    for t in (900, 2000, 4096, 5000, 10**9):
        bound = design.parity_of_rounds(t)
        assert not bound.exact
        assert known[-1].value <= bound.value <= most
    # The same bound where the exact parity is known.
    for t, parity in zip((1, 2, 5, 20), known, strict=False):
        assert isinstance(design, LayeredTables)
        assert parity.value <= design._at_most(t) <= most


def test_answers_that_change_and_come_back_at_the_same_rounds_are_compared() -> None:
    """By all courses of three answers in three rounds and all their reports."""
    design = rounds.kary(3, longitudinal=1, per_round=Fraction(1, 2))
    first, second = (np.array([[Fraction(w, 2**64) for w in row] for row in t]) for t in (design.first, design.second))

    def chance(course: tuple[int, ...], reports: tuple[int, ...]) -> Fraction:
        found = Fraction(1)
        for answer in set(course):
            at = [r for r, given in zip(reports, course, strict=True) if given == answer]
            found *= sum(first[y, answer] * math.prod(second[z, y] for z in at) for y in range(3))
        return found

    courses = list(itertools.product(range(3), repeat=3))
    worst: dict[tuple[int, ...], float] = {}
    for one, other in itertools.product(courses, repeat=2):
        pattern = tuple(one.index(answer) for answer in one)
        if pattern == tuple(other.index(answer) for answer in other):
            ratio = max(chance(one, z) / chance(other, z) for z in courses)
            worst[pattern] = max(worst.get(pattern, 0), ratio)
    for pattern, ratio in worst.items():
        assert ratio <= rounds.privacy(design, 3, len(set(pattern))).exact_parity()
    # An answer that comes back has the report that it had, so that this course is told from one that goes on.
    back, on = (0, 1, 0), (0, 1, 2)
    assert max(chance(back, z) / chance(on, z) for z in courses) > 1
    assert "came back can show" in rounds.privacy(design, 3, 3).summary()


@pytest.mark.parametrize(
    "epsilon",
    ["1", None, Decimal("NaN"), Decimal("Infinity"), -1.0, math.nan, 10**400, True],
    ids=lambda epsilon: str(epsilon)[:9],
)
def test_only_a_finite_epsilon_is_entered(epsilon: Any) -> None:
    ledger = rounds.Ledger(limit=1)
    with pytest.raises(mw.DemandError, match=r"epsilon must be|no finite parity"):
        ledger.spend("a", SimpleNamespace(epsilon=epsilon))
    assert not ledger.entries


def test_a_limit_is_a_number_that_can_be_shown() -> None:
    with pytest.raises(mw.DemandError, match="limit must be an ε above 0 and at most 1e300"):
        rounds.Ledger(10**400)
    ledger = rounds.Ledger(1 + Fraction(1, 10**400))
    ledger.spend("a", SimpleNamespace(epsilon=1.0))
    assert "1 of 1 spent, 0 left" in ledger.summary()
    with pytest.raises(mw.DemandError, match="only 0 is left"):
        ledger.spend("b", SimpleNamespace(epsilon=1.0))
    small = rounds.Ledger(1)
    small.spend("a", SimpleNamespace(epsilon=Fraction(1, 10**400)))
    assert "2.22507e-308 of 1 spent" in small.summary()


def test_rounds_are_of_one_question() -> None:
    """A survey may be named by its round; what comes after it is what was asked."""
    design = mw.designs.minimax(3, epsilon=1)

    def asked(*questions: str | None) -> list[mw.Reports]:
        return [replace(design.mask([0, 1, 2] * 5), question=question) for question in questions]

    for pair in (asked("q1", "q2"), asked("panel/habit", "panel/diet"), asked("habit", "panel/diet")):
        for given in (pair, [reports.tally() for reports in pair]):
            with pytest.raises(mw.EstimationError, match=r"of one question; got .* and .*question=None"):
                rounds.change(*given)
            with pytest.raises(mw.EstimationError, match="of one question"):
                rounds.mean(given)
            again = [replace(part, question=None) for part in given]
            assert rounds.mean(again).rounds == len(rounds.change(*again).figures) - 1 == 2
    for pair in (asked("panel 2026-06/habit", "panel 2026-07/habit"), asked("q", None), asked("habit", "panel/habit")):
        assert rounds.change(*pair).n == rounds.mean(pair).n == 15


@pytest.mark.parametrize("given", ["ab", [1, 2], 5, None])
def test_what_is_no_round_is_refused(given: Any) -> None:
    with pytest.raises(mw.EstimationError, match="rounds must be"):
        rounds.mean(given)


def test_a_device_needs_a_key() -> None:
    with pytest.raises(mw.DataError, match="key must be bytes"):
        rounds.Device(PAIRS["bits"], "q", key=b"")


def test_a_ledger_is_read_back_as_it_was_or_not_at_all() -> None:
    ledger = rounds.Ledger(limit=3)
    ledger.spend("a", mw.designs.warner(truth_prob=0.75))
    text = ledger.to_json()
    assert rounds.Ledger.from_json(text) == ledger
    assert rounds.Ledger.from_json(text.encode()).left == ledger.left
    document = json.loads(text)
    spent = document["entries"][0]["epsilon"]
    changed = [
        {**document, "limit": "30"},
        {**document, "limit": 3},
        {**document, "limit": "6/2"},
        {**document, "entries": []},
        {**document, "entries": [{"question": "b", "epsilon": spent}]},
        {**document, "entries": [{"question": "a", "epsilon": f"-{spent}"}]},
        {**document, "entries": [{"question": "a", "epsilon": float(Fraction(spent))}]},
        {**document, "entries": document["entries"] * 3},
        {**document, "entries": None},
        {**document, "entries": [{"question": 1, "epsilon": spent}]},
        {**document, "entries": [{"question": "a"}]},
        {**document, "version": True},
        {**document, "version": 2},
        {**document, "seal": "0" * 64},
        {**document, "more": 1},
        {**document, "maskwell": "design"},
        [],
    ]
    for wrong in changed:
        with pytest.raises(mw.DemandError):
            rounds.Ledger.from_json(json.dumps(wrong))
    for broken in (text[:-5], text.replace('"limit"', '"limit": "3", "limit"', 1), "", b"\xff"):
        with pytest.raises(mw.DemandError):
            rounds.Ledger.from_json(broken)


def test_pairs_that_were_seen_have_the_covariance_of_their_differences() -> None:
    """Many change from a to b, so that the mean change counts in every entry."""
    design = mw.designs.direct(["a", "b", "c"])
    one, two = np.array([0] * 60 + [1] * 30 + [2] * 10), np.array([1] * 50 + [0] * 10 + [1] * 25 + [2] * 15)
    found = rounds.change(*(design.mask(np.array(["a", "b", "c"])[codes]) for codes in (one, two)))
    differences = np.eye(3)[two] - np.eye(3)[one]
    assert found.differences == pytest.approx(differences.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(differences, rowvar=False) / 100, atol=1e-15)
    np.testing.assert_allclose(found.variances, np.diagonal(found.covariance))


def test_a_kept_report_tells_once_for_each_different_answer() -> None:
    design = mw.plan(20_001, mw.LDP(1))
    found = rounds.privacy(design, 365, 3)
    assert found.exact_parity() == design.exact_parity() ** 3
    assert rounds.privacy(design, 10**9, 1).epsilon == design.epsilon
    assert found.limit == found.epsilon
    assert "a new report only for a new answer" in found.summary()
    told = "\n".join(map(str, rounds.explain(design, 365, 3)))
    assert "sends that masked answer in every round" in told
    assert "with 3 different answers" in told
    with pytest.raises(mw.DesignError, match="no finite parity"):
        rounds.privacy(mw.designs.direct(3), 10)
    with pytest.raises(mw.DesignError, match=r"mw\.rounds\.privacy"):
        rounds.plan(20_001, longitudinal=2, per_round=1)


def test_a_ledger_takes_what_questions_tell_together_and_knows_what_it_holds() -> None:
    ledger = rounds.Ledger(limit=3)
    both = mw.planning.compose([mw.plan(3, mw.LDP(1)), mw.plan(4, mw.LDP(1))])
    ledger.spend("both", both)
    assert ledger.holds("both")
    assert not ledger.holds("bot")
    assert ledger.spent == Fraction(both.epsilon)
    assert rounds.Ledger.from_json(ledger.to_json()).holds("both")


def test_a_device_goes_on_after_a_restart() -> None:
    design = PAIRS["bits"]
    device = rounds.Device(design, "q")
    first = device.report("b", round=3)
    again = rounds.Device.from_json(device.to_json(), design)
    assert again.report("c", round=3) == first
    assert (again.key, again.question, again.last_round) == (device.key, "q", 3)
    assert again.report("b", round=3).randomness == first.randomness
    assert len(again.report("b", round=4)) == 1
    fresh = rounds.Device.from_json(rounds.Device(design, "q").to_json(), design)
    assert fresh.last_round == -1
    document = json.loads(device.to_json())
    for changed, why in (
        ({"version": 2}, "no device"),
        ({"design": "0"}, "another design"),
        ({"key": "x"}, "damaged"),
        ({"key": ""}, "damaged"),
        ({"last_round": None}, "damaged"),
    ):
        with pytest.raises(mw.DataError, match=why):
            rounds.Device.from_json(json.dumps(document | changed), design)


def test_a_factor_of_hundreds_of_digits_is_a_power_of_ten() -> None:
    """300 different answers, each with a parity of 9: written out, 9^300 has 287 digits."""
    design = rounds.rappor(300, f=0.5, p=0.5, q=0.75)
    told = " ".join(map(str, rounds.explain(design, rounds=400, values=300)))
    found = re.search(r"by a factor of ([\d.]+) × 10\^(\d+) at most", told)
    assert found is not None
    least = Fraction(found[1]) * 10 ** int(found[2])
    assert 9**300 <= least < 9**300 * Fraction(101, 100)
    assert not re.search(r"\d{5}", told)
