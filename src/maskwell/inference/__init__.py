"""From tallies to estimates: proportions with covariance, intervals and contrasts."""

from maskwell.inference.fit_tests import goodness_of_fit, homogeneity_test
from maskwell.inference.hypothesis import HypothesisTest
from maskwell.inference.independence import independence_test
from maskwell.inference.linear import Contrast, Estimate, Projection, estimate, estimate_contrast

__all__ = [
    "Contrast",
    "Estimate",
    "HypothesisTest",
    "Projection",
    "estimate",
    "estimate_contrast",
    "goodness_of_fit",
    "homogeneity_test",
    "independence_test",
]
