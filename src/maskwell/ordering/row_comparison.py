"""What proves that one design can be had from another by further randomisation, and how such a proof is found.

P is at least as informative as A if A = CP for a transition matrix C (chai-nayak-2018, Definition 4.1, after
Blackwell). C proves it. If there is none, linear programming duality gives a decision problem in which A does strictly
better than P, and that proves it too: payoffs Y by action and category, one action for each report of A, with

.. math:: \\sum_{ij} Y_{ij} a_{ij} > \\sum_u \\max_i \\sum_j Y_{ij} p_{uj}.

The left side is earned with A by taking action i on report i, the right side is the most that P can earn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.designs.channels.deviations import TOLERANCE
from maskwell.errors import DesignError
from maskwell.ordering.comparable import error_scale

_SMALL = 20_000  # up to here a simplex method takes less than a second
_NOT_HOPELESS = 400_000
_CELLS = 200_000_000
_RANK_TOLERANCE = 1e-11
_ROUNDING = 1e-15
_TINY = float(np.finfo(float).tiny)
# Seconds, because a degenerate program can send the simplex method round in circles.
SIMPLEX: Any = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10, "time_limit": 20.0}


class Finding(NamedTuple):
    """A transition matrix with its error, or payoffs with their gain."""

    transition: Matrix | None
    payoffs: Matrix | None
    slack: float

    @property
    def decisive(self) -> bool:
        """C is within the tolerance, or no C can be."""
        return self.transition is not None or self.slack > TOLERANCE


@dataclass(frozen=True)
class Comparison:
    """P and A without rows of zeros."""

    better: Matrix
    worse: Matrix

    @cached_property
    def scale(self) -> Vector:
        return error_scale(self.worse)

    def error(self, transition: Matrix) -> float:
        """The largest error of CP, relative to the largest entry of its row in A."""
        return float((np.abs(transition @ self.better - self.worse).max(axis=1) / self.scale).max())

    def gain(self, payoffs: Matrix) -> float:
        """What A earns above P, relative to the stakes: no C errs less. Zero where rounding could feign a gain."""
        earned = (payoffs * self.worse).sum()
        best = (self.better @ payoffs.T).max(axis=1).sum()
        stakes = np.abs(payoffs)
        doubt = _ROUNDING * ((self.better @ stakes.T).max(axis=1).sum() + (stakes * self.worse).sum())
        total = self.scale @ stakes.sum(axis=1)
        return float((earned - best) / total) if earned - best > doubt and total > 0 else 0.0

    def finding(self, transition: Matrix) -> Finding | None:
        """The transition matrix, if it is right to 1e-9."""
        error = self.error(transition)
        return Finding(transition, None, error) if error <= TOLERANCE else None

    def bet(self, payoffs: Matrix) -> Finding | None:
        """The payoffs, if A earns more than P with them."""
        gain = self.gain(payoffs)
        return Finding(None, payoffs, gain) if gain > 0 else None


@dataclass(frozen=True)
class Geometry:
    """The problem scaled to G U = B, with rows weighted by a and columns by q."""

    a: Vector
    q: Vector
    basis: Matrix
    target: Matrix
    back: Matrix  # from a combination of the columns of U to one of the categories

    @staticmethod
    def of(comparison: Comparison) -> Geometry:
        a, q = np.sqrt(comparison.worse.mean(axis=1)), np.sqrt(comparison.better.mean(axis=1))
        left, values, right = np.linalg.svd(comparison.better / q[:, None], full_matrices=False)
        rank = int((values > _RANK_TOLERANCE * values[0]).sum())
        back = right[:rank].T / values[:rank]
        return Geometry(a, q, left[:, :rank], (comparison.worse / a[:, None]) @ back, back)

    def on_target(self, G: Matrix) -> Matrix:
        """The nearest matrix that meets both equations, whatever its signs."""
        near = G + (self.target - G @ self.basis) @ self.basis.T
        nearest: Matrix = near + np.outer(self.a, self.q - self.a @ near)
        return nearest

    def transition(self, G: Matrix) -> Matrix:
        """The transition matrix that G stands for."""
        return proper(G * self.a[:, None] / self.q)

    def payoffs(self, multipliers: Matrix) -> Matrix:
        """Multipliers of the equations G U = B as payoffs by action and category."""
        return scaled(multipliers @ self.back.T / self.a[:, None])


def proper(transition: Matrix) -> Matrix:
    """Without negative entries, and with columns that sum to 1."""
    C = np.clip(transition, 0, None)
    return np.asarray(C / C.sum(axis=0))


def scaled(payoffs: Matrix) -> Matrix:
    """With 1 as the largest gain or loss."""
    return np.asarray(payoffs / max(float(np.abs(payoffs).max()), _TINY))


def decide(comparison: Comparison) -> Finding:
    """C with an error of at most 1e-9, or payoffs with a gain."""
    from maskwell.ordering.interior_point import search

    (m, k), r = comparison.better.shape, len(comparison.worse)
    if r * m * k > _CELLS:
        raise DesignError(
            f"designs with {m} and {r} reports over {k} categories are too large to compare as tables; "
            "compare symmetric designs as designs, or merge reports first."
        )
    geometry = Geometry.of(comparison)
    for attempt in (_only_candidate, _outside_row_space):
        found = attempt(comparison, geometry)
        if found is not None and found.decisive:
            return found
    small = r * m * geometry.basis.shape[1] <= _SMALL
    found = _simplex(comparison) if small else search(comparison, geometry)
    if found is None and r * m * k <= _NOT_HOPELESS:
        found = search(comparison, geometry) if small else _simplex(comparison)
    if found is None:
        raise DesignError(
            "the order of these designs cannot be decided to 1e-9: no transition matrix was found and no bet tells "
            "them apart. Merge nearly proportional reports and try again."
        )
    return found


def _only_candidate(comparison: Comparison, geometry: Geometry) -> Finding | None:
    """If the rows of P are independent there is one candidate for C; a negative entry of it can be bet against."""
    G = geometry.on_target(np.outer(geometry.a, geometry.q))
    found = comparison.finding(geometry.transition(G))
    if found is not None or len(geometry.q) > geometry.basis.shape[1]:
        return found
    row, column = np.unravel_index(np.argmin(G / geometry.q), G.shape)
    multipliers = np.zeros_like(geometry.target)
    multipliers[row] = -geometry.basis[column]
    return comparison.bet(geometry.payoffs(multipliers))


def _outside_row_space(comparison: Comparison, geometry: Geometry) -> Finding | None:
    """Where A tells two mixtures of categories apart that P cannot: bet on the difference."""
    if geometry.basis.shape[1] == comparison.better.shape[1]:
        return None
    span, _ = np.linalg.qr(geometry.back)
    outside = comparison.worse - comparison.worse @ span @ span.T
    row = int(np.argmax(np.abs(outside).max(axis=1) / comparison.scale))
    payoffs = np.zeros_like(comparison.worse)
    payoffs[row] = outside[row]
    return comparison.bet(scaled(payoffs))


def _simplex(comparison: Comparison) -> Finding | None:
    """The C with the least relative error, and the bet that proves that it is the least."""
    from scipy import sparse
    from scipy.optimize import linprog

    (m, k), r, scale = comparison.better.shape, len(comparison.worse), comparison.scale
    weights = comparison.better.max(axis=1)
    product: Any = sparse.kron(sparse.eye(r), sparse.csr_matrix((comparison.better / weights[:, None]).T))
    error: Any = sparse.csr_matrix(np.ones((r * k, 1)))
    bounded: Any = sparse.bmat([[product, -error], [-product, -error]])
    columns: Any = sparse.hstack([sparse.kron(scale[None, :], sparse.eye(m)), sparse.csr_matrix((m, 1))])
    target = (comparison.worse / scale[:, None]).ravel()
    solution = linprog(
        np.append(np.zeros(r * m), 1.0),
        A_ub=bounded.tocsc(),
        b_ub=np.concatenate([target, -target]),
        A_eq=columns.tocsc(),
        b_eq=weights,
        method="highs-ds",
        options=SIMPLEX,
    )
    if solution.status != 0 or solution.x is None:
        return None
    found = comparison.finding(proper(solution.x[:-1].reshape(r, m) * scale[:, None] / weights))
    above, below = solution.ineqlin.marginals.reshape(2, r, k)
    return found or comparison.bet(scaled((above - below) / scale[:, None]))
