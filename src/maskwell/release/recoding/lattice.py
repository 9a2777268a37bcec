"""The lattice of recodings: one level of each key's ladder, and the cells of any of them from those of the finest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maskwell.errors import DataError
from maskwell.release.recoding.effects import entropy_of
from maskwell.release.recoding.hierarchy import Hierarchy
from maskwell.release.recoding.recipe import recoded_column
from maskwell.release.recoding.ways import Recode, read_recode
from maskwell.risk.frequencies import Cells, cross_classify, group, sums
from maskwell.tables.codes import Coded, Floats

Node = tuple[int, ...]
"""The level of each key, 0 being as it is."""
Ladder = Sequence[Recode] | Hierarchy


@dataclass(frozen=True, eq=False)
class Rungs:
    """The levels of one key, each coarser than the one before."""

    before: Coded
    """The column as it is."""
    recodes: tuple[Recode, ...]
    """What makes each level; the first one is what is done whatever the level, as a rule nothing."""
    columns: tuple[Coded, ...]
    """The column at each level, as it is, or as it is after the first step, first."""
    lost: Floats
    """The share of the key's entropy that each level loses."""

    @property
    def key(self) -> str:
        return self.before.name

    @property
    def levels(self) -> int:
        return len(self.columns)

    @staticmethod
    def of(column: Coded, ladder: Ladder, first: Recode) -> Rungs:
        """The levels of a column; an error if one is not coarser than the one before."""
        given = ladder.all_levels() if isinstance(ladder, Hierarchy) else list(ladder)
        recodes = [first, *(read_recode(one, column.name) for one in given)]
        columns = [column if recode == Recode() else recoded_column(column, recode) for recode in recodes]
        for finer, coarser, recode in zip(columns, columns[1:], recodes[1:], strict=False):
            pairs = {(a, b) for a, b in zip(finer.codes.tolist(), coarser.codes.tolist(), strict=True)}
            if len(pairs) > finer.size:
                raise DataError(
                    f"the ladder of {column.name!r}: {recode} is not coarser than the level before it, as it parts "
                    "values that are one there; order levels from mild to coarse, each of groups of the one before.",
                    parameter="ladders",
                )
        whole = entropy_of(np.bincount(column.codes))
        left = np.array([entropy_of(np.bincount(each.codes)) for each in columns])
        lost = 1 - left / whole if whole > 0 else np.zeros(len(left))
        return Rungs(column, tuple(recodes), tuple(columns), np.maximum.accumulate(lost))


class Lattice:
    """All combinations of levels, by what they lose and by the cells that they leave."""

    def __init__(
        self,
        columns: Sequence[Coded],
        ladders: Mapping[str, Ladder],
        importance: Mapping[str, float],
        done: Mapping[str, Recode] | None = None,
        record_weights: Floats | None = None,
    ) -> None:
        known = done or {}
        self.rungs = [
            Rungs.of(column, ladders.get(column.name, ()), known.get(column.name, Recode())) for column in columns
        ]
        self.weights = _weights([column.name for column in columns], importance)
        self.record_weights = record_weights
        self._cells, self.cell_of_row = cross_classify(columns, record_weights)
        # The code of each cell's key at each level: levels recode labels, whatever record holds them.
        first = np.empty(len(self._cells), np.int64)
        first[self.cell_of_row[::-1]] = np.arange(len(self.cell_of_row) - 1, -1, -1)
        self._codes = [[column.codes[first].astype(np.int64) for column in rungs.columns] for rungs in self.rungs]

    @cached_property
    def size(self) -> int:
        """How many recodings there are."""
        return math.prod(rungs.levels for rungs in self.rungs)

    @property
    def bottom(self) -> Node:
        """Everything as it is."""
        return (0,) * len(self.rungs)

    @property
    def top(self) -> Node:
        """Every key at its coarsest."""
        return tuple(rungs.levels - 1 for rungs in self.rungs)

    def loss(self, node: Node) -> float:
        """The share of entropy lost, averaged over keys by importance: it can only grow from level to level."""
        return float(sum(w * rungs.lost[level] for w, rungs, level in zip(self.weights, self.rungs, node, strict=True)))

    def cells(self, node: Node) -> Cells:
        """The occupied cells of a recoding."""
        codes = [own[level] for own, level in zip(self._codes, node, strict=True)]
        columns = self.columns(node)
        index, first = group(codes, [column.size for column in columns], len(self._cells))
        weights, squares = self._cells.population, self._cells.squares
        return Cells(
            tuple(column.name for column in columns),
            tuple(column.labels for column in columns),
            np.stack([code[first] for code in codes], axis=1),
            sums(index, self._cells.counts).astype(np.int64),
            None if weights is None else sums(index, weights),
            None if squares is None else sums(index, squares),
        )

    def columns(self, node: Node) -> list[Coded]:
        """The keys of a recoding, row by row."""
        return [rungs.columns[level] for rungs, level in zip(self.rungs, node, strict=True)]

    def recodes(self, node: Node) -> dict[str, Recode]:
        """What happens to each key that is recoded."""
        pairs = zip(self.rungs, node, strict=True)
        chosen = {rungs.key: rungs.recodes[level] for rungs, level in pairs}
        return {key: recode for key, recode in chosen.items() if recode != Recode()}

    def children(self, node: Node) -> list[Node]:
        """Recodings with one key a level coarser; each recoding is the child of one alone."""
        last = max((i for i, level in enumerate(node) if level), default=0)
        top = self.top
        return [(*node[:i], node[i] + 1, *node[i + 1 :]) for i in range(last, len(node)) if node[i] < top[i]]

    def milder(self, node: Node) -> list[Node]:
        """Recodings with one key a level finer."""
        return [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]


def _weights(keys: Sequence[str], importance: Mapping[str, float]) -> Floats:
    """What each key counts, 1 unless said, as shares."""
    unknown = [name for name in importance if name not in keys]
    if unknown:
        raise DataError(f"importance names {unknown[0]!r}, which is no key.", parameter="importance")
    weights = np.array([float(importance.get(key, 1.0)) for key in keys])
    if not ((weights > 0) & np.isfinite(weights)).all():
        raise DataError("importance must be a positive number for every key.", parameter="importance")
    shares: Floats = weights / weights.sum()
    return shares
