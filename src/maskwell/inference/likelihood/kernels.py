"""Compiled sums over reports, and the turns that climb the likelihood with them.

They share a file because a cached compilation notices changes in its own file only, and each of these calls others. The
loops are plain and run in one thread: on matrices of this shape they keep up with a linear algebra library and do not
contend with its threads. ``report_rows`` says what the rows are, ``maximum`` what the turns do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

if TYPE_CHECKING:
    from maskwell.inference.likelihood.report_rows import Rows

Array = NDArray[Any]

_BLOCK = 4096
_DENSE_BLOCK = 256
_MOST_INNER_TURNS = 100
_MOST_HALVINGS = 60
_MOST_ADMITTED = 64
# Sums may be taken in any order, which lets them be vectorised; infinities keep their meaning.
_ANY_ORDER = {"reassoc", "contract", "nsz"}


@compiled()
def chances(rows: Rows, w: Array) -> Array:
    """``x_a . w`` of every report."""
    if rows.dense.size:
        return _dense_chances(rows.dense, w)
    return _packed_chances(rows.planes, rows.base, rows.slope, w)


@compiled()
def weighted_sum(rows: Rows, weights: Array, k: int) -> Array:
    """The sum of ``weights[a] * x_a``."""
    if rows.dense.size:
        return _dense_sum(rows.dense, weights)
    return _packed_sum(rows.planes, rows.base, rows.slope, weights, k)


@compiled()
def weighted_products(rows: Rows, weights: Array, columns: Array) -> Array:
    """The sum of ``weights[a] * x_a x_a'``, for some categories in rising order."""
    if rows.dense.size:
        return _dense_products(rows.dense, weights, columns)
    if 4 * len(columns) < 3 * 8 * len(rows.planes):
        planes = _picked(rows.planes, columns)
        every = np.arange(len(columns))
    else:
        planes, every = rows.planes, columns
    return _packed_products(planes, rows.base, rows.slope, weights)[every][:, every]


def _dense_chances_at_once(dense: Array, w: Array) -> Array:
    return np.asarray(w @ dense)


@compiled(instead=_dense_chances_at_once, fastmath=_ANY_ORDER)
def _dense_chances(dense: Array, w: Array) -> Array:
    result = np.zeros(dense.shape[1])
    for j in range(len(w)):
        entries = dense[j]
        if w[j] != 0:
            for a in range(len(result)):
                result[a] += entries[a] * w[j]
    return result


def _dense_sum_at_once(dense: Array, weights: Array) -> Array:
    return np.asarray(dense @ weights)


@compiled(instead=_dense_sum_at_once, fastmath=_ANY_ORDER)
def _dense_sum(dense: Array, weights: Array) -> Array:
    result = np.empty(len(dense))
    for j in range(len(dense)):
        entries, total = dense[j], 0.0
        for a in range(len(weights)):
            total += weights[a] * entries[a]
        result[j] = total
    return result


def _dense_products_at_once(dense: Array, weights: Array, columns: Array) -> Array:
    chosen = dense[columns]
    return np.asarray((chosen * weights) @ chosen.T)


@compiled(instead=_dense_products_at_once, fastmath=_ANY_ORDER)
def _dense_products(dense: Array, weights: Array, columns: Array) -> Array:
    """Two categories by two at a time, so that each number is loaded half as often."""
    reports, m = len(weights), len(columns)
    even = m + m % 2
    result, left, below = np.zeros((even, even)), np.empty(_DENSE_BLOCK), np.empty(_DENSE_BLOCK)
    for start in range(0, reports, _DENSE_BLOCK):
        stop = min(reports, start + _DENSE_BLOCK)
        weight = weights[start:stop]
        for i in range(0, m, 2):
            # Of an odd number the last is taken twice, and its copy dropped in the end.
            first, second = dense[columns[i], start:stop], dense[columns[min(i + 1, m - 1)], start:stop]
            for a in range(stop - start):
                left[a] = weight[a] * first[a]
                below[a] = weight[a] * second[a]
            for j in range(0, i + 1, 2):
                first, second = dense[columns[j], start:stop], dense[columns[min(j + 1, m - 1)], start:stop]
                aa, ab, ba, bb = 0.0, 0.0, 0.0, 0.0
                for a in range(stop - start):
                    aa += left[a] * first[a]
                    ab += left[a] * second[a]
                    ba += below[a] * first[a]
                    bb += below[a] * second[a]
                result[i, j] += aa
                result[i, j + 1] += ab
                result[i + 1, j] += ba
                result[i + 1, j + 1] += bb
    for i in range(m):
        for j in range(i):
            result[j, i] = result[i, j]
    return result[:m, :m].copy()


