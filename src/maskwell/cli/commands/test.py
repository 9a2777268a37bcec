"""``maskwell test``: are two masked variables independent, did respondents follow the design, do groups differ?"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from maskwell.cli.shared.joint_files import joint_reports
from maskwell.cli.shared.option_names import options_of, said, said_lines
from maskwell.cli.shared.output import CommandError, JsonOption, emit_json, progress
from maskwell.designs.storage import about

if TYPE_CHECKING:
    from maskwell.inference import HypothesisTest
    from maskwell.reports import Reports


class Question(StrEnum):
    """What to test."""

    independence = "independence"
    fit = "fit"
    groups = "groups"


class Statistic(StrEnum):
    """Which statistic decides about independence."""

    score = "score"
    lrt = "lrt"
    lrt_moments = "lrt-moments"
    pearson = "pearson"
    bonferroni = "bonferroni"


def hypothesis(
    question: Annotated[Question, typer.Argument(help="What to test.")],
    reports: Annotated[list[Path], typer.Argument(help="Files of reports.")],
    method: Annotated[Statistic, typer.Option("--method", help="The statistic for independence.")] = Statistic.score,
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", min=0, help="Calibrate by this many shuffles; score chooses if nothing is said."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Repeatable shuffles and draws.")] = None,
    json: JsonOption = False,
) -> None:
    """Test a hypothesis from masked reports.

    \b
    independence  two files, row by row the same people: are the two variables independent?
    fit           one file: can these reports come from their design, whatever the population?
    groups        two files or more, one per group: do the groups have the same proportions?

    \b
    Examples:
      maskwell test independence gender.parquet income.parquet
      maskwell test independence gender.parquet income.parquet --method pearson
      maskwell test independence gender.parquet income.parquet --permutations 999
      maskwell test fit reports.parquet
      maskwell test groups north.parquet south.parquet
    """
    from maskwell.reports import Reports, is_simulated

    least, most = {Question.independence: (1, 2), Question.fit: (1, 1), Question.groups: (2, 1000)}[question]
    if not least <= len(reports) <= most:
        wanted = {"independence": "two files (or one of a product design)", "fit": "one file", "groups": "two or more"}
        raise CommandError(f"test {question.value} takes {wanted[question.value]}; got {len(reports)}.")
    with progress("testing"):
        files = [Reports.read(path) for path in reports]
        result = _run(question, files, reports, method, permutations, seed)
    if json:
        drawn = sorted({file.randomness for file in files})
        said_of = {
            "question": question.value,
            "files": [path.name for path in reports],
            "randomness": drawn,
            "n": [len(file) for file in files],
            "designs": [about(file.design) for file in files],
        }
        emit_json({**said_of, **result.to_dict(), "advice": said(result.advice, options_of(hypothesis))})
        return
    typer.echo(said_lines(result.lines(), options_of(hypothesis)))
    typer.echo(_verdict(question, result.p_value))
    if any(is_simulated(file.randomness) for file in files):
        typer.echo("Some reports were drawn from a seed: this is a simulation, not a survey.")


def _run(
    question: Question,
    files: "list[Reports]",
    paths: list[Path],
    method: Statistic,
    permutations: int | None,
    seed: int | None,
) -> "HypothesisTest":
    from maskwell.inference import goodness_of_fit, homogeneity_test, independence_test

    if question is Question.fit:
        return goodness_of_fit(files[0])
    if question is Question.groups:
        return homogeneity_test(files, seed=seed)
    joint = files[0] if len(files) == 1 else joint_reports(files, paths)
    return independence_test(joint, method.value, permutations, seed)


def _verdict(question: Question, p_value: float) -> str:
    surprising = p_value < 0.05
    verdict = {
        Question.independence: ("The variables are associated", "No association shows"),
        Question.fit: ("The reports do not fit the design (was it followed?)", "The reports fit the design"),
        Question.groups: ("The groups differ", "No difference between the groups shows"),
    }[question][0 if surprising else 1]
    return f"{verdict} (at a level of 5 %)."
