"""Tests in complex samples of masked answers: how often a true hypothesis is rejected, by test and sample design."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.record import Result, Size, Table
from tests.evidence.workers import measured

SEED = 9177
SURVEYS: dict[Size, int] = {"reduced": 30, "full": 4_000}
LEVEL = 0.05
# Satterthwaite's F and Student's t at 56 degrees of freedom are approximations; masked scores are not normal. A rate
# over 4,000 surveys has a standard error of .0034, so that BAND itself is the limit; fewer have binomial limits around.
BAND = (0.035, 0.065)
FALSE_ALARM = 1e-6
COMPARISONS = 500
STRATA, CLUSTERS, PEOPLE = 4, 15, 8
SHARES = np.array([0.4, 0.35, 0.25])
X, Y = ("never", "once", "often"), ("yes", "no")
MASKS: dict[str, tuple[Design, Design]] = {
    "open": (mw.designs.direct(X), mw.designs.direct(Y)),
    "masked": (mw.designs.minimax(X, epsilon=2), mw.designs.warner(Y, truth_prob=0.85)),
}
SETS = mw.designs.rappor(X, epsilon=3)
SAMPLES = ("weights", "strata and clusters", "jackknife (jkn)")


def survey(rng: np.random.Generator) -> dict[str, Any]:
    """People in clusters that differ in their habits, in being insured, and in who lives there: three things apart."""
    clusters = STRATA * CLUSTERS
    cluster = np.repeat(np.arange(clusters), PEOPLE)
    shift = 0.2 * rng.uniform(-1, 1, (3, clusters))[:, cluster]
    u, v, w = rng.random((3, len(cluster)))
    # The mean of the cumulated shares over clusters is that of SHARES, since shifts are 0 on average.
    habit = (u > SHARES[0] + shift[0]).astype(int) + (u > SHARES[:2].sum() + shift[0] / 2)
    insured = (v > 0.5 + shift[1]).astype(int)
    sex = np.where(w > 0.5 + shift[2], "f", "m")
    weights = 1 + (np.arange(len(cluster)) % 3) / 2
    return {"habit": habit, "insured": insured, "sex": sex, "cluster": cluster, "weight": weights}


def sample(name: str, data: dict[str, Any]) -> mw.Sample:
    """The sample, as one that names it draws it."""
    if name == "weights":
        # Shuffled people of a large population: clusters are no part of the design.
        return mw.Sample(weights=data["weight"])
    stratum = data["cluster"] // CLUSTERS
    made = mw.Sample(weights=data["weight"], strata=stratum, clusters=data["cluster"])
    return made if name == "strata and clusters" else made.with_replicates("jkn")


def rejections(name: str, masks: tuple[Design, Design], surveys: int, number: int) -> dict[str, int]:
    """How many surveys reject, by test."""
    rng = np.random.default_rng([SEED, number])
    both = mw.designs.product(*masks, names=["habit", "insured"])
    rejected: dict[str, int] = {}
    drawn = [independent(survey(rng)) if name == "weights" else survey(rng) for _ in range(surveys)]
    n = len(drawn[0]["habit"])
    habit = np.concatenate([data["habit"] for data in drawn])
    insured = np.concatenate([data["insured"] for data in drawn])
    labels = {"habit": np.array(X, object)[habit], "insured": np.array(Y, object)[insured]}
    reports = both.mask(labels, seed=SEED + number)
    sets = SETS.mask(labels["habit"], seed=SEED + 100 + number)
    for at, data in enumerate(drawn):
        chosen = sample(name, data)
        here = slice(at * n, (at + 1) * n)
        for test, p_value in p_values(reports.part(here), sets.part(here), chosen, data["sex"]).items():
            rejected[test] = rejected.get(test, 0) + (p_value <= LEVEL)
    return rejected


def of_case(case: tuple[int, str, str], surveys: int) -> dict[str, int]:
    """The same for a sample design and a kind of masking, by their names."""
    number, name, mask = case
    return rejections(name, MASKS[mask], surveys, number)


def independent(data: dict[str, Any]) -> dict[str, Any]:
    """The same people as if each were drawn from a cluster of its own."""
    rng = np.random.default_rng(int(data["habit"].sum()) + 1000 * int(data["insured"].sum()))
    n = len(data["habit"])
    habit = np.searchsorted(np.cumsum(SHARES)[:2], rng.random(n))
    return {**data, "habit": habit, "insured": (rng.random(n) > 0.5).astype(int)}


def p_values(reports: mw.Reports, sets: mw.Reports, chosen: mw.Sample, sex: Any) -> dict[str, float]:
    """Every test whose hypothesis is true."""
    joint: Any = mw.estimate(reports, sample=chosen)
    habit = joint.part_of("habit")
    found = {
        f"independence, {method}": mw.independence_test(reports, method, sample=chosen).p_value
        for method in ("rao-scott", "wald")
    }
    found |= {
        f"homogeneity, {method}": mw.homogeneity_test(habit, sex, sample=chosen, method=method).p_value
        for method in ("rao-scott", "wald")
    }
    found["fit, rao-scott"] = mw.goodness_of_fit(sets, sample=chosen).p_value
    difference = mw.compare_groups(habit, sex, {"never": 1}, sample=chosen)
    alone = joint.marginal("habit")
    numbers = {"habit": {"never": 0, "once": 1, "often": 2}}
    found["correlation"] = mw.correlations(reports, numbers, sample=chosen).of("habit", "insured").test().p_value
    ratio = mw.ratio(habit, {"once": 1}, {"never": 1}, sample=chosen)
    found["ratio"] = ratio.test(float(SHARES[1] / SHARES[0])).p_value
    fit = mw.regress("insured ~ sex", {"sex": sex}, masked={"insured": joint.part_of("insured")}, sample=chosen)
    found["term of a logit, Wald"] = fit.wald_test("sex").p_value
    for alternative in ("two-sided", "less", "greater"):
        found[f"difference of groups, {alternative}"] = difference.test(alternative=alternative).p_value
        found[f"proportion, {alternative}"] = alone.test("never", float(SHARES[0]), alternative).p_value
    return found


def run(size: Size) -> Result:
    """Draw, mask and test, again and again."""
    surveys = SURVEYS[size]
    low, high = BAND[0] * surveys, BAND[1] * surveys
    if size == "reduced":
        low = binom.ppf(FALSE_ALARM / COMPARISONS / 2, surveys, BAND[0])
        high = binom.isf(FALSE_ALARM / COMPARISONS / 2, surveys, BAND[1])
    rows, failures, rates = [], [], []
    cases = [(number, name, mask) for number, (name, mask) in enumerate(product(SAMPLES, MASKS))]
    for (_, name, mask), counts in zip(cases, measured(partial(of_case, surveys=surveys), cases, size), strict=True):
        for test, rejected in counts.items():
            rates.append(rejected / surveys)
            rows.append((test, name, mask, f"{rejected / surveys:.4f}"))
            if not low <= rejected <= high:
                failures.append(f"{test}, {name}, {mask}: rejects {rejected / surveys:.4f}")
    return Result(
        name="sampled_tests",
        title="The size of tests in complex samples of masked answers",
        question=f"How often does a test at {LEVEL:.0%} reject a hypothesis that is true? {STRATA} strata of "
        f"{CLUSTERS} clusters of {PEOPLE} people, whose clusters differ in both answers and in who lives there, but "
        "apart from each other; with weights alone, people are independent. Answers are open, or masked by minimax at "
        "ε = 2 and Warner .85; the test of fit is of RAPPOR at ε = 3.",
        criterion=f"Every test rejects within {BAND[0]} to {BAND[1]}; a reduced run within binomial limits around "
        f"these, false alarm {FALSE_ALARM:g} over at most {COMPARISONS} comparisons.",
        sizes={"surveys": surveys, "respondents": STRATA * CLUSTERS * PEOPLE, "seed": SEED},
        findings=[
            f"{len(rows)} tests by sample designs, {surveys:,} surveys each: rejected {min(rates):.3f} to "
            f"{max(rates):.3f}, {np.mean(rates):.3f} on average; {len(failures)} outside the limits."
        ],
        tables=[
            Table("Share of surveys in which a true hypothesis was rejected:", ("test", "sample", "", "rate"), rows)
        ],
        failures=failures,
    )
