"""From tallies to estimates: proportions with covariance, intervals and contrasts."""

from maskwell.inference.linear import Contrast, Estimate, Projection, estimate, estimate_contrast
from maskwell.inference.posterior import IndividualLeakage, individual_leakage, posterior

__all__ = [
    "Contrast",
    "Estimate",
    "IndividualLeakage",
    "Projection",
    "estimate",
    "estimate_contrast",
    "individual_leakage",
    "posterior",
]
