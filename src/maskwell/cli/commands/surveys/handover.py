"""``maskwell handover``: a folder with everything that an analyst of masked data needs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.shared.common_options import ColumnOption
from maskwell.cli.shared.output import CommandError, JsonOption, emit_json
from maskwell.designs.storage import about


class Format(StrEnum):
    """The file of masked data."""

    sav = "sav"
    dta = "dta"
    csv = "csv"
    parquet = "parquet"


def handover(
    reports: Annotated[Path, typer.Argument(help="A file of reports.", metavar="REPORTS")],
    folder: Annotated[Path, typer.Option("--output", "-o", help="The folder for the files, made if it is not there.")],
    name: Annotated[
        str | None,
        typer.Option("--name", help="What the masked variable is called; its column, or report, unless given."),
    ] = None,
    column: ColumnOption = None,
    format: Annotated[Format, typer.Option("--format", help="The file of masked data.")] = Format.sav,
    question: Annotated[str | None, typer.Option("--question", help="How the question was put.")] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="What the data are; the file's name unless given.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write masked data for R, Stata, SPSS …: labelled file, matrix, scores, codebook and DDI description.

    \b
    Examples:
      maskwell handover reports.parquet -o analysis --name tax --question "Have you ever evaded taxes?"
      maskwell handover reports.parquet -o analysis --format csv
    """
    from maskwell.handover import write
    from maskwell.reports import Reports

    if not reports.exists():
        raise CommandError(f"{reports.name!r} was not found.")
    batch = Reports.read(reports, column)
    called = name or column or "report"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise CommandError(f"{str(folder)!r} could not be made: {error.strerror}.") from None
    try:
        made = write(
            {called: batch},
            folder,
            title=title or reports.stem,
            format=format.value,
            questions=None if question is None else {called: question},
        )
    except OSError as error:
        raise CommandError(f"the folder could not be written: {error.strerror or error}.") from None
    if json:
        figures = made.to_dict()
        written = [str(folder / name) for name in figures["contents"]]
        emit_json({**figures, "design": about(batch.design), "output": written})
    else:
        typer.echo(made.summary())
