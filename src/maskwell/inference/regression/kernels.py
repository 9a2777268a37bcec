"""Compiled loops over records: posterior chances, and the sums of squares and products that make an information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

Array = NDArray[Any]

# Sums may be taken in any order, which lets them be vectorised; infinities keep their meaning.
_ANY_ORDER = {"reassoc", "contract", "nsz"}


def _posteriors_at_once(rows: Array, logs: Array) -> tuple[Array, Array]:
    with np.errstate(invalid="ignore"):
        usable = np.where(rows > 0, logs, -np.inf)
        possible, top = ~np.isnan(logs).any(axis=1), usable.max(axis=1)
        known = possible & (top > -np.inf)
        parts = np.where(known[:, None], rows * np.exp(usable - np.where(known, top, 0.0)[:, None]), 0.0)
        total = np.where(known, parts.sum(axis=1), 1.0)
        whole = np.where(known, top + np.log(total), np.where(possible, -np.inf, np.nan))
    return whole, parts / total[:, None]


@compiled(instead=_posteriors_at_once)
def posteriors(rows: Array, logs: Array) -> tuple[Array, Array]:
    """By record ``log sum_j rows_j exp(logs_j)``, and the part of each j in that sum.

    A logarithm that is not a number makes the sum one, whatever the rows say: such parameters are not possible.
    """
    n, k = logs.shape
    single = len(rows) == 1
    whole, shares = np.empty(n), np.empty((n, k))
    for i in range(n):
        row = rows[0] if single else rows[i]
        top, possible = -np.inf, True
        for j in range(k):
            if np.isnan(logs[i, j]):
                possible = False
            elif row[j] > 0 and logs[i, j] > top:
                top = logs[i, j]
        if not possible or top == -np.inf:
            whole[i] = -np.inf if possible else np.nan
            shares[i] = 0.0
            continue
        total = 0.0
        for j in range(k):
            shares[i, j] = row[j] * np.exp(logs[i, j] - top) if row[j] > 0 else 0.0
            total += shares[i, j]
        whole[i] = top + np.log(total)
        for j in range(k):
            shares[i, j] /= total
    return whole, shares


def _log_softmax_at_once(eta: Array) -> Array:
    top = np.maximum(eta.max(axis=1), 0.0)
    base = -top - np.log(np.exp(-top) + np.exp(eta - top[:, None]).sum(axis=1))
    return np.column_stack([base, eta + base[:, None]])


@compiled(instead=_log_softmax_at_once)
def log_softmax(eta: Array) -> Array:
    """Log chances of all categories from the log odds of all but the first against it."""
    n, d = eta.shape
    logs = np.empty((n, d + 1))
    for i in range(n):
        top = 0.0
        for r in range(d):
            top = max(top, eta[i, r])
        total = np.exp(-top)
        for r in range(d):
            total += np.exp(eta[i, r] - top)
        base = -top - np.log(total)
        logs[i, 0] = base
        for r in range(d):
            logs[i, r + 1] = eta[i, r] + base
    return logs


def _products_at_once(x: Array, curvature: Array, weight: Array) -> Array:
    z, d = np.column_stack([x, np.ones(len(x))]), curvature.shape[1]
    total = np.zeros((d, d, z.shape[1], z.shape[1]))
    for r in range(d):
        for s in range(r + 1):
            total[r, s] = (z * (weight * curvature[:, r, s])[:, None]).T @ z
    return total


@compiled(instead=_products_at_once, fastmath=_ANY_ORDER)
def products(x: Array, curvature: Array, weight: Array) -> Array:
    """``sum_i w_i C_i[r, s] (x_i, 1)(x_i, 1)'`` for each r and s up to r; C is symmetric."""
    n, p = x.shape
    d = curvature.shape[1]
    total = np.zeros((d, d, p + 1, p + 1))
    z = np.ones(p + 1)
    for i in range(n):
        z[:p] = x[i]
        for r in range(d):
            for s in range(r + 1):
                c = weight[i] * curvature[i, r, s]
                block = total[r, s]
                for a in range(p + 1):
                    height, line = c * z[a], block[a]
                    for b in range(p + 1):
                        line[b] += height * z[b]
    return total
