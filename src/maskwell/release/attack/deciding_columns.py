"""Columns that decide a key: left in a file they show who moved, so a release stops until somebody says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.after.comparison import recoded
from maskwell.release.attack.released_file import attack_file
from maskwell.release.attack.result import ColumnAttack
from maskwell.release.attack.revealing_columns import Giveaway, among
from maskwell.release.pram.release import PramRelease
from maskwell.release.unchanged_columns import Staying, staying_columns
from maskwell.risk.frequencies import group
from maskwell.tables.frames import names_of

if TYPE_CHECKING:
    from maskwell.release.identification.release import Release


@dataclass(frozen=True)
class Telltales:
    """What tells, in a released file, which records were changed."""

    columns: tuple[ColumnAttack, ...]
    """Columns that stay and decide what others were."""
    giveaways: tuple[Giveaway, ...]
    """What does so whatever the draws are, groups and orders among it."""

    @property
    def deciding(self) -> tuple[str, ...]:
        """The columns that must not stay without a word: each once."""
        numbers = (each.column for each in self.giveaways if each.column is not None)
        return tuple(dict.fromkeys([*(column.name for column in self.columns), *numbers]))

    def not_accepted(self, accept: Iterable[str]) -> list[str]:
        """The columns that stop a release: those that decide a key and that nobody accepted by name."""
        accepted = set(accept)
        return [name for name in self.deciding if name not in accepted]

    def refuse(self, accept: Sequence[str] | str = ()) -> None:
        """An error if a column decides a key and is not accepted by name."""
        found = self.not_accepted(names_of(accept, "accept"))
        if found:
            raise DataError(
                f"{', '.join(map(repr, found))} would stay in the file and give a key away, which shows who moved; "
                "leave such a column out, move it along (along), make it a key, or accept it by name (accept)."
            )

    def warnings(self) -> list[str]:
        """Each of them in words, with the remedy."""
        said = {each.column for each in self.giveaways}
        return [*(_words(column) for column in self.columns if column.name not in said), *map(str, self.giveaways)]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers."""
        return {
            "deciding": list(self.deciding),
            "giveaways": [
                {"column": each.column, "changed": each.changed, "right": each.right, "how": each.how}
                for each in self.giveaways
            ],
        }


def telltales(release: Release | PramRelease, *, rows_in_order: bool = True) -> Telltales:
    """What tells who was changed; ``rows_in_order`` says whether the rows are given away in their order."""
    if isinstance(release, PramRelease):
        original, together = release.moved.root, None
        changed = tuple(name for step in release.plan.steps for name in step.columns)
        staying = staying_columns(original, changed)
        columns = _deciding_steps(release, changed, staying)
    else:
        request = release.setup.request
        columns, staying = release.attack().deciding, release.staying
        original, changed, together = release.setup.columns, release.setup.changing, request.together
    found = among(original, changed, staying, rows_in_order=rows_in_order, together=together)
    return Telltales(columns, tuple(found))


def combinations_nobody_had(release: Release | PramRelease) -> list[str]:
    """A warning of released records with combinations of common values that nobody had, if there are any."""
    found = {pair: count for pair, count in release.comparison().impossible.items() if count}
    if not found:
        return []
    listed = ", ".join(f"{' × '.join(pair)} {count:,}" for pair, count in found.items())
    return [
        "records now show combinations that nobody had although both values are common, which tells that they moved: "
        f"{listed}. Make such columns keys as well, release coarser ones, or leave them out."
    ]


def _words(column: ColumnAttack) -> str:
    return (
        f"{column.name!r} stays as it is and decides a key: by it alone, whoever compares the two tells "
        f"{column.told_apart:.0%} of the changed records from the others. Leave it out of the released file, move it "
        "along with the keys, make it a key as well, or release it coarser."
    )


def _deciding_steps(release: PramRelease, changed: tuple[str, ...], staying: list[Staying]) -> tuple[ColumnAttack, ...]:
    """The columns that tell which records post-randomization changed."""
    true = [release.moved.root.coded(name) for name in changed]
    after = [recoded(release.columns.coded(was.name), was) for was in true]
    strata = {name for step in release.plan.steps for name in step.strata}
    within = [column for column in staying if column.name in strata]
    sets, _ = group([column.codes for column in within], [column.size for column in within], release.n)
    return attack_file(
        [Staying(was.name, now, was.size) for was, now in zip(true, after, strict=True)],
        staying,
        np.all([was.codes == now for was, now in zip(true, after, strict=True)], axis=0),
        sets,
        movable=np.ones(release.n, bool),
    ).deciding
