"""``maskwell test``: are variables independent, did respondents follow the design, do groups or shares differ?"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.pipelines.tests import Asked, run_test
from maskwell.cli.shared.common_options import ByOption, MissingGroups, MissingGroupsOption
from maskwell.cli.shared.file_options import names_from
from maskwell.cli.shared.option_names import options_of, said, said_lines
from maskwell.cli.shared.output import CommandError, JsonOption, emit_json, progress
from maskwell.cli.shared.sample_options import NO_SAMPLE, SampleOptions, taking_a_sample
from maskwell.plain_text import visible


class Question(StrEnum):
    """What to test."""

    independence = "independence"
    fit = "fit"
    groups = "groups"
    proportion = "proportion"
    homogeneity = "homogeneity"
    """The name of the test in Python, which is looked for here; the command says where it is."""


class Statistic(StrEnum):
    """Which statistic decides."""

    score = "score"
    lrt = "lrt"
    lrt_moments = "lrt-moments"
    pearson = "pearson"
    bonferroni = "bonferroni"
    rao_scott = "rao-scott"
    wald = "wald"
    exact = "exact"


class Alternative(StrEnum):
    """In which direction a difference counts."""

    two_sided = "two-sided"
    less = "less"
    greater = "greater"


_FILES = {Question.independence: (1, 2), Question.fit: (1, 1), Question.groups: (1, 1000), Question.proportion: (1, 1)}
_WANTED = {
    Question.independence: "two files (or one of a product design, or of two masked columns)",
    Question.fit: "one file",
    Question.groups: "two or more (or one with --by)",
    Question.proportion: "one file",
}


@taking_a_sample
def hypothesis(
    question: Annotated[Question, typer.Argument(help="What to test.", metavar="QUESTION")],
    reports: Annotated[list[Path], typer.Argument(help="Files of reports.")],
    method: Annotated[
        Statistic | None,
        typer.Option(
            "--method",
            help="The statistic: score, lrt, lrt-moments, pearson or bonferroni for independence; rao-scott or wald in "
            "a sample; exact, score or wald for a proportion.",
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(
            "--permutations", min=0, help="Calibrate by this many shuffles; score chooses if nothing is said."
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", "-c", help="Which masked columns, separated by commas, where files hold several."),
    ] = None,
    by: ByOption = None,
    category: Annotated[
        str | None,
        typer.Option(
            "--category",
            help="The category whose share is tested, or compared between two groups; several, separated by commas, "
            "count together.",
        ),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(
            "--between",
            help="The groups that are compared, separated by commas, where --by has more; two with --category, the "
            "first less the second.",
            metavar="ONE,OTHER",
        ),
    ] = None,
    value: Annotated[
        float | None, typer.Option("--value", help="The share that a proportion is compared with.", min=0, max=1)
    ] = None,
    alternative: Annotated[
        Alternative,
        typer.Option(
            "--alternative", help="For a proportion, or one category of two groups (the first less the second)."
        ),
    ] = Alternative.two_sided,
    missing: MissingGroupsOption = MissingGroups.refuse,
    sample: SampleOptions = NO_SAMPLE,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Repeatable shuffles and draws.")] = None,
    json: JsonOption = False,
) -> None:
    """Test a hypothesis from masked reports.

    \b
    independence  two files, row by row the same people: are the two variables independent?
    fit           one file: can these reports come from their design, whatever the population?
    groups        two files or more, one per group, or one file with --by: do the groups have the same proportions?
                  with --category: by how much does its share differ between two groups, and in the direction of
                  --alternative?
    proportion    one file: is the share of --category that of --value?

    Groups, weights, strata and clusters are columns that maskwell mask --keep left beside the reports.

    \b
    Examples:
      maskwell test independence gender.parquet income.parquet
      maskwell test independence gender.parquet income.parquet --method pearson
      maskwell test independence gender.parquet income.parquet --permutations 999
      maskwell test fit reports.parquet
      maskwell test groups north.parquet south.parquet
      maskwell test groups reports.parquet --by region --weights weight --strata stratum --clusters psu
      maskwell test groups reports.parquet --by region --between north,south --category yes
      maskwell test groups reports.parquet --by region --between north,south,west --missing outside
      maskwell test proportion reports.parquet --category yes --value 0.1 --alternative greater
    """
    from maskwell.reports import is_simulated

    if question is Question.homogeneity:
        raise CommandError("whether groups have the same proportions is tested by maskwell test groups.")
    least, most = _FILES[question]
    if question is Question.groups and by is None:
        least = 2
    if not least <= len(reports) <= most:
        raise CommandError(f"test {question.value} takes {_WANTED[question]}; got {len(reports)}.")
    _refuse_contradictions(question, reports, by, category, value, alternative, sample)
    asked = Asked(
        method.value if method else None,
        permutations,
        by,
        _compared(between, by, category),
        category,
        value,
        alternative.value,
        missing.value,
        seed,
    )
    with progress("testing"):
        tested = run_test(question.value, reports, column, asked, sample)
    result, difference, drawn = tested.result, tested.difference, tested.randomness
    if json:
        about = {"question": question.value, "files": [path.name for path in reports], "randomness": sorted(drawn)}
        figures = {**about, **result.to_dict(), "advice": said(result.advice, options_of(hypothesis))}
        if difference is not None:
            figures["difference"] = difference.to_dict()
        if tested.sample is not None:
            figures["sample"] = tested.sample.to_dict()
        emit_json(figures)
        return
    if tested.sample is not None:
        typer.echo(f"sample of {tested.sample.described}")
    if difference is not None:
        low, high = difference.interval()
        typer.echo(
            f"{visible(difference.what)}: {difference.value:.4f}, standard error {difference.standard_error:.4f}, "
            f"95 % limits {low:.4f} to {high:.4f}"
        )
    typer.echo(said_lines(result.lines(), options_of(hypothesis)))
    typer.echo(_verdict(question, result.p_value, category is not None and alternative is not Alternative.two_sided))
    if any(is_simulated(way) for way in drawn):
        typer.echo("Some reports were drawn from a seed: this is a simulation, not a survey.")


def _refuse_contradictions(
    question: Question,
    reports: list[Path],
    by: str | None,
    category: str | None,
    value: float | None,
    alternative: Alternative,
    sample: SampleOptions,
) -> None:
    if by is not None and (question is not Question.groups or len(reports) > 1):
        raise CommandError("--by divides the reports of one file into groups: test groups reports.parquet --by COLUMN.")
    if (question is Question.proportion) != (value is not None):
        raise CommandError("--value goes with test proportion, which needs it: the share to compare with.")
    if question is Question.proportion and category is None:
        raise CommandError("test proportion needs --category: whose share it is.")
    directed = question is Question.proportion or (question is Question.groups and category is not None)
    if not directed and alternative is not Alternative.two_sided:
        raise CommandError("--alternative is for test proportion, and for test groups with --category.")
    if category is not None and not directed:
        raise CommandError("--category is for test proportion and test groups.")
    if category is not None and question is Question.groups and by is None:
        raise CommandError("--category compares two groups of one file: name them with --by.")
    if sample.given and len(reports) > 1:
        raise CommandError("a sample is described by columns beside the reports of one file; give one file.")


def _compared(between: str | None, by: str | None, category: str | None) -> list[str] | None:
    """The groups that are compared."""
    if between is None:
        return None
    if by is None:
        raise CommandError("--between chooses some of the groups of --by; name their column with it.")
    names = names_from(between)
    if len(names) < 2 or (category is not None and len(names) > 2):
        many = "two groups" if category is not None else "two groups or more"
        raise CommandError(f"--between takes {many}, separated by commas; got {between!r}.")
    return names


def _verdict(question: Question, p_value: float, directed: bool) -> str:
    surprising = p_value < 0.05
    verdict = {
        Question.independence: ("The variables are associated", "No association shows"),
        Question.fit: ("The reports do not fit the design (was it followed?)", "The reports fit the design"),
        Question.groups: (
            ("The groups differ in this direction", "No difference of the groups in this direction shows")
            if directed
            else ("The groups differ", "No difference between the groups shows")
        ),
        Question.proportion: ("The share differs from that value", "The share may be that value"),
    }[question][0 if surprising else 1]
    return f"{verdict} (at a level of 5 %)."
