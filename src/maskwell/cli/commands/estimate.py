"""``maskwell estimate``: from files of reports to proportions."""

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maskwell.cli.pipelines.counting import column_of, count_reports, is_stored, merge_stored, stored_in
from maskwell.cli.pipelines.group_estimates import (
    SIMULATED,
    Shown,
    csv_text,
    estimate_columns,
    show_groups,
    show_tops,
    show_totals,
)
from maskwell.cli.shared.common_options import (
    ByOption,
    ColumnOption,
    LevelOption,
    MissingGroups,
    MissingGroupsOption,
    PlotOption,
    check_plot,
)
from maskwell.cli.shared.joint_files import hold_several_columns, joint_reports
from maskwell.cli.shared.option_names import options_of, said_lines
from maskwell.cli.shared.output import (
    STANDARD,
    CommandError,
    JsonOption,
    check_output,
    emit_json,
    named,
    progress,
    save,
    say_written,
)
from maskwell.cli.shared.sample_options import NO_SAMPLE, SampleOptions, read_sampled, taking_a_sample, together
from maskwell.designs import Design
from maskwell.errors import EstimationError, ReportError

if TYPE_CHECKING:
    from maskwell.inference import Top
    from maskwell.reports.tally import Tally


class Method(StrEnum):
    """How to estimate."""

    linear = "linear"
    moments = "moments"
    likelihood = "likelihood"
    one_step = "one-step"

    @property
    def needs_patterns(self) -> bool:
        """Whether each distinct report must be kept."""
        return self in (Method.likelihood, Method.one_step)


class Interval(StrEnum):
    """What kind of limits."""

    wilson = "wilson"
    wald = "wald"
    clopper_pearson = "clopper-pearson"
    profile = "profile"
    bootstrap = "bootstrap"


