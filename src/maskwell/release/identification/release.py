"""A release that limits identification, with the proof that the limit holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from maskwell.plain_text import visible_lines
from maskwell.release.added_variance import Moments
from maskwell.release.base import BaseRelease
from maskwell.release.identification.audit import IdentificationAudit
from maskwell.release.identification.setup import Setup
from maskwell.release.identification.variance import moments, sum_variance
from maskwell.release.partition import Factor
from maskwell.results.numbers import percent
from maskwell.tables.codes import Floats, Ints
from maskwell.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from maskwell.release.attack.intruders import Intruders
    from maskwell.release.attack.repeated_values import RepeatedValues
    from maskwell.release.attack.result import Attack, ColumnAttack
    from maskwell.release.identification.plan import IdentificationPlan
    from maskwell.release.recoding.recode import Recoded


@dataclass(frozen=True, eq=False, repr=False)
class Release(BaseRelease):
    """A table in which no match by the keys is right with more than the given chance, and the plan behind it."""

    plan: IdentificationPlan
    audit: IdentificationAudit
    changed_records: int
    """Records with another combination of keys than before."""
    changed_by_key: Mapping[str, int]
    """Records whose value of each key is another one."""
    setup: Setup = dataclasses.field(repr=False)
    cell_after: Ints = dataclasses.field(repr=False)
    """The cell that each unit is released in."""

    @property
    def before(self) -> EncodedTable:
        return self.setup.columns

    @property
    def given(self) -> Any:
        return self.setup.given

    @property
    def n(self) -> int:
        return self.setup.n

    @property
    def moving(self) -> tuple[str, ...]:
        return self.setup.request.moving

    @property
    def changing(self) -> tuple[str, ...]:
        return self.setup.changing

    @property
    def known(self) -> tuple[str, ...]:
        return self.setup.request.keys

    @property
    def together(self) -> str | None:
        return self.setup.request.together

    @property
    def changed(self) -> float:
        """The share of records with another combination of keys than before."""
        return self.changed_records / self.n

    def moments(self, factors: Sequence[Factor]) -> Moments:
        return moments(self.setup, factors)

    def sum_variance(self, factors: Sequence[Factor], weights: Floats) -> float:
        return sum_variance(self.setup, factors, weights)

    def attack(self, seed: int = 0) -> Attack:
        """What somebody who has the released file alone, and knows the method, finds out.

        The intruder compares keys with the columns that stayed and ranks the combinations of keys that are shown once
        by how well they fit; ``.surest`` says how many of the surest 5, 20 and 50 % truly are where they are shown,
        ``.columns`` which columns tell it. ``seed`` picks the records that the intruder learns from.
        """
        from maskwell.release.attack.intruders import attack_release

        return self._attack if seed == 0 else attack_release(self, seed)

    @cached_property
    def _attack(self) -> Attack:
        from maskwell.release.attack.intruders import attack_release

        return attack_release(self, 0)

    @property
    def deciding(self) -> tuple[ColumnAttack, ...]:
        return self.attack().deciding

    @cached_property
    def repeated(self) -> tuple[RepeatedValues, ...]:
        """The columns that moved along and whose repeated values mark who moved."""
        from maskwell.release.attack.repeated_values import nearly_unique, repeated_values
        from maskwell.release.staying_columns import ranked

        setup = self.setup
        names = nearly_unique(self.before, setup.request.along)
        moved = (self.cell_after != setup.cell_of_unit)[setup.unit_of_row]
        return tuple(repeated_values([ranked(self.columns, name) for name in names], moved))

    @cached_property
    def intruders(self) -> Intruders:
        """Everybody who may try to recognise somebody, with how often each is right: the limit is about one of them."""
        from maskwell.release.attack.intruders import intruders

        return intruders(self)

    @cached_property
    def recoded(self) -> Recoded | None:
        """What was recoded before records moved, with its effect on risk and information; None if nothing was."""
        from maskwell.release.recoding.recode import carried_out

        request = self.setup.request
        if not request.recoding:
            return None
        return carried_out(self.setup.original, request.recoding, request.keys, request.rule.sensitive_below, None)

    def check(self, accept: Sequence[str] | str = ()) -> None:
        """Stop here if a column that stays decides a key, unless it is among those that you ``accept`` by name."""
        from maskwell.release.attack.disclosures import disclosures

        disclosures(self, rows_in_order=False).refuse(accept)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {
            "records": self.n,
            "keys": list(self.plan.keys),
            "theta": None if self.plan.theta is None else float(self.plan.theta),
            "sensitive_cells": len(self.setup.blocks.cells),
            "occupied_cells": len(self.setup.cells),
            "changed_records": self.changed_records,
            "changed": self.changed,
            "changed_by_key": dict(self.changed_by_key),
            "merged_sets": self.plan.merged,
            "blocks": self.plan.request.blocks,
            "block_size": self.plan.request.block_size,
            "recoding": None if self.recoded is None else self.recoded.to_dict(),
            "audit": self.audit.to_dict(),
            "intruders": self.intruders.to_dict(),
        }

    def summary(self) -> str:
        """The release in plain text."""
        from maskwell.release.attack.intruders import risk_lines

        sizes = self.setup.blocks.sizes
        blocks = f"{len(sizes)} blocks of {sizes.min()} to {sizes.max()} cells" if len(sizes) else "no block"
        if len(sizes) == 1:
            blocks = f"one block of {sizes[0]} cells"
        by_key = ", ".join(f"{key} {count}" for key, count in self.changed_by_key.items())
        unprotected = ", ".join(self.plan.unprotected)
        beware = [f"  beware:    sets were joined across {unprotected}; the limit is for those who do not know it"]
        return visible_lines(
            [
                f"Release of {self.n} records over the keys {', '.join(self.plan.keys)}",
                *self.recoding_lines(),
                f"  sensitive: {len(self.setup.blocks.cells)} of {len(self.setup.cells)} occupied cells, in {blocks}",
                f"  changed:   {self.changed_records} records ({self.changed:.2%}); by key: {by_key}",
                *risk_lines(self),
                *(beware if unprotected else []),
            ]
        )

    def recoding_lines(self) -> list[str]:
        """What was recoded, in lines of a summary."""
        if self.recoded is None:
            return []
        before, after = self.recoded.effects[0], self.recoded.effects[-1]
        return [
            f"  recoded:   {'; '.join(self.recoded.recipe.lines())}",
            f"             {before.uniques} records alone with their keys before, {after.uniques} after; "
            f"{percent(after.entropy, 1)} of the keys' entropy kept",
            *(f"             {each}" for each in self.recoded.merged),
            *(f"  beware:    {each}" for each in self.recoded.told),
        ]

    def _title(self) -> str:
        return f"release of {self.n:,} records over the keys {', '.join(self.plan.keys)}"

    def _figures(self) -> dict[str, Any]:
        from maskwell.release.attack.intruders import limit_in_words

        return {
            "sensitive cells": f"{len(self.setup.blocks.cells):,} of {len(self.setup.cells):,} occupied ones",
            "changed records": f"{self.changed_records:,} ({percent(self.changed, 2)})",
            "risk": limit_in_words(self),
        }

    def _columns(self) -> dict[str, Any]:
        changed = self.changed_by_key
        shares = [count / self.n for count in changed.values()]
        return {"key": list(changed), "changed records": list(changed.values()), "share": shares}

    def __repr__(self) -> str:
        risk = self.audit.risk_in_digits(4)
        return f"<release of {self.n} records: {self.changed:.2%} changed, largest risk {risk}>"
