"""Maximum likelihood over the simplex, with a certificate of how near the maximum is.

Maximise ``l(w) = sum c_a ln(x_a . w)`` over proportions w. Each turn solves the second-order model of
``sum w - l(w) / n`` under ``w >= 0`` (its minimum has sum 1 by itself; the model that mix-SQP uses: Kim, Carbonetto,
Stephens and Anitescu 2020), by projected Newton steps, and then searches along the way to its solution. Entries that
belong at zero become exactly zero. A ridge as small as the certificate keeps models without a unique minimum solvable
and vanishes fast enough for quadratic convergence.

With ``g_j = sum c_a x_aj / (x_a . w)``, no proportions have a log-likelihood above ``l(w) + n ln(max_j g_j / n)``: by
Jensen's inequality ``l(v) - l(w) <= n ln(sum_a c_a (x_a . v) / (x_a . w) / n) = n ln(sum_j v_j g_j / n)``
(wang-ding-2021, with the rows of any design).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from maskwell.inference.report_rows import Rows, chances, weighted_products, weighted_sum

Array = NDArray[Any]

MOST_TURNS = 500
_MOST_INNER_TURNS = 100
_MOST_HALVINGS = 60
_MOST_ADMITTED = 64
_ANY_ORDER = {"reassoc", "contract", "nsz"}


@dataclass(frozen=True)
class Maximum:
    """Proportions, the bound on how far their log-likelihood is below the maximum, and the turns it took."""

    proportions: NDArray[np.float64]
    gap: float
    turns: int


def tolerance(n: float) -> float:
    """The gap to stop at: 1e-6 units of log-likelihood, or 1e-12 a report where rounding allows no less."""
    return max(1e-6, 1e-12 * n)


def maximise(
    rows: Rows,
    counts: Array,
    start: Array,
    *,
    goal: float | None = None,
    without: int = -1,
) -> Maximum:
    """The maximum from a start at which every report is possible; ``without`` keeps one category at zero."""
    goal = tolerance(float(counts.sum())) if goal is None else goal
    return Maximum(*_maximise(rows, counts, start, goal, without, MOST_TURNS))


@njit(nogil=True, cache=True)
def certificate(rows: Rows, share: Array, chance: Array, k: int, without: int) -> Any:
    """``g_j / n`` and the logarithm of its largest entry; ``share`` are counts over n."""
    pull = weighted_sum(rows, share / chance, k)
    if without >= 0:
        pull[without] = 0.0
    return pull, np.log(pull.max())


@njit(nogil=True, cache=True)
def _maximise(rows: Rows, counts: Array, start: Array, goal: float, without: int, most: int) -> Any:
    k, n = len(start), counts.sum()
    share = counts / n
    w = start / start.sum()
    best, best_gap = w, np.inf
    turn = 0
    while True:
        chance = chances(rows, w)
        pull, excess = certificate(rows, share, chance, k, without)
        if n * excess < best_gap:
            best, best_gap = w, max(n * excess, 0.0)
        if best_gap <= goal or turn == most:
            return best, best_gap, turn
        turn += 1
        columns = _candidates(w, pull)
        m = len(columns)
        model = weighted_products(rows, share / chance / chance, columns)
        towards, here = np.empty(m), np.empty(m)
        for i in range(m):
            j = columns[i]
            ridge = min(excess, 1e-2) * (1 + model[i, i])
            here[i] = w[j]
            model[i, i] += ridge
            # The model's slope at w is 1 - pull, and its curvature times w is pull.
            towards[i] = 2 * pull[j] - 1 + ridge * w[j]
        there = _minimise_model(model, towards, here, 1e-3 * excess)
        move = np.zeros(k)
        for i in range(m):
            move[columns[i]] = there[i] - here[i]
        step = _search(chance, chances(rows, move), share, move.sum())
        w = _moved(w, move, step)


@njit(nogil=True, cache=True)
def _moved(w: Array, move: Array, step: float) -> Array:
    """The proportions after a step; rounding must not take one below 0."""
    result = np.empty(len(w))
    for j in range(len(w)):
        result[j] = max(w[j] + step * move[j], 0.0)
    result /= result.sum()
    return result


@njit(nogil=True, cache=True)
def _candidates(w: Array, pull: Array) -> Array:
    """The categories that a turn may change: those above zero, and of those at zero the ones that pull most.

    The others stay at zero for this turn, and the certificate watches them. Letting in all that pull a little would
    make the model several times larger where most categories belong at zero.
    """
    above = 0
    for j in range(len(w)):
        above += w[j] > 0
    admitted, cut, top = max(_MOST_ADMITTED, above // 4), 1.0, pull.max()
    while True:
        chosen = np.empty(len(w), np.int64)
        m = 0
        for j in range(len(w)):
            if w[j] > 0 or pull[j] > cut:
                chosen[m] = j
                m += 1
        if m - above <= admitted or cut == top:
            return chosen[:m]
        cut = 0.5 * (cut + top)


@njit(nogil=True, cache=True)
def _minimise_model(H: Array, b: Array, start: Array, goal: float) -> Array:
    """Minimise ``y'Hy/2 - b'y`` over y >= 0 by projected Newton steps (Bertsekas 1982), never going up from start."""
    m = len(b)
    y, move, change = start.copy(), np.empty(m), np.empty(m)
    for _ in range(_MOST_INNER_TURNS):
        slope = _times(H, y)
        worst, far = 0.0, 0.0
        for j in range(m):
            slope[j] -= b[j]
            worst = max(worst, abs(slope[j]) if y[j] > 0 else -slope[j])
            move[j] = -slope[j] / H[j, j]
            far += (y[j] - max(y[j] + move[j], 0.0)) ** 2
        if worst <= goal:
            break
        # Entries at or next to zero that should fall go by themselves; the others take the Newton step together.
        near, free, f = min(np.sqrt(far), 1e-3 / m), np.empty(m, np.int64), 0
        for j in range(m):
            if y[j] > near or slope[j] <= 0:
                free[f] = j
                f += 1
        newton = _solve(H, free[:f], slope)
        for i in range(f):
            move[free[i]] = -newton[i]
        step, fell = 1.0, False
        for _half in range(_MOST_HALVINGS):
            linear, curved = 0.0, 0.0
            for j in range(m):
                change[j] = max(y[j] + step * move[j], 0.0) - y[j]
                linear += slope[j] * change[j]
            bent = _times(H, change)
            for j in range(m):
                curved += change[j] * bent[j]
            if linear < 0 and linear + 0.5 * curved <= 0.1 * linear:
                fell = True
                break
            step *= 0.5
        if not fell:
            break
        for j in range(m):
            y[j] += change[j]
    return y


@njit(nogil=True, cache=True, fastmath=_ANY_ORDER)
def _times(H: Array, y: Array) -> Array:
    result = np.empty(len(y))
    for i in range(len(y)):
        total = 0.0
        for j in range(len(y)):
            total += H[i, j] * y[j]
        result[i] = total
    return result


@njit(nogil=True, cache=True, fastmath=_ANY_ORDER)
def _solve(H: Array, chosen: Array, b: Array) -> Array:
    """``H x = b`` over some rows and columns, by Cholesky; what rounding leaves undetermined stays at zero."""
    m = len(chosen)
    L, x = np.empty((m, m)), np.empty(m)
    for i in range(m):
        row, own = L[i], H[chosen[i], chosen[i]]
        x[i] = b[chosen[i]]
        for j in range(i):
            above = L[j]
            total = H[chosen[i], chosen[j]]
            for t in range(j):
                total -= row[t] * above[t]
            row[j] = total / above[j]
        total = own
        for t in range(i):
            total -= row[t] * row[t]
        row[i] = np.sqrt(total) if total > 1e-15 * own else 1e150
        for t in range(i):
            x[i] -= row[t] * x[t]
        x[i] /= row[i]
    for i in range(m - 1, -1, -1):
        x[i] /= L[i, i]
        for t in range(i):
            x[t] -= L[i, t] * x[i]
    return x


@njit(nogil=True, cache=True)
def _search(chance: Array, change: Array, share: Array, more: float) -> float:
    """How far to go along ``change``: all the way, or to where the slope has fallen to a half or less, not below 0.

    The objective is concave along the way, so a slope that is still up proves that no step before it went down; unlike
    a comparison of log-likelihoods that needs no more digits than there are.
    """
    at_start = (share * change / chance).sum() - more
    low, high, step = 0.0, 1.0, 1.0
    for _ in range(_MOST_HALVINGS):
        slope, possible = -more, True
        for a in range(len(chance)):
            then = chance[a] + step * change[a]
            if then <= 1e-3 * chance[a]:
                possible = False
                break
            slope += share[a] * change[a] / then
        if possible and step == 1.0 and slope >= -0.1 * at_start:
            return step
        if possible and 0 <= slope <= 0.5 * at_start:
            return step
        if possible and slope > 0:
            low = step
        else:
            high = step
        step = 0.5 * (low + high)
    return low
