"""``maskwell compliance``: do people follow the design, and if not, what is still known?"""

import json as json_text
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from maskwell.cli.pipelines.counting import is_stored
from maskwell.cli.shared.common_options import ColumnOption, LevelOption, PlotOption, check_plot
from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.output import CommandError, JsonOption, emit_json, named, progress, say_written
from maskwell.cli.shared.sample_options import (
    NO_SAMPLE,
    SampleOptions,
    read_sampled,
    sample_of_files,
    taking_a_sample,
    together,
)
from maskwell.plain_text import visible

if TYPE_CHECKING:
    from maskwell.designs import Design
    from maskwell.inference.compliance.behaviours import Behaviour
    from maskwell.inference.sample.sample import Sample
    from maskwell.reports import Reports
    from maskwell.reports.tally import Tally

_EXAMPLE = '{"yes": 0.5, "no": 0.5}'


class Among(StrEnum):
    """Whose proportions are bounded."""

    followers = "followers"
    all = "all"


@taking_a_sample
def compliance(
    reports: Annotated[
        list[Path],
        typer.Argument(help="A file of reports, or a stored tally, for each group; each may have a design of its own."),
    ],
    behaviour: Annotated[
        list[str] | None,
        typer.Option(
            "--behaviour",
            "-b",
            metavar="NAME=REPORT",
            help="What people do instead: NAME=REPORT that they always give, NAME=random, or chances as JSON. Repeat.",
        ),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", metavar="NAME=CATEGORY", help="Whose behaviour it is, where that is assumed. Repeat."),
    ] = None,
    answers_as: Annotated[
        list[str] | None,
        typer.Option(
            "--answers-as", metavar="NAME=CATEGORY", help="People who follow the procedure of another answer. Repeat."
        ),
    ] = None,
    column: ColumnOption = None,
    bounds: Annotated[
        str | None,
        typer.Option("--bounds", metavar="SHARE", help="What remains possible if up to this share do not follow."),
    ] = None,
    among: Annotated[
        Among, typer.Option("--among", help="Whose proportions --bounds are: of those who follow, or of all people.")
    ] = Among.followers,
    level: LevelOption = 0.95,
    sample: SampleOptions = NO_SAMPLE,
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate how many people do not follow the design, from groups that were asked by different ones.

    Each file is one group; people must have been assigned to groups at random. Where the designs cannot tell how common
    a behaviour is, the command says which behaviours look alike; --bounds then says what follows all the same.

    Weights, strata and clusters are columns that maskwell mask --keep left beside the reports of every file; a stratum
    or cluster that stands in several files is one.

    \b
    Examples:
      maskwell compliance rare.parquet often.parquet --behaviour "always no=no"
      maskwell compliance rare.parquet often.parquet --behaviour "denies=no" --of "denies=yes" --plot shares.html
      maskwell compliance rare.parquet often.parquet -b "always no=no" --weights weight --strata region --clusters psu
      maskwell compliance reports.parquet --behaviour "any=random" --bounds 0.3 --among all --plot bounds.html
    """
    from maskwell.inference.compliance.bounds import compliance_bounds
    from maskwell.inference.compliance.fit import compliance as estimate

    check_plot(plot, list(map(str, reports)))
    if len({path.resolve() for path in reports}) < len(reports):
        raise CommandError("a file of reports is named twice; each group is asked once.")
    if sample.given and bounds is not None:
        raise CommandError("--bounds takes reports as independent and knows no sample; give one or the other.")
    groups, drawn = _groups(reports, column, sample)
    behaviours = _behaviours(groups[0].design, behaviour or (), of or (), answers_as or ())
    result: Any
    if bounds is not None:
        most: Any = number(bounds, "--bounds")
        with progress("looking for bounds"):
            result = compliance_bounds(groups, behaviours, most=most, level=level, among=among.value)
    else:
        with progress("estimating"):
            result = estimate(groups, behaviours, sample=drawn)
    if plot is not None:
        from maskwell.views.saving import save_chart

        save_chart(result.plot() if bounds is not None else result.plot(level=level), plot)
    if json:
        files = {"files": [path.name for path in reports], "output": named(plot)}
        if bounds is not None:
            emit_json({**files, **result.to_dict()})
        else:
            emit_json({**files, **result.to_dict(level), "test": result.test().to_dict() if result.has_test else None})
        return
    typer.echo(result.summary() if bounds is not None else result.summary(level))
    if not behaviours and bounds is None:
        typer.echo("Name what some people may do instead, such as -b 'always no=no', to ask the reports.")
    for note in _notes(reports, groups):
        typer.echo(note)
    say_written(named(plot))


def _groups(
    paths: Sequence[Path], column: str | None, options: SampleOptions
) -> "tuple[list[Tally | Reports], Sample | None]":
    """What each file holds, and the sample that the columns beside their reports describe."""
    from maskwell.reports import Reports
    from maskwell.reports.tally import Tally

    if not options.given:
        return [Tally.read(path) if is_stored(path) else Reports.read(path, column) for path in paths], None
    if stored := [path.name for path in paths if is_stored(path)]:
        raise CommandError(
            f"{stored[0]!r} is a stored tally, which no longer knows who gave which report; with a sample give files "
            "of reports."
        )
    files = [read_sampled([str(path)], column, options) for path in paths]
    return [together(kept, joint=False) for kept in files], sample_of_files(files, options)


def _notes(paths: Sequence[Path], groups: "Sequence[Tally | Reports]") -> list[str]:
    """What an audit of the designs warns of, with the files that it is about."""
    from maskwell.auditing import audit

    files: dict[str, list[str]] = {}
    for path, group in zip(paths, groups, strict=True):
        for warning in audit(group.design).warnings:
            files.setdefault(warning, []).append(visible(path.name))
    return [f"Note on {', '.join(names)}: {warning}" for warning, names in files.items()]


def _behaviours(
    design: "Design", does: Sequence[str], of: Sequence[str], answers_as: Sequence[str]
) -> "dict[str, Behaviour]":
    """The behaviours that the options describe."""
    from maskwell.inference.compliance.behaviours import Behaviour

    given = _pairs(does, "--behaviour")
    other, owner = _pairs(answers_as, "--answers-as"), _pairs(of, "--of")
    twice = [name for name in given if name in other]
    if twice:
        raise CommandError(f"--behaviour and --answers-as both describe {twice[0]!r}; give one of them.")
    unknown = [name for name in owner if name not in {**given, **other}]
    if unknown:
        raise CommandError(f"--of names {unknown[0]!r}, which no --behaviour or --answers-as describes.")
    truths = {str(category): category for category in design.categories}
    labels = {str(label): label for label in design.report_labels()}
    found = {name: Behaviour(_report(text, labels)) for name, text in given.items()}
    found |= {name: Behaviour(answers_as=truths.get(text, text)) for name, text in other.items()}
    return {
        name: Behaviour(each.does, truths.get(owner[name], owner[name]), each.answers_as) if name in owner else each
        for name, each in found.items()
    }


def _pairs(options: Sequence[str], option: str) -> dict[str, str]:
    pairs = [text.partition("=") for text in options]
    for name, equals, rest in pairs:
        if not (name and equals and rest):
            raise CommandError(f"{option} needs NAME=VALUE; got {name!r}. For example: --behaviour 'always no=no'")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise CommandError(f"{option} gives a name twice.")
    return {name: rest for name, _, rest in pairs}


def _report(text: str, labels: dict[str, Any]) -> Any:
    """A report, or the chances of several as JSON."""
    if text in labels or not text.startswith("{"):
        return labels.get(text, text)
    try:
        chances = json_text.loads(text)
    except ValueError:
        raise CommandError(f"--behaviour: {text!r} is not JSON such as {_EXAMPLE}.") from None
    return {labels.get(label, label): chance for label, chance in chances.items()}
