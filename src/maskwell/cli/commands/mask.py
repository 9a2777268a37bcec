"""``maskwell mask``: from a column of true values to a file of reports, in batches."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from itertools import tee
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.pipelines.masking import mask_tables, named_designs, read_key, say_taken_for_true, warn_of_layers
from maskwell.cli.shared.common_options import IdsOption, KeepOption, KeyFileOption, Missing, MissingOption
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


class Engine(StrEnum):
    """Who reads and masks."""

    arrow = "arrow"
    polars = "polars"
    duckdb = "duckdb"
    spark = "spark"


def mask(
    data: Annotated[
        str,
        typer.Argument(
            help=f"{FILE_HELP} Or - for CSV on standard input. With --design COLUMN=FILE also a pattern or a folder."
        ),
    ],
    design: Annotated[
        list[str],
        typer.Option(
            "--design",
            "-d",
            help="The design file of maskwell plan, or - for a pipe. For several columns COLUMN=FILE, repeated.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="A .parquet, .arrow or .csv file, or - for an Arrow stream to a pipe. With several columns a .parquet "
            "or .arrow file, or a folder.",
        ),
    ],
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="The column that holds the true values, if it is one.")
    ] = None,
    keep: KeepOption = "",
    engine: Annotated[
        Engine, typer.Option("--engine", help="Who reads and masks the files of a folder.")
    ] = Engine.arrow,
    missing: MissingOption = Missing.refuse,
    other: Annotated[
        list[str] | None,
        typer.Option(
            "--other",
            metavar="COLUMN=LABEL",
            help="The category that labels of a column count as which its design does not know. Repeatable.",
        ),
    ] = None,
    na: NaOption = None,
    key_file: KeyFileOption = None,
    id_column: IdsOption = None,
    survey: Annotated[
        str | None,
        typer.Option(
            "--survey",
            help="The survey's name, for --key-file: with the column's name it says which question was asked. "
            "Masking the same question again under this key repeats the reports.",
        ),
    ] = None,
    integer_ids: Annotated[
        bool,
        typer.Option("--integer-ids", help="Read ids in text (as in CSV) as whole numbers: 7 and 07 are then one id."),
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="For simulations only: whoever knows the seed can undo the masking.")
    ] = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    json: JsonOption = False,
) -> None:
    """Draw one report for each true value of a column.

    A cell means the label that it spells: against labels that are whole numbers 7, +7, 07 and 7.0 are all 7, text
    is matched letter by letter. An empty cell, a null or NaN is missing; "NA" is not, unless --na NA says so.
    Delimiter and encoding of a CSV file are found unless they are given. The file is read in batches, so it may be
    larger than memory, and the output appears only when it is complete. With --key-file the report of a record
    depends on key, design, question (survey and column), id and true value alone: a record that is masked again
    tells nothing new unless its answer changed, but whoever holds the key can recover true values.

    \b
    Examples:
      maskwell mask persons.csv --column race --design design.json -o reports.parquet
      maskwell mask persons.csv --column race --design design.json --keep region,weight -o reports.parquet
      maskwell mask persons.parquet -c race -d design.json -o - | maskwell estimate -
      (umask 077; head -c 32 /dev/urandom > survey.key)
      maskwell mask persons.csv -c race -d design.json --key-file survey.key --ids person --survey health-2026 \\
        -o reports.parquet
      maskwell mask 'data/*.parquet' --design habit=habit.json --design insured=insured.json --keep region,weight \\
        --key-file survey.key --ids person --survey health-2026 -o reports/
      maskwell mask events/ --design page=pages.json --other 'page=(other)' --ids device --key-file devices.key \\
        --survey telemetry -o masked/
    """
    text = {"delimiter": delimiter, "encoding": encoding}
    if column is not None and len(design) > 1:
        raise CommandError("--column masks one column; for several use --design COLUMN=FILE for each.")
    if column is None or keep or other or engine is not Engine.arrow:
        if data == STANDARD and STANDARD in design:
            raise CommandError("data and --design cannot both come from standard input; write one to a file.")
        _refuse_seed(seed)
        _refuse_incomplete_keys(key_file, id_column, survey)
        mask_tables(
            data,
            named_designs(design) if column is None else {column: load_design(design[0])},
            output,
            engine=engine.value,
            key_file=key_file,
            text=text,
            json=json,
            id=id_column,
            survey=survey,
            keep=names_from(keep),
            missing=missing.value,
            na=na or (),
            integer_ids=integer_ids,
            other=other or [],
        )
        return
    if Path(data).is_dir() or (any(sign in data for sign in "*?[") and not Path(data).exists()):
        raise CommandError(f"a folder or a pattern is masked with --design {column}=FILE; --column takes one file.")
    _mask_column(
        data, column, design[0], output, missing, na, key_file, id_column, survey, integer_ids, seed, text, json
    )


def _mask_column(
    data: str,
    column: str,
    design: str,
    output: str,
    missing: Missing,
    na: list[str] | None,
    key_file: Path | None,
    id_column: str | None,
    survey: str | None,
    integer_ids: bool,
    seed: int | None,
    text: dict[str, str | None],
    json: bool,
) -> None:
    from maskwell.reports.files import write_reports, write_stream
    from maskwell.sampling.ids.column import RecordIds
    from maskwell.tables.answers import Answers
    from maskwell.tables.files import open_columns

    _refuse_contradictions(data, design, output, json)
    _refuse_incomplete_keys(key_file, id_column, survey)
    plan = load_design(design)
    warn_of_layers([plan])
    key = None if key_file is None else read_key(key_file)
    answers = Answers(column, plan.categories, missing is Missing.keep, na or ())
    ids = None if id_column is None else RecordIds(id_column, integer_ids)
    question = column if survey is None else f"{survey}/{column}"
    columns = [column] if id_column is None else list(dict.fromkeys([column, id_column]))

    with (
        open_columns(data_source(data), columns, **text) as table,
        progress(f"masking {table.name}", table.total) as show,
    ):

        def pairs() -> Iterator[tuple[Any, Any]]:
            for batch in table.batches:
                yield answers.read(batch.column(column)), ids.read(batch.column(id_column)) if ids else None
                show(table.done())
            answers.refuse_empty(table.name)
            if ids:
                ids.refuse_repeated()

        # Read in step, so a batch is held no longer than it takes to mask it; what is not read is not kept.
        left, right = tee(pairs()) if ids else (pairs(), None)
        reports = plan.mask_batches(
            (values for values, _ in left),
            key=key,
            ids=None if right is None else (batch for _, batch in right),
            question=question,
            seed=seed,
            missing=missing.value,
        )
        if output == STANDARD:
            write_stream(sys.stdout.buffer, plan, reports)
            return
        write_reports(output, plan, reports)
    drawn = "keyed" if key else "secure" if seed is None else "seeded"
    if json:
        emit_json(
            {
                "output": [output],
                "n": answers.rows,
                "missing": answers.missing,
                "randomness": drawn,
                "question": question,
                "design": about(plan),
                "epsilon": plan.epsilon,
            }
        )
    else:
        without = f" ({answers.missing:,} without an answer)" if answers.missing else ""
        warning = "; drawn from a seed, so for simulation only" if seed is not None else ""
        typer.echo(f"masked {answers.rows:,} rows{without} with {plan.name}{warning}")
        say_written([output])
        say_taken_for_true([column])


def _refuse_seed(seed: int | None) -> None:
    if seed is not None:
        raise CommandError(
            "--seed masks one column alone: give it with --column and without --keep; tables take --key-file to repeat "
            "reports."
        )


def _refuse_contradictions(data: str, design: str, output: str, json: bool) -> None:
    if data == STANDARD and design == STANDARD:
        raise CommandError("data and --design cannot both come from standard input; write one to a file.")
    if output == STANDARD and json:
        raise CommandError("--json and -o - both write to standard output; write the reports to a file.")
    if output == STANDARD and sys.stdout.isatty():
        raise CommandError("-o - writes binary reports, which a terminal cannot show; pipe them on or name a file.")
    if output != STANDARD:
        check_output(Path(output), [data, design])


def _refuse_incomplete_keys(key_file: Path | None, id_column: str | None, survey: str | None) -> None:
    if (key_file is None) != (id_column is None):
        raise CommandError("--key-file and --ids go together: give both, or neither.")
    if key_file is not None and survey is None:
        raise CommandError(
            "--key-file needs --survey: a name for this survey, which keeps its questions apart from others that are "
            "masked with the same key."
        )
    if survey is not None and (not survey or "/" in survey):
        raise CommandError("--survey must be a name without a slash, which separates it from the column's name.")
