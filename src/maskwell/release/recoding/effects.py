r"""What recoding does to risk and to information, in figures that any two tables can be compared by.

Risk: the combinations of keys that occur, records that are alone with theirs, records of combinations rarer than k,
matches to expect in the file (one for every combination), and tau1 and tau2 where the population's size is known.

Information: the entropy of the keys that is kept, on average (a recoded value follows from the true one, so that their
mutual information is the entropy that is left); the mutual information of keys with each other and with all other
columns that is kept, less what chance alone gives, :math:`(r-1)(c-1)/2n`; and how many records share a record's
combination on average (the discernibility measure over n). Neither of the first two can rise by recoding, apart from
that correction. Values that were set missing say nothing: what is kept is that of the others, times their share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import EstimationError
from maskwell.release.identification.blocks.likeness import columns_to_compare
from maskwell.release.log_ratios import View
from maskwell.risk.frequencies import Cells, cross_classify, group
from maskwell.risk.modelled import model_risk
from maskwell.tables.codes import Coded, Floats, Ints
from maskwell.tables.encoded import EncodedTable

MODEL = "independence"
"""The log-linear model behind tau1 and tau2 where many recodings are compared; ``mw.risk.assess`` has better ones."""


@dataclass(frozen=True)
class Effect:
    """Risk and information of a table by its keys."""

    what: str
    cells: int
    """Combinations of keys that occur; a match is right for one record of each, so these are the matches to expect."""
    uniques: int
    below_k: int
    tau1: float | None
    tau2: float | None
    entropy: float
    """The share of the keys' entropy that is kept, on average over keys."""
    association: float
    """The share of the mutual information of keys with each other and with other columns that is kept."""
    alike: float
    """How many records share a record's combination, on average."""
    suppressed: int = 0
    """Records with a key set missing."""


class Measure:
    """Compares tables with the one before any recoding."""

    def __init__(
        self, before: EncodedTable, keys: Sequence[str], k: int, population: float | None, weights: Floats | None = None
    ) -> None:
        self.keys, self.k, self.population, self.weights = tuple(keys), k, population, weights
        self._before = {key: before.coded(key) for key in keys}
        self._entropy = {key: entropy(column.codes) for key, column in self._before.items()}
        self._others = columns_to_compare(before, list(keys))
        self._shared = self._mutual(self._before, {})

    def of(self, what: str, recoded: Mapping[str, Coded], gone: NDArray[np.bool_] | None = None) -> Effect:
        """The figures of a table with these columns in place of the true ones."""
        columns = self._before | dict(recoded)
        cells, _ = cross_classify([columns[key] for key in self.keys], self.weights)
        shown = {key: ~gone[:, i] for i, key in enumerate(self.keys)} if gone is not None and gone.shape[1] else {}
        kept = [self.kept(key, columns[key], shown.get(key)) for key in self.keys]
        shared = self._mutual(columns, shown)
        tau1, tau2 = self.taus(cells)
        return Effect(
            what,
            len(cells),
            cells.records_of_size(1),
            cells.records_below(self.k),
            tau1,
            tau2,
            float(np.mean(kept)),
            shared / self._shared if self._shared > 0 else 1.0,
            float((cells.counts.astype(float) ** 2).sum() / cells.n),
            0 if gone is None else int(gone.any(axis=1).sum()),
        )

    def kept(self, key: str, column: Coded, shown: NDArray[np.bool_] | None = None) -> float:
        """The share of a key's entropy that a recoded column keeps."""
        return share_kept(self._entropy[key], column.codes, shown)

    def taus(self, cells: Cells) -> tuple[float | None, float | None]:
        """tau1 and tau2, if the population's size is known and the model can be fitted."""
        return taus(cells, self.population)

    def _mutual(self, columns: Mapping[str, Coded], shown: Mapping[str, NDArray[np.bool_]]) -> float:
        own = [(View(columns[key].codes.astype(np.int64), columns[key].size), shown.get(key)) for key in self.keys]
        pairs = [*combinations(own, 2), *((one, (other, None)) for one in own for other in self._others)]
        return sum(_shared(one, other, [some for some in (a, b) if some is not None]) for (one, a), (other, b) in pairs)


def taus(cells: Cells, population: float | None) -> tuple[float | None, float | None]:
    """tau1 and tau2 of cells, by their weights if they have some; None where the size of the population is unknown."""
    if population is None:
        return None, None
    try:
        found = model_risk(cells, MODEL, min(cells.n / population, 1.0))
    except EstimationError:
        return None, None
    return found.tau1, found.tau2


def share_kept(total: float, codes: Ints, shown: NDArray[np.bool_] | None = None) -> float:
    """The share of an entropy that codes keep, in the rows that are shown."""
    if total <= 0:
        return 1.0
    return entropy(codes) / total if shown is None else entropy(codes[shown]) / total * float(shown.mean())


def _shared(one: View, other: View, shown: list[NDArray[np.bool_]]) -> float:
    """The mutual information of two columns in the rows that show both, times their share."""
    if not shown:
        return max(mutual_information(one, other), 0.0)
    both = np.logical_and.reduce(shown)
    if not both.any():
        return 0.0
    seen = (View(view.codes[both], view.size) for view in (one, other))
    return max(mutual_information(*seen), 0.0) * float(both.mean())


def entropy(codes: Ints) -> float:
    """The entropy of a column in bits."""
    return entropy_of(np.bincount(codes))


def entropy_of(counts: Ints) -> float:
    """The entropy of counts in bits."""
    shares: Floats = counts[counts > 0] / counts.sum()
    return float(max(-(shares * np.log2(shares)).sum(), 0.0))


def mutual_information(one: View, other: View) -> float:
    """The mutual information of two columns in bits, less what independent columns have on average."""
    n = len(one.codes)
    pairs, _ = group([one.codes, other.codes], [one.size, other.size], n)
    levels = [np.bincount(view.codes) for view in (one, other)]
    r, c = (int((counts > 0).sum()) for counts in levels)
    shared = sum(map(entropy_of, levels)) - entropy_of(np.bincount(pairs))
    return shared - (r - 1) * (c - 1) / (2 * n * math.log(2))


def rows_of(effects: Sequence[Effect], k: int) -> dict[str, list[Any]]:
    """The table of effects by column."""
    columns: dict[str, list[Any]] = {
        "recoding": [effect.what for effect in effects],
        "matches": [effect.cells for effect in effects],
        "uniques": [effect.uniques for effect in effects],
        f"below {k}": [effect.below_k for effect in effects],
    }
    if any(effect.tau1 is not None for effect in effects):
        digits = 6  # of a person; anything less is rounding
        for name in ("tau1", "tau2"):
            taus = [getattr(effect, name) for effect in effects]
            columns[name] = [None if tau is None else round(tau, digits) for tau in taus]
    columns |= {
        "entropy kept": [effect.entropy for effect in effects],
        "association kept": [effect.association for effect in effects],
        "records alike": [effect.alike for effect in effects],
    }
    if any(effect.suppressed for effect in effects):
        columns["suppressed"] = [effect.suppressed for effect in effects]
    return columns
