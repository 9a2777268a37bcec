"""``maskwell tally``: from folders of reports to stored tallies, a file for each masked column."""

from typing import Annotated, Any

import typer

from maskwell.cli.pipelines.counting import count_reports, store
from maskwell.cli.pipelines.masking import named_designs
from maskwell.cli.shared.output import JsonOption, emit_json, progress, say_written
from maskwell.designs.storage import about
from maskwell.plain_text import visible


def tally(
    reports: Annotated[list[str], typer.Argument(help="Files, patterns or folders of reports, counted together.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The folder for the tallies, made if it is not there.")],
    design: Annotated[
        list[str] | None,
        typer.Option(
            "--design",
            "-d",
            help="COLUMN=FILE: the design of a column, for files that another program has written. Repeatable.",
        ),
    ] = None,
    patterns: Annotated[
        bool, typer.Option("--patterns", help="Also keep each distinct report, which likelihoods of sets need.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Count reports once and store the counts: all that estimates need, and a fraction of the size.

    Each masked column becomes COLUMN.tally.json with its design and a checksum. Files that Maskwell wrote name their
    designs and are checked whole; of others, given --design, each report is checked.

    \b
    Examples:
      maskwell tally reports/ -o tallies/
      maskwell estimate tallies/habit.tally.json
      maskwell tally 'spark-output/*.parquet' --design habit=habit.json -o tallies/
    """
    designs = named_designs(design) if design else None
    with progress("counting reports", 1) as show:
        tallies = count_reports(reports, designs, patterns or None, show)
    written = store(tallies, output)
    tell(tallies, [str(path) for path in written], json)


def tell(tallies: Any, written: list[str], json: bool) -> None:
    """What was written."""
    if json:
        columns = {
            column: {
                "n": tally.n,
                "missing": tally.missing,
                "question": tally.question,
                "design": about(tally.design),
                "output": [file],
            }
            for (column, tally), file in zip(tallies.items(), written, strict=True)
        }
        emit_json({"columns": columns, "output": written})
        return
    for column, tally in tallies.items():
        absent = f" ({tally.missing:,} missing)" if tally.missing else ""
        typer.echo(f"{visible(column)}: {tally.n:,} reports{absent}")
    say_written(written)