def _unpacked(planes: Array, base: Array, slope: Array) -> Iterator[tuple[slice, Array]]:
    """The rows in blocks of reports, category by report."""
    for start in range(0, planes.shape[1], _BLOCK):
        block = slice(start, start + _BLOCK)
        yield block, base[block] + slope[block] * np.unpackbits(planes[:, block], axis=0, bitorder="little")


def _packed_chances_at_once(planes: Array, base: Array, slope: Array, w: Array) -> Array:
    result = np.empty(planes.shape[1])
    for block, entries in _unpacked(planes, base, slope):
        result[block] = w @ entries[: len(w)]
    return result


def _packed_sum_at_once(planes: Array, base: Array, slope: Array, weights: Array, k: int) -> Array:
    result = np.zeros(k)
    for block, entries in _unpacked(planes, base, slope):
        result += entries[:k] @ weights[block]
    return result


def _packed_products_at_once(planes: Array, base: Array, slope: Array, weights: Array) -> Array:
    result = np.zeros((8 * len(planes), 8 * len(planes)))
    for block, entries in _unpacked(planes, base, slope):
        result += (entries * weights[block]) @ entries.T
    return result


@compiled(instead=_packed_chances_at_once)
def _packed_chances(planes: Array, base: Array, slope: Array, w: Array) -> Array:
    width, reports = planes.shape
    sums = np.zeros((width, 256))  # of the proportions of the categories in a byte, by its value
    for j in range(len(w)):
        bit = 1 << (j & 7)
        for value in range(bit):
            sums[j >> 3, value | bit] = sums[j >> 3, value] + w[j]
    total = w.sum()
    result = np.zeros(reports)
    for start in range(0, reports, _BLOCK):
        stop = min(reports, start + _BLOCK)
        for b in range(width):
            for a in range(start, stop):
                result[a] += sums[b, planes[b, a]]
        for a in range(start, stop):
            result[a] = base[a] * total + slope[a] * result[a]
    return result


@compiled(instead=_packed_sum_at_once)
def _packed_sum(planes: Array, base: Array, slope: Array, weights: Array, k: int) -> Array:
    width, reports = planes.shape
    by_value = np.zeros((width, 256))
    sloped = weights * slope
    for start in range(0, reports, _BLOCK):
        stop = min(reports, start + _BLOCK)
        for b in range(width):
            for a in range(start, stop):
                by_value[b, planes[b, a]] += sloped[a]
    result: Array = (weights * base).sum() + _by_category(by_value)[:k]
    return result


@compiled()
def _by_category(by_value: Array) -> Array:
    """From sums by byte value, the sums over the values that have each bit set."""
    result = np.zeros(8 * len(by_value))
    for j in range(len(result)):
        for value in range(256):
            if value >> (j & 7) & 1:
                result[j] += by_value[j >> 3, value]
    return result


@compiled()
def _picked(planes: Array, columns: Array) -> Array:
    """Byte planes that hold these categories only."""
    result = np.zeros(((len(columns) + 7) >> 3, planes.shape[1]), np.uint8)
    for i in range(len(columns)):
        source, target = planes[columns[i] >> 3], result[i >> 3]
        down, up = np.uint8(columns[i] & 7), np.uint8(i & 7)
        for a in range(len(source)):
            target[a] |= np.uint8(((source[a] >> down) & np.uint8(1)) << up)
    return result


@compiled(instead=_packed_products_at_once)
def _packed_products(planes: Array, base: Array, slope: Array, weights: Array) -> Array:
    """(base + slope bits)(base + slope bits)', summed: a constant, a sum of bits, and products of bits."""
    width = len(planes)
    cross, squared = weights * base * slope, weights * slope * slope
    constant = (weights * base * base).sum()
    single, result = np.zeros((width, 256)), np.zeros((8 * width, 8 * width))
    table = np.zeros((256, 256))
    for b in range(width):
        first = planes[b]
        for a in range(len(first)):
            single[b, first[a]] += cross[a]
        for c in range(b, width):
            second = planes[c]
            table[:] = 0.0
            for a in range(len(first)):
                table[first[a], second[a]] += squared[a]
            _add_block(table, result, 8 * b, 8 * c)
    linear = _by_category(single)
    for i in range(8 * width):
        for j in range(i, 8 * width):
            result[i, j] += constant + linear[i] + linear[j]
            result[j, i] = result[i, j]
    return result


