"""Maximum likelihood for several variables at once."""

from __future__ import annotations

from dataclasses import dataclass

from maskwell.inference.joint import JointTable, estimate_joint
from maskwell.inference.likelihood.estimate import LikelihoodEstimate, estimate_likelihood


@dataclass(frozen=True, eq=False, repr=False)
class JointLikelihoodEstimate(JointTable, LikelihoodEstimate):
    """A likelihood estimate of joint proportions."""

    def marginal(self, name: str) -> LikelihoodEstimate:
        """The estimate of one variable by itself; the sums of ``table`` use the other variables' reports as well."""
        return estimate_likelihood(self.tally.marginal(name), self.method)

    def _with_covariance(self) -> JointTable:
        """Itself inside the simplex; at its boundary the maximum is biased, and the linear estimate takes its place."""
        return estimate_joint(self.tally, "linear") if self.at_zero or self.undetermined else self
