"""Joint estimates of several variables, from the distinct joint reports of a product design.

The joint score of a report is the product of its variables' scores, so estimates, variances and covariances are sums
over distinct reports and products of small tensors; no table over all joint reports is formed.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Method, Vector
from maskwell.designs.product import ProductDesign, ProductScores
from maskwell.errors import EstimationError
from maskwell.inference.linear import Contrast, Estimate, LinearEstimate, estimate
from maskwell.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class JointTable(Estimate):
    """Estimated joint proportions of the variables of a product; ``proportions`` runs over ``design.categories``."""

    @property
    def _product(self) -> ProductDesign:
        design = self.design
        assert isinstance(design, ProductDesign)
        return design

    @property
    def table(self) -> NDArray[np.float64]:
        """The joint proportions as an array with one axis per variable."""
        return self.proportions.reshape([part.k for part in self._product.parts])

    def category_columns(self) -> dict[str, list[Any]]:
        cells: Any = self.design.categories
        return {name: [str(cell[i]) for cell in cells] for i, name in enumerate(self._product.names)}

    def remarks(self) -> list[str]:
        remarks = super().remarks()
        if len(self._product.parts) == 2:
            with contextlib.suppress(EstimationError):
                found = self.association()
                remarks.append(
                    f"association of {' and '.join(self._product.names)}: Cramér's V {found.value:.3f}, standard error "
                    f"{found.standard_error:.3f}; noise alone keeps V above 0, so test independence before believing it"
                )
        return remarks

    def conditional(self, of: Any, given: Any) -> Contrast:
        """The proportion of ``of`` among those with ``given``, by the delta method.

        Both are mappings from variable names to labels: ``conditional(of={"income": "high"}, given={"sex": "f"})``.
        """
        both, base = self._share(of, given)
        ratio = float(both @ self.proportions) / float(base @ self.proportions)
        gradient = (both - ratio * base) / float(base @ self.proportions)
        return Contrast(ratio, math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0)))

    def conditional_interval(
        self, of: Any, given: Any, level: float = 0.95, *, replicates: int = 999, seed: int | None = None
    ) -> tuple[float, float]:
        """Bootstrap limits (percentiles) of a conditional proportion, for shares near 0 or 1 or of small groups."""
        from maskwell.inference.bootstrap import percentiles, replicated

        both, base = self._share(of, given)
        found = replicated(self.tally, self.method, self.proportions, replicates, seed)
        if (found @ base).min() <= 0:
            raise EstimationError(
                f"in some replicate nobody is left with {given!r}; use conditional(...).interval() instead."
            )
        low, high = percentiles((found @ both) / (found @ base), level)
        return float(low), float(high)

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
        for name, part in zip(self._product.names, self._product.parts, strict=True):
            wanted = labels.get(name)
            if wanted is not None and wanted not in part.categories:
                raise EstimationError(f"variable {name!r} has no category {wanted!r}.")
            axes.append(np.array([float(wanted is None or c == wanted) for c in part.categories]))
        unknown = [name for name in labels if name not in self._product.names]
        if unknown:
            raise EstimationError(f"there is no variable {unknown[0]!r}; variables: {', '.join(self._product.names)}.")
        return reduce(np.multiply.outer, axes).reshape(-1)

    def association(self) -> Contrast:
        """Cramér's V of two variables from the estimated table, with a delta-method standard error."""
        table = self.table
        if table.ndim != 2:
            raise EstimationError("association needs two variables; take a product of two.")
        if (table.sum(axis=1) <= 0).any() or (table.sum(axis=0) <= 0).any():
            raise EstimationError("a marginal proportion is estimated at or below 0; the association is not defined.")
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        scale = min(table.shape) - 1
        phi2 = float((table**2 / np.outer(rows, columns)).sum() - 1)
        value = math.sqrt(max(phi2, 0.0) / scale)
        # d phi2 / d w_ij = 2 w_ij / (r_i c_j) - sum_j w_ij^2 / (r_i^2 c_j) - sum_i w_ij^2 / (r_i c_j^2)
        by_row = (table**2 / columns).sum(axis=1) / rows**2
        by_column = (table**2 / rows[:, None]).sum(axis=0) / columns**2
        gradient = (2 * table / np.outer(rows, columns) - by_row[:, None] - by_column).reshape(-1)
        spread = math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0))
        return Contrast(value, spread / (2 * scale * value) if value > 0 else math.inf)


@dataclass(frozen=True, eq=False, repr=False)
class JointEstimate(JointTable, LinearEstimate):
    """A linear estimate of joint proportions."""

    def marginal(self, name: str) -> Estimate:
        """The estimate of one variable by itself."""
        return estimate(self.tally.marginal(name), "moments" if self.method == "moments" else "linear")


def estimate_joint(tally: Tally, method: Method) -> JointEstimate:
    """The joint estimate of a product's tally."""
    design = tally.design
    if not isinstance(design, ProductDesign) or tally.kept_patterns is None:
        raise EstimationError("a joint estimate needs the tally of a product with its patterns; use reports.tally().")
    return JointEstimate(tally, method, ProductScores(design, method, tally.kept_patterns.packed))
