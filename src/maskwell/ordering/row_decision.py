"""How it is decided whether one table can be had from another: the cheapest proof first."""

from __future__ import annotations

import numpy as np

from maskwell.errors import DesignError
from maskwell.numerics import sparse
from maskwell.ordering.interior_point import search
from maskwell.ordering.least_error import least_error
from maskwell.ordering.row_comparison import Comparison, Finding, Geometry, proper, scaled

_SMALL = 20_000  # up to here a simplex method takes less than a second
_NOT_HOPELESS = 400_000
_CELLS = 200_000_000


def decide(comparison: Comparison) -> Finding:
    """C with an error of at most 1e-9, or payoffs with a gain."""
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
    r, m, scale = len(comparison.worse), len(comparison.better), comparison.scale
    weights = comparison.better.max(axis=1)
    product = sparse.repeated(r, (comparison.better / weights[:, None]).T)
    columns = sparse.beside([sparse.Sparse.diagonal(np.full(m, weight)) for weight in scale])
    solved = least_error(product, (comparison.worse / scale[:, None]).ravel(), columns, weights)
    if isinstance(solved, str):
        return None
    found = comparison.finding(proper(solved.at.reshape(r, m) * scale[:, None] / weights))
    return found or comparison.bet(scaled(solved.prices.reshape(r, -1) / scale[:, None]))
