"""``maskwell risk``: how easily could people in a file be picked out?"""

from enum import StrEnum
from glob import has_magic
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.common_options import KEYS_OPTION, PopulationOption, WeightsOption
from maskwell.cli.shared.file_options import (
    FILE_HELP,
    DelimiterOption,
    EncodingOption,
    NaOption,
    UserMissingOption,
    declared_missing,
    names_from,
)
from maskwell.cli.shared.option_names import options_of, said_lines
from maskwell.cli.shared.output import JsonOption, emit_json, named, progress, save, say_written
from maskwell.cli.shared.pages import HtmlOption, check_page
from maskwell.microdata import Microdata


class Model(StrEnum):
    """The log-linear model of the population."""

    stepwise = "stepwise"
    independence = "independence"
    two_way = "two-way"


class Missing(StrEnum):
    """What a missing value of a key matches."""

    category = "category"
    wildcard = "wildcard"


def risk(
    data: Annotated[
        Path, typer.Argument(help=f"{FILE_HELP} Or a pattern in quotes or a folder of Parquet and Arrow files.")
    ],
    keys: Annotated[str, KEYS_OPTION],
    weights: WeightsOption = None,
    population: PopulationOption = None,
    sensitive: Annotated[str, typer.Option("--sensitive", help="Columns whose diversity within cells counts.")] = "",
    model: Annotated[Model, typer.Option("--model", help="How cells of the population are modelled.")] = Model.stepwise,
    missing: Annotated[
        Missing,
        typer.Option("--missing", help="A missing key matches missing ones only (category), or any value (wildcard)."),
    ] = Missing.category,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    user_missing: UserMissingOption = False,
    html: HtmlOption = None,
    json: JsonOption = False,
) -> None:
    """Measure the disclosure risk of a microdata file.

    \b
    Examples:
      maskwell risk persons.parquet --keys sex,age,region --population 5000000 --html risk.html
      maskwell risk persons.dta --keys sex,age,region --weights weight --json
      maskwell risk 'persons/*.parquet' --keys sex,age,region --population 500000000

    Many files are counted as they are read: memory grows with the different combinations of keys and sensitive
    columns (some tens of bytes each), not with the records.
    """
    from maskwell.engines.combinations import REPEATS, SQUARES, combinations
    from maskwell.engines.paths import expand
    from maskwell.microdata import read
    from maskwell.risk import assess
    from maskwell.risk.summary import summary_lines

    check_page(html, [str(data)])
    columns, diverse = names_from(keys), names_from(sensitive)
    said: list[str] = []
    with progress(f"assessing {data.name}", 3) as show:
        many = data.is_dir() or (not data.exists() and has_magic(str(data)))
        if many:
            table = combinations(expand(data), list(dict.fromkeys([*columns, *diverse])), weights)
        else:
            file = read(data, delimiter=delimiter, encoding=encoding, na=na or [], user_missing=user_missing)
            table = _needed(file, columns, diverse, weights)
            said = declared_missing(file, [*columns, *diverse])
        show(1)
        report = assess(
            table,
            columns,
            weights=weights,
            population_size=population,
            sensitive=tuple(diverse),
            model=model.value,
            missing=missing.value,
            repeats=REPEATS if many else None,
            squares=SQUARES if many and weights is not None else None,
        )
        said += _weighed(report, weights, population)
        show(2)
        # What is left to compute: the keys, left out one by one.
        figures = report.to_dict()
    if html is not None:
        from maskwell.views.pages.risk import risk_page

        save(html, risk_page(report))
    if json:
        emit_json({"n": figures.pop("records"), **figures, "output": named(html)})
    else:
        typer.echo(said_lines([*said, *summary_lines(report)], options_of(risk)))
        say_written(named(html))


def _weighed(report: Any, weights: str | None, population: int | None) -> list[str]:
    """What is odd about the weights."""
    cells, lines = report.cells.population, []
    if weights in report.keys:
        lines.append(f"{weights} is the weight and among the keys: does an intruder know it to the last digit?")
    if cells is not None and population is not None:
        lines.append(f"the weights sum to {cells.sum():,.0f} and are scaled to the population of {population:,}")
    return lines


def _needed(found: Microdata, keys: list[str], sensitive: list[str], weights: str | None) -> Any:
    """The needed columns as an Arrow table."""
    found.require(keys, "keys")
    found.require(sensitive, "sensitive")
    table = found.table.select(list(dict.fromkeys([*keys, *sensitive])))
    if weights is not None:
        found.require([weights], "weights")
        if weights not in table.column_names:
            table = table.append_column(weights, found.values(weights))
    return table
