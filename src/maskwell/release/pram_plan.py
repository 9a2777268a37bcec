"""The plan of post-randomization: for each step its categories, its strata and the exact matrix of every stratum."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.release.plan import ReleasePlan, read_label, stored_label
from maskwell.release.transitions import Stage, Transition


@dataclass(frozen=True, eq=False)
class Step:
    """One column, or several as one, through a matrix for each stratum."""

    columns: tuple[str, ...]
    labels: tuple[Any, ...]
    """The categories; tuples where there are several columns."""
    strata: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    """What the strata columns hold in each stratum; one empty tuple if there are none."""
    transitions: tuple[Transition, ...]
    counts: tuple[tuple[int, ...], ...]
    """The true frequencies by stratum."""
    randomness: str = "none"
    seed: int | None = None
    key_check: str | None = None

    @property
    def keeps_frequencies(self) -> bool:
        """Whether P T = T in every stratum, decided exactly."""
        return all(path.keeps(own) for path, own in zip(self.transitions, self.counts, strict=True))

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
        for path, own in zip(self.transitions, self.counts, strict=True):
            P, T = path.floats, np.array(own, float)
            total += np.diag(P @ T) - (P * T) @ P.T
        return total


@dataclass(frozen=True, eq=False, repr=False)
class PramPlan(ReleasePlan):
    """The steps, in the order in which they were made."""

    steps: tuple[Step, ...]

    method = "pram"

    def apply(self, table: Any, *, key: bytes | None = None, ids: Any = None) -> Any:
        """The released table again, from the original one, with the stored seeds or with the key and ids of old."""
        from maskwell.release.pram import replay

        return replay(self, table, key=key, ids=ids).table

    def estimate(self, table: Any, of: Any = None) -> Any:
        """Unbiased counts and proportions from a released table; see ``PramRelease.estimate``."""
        from maskwell.release.pram_estimate import estimate

        return estimate(self, table, of)

    def content(self) -> dict[str, Any]:
        return {
            "steps": [
                {
                    "columns": list(step.columns),
                    "labels": [stored_label(label) for label in step.labels],
                    "strata": list(step.strata),
                    "levels": [[stored_label(part) for part in level] for level in step.levels],
                    "counts": [list(own) for own in step.counts],
                    "transitions": [[_stored(part) for part in path.stages] for path in step.transitions],
                }
                for step in self.steps
            ]
        }

    def draws(self) -> list[dict[str, Any]]:
        return [{name: getattr(step, name) for name in ("randomness", "seed", "key_check")} for step in self.steps]

    @classmethod
    def from_content(cls, content: dict[str, Any], draws: Any) -> Self:
        return cls(
            tuple(
                Step(
                    tuple(step["columns"]),
                    tuple(map(read_label, step["labels"])),
                    tuple(step["strata"]),
                    tuple(tuple(map(read_label, level)) for level in step["levels"]),
                    tuple(Transition(tuple(map(_read, stages))) for stages in step["transitions"]),
                    tuple(map(tuple, step["counts"])),
                    drawn["randomness"],
                    drawn["seed"],
                    drawn.get("key_check"),
                )
                for step, drawn in zip(content["steps"], draws, strict=True)
            )
        )

    def __repr__(self) -> str:
        steps = "; ".join(
            f"{'×'.join(s.columns)}, {len(s.labels)} categories, {len(s.levels)} strata" for s in self.steps
        )
        return f"<plan of post-randomization: {steps}>"


def _stored(part: Stage) -> list[list[tuple[int, str]]]:
    """By truth: the reports that can occur and their weights, as text because JSON readers round large numbers."""
    return [[(i, str(w)) for i, w in enumerate(column) if w] for column in part.weights.T.tolist()]


def _read(stored: list[list[Any]]) -> Stage:
    weights = np.zeros((len(stored), len(stored)), np.uint64)
    for truth, pairs in enumerate(stored):
        for report, weight in pairs:
            weights[int(report), truth] = int(weight)
    return Stage(weights)
