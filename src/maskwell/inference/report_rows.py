"""The distinct reports as a likelihood sees them, and the three sums over them that it needs.

With rows ``x_a`` of relative probabilities and proportions ``w``: the chances ``x_a . w``, weighted sums of rows, and
weighted sums of ``x_a x_a'``. Few reports are kept as a dense table. Many set-valued ones stay packed: a row is
``base + slope * bit``, so a chance is one table look-up per eight categories, and the products of two bytes of
categories are summed into a table of 256 x 256 before any of them is told apart. A million reports on 100 categories
then need 13 megabytes rather than 800, and no product of matrices. The loops are plain and run in one thread: on
matrices of this shape they keep up with a linear algebra library and do not contend with its threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from maskwell.designs.base import Design
from maskwell.designs.subsets import SubsetDesign
from maskwell.sampling.plans import Packed

Array = NDArray[Any]

# A table of byte pairs has 2^16 cells; it pays when it is filled by about as many reports.
_PACKED_FROM_REPORTS = 1 << 15
_PACKED_FROM_CELLS = 1 << 25
_BLOCK = 4096
_DENSE_BLOCK = 256
# Sums may be taken in any order, which lets them be vectorised; infinities keep their meaning.
_ANY_ORDER = {"reassoc", "contract", "nsz"}


class Rows(NamedTuple):
    """Either ``dense`` (reports by categories), or byte ``planes`` (bytes by reports) with a base and a slope each."""

    dense: Array
    planes: Array
    base: Array
    slope: Array


def dense_rows(matrix: Array) -> Rows:
    """Rows given as a table."""
    none = np.zeros(0)
    return Rows(np.ascontiguousarray(matrix, np.float64), np.zeros((0, 0), np.uint8), none, none)


def rows_of(design: Design, packed: Packed) -> Rows:
    """The rows of packed reports, in the form that is faster for so many of them."""
    many = len(packed) >= _PACKED_FROM_REPORTS or len(packed) * design.k >= _PACKED_FROM_CELLS
    if many and packed.ndim > 1 and isinstance(design, SubsetDesign):
        return _set_rows(design, packed)
    return dense_rows(design.relative_rows(packed))


def _set_rows(design: SubsetDesign, packed: Packed) -> Rows:
    """Members and others of sets of one size have the same relative probability, so one set of each size will do."""
    planes = np.ascontiguousarray(packed.T)
    sizes = np.zeros(len(packed), np.int64)
    for plane in planes:
        sizes += np.bitwise_count(plane)
    present, example = np.unique(sizes, return_index=True)
    rows = design.relative_rows(packed[example])
    bits = np.unpackbits(packed[example], axis=1, count=design.k, bitorder="little")
    member, other = np.zeros(design.k + 1), np.zeros(design.k + 1)
    member[present] = np.where(bits == 1, rows, 0.0).max(axis=1)
    other[present] = np.where(bits == 0, rows, 0.0).max(axis=1)
    return Rows(np.zeros((0, 0)), planes, other[sizes], (member - other)[sizes])


def column(rows: Rows, j: int) -> Array:
    """The j-th entry of every row."""
    if rows.dense.size:
        return rows.dense[:, j]
    held: Array = (rows.planes[j >> 3] >> (j & 7)) & 1
    return np.asarray(rows.base + rows.slope * held)


def mixed(rows: Rows, j: int, share: float) -> Rows:
    """Rows of the problem in which category ``j`` has a fixed share and the others divide the rest."""
    fixed = share * column(rows, j)
    if rows.dense.size:
        return rows._replace(dense=fixed[:, None] + (1 - share) * rows.dense)
    return rows._replace(base=fixed + (1 - share) * rows.base, slope=(1 - share) * rows.slope)


@njit(nogil=True, cache=True)
def chances(rows: Rows, w: Array) -> Array:
    """``x_a . w`` of every report."""
    if rows.dense.size:
        return _dense_chances(rows.dense, w)
    return _packed_chances(rows.planes, rows.base, rows.slope, w)


@njit(nogil=True, cache=True)
def weighted_sum(rows: Rows, weights: Array, k: int) -> Array:
    """The sum of ``weights[a] * x_a``."""
    if rows.dense.size:
        return _dense_sum(rows.dense, weights)
    return _packed_sum(rows.planes, rows.base, rows.slope, weights, k)


@njit(nogil=True, cache=True)
def weighted_products(rows: Rows, weights: Array, columns: Array) -> Array:
    """The sum of ``weights[a] * x_a x_a'``, for some categories in rising order."""
    if rows.dense.size:
        return _dense_products(rows.dense, weights, columns)
    if 4 * len(columns) < 3 * 8 * len(rows.planes):
        planes = _picked(rows.planes, columns)
        every = np.arange(len(columns))
    else:
        planes, every = rows.planes, columns
    products = _packed_products(planes, rows.base, rows.slope, weights)
    chosen = np.empty((len(every), len(every)))
    for i in range(len(every)):
        for j in range(len(every)):
            chosen[i, j] = products[every[i], every[j]]
    return chosen


@njit(nogil=True, cache=True, fastmath=_ANY_ORDER)
def _dense_chances(dense: Array, w: Array) -> Array:
    reports, k = dense.shape
    result = np.empty(reports)
    for a in range(reports):
        total = 0.0
        for j in range(k):
            total += dense[a, j] * w[j]
        result[a] = total
    return result


@njit(nogil=True, cache=True)
def _dense_sum(dense: Array, weights: Array) -> Array:
    reports, k = dense.shape
    result = np.zeros(k)
    for start in range(0, reports, _DENSE_BLOCK):
        # Sums of sums: their rounding errors stay far below the tolerance of the certificate.
        part = np.zeros(k)
        for a in range(start, min(start + _DENSE_BLOCK, reports)):
            for j in range(k):
                part[j] += weights[a] * dense[a, j]
        result += part
    return result


@njit(nogil=True, cache=True, fastmath=_ANY_ORDER)
def _dense_products(dense: Array, weights: Array, columns: Array) -> Array:
    reports, m = len(dense), len(columns)
    result = np.zeros((m, m))
    block = np.empty((m, _DENSE_BLOCK))
    for start in range(0, reports, _DENSE_BLOCK):
        size = min(_DENSE_BLOCK, reports - start)
        for a in range(size):
            root = np.sqrt(weights[start + a])
            for i in range(m):
                block[i, a] = root * dense[start + a, columns[i]]
        for i in range(m):
            left = block[i]
            for j in range(i + 1):
                right = block[j]
                total = 0.0
                for a in range(size):
                    total += left[a] * right[a]
                result[i, j] += total
    for i in range(m):
        for j in range(i):
            result[j, i] = result[i, j]
    return result


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
def _by_category(by_value: Array) -> Array:
    """From sums by byte value, the sums over the values that have each bit set."""
    result = np.zeros(8 * len(by_value))
    for j in range(len(result)):
        for value in range(256):
            if value >> (j & 7) & 1:
                result[j] += by_value[j >> 3, value]
    return result


@njit(nogil=True, cache=True)
def _picked(planes: Array, columns: Array) -> Array:
    """Byte planes that hold these categories only."""
    result = np.zeros(((len(columns) + 7) >> 3, planes.shape[1]), np.uint8)
    for i in range(len(columns)):
        source, target = planes[columns[i] >> 3], result[i >> 3]
        down, up = np.uint8(columns[i] & 7), np.uint8(i & 7)
        for a in range(len(source)):
            target[a] |= np.uint8(((source[a] >> down) & np.uint8(1)) << up)
    return result


@njit(nogil=True, cache=True)
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


@njit(nogil=True, cache=True)
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
