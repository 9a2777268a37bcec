"""Recoding in options: ``age=width:5``, ``region=file:regions.csv``, ladders of levels, and recipes in files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.file_options import names_from
from maskwell.cli.shared.output import CommandError
from maskwell.input_files import read_whole

_MISSING = "(missing)"
_ENDS = "top", "bottom"
_NUMERIC = "width", "breaks", "round"
_KINDS = (*_NUMERIC, "file", "merge")
_END_GIVEN = tuple(f"{end}=" for end in _ENDS)
_WAYS = (
    "width:5, breaks:18,65, round:100, file:regions.csv:1, merge:once=widowed,divorced|never=single, any, or "
    "any:missing (which takes missing values in)"
)
_LEVELS = (
    "its levels, from mild to coarse, are separated by |: width:5,10 (two levels), width:5;top=85, breaks:18,65, "
    "top=90, round:100, file:areas.csv (a level for each of its columns), merge:old=widowed,divorced|young=single (one "
    "level), any, any:missing (which takes missing values in)"
)
RecodeOption = Annotated[
    list[str] | None,
    typer.Option("--recode", help=f"Make a column coarser first: age=width:5; of {_WAYS}. Repeatable."),
]
TopOption = Annotated[
    list[str] | None, typer.Option("--top", help="A top code: age=90 makes all values from 90 on one. Repeatable.")
]
BottomOption = Annotated[
    list[str] | None, typer.Option("--bottom", help="A bottom code: age=18 makes all values up to 18 one. Repeatable.")
]
SuppressBelowOption = Annotated[
    int | None,
    typer.Option(
        "--suppress-below",
        help="Set as few keys missing as it takes for so many records to share every combination of keys.",
    ),
]
SuppressMostOption = Annotated[
    str | None,
    typer.Option(
        "--suppress-most",
        help="The largest share of records that may lose a key so, such as 0.01. With --ladder the last step of the "
        "search, for --k or --xi.",
    ),
]


def recipe_from(
    recode: list[str] | None,
    top: list[str] | None,
    bottom: list[str] | None,
    keys: Sequence[str],
    below: int | None,
    most: str | None,
    file: Path | None = None,
) -> Any:
    """What the options say, as a recipe."""
    from maskwell.release import Recipe

    used = [*(recode or ()), *(top or ()), *(bottom or ())]
    if file is not None:
        if used:
            raise CommandError("--recipe says what is recoded; leave out --recode, --top and --bottom.")
        return _with_last_step(stored_recipe(file), keys, below, most)
    return _with_last_step(Recipe(columns_from(recode, top, bottom)), keys, below, most)


def columns_from(recode: list[str] | None, top: list[str] | None, bottom: list[str] | None) -> dict[str, Any]:
    """What happens to each column."""
    from maskwell.release import Recode

    columns = {name: _way(how, text) for name, how, text in _parted(recode, "--recode")}
    for option, end, texts in (("--top", "top", top), ("--bottom", "bottom", bottom)):
        for name, how, text in _parted(texts, option):
            columns[name] = replace(columns.get(name, Recode()), **{end: _number(how, text)})
    return columns


def _with_last_step(recipe: Any, keys: Sequence[str], below: int | None, most: str | None) -> Any:
    """The recipe, and suppression of the last few if that is asked for."""
    from maskwell.release import Recipe
    from maskwell.release.recoding.suppression import Suppression

    if below is None:
        if most is not None:
            raise CommandError("--suppress-most goes with --suppress-below.")
        return recipe
    if recipe.suppression is not None:
        raise CommandError("the recipe says what is suppressed; leave out --suppress-below.")
    return Recipe(recipe.columns, tuple(keys), Suppression(below, share_from(most, 1.0)))


def share_from(text: str | None, default: float) -> float:
    """A share between 0 and 1."""
    return default if text is None else float(number(text, "--suppress-most"))


def ladders_from(texts: Sequence[str] | None, first: Mapping[str, Any]) -> dict[str, Any]:
    """Levels of each key, from mild to coarse: ``age=width:5,10,20|any`` or ``region=file:regions.csv``.

    Top and bottom codes that are ``first`` set are those of every level of numbers that says no others.
    """
    found: dict[str, Any] = {}
    for name, how, text in _parted(texts, "--ladder"):
        levels = [level for part in _level_texts(how) for level in _levels(part, text)]
        done = first.get(name)
        found[name] = [_with_ends(level, done) for level in levels] if done else levels
    return found


def _level_texts(how: str) -> list[str]:
    """The text of each level: a | begins another one, or another group of a merge."""
    parts: list[str] = []
    for piece in how.split("|"):
        if parts and parts[-1].startswith("merge:") and not _begins_level(piece):
            parts[-1] += f"|{piece}"
        else:
            parts.append(piece.strip())
    return parts


def _begins_level(piece: str) -> bool:
    piece = piece.strip()
    return piece in ("any", "any:missing") or piece.startswith((*(f"{kind}:" for kind in _KINDS), *_END_GIVEN))


def _levels(part: str, text: str) -> list[Any]:
    """The levels that one part of a ladder names."""
    from maskwell.release import read_hierarchy

    kind, _, rest = part.partition(":")
    if kind == "file" and len(rest.split(":")) == 1:
        return list(read_hierarchy(rest).all_levels())
    try:
        if kind in ("width", "round"):
            numbers, *ends = rest.split(";")
            return [_way(";".join([f"{kind}:{one}", *ends]), text) for one in numbers.split(",")]
        return [_way(part, text)]
    except _NoWay:
        raise CommandError(f"--ladder {text!r}: {part!r} is no level; {_LEVELS}.") from None


def _with_ends(level: Any, done: Any) -> Any:
    """A level with the top and bottom codes that were set first, if it is one of numbers."""
    if level.way is not None and not level.way.of_numbers:
        return level
    ends = {end: getattr(level, end) if getattr(level, end) is not None else getattr(done, end) for end in _ENDS}
    return replace(level, **ends)


def stored_recipe(path: Path) -> Any:
    """A recipe from its file."""
    from maskwell.errors import MaskwellError
    from maskwell.release import Recipe

    try:
        return Recipe.from_dict(json.loads(read_whole(path, CommandError)))
    except MaskwellError as error:
        raise CommandError(f"{path.name!r}: {error}") from None
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError):
        raise CommandError(f"{path.name!r} is no recipe; maskwell recode --recipe writes one.") from None


def _parted(texts: Sequence[str] | None, option: str) -> list[tuple[str, str, str]]:
    """Of each option the column, what happens to it, and the option as it was given."""
    parted = [_part(text) for text in texts or ()]
    names = [name for name, _, _ in parted]
    if twice := [name for name in names if names.count(name) > 1]:
        raise CommandError(f"{option} names the column {twice[0]!r} more than once; say all of it in one.")
    return parted


def _part(text: str) -> tuple[str, str, str]:
    name, equals, how = text.partition("=")
    if not equals or not name.strip() or not how.strip():
        raise CommandError(f"{text!r} names no column or nothing to do; write for example age=width:5 or age=90.")
    return name.strip(), how.strip(), text


class _NoWay(CommandError):
    """What is written says nothing that can be done."""


def _way(how: str, text: str) -> Any:
    from maskwell.release import Recode, groups, hierarchy, intervals, one_category, rounded

    kind, _, rest = how.partition(":")
    if how in ("any", "any:missing"):
        return one_category(missing=how != "any")
    if kind in _NUMERIC or how.startswith(_END_GIVEN):
        given, *ends = [part.strip() for part in (rest if kind in _NUMERIC else f";{how}").split(";")]
        codes: Any = dict(_end(one, text) for one in ends)
        if kind not in _NUMERIC:
            return Recode(**codes)
        numbers = [_number(one, text) for one in given.split(",")]
        if kind == "breaks":
            return intervals(breaks=numbers, **codes)
        if len(numbers) > 1:
            raise CommandError(f"{text!r}: {kind} takes one number; --ladder takes several, a level each.")
        return (intervals if kind == "width" else rounded)(numbers[0], **codes)
    if kind == "file" and rest:
        name, colon, level = rest.rpartition(":")
        return hierarchy(name, int(level)) if colon and level.isdigit() else hierarchy(rest)
    if kind == "merge" and rest:
        merged = {}
        for part in rest.split("|"):
            new, equals, old = part.partition("=")
            if not equals:
                raise CommandError(f"{text!r}: write merge:new=old,old and more of them separated by |.")
            merged[new.strip()] = [None if one == _MISSING else one for one in names_from(old)]
        return groups(merged)
    raise _NoWay(f"{text!r} says nothing that can be done; write one of {_WAYS}.")


def _end(part: str, text: str) -> tuple[str, float]:
    end, equals, value = part.partition("=")
    if not equals or end.strip() not in _ENDS:
        raise CommandError(f"{text!r}: after a ; stands top=85 or bottom=15; got {part!r}.")
    return end.strip(), _number(value, text)


def _number(text: str, whole: str) -> float:
    try:
        value = float(number(text.strip(), ""))
    except CommandError:
        raise CommandError(f"{whole!r}: {text!r} is no number.") from None
    return int(value) if value.is_integer() else value
