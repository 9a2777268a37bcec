"""``estimate``: every method by its name, and sums of proportions also where the proportions cannot be told apart."""

from __future__ import annotations

import math
from typing import Any, Literal

from maskwell.designs.base import Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.contrasts import Contrast, ContrastScores, contrast_vector, report_weights
from maskwell.inference.estimates import Estimate
from maskwell.inference.joint import linear_estimate
from maskwell.inference.regression.frame.arms import Arms
from maskwell.inference.sample.methods import LIKELIHOODS, sampled_estimate
from maskwell.inference.sample.quotients import contrast_in_sample
from maskwell.inference.sample.sample import Sample
from maskwell.reports import Reports
from maskwell.reports.tally import Tally

METHODS = ("linear", "moments", "likelihood", "one-step")


def estimate(
    tally: Tally | Reports,
    method: Literal["linear", "moments", "likelihood", "one-step"] = "linear",
    sample: Sample | None = None,
    *,
    weights: Any = None,
) -> Estimate:
    """Estimate the proportions of all categories.

    ``linear`` is the minimax linear estimator; ``moments`` inverts the inclusion counts (for matrices: unweighted
    least squares). Both are unbiased, so single entries may fall outside [0, 1]. ``likelihood`` is the maximum over
    proportions that are at least 0 and sum to 1, which is more precise where sets are reported, and biased near 0;
    ``one-step`` is one Newton step towards it. For reports that are sets these two need each distinct report, as
    ``reports.tally(patterns=True)`` keeps it.

    With ``sample``, a :class:`~maskwell.Sample` with a record for each report, the estimate is the weighted mean
    of the scores, or the maximum of the weighted likelihood, and its covariance that of the sample. ``weights`` alone,
    one number per report, are those of a sample without strata and clusters.

    >>> import maskwell as mw
    >>> design = mw.designs.warner(truth_prob=0.75)
    >>> mw.estimate(mw.Tally.from_counts(design, [500, 500])).proportions
    array([0.5, 0.5])
    """
    _refuse_arms(tally)
    if weights is not None:
        tally = _weighted(tally, weights, sample, patterns=True if method in LIKELIHOODS else None)
    if sample is not None:
        return sampled_estimate(tally, sample, method)
    if method == "likelihood" or method == "one-step":
        from maskwell.inference.likelihood.estimate import estimate_likelihood

        return estimate_likelihood(as_tally(tally, patterns=True), method)
    counted = as_tally(tally)
    if method not in METHODS:
        raise EstimationError(f"method must be one of {', '.join(METHODS)}; got {method!r}.", parameter="method")
    return linear_estimate(counted, method)


def _weighted(reports: Any, weights: Any, sample: Sample | None, patterns: bool | None) -> Tally:
    """The tally of reports with weights."""
    if sample is not None:
        raise DataError("weights belong to the sample; give them to mw.Sample.", parameter="weights")
    if not isinstance(reports, Reports):
        raise DataError(
            "weights need Reports, one weight each: a tally no longer knows who gave which report. Give them when it "
            "is made: reports.tally(weights=...).",
            parameter="weights",
        )
    return reports.tally(weights, patterns)


def _refuse_arms(given: object) -> None:
    """An error that says what does take arms."""
    if isinstance(given, Arms):
        raise EstimationError(
            "estimate needs reports of one design, and arms have several. mw.compliance(arms, {}), with sample= where "
            "there is one, fits one population to all arms, and its proportions are those of all; or estimate each arm."
        )


def as_tally(tally: Tally | Reports, patterns: bool | None = None) -> Tally:
    """The tally of what was given, if it holds reports."""
    counted = tally.tally(patterns=patterns) if isinstance(tally, Reports) else tally
    _refuse_arms(counted)
    if not isinstance(counted, Tally):
        raise EstimationError(
            f"estimate needs a Tally or Reports; got {type(tally).__name__}. Masked values come from design.mask."
        )
    counted.refuse_sample("take the estimate that it came from, or the reports with sample=")
    if counted.n == 0:
        raise EstimationError("there are no reports to estimate from.")
    return counted


def estimate_contrast(tally: Tally | Reports, scores: ContrastScores, *, sample: Sample | None = None) -> Contrast:
    """A weighted sum of proportions, also where the single proportions cannot be estimated, such as a group's total.

    With ``sample`` its standard error and its limits are those of the sample.
    """
    if sample is not None:
        return contrast_in_sample(tally, sample, scores)
    counted = as_tally(tally)
    vector = contrast_vector(counted.design, scores)
    if math.isinf(counted.design.added_variance):
        return _contrast_of_deficient(counted, vector)
    return linear_estimate(counted).contrast(vector)


def _contrast_of_deficient(tally: Tally, vector: Vector) -> Contrast:
    """``vector @ p``, if ``vector`` is a combination of rows of P."""
    design = tally.design
    if tally.counts.ndim != 1 or tally.squares is not None:
        raise EstimationError(f"{design.title} reports carry no information about this sum, or are weighted.")
    weights = report_weights(design, vector)
    frequencies = tally.counts / tally.n
    value = float(weights @ frequencies)
    return Contrast(value, math.sqrt(max(float(weights**2 @ frequencies) - value**2, 0.0) / tally.n))
