"""One step of post-randomization: its categories, its strata and the exact channel of every stratum."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.stages import ChainedChannel, StageChannel, chained
from maskwell.errors import ReportError
from maskwell.limits import MOST_CHANCES
from maskwell.release.plan import read_draws, read_label, read_texts, read_whole, read_wholes, stored_label

_MOST_STAGES = 4  # of a matrix that is drawn one stage after the other


@dataclass(frozen=True, eq=False)
class Step:
    """One column, or several as one, through a matrix for each stratum."""

    columns: tuple[str, ...]
    labels: tuple[Any, ...]
    """The categories; tuples where there are several columns."""
    strata: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    """What the strata columns hold in each stratum; one empty tuple if there are none."""
    transitions: tuple[ChainedChannel, ...]
    counts: tuple[tuple[int, ...], ...]
    """The true frequencies by stratum."""
    randomness: str = "none"
    seed: int | None = None
    key_check: str | None = None

    @property
    def keeps_frequencies(self) -> bool:
        """Whether P T = T in every stratum, decided exactly."""
        return all(path.keeps(of_stratum) for path, of_stratum in zip(self.transitions, self.counts, strict=True))

    def matrix(self, level: tuple[Any, ...] = (), *, exact: bool = True) -> NDArray[Any]:
        """``P[report, truth]`` of one stratum, in the order of ``labels``."""
        path = self.transitions[self.levels.index(level)]
        return path.exact() if exact else path.floats

    def diagonals(self) -> dict[tuple[Any, ...], dict[Any, Fraction]]:
        """The exact chance of staying, by stratum and category."""
        return {
            level: dict(zip(self.labels, path.diagonal(), strict=True))
            for level, path in zip(self.levels, self.transitions, strict=True)
        }

    def added_variance(self) -> NDArray[np.float64]:
        """The exact covariance of the released counts given the true ones: D_{PT} - P D_T P', summed over strata."""
        total = np.zeros((len(self.labels), len(self.labels)))
        for path, of_stratum in zip(self.transitions, self.counts, strict=True):
            P, T = path.floats, np.array(of_stratum, float)
            total += np.diag(P @ T) - (P * T) @ P.T
        return total

    def stored(self) -> dict[str, Any]:
        """What decides the chances of every change, ready for JSON."""
        return {
            "columns": list(self.columns),
            "labels": [stored_label(label) for label in self.labels],
            "strata": list(self.strata),
            "levels": [[stored_label(part) for part in level] for level in self.levels],
            "counts": [list(of_stratum) for of_stratum in self.counts],
            "transitions": [[_stored(part) for part in path.stages] for path in self.transitions],
        }


def _stored(part: StageChannel) -> list[list[tuple[int, str]]]:
    """By truth: the reports that can occur and their weights, as text because JSON readers round large numbers."""
    return [[(i, str(w)) for i, w in enumerate(column) if w] for column in part.weights.T.tolist()]


def read_step(step: dict[str, Any], drawn: dict[str, Any]) -> Step:
    """A step whose parts fit each other: a matrix and a frequency of every category for each stratum."""
    labels, transitions, counts = tuple(map(read_label, step["labels"])), step["transitions"], step["counts"]
    k, stages = len(labels), sum(map(len, transitions))
    if k**2 * stages > _MOST_STAGES * MOST_CHANCES:
        raise ReportError(f"{stages:,} matrices of {k:,} categories are more than a plan may hold.")
    if not all(transitions) or any(len(part) != k for path in transitions for part in path):
        raise ReportError("a plan has a matrix for each stratum, and as many columns in it as categories.")
    if not len(transitions) == len(counts) == len(step["levels"]) or any(len(of_stratum) != k for of_stratum in counts):
        raise ReportError("a plan has the frequency of every category for each stratum.")
    columns, strata = read_texts(step["columns"]), read_texts(step["strata"])
    levels = tuple(tuple(map(read_label, level)) for level in step["levels"])
    parts = {len(label) if isinstance(label, tuple) else 1 for label in labels}
    if not columns or parts != {len(columns)} or {len(level) for level in levels} != {len(strata)}:
        raise ReportError("a plan has a value of every column in each category, and of every stratum in each level.")
    return Step(
        columns,
        labels,
        strata,
        levels,
        tuple(chained(*map(_read, path)) for path in transitions),
        tuple(map(read_wholes, counts)),
        *read_draws(drawn),
    )


def _read(stored: list[list[Any]]) -> StageChannel:
    weights = np.zeros((len(stored), len(stored)), np.uint64)
    for truth, pairs in enumerate(stored):
        for report, weight in pairs:
            weights[read_whole(report), truth] = int(weight)
    return StageChannel(len(stored), "a stage", weights)
