"""From tallies to estimates: proportions with covariance, intervals and contrasts."""

from maskwell.inference.linear import Contrast, Estimate, Projection, estimate, estimate_contrast

__all__ = ["Contrast", "Estimate", "Projection", "estimate", "estimate_contrast"]
