"""A file whose columns were post-randomized by matrices, one step at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.plain_text import visible_lines
from maskwell.release.added_variance import Moments
from maskwell.release.base import BaseRelease
from maskwell.release.partition import Factor
from maskwell.release.pram.estimate import PramEstimate, estimate
from maskwell.release.pram.variance import moments, sum_variance
from maskwell.release.staying_columns import Staying
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Floats, recoded
from maskwell.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from maskwell.release.attack.result import ColumnAttack
    from maskwell.release.pram.plan import PramPlan


@dataclass(frozen=True, eq=False, repr=False)
class PramRelease(BaseRelease):
    """A table after one or more steps of post-randomization, with the plan of all of them."""

    plan: PramPlan
    changed_by_step: tuple[int, ...]
    """Records that each step changed."""
    original: Any = dataclasses.field(repr=False)
    """The table before the first step, for the custodian's own comparisons."""

    @property
    def before(self) -> EncodedTable:
        return self.moved.root

    @property
    def n(self) -> int:
        return sum(map(sum, self.plan.steps[0].counts))

    @property
    def moving(self) -> tuple[str, ...]:
        return tuple(name for step in self.plan.steps for name in step.columns)

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.moving, *self._strata)))

    @property
    def _strata(self) -> list[str]:
        return [name for step in self.plan.steps for name in step.strata]

    @property
    def changed(self) -> float:
        """The share of records that the last step changed."""
        return self.changed_by_step[-1] / self.n

    def moments(self, factors: Sequence[Factor]) -> Moments:
        return moments(self.plan.steps, self.before, factors)

    def sum_variance(self, factors: Sequence[Factor], weights: Floats) -> float:
        return sum_variance(self.plan.steps, self.before, factors, weights)

    @property
    def deciding(self) -> tuple[ColumnAttack, ...]:
        from maskwell.release.attack.released_file import attack_file

        true = [self.before.coded(name) for name in self.moving]
        after = [recoded(self.columns.coded(was.name), was) for was in true]
        within = [column for column in self.staying if column.name in self._strata]
        sets, _ = group([column.codes for column in within], [column.size for column in within], self.n)
        return attack_file(
            [Staying(was.name, now, was.size) for was, now in zip(true, after, strict=True)],
            self.staying,
            np.all([was.codes == now for was, now in zip(true, after, strict=True)], axis=0),
            sets,
            movable=np.ones(self.n, bool),
            derived=self.derived,
        ).deciding

    def estimate(self, of: Sequence[str] | str | None = None) -> PramEstimate:
        """Unbiased counts by the columns ``of`` (those of the last step unless named), with their variances."""
        return estimate(self.plan.steps, self.columns, of)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        steps = []
        for step, changed in zip(self.plan.steps, self.changed_by_step, strict=True):
            staying = np.concatenate([path.staying for path in step.transitions])
            steps.append(
                {
                    "columns": list(step.columns),
                    "categories": len(step.labels),
                    "strata": list(step.strata),
                    "changed": changed,
                    "least_chance_of_staying": float(staying.min()),
                    "largest_chance_of_staying": float(staying.max()),
                    "keeps_frequencies": step.keeps_frequencies,
                }
            )
        return {"records": self.n, "changed_by_step": list(self.changed_by_step), "steps": steps}

    def summary(self) -> str:
        """The release in plain text."""
        lines = [f"Release of {self.n:,} records by post-randomization"]
        for step in self.to_dict()["steps"]:
            least, most = step["least_chance_of_staying"], step["largest_chance_of_staying"]
            within = f" within {', '.join(step['strata'])}" if step["strata"] else ""
            kept = "kept" if step["keeps_frequencies"] else "NOT kept"
            lines += [
                f"  {', '.join(step['columns'])}: {step['categories']} categories{within}, {step['changed']:,} records "
                f"changed ({step['changed'] / self.n:.2%})",
                f"    chance of staying {least:.4g} to {most:.4g}; expected frequencies are {kept}",
            ]
        return visible_lines(
            [*lines, "  no limit on identification is promised: that is what limit_identification does"]
        )

    def _title(self) -> str:
        return f"release of {self.n:,} records by post-randomization"

    def _figures(self) -> dict[str, Any]:
        return {"limit on identification": "none: that is what limit_identification does"}

    def _columns(self) -> dict[str, Any]:
        steps = self.to_dict()["steps"]
        return {
            "columns": [" × ".join(step["columns"]) for step in steps],
            "changed records": [step["changed"] for step in steps],
            "least chance of staying": [step["least_chance_of_staying"] for step in steps],
            "largest": [step["largest_chance_of_staying"] for step in steps],
            "frequencies": ["kept" if step["keeps_frequencies"] else "NOT kept" for step in steps],
        }

    def __repr__(self) -> str:
        columns = ", ".join("×".join(step.columns) for step in self.plan.steps)
        return f"<release of {self.n} records: {columns} post-randomized, {self.changed:.2%} changed in the last step>"
