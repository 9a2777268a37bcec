"""What is asked of a release that limits identification, checked as far as it can be without a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypedDict

from maskwell.errors import DataError
from maskwell.release.identification.blocks.forming import DEFAULT_WAY, WHOLE, read_way
from maskwell.release.identification.rules import Rule, read_limit, rule_for
from maskwell.release.partition import Spec, read_spec
from maskwell.release.recoding.recipe import Recipe
from maskwell.tables.frames import names_of


class Options(TypedDict, total=False):
    """What ``limit_identification`` takes and ``plan_identification`` and ``compare_blocks`` take as well."""

    exempt: Any
    merge: Literal["suggest", "merge"]
    together: str | None
    along: Sequence[str] | str
    recoding: Any


@dataclass(frozen=True)
class Request:
    """What was asked for; it decides the blocks of a given table."""

    keys: tuple[str, ...]
    xi: Fraction
    within: Spec
    exempt: Spec
    merge: bool
    together: str | None
    blocks: str = WHOLE
    """How blocks are formed, one of ``forming.WAYS``."""
    block_size: int | None = None
    """About how many cells a block has; None if each partition set is one."""
    along: tuple[str, ...] = ()
    """Columns that are not keys and move with them."""
    recoding: Recipe = field(default_factory=Recipe)
    """What is done to the table before all else."""

    @property
    def rule(self) -> Rule:
        """Which blocks hold the limit."""
        return rule_for(self.xi)

    @property
    def moving(self) -> tuple[str, ...]:
        """The columns that may change: keys, and those that move along."""
        return (*self.keys, *self.along)


def read_request(
    keys: Any,
    xi: Any,
    within: Any = None,
    *,
    exempt: Any = None,
    merge: str = "suggest",
    together: str | None = None,
    along: Any = (),
    recoding: Any = None,
    blocks: Any = DEFAULT_WAY,
    block_size: Any = None,
) -> Request:
    """The parameters of a release, checked as far as they can be without a table."""
    names = names_of(keys, "keys")
    if not names:
        raise DataError("keys must name one column or more; got none.", parameter="keys")
    if merge not in ("suggest", "merge"):
        raise DataError(f'merge must be "suggest" or "merge"; got {merge!r}.', parameter="merge")
    if together is not None and not isinstance(together, str):
        raise DataError(
            f"together must name the column of households or groups; got {type(together).__name__}.",
            parameter="together",
        )
    if together in names:
        raise DataError(
            f"{together!r} is both a key and the column of groups; a group's own number tells it apart at once."
        )
    spec, fixed = read_spec(within, "within"), read_spec(exempt, "exempt")
    for name, how in fixed.items():
        if name not in names:
            raise DataError(f"exempt names {name!r}, not a key; only keys are ever changed.", parameter="exempt")
        if how is not None and any(isinstance(item, list) for item in how):
            raise DataError(f"exempt maps {name!r} to a list of categories, not to groups of them.", parameter="exempt")
    limit = read_limit(xi)
    way, size = read_way(blocks, block_size, rule_for(limit).least)
    moved = read_along(along, names, spec, together)
    return Request(names, limit, spec, fixed, merge == "merge", together, way, size, moved, Recipe.read(recoding))


def read_along(along: Any, keys: Sequence[str], within: Spec, together: str | None) -> tuple[str, ...]:
    """The columns that move along, none of which may be needed for something else."""
    names = names_of(along, "along")
    for name in names:
        other = "a key" if name in keys else "what no record may leave" if name in within else None
        other = "the column of groups" if name == together else other
        if other:
            raise DataError(
                f"along names {name!r}, which is {other}; only columns that would stay can move along.",
                parameter="along",
            )
    return names
