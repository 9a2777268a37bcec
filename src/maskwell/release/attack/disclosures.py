"""Columns that decide a key: left in a file they show who moved, so a release stops until somebody says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.attack.derived_columns import Derivations, Derived, derive
from maskwell.release.attack.record_numbers import number_in_words, record_numbers
from maskwell.release.attack.released_file import attack_file
from maskwell.release.attack.result import ColumnAttack
from maskwell.release.attack.revealing_columns import RevealingColumn, among
from maskwell.release.evaluation.comparison import recoded
from maskwell.release.pram.release import PramRelease
from maskwell.release.staying_columns import Staying, staying_columns
from maskwell.risk.frequencies import group
from maskwell.tables.frames import names_of

if TYPE_CHECKING:
    from maskwell.release.identification.release import Release


@dataclass(frozen=True)
class Disclosures:
    """What tells, in a released file, which records were changed."""

    columns: tuple[ColumnAttack, ...]
    """Columns that stay and decide what others were."""
    revealing: tuple[RevealingColumn, ...]
    """What does so whatever the draws are, groups and orders among it."""
    derived: tuple[Derived, ...] = ()
    """What does so made of several columns, or of a part of one."""
    numbers: tuple[str, ...] = ()
    """Columns that tell nothing of a key but are another one in nearly every record, and so known from other files."""

    @property
    def deciding(self) -> tuple[str, ...]:
        """The columns that must not stay without a word: each once."""
        return self._named(self.together)

    @property
    def together(self) -> tuple[Derived, ...]:
        """Columns that must not stay together, or not whole, where none of them decides a key by itself."""
        alone = set(self._named(()))
        return tuple(each for each in self.derived if alone.isdisjoint(each.made_of))

    def not_accepted(self, accept: Iterable[str]) -> list[str]:
        """The columns that stop a release: those that decide a key and that nobody accepted by name.

        Of columns that do so together it is enough to accept one: the others then tell nothing that it does not.
        """
        accepted = set(accept)
        left = [each for each in self.together if accepted.isdisjoint(each.made_of)]
        return [name for name in self._named(left) if name not in accepted]

    def not_accepted_together(self, accept: Iterable[str]) -> list[Derived]:
        """Of these the ones that decide a key together, or by a part."""
        left = set(self.not_accepted(accept))
        return [each for each in self.together if left.issuperset(each.made_of)]

    def _named(self, together: Iterable[Derived]) -> tuple[str, ...]:
        numbers = (each.column for each in self.revealing if each.column is not None)
        parts = (name for each in together for name in each.made_of)
        return tuple(dict.fromkeys([*(column.name for column in self.columns), *numbers, *parts]))

    def refuse(self, accept: Sequence[str] | str = ()) -> None:
        """An error if a column decides a key and is not accepted by name."""
        found = self.not_accepted(names_of(accept, "accept"))
        if found:
            why = "".join(f" {each}." for each in self.not_accepted_together(names_of(accept, "accept")))
            raise DataError(
                f"{', '.join(map(repr, found))} would stay in the file and give a key away, which shows who moved; "
                f"leave such a column out, move it along (along), make it a key, or accept it by name (accept).{why}"
            )

    def warnings(self) -> list[str]:
        """Each of them in words, with the remedy."""
        said = {each.column for each in self.revealing}
        return [
            *(_words(column) for column in self.columns if column.name not in said),
            *map(str, self.revealing),
            *map(_words_together, self.together),
            *map(number_in_words, self.numbers),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers."""
        return {
            "deciding": list(self.deciding),
            "deciding_together": [
                {"columns": list(each.made_of), "how": each.recipe.name, "key": each.key} for each in self.together
            ],
            "record_numbers": list(self.numbers),
            "giveaways": [
                {"column": each.column, "changed": each.changed, "right": each.right, "how": each.how}
                for each in self.revealing
            ],
        }


def disclosures(release: Release | PramRelease, *, rows_in_order: bool = True) -> Disclosures:
    """What tells who was changed; ``rows_in_order`` says whether the rows are given away in their order."""
    if isinstance(release, PramRelease):
        original, together = release.moved.root, None
        changed = tuple(name for step in release.plan.steps for name in step.columns)
        staying = staying_columns(original, changed)
        derived = derive(original, changed, staying)
        columns = _deciding_steps(release, changed, staying, derived)
    else:
        request = release.setup.request
        columns, staying, derived = release.attack().deciding, release.staying, release.derived
        original, changed, together = release.setup.columns, release.setup.changing, request.together
    found = among(original, changed, staying, rows_in_order=rows_in_order, together=together)
    names = {column.name for column in columns}
    return Disclosures(
        tuple(column for column in columns if not column.made_of),
        tuple(found),
        tuple(each for each in derived.found if each.decides or each.recipe.name in names),
        tuple(record_numbers(original, staying)),
    )


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


def _words_together(each: Derived) -> str:
    several = len(each.made_of) > 1
    return (
        f"{each}, and {'they stay' if several else 'it stays'} as {'they are' if several else 'it is'}, which shows "
        f"who was changed. Leave {'one of them' if several else 'it'} out of the released file, or release it coarser; "
        f"or move {'all of them' if several else 'it'} along with the keys."
    )


def _deciding_steps(
    release: PramRelease, changed: tuple[str, ...], staying: list[Staying], derived: Derivations
) -> tuple[ColumnAttack, ...]:
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
        derived=derived,
    ).deciding
