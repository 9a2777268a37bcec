"""Every method of estimation in a sample, by its name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Method
from maskwell.errors import EstimationError
from maskwell.inference.sample.estimates import linear_in_sample, linear_of_scores
from maskwell.inference.sample.from_sample import FromSample
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import SampledScores, require_reports
from maskwell.reports import Reports

LINEAR: tuple[Method, ...] = ("linear", "moments")
LIKELIHOODS = ("likelihood", "one-step")


def sampled_estimate(
    reports: Any, sample: Sample, method: Any = "linear", domain: NDArray[np.bool_] | None = None
) -> FromSample:
    """The estimate of all records of a sample, or of a domain of them."""
    require_reports(reports)
    _require_method(method)
    if method in LINEAR:
        return linear_in_sample(reports, sample, method, domain)
    from maskwell.inference.sample.likelihood import likelihood_in_sample

    return likelihood_in_sample(reports, sample, method, domain)


def sampled_groups(
    reports: Reports, labels: list[Any], codes: NDArray[np.int64], sample: Sample, method: Any
) -> dict[Any, FromSample]:
    """The estimate of each group, as a domain of the sample."""
    _require_method(method)
    if method in LINEAR:
        scores = SampledScores.of(reports, sample, method)
        return {label: linear_of_scores(scores, reports, method, codes == at) for at, label in enumerate(labels)}
    return {label: sampled_estimate(reports, sample, method, codes == at) for at, label in enumerate(labels)}


def _require_method(method: Any) -> None:
    known = (*LINEAR, *LIKELIHOODS)
    if method not in known:
        raise EstimationError(f"method must be one of {', '.join(known)}; got {method!r}.", parameter="method")
