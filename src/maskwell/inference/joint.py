"""Joint estimates of several variables, from the distinct joint reports of a product design.

The joint score of a report is the product of its variables' scores, so estimates, variances and covariances are sums
over distinct reports and products of small tensors; no table over all joint reports is formed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Matrix, Method, Scores, Vector
from maskwell.designs.product import ProductDesign
from maskwell.errors import EstimationError
from maskwell.inference.linear import Contrast, Estimate, LinearEstimate, estimate
from maskwell.sampling.plans import Packed
from maskwell.tally import Tally

_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class JointScores:
    """Products of the variables' scores, evaluated at the distinct reports of one tally."""

    design: ProductDesign
    method: Method
    packed: Packed

    @cached_property
    def _parts(self) -> list[Scores]:
        return [part.scores(self.method) for part in self.design.parts]

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(part.k for part in self.design.parts)

    def rows(self, packed: Packed) -> Matrix:
        return self.design.score_rows(self.method, packed)

    def mean(self, counts: NDArray[Any]) -> Vector:
        step = max(1, _CELLS_AT_ONCE // self.design.k)
        total = np.zeros(self.design.k)
        for start in range(0, len(self.packed), step):
            total += counts[start : start + step] @ self.rows(self.packed[start : start + step])
        mean: Vector = total / counts.sum()
        return mean

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        table = proportions.reshape(self._shape)
        for axis, scores in enumerate(self._parts):
            own = np.einsum("iit->it", scores.by_truth())
            table = np.moveaxis(np.tensordot(own, table, axes=(1, axis)), 0, axis)
        return table.reshape(-1)

    def second_moment(self, proportions: Vector) -> Matrix:
        d = len(self._shape)
        table = proportions.reshape(self._shape)
        for scores in self._parts:
            # The first axis, a variable's truth, becomes a pair of score axes at the end.
            table = np.tensordot(table, scores.by_truth(), axes=(0, 2))
        order = [2 * i for i in range(d)] + [2 * i + 1 for i in range(d)]
        moment: Matrix = table.transpose(order).reshape(self.design.k, self.design.k)
        return moment

    def by_truth(self) -> NDArray[np.float64]:
        raise EstimationError("joint scores keep their moments by variable.")

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """The other cells keep their shares of what a cell leaves."""
        own = reduce(np.multiply.outer, [np.einsum("iii->i", s.by_truth()) for s in self._parts]).reshape(-1)
        shares = np.clip(proportions, 1e-12, None)
        rest = (self.second_moment_diagonal(shares) - own * shares) / (shares.sum() - shares)
        return rest, own - rest

    def binomial(self) -> None:
        return None


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

    def conditional(self, of: Any, given: Any) -> Contrast:
        """The proportion of ``of`` among those with ``given``, by the delta method.

        Both are mappings from variable names to labels: ``conditional(of={"income": "high"}, given={"sex": "f"})``.
        """
        both, base = self._cells({**given, **of}), self._cells(given)
        above, below = float(both @ self.proportions), float(base @ self.proportions)
        if below <= 0:
            raise EstimationError(
                f"the estimated proportion with {given!r} is {below:.4g}; a share of it cannot be estimated."
            )
        ratio = above / below
        gradient = (both - ratio * base) / below
        return Contrast(ratio, math.sqrt(max(float(gradient @ self.covariance @ gradient), 0.0)))

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
    return JointEstimate(tally, method, JointScores(design, method, tally.kept_patterns.packed))
