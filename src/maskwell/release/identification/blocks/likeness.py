r"""Cells as points, such that cells that look alike to an intruder lie near each other.

A record that was moved is found out if what stays of it does not go with the keys it shows. Three pictures of a cell:

* **staying**: the columns that stay, of its own records. The records of a block then look alike, whichever keys they
  show.
* **profile**: what its keys predict of the columns that stay: for each level l of such a column, the sum over the keys
  and pairs of keys of :math:`\log(n_{gl} n / n_g n_l)`, where g is the cell's value of the key. An intruder adds these
  up to tell whether a record goes with its keys, and gets nearly the same sum for any cell of the block.
* **keys**: the keys themselves, so that a record does not move far.

A picture is computed column by column, from counts alone, so that it does not depend on the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.release.log_ratios import View, views
from maskwell.release.staying_columns import staying_columns
from maskwell.tables.codes import Coded, Floats, Ints
from maskwell.tables.encoded import encoded

_COMPONENTS = 24
"""Principal components that are kept of a picture."""
_SAMPLE = 4000
"""Cells from which they are computed."""
_SMOOTHING = 3.0
"""Added to a count and to what is expected of it, so that a ratio of two small ones says little."""
_RARE = 1e-3
"""Levels rarer than this do not weigh more."""
_CATEGORIES = 60
"""Categories of a key that are told apart, the most frequent ones; the others count as one."""
_NOMINAL = 20
"""Whole numbers of up to so many values are taken for codes, such as 1 and 2 for the sexes."""

Picture = Callable[[Ints], Iterator[Floats]]
"""For some of the cells, column by column, a matrix with a row for each cell."""


def points(pictures: Sequence[Picture], cells: Ints) -> Floats:
    """The cells as points: the principal components of each picture, brought to unit variance in all."""
    return np.hstack([_components(picture, cells) for picture in pictures])


def _components(picture: Picture, cells: Ints) -> Floats:
    sample = np.hstack(list(picture(cells[:: -(-len(cells) // _SAMPLE)])))
    centre = sample.mean(axis=0)
    variances, directions = np.linalg.eigh((sample - centre).T @ (sample - centre))
    directions = directions[:, -_COMPONENTS:] / np.sqrt(max(variances.sum() / len(sample), 1e-12))
    found, at = np.zeros((len(cells), directions.shape[1])), 0
    for part in picture(cells):
        width = part.shape[1]
        found += (part - centre[at : at + width]) @ directions[at : at + width]
        at += width
    return found


def columns_to_compare(table: Any, without: Sequence[str]) -> list[View]:
    """The columns that stay, in bands where they have many values; names and numbers of records have no likeness."""
    import pyarrow as pa

    found, source = [], encoded(table)
    for column in staying_columns(source, without):
        measured = pa.types.is_floating(source.array(column.name).type)
        if 1 < column.size < len(column.codes) or measured:
            found.append(views(column)[-1])
    return [view for view in found if view.size > 1]


def staying_picture(cell_of_row: Ints, columns: Sequence[View]) -> Picture:
    """The levels of each cell's own records, by their shares. All columns weigh alike, rare levels more."""
    records = np.bincount(cell_of_row)

    def draw(cells: Ints) -> Iterator[Floats]:
        place = np.full(len(records), -1)
        place[cells] = np.arange(len(cells))
        rows = np.flatnonzero(place[cell_of_row] >= 0)
        for column in columns:
            pairs = place[cell_of_row[rows]] * column.size + column.codes[rows]
            counts = np.bincount(pairs, minlength=len(cells) * column.size).reshape(len(cells), column.size)
            weight = np.sqrt(np.maximum(_shares(column), _RARE) * (column.size - 1))
            yield counts / records[cells, None] / weight

    return draw


def profile_picture(cell_of_row: Ints, keys: Sequence[View], columns: Sequence[View]) -> Picture:
    """What the keys of each cell predict of the columns that stay. Levels weigh by how often they occur."""
    of_cell = np.empty((int(cell_of_row.max()) + 1, len(keys)), np.int64)
    for i, key in enumerate(keys):
        of_cell[cell_of_row, i] = key.codes

    @cache
    def ratios(i: int, at: int) -> Floats:
        key, column = keys[i], columns[at]
        pairs = np.bincount(key.codes * column.size + column.codes, minlength=key.size * column.size)
        counts = pairs.reshape(key.size, column.size)
        expected = counts.sum(axis=1, keepdims=True) * _shares(column)
        return np.asarray(np.log((counts + _SMOOTHING) / (expected + _SMOOTHING)))

    def draw(cells: Ints) -> Iterator[Floats]:
        for at, column in enumerate(columns):
            total = np.zeros((len(cells), column.size))
            for i in range(len(keys)):
                total += ratios(i, at)[of_cell[cells, i]]
            yield total * np.sqrt(_shares(column))

    return draw


def keys_picture(keys: Sequence[Coded], codes: NDArray[np.integer]) -> Picture:
    """The keys, all with the same weight: numbers by their distance, categories by whether they are the same."""

    def draw(cells: Ints) -> Iterator[Floats]:
        for column, own in zip(keys, codes.T, strict=True):
            values = numbers_of(column)
            if values is None:
                values = np.eye(min(column.size, _CATEGORIES))[np.minimum(_by_frequency(own), _CATEGORIES - 1)]
            spread = float(values[own].var(axis=0).sum())
            yield values[own[cells]] / np.sqrt(spread or 1.0)

    return draw


def _shares(column: View) -> Floats:
    return np.bincount(column.codes, minlength=column.size) / len(column.codes)


def numbers_of(column: Coded) -> Floats | None:
    """The values of a key of numbers, text that spells them included; nothing if it holds codes or other text."""
    try:
        values = np.array([[math.nan if label is None else float(label)] for label in column.labels])
    except (TypeError, ValueError):
        return None
    if len(values) <= _NOMINAL:
        return None
    return np.where(np.isfinite(values), values, np.median(values[np.isfinite(values)]))


def _by_frequency(codes: NDArray[np.integer]) -> Ints:
    """The rank of each code by how many cells have it, the most frequent first."""
    counts = np.bincount(codes)
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank
