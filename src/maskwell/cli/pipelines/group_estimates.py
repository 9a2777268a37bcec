"""Estimates by group, and totals, as text, as CSV or as JSON."""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from maskwell.cli.shared.option_names import said_lines
from maskwell.cli.shared.output import STANDARD, emit_json, named, save, say_written
from maskwell.plain_text import visible

if TYPE_CHECKING:
    from maskwell.inference import Estimate, Totals
    from maskwell.inference.domains import GroupEstimates

SIMULATED = "Some reports were drawn from a seed: this is a simulation, not a survey."


@dataclass(frozen=True)
class Shown:
    """How results are to be shown, and where to."""

    level: float
    interval: str | None
    simultaneous: bool
    table: str | None
    json: bool
    options: Mapping[str, str]

    def save_csv(self, columns: dict[str, list[Any]]) -> None:
        """Write the CSV file, if there is to be one."""
        for table in named(self.table):
            save(Path(table), csv_text(columns))

    def prints_csv(self, columns: dict[str, list[Any]]) -> bool:
        """Print the CSV text if it was asked for, and say that there is no more to print."""
        if self.table != STANDARD:
            return False
        typer.echo(csv_text(columns).encode(), nl=False)
        return True


def show_groups(groups: "GroupEstimates", by: str, shown: Shown, plot: Path | None) -> None:
    """An estimate for each group, one after the other."""
    from maskwell.inference.documents import estimate_document
    from maskwell.inference.summary import summary_lines

    if plot is not None:
        from maskwell.views.charts.group_estimates import group_chart
        from maskwell.views.saving import save_chart

        look: Any = {"method": shown.interval, "simultaneous": shown.simultaneous}
        save_chart(group_chart(groups, shown.level, **look, title=f"Estimated proportions by {visible(by)}"), plot)
    found_columns = groups.columns(shown.level, shown.interval, shown.simultaneous)
    columns = {by: found_columns.pop("group"), **found_columns}
    simulated = any(found.tally.simulated for found in groups.values())
    shown.save_csv(columns)
    if shown.json:
        documents = []
        for label, found in groups.items():
            kind = shown.interval or found.default_interval
            limits = found.interval(shown.level, kind, shown.simultaneous)
            asked = {"level": shown.level, "interval": kind, "simultaneous": shown.simultaneous}
            documents.append({"group": label, **estimate_document(found, limits, {found.tally.randomness}, asked)})
        emit_json({"by": by, "groups": documents, "output": named(shown.table, plot)})
    elif shown.prints_csv(columns):
        if simulated:
            typer.echo(SIMULATED, err=True)
    else:
        for label, found in groups.items():
            typer.echo(f"{visible(by)}: {'missing' if label is None else visible(str(label))}")
            typer.echo(
                said_lines(summary_lines(found, shown.level, shown.interval, shown.simultaneous), shown.options) + "\n"
            )
        say_written(named(shown.table, plot))


def show_totals(totals: "Totals", drawn: str, simulated: bool, shown: Shown, plot: Path | None) -> None:
    """Numbers of people by category."""
    if plot is not None:
        from maskwell.views.saving import save_chart

        save_chart(totals.plot(level=shown.level), plot)
    frame = totals.to_frame(shown.level, backend="pyarrow").to_pydict()
    shown.save_csv(frame)
    if shown.json:
        emit_json({**totals.to_dict(shown.level), "randomness": [drawn], "output": named(shown.table, plot)})
    elif shown.prints_csv(frame):
        if simulated:
            typer.echo(SIMULATED, err=True)
    else:
        typer.echo(totals.summary(shown.level).encode())
        if simulated:
            typer.echo(SIMULATED)
        say_written(named(shown.table, plot))


def estimate_columns(result: "Estimate", limits: Any) -> dict[str, list[Any]]:
    """The figures of an estimate by category."""
    lower, upper = limits.T.tolist()
    figures = {"estimate": result.proportions.tolist(), "standard_error": result.standard_errors.tolist()}
    return {**result.category_columns(), **figures, "lower": lower, "upper": upper}


def csv_text(columns: dict[str, list[Any]]) -> str:
    """Columns as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def show_tops(groups: "GroupEstimates", by: str, count: int, shown: Shown) -> None:
    """The most frequent categories of each group; limits hold for all categories of one group together."""
    from maskwell.inference.documents import estimate_document

    tops = {label: found.top(count, shown.level, shown.interval) for label, found in groups.items()}
    columns: dict[str, list[Any]] = {}
    for label, top in tops.items():
        own = {by: [label] * len(top), **top.to_frame(backend="pyarrow").to_pydict()}
        columns = {name: [*columns.get(name, []), *cells] for name, cells in own.items()}
    shown.save_csv(columns)
    if shown.json:
        documents = []
        for label, top in tops.items():
            asked = {"level": top.level, "interval": top.kind, "simultaneous": True, "places": top.rank_limits}
            document = estimate_document(top.estimate, top.limits, {top.tally.randomness}, asked, top)
            documents.append({"group": label, **document})
        emit_json({"by": by, "groups": documents, "output": named(shown.table)})
    elif not shown.prints_csv(columns):
        for label, top in tops.items():
            typer.echo(f"{visible(by)}: {'missing' if label is None else visible(str(label))}")
            typer.echo(f"{top.summary()}\n".encode())
        say_written(named(shown.table))
