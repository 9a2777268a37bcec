"""What proves that one design can be had from another by further randomisation, or that it cannot.

P is at least as informative as A if A = CP for a transition matrix C (chai-nayak-2018, Definition 4.1, after
Blackwell). C proves it. If there is none, linear programming duality gives a decision problem in which A does strictly
better than P, and that proves it too: payoffs Y by action and category, one action for each report of A, with

.. math:: \\sum_{ij} Y_{ij} a_{ij} > \\sum_u \\max_i \\sum_j Y_{ij} p_{uj}.

The left side is earned with A by taking action i on report i, the right side is the most that P can earn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.designs.channels.deviations import TOLERANCE
from maskwell.ordering.comparable import error_scale

_SMALL = 20_000  # up to here a simplex method takes less than a second
_NOT_HOPELESS = 400_000
_CELLS = 200_000_000
_RANK_TOLERANCE = 1e-11
_ROUNDING = 1e-15
_TINY = float(np.finfo(float).tiny)


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
