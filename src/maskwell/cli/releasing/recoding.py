"""Recoding in options: ``age=width:5``, ``region=file:regions.csv``, ladders of levels, and recipes in files."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.output import CommandError
from maskwell.input_files import read_whole

_WAYS = "width:5, breaks:18,65, round:100, file:regions.csv:1, merge:once=widowed,divorced|never=single, or any"
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
    from maskwell.release import Recipe, Recode
    from maskwell.release.recoding.suppression import Suppression

    used = [*(recode or ()), *(top or ()), *(bottom or ()), *([below] if below else ())]
    if file is not None:
        if used:
            raise CommandError("--recipe says all that is recoded; leave out --recode, --top, --bottom and the others.")
        return stored_recipe(file)
    ways = {name: _way(how, text) for name, how, text in _parted(recode, "--recode")}
    tops = {name: _end(how, text) for name, how, text in _parted(top, "--top")}
    bottoms = {name: _end(how, text) for name, how, text in _parted(bottom, "--bottom")}
    names = dict.fromkeys([*ways, *tops, *bottoms])
    columns = {
        name: Recode(ways[name].way if name in ways else None, tops.get(name), bottoms.get(name)) for name in names
    }
    if below is None:
        if most is not None:
            raise CommandError("--suppress-most goes with --suppress-below.")
        return Recipe(columns)
    return Recipe(columns, tuple(keys), Suppression(below, share_from(most, 1.0)))


def share_from(text: str | None, default: float) -> float:
    """A share between 0 and 1."""
    return default if text is None else float(number(text, "--suppress-most"))


def ladders_from(texts: Sequence[str] | None) -> dict[str, Any]:
    """Levels of each key, from mild to coarse: ``age=width:5,10,20|any`` or ``region=file:regions.csv``."""
    from maskwell.release import intervals, read_hierarchy, rounded

    found: dict[str, Any] = {}
    for name, how, text in _parted(texts, "--ladder"):
        levels: list[Any] = []
        for part in how.split("|"):
            kind, _, rest = part.partition(":")
            if kind == "file" and len(rest.split(":")) == 1:
                levels += read_hierarchy(rest).all_levels()
            elif kind in ("width", "round"):
                make = intervals if kind == "width" else rounded
                levels += [make(_number(one, text)) for one in rest.split(",")]
            else:
                levels.append(_way(part, text))
        found[name] = levels
    return found


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


def _way(how: str, text: str) -> Any:
    from maskwell.release import groups, hierarchy, intervals, one_category, rounded

    kind, _, rest = how.partition(":")
    if kind == "any" and not rest:
        return one_category()
    if kind == "width":
        return intervals(_number(rest, text))
    if kind == "breaks":
        return intervals(breaks=[_number(one, text) for one in rest.split(",")])
    if kind == "round":
        return rounded(_number(rest, text))
    if kind == "file" and rest:
        name, colon, level = rest.rpartition(":")
        return hierarchy(name, int(level)) if colon and level.isdigit() else hierarchy(rest)
    if kind == "merge" and rest:
        merged = {}
        for part in rest.split("|"):
            new, equals, old = part.partition("=")
            if not equals:
                raise CommandError(f"{text!r}: write merge:new=old,old and more of them separated by |.")
            merged[new.strip()] = [one.strip() for one in old.split(",")]
        return groups(merged)
    raise CommandError(f"{text!r} says nothing that can be done; write one of {_WAYS}.")


def _end(how: str, text: str) -> float:
    return _number(how, text)


def _number(text: str, whole: str) -> float:
    try:
        value = float(number(text.strip(), ""))
    except CommandError:
        raise CommandError(f"{whole!r}: {text!r} is no number.") from None
    return int(value) if value.is_integer() else value
