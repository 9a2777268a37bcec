"""Columns that decide a key: left in a file they show who moved, so a release stops until somebody says otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from maskwell.errors import DataError
from maskwell.release.attack.derived_columns import Derived
from maskwell.release.attack.record_numbers import number_in_words, record_numbers
from maskwell.release.attack.repeated_values import RepeatedValues
from maskwell.release.attack.result import ColumnAttack
from maskwell.release.attack.revealing_columns import RevealingColumn, among
from maskwell.release.base import BaseRelease
from maskwell.tables.frames import names_of


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
    repeated: tuple[RepeatedValues, ...] = ()
    """Columns that moved along and whose repeated values mark who moved."""

    @property
    def alone(self) -> tuple[str, ...]:
        """The columns that decide a key by themselves: each once."""
        numbers = (each.column for each in self.revealing if each.column is not None)
        return tuple(dict.fromkeys([*(column.name for column in self.columns), *numbers]))

    @property
    def deciding(self) -> tuple[str, ...]:
        """The columns that must not stay without a word: each once."""
        return tuple(self.not_accepted(()))

    @property
    def together(self) -> tuple[Derived, ...]:
        """Columns that must not stay together, or not whole, where none of them decides a key by itself."""
        return tuple(self.not_accepted_together(()))

    def not_accepted(self, accept: Iterable[str]) -> list[str]:
        """The columns that stop a release: those that decide a key, also with others, and that nobody accepted."""
        accepted = set(accept)
        parts = (name for each in self.not_accepted_together(accepted) for name in each.made_of)
        return [name for name in dict.fromkeys([*self.alone, *parts]) if name not in accepted]

    def not_accepted_together(self, accept: Iterable[str]) -> list[Derived]:
        """What decides a key together, or by a part, unless all columns in it are accepted by name.

        It need not be said of columns of which one decides a key alone and stops the release. Once that one is
        accepted, it must be said where they decide a key that none of them decides alone.
        """
        accepted, alone = set(accept), set(self.alone)
        return [
            each
            for each in self.derived
            if not accepted.issuperset(each.made_of)
            and alone.difference(accepted).isdisjoint(each.made_of)
            and (each.decides or alone.isdisjoint(each.made_of))
        ]

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
            *map(str, self.repeated),
        ]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers."""
        return {
            "deciding": list(self.deciding),
            "deciding_together": [
                {"columns": list(each.made_of), "how": each.recipe.name, "key": each.key} for each in self.together
            ],
            "record_numbers": list(self.numbers),
            "repeated": [each.to_dict() for each in self.repeated],
            "giveaways": [
                {"column": each.column, "changed": each.changed, "right": each.right, "how": each.how}
                for each in self.revealing
            ],
        }


def disclosures(release: BaseRelease, *, rows_in_order: bool = True) -> Disclosures:
    """What tells who was changed; ``rows_in_order`` says whether the rows are given away in their order."""
    deciding = release.deciding
    names = {column.name for column in deciding}
    found = among(
        release.before, release.changing, release.staying, rows_in_order=rows_in_order, together=release.together
    )
    return Disclosures(
        tuple(column for column in deciding if not column.made_of),
        tuple(found),
        tuple(each for each in release.derived.found if each.decides or each.recipe.name in names),
        tuple(record_numbers(release.before, release.staying)),
        release.repeated,
    )


def combinations_nobody_had(release: BaseRelease) -> list[str]:
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
