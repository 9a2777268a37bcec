"""Matrices of few entries, as linear programs need them: put together, then read column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Sparse:
    """The entries of a matrix with their rows and columns, each place at most once."""

    values: NDArray[np.float64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: Sparse | ArrayLike) -> Sparse:
        """The entries of a dense matrix that are not zero."""
        if isinstance(matrix, Sparse):
            return matrix
        dense = np.asarray(matrix, float)
        rows, columns = np.nonzero(dense)
        return cls(dense[rows, columns], rows, columns, (dense.shape[0], dense.shape[1]))

    @classmethod
    def diagonal(cls, values: ArrayLike) -> Sparse:
        """A diagonal matrix."""
        entries = np.asarray(values, float)
        at = np.arange(len(entries))
        return cls(entries, at, at, (len(entries), len(entries)))

    def __neg__(self) -> Sparse:
        return Sparse(-self.values, self.rows, self.columns, self.shape)

    def by_column(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Where each column starts, and rows and values in the order of the columns."""
        order = np.lexsort((self.rows, self.columns))
        starts = np.append(0, np.cumsum(np.bincount(self.columns, minlength=self.shape[1])))
        return starts.astype(np.int32), self.rows[order].astype(np.int32), self.values[order]


def stacked(parts: Sequence[Sparse]) -> Sparse:
    """Matrices of one width under each other."""
    above = np.cumsum([0, *(part.shape[0] for part in parts)])
    return Sparse(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.rows + start for part, start in zip(parts, above, strict=False)]),
        np.concatenate([part.columns for part in parts]),
        (int(above[-1]), parts[0].shape[1]),
    )


def beside(parts: Sequence[Sparse]) -> Sparse:
    """Matrices of one height beside each other."""
    before = np.cumsum([0, *(part.shape[1] for part in parts)])
    return Sparse(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns + start for part, start in zip(parts, before, strict=False)]),
        (parts[0].shape[0], int(before[-1])),
    )


def repeated(times: int, matrix: ArrayLike) -> Sparse:
    """So many copies of a matrix down the diagonal."""
    block = Sparse.of(matrix)
    (height, width), shift = block.shape, np.arange(times)[:, None]
    return Sparse(
        np.tile(block.values, times),
        (block.rows + height * shift).ravel(),
        (block.columns + width * shift).ravel(),
        (height * times, width * times),
    )


def empty(rows: int, columns: int) -> Sparse:
    """A matrix without entries."""
    none: Any = np.zeros(0, np.int64)
    return Sparse(np.zeros(0), none, none, (rows, columns))
