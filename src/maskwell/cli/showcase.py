"""``maskwell reproduce`` and ``maskwell demo``: published numbers beside ours, and a survey from end to end."""

from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.output import JsonOption, emit_json, progress

MISMATCH = 1


def reproduce(json: JsonOption = False) -> None:
    """Put published numbers beside ours.

    Rows are counted by what they are: numbers that a paper prints and our code computes, printed formulas, the papers'
    own arithmetic, and values that nobody prints. The exit code is 1 if a row does not come out as it is recorded.

    \b
    Examples:
      maskwell reproduce
      maskwell reproduce --json
    """
    from maskwell import published

    with progress("computing the published numbers"):
        comparisons = published.compare()
    if json:
        emit_json({"counts": published.counts(comparisons), "rows": published.to_records(comparisons)})
    else:
        typer.echo(published.report(comparisons))
    if any(comparison.verdict == "wrong" for comparison in comparisons):
        raise typer.Exit(MISMATCH)


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the picture and the page go.")] = Path(
        "maskwell-demo"
    ),
    json: JsonOption = False,
) -> None:
    """Take two sensitive variables from plan to estimate.

    A picture and a page that show truth beside estimate are left in a folder.

    \b
    Examples:
      maskwell demo
      maskwell demo --folder somewhere --json
    """
    from maskwell.demo.run import run

    result = run(folder, (lambda line: None) if json else typer.echo)
    if json:
        emit_json(result.as_dict())
