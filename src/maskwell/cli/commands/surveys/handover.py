"""``maskwell handover``: a folder with everything that an analyst of masked data needs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskwell.cli.shared.file_options import names_from
from maskwell.cli.shared.output import CommandError, JsonOption, emit_json
from maskwell.designs.storage import about

if TYPE_CHECKING:
    from maskwell.reports import Reports


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
        typer.Option("--name", help="What the masked variable is called, if it is one; its column unless given."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", "-c", help="Which masked columns, separated by commas; all of them unless given."),
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="The file of masked data.")] = Format.sav,
    question: Annotated[str | None, typer.Option("--question", help="How the question was put.")] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="What the data are; the file's name unless given.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write masked data for R, Stata, SPSS …: labelled file, matrix, scores, codebook and DDI description.

    Columns that were kept beside the reports (weights, strata, clusters, groups) go along.

    \b
    Examples:
      maskwell handover reports.parquet -o analysis --name tax --question "Have you ever evaded taxes?"
      maskwell handover reports.parquet -o analysis --format csv
    """
    from maskwell.handover import write

    if not reports.exists():
        raise CommandError(f"{reports.name!r} was not found.")
    masked, beside = _read(reports, column)
    if len(masked) > 1 and (name is not None or question is not None):
        raise CommandError(f"--name and --question are for one masked column; choose one of {', '.join(masked)}.")
    if name is not None:
        masked = {name: next(iter(masked.values()))}
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise CommandError(f"{str(folder)!r} could not be made: {error.strerror}.") from None
    try:
        made = write(
            masked,
            folder,
            title=title or reports.stem,
            format=format.value,
            beside=beside,
            questions=None if question is None else dict.fromkeys(masked, question),
        )
    except OSError as error:
        raise CommandError(f"the folder could not be written: {error.strerror or error}.") from None
    if json:
        figures = made.to_dict()
        written = [str(folder / name) for name in figures["contents"]]
        designs = {name: about(batch.design) for name, batch in masked.items()}
        emit_json({**figures, **_about(designs), "output": written})
    else:
        typer.echo(made.summary())


def _about(designs: dict[str, Any]) -> dict[str, Any]:
    """The design of one variable, or that of each column."""
    if len(designs) == 1:
        return {"design": next(iter(designs.values()))}
    return {"columns": {name: {"design": design} for name, design in designs.items()}}


def _read(path: Path, column: str | None) -> "tuple[dict[str, Reports], Any]":
    """The reports by the name of their column, and the table of what was kept beside them, if anything was."""
    from maskwell.reports import Reports
    from maskwell.reports.kept_columns import holds_kept_columns, read_kept_columns

    if not holds_kept_columns(path):
        return {column or "report": Reports.read(path, column)}, None
    found = read_kept_columns([path], names_from(column) or None, lambda kept: kept)
    return found.reports, _numbers(found.table) if found.table.column_names else None


def _numbers(table: Any) -> Any:
    """The kept columns, with numbers in the place of text with decimal commas."""
    from maskwell.tables.decimals import has_decimal_commas, numbers_with_commas

    for at, name in enumerate(table.column_names):
        column = table.column(name).combine_chunks()
        if has_decimal_commas(column):
            table = table.set_column(at, name, numbers_with_commas(column, name))
    return table
