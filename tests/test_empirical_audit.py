"""The audit by draws: it flags samplers that are wrong, and leaves those alone that are right.

Each audit states its false-alarm rate; here it is 1e-6, shared out where several designs are audited. Draws come from
fixed seeds. The mutants are mistakes that have been shipped by others.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import maskwell as mw
from maskwell import designs
from maskwell.auditing.empirical import sampler_audit
from maskwell.auditing.empirical.sampler_audit import audit_sampler, draws_needed
from tests.conformance.members import MEMBERS
from tests.statistics_helpers import binomial_p_values

FALSE_ALARM = 1e-6
Codes = NDArray[np.int64]
Sampler = Callable[[Codes], Any]


def subsets(
    k: int, size: int, epsilon: float, seed: int, fillers: int | None = None
) -> Callable[[Codes], NDArray[Any]]:
    """Subset selection as members in the order in which they were picked; fillers come from the first ``fillers``."""
    generator = np.random.default_rng(seed)
    odds = size * math.exp(epsilon)
    keep = odds / (odds + k - size)

    def draw(codes: Codes) -> NDArray[Any]:
        order = generator.random((len(codes), k))
        order[:, fillers or k :] += 2
        order[np.arange(len(codes)), codes] = np.where(generator.random(len(codes)) < keep, -1, 9)
        return np.argsort(order, axis=1)[:, :size]

    return draw


def as_sets(draw: Sampler) -> Sampler:
    return lambda codes: [frozenset(row) for row in draw(codes).tolist()]


def as_masks(k: int, draw: Sampler) -> Sampler:
    def masks(codes: Codes) -> NDArray[Any]:
        members = np.zeros((len(codes), k), bool)
        np.put_along_axis(members, draw(codes), True, axis=1)
        return members

    return masks


def unary(k: int, flip: float, seed: int) -> Sampler:
    """Every bit of the truth's mask flipped with the same chance."""
    generator = np.random.default_rng(seed)
    return lambda codes: (np.arange(k) == codes[:, None]) ^ (generator.random((len(codes), k)) < flip)


def lie_that_may_be_true(k: int, epsilon: float, seed: int) -> Sampler:
    generator = np.random.default_rng(seed)
    keep = math.exp(epsilon) / (math.exp(epsilon) + k - 1)
    return lambda codes: np.where(generator.random(len(codes)) < keep, codes, generator.integers(0, k, len(codes)))


def audited(sampler: Sampler, k: int, n: int, claimed: float = 1.0) -> Any:
    return audit_sampler(sampler, k, n=n, claimed=claimed, confidence=1 - FALSE_ALARM)


# Mutants.


def test_truth_listed_first_is_flagged() -> None:
    """A list tells what a set does not: the same draws pass as sets."""
    found = audited(subsets(10, 3, 1.0, seed=1), 10, 40_000)
    assert found.flagged
    assert found.event.startswith("position")
    assert not audited(as_sets(subsets(10, 3, 1.0, seed=1)), 10, 40_000).flagged


def test_off_by_one_in_the_draw_of_a_subset_is_flagged() -> None:
    """The last category is never a filler, so whoever reports it has it."""
    found = audited(as_masks(10, subsets(10, 3, 1.0, seed=2, fillers=9)), 10, 40_000)
    assert found.flagged
    assert found.truths[0] == 9
    assert found.counts[1] == 0
    assert found.epsilon_lower > 5


def test_a_lie_that_may_be_the_truth_is_flagged() -> None:
    k, keep = 5, math.e / (math.e + 4)
    found = audited(lie_that_may_be_true(k, 1.0, seed=3), k, 40_000)
    real = math.log((keep + (1 - keep) / k) / ((1 - keep) / k))
    assert found.flagged
    assert 1 < found.epsilon_lower < real


def test_unary_encoding_that_spends_epsilon_on_every_bit_is_flagged() -> None:
    found = audited(unary(6, 1 / (math.e + 1), seed=4), 6, 40_000)
    assert found.flagged
    assert "and not" in found.event
    assert 1.5 < found.epsilon_lower < 2


def test_a_threshold_of_seven_bits_takes_millions_of_draws() -> None:
    """48/128 in place of .3775 makes ε 1.0217: no audit of 100,000 draws can show it, one of 4.5 million does.

    ``draws_needed`` says 3.8 million for a power of .99; a wrong threshold nearer to the right one takes more.
    """
    needed = draws_needed(0.625**2, 0.375**2, 1.0, confidence=1 - FALSE_ALARM)
    assert 3_000_000 < needed < 4_000_000
    assert not audited(unary(3, 48 / 128, seed=5), 3, 100_000).flagged
    found = audited(unary(3, 48 / 128, seed=5), 3, 4_500_000)
    assert found.flagged
    assert 1 < found.epsilon_lower < 2 * math.log(0.625 / 0.375)


def test_power_is_what_draws_needed_says() -> None:
    """Audits with that many draws miss a flaw once in a hundred: of 40, more than 4 misses have probability 1e-5."""
    k, keep = 3, 0.5
    real = math.log(0.5 / 0.25)
    n = draws_needed(keep, 0.25, real - 0.3, confidence=0.99)

    def sampler(seed: int) -> Sampler:
        generator = np.random.default_rng(seed)
        return lambda codes: (codes + generator.choice(k, len(codes), p=[0.5, 0.25, 0.25])) % k

    flags = [audit_sampler(sampler(s), k, n=n, claimed=real - 0.3, confidence=0.99).flagged for s in range(40)]
    assert sum(flags) >= 36


# Right samplers.


