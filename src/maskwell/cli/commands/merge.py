"""``maskwell merge``: stored tallies of several days or machines into one for each column."""

from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.commands.tally import tell
from maskwell.cli.pipelines.counting import STORED, column_of, merge_stored, store, stored_in
from maskwell.cli.shared.output import CommandError, JsonOption


def merge(
    tallies: Annotated[list[str], typer.Argument(help="Stored tallies (.tally.json), or folders of them.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The folder for the merged tallies.")],
    different_people: Annotated[
        bool,
        typer.Option("--different-people", help="Nobody is in two of these tallies; do not warn that they might be."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Add up stored tallies, column by column; counts are whole numbers, so the order does not matter.

    Tallies of one column must be of one design and one question. An estimate takes every report for that of another
    person. Where the same people or devices are in several tallies (a report a day, masked with a key or by a design of
    two layers), intervals from merged tallies are far too narrow: estimate each day alone and take the mean, whose
    standard error is at most the mean of theirs (mw.rounds.mean).

    \b
    Examples:
      maskwell merge north/ south/ -o country/ --different-people
    """
    files = stored_in(tallies)
    if not files:
        raise CommandError("there is no stored tally among these; write some with maskwell tally.")
    known = {(status.st_dev, status.st_ino) for status in (path.stat() for path in files)}
    if len(known) < len(files):
        raise CommandError("a tally is named twice; it would be counted twice.")
    for path in files:
        _refuse_replaced(Path(output) / f"{column_of(path)}{STORED}", known)
    merged = merge_stored(files, different_people=different_people)
    tell(merged, [str(path) for path in store(merged, output)], json)


def _refuse_replaced(target: Path, known: set[tuple[int, int]]) -> None:
    """An error if what comes of a tally would stand in the place of one that is merged: again, it would count twice."""
    if target.exists() and (target.stat().st_dev, target.stat().st_ino) in known:
        raise CommandError(
            f"{str(target)!r} is also an input, and merging again would count it twice; choose another folder for the "
            "output."
        )
