"""From tallies to estimates and tests: proportions with covariance, intervals, contrasts, posteriors."""

from maskwell.inference.contrasts import Contrast
from maskwell.inference.domains import estimate_by, estimate_totals
from maskwell.inference.estimates import Estimate, Projection
from maskwell.inference.hypotheses.fit import goodness_of_fit
from maskwell.inference.hypotheses.homogeneity import homogeneity_test
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.hypotheses.independence import independence_test
from maskwell.inference.methods import estimate, estimate_contrast
from maskwell.inference.posterior import IndividualLeakage, individual_leakage, posterior
from maskwell.inference.sample.totals import Totals
from maskwell.inference.top import Top

__all__ = [
    "Contrast",
    "Estimate",
    "HypothesisTest",
    "IndividualLeakage",
    "Projection",
    "Top",
    "Totals",
    "estimate",
    "estimate_by",
    "estimate_contrast",
    "estimate_totals",
    "goodness_of_fit",
    "homogeneity_test",
    "independence_test",
    "individual_leakage",
    "posterior",
]
