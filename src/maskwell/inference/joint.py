"""Joint estimates of several variables, from the distinct joint reports of a product design.

The joint score of a report is the product of its variables' scores, so estimates, variances and covariances are sums
over distinct reports and products of small tensors; no table over all joint reports is formed.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Method, Vector
from maskwell.errors import EstimationError
from maskwell.inference.contrasts import Contrast
from maskwell.inference.cramers_v import CramersV, corrected_v
from maskwell.inference.estimates import Estimate
from maskwell.inference.linear import LinearEstimate
from maskwell.reports.tally import Tally

_MOST_ASSOCIATED = 4_000


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(Estimate):
    """Estimated joint proportions of the variables of a product; ``proportions`` runs over ``design.categories``."""

    @property
    def _variables(self) -> dict[str, Design]:
        return self.design.variables

    @property
    def table(self) -> NDArray[np.float64]:
        """The joint proportions as an array with one axis per variable."""
        return self.proportions.reshape([part.k for part in self._variables.values()])

    def category_columns(self, positions: Sequence[int] | None = None) -> dict[str, list[Any]]:
        labels: Any = self.design.categories
        cells = labels if positions is None else [labels[at] for at in positions]
        return {name: [str(cell[i]) for cell in cells] for i, name in enumerate(self._variables)}

    def associated(self, level: float) -> dict[str, Any]:
        if self.table.ndim != 2:
            return {}
        try:
            return {"association": self.association().to_dict(level)}
        except EstimationError:
            return {"association": None}

    def remarks(self) -> list[str]:
        remarks = super().remarks()
        if len(self._variables) == 2:
            with contextlib.suppress(EstimationError):
                found = self.association()
                low, high = found.interval()
                remarks.append(
                    f"association of {' and '.join(self._variables)}: Cramér's V {found.value:.3f}, 95 % interval "
                    f"{low:.3f} to {high:.3f}, corrected for noise, with which it would be {found.uncorrected:.3f}"
                )
        return remarks

    def conditional(self, of: Any, given: Any) -> Contrast:
        """The proportion of ``of`` among those with ``given``, by the delta method.

        Both are mappings from variable names to labels: ``conditional(of={"income": "high"}, given={"sex": "f"})``.
        """
        both, base = self._share(of, given)
        ratio = float(both @ self.proportions) / float(base @ self.proportions)
        gradient = (both - ratio * base) / float(base @ self.proportions)
        error = math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0))
        return self.stated(ratio, error, "conditional share")

    def conditional_interval(
        self, of: Any, given: Any, level: float = 0.95, *, seed: int | None = None
    ) -> tuple[float, float]:
        """Bootstrap limits of a conditional proportion, for shares near 0 or 1 or of small groups."""
        from maskwell.inference.intervals.bootstrap import ratio_limits

        both, base = self._share(of, given)
        return ratio_limits(self, both, base, level, seed)

    def _share(self, of: Any, given: Any) -> tuple[Vector, Vector]:
        """The cells of a share and those that it is a share of."""
        both, base = self._cells({**given, **of}), self._cells(given)
        below = float(base @ self.proportions)
        if below <= 0:
            raise EstimationError(
                f"the estimated proportion with {given!r} is {below:.4g}; a share of it cannot be estimated."
            )
        return both, base

    def _cells(self, labels: dict[str, Any]) -> Vector:
        """1 for the joint categories that have these labels, 0 for the others."""
        axes = []
        for name, part in self._variables.items():
            wanted = labels.get(name)
            if wanted is not None and wanted not in part.categories:
                raise EstimationError(f"variable {name!r} has no category {wanted!r}.")
            axes.append(np.array([float(wanted is None or c == wanted) for c in part.categories]))
        unknown = [name for name in labels if name not in self._variables]
        if unknown:
            raise EstimationError(f"there is no variable {unknown[0]!r}; variables: {', '.join(self._variables)}.")
        return reduce(np.multiply.outer, axes).reshape(-1)

    def association(self) -> CramersV:
        """Cramér's V of two variables, corrected for the noise of masking and sampling, with limits inside [0, 1]."""
        if len(self._variables) != 2:
            raise EstimationError("association needs two variables; take a product of two.")
        if self.design.k > _MOST_ASSOCIATED:
            raise EstimationError(
                f"association needs the covariance of all cells, and there are {self.design.k:,}; up to "
                f"{_MOST_ASSOCIATED:,} are possible. Group categories, or test independence."
            )
        whole = self._with_covariance()
        found = corrected_v(whole.proportions.reshape(self.table.shape), whole.covariance)
        if found is None:
            raise EstimationError("association needs two categories or more, each with some people, of both variables.")
        return found

    def _with_covariance(self) -> Estimate:
        """The estimate whose noise is known: unbiased, with a covariance."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class JointEstimate(JointTable, LinearEstimate):
    """A linear estimate of joint proportions."""

    def marginal(self, name: str) -> Estimate:
        """The estimate of one variable by itself."""
        return linear_estimate(self.tally.marginal(name), "moments" if self.method == "moments" else "linear")


def linear_estimate(tally: Tally, method: Method = "linear") -> LinearEstimate:
    """The linear estimate of a tally: of one variable, or of several together."""
    scores = tally.design.scores(method)
    if not tally.design.variables:
        return LinearEstimate(tally, method, scores)
    if tally.kept_patterns is None:
        raise EstimationError("a joint estimate needs the tally of a product with its patterns; use reports.tally().")
    return JointEstimate(tally, method, scores.over(tally.kept_patterns.packed))
