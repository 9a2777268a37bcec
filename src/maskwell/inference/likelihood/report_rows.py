"""The distinct reports as a likelihood sees them, and the three sums over them that it needs.

With rows ``x_a`` of relative probabilities and proportions ``w``: the chances ``x_a . w``, weighted sums of rows, and
weighted sums of ``x_a x_a'``. Few reports are kept as a dense table. Many set-valued ones stay packed: a row is
``base + slope * bit``, so a chance is one table look-up per eight categories, and the products of two bytes of
categories are summed into a table of 256 x 256 before any of them is told apart. A million reports on 100 categories
then need 13 megabytes rather than 800, and no product of matrices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design
from maskwell.sampling.samplers import Packed

Array = NDArray[Any]

# A table of byte pairs has 2^16 cells; it pays when it is filled by about as many reports.
_PACKED_FROM_REPORTS = 1 << 15
_PACKED_FROM_CELLS = 1 << 25


class Rows(NamedTuple):
    """Either ``dense`` (categories by reports), or byte ``planes`` (bytes by reports) with a base and a slope each."""

    dense: Array
    planes: Array
    base: Array
    slope: Array


def dense_rows(matrix: Array) -> Rows:
    """Rows given as a table."""
    none = np.zeros(0)
    return Rows(np.ascontiguousarray(matrix.T, np.float64), np.zeros((0, 0), np.uint8), none, none)


def rows_of(design: Design, packed: Packed) -> Rows:
    """The rows of packed reports, in the form that is faster for so many of them."""
    many = len(packed) >= _PACKED_FROM_REPORTS or len(packed) * design.k >= _PACKED_FROM_CELLS
    if many and design.codec.bit_masks:
        return _set_rows(design, packed)
    return dense_rows(design.relative_rows(packed))


def _set_rows(design: Design, packed: Packed) -> Rows:
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


def chosen(rows: Rows, which: NDArray[np.bool_]) -> Rows:
    """The rows of some of the reports."""
    if rows.dense.size:
        return rows._replace(dense=np.ascontiguousarray(rows.dense[:, which]))
    planes = np.ascontiguousarray(rows.planes[:, which])
    return rows._replace(planes=planes, base=rows.base[which], slope=rows.slope[which])


def column(rows: Rows, j: int) -> Array:
    """The j-th entry of every row."""
    if rows.dense.size:
        return np.asarray(rows.dense[j])
    held: Array = (rows.planes[j >> 3] >> (j & 7)) & 1
    return np.asarray(rows.base + rows.slope * held)


def mixed(rows: Rows, j: int, share: float) -> Rows:
    """Rows of the problem in which category ``j`` has a fixed share and the others divide the rest."""
    fixed = share * column(rows, j)
    if rows.dense.size:
        return rows._replace(dense=fixed + (1 - share) * rows.dense)
    return rows._replace(base=fixed + (1 - share) * rows.base, slope=(1 - share) * rows.slope)
