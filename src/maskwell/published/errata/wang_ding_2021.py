"""Statements of Wang & Ding (2021) that hold only after a correction, each with a computation that shows it."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.designs.base import Vector
from maskwell.inference import estimate, independence_test
from maskwell.inference.draws import draw_truths
from maskwell.inference.hypotheses.hypothesis_test import chi_square_tail
from maskwell.planning.dummies import dummy_respondents, guaranteed_coverage
from maskwell.published.model import EXACT, Explanation, Row, Simulated, Value
from maskwell.published.wang_ding_2021_table_4 import KEY
from maskwell.reports.tally import Tally

_PLACE = "Statements that need a correction"
_RACE = np.array([311, 1039, 3124, 271, 27816])
_SAMPLES = 150


def _one_report(k: int) -> tuple[Vector, Vector]:
    """From one report, the set of the first two of k categories: by (5) and by what (6) calls equivalent."""
    design = designs.conditional(k, subset_probs=_uniform(k))
    counts = np.zeros(design.report_count())
    counts[design.report_labels().index(frozenset({0, 1}))] = 1
    tally = Tally.from_counts(design, counts)
    ratio = (2 ** (k - 1) - k - 1) / (2 ** (k - 2) - k + 1)
    return estimate(tally, "moments").proportions, (ratio * tally.inclusions - 1) / (ratio - 1)


def _uniform(k: int) -> dict[frozenset[int], float]:
    uniform = designs.uniform_subsets(k)
    matrix = uniform.matrix(exact=True)
    return {members: max(row) for members, row in zip(uniform.report_labels(), matrix, strict=True)}


def _equivalent(k: int) -> str:
    """Whether both forms of (6) give the same estimate."""
    first, second = _one_report(k)
    return "equal" if np.allclose(first, second, rtol=0, atol=1e-9) else "different"


def _step_sign(information: bool) -> str:
    """The sign in (7) with which one step from the moments towards the maximum of the likelihood rises.

    With ``information`` the negative Hessian stands where (7) has the Hessian.
    """
    design = designs.uniform_subsets(5)
    population = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    tally = design.mask(draw_truths(design, population, 2000, 1), seed=2).tally(patterns=True)
    start = estimate(tally, "moments").proportions
    assert tally.patterns is not None
    members = design.relative_rows(tally.patterns.packed) > 0
    counts = tally.patterns.counts
    basis = np.vstack([np.eye(4), -np.ones(4)])
    free = members @ basis
    chance = members @ start
    hessian = -(free * (counts / chance**2)[:, None]).T @ free
    step = basis @ np.linalg.solve(-hessian if information else hessian, free.T @ (counts / chance))
    plus, minus = (float(counts @ np.log(members @ (start + sign * step))) for sign in (1, -1))
    return "+" if plus > minus else "-"


def _entropy_left(sign: int) -> float:
    """The entropy of the race that the report leaves, in bits, or what Definition 6 gives for it."""
    prior = _RACE / _RACE.sum()
    masked = audit(designs.uniform_subsets(5), prior=prior.tolist()).mutual_information
    return sign * (float(-(prior @ np.log2(prior))) - masked)


def _pearson_mean() -> Value:
    """The mean of Pearson's statistic over samples of two independent variables with four categories each."""
    part = designs.uniform_subsets(4)
    design = designs.product(part, part)
    uniform = np.full(16, 1 / 16)
    statistics = []
    for number in range(_SAMPLES):
        tally = design.mask(draw_truths(design, uniform, 2000, number), seed=number).tally()
        found = independence_test(tally, "pearson")
        assert found.df == 29
        statistics.append(found.statistic)
    return Simulated(float(np.mean(statistics)), float(np.std(statistics, ddof=1)) / sqrt(_SAMPLES))


def _rejected(df: int) -> float:
    """How often a chi-square variable exceeds the upper 5 % point of that with 36 degrees of freedom, in percent."""
    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square_tail(middle, 36) > 0.05 else (low, middle)
    return 100 * chi_square_tail(low, df)


def _negative_ratios() -> str:
    """How often the likelihood ratio of moment estimates is below 0, as no likelihood ratio is."""
    part = designs.uniform_subsets(4)
    design = designs.product(part, part)
    margin = np.array([0.7, 0.1, 0.1, 0.1])
    joint = np.outer(margin, margin).reshape(-1)
    below = 0
    for number in range(40):
        tally = design.mask(draw_truths(design, joint, 2000, number), seed=number).tally()
        below += independence_test(tally, "lrt-moments", permutations=1, seed=0).statistic < 0
    return "never below 0" if below == 0 else "often below 0" if below > 4 else "seldom below 0"


