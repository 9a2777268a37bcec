"""The plan of post-randomization: its steps, and how each is drawn from a table, also once more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from maskwell.errors import DataError, ReportError
from maskwell.release.drawing import Chance, applied
from maskwell.release.plan import ReleasePlan, refuse_other_key
from maskwell.release.pram.estimate import PramEstimate, estimate
from maskwell.release.pram.release import PramRelease
from maskwell.release.pram.step import Step, read_step
from maskwell.release.pram.step_columns import StepColumns, read_columns
from maskwell.release.rows import read_ids, settled, with_rows
from maskwell.results.numbers import counted
from maskwell.sampling.entropy import Source
from maskwell.tables.codes import Ints
from maskwell.tables.encoded import EncodedTable


@dataclass(frozen=True, eq=False, repr=False)
class PramPlan(ReleasePlan):
    """The steps, in the order in which they were made."""

    steps: tuple[Step, ...]

    method = "pram"

    def apply(self, table: Any, *, key: bytes | None = None, ids: Any = None) -> Any:
        """The released table again, from the original one, with the stored seeds or with the key and ids of old."""
        return self.replay(table, key=key, ids=ids).table

    def replay(self, table: Any, *, key: bytes | None = None, ids: Any = None) -> PramRelease:
        """The release again, as ``apply`` has its table."""
        kinds = {step.randomness for step in self.steps}
        if kinds - {"seeded", "keyed"}:
            raise DataError("the plan was drawn without a seed and without a key, so it cannot be repeated.")
        if ("keyed" in kinds) != (key is not None):
            wanted = "with a key: give it with the ids of old" if key is None else "with seeds alone: leave the key out"
            raise DataError(f"the plan was drawn {wanted}, or it cannot be repeated.")
        columns, lazy = settled(table)
        native = released = columns.native
        changed = []
        for number, step in enumerate(self.steps):
            rows, moved = _repeated(step, number, columns, key, ids)
            columns, released = columns.moved(rows), with_rows(released, rows)
            changed.append(moved)
        released = with_rows(released, {}, lazy=lazy)
        return PramRelease(released, columns.moved({}, released), self, tuple(changed), native)

    def estimate(self, table: Any, of: Any = None) -> PramEstimate:
        """Unbiased counts and proportions from a released table; see ``PramRelease.estimate``."""
        return estimate(self.steps, table, of)

    def content(self) -> dict[str, Any]:
        return {"steps": [step.stored() for step in self.steps]}

    def draws(self) -> list[dict[str, Any]]:
        return [{name: getattr(step, name) for name in ("randomness", "seed", "key_check")} for step in self.steps]

    @classmethod
    def from_content(cls, content: dict[str, Any], draws: Any) -> Self:
        if not content["steps"]:
            raise ReportError("a plan has one step or more.")
        return cls(tuple(read_step(step, drawn) for step, drawn in zip(content["steps"], draws, strict=True)))

    def __repr__(self) -> str:
        steps = "; ".join(
            f"{'×'.join(s.columns)}, {len(s.labels)} categories, {counted(len(s.levels), 'stratum', 'strata')}"
            for s in self.steps
        )
        return f"<plan of post-randomization: {steps}>"


class Drawn(NamedTuple):
    """What a step made of a table: the rows that its columns are taken from, and how many records it changed."""

    rows: dict[str, Ints]
    changed: int
    randomness: str


def draw_step(step: Step, columns: StepColumns, table: EncodedTable, chance: Chance, number: int) -> Drawn:
    """New categories, stratum by stratum and stage by stage, each with a keystream of its own."""
    ids = read_ids(table, chance.ids, len(columns.truth))
    new, randomness = columns.truth.copy(), "none"
    fingerprint = PramPlan((step,)).fingerprint if chance.key is not None else ""
    order = np.argsort(columns.stratum, kind="stable")
    edges = np.searchsorted(columns.stratum[order], np.arange(len(step.levels) + 1))
    for h, path in enumerate(step.transitions):
        rows = order[edges[h] : edges[h + 1]]
        ids_here = None if ids is None else [ids[row] for row in rows.tolist()]
        for s, stage in enumerate(path.stages):
            source = Source(chance.key, ids_here, chance.seed, f" pram step {number} stratum {h} stage {s}")
            stream = source.stream(fingerprint, len(rows))
            new[rows], randomness = applied(stage, new[rows], stream), stream.randomness
    return Drawn(dict.fromkeys(step.columns, columns.rows(new)), int((new != columns.truth).sum()), randomness)


def _repeated(step: Step, number: int, table: EncodedTable, key: bytes | None, ids: Any) -> tuple[dict[str, Ints], int]:
    """The rows that a step which is known already takes its columns from, and how many records it changed."""
    held = read_columns(table, step.columns, step.strata)
    if (held.labels, held.levels, held.counts) != (step.labels, step.levels, step.counts):
        raise DataError("table is not the one that the plan was made for: its frequencies differ; run the step anew.")
    if key is not None and step.key_check is not None:
        refuse_other_key(key, PramPlan((step,)).fingerprint, step.key_check)
    chance = Chance(key, ids) if step.seed is None else Chance(seed=step.seed)
    drawn = draw_step(step, held, table, chance, number)
    return drawn.rows, drawn.changed
