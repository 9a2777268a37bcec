"""The variance of a weighted total by linearisation: how the totals of clusters spread within strata, stage by stage.

A stage samples ``n`` of ``N`` clusters in each stratum. Its clusters' totals ``z`` spread by
``(1 - f) n/(n-1) sum (z - mean)^2`` with ``f = n/N``; what varies within the clusters that were drawn counts with the
share ``f``, stage by stage. Totals of scores of masked reports also hold the noise of masking, which no share of the
population takes away: whatever part of it the factors ``1 - f`` took is added back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.results.numbers import counted
from maskwell.tables.labels import text_of

_FEW = 3
_ROUND_OFF = 16 * float(np.finfo(float).eps)
Codes = NDArray[np.int64]
Lonely = Literal["refuse", "certainty", "adjust", "average"]
LONELY = ("refuse", "certainty", "adjust", "average")


class Spread(NamedTuple):
    """Rows whose sum of outer products is the covariance of a total, and the part of each record's masking variance
    that they lack."""

    rows: Matrix
    lacking: Vector


@dataclass(frozen=True, eq=False)
class Stage:
    """For each record its stratum and its cluster, numbered over the whole sample; the sampled share of each stratum.

    ``fractions`` has one entry per stratum; zeros for sampling with replacement or from a large population.
    """

    strata: Codes
    clusters: Codes
    fractions: Vector
    names: Sequence[Any] = ()
    """The labels of the strata, where each has one of its own."""

    @property
    def cluster_count(self) -> int:
        """How many clusters were drawn."""
        return int(self.clusters.max()) + 1

    @property
    def stratum_of_cluster(self) -> Codes:
        """The stratum of each cluster."""
        found = np.empty(self.cluster_count, np.int64)
        found[self.clusters] = self.strata
        return found


def spread(stages: Sequence[Stage], totals: Matrix, lonely: Lonely) -> Spread:
    """How the total over records varies; ``totals`` are weighted values, one row per record."""
    pieces: list[Matrix] = []
    share = np.ones(len(totals))  # the product of the fractions of earlier stages, by record
    for number, stage in enumerate(stages):
        if number and not share.any():
            break
        pieces.append(_between(stage, totals, share, lonely))
        share = share * _sampled_shares(stage, lonely)[stage.strata]
    rows = np.concatenate(pieces)
    # What is left of a sum that is 0, as that of the deviations within one cluster, is no variance.
    noise = _ROUND_OFF * np.sqrt(len(totals)) * np.sqrt((totals**2).sum(axis=0))
    return Spread(np.where(np.abs(rows) <= noise, 0.0, rows), share)


def _sampled_shares(stage: Stage, lonely: Lonely) -> Vector:
    """The sampled share of each stratum; of a single cluster that was bound to be drawn it is all of the stratum."""
    if lonely != "certainty":
        return stage.fractions
    return np.where(np.bincount(stage.stratum_of_cluster) == 1, 1.0, stage.fractions)


def _between(stage: Stage, totals: Matrix, share: Vector, lonely: Lonely) -> Matrix:
    """The rows that one stage adds."""
    stratum = stage.stratum_of_cluster
    z = _summed(totals, stage.clusters, stage.cluster_count)
    before = np.empty(stage.cluster_count)
    before[stage.clusters] = share
    size = np.bincount(stratum, minlength=len(stage.fractions)).astype(float)
    centre = _summed(z, stratum, len(size)) / np.maximum(size, 1)[:, None]
    alone = (size == 1) & (stage.fractions < 1)
    if alone.any() and lonely == "refuse":
        _refuse_lonely(alone, stage.names)
    factor = (1 - stage.fractions) * np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
    if lonely == "adjust":
        centre[alone] = z.mean(axis=0)
        factor[alone] = 1 - stage.fractions[alone]
    if lonely == "average" and alone.any():
        if not factor.any():
            raise EstimationError(
                Advice(
                    f"all of {counted(len(alone), 'stratum', 'strata')} that could vary have a single cluster, so that "
                    "there is no variance to take the average of; join strata, or use ",
                    Setting("lonely", "adjust"),
                    ".",
                )
            )
        factor *= len(size) / (len(size) - alone.sum())
    rows: Matrix = np.sqrt(before * factor[stratum])[:, None] * (z - centre[stratum])
    return rows


def _refuse_lonely(alone: NDArray[np.bool_], names: Sequence[Any]) -> None:
    """An error that names some of the strata with a single cluster."""
    few = [text_of(names[at]) for at in np.flatnonzero(alone)[:_FEW]] if len(names) else []
    which = f" ({', '.join(few)}{', …' if alone.sum() > _FEW else ''})" if few else ""
    verb = "has" if alone.sum() == 1 else "have"
    raise EstimationError(
        Advice(
            f"{int(alone.sum())} of {counted(len(alone), 'stratum', 'strata')}{which} {verb} a single cluster, which "
            "does not show how clusters vary; join strata, or choose a rule: ",
            Setting("lonely", "adjust"),
            " (or average, or certainty).",
        )
    )


def _summed(values: Matrix, codes: Codes, groups: int) -> Matrix:
    """Sums of rows by group."""
    if groups == len(values) and (codes[1:] > codes[:-1]).all():
        return values
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(groups))
    return np.add.reduceat(values[order], starts, axis=0)
