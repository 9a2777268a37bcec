"""``maskwell risk``: how easily could people in a file be picked out?"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.output import CommandError, JsonOption, emit_json
from maskwell.errors import DataError


class Model(StrEnum):
    """The log-linear model of the population."""

    stepwise = "stepwise"
    independence = "independence"
    two_way = "two-way"


def risk(
    data: Annotated[Path, typer.Argument(help="The file: .csv, .csv.gz, .parquet, .arrow or .feather.")],
    keys: Annotated[str, typer.Option("--keys", help="Columns that an intruder may know, separated by commas.")],
    weights: Annotated[str | None, typer.Option("--weights", help="The column of sampling weights.")] = None,
    population: Annotated[
        int | None, typer.Option("--population", min=1, help="The size of the population that was sampled.")
    ] = None,
    sensitive: Annotated[str, typer.Option("--sensitive", help="Columns whose diversity within cells counts.")] = "",
    model: Annotated[Model, typer.Option("--model", help="How cells of the population are modelled.")] = Model.stepwise,
    json: JsonOption = False,
) -> None:
    """Measure the disclosure risk of a microdata file.

    \b
    Examples:
      maskwell risk persons.parquet --keys sex,age,region --population 5000000
      maskwell risk persons.csv --keys sex,age,region --weights weight --json
    """
    from maskwell.risk import assess

    columns = [name.strip() for name in keys.split(",") if name.strip()]
    diverse = [name.strip() for name in sensitive.split(",") if name.strip()]
    needed = [*columns, *diverse, *([weights] if weights else [])]
    table = _read(data, needed)
    report = assess(
        table,
        columns,
        weights=table.column(weights).to_numpy() if weights else None,
        population_size=population,
        sensitive=tuple(diverse),
        model=model.value,
    )
    if json:
        emit_json(report.to_dict())
    else:
        typer.echo(report.summary())


def _read(path: Path, needed: list[str]) -> Any:
    """The needed columns of a file as an Arrow table. Arrow's own errors may quote a cell, so they are not shown."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    if not path.is_file():
        raise CommandError(f"{path.name!r} was not found.")
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    try:
        if suffix == ".csv":
            table = csv.read_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=True))
        elif suffix == ".parquet":
            table = parquet.read_table(path)
        elif suffix in (".arrow", ".feather"):
            table = feather.read_table(path)
        else:
            raise CommandError(f"{path.name!r} must be a .csv, .parquet, .arrow or .feather file.")
    except (pa.ArrowException, OSError):
        raise DataError(f"{path.name!r} cannot be read: it is damaged or of another kind than its name says.") from None
    absent = [name for name in needed if name not in table.column_names]
    if absent:
        raise CommandError(f"{path.name!r} has no column {absent[0]!r}.")
    return table.select(list(dict.fromkeys(needed)))