@compiled()
def _add_block(table: Array, result: Array, row: int, col: int) -> None:
    """Sums over pairs of byte values that have bit i and bit j set; ``table`` is used up."""
    for i in range(7, -1, -1):
        half = 1 << i
        held = np.zeros(256)
        for value in range(half):
            for other in range(256):
                held[other] += table[half + value, other]
                table[value, other] += table[half + value, other]
        for j in range(8):
            for other in range(256):
                if other >> j & 1:
                    result[row + i, col + j] += held[other]


@compiled()
def certificate(rows: Rows, share: Array, chance: Array, k: int, without: int) -> Any:
    """``g_j / n`` and the logarithm of its largest entry; ``share`` are counts over n."""
    pull = weighted_sum(rows, share / chance, k)
    if without >= 0:
        pull[without] = 0.0
    return pull, np.log(pull.max())


@compiled()
def climb(rows: Rows, counts: Array, start: Array, least: float, each: float, without: int, most: int) -> Any:
    """Second-order turns until the gap is at most ``least`` or ``each`` times n: proportions, gap, turns."""
    k, n = len(start), counts.sum()
    goal = max(least, each * n)
    share = counts / n
    w = start / start.sum()
    best, best_gap = w, np.inf
    columns, model, last = np.empty(0, np.int64), np.empty((0, 0)), np.inf
    turn = 0
    while True:
        chance = chances(rows, w)
        pull, excess = certificate(rows, share, chance, k, without)
        if n * excess < best_gap:
            best, best_gap = w, max(n * excess, 0.0)
        if best_gap <= goal or turn == most:
            return best, best_gap, turn
        turn += 1
        # An old model brings the excess down about as well as the last turn did. It will do if that is enough.
        if not len(columns) or n * excess * (excess / last) > goal or pull[columns].max() < pull.max():
            columns = _candidates(w, pull)
            model = weighted_products(rows, share / chance / chance, columns)
            for i in range(len(columns)):
                model[i, i] += min(excess, 1e-2) * (1 + model[i, i])
        last = excess
        # The slope of the model at w is ``1 - pull``.
        here = w[columns]
        there = _minimise_model(model, _times(model, here) + pull[columns] - 1, here, 1e-3 * excess)
        move = np.zeros(k)
        move[columns] = there - here
        rise = (pull * move).sum() - move.sum()
        step = _search(chance, chances(rows, move), share, move.sum(), rise)
        w = np.maximum(w + step * move, 0.0)  # rounding must not take one below 0
        w /= w.sum()


@compiled()
def _candidates(w: Array, pull: Array) -> Array:
    """The categories that a turn may change: those above zero, and of those at zero the ones that pull most.

    The others stay at zero for this turn, and the certificate watches them. Letting in all that pull a little would
    make the model several times larger where most categories belong at zero.
    """
    positive = w > 0
    above = positive.sum()
    admitted, cut, top = max(_MOST_ADMITTED, above // 4), 1.0, pull.max()
    while True:
        chosen = np.flatnonzero(positive | (pull > cut))
        if len(chosen) - above <= admitted or cut == top:
            return chosen
        cut = 0.5 * (cut + top)


@compiled()
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


def _times_at_once(H: Array, y: Array) -> Array:
    return np.asarray(H @ y)


@compiled(instead=_times_at_once, fastmath=_ANY_ORDER)
def _times(H: Array, y: Array) -> Array:
    result = np.empty(len(y))
    for i in range(len(y)):
        total = 0.0
        for j in range(len(y)):
            total += H[i, j] * y[j]
        result[i] = total
    return result


@compiled(fastmath=_ANY_ORDER)
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


@compiled()
def _search(chance: Array, change: Array, share: Array, more: float, at_start: float) -> float:
    """How far to go along ``change``: all the way, or to where the slope has fallen to a half or less, not below 0.

    The objective is concave along the way, so a slope that is still up proves that no step before it went down; unlike
    a comparison of log-likelihoods that needs no more digits than there are.
    """
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
