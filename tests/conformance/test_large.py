"""The symmetric designs at k = 1,000, where no matrix can be written down, and at 10,000.

Figures are compared with closed forms in 50 digits. Sampled sets are compared with them: sizes by chi-square,
inclusions and pairs by exact binomial tests, all at a false-alarm rate of 1e-6 for this file.
"""

import math

import mpmath
import numpy as np
import pytest
from scipy import stats

import maskwell as mw
from tests.conformance.members import SCALABLE, build_large
from tests.conformance.second_formula import TABLE, Figures, figures
from tests.statistics_helpers import POWER, binomial_p_values, fit_test, smallest_binomial_error

K = 1000
SETS = 20_000
SURVEYS, RESPONDENTS = 200, 200
FALSE_ALARM = 1e-6 / len(SCALABLE) / 4
LAGS = (1, 8, 64)

every_scalable = pytest.mark.parametrize("name", SCALABLE)


def reference(name: str) -> Figures:
    return figures(name, K, SCALABLE[name])


def test_every_scalable_design_has_a_second_formula() -> None:
    assert set(SCALABLE) == set(TABLE)


@every_scalable
def test_figures_agree_with_closed_forms(name: str) -> None:
    """To 1e-12; sizes rarer than 2^-64 are dropped, which moves nothing that a float could show."""
    design, expected = build_large(name, K), reference(name)
    assert design.inclusion_probabilities() == pytest.approx((expected.truth, expected.other), rel=1e-12)
    assert design.added_variance == pytest.approx(expected.added_variance, rel=1e-12, abs=1e-12)
    if expected.parity == mpmath.inf:
        assert design.exact_parity() == math.inf
    else:
        assert design.parity == pytest.approx(float(expected.parity), rel=1e-12)
        assert design.demand.holds_for(design)


@every_scalable
def test_sampled_sets_at_k_1000(name: str) -> None:
    """Sizes, inclusions and neighbouring pairs of 20,000 sets with one truth.

    Each inclusion test catches an error of .033 in a chance of one half, and of .007 in one of .01, with power .99.
    """
    design, expected, truth = build_large(name, K), reference(name), 437
    decoded = design.mask(np.full(SETS, truth), seed=4)
    member = members(decoded)
    tests = 2 + (2 + len(LAGS)) * K
    rate = FALSE_ALARM / tests
    sizes = np.bincount(member.sum(axis=1, dtype=np.int64), minlength=K + 1)
    chances = np.array([expected.size_chances.get(s, 0.0) for s in range(K + 1)])
    assert not sizes[chances == 0].any()
    assert fit_test(sizes, chances, rate).p_value > rate
    held = member.sum(axis=0, dtype=np.int64)
    others = np.arange(K) != truth
    assert binomial_p_values(held[truth], SETS, expected.truth) > rate
    assert (binomial_p_values(held[others], SETS, expected.other) > rate).all()
    with_truth = member[member[:, truth] > 0].sum(axis=0, dtype=np.int64)
    assert (binomial_p_values(with_truth[others], SETS, expected.truth_and_other) > rate).all()
    for lag in LAGS:
        pairs = (member[:, lag:] & member[:, :-lag]).sum(axis=0, dtype=np.int64)
        plain = others[lag:] & others[:-lag]
        assert (binomial_p_values(pairs[plain], SETS, expected.two_others) > rate).all()
    assert smallest_binomial_error(SETS, 0.5, rate) < 0.033
    assert smallest_binomial_error(SETS, 0.01, rate) < 0.007


def members(reports: mw.Reports) -> np.ndarray:
    """One row of 0 and 1 per report."""
    if reports.packed.ndim == 1:
        return np.eye(K, dtype=np.uint8)[reports.packed]
    return np.unpackbits(reports.packed, axis=1, count=K, bitorder="little")


def population() -> np.ndarray:
    """Proportions between 1/2500 and 1/625: none rare enough to spoil a normal approximation over 40,000 reports."""
    weights = 1 + 3 * np.arange(K) / (K - 1)
    return weights / weights.sum()


@every_scalable
def test_linear_estimates_at_k_1000(name: str) -> None:
    """200 simulated surveys of 200 respondents: mean and total variance of the linear estimator.

    Eight sums with random signs must have mean c'p (normal, standard errors from the estimate itself), the total
    squared error must average (added variance + sampling variance) / 200. The latter catches an error of 6 % with
    power .99.
    """
    design, expected, p = build_large(name, K), reference(name), population()
    generator = np.random.default_rng(5)
    truths = generator.choice(K, SURVEYS * RESPONDENTS, p=p)
    total, losses = None, []
    for part in design.mask_batches(np.split(truths, SURVEYS), seed=6):
        tally = part.tally()
        losses.append(float(((mw.estimate(tally).proportions - p) ** 2).sum()))
        total = tally if total is None else mw.Tally.merge([total, tally])
    together = mw.estimate(total)
    critical = stats.norm.isf(FALSE_ALARM / 2 / 9)
    for signs in generator.choice([-1.0, 1.0], (8, K)):
        contrast = together.contrast(signs)
        assert abs(contrast.value - signs @ p) <= critical * contrast.standard_error
    risk = (expected.added_variance + 1 - p @ p) / RESPONDENTS
    spread = float(np.std(losses, ddof=1)) / math.sqrt(SURVEYS)
    assert abs(np.mean(losses) - risk) <= critical * spread
    assert (critical + stats.norm.ppf(POWER)) * spread <= 0.06 * risk


@every_scalable
def test_k_10000(name: str) -> None:
    """Builds, masks, estimates and is stored; a table of more than ten million cells is refused in one line."""
    design = build_large(name, 10_000)
    values = np.arange(0, 10_000, 25)
    reports = design.mask(values, seed=7)
    assert reports.check() is reports
    assert len(mw.estimate(reports).proportions) == 10_000
    assert 0 <= design.added_variance < math.inf
    assert mw.Design.from_json(design.to_json()) == design
    sets = [report if isinstance(report, frozenset) else {report} for report in reports.decode()]
    inside = sum(truth in held for truth, held in zip(values.tolist(), sets, strict=True))
    assert binomial_p_values(np.int64(inside), len(values), design.inclusion_probabilities()[0]) > FALSE_ALARM
    for table in (design.matrix, design.report_labels):
        with pytest.raises(mw.DesignError, match="cells") as caught:
            table()
        assert "\n" not in str(caught.value)
