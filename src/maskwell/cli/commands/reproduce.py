"""``maskwell reproduce``: published numbers beside ours."""

import typer

from maskwell.cli.exit_codes import MISMATCH
from maskwell.cli.shared.output import JsonOption, emit_json, progress


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
