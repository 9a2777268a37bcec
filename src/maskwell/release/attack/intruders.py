"""Who may try to recognise somebody in a released file, what each of them has, and how often each is right.

A limit is about one intruder. The others are measured on the release itself, by the custodian, who knows who moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.plain_text import visible_lines
from maskwell.release.attack.derivations import Ingredients, Values, as_column
from maskwell.release.attack.derived_columns import Derivations
from maskwell.release.attack.known_columns import KnownBesides, match_with_more
from maskwell.release.attack.released_file import attack_file
from maskwell.release.attack.result import Attack
from maskwell.release.identification.audit import IdentificationAudit
from maskwell.release.identification.chances import in_digits
from maskwell.release.staying_columns import Staying, ranked
from maskwell.results.result import Result
from maskwell.tables.codes import Ints

_MOST_MOVING_PAIRS = 12
_WIDTH = 96

if TYPE_CHECKING:
    from maskwell.release.identification.release import Release


@dataclass(frozen=True)
class Intruder:
    """Somebody who tries to recognise a person."""

    has: str
    right: str
    how: str
    """Whether the figure is proved or counted, and over what."""


@dataclass(frozen=True)
class Intruders(Result):
    """Every intruder whose success was computed for a release."""

    audit: IdentificationAudit
    attack: Attack
    besides: KnownBesides

    def each(self) -> list[Intruder]:
        """One by one, in words."""
        found = [
            Intruder(
                "a person's true keys, and the number of released records that show them",
                f"{self.audit.risk_in_digits(4)} at most",
                f"proved for everybody; the limit is {float(self.audit.xi)!r}",
            )
        ]
        if self.audit.blocks:
            found.append(
                Intruder(
                    "the same, and the released counts of all combinations in the block",
                    str(self.audit.all_counts),
                    "proved for everybody"
                    if self.audit.all_counts.exact
                    else "the worst of the outcomes that were tried",
                )
            )
        if self.attack.surest:
            rights = " / ".join(f"{one.share_right:.2f}" for one in self.attack.surest)
            shares = " / ".join(f"{100 * one.share:g}" for one in self.attack.surest)
            found.append(
                Intruder(
                    "the released file alone, and the method",
                    f"{rights}",
                    f"counted in the surest {shares} % of the {self.attack.shown_once:,} cells shown once",
                )
            )
        for known in (self.besides.one[:1], self.besides.two[:1]) if self.audit.blocks else ():
            for best in known:
                found.append(
                    Intruder(
                        f"a person's true keys and {' and '.join(best.columns)}, and the blocks",
                        f"{best.right:.2f}",
                        f"counted over all persons with rare keys ({self.besides.none:.2f} by the keys alone)",
                    )
                )
        return found

    def _title(self) -> str:
        return "what intruders on the released file achieve"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, list[str]]:
        listed = self.each()
        parts = {"who has": [one.has for one in listed], "is right in": [one.right for one in listed]}
        return parts | {"which is": [one.how for one in listed]}

    def summary(self) -> str:
        """A line for each intruder: the same as ``str``."""
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {
            "keys": self.audit.risk,
            "all_counts": self.audit.all_counts.to_dict(),
            "file_alone": self.attack.to_dict(),
            "keys_and_more": self.besides.to_dict(),
        }

    def __str__(self) -> str:
        return visible_lines(f"{each.has}: right in {each.right}, {each.how}" for each in self.each())


def attack_release(release: Release, seed: int) -> Attack:
    """Attack the table of a release. Of a group that moves as one, its first record is looked at."""
    setup, after = release.setup, release.cell_after
    codes = setup.cells.codes
    keys = [Staying(key.name, codes[after, i].astype(np.int64), key.size) for i, key in enumerate(setup.keys)]
    return attack_file(
        keys,
        _of_units(release),
        after == setup.cell_of_unit,
        codes[setup.cell_of_unit, -1].astype(np.int64),
        along=[_of_unit(column, setup.row_of_unit) for column in _moving_along(release)],
        movable=setup.block_of_cell[setup.cell_of_unit] >= 0,
        derived=_derived_of_units(release),
        seed=seed,
    )


def intruders(release: Release) -> Intruders:
    """All of them, on one release."""
    setup = release.setup
    besides = match_with_more(setup.cell_of_unit, release.cell_after, setup.block_of_cell, _of_units(release))
    return Intruders(release.audit, release.attack(), besides)


def limit_in_words(release: Release, *, rehearsed: bool = False) -> str:
    """The limit with the intruder that it is about, and in the same sentence what others attain.

    ``rehearsed`` says that the draws are only there to see what would happen.
    """
    audit = release.audit
    beyond = "" if audit.holds_for_all_counts else ", an intruder whom the limit does not cover"
    verdict = ("would hold" if audit.holds else "would FAIL") if rehearsed else ("holds" if audit.holds else "FAILS")
    return (
        f"the limit {float(audit.xi)!r} {verdict} for an intruder who knows the keys and how many records show them: a "
        f"match is right with chance {audit.risk_in_digits(4)} at most, {in_digits(audit.before, 4)} before "
        f"({audit.all_counts} by the counts of a whole block{beyond}); {release.attack().sentence()}"
    )


def risk_lines(release: Release, *, rehearsed: bool = False) -> list[str]:
    """The same in lines of a summary, none so long that a page or a terminal would cut it off."""
    words = f"risk:      {limit_in_words(release, rehearsed=rehearsed)}"
    return wrap(words, _WIDTH, initial_indent="  ", subsequent_indent=" " * 13, break_on_hyphens=False)


def beside_in_words(release: Release) -> list[str]:
    """What knowing one more column than the keys does for an intruder, in a sentence if there is one to tell."""
    known = release.intruders.besides
    if not release.audit.blocks or not known.one:
        return []
    best, *others = known.one
    less = "".join(f"; {each.columns[0]} {each.right:.2f}" for each in others[:2])
    return [
        f"whoever knows {best.columns[0]} as well, and the blocks, is right in {best.right:.2f} of all matches with "
        f"rare keys ({known.none:.2f} by the keys alone{less}): make it a key, or coarser, if somebody may"
    ]


def _of_units(release: Release) -> list[Staying]:
    return [_of_unit(column, release.setup.row_of_unit) for column in release.staying]


def _moving_along(release: Release) -> list[Staying]:
    """The columns that moved along, and their sums and differences with numeric keys and each other.

    Where two columns decide a key together and one of them moved along, it still tells the other with the key's help.
    """
    request = release.setup.request
    moved = [ranked(release.columns, name) for name in request.along]
    if not moved:
        return []
    values = Values(release.columns)
    moving = [*(Staying(key.name, key.codes, key.size) for key in release.setup.keys), *moved]
    pairs = [
        recipe
        for recipe in Ingredients(values, moving, 0).pairs_of_numbers()
        if set(recipe.made_of) & set(request.along)
    ]
    return [*moved, *(as_column(recipe, values) for recipe in pairs[:_MOST_MOVING_PAIRS])]


def _derived_of_units(release: Release) -> Derivations:
    found, rows = release.derived, release.setup.row_of_unit
    return replace(found, found=tuple(replace(each, column=_of_unit(each.column, rows)) for each in found.found))


def _of_unit(column: Staying, row_of_unit: Ints) -> Staying:
    return Staying(column.name, column.codes[row_of_unit], column.size)
