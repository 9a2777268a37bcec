"""How many records share each combination of the keys, counted without a table of all combinations.

A row's codes become one integer in mixed radix; distinct integers are found by counting where they are few and by
hashing where they are many. Time and memory grow with the rows, whatever the number of possible cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.tables.codes import Coded, Floats, Ints

_LARGEST_RADIX = 2**62
_FEW = 2**22

SIZES = (2, 3, 5, 10)
"""The k of the k-anonymity counts that a summary shows."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The occupied cells of the keys' cross-classification, in the order of their codes."""

    keys: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    codes: NDArray[Any]
    counts: Ints
    population: Floats | None = None
    """The sum of weights of each cell, if there are weights: its estimated population frequency."""
    squares: Floats | None = None
    """The sum of squared weights of each cell, if there are weights."""
    wild: tuple[int, ...] = ()
    """Positions of keys whose last category, missing, matches any value."""

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each key."""
        return tuple(len(labels) for labels in self.labels)

    @property
    def possible(self) -> int:
        """The number of combinations of the categories that occur."""
        return math.prod(self.shape)

    @cached_property
    def matches(self) -> Ints:
        """For every cell, the records that match its own: those of the cell, and more if missing matches anything."""
        return self.counts if not self.wild else self._matching(self.counts).astype(np.int64)

    @cached_property
    def matching_population(self) -> Floats | None:
        """The sum of the weights of ``matches``."""
        return self.population if self.population is None or not self.wild else self._matching(self.population)

    @cached_property
    def weighted(self) -> Floats:
        """The cells' weights in records, so that they sum to ``n``; the counts if there are none."""
        if self.population is None:
            return self.counts.astype(np.float64)
        scaled: Floats = self.population * (self.n / self.population.sum())
        return scaled

    @cached_property
    def variances(self) -> Floats:
        """The estimated variances of ``weighted``: sums of squared weights, or the counts, as of Poisson counts."""
        if self.population is None or self.squares is None:
            return self.weighted
        scaled: Floats = self.squares * (self.n / self.population.sum()) ** 2
        return scaled

    def records_of_size(self, size: int) -> int:
        """The number of records that match this many, themselves included."""
        return int(self.counts[self.matches == size].sum())

    def records_below(self, k: int) -> int:
        """The number of records that match fewer than ``k``, themselves included."""
        return int(self.counts[self.matches < k].sum())

    def _matching(self, values: NDArray[Any]) -> Floats:
        """The sum of the cells' values over all cells that match each cell.

        Two cells match if they agree on the keys that neither misses. So the cells are grouped by the keys that they
        miss; for every group, the sums over the keys that it has in common with others are formed once and looked up.
        """
        missing = np.zeros((len(self), len(self.keys)), bool)
        for key in self.wild:
            missing[:, key] = self.codes[:, key] == self.shape[key] - 1
        patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
        groups = [np.flatnonzero(pattern.reshape(-1) == i) for i in range(len(patterns))]
        total = np.zeros(len(self))
        for misses, own in zip(patterns, groups, strict=True):
            either, kind = np.unique(patterns | misses, axis=0, return_inverse=True)
            for i, missed in enumerate(either):
                common = np.flatnonzero(~missed).tolist()
                others = np.concatenate([groups[j] for j in np.flatnonzero(kind.reshape(-1) == i)])
                both = np.concatenate([own, others])
                index, _ = group([self.codes[both, i] for i in common], [self.shape[i] for i in common], len(both))
                total[own] += np.bincount(index[len(own) :], values[others], int(index.max()) + 1)[index[: len(own)]]
        return total

    def without(self, key: str) -> Cells:
        """The cells that remain when one key is not used."""
        kept = [i for i, name in enumerate(self.keys) if name != key]
        index, first = group([self.codes[:, i] for i in kept], [self.shape[i] for i in kept], len(self))
        return Cells(
            tuple(self.keys[i] for i in kept),
            tuple(self.labels[i] for i in kept),
            self.codes[first][:, kept],
            sums(index, self.counts).astype(np.int64),
            None if self.population is None else sums(index, self.population),
            None if self.squares is None else sums(index, self.squares),
            tuple(kept.index(i) for i in self.wild if i in kept),
        )


def cross_classify(
    columns: Sequence[Coded],
    weights: Floats | None = None,
    repeats: Ints | None = None,
    squares: Floats | None = None,
    *,
    wild: bool = False,
) -> tuple[Cells, Ints]:
    """The occupied cells, and the cell of every row; a row stands for ``repeats`` records, or for one.

    ``squares`` are the rows' sums of squared weights, and the squares of the weights unless given; with ``wild`` a
    missing value matches any.
    """
    if weights is not None and squares is None:
        squares = weights**2
    codes, sizes = [column.codes for column in columns], [column.size for column in columns]
    index, first = group(codes, sizes, len(codes[0]))
    cells = Cells(
        tuple(column.name for column in columns),
        tuple(column.labels for column in columns),
        np.stack([code[first] for code in codes], axis=1),
        np.bincount(index) if repeats is None else sums(index, repeats).astype(np.int64),
        None if weights is None else sums(index, weights),
        None if squares is None else sums(index, squares),
        tuple(i for i, column in enumerate(columns) if wild and column.missing),
    )
    return cells, index


def sums(index: Ints, values: NDArray[Any]) -> Floats:
    """The sum of the values of each group."""
    return np.bincount(index, values).astype(np.float64, copy=False)


def group(codes: Sequence[NDArray[Any]], sizes: Sequence[int], n: int) -> tuple[Ints, Ints]:
    """The rank of every row's combination among those that occur, and the first row of each combination."""
    ids, radix = np.zeros(n, np.int64), 1
    for code, size in zip(codes, sizes, strict=True):
        if radix * size > _LARGEST_RADIX:
            ids = _ranks(ids, radix)
            radix = int(ids.max()) + 1
        ids = ids * size + code
        radix *= size
    index = _ranks(ids, radix)
    first = np.empty(int(index.max()) + 1, np.int64)
    # The last assignment stays, so that going backwards leaves the first row.
    first[index[::-1]] = np.arange(n - 1, -1, -1)
    return index, first


def _ranks(ids: Ints, radix: int) -> Ints:
    """The rank of every integer below ``radix`` among the distinct ones."""
    if radix <= max(_FEW, 2 * len(ids)):
        lookup = np.cumsum(np.bincount(ids, minlength=radix) > 0) - 1
        ranks: Ints = lookup[ids]
        return ranks
    import pyarrow as pa

    entries = pa.array(ids).dictionary_encode()
    order = np.argsort(entries.dictionary.to_numpy())
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ranks = rank[entries.indices.to_numpy()]
    return ranks