def _ratio_of_maxima() -> str:
    """The same for maximum-likelihood estimates, in one sample."""
    part = designs.uniform_subsets(4)
    design = designs.product(part, part)
    tally = design.mask(draw_truths(design, np.full(16, 1 / 16), 2000, 1), seed=1).tally()
    return "never below 0" if independence_test(tally, "lrt").statistic >= 0 else "below 0"


def _sample_for_a_fourth(loss: bool) -> float:
    """How many times the respondents bring a loss, or its root, down to a fourth or a half."""
    design = designs.uniform_subsets(5)
    per_report = design.matrix() @ (_RACE / _RACE.sum())
    once, twice, four = (
        float(estimate(Tally.from_counts(design, n * per_report), "moments").variances.sum())
        for n in (1000, 2000, 4000)
    )
    wanted = once / 4 if loss else once / 2
    return 4.0 if np.isclose(four, wanted, rtol=1e-3) else 2.0 if np.isclose(twice, wanted, rtol=1e-3) else np.nan


def _row(
    what: str, printed: str, compute: Callable[[], Value], explanation: Explanation, unit: str | None = None
) -> Row:
    return Row(KEY, _PLACE, what, printed, compute, explanation, kind="correction", unit=unit)


ERRATA = (
    _row(
        "Definition 6: coverage H(X | A), race, bits",
        "-0.3897",
        lambda: _entropy_left(1),
        Explanation("a minus is missing: as printed it is the negative of an entropy", lambda: _entropy_left(-1)),
    ),
    _row(
        "(6): both forms of the moment estimate, p=5, are",
        "equal",
        lambda: _equivalent(5),
        Explanation("only sets of one size make (5) sum to 1, as at p=4", lambda: _equivalent(4)),
    ),
    _row(
        "(7): sign before the inverse Hessian",
        "+",
        lambda: _step_sign(information=False),
        Explanation("with + the likelihood falls; + goes with the negative Hessian", lambda: _step_sign(True)),
    ),
    _row(
        "Section IV-B: mean of Pearson's statistic, p=q=4",
        "36",
        _pearson_mean,
        Explanation(
            "the number of cells, from which 1 + (p-1) + (q-1) = 7 fitted numbers go",
            lambda: float(designs.uniform_subsets(4).report_count() ** 2),
        ),
        EXACT,
    ),
    _row(
        "Section IV-B: Pearson's test at χ² with 36 degrees rejects",
        "5%",
        lambda: _rejected(29),
        Explanation("so it would if the limit had 36 degrees of freedom; it has 29", lambda: _rejected(36)),
    ),
    _row(
        "Section IV-B: the ratio with moments plugged in, w=(.7,.1,.1,.1), is",
        "never below 0",
        _negative_ratios,
        Explanation("so is the ratio of maxima; moments maximise nothing, and it has no χ² limit", _ratio_of_maxima),
    ),
    _row(
        "Section V-A: respondents that make up for a fourfold loss, times",
        "2",
        lambda: _sample_for_a_fourth(loss=True),
        Explanation(
            "the loss is squared and falls as 1/n; twice as many halve it", lambda: _sample_for_a_fourth(loss=False)
        ),
        EXACT,
    ),
    _row(
        "Section V-B: information of a report, race, bits",
        "1",
        lambda: float(audit(designs.uniform_subsets(5), prior=(_RACE / _RACE.sum()).tolist()).mutual_information),
        Explanation(
            "the most that a yes or no can tell, as for four equally likely categories",
            lambda: float(audit(designs.uniform_subsets(4)).mutual_information),
        ),
        EXACT,
    ),
    _row(
        "Appendix II: dummies for coverage 0.2 beside 300 persons",
        "120",
        lambda: float(dummy_respondents(300, 0.2)),
        Explanation("2αn, but they count among all: 2αn/(1-2α)", lambda: 2 * 0.2 * 300),
        EXACT,
    ),
    _row(
        "Appendix II: coverage that 120 dummies give 300 persons",
        "0.20",
        lambda: float(guaranteed_coverage(300, 120)),
        Explanation("their part of 300, but a part of 420 is what counts: α/(1+2α)", lambda: 60 / 300),
    ),
)
