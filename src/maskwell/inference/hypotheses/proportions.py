"""Is the share of a category a given value? One category against one number, to both sides or to one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

from maskwell.errors import EstimationError
from maskwell.inference import alternatives
from maskwell.inference.alternatives import Alternative
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.tables.labels import text_of

if TYPE_CHECKING:
    from maskwell.inference.estimates import Estimate

Kind = Literal["exact", "score", "wald"]


def proportion_test(
    estimate: Estimate, category: Any, value: float, alternative: Alternative, method: Kind | None
) -> HypothesisTest:
    """The test of one category; see ``Estimate.test``."""
    alternatives.checked(alternative)
    if category not in estimate.design.categories:
        raise EstimationError(f"category {category!r} is not a category of the design.", parameter="category")
    if not 0 <= value <= 1:
        raise EstimationError(f"value must be a share from 0 to 1; got {value}.", parameter="value")
    at = estimate.design.categories.index(category)
    kind = method or estimate.possible_tests[0]
    if kind not in get_args(Kind):
        raise EstimationError(f"method must be one of {', '.join(get_args(Kind))}; got {method!r}.", "method")
    if kind not in estimate.possible_tests:
        possible = ", ".join(estimate.possible_tests)
        raise EstimationError(f"{kind} does not hold for this estimate; possible: {possible}.", parameter="method")
    name = f"share of {text_of(category)}, {alternatives.words(alternative)} {value:g} ({kind})"
    if kind == "exact":
        return _exact(estimate, at, value, alternative, name)
    error = math.sqrt(estimate.variance_if(at, value) if kind == "score" else float(estimate.variances[at]))
    if not 0 < error < math.inf:
        raise EstimationError(
            f"reports of people of whom a share of {value:g} has this category would not vary, or determine nothing: "
            "there is no test."
        )
    df = estimate.degrees_of_freedom
    z = (float(estimate.proportions[at]) - value) / error
    law = "standard normal" if math.isinf(df) else f"Student's t with {df:.4g} df"
    return HypothesisTest(name, z, None, alternatives.p_value(z, df, alternative), law=law)


def _exact(estimate: Estimate, at: int, value: float, alternative: Alternative, name: str) -> HypothesisTest:
    """The binomial count of reports that hold the category; both sides are twice the smaller tail."""
    from maskwell.numerics.beta import binomial_cdf

    count, chance = estimate.binomial_count(at, value)
    below = binomial_cdf(count, estimate.n, chance)
    above = binomial_cdf(estimate.n - count, estimate.n, 1 - chance)
    p = {"less": below, "greater": above, "two-sided": min(1.0, 2 * min(below, above))}[alternative]
    return HypothesisTest(name, float(count), None, p)
