"""Is the share of a category a given value? One category against one number, to both sides or to one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from maskwell.errors import EstimationError
from maskwell.exact import given_fraction
from maskwell.inference import alternatives
from maskwell.inference.alternatives import Alternative
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.tables.labels import text_of

if TYPE_CHECKING:
    from maskwell.inference.estimates import Estimate

Kind = Literal["exact", "score", "wald"]


class VarianceModel(Protocol):
    """What a score test needs of an estimate."""

    def variance_if(self, at: int, value: float) -> float:
        """The variance of one category's estimate if its share were ``value``."""


class BinomialModel(Protocol):
    """What an exact test needs of an estimate."""

    def binomial_count(self, at: int, value: float) -> tuple[int, float]:
        """How many reports hold a category, and the chance that one does if the category's share is ``value``."""


def kinds(estimate: Estimate) -> tuple[Kind, ...]:
    """The tests that hold for an estimate, the best one first."""
    models: dict[Kind, object | None] = {"exact": estimate.binomial_model, "score": estimate.variance_model}
    return (*(kind for kind, model in models.items() if model is not None), "wald")


def proportion_test(
    estimate: Estimate, category: Any, value: float, alternative: Alternative, method: Kind | None
) -> HypothesisTest:
    """The test of one category; see ``Estimate.test``."""
    alternatives.checked(alternative)
    if category not in estimate.design.categories:
        raise EstimationError(f"category {category!r} is not a category of the design.", parameter="category")
    value = float(given_fraction(value, "value", EstimationError))
    if not 0 <= value <= 1:
        raise EstimationError(f"value must be a share from 0 to 1; got {value}.", parameter="value")
    at = estimate.design.categories.index(category)
    possible = kinds(estimate)
    kind = method or possible[0]
    if kind not in get_args(Kind):
        raise EstimationError(f"method must be one of {', '.join(get_args(Kind))}; got {method!r}.", "method")
    if kind not in possible:
        raise EstimationError(
            f"{kind} does not hold for this estimate; possible: {', '.join(possible)}.", parameter="method"
        )
    name = f"share of {text_of(category)}, {alternatives.words(alternative)} {value:g} ({kind})"
    if kind == "exact" and estimate.binomial_model is not None:
        return _exact(estimate.binomial_model, estimate.n, at, value, alternative, name)
    variance = float(estimate.variances[at])
    if kind == "score" and estimate.variance_model is not None:
        variance = estimate.variance_model.variance_if(at, value)
    error = math.sqrt(variance)
    if not 0 < error < math.inf:
        raise EstimationError(
            f"reports of people of whom a share of {value:g} has this category would not vary, or determine nothing: "
            "there is no test."
        )
    df = estimate.degrees_of_freedom
    z = (float(estimate.proportions[at]) - value) / error
    law = "standard normal" if math.isinf(df) else f"Student's t with {df:.4g} df"
    return HypothesisTest(name, z, None, alternatives.p_value(z, df, alternative), law=law)


def _exact(model: BinomialModel, n: int, at: int, value: float, alternative: Alternative, name: str) -> HypothesisTest:
    """The binomial count of reports that hold the category; both sides are twice the smaller tail."""
    from maskwell.numerics.beta import binomial_cdf

    count, chance = model.binomial_count(at, value)
    below = binomial_cdf(count, n, chance)
    above = binomial_cdf(n - count, n, 1 - chance)
    p = {"less": below, "greater": above, "two-sided": min(1.0, 2 * min(below, above))}[alternative]
    return HypothesisTest(name, float(count), None, p)
