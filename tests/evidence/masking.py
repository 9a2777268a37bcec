"""From true values through masking to estimates: bias, variance and coverage of whole surveys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import maskwell as mw
from maskwell.designs import Design, SubsetDesign
from tests.evidence.cases import CASES, METHODS, Case, Floats, expected_counts
from tests.evidence.limits import CHECKS, FALSE_ALARM, LEVEL, SINGLE, covers, described, promised, within
from tests.evidence.record import Result, Size, Table

SEED = 4242
SURVEYS: dict[Size, int] = {"reduced": 300, "full": 2_000}
RESPONDENTS = 500


@dataclass(frozen=True)
class Outcome:
    """One design and estimator over many surveys; z-values are of means over surveys."""

    case: str
    method: str
    largest_bias: float
    bias_z: float
    variance_ratio: float
    variance_z: float
    reported_ratio: float
    covered: list[int]
    expected: list[float]


def run(size: Size) -> Result:
    """Mask, tally and estimate every design."""
    from scipy.stats import norm

    surveys = SURVEYS[size]
    found = [outcome for case in CASES for outcome in measure(case, surveys)]
    limit = float(norm.isf(FALSE_ALARM / CHECKS / 2))
    failures = []
    for o in found:
        what = f"{o.case}, {o.method}"
        if o.bias_z > limit:
            failures.append(f"{what}: bias {o.largest_bias:.2g} is {o.bias_z:.1f} standard errors")
        if abs(o.variance_z) > limit:
            failures.append(
                f"{what}: variance {o.variance_ratio:.3f} of the exact one, {o.variance_z:.1f} standard errors off"
            )
        for expected, covered in zip(o.expected, o.covered, strict=True):
            band = promised(SINGLE["wilson"], expected)
            if band and not within(covered, surveys, *band):
                failures.append(f"{what}: Wilson covers in {covered / surveys:.3f}, promised {band}")
    rows = [
        (
            o.case,
            o.method,
            f"{o.largest_bias:.1e}",
            f"{o.bias_z:.1f}",
            f"{o.variance_ratio:.3f}",
            f"{o.variance_z:+.1f}",
            f"{o.reported_ratio:.3f}",
            f"{min(o.covered) / surveys:.3f}",
        )
        for o in found
    ]
    return Result(
        name="masking",
        title="Bias, variance and coverage of whole surveys",
        question=f"Every design masks the true values of {surveys:,} surveys of {RESPONDENTS} respondents each, "
        "drawn from a population with rare categories; every survey is tallied and estimated. Are the estimates "
        "unbiased, is their variance the one that the matrix implies, and do Wilson intervals cover?",
        criterion=f"Mean estimates and the mean squared distance from the truth within {limit:.1f} standard errors "
        "of their exact values; coverage within binomial limits of its band "
        f"({described({'wilson': SINGLE['wilson']})}). False alarm {FALSE_ALARM:g} over all comparisons.",
        sizes={"surveys per design": surveys, "respondents": RESPONDENTS, "designs": len(CASES), "seed": SEED},
        findings=[
            f"{len(CASES)} designs, {surveys * len(CASES) * RESPONDENTS:,} masked values: largest bias "
            f"{max(o.bias_z for o in found):.1f} standard errors, variance within "
            f"{max(abs(o.variance_ratio - 1) for o in found):.1%} of the exact one.",
            f"Reported variances average {min(o.reported_ratio for o in found):.3f} to "
            f"{max(o.reported_ratio for o in found):.3f} of the exact ones.",
        ],
        tables=[
            Table(
                "Largest bias of a category with its number of standard errors; squared distance from the truth "
                "relative to its exact mean, and the same for reported variances; least coverage of a 95 % Wilson "
                "interval:",
                ("design", "estimator", "bias", "z", "variance", "z", "reported", "coverage"),
                rows,
            )
        ],
        failures=failures,
    )


def measure(case: Case, surveys: int) -> list[Outcome]:
    """Bias, variance and coverage of both estimators from the same masked values."""
    design, truth = case.design, case.populations["rare"]
    rng = np.random.default_rng([SEED, case.seed])
    codes = rng.choice(design.k, size=surveys * RESPONDENTS, p=truth)
    reports = design.mask(np.array(design.categories)[codes], seed=SEED + case.seed)
    slices = [slice(i * RESPONDENTS, (i + 1) * RESPONDENTS) for i in range(surveys)]
    tallies = [mw.Reports(design, reports.packed[part]).tally() for part in slices]
    return [_outcome(case, truth, method, tallies) for method in METHODS]


def _outcome(case: Case, truth: Floats, method: str, tallies: list[mw.Tally]) -> Outcome:
    estimates = [mw.estimate(tally, method) for tally in tallies]
    proportions = np.array([estimate.proportions for estimate in estimates])
    exact = exact_covariance(case.design, truth, method) / RESPONDENTS
    surveys = len(estimates)
    errors = np.sqrt(np.maximum(np.diagonal(exact), 1e-300) / surveys)
    bias = np.abs(proportions.mean(axis=0) - truth)
    distances = ((proportions - truth) ** 2).sum(axis=1)
    expected = np.trace(exact)
    reported = np.mean([(estimate.standard_errors**2).sum() for estimate in estimates])
    covered = sum(covers(estimate.interval(LEVEL, "wilson"), truth).astype(int) for estimate in estimates)
    return Outcome(
        case.label,
        method,
        float(bias.max()),
        float((bias / errors)[np.diagonal(exact) > 1e-15].max()),
        float(distances.mean() / expected),
        float((distances.mean() - expected) / (distances.std() / np.sqrt(surveys))),
        float(reported / expected),
        covered.tolist(),
        expected_counts(case.design, truth, RESPONDENTS).tolist(),
    )


def exact_covariance(design: Design, truth: Floats, method: str) -> Floats:
    """n times the covariance, from the matrix alone: scores by least squares, their second moments by enumeration."""
    matrix = design.matrix()
    if method == "linear":
        # A report of probability zero at even shares never comes; its weight is free.
        weights = np.array([1 / p if p else 0 for p in matrix.mean(axis=1)])
        scores = np.linalg.solve(matrix.T @ (weights[:, None] * matrix), matrix.T * weights)
    elif isinstance(design.report_labels()[0], frozenset):
        members = np.array([[c in report for c in design.categories] for report in design.report_labels()], float)
        included = members.T @ matrix
        if isinstance(design, SubsetDesign):
            # Inclusion probabilities: A on the diagonal, B elsewhere; n (V_j/n - B)/(A - B) needs no sum over sizes.
            a, b = included[0, 0], included[0, 1]
            scores = (members.T - b) / (a - b)
        else:
            scores = np.linalg.solve(included, members.T)
    else:
        scores = np.linalg.solve(matrix.T @ matrix, matrix.T)
    return np.asarray((scores * (matrix @ truth)) @ scores.T - np.outer(truth, truth))
