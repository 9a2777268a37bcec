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

if TYPE_CHECKING:
    from maskwell.designs import Design
    from maskwell.inference.compliance.behaviours import Behaviour
    from maskwell.reports import Reports
    from maskwell.reports.tally import Tally

_EXAMPLE = '{"yes": 0.5, "no": 0.5}'


class Among(StrEnum):
    """Whose proportions are bounded."""

    followers = "followers"
    all = "all"


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
    plot: PlotOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate how many people do not follow the design, from groups that were asked by different ones.

    Each file is one group; people must have been assigned to groups at random. Where the designs cannot tell how common
    a behaviour is, the command says which behaviours look alike; --bounds then says what follows all the same.

    \b
    Examples:
      maskwell compliance rare.parquet often.parquet --behaviour "always no=no"
      maskwell compliance rare.parquet often.parquet --behaviour "denies=no" --of "denies=yes" --plot shares.html
      maskwell compliance reports.parquet --behaviour "any=random" --bounds 0.3 --among all --plot bounds.html
    """
    from maskwell.inference.compliance.bounds import compliance_bounds
    from maskwell.inference.compliance.fit import compliance as estimate

    check_plot(plot, list(map(str, reports)))
    if len({path.resolve() for path in reports}) < len(reports):
        raise CommandError("a file of reports is named twice; each group is asked once.")
    groups = [_group(path, column) for path in reports]
    behaviours = _behaviours(groups[0].design, behaviour or (), of or (), answers_as or ())
    result: Any
    if bounds is not None:
        most: Any = number(bounds, "--bounds")
        with progress("looking for bounds"):
            result = compliance_bounds(groups, behaviours, most=most, level=level, among=among.value)
    else:
        with progress("estimating"):
            result = estimate(groups, behaviours)
    if plot is not None:
        from maskwell.views.saving import save_chart

        save_chart(result.plot() if bounds is not None else result.plot(level=level), plot)
    if json:
        files = {"files": [path.name for path in reports], "output": named(plot)}
        if bounds is not None:
            emit_json({**files, **result.to_dict()})
        else:
            emit_json(
                {**files, **result.to_dict(level), "test": result.test().to_dict() if result.behaviours else None}
            )
        return
    typer.echo(result.summary() if bounds is not None else result.summary(level))
    say_written(named(plot))


def _group(path: Path, column: str | None) -> "Tally | Reports":
    from maskwell.reports import Reports
    from maskwell.reports.tally import Tally

    return Tally.read(path) if is_stored(path) else Reports.read(path, column)


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
