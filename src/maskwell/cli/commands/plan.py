"""``maskwell plan``: from a privacy demand to a design."""

import json as jsonlib
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.design_options import (
    CategoriesFromOption,
    CategoriesOption,
    CountOption,
    NameOption,
    SetOption,
    declared_categories,
    demand_from,
    named_design,
    number,
)
from maskwell.cli.shared.file_options import DelimiterOption, EncodingOption, NaOption, data_source
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
from maskwell.cli.shared.pages import HtmlOption, check_page
from maskwell.designs import Design
from maskwell.results.numbers import limit

_MOST_FOUND = 10_000


def plan(
    categories: CategoriesOption = None,
    categories_from: CategoriesFromOption = None,
    k: CountOption = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="Take the labels that occur in a column of this data file (see the note above)."),
    ] = None,
    column: Annotated[str | None, typer.Option("--column", "-c", help="The column, for --from.")] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", help="Local differential privacy: parity at most e^epsilon.", metavar="NUMBER"),
    ] = None,
    gamma: Annotated[str | None, typer.Option("--gamma", help="Parity at most gamma.", metavar="NUMBER")] = None,
    beta: Annotated[
        str | None,
        typer.Option("--beta", help="No belief grows or shrinks by more than this factor.", metavar="NUMBER"),
    ] = None,
    rho1: Annotated[str | None, typer.Option("--rho1", help="No belief below rho1 ...", metavar="NUMBER")] = None,
    rho2: Annotated[
        str | None, typer.Option("--rho2", help="... rises above rho2, nor the reverse.", metavar="NUMBER")
    ] = None,
    diversity: Annotated[
        str | None,
        typer.Option("--diversity", help="Each report leaves at least L answers equally plausible.", metavar="L"),
    ] = None,
    phi: Annotated[
        str | None,
        typer.Option("--phi", help="Average security below 2; a flawed notion, kept for comparison.", metavar="NUMBER"),
    ] = None,
    longitudinal: Annotated[
        str | None,
        typer.Option("--longitudinal", help="For many rounds: epsilon of all of them together ...", metavar="NUMBER"),
    ] = None,
    per_round: Annotated[
        str | None, typer.Option("--per-round", help="... and epsilon of each, not above it.", metavar="NUMBER")
    ] = None,
    design: NameOption = None,
    settings: SetOption = None,
    n: Annotated[
        int | None, typer.Option("-n", help="Respondents: print the precision to expect.", min=1, metavar="N")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="Write the design to this file, or with - to standard output.")
    ] = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    na: NaOption = None,
    html: HtmlOption = None,
    json: JsonOption = False,
) -> None:
    """Choose the design that answers a privacy demand.

    It is the one that loses the least precision, or nearly so where its reports would be long. State the categories
    (--categories, --categories-from, --k or --from) and one demand; or name a design and its parameters. Numbers may be
    fractions such as 1/3. The output of --json is a design file too, with the figures added.

    Note on --from: which labels exist is itself a fact about the data. Declare the categories that the questionnaire
    offers; take them from the data only if it may be known which of them occur.

    \b
    Examples:
      maskwell plan --categories "yes,no,unsure" --epsilon 1 -n 2000 -o design.json --html plan.html
      maskwell plan --k 12 --rho1 0.1 --rho2 0.5
      maskwell plan --categories-from hosts.txt --epsilon 1 -o hosts.json
      maskwell plan --from persons.csv --column race --diversity 3
      maskwell plan --categories "wifi,cable,mobile" --longitudinal 2 --per-round 1 -o network.json
      maskwell plan --design warner --set truth_prob=3/4
      maskwell plan --k 5 --design rappor --epsilon 1 -o - | maskwell audit -
    """
    check_page(html, [source] if source else [])
    declared = declared_categories(categories, k, categories_from)
    labels = _labels(declared, source, column, delimiter, encoding, na or ())
    demand = demand_from(
        {
            "epsilon": epsilon,
            "gamma": gamma,
            "beta": beta,
            "rho1": rho1,
            "rho2": rho2,
            "diversity": diversity,
            "phi": phi,
        }
    )
    if longitudinal is not None or per_round is not None:
        chosen = _layered(labels, longitudinal, per_round, demand, design)
    elif design is not None:
        chosen = named_design(design, labels, settings, demand)
    elif settings:
        raise CommandError("--set belongs to a named design; add --design NAME.")
    elif labels is None:
        raise CommandError("name the categories with --categories, count them with --k, or take them --from a file.")
    elif demand is None:
        raise CommandError(
            "state a demand: --epsilon, --gamma, --rho1 with --rho2, --diversity or --phi; or --design NAME."
        )
    else:
        from maskwell.planning import plan as best_design

        with progress("looking for the best design"):
            chosen = best_design(labels, demand, n=n)
    if output not in (None, STANDARD):
        check_output(Path(output), [source] if source else [])
        save(Path(output), chosen.to_json() + "\n")
    if html is not None:
        from maskwell.views.pages.plan import plan_page

        with progress("drawing the report"):
            save(html, plan_page(chosen, n))
    if json:
        emit_json({**jsonlib.loads(chosen.to_json()), **_figures(chosen, n), "output": named(output, html)})
    elif output == STANDARD:
        typer.echo((chosen.to_json() + "\n").encode(), nl=False)
    else:
        from maskwell.planning import precision
        from maskwell.views.terminal.tables import design_view, show

        show(design_view(chosen, chosen.worth, n, precision.expected(chosen, n) if n else []))
        if n is not None and (share := precision.least_found(chosen, n)) is not None:
            typer.echo(
                f"A category is found among the largest (estimate --top), certainly above zero, with an even chance if "
                f"a share of {share:.2g} holds it."
            )
        if chosen.has_permanent_layer:
            from maskwell.rounds import privacy

            kept = limit(privacy(chosen, 1, 1).limit)
            typer.echo(f"Two layers: epsilon {limit(chosen.epsilon)} in one round, {kept} in all. See mw.rounds.")
        from maskwell.auditing import audit

        for warning in audit(chosen).warnings:
            typer.echo(f"Note: {warning}")
        if source is not None:
            typer.echo("The labels were taken from the data: make sure that it may be known which of them occur.")
        say_written(named(output, html))


def _layered(labels: Any, longitudinal: str | None, per_round: str | None, demand: Any, design: str | None) -> Design:
    from maskwell.rounds import plan as plan_rounds

    if longitudinal is None or per_round is None:
        raise CommandError("--longitudinal and --per-round go together: epsilon of all rounds, and of each.")
    if demand is not None or design is not None:
        raise CommandError("--longitudinal and --per-round are the demand; leave other demands and --design out.")
    if labels is None:
        raise CommandError("name the categories with --categories, count them with --k, or take them --from a file.")
    kept, sent = number(longitudinal, "--longitudinal"), number(per_round, "--per-round")
    return plan_rounds(labels, longitudinal=kept, per_round=sent)


def _labels(
    declared: list[str] | int | None,
    source: str | None,
    column: str | None,
    delimiter: str | None,
    encoding: str | None,
    na: Sequence[str],
) -> Any:
    if (source is None) != (column is None):
        raise CommandError("--from and --column go together: a file and the column to take the labels from.")
    if source is None or column is None:
        return declared
    if declared is not None:
        raise CommandError("give --categories, --k or --from, not several.")
    from maskwell.tables.answers import distinct_labels
    from maskwell.tables.files import open_columns

    with open_columns(data_source(source), [column], delimiter=delimiter, encoding=encoding) as table:
        return distinct_labels((batch.column(0) for batch in table.batches), column, _MOST_FOUND, na)


def _figures(design: Design, n: int | None) -> dict[str, Any]:
    """Privacy and precision, for programs; null where there is no bound or no estimate."""
    from maskwell.planning import precision, why_taken

    worth = design.worth
    figures: dict[str, Any] = {
        "k": design.k,
        "epsilon": design.epsilon,
        "parity": design.parity,
        "exact_parity": design.exact_parity(),
        "added_variance": design.added_variance,
        "worth": worth,
        "reason": why_taken(design) or None,
    }
    if n is not None:
        figures["precision"] = {
            "n": n,
            "equivalent_direct_n": worth * n,
            "matching_n": n / worth if worth else math.inf,
            "found_from_share": precision.least_found(design, n),
            "shares": [asdict(row) for row in precision.expected(design, n)],
        }
    return figures
