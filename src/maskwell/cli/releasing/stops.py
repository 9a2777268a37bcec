"""What stops a release on the command line: columns that decide a key and that nobody accepted by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from maskwell.cli.releasing.methods import Outcome
from maskwell.release import Release
from maskwell.release.attack.disclosures import Disclosures, disclosures


@dataclass(frozen=True)
class Found:
    """What tells who was changed, and what of it the custodian accepts."""

    disclosures: Disclosures
    accepted: tuple[str, ...]
    limited: bool
    """Whether a limit is promised, which a column that decides a key would make worthless."""

    @property
    def stops(self) -> list[str]:
        """The columns because of which nothing is released."""
        return self.disclosures.not_accepted(self.accepted) if self.limited else []

    def how_to_go_on(self) -> str:
        """What to do about them."""
        together = self.disclosures.not_accepted_together(self.accepted)
        enough = " (one of them is enough to leave out; all must move along or be accepted)"
        why = [f"{each}{enough if len(each.made_of) > 1 else ''}" for each in together]
        return " ".join([how_to_go_on(self.stops), *(f"{words}." for words in why)])


def look(outcome: Outcome, accepted: Sequence[str], in_order: bool) -> Found:
    """What tells who was changed in the file that is to be released."""
    found = disclosures(outcome.release, rows_in_order=in_order)
    return Found(found, tuple(accepted), isinstance(outcome.release, Release))


def how_to_go_on(columns: Sequence[str]) -> str:
    """What to do about columns that decide a key."""
    listed, names = ", ".join(map(repr, columns)), ",".join(columns)
    one = len(columns) == 1
    return (
        f"{listed} would stay in the file and {'gives' if one else 'give'} a key away, so that it shows who moved; "
        f"leave {'it' if one else 'them'} out (--drop {names}), move {'it' if one else 'them'} along with the keys "
        f"(--along {names}), make {'it a key' if one else 'them keys'}, or accept {'it' if one else 'them'} by name "
        f"(--accept {names})."
    )
