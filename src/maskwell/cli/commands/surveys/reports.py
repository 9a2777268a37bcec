"""``maskwell reports``: from reports that were drawn elsewhere, by a die or another program, to a file of reports."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskwell.cli.pipelines.masking import named_designs
from maskwell.cli.shared.common_options import KeepOption, Missing, MissingOption
from maskwell.cli.shared.design_options import load_design
from maskwell.cli.shared.file_options import (
    FILE_HELP,
    DelimiterOption,
    EncodingOption,
    NaOption,
    data_source,
    names_from,
)
from maskwell.cli.shared.output import (
    STANDARD,
    CommandError,
    JsonOption,
    check_output,
    emit_json,
    progress,
    say_written,
)
from maskwell.designs.storage import about
from maskwell.plain_text import among, visible

if TYPE_CHECKING:
    from maskwell.designs import Design


def reports(
    data: Annotated[str, typer.Argument(help=f"{FILE_HELP} Or - for CSV on standard input.")],
    design: Annotated[
        list[str],
        typer.Option(
            "--design",
            "-d",
            help="The design file of maskwell plan that the reports follow. For several columns COLUMN=FILE, repeated.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="A .parquet, .arrow or .csv file; with several columns or --keep a .parquet or .arrow file.",
        ),
    ],
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The column that holds the reports, if it is one.")
    ] = None,
    keep: KeepOption = "",
    missing: MissingOption = Missing.refuse,
    na: NaOption = None,
    separator: Annotated[
        str | None,
        typer.Option("--separator", help="What stands between the labels of a set in one cell, such as ';'."),
    ] = None,
    code: Annotated[
        list[str] | None,
        typer.Option(
            "--code", metavar="CODE=LABEL", help="What stands in the file for a label, such as 0=never. Repeatable."
        ),
    ] = None,
    trim: Annotated[bool, typer.Option("--trim", help="Blanks around a label, and capitals, do not count.")] = False,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    json: JsonOption = False,
) -> None:
    """Read reports that were drawn elsewhere, and check each against its design.

    A cell holds the label of a report: for a yes/no question yes or no, same or different for crosswise, the number of
    red cards for kuk. A set of categories is written as a 0 or 1 for each category, or with --separator as labels. What
    the design cannot produce is refused with its rows, counted from 1 below the names of the columns. Where a form
    stored the design's fingerprint in COLUMN_design, it must be that of --design. Numbers with decimal commas in kept
    columns become numbers. The file says that the reports were drawn elsewhere (external):
    whether people followed the design was not seen; maskwell compliance asks the reports.

    \b
    Examples:
      maskwell plan --design forced_response --categories yes,no --set yes_prob=1/6 --set no_prob=1/6 -o die.json
      maskwell reports answers.csv --column q1 --design die.json -o reports.parquet
      maskwell reports answers.csv --column q1 --design die.json --keep region,weight -o reports.parquet
      maskwell reports answers.csv --column q1 --design die.json --code 1=yes --code 0=no --trim -o reports.parquet
      maskwell reports answers.csv --design q1=die.json --design q2=cards.json --keep region -o reports.parquet
    """
    from maskwell.cli.pipelines.reading import ReportColumn, batches_with, design_column
    from maskwell.reports.files import write_reports
    from maskwell.reports.table_files import write_table
    from maskwell.tables.files import open_columns

    if STANDARD in design and data == STANDARD:
        raise CommandError("data and --design cannot both come from standard input; write one to a file.")
    if column is not None and len(design) > 1:
        raise CommandError("--column names one column; for several write --design COLUMN=FILE for each.")
    designs = named_designs(design) if column is None else {column: load_design(design[0])}
    check_output(Path(output), [data, *design])
    kept = names_from(keep)
    clash = [name for name in kept if name in designs]
    if clash:
        raise CommandError(f"--keep names {clash[0]!r}, which is read as reports; name it once.")
    if len(set(kept)) < len(kept):
        twice = next(name for name in kept if kept.count(name) > 1)
        raise CommandError(f"--keep names {twice!r} twice; name it once.")
    codes = _codes(code or (), list(designs.values()))
    columns = {
        name: ReportColumn(name, each, missing is Missing.keep, na or (), separator, codes, trim)
        for name, each in designs.items()
    }
    needed = list(dict.fromkeys([*kept, *columns]))
    prints = {design_column(name): column for name, column in columns.items() if design_column(name) not in columns}
    with (
        open_columns(
            data_source(data), needed, delimiter=delimiter, encoding=encoding, where_there=list(prints)
        ) as table,
        progress(f"reading {table.name}", table.total) as show,
    ):

        def counted() -> Iterator[Any]:
            for batch in table.batches:
                for name, of in prints.items():
                    if name in batch.schema.names:
                        of.check_design(batch.column(name))
                yield batch
                show(table.done())

        if len(columns) == 1 and not kept:
            (only,) = columns.values()
            rows = write_reports(output, only.design, (only.read(batch.column(only.name)) for batch in counted()))
        else:
            schema, batches = batches_with(counted(), columns, kept)
            rows = write_table(output, schema, batches)
    absent = {name: each.missing for name, each in columns.items()}
    if json:
        told = {name: {"design": about(each.design)} for name, each in columns.items()}
        emit_json({"output": [str(output)], "n": rows, "missing": absent, "randomness": "external", "columns": told})
        return
    gaps = [f"{count:,} without a report of {visible(name)}" for name, count in absent.items() if count]
    without = f" ({', '.join(gaps)})" if gaps else ""
    named = ", ".join(f"{visible(name)} ({each.design.name})" for name, each in columns.items())
    typer.echo(f"read {rows:,} rows{without} of {named}; drawn elsewhere")
    say_written([str(output)])


def _codes(options: Sequence[str], designs: "list[Design]") -> dict[str, str]:
    """The labels that ``--code CODE=LABEL`` names, by their codes."""
    from maskwell.reports.text import spelled_labels

    labels = list(dict.fromkeys(text for each in designs if not each.variables for text in spelled_labels(each)))
    found: dict[str, str] = {}
    for option in options:
        text, equals, label = (part.strip() for part in option.partition("="))
        if not (text and equals and label):
            raise CommandError(f"--code {option!r} must be CODE=LABEL, such as 0=never.")
        if label not in labels:
            raise CommandError(f"--code {option!r} names no report of the design; {among(label, labels, 20)}.")
        if found.setdefault(text, label) != label:
            raise CommandError(f"--code gives {text!r} two labels; write it once.")
    return found
