"""Maximum likelihood for several variables at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from maskwell.inference.joint import JointTable
from maskwell.inference.likelihood import LikelihoodEstimate, estimate_likelihood
from maskwell.tally import Patterns


@dataclass(frozen=True, eq=False, repr=False)
class JointLikelihoodEstimate(JointTable, LikelihoodEstimate):
    """A likelihood estimate of joint proportions."""

    def marginal(self, name: str) -> LikelihoodEstimate:
        """The estimate of one variable by itself; the sums of ``table`` use the other variables' reports as well."""
        kept = self.tally.kept_patterns
        assert kept is not None
        tally = self.tally.marginal(name)
        packed = self._product.split(kept.packed)[self._product.names.index(name)]
        if packed.ndim > 1:
            # Repeated rows are as good as distinct ones here.
            tally = replace(tally, kept_patterns=Patterns(packed, kept.counts, kept.squares))
        return estimate_likelihood(tally, self.method)