@pytest.mark.parametrize("design", MEMBERS.values(), ids=MEMBERS.keys())
def test_named_designs_pass(design: mw.Design) -> None:
    """The false alarms of all of them together have probability 1e-6."""
    found = audit_sampler(design, n=20_000, confidence=1 - FALSE_ALARM / len(MEMBERS), seed=6)
    assert not found.flagged
    assert found.claimed == design.epsilon
    assert found.epsilon_lower <= design.epsilon


def test_products_and_many_categories_pass() -> None:
    pair = designs.product(designs.warner(truth_prob=0.75), designs.gamma_diagonal(["a", "b", "c"], epsilon=1))
    found = audit_sampler(pair, n=40_000, seed=7)
    assert not found.flagged
    assert found.epsilon_lower > 1.5
    wide = audit_sampler(designs.minimax(300, epsilon=2), n=200_000, seed=7)
    assert not wide.flagged
    assert wide.epsilon_lower > 1.5


def test_a_claim_below_the_real_epsilon_is_flagged() -> None:
    found = audit_sampler(designs.minimax(8, epsilon=1), n=200_000, claimed=0.7, seed=8)
    assert found.flagged
    assert "less privacy than it claims" in found.summary()


def test_false_alarms_are_as_rare_as_stated() -> None:
    """300 audits at 90 %, of a sampler whose ε is exactly the one claimed; binomial limit at 1e-6."""
    sampler = designs.gamma_diagonal(2, gamma=3)
    alarms = sum(audit_sampler(sampler, n=2_000, confidence=0.9, seed=seed).flagged for seed in range(300))
    assert alarms <= 30 or binomial_p_values(np.array([alarms]), 300, 0.1)[0] > FALSE_ALARM


def least_ratio(counts: tuple[int, int], draws: tuple[int, int], error: float) -> float:
    """The logarithm of the ratio of two Clopper-Pearson limits, each wrong with this chance, by scipy."""
    first, second = (stats.binomtest(*pair) for pair in zip(counts, draws, strict=True))
    limits = [test.proportion_ci(1 - 2 * error, method="exact") for test in (first, second)]
    return float(np.log(limits[0].low / limits[1].high))


@pytest.mark.parametrize("confidence", [0.9, 0.999])
@pytest.mark.parametrize("design", [designs.gamma_diagonal(2, gamma=3), designs.minimax(6, epsilon=1.0)])
def test_the_error_is_shared_out_over_both_limits_of_all_comparisons(design: mw.Design, confidence: float) -> None:
    found = audit_sampler(design, n=20_000, confidence=confidence, seed=3)
    share = (1 - confidence) / (2 * found.comparisons)
    assert found.comparisons > 1
    assert found.epsilon_lower == pytest.approx(least_ratio(found.counts, found.draws, share), rel=1e-9)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_another_split_of_the_error_is_noticed(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Mutants: half and twice the error for each limit."""
    honest = sampler_audit.error_share
    monkeypatch.setattr(sampler_audit, "error_share", lambda *given: factor * honest(*given))
    with pytest.raises(AssertionError):
        test_the_error_is_shared_out_over_both_limits_of_all_comparisons(designs.gamma_diagonal(2, gamma=3), 0.9)


# How it looks at reports.


def test_reports_count_as_what_they_tell_however_they_are_given() -> None:
    lists, n = subsets(6, 2, 1.0, seed=9), 20_000
    given = [as_sets(subsets(6, 2, 1.0, seed=9)), as_masks(6, lists)]
    found = [audited(sampler, 6, n) for sampler in given]
    assert found[0] == found[1]
    text = audited(lambda codes: ["yes" if code else "no" for code in codes], 2, 2_000)
    assert text.flagged
    assert text.event in ("the report is 'yes'", "the report is 'no'")
    named = audited(lambda codes: [{"red", "blue"} if code else {"red"} for code in codes], 2, 2_000)
    assert named.flagged
    ragged = audited(lambda codes: [(1, 2) if code else (1,) for code in codes], 2, 2_000)
    assert ragged.flagged


def test_draws_are_streamed() -> None:
    seen: list[int] = []

    def sampler(codes: Codes) -> Codes:
        seen.append(len(codes))
        return np.zeros_like(codes)

    found = audited(sampler, 4, 500_000)
    assert sum(seen) == found.n == 500_000
    assert max(seen) <= 1 << 16
    assert found.epsilon_lower == 0


def test_a_seed_repeats_an_audit() -> None:
    design = designs.rappor(5, epsilon=1)
    assert audit_sampler(design, n=20_000, seed=1) == audit_sampler(design, n=20_000, seed=1)
    assert audit_sampler(design, n=20_000, seed=1) != audit_sampler(design, n=20_000, seed=2)


@pytest.mark.parametrize(
    ("sampler", "options", "message"),
    [
        (designs.minimax(4, epsilon=1), {"k": 5}, "k = 5 does not fit"),
        (lambda codes: codes, {}, "k must be the number of true codes"),
        ("minimax", {"k": 3}, "sampler must be a design or a function"),
        (lambda codes: codes, {"k": 10, "n": 100}, "n must be at least 200"),
        (lambda codes: codes, {"k": 3, "confidence": 1}, "confidence must lie between 0 and 1"),
        (lambda codes: codes, {"k": 3, "claimed": -1.0}, "claimed must be an epsilon"),
        (lambda codes: codes[1:], {"k": 3}, "one for each"),
        (lambda codes: [{}] * len(codes), {"k": 3}, "reports must be numbers"),
    ],
)
def test_what_cannot_be_audited_is_named(sampler: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mw.MaskwellError, match=message) as error:
        audit_sampler(sampler, **options)
    assert "\n" not in str(error.value)


def test_no_number_of_draws_shows_what_is_not_there() -> None:
    with pytest.raises(mw.DesignError, match="not exceeded"):
        draws_needed(0.5, 0.25, claimed=1.0)
