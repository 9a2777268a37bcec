"""Options that mean the same in several commands: columns, keys, people, levels and pictures."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.shared.output import CommandError, check_output

_PICTURES = (".png", ".svg", ".html")


class Missing(StrEnum):
    """What becomes of missing values."""

    refuse = "refuse"
    keep = "keep"


ColumnOption = Annotated[
    str | None, typer.Option("--column", "-c", help="Which masked column, where files hold several.")
]
ByOption = Annotated[
    str | None, typer.Option("--by", help="For each group: a column that was kept beside the reports.")
]


class MissingGroups(StrEnum):
    """What becomes of records without a group."""

    refuse = "refuse"
    keep = "keep"
    outside = "outside"


MissingGroupsOption = Annotated[
    MissingGroups,
    typer.Option(
        "--missing",
        help="Records without a group (--by): refuse them, keep them as a group of their own, or leave them outside, "
        "in the sample but in no group.",
    ),
]
KeepOption = Annotated[str, typer.Option("--keep", help="Columns that stay as they are, separated by commas.")]
MissingOption = Annotated[
    Missing,
    typer.Option("--missing", help="Refuse what is missing, or keep it as an empty report: who did not answer shows."),
]
KeyFileOption = Annotated[
    Path | None,
    typer.Option("--key-file", help="A file whose bytes are the key (16 or more): repeatable draws by record id."),
]
IdsOption = Annotated[str | None, typer.Option("--ids", help="The column of record ids, for --key-file.")]
KEYS_OPTION = typer.Option("--keys", help="Columns that an intruder may know, separated by commas.")
PopulationOption = Annotated[
    int | None,
    typer.Option("--population", min=1, help="The size of the population; unless given, the sum of the weights."),
]
WeightsOption = Annotated[
    str | None,
    typer.Option("--weights", help="The column of sampling weights."),
]
LevelOption = Annotated[float, typer.Option("--level", help="The level of the intervals.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Also draw them: a .png, .svg or .html file.")]


def check_plot(plot: Path | None, inputs: list[str]) -> None:
    """Before any work: the picture needs a folder and a known suffix, and must not replace an input."""
    if plot is None:
        return
    if plot.suffix.lower() not in _PICTURES:
        raise CommandError(f"--plot writes {', '.join(_PICTURES)}; got {plot.name!r}.")
    check_output(plot, inputs)