@taking_a_sample
def estimate(
    reports: Annotated[
        list[str],
        typer.Argument(
            help="Files of reports of one design, counted together, or - for a pipe; also folders and stored tallies."
        ),
    ],
    column: ColumnOption = None,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="The joint table of several variables: a file for each, row by row about the same people, or the "
            "masked columns of one file.",
        ),
    ] = False,
    by: ByOption = None,
    missing: MissingGroupsOption = MissingGroups.refuse,
    sample: SampleOptions = NO_SAMPLE,
    totals: Annotated[
        bool, typer.Option("--totals", help="Numbers of people, which the weights add up to, instead of shares.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Repeatable bootstrap replicates.")] = None,
    method: Annotated[
        Method, typer.Option("--method", help="The minimax linear estimator, moments, or (pseudo-)likelihood.")
    ] = Method.linear,
    level: LevelOption = 0.95,
    interval: Annotated[
        Interval | None,
        typer.Option("--interval", help="The kind of interval; wilson, or wald for likelihoods, if not said."),
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Intervals that hold for all categories together.")
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", help="Only the N most frequent categories, with limits that hold for all together.", min=1
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--csv", help="Also write the estimates to this file, or with - only to standard output."),
    ] = None,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate all proportions from masked reports.

    Files are counted in batches, so they may be larger than memory. Estimates are unbiased and therefore not clipped: a
    rare category may come out slightly below 0. Groups, weights, strata and clusters are columns that maskwell mask
    --keep left beside the reports; they are read into memory.

    \b
    Examples:
      maskwell estimate reports.parquet
      maskwell estimate monday.parquet tuesday.parquet --simultaneous --csv estimates.csv --plot estimates.html
      maskwell estimate hosts.parquet --top 20 --plot hosts.html
      maskwell estimate sex.parquet income.parquet --joint --plot income_by_sex.html
      maskwell mask persons.csv -c race -d design.json -o - | maskwell estimate - --json
      maskwell estimate reports/ --column habit
      maskwell estimate week/habit.tally.json
      maskwell estimate reports.parquet --by region --weights weight --strata stratum --clusters psu
      maskwell estimate reports.parquet --weights w0 --replicate-weights 'rw*' --replicate-method brr
    """
    from maskwell.inference import estimate as estimate_from
    from maskwell.inference import estimate_by, estimate_totals
    from maskwell.inference.documents import estimate_document
    from maskwell.inference.summary import summary_lines
    from maskwell.reports import is_simulated

    _refuse_contradictions(reports, level, table, plot, json)
    shown = Shown(level, interval.value if interval else None, simultaneous, table, json, options_of(estimate))
    several = joint and len(reports) == 1 and reports[0] != STANDARD and hold_several_columns(reports[0])
    beside = sample.given or by is not None or totals or several
    if beside:
        if STANDARD in reports:
            raise CommandError("- brings reports alone; groups and samples need a file with the columns beside them.")
        if totals and not sample.given:
            raise CommandError("--totals need --weights: a column that says how many people each one stands for.")
        if by is not None and totals:
            raise CommandError("--by gives an estimate for each group; leave --totals out.")
        if by is not None and top is not None and plot is not None:
            raise CommandError("--by with --top has no picture; leave --plot out.")
        kept = read_sampled(reports, column, sample, by)
        files = together(kept, joint)
        survey = sample.sample(kept.table, seed) if sample.given else None
        if by is not None:
            groups = estimate_by(files, kept.table[by], method=method.value, missing=missing.value, sample=survey)
            if top is not None:
                show_tops(groups, by, top, shown)
            else:
                show_groups(groups, by, shown, plot)
            return
        if totals:
            found = estimate_totals(files, method.value, survey)
            if survey is not None and not json and table != STANDARD:
                typer.echo(f"sample of {survey.described}")
            show_totals(found, files.randomness, is_simulated(files.randomness), shown, plot)
            return
        result, drawn = estimate_from(files, method.value, survey), {files.randomness}
    elif joint:
        tally, drawn = _joint_tally(reports)
    elif column is not None or _has_folder_or_tally(reports):
        tally, drawn = _column_tally(reports, column, method.needs_patterns)
    else:
        tally, drawn = _tally(reports, method.needs_patterns)
    with progress("estimating"):
        if not beside:
            result = estimate_from(tally, method.value)
        kind = interval.value if interval else result.default_interval
        limits = None if top is not None else result.interval(level, kind, simultaneous)
    if top is not None:
        _show_top(result.top(top, level, interval.value if interval else None), drawn, table, plot, json)
        return
    if plot is not None:
        from maskwell.views.charts.estimate import chart
        from maskwell.views.charts.joint import has_joint_chart, joint_chart
        from maskwell.views.saving import save_chart

        if has_joint_chart(result):
            picture = joint_chart(result, level=level)
        else:
            picture = chart(result, level=level, method=kind, simultaneous=simultaneous)
        save_chart(picture, plot)
    if table not in (None, STANDARD):
        save(Path(table), csv_text(estimate_columns(result, limits)))
    if json:
        asked = {"level": level, "interval": kind, "simultaneous": simultaneous}
        emit_json({**estimate_document(result, limits, drawn, asked), "output": named(table, plot)})
    elif table == STANDARD:
        typer.echo(csv_text(estimate_columns(result, limits)).encode(), nl=False)
        if result.tally.simulated:
            typer.echo(SIMULATED, err=True)
    else:
        typer.echo(said_lines(summary_lines(result, level, kind, simultaneous), options_of(estimate)))
        say_written(named(table, plot))


def _show_top(top: "Top", drawn: set[str], table: str | None, plot: Path | None, json: bool) -> None:
    from maskwell.inference.documents import estimate_document

    if plot is not None:
        from maskwell.views.charts.estimate import top_chart
        from maskwell.views.saving import save_chart

        save_chart(top_chart(top), plot)
    columns = top.to_frame(backend="pyarrow").to_pydict()
    if table not in (None, STANDARD):
        save(Path(table), csv_text(columns))
    if json:
        asked = {"level": top.level, "interval": top.kind, "simultaneous": True, "places": top.rank_limits}
        document = estimate_document(top.estimate, top.limits, drawn, asked, top)
        emit_json({**document, "output": named(table, plot)})
    elif table == STANDARD:
        typer.echo(csv_text(columns).encode(), nl=False)
    else:
        typer.echo(top.summary().encode())
        say_written(named(table, plot))


def _refuse_contradictions(reports: list[str], level: float, table: str | None, plot: Path | None, json: bool) -> None:
    if not 0 < level < 1:
        raise EstimationError(f"--level must lie between 0 and 1; got {level}. Use 0.95 for 95 % limits.")
    if len({name if name == STANDARD else Path(name).resolve() for name in reports}) < len(reports):
        raise CommandError("a file of reports is named twice; it would be counted twice.")
    if STANDARD in reports and sys.stdin.isatty():
        raise CommandError("- reads reports from a pipe, and nothing is piped in; name a file of reports.")
    if table == STANDARD and json:
        raise CommandError("--json and --csv - both write to standard output; name a file for the CSV.")
    check_plot(plot, reports)
    if table not in (None, STANDARD):
        check_output(Path(table), reports)


def _tally(names: list[str], patterns: bool) -> tuple["Tally", set[str]]:
    """The tally of all files, and the ways in which their reports were drawn."""
    from maskwell.reports.batch import Batch
    from maskwell.reports.files import read_reports, read_stream
    from maskwell.reports.tally import Tally

    tallies: list[Tally] = []
    drawn: set[str] = set()
    rows = 0
    with progress("counting reports") as show:

        def counted(batches: Iterator[Batch]) -> Iterator[Batch]:
            nonlocal rows
            for batch in batches:
                drawn.add(batch.randomness)
                yield batch
                rows += len(batch)
                show(rows)

        first: Design | None = None
        for name in names:
            piped = name == STANDARD
            design, batches = read_stream(sys.stdin.buffer, Batch) if piped else read_reports(name, Batch)
            if first is not None and design != first:
                raise ReportError(
                    f"{Path(name).name!r} holds reports of another design ({design.title}, {design.fingerprint[:12]}) "
                    f"than {Path(names[0]).name!r} ({first.title}, {first.fingerprint[:12]}); estimate them apart."
                )
            first = first or design
            tallies.append(Tally.stream(design, counted(batches), patterns or None))
    return Tally.merge(tallies), drawn


def _has_folder_or_tally(names: list[str]) -> bool:
    return any(Path(name).is_dir() or is_stored(Path(name)) for name in names)


def _column_tally(names: list[str], column: str | None, patterns: bool) -> tuple["Tally", set[str]]:
    """The tally of one column of folders and files of reports, or of stored tallies."""
    if STANDARD in names:
        raise CommandError("- reads the reports of one column; leave --column out, or name files.")
    stored = stored_in(names)
    if stored:
        if any(not stored_in([name]) for name in names):
            raise CommandError("reports and stored tallies are given together; estimate from one or the other.")
        tallies = merge_stored([path for path in stored if column in (None, column_of(path))])
    else:
        with progress("counting reports", 1) as show:
            tallies = count_reports(names, None, patterns or None, show, column)
    if len(tallies) != 1:
        what = f"several columns: {', '.join(tallies)}" if tallies else f"no column {column!r}"
        raise CommandError(f"there are {what}; name one with --column.")
    (tally,) = tallies.values()
    return tally, {tally.randomness}


def _joint_tally(names: list[str]) -> tuple["Tally", set[str]]:
    """The tally of several variables, and the ways in which their reports were drawn."""
    from maskwell.reports import Reports

    if len(names) < 2 or STANDARD in names:
        raise CommandError("--joint takes two files of reports or more, one for each variable.")
    files = [Reports.read(name) for name in names]
    together = joint_reports(files, names)
    return together.tally(), {file.randomness for file in files}
