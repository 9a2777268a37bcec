r"""Large comparisons of designs: an interior-point method that knows how the problem is built.

Scaled by the square roots of the probabilities of reports, C becomes a matrix G >= 0 that has to satisfy G U = B, with
the columns of U an orthonormal basis of the columns of P, and a'G = q', which says that the columns of C sum to 1. The
linear program

.. math:: \min \sum w_i (S^+ + S^-)_{il} \quad\text{subject to}\quad G U + S^+ - S^- = B,\; a'G = q',\; G, S^\pm \ge 0

has strictly feasible points on both sides. A primal-dual method (Mehrotra's predictor and corrector) follows its
central path and uses that the rows of G meet in the constraint on a'G alone: a step costs one small Cholesky
factorisation per row and one of the size of P. General solvers do not see this and need minutes where it takes seconds
(200 reports, 20 categories). If C exists but has no room around it, alternating reflections find the last digits.

Nothing here has to be trusted: ``Comparison`` checks what is returned against P and A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.ordering.row_comparison import Comparison, Finding, Geometry

_STEPS = 80
_REFLECTIONS = 4000
_ROUNDING = 1e-15
_TO_THE_WALL = 0.995
_SMALL = 48
_MOST_NUMBERS = 60_000_000  # half a gigabyte


class _Point(NamedTuple):
    """An interior point: G, the two slacks, and the multipliers of the two equations."""

    G: Matrix
    above: Matrix
    below: Matrix
    multipliers: Matrix
    prices: Vector

    def moved(self, step: _Point, primal: float, dual: float) -> _Point:
        lengths = (primal, primal, primal, dual, dual)
        return _Point(*(x + length * dx for x, dx, length in zip(self, step, lengths, strict=True)))


def search(comparison: Comparison, geometry: Geometry) -> Finding | None:
    """C with an error of at most 1e-9, or the bet with the largest gain that was found; None if there is neither."""
    # Cheap steps first, and more of them where the others are dear: they suffice if C has room, or is far from there.
    rank = geometry.basis.shape[1]
    fits = max(len(geometry.a), len(geometry.q)) * rank**2 <= _MOST_NUMBERS
    reflections = _REFLECTIONS if not fits else 1000 if rank > _SMALL else 100
    best = _sharpen(comparison, geometry, np.outer(geometry.a, geometry.q), None, reflections)
    if not fits or (best is not None and best.decisive):
        return best
    program = _Program(geometry, comparison.scale)
    point = program.start()
    for _ in range(_STEPS):
        found = comparison.finding(geometry.transition(geometry.on_target(point.G)))
        found = found or comparison.bet(geometry.payoffs(point.multipliers))
        if found is not None and found.decisive:
            return found
        best = _larger(best, found)
        moved = program.step(point)
        if moved is None:
            break
        point = moved
    return _sharpen(comparison, geometry, point.G, best, _REFLECTIONS)


def _larger(best: Finding | None, found: Finding | None) -> Finding | None:
    return found if best is None or (found is not None and found.slack > best.slack) else best


def _sharpen(
    comparison: Comparison, geometry: Geometry, G: Matrix, best: Finding | None, reflections: int
) -> Finding | None:
    """Douglas-Rachford reflections between the two equations and the orthant.

    They close in on a point of both, or else on the shortest way from one to the other, which is a bet.
    """
    for step in range(reflections):
        near = geometry.on_target(G)
        apart = np.maximum(2 * near - G, 0) - near
        if step % 20 == 0:
            across = apart @ geometry.basis
            found = comparison.finding(geometry.transition(near))
            found = found or comparison.bet(geometry.payoffs(np.outer(geometry.a, geometry.a @ across) - across))
            if found is not None and found.decisive:
                return found
            best = _larger(best, found)
        G = G + apart
    return best


class _Program:
    """The linear program, and one predictor-corrector step along its central path."""

    def __init__(self, geometry: Geometry, scale: Vector) -> None:
        self.a, self.q, self.U, self.B = geometry.a, geometry.q, geometry.basis, geometry.target
        # Row u holds the products of all pairs of entries of row u of U.
        self.squares = (self.U[:, :, None] * self.U[:, None, :]).reshape(len(self.U), -1)
        self.cost = np.repeat((self.a / scale)[:, None], self.U.shape[1], axis=1)

    def start(self) -> _Point:
        """Independent reports with ample slack."""
        G = np.outer(self.a, self.q)
        short = self.B - G @ self.U
        room = np.abs(short).mean() + 1e-12
        above, below = np.maximum(short, 0) + room, np.maximum(-short, 0) + room
        price = (above * self.cost).mean() / (G * G).mean()
        return _Point(G, above, below, np.zeros_like(self.B), -price * self.q)

    def _reduced_costs(self, point: _Point) -> tuple[Matrix, Matrix, Matrix]:
        shadow_prices = point.multipliers @ self.U.T + np.outer(self.a, point.prices)
        return -shadow_prices, self.cost - point.multipliers, self.cost + point.multipliers

    def step(self, point: _Point) -> _Point | None:
        """The next point, or None where the factorisations have run out of digits."""
        costs = self._reduced_costs(point)
        try:
            newton = _Newton(self, point, costs)
        except np.linalg.LinAlgError:
            return None
        products = [x * z for x, z in zip(point[:3], costs, strict=True)]
        size = sum(product.size for product in products)
        gap = sum(float(product.sum()) for product in products) / size
        predictor = newton.solve(*(-product for product in products))
        ahead = self._changes(predictor)
        primal, dual = self._lengths(point, costs, predictor, ahead)
        reached = sum(
            float(((x + primal * dx) * (z + dual * dz)).sum())
            for x, dx, z, dz in zip(point[:3], predictor[:3], costs, ahead, strict=True)
        )
        centre = gap * (reached / size / gap) ** 3
        corrector = newton.solve(
            *(centre - p - dx * dz for p, dx, dz in zip(products, predictor[:3], ahead, strict=True))
        )
        primal, dual = self._lengths(point, costs, corrector, self._changes(corrector))
        moved = point.moved(corrector, min(1.0, _TO_THE_WALL * primal), min(1.0, _TO_THE_WALL * dual))
        inside = all(np.isfinite(x).all() and x.min() > 0 for x in (*moved[:3], *self._reduced_costs(moved)))
        return moved if inside else None

    def _changes(self, step: _Point) -> tuple[Matrix, Matrix, Matrix]:
        shadow_prices = step.multipliers @ self.U.T + np.outer(self.a, step.prices)
        return -shadow_prices, -step.multipliers, step.multipliers

    @staticmethod
    def _lengths(
        point: _Point, costs: tuple[Matrix, ...], step: _Point, changes: tuple[Matrix, ...]
    ) -> tuple[float, float]:
        primal = min(_length(x, dx) for x, dx in zip(point[:3], step[:3], strict=True))
        dual = min(_length(z, dz) for z, dz in zip(costs, changes, strict=True))
        return primal, dual


def _length(x: Matrix, dx: Matrix) -> float:
    """How far one can go before an entry turns negative, at most 1."""
    return 1 / max(1.0, float((-dx / x).max()))


class _Newton:
    """The equations of one step, factorised row by row and then for what couples the rows."""

    def __init__(self, program: _Program, point: _Point, costs: tuple[Matrix, Matrix, Matrix]) -> None:
        self.program, self.point, self.costs = program, point, costs
        a, U = program.a, program.U
        self.D = point.G / costs[0]
        slack = point.above / costs[1] + point.below / costs[2]
        rank = U.shape[1]
        blocks = (self.D @ program.squares).reshape(-1, rank, rank)
        ridge = slack + _ROUNDING * blocks.trace(axis1=1, axis2=2)[:, None] / rank
        blocks[:, range(rank), range(rank)] += ridge
        self.roots = _inverse_roots(blocks)
        half = (self.roots.reshape(-1, rank) @ U.T).reshape(len(a), rank, -1) * (a[:, None] * self.D)[:, None, :]
        half = half.reshape(-1, len(U))
        coupling = np.diag(a**2 @ self.D) - half.T @ half
        coupling.flat[:: len(coupling) + 1] += _ROUNDING * np.trace(coupling) / len(coupling)
        self.coupling = np.linalg.inv(np.linalg.cholesky(coupling))

    def solve(self, *rest: Matrix) -> _Point:
        """The step whose complementarity residuals are ``rest``."""
        program, point = self.program, self.point
        a, U = program.a, program.U
        G, above, below = (residual / cost for residual, cost in zip(rest, self.costs, strict=True))
        short = program.B - (point.G + G) @ U - point.above - above + point.below + below
        columns = program.q - a @ (point.G + G)
        uncoupled = self._divided(short)
        missing = columns - a @ (self.D * (uncoupled @ U.T))
        prices = self.coupling.T @ (self.coupling @ missing)
        multipliers = uncoupled - a[:, None] * self._divided((self.D * prices) @ U)
        return _Point(
            G + self.D * (multipliers @ U.T + np.outer(a, prices)),
            above + point.above / self.costs[1] * multipliers,
            below - point.below / self.costs[2] * multipliers,
            multipliers,
            prices,
        )

    def _divided(self, rows: Matrix) -> Matrix:
        """Each row divided by its block."""
        return np.asarray(np.einsum("ikl,ik->il", self.roots, np.einsum("ikl,il->ik", self.roots, rows)))


def _inverse_roots(blocks: Matrix) -> Matrix:
    """Lower triangular W with W M W' = I for each block M; an error if one is not positive definite.

    All blocks at once: linear algebra libraries start their threads for each of many small factorisations, which costs
    more than the work, and on a busy machine a hundred times more.
    """
    size = blocks.shape[1]
    if size > _SMALL:
        half = size // 2
        first = _inverse_roots(blocks[:, :half, :half])
        across = blocks[:, half:, :half] @ first.transpose(0, 2, 1)
        second = _inverse_roots(blocks[:, half:, half:] - across @ across.transpose(0, 2, 1))
        roots = np.zeros_like(blocks)
        roots[:, :half, :half], roots[:, half:, half:] = first, second
        roots[:, half:, :half] = -second @ (across @ first)
        return roots
    work = np.concatenate([blocks, np.broadcast_to(np.eye(size), blocks.shape)], axis=2)
    for at in range(size):
        pivots = work[:, at, at]
        if not (pivots > 0).all():
            raise np.linalg.LinAlgError("not positive definite")
        work[:, at] /= np.sqrt(pivots)[:, None]
        work[:, at + 1 :] -= work[:, at, at + 1 : size, None] * work[:, None, at]
    return np.asarray(work[:, :, size:])
