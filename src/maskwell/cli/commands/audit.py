"""``maskwell audit``: what privacy a design really gives."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.common_options import PlotOption, check_plot
from maskwell.cli.shared.design_options import (
    CategoriesFromOption,
    CategoriesOption,
    CountOption,
    NameOption,
    SetOption,
    declared_categories,
    load_design,
    named_design,
)
from maskwell.cli.shared.output import (
    CommandError,
    JsonOption,
    check_output,
    emit_json,
    named,
    progress,
    save,
    say_written,
)
from maskwell.cli.shared.pages import HtmlOption, PriorOption, check_page, prior_from
from maskwell.designs import Design
from maskwell.designs.storage import about
from maskwell.input_files import read_whole
from maskwell.strict_json import strict_value

_CODEBOOKS = (".md", ".json")
_EXAMPLE = '{"accuse": {"yes": 1}, "pass by": {"no": 2}}'


class Audience(StrEnum):
    """Whom ``--explain`` speaks to."""

    RESPONDENT = "respondent"
    INTERVIEWER = "interviewer"
    METHODOLOGIST = "methodologist"


def audit(
    file: Annotated[str | None, typer.Argument(help="A design file, or - for a pipe.")] = None,
    name: NameOption = None,
    settings: SetOption = None,
    categories: CategoriesOption = None,
    categories_from: CategoriesFromOption = None,
    k: CountOption = None,
    prior: PriorOption = None,
    explain: Annotated[
        Audience | None, typer.Option("--explain", help="Print the design in plain words for this reader instead.")
    ] = None,
    codebook: Annotated[
        Path | None,
        typer.Option("--codebook", help="Write a codebook of the masked column: .md or .json.", metavar="FILE"),
    ] = None,
    gain: Annotated[
        Path | None,
        typer.Option(
            "--gain",
            help='Also say what a report is worth to a reader: a JSON file of gains, {"guess": {"category": gain}}.',
            metavar="FILE",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds",
            help="Also say what so many rounds about one answer tell: by a design of two layers, or by a report that "
            "is kept and sent again.",
            metavar="N",
        ),
    ] = None,
    values: Annotated[
        int, typer.Option("--values", help="How many different answers a person gives in --rounds.", min=1, metavar="D")
    ] = 1,
    plot: PlotOption = None,
    html: HtmlOption = None,
    json: JsonOption = False,
) -> None:
    """Say what privacy a design really gives.

    All figures come from the exact integers that its sampler uses; warnings say what a figure alone would hide.

    \b
    Examples:
      maskwell audit design.json --html report.html
      maskwell audit design.json --explain respondent
      maskwell audit design.json --rounds 365 --values 3
      maskwell audit design.json --gain aims.json --plot gains.svg
      maskwell audit --design rappor --set epsilon=1 --k 5
      maskwell audit --design from_matrix --set 'P=[["2/3","1/3"],["1/3","2/3"]]' --json
    """
    from maskwell.auditing import audit as audit_design
    from maskwell.rounds import privacy as rounds_privacy

    if (file is None) == (name is None):
        raise CommandError("name a design file, or a design with --design NAME; one of the two.")
    if file is not None:
        if settings or any(given is not None for given in (categories, categories_from, k)):
            raise CommandError("a design file is complete: --set, --categories and --k belong to --design NAME.")
        design = load_design(file)
    else:
        assert name is not None
        design = named_design(name, declared_categories(categories, k, categories_from), settings)
    check_page(html, [file] if file else [])
    if explain is not None and gain is not None:
        raise CommandError("--explain prints the design in plain words instead of figures; --gain goes without it.")
    gains = _gains(gain, plot, design, [str(path) for path in (file, gain) if path])
    _write_codebook(codebook, design, file)
    if explain is not None:
        _explain(design, explain, named(codebook), json)
        return
    if values != 1 and rounds is None:
        raise CommandError("--values belongs to --rounds: how many different answers a person gives in them.")
    repeated = None if rounds is None else rounds_privacy(design, rounds, values)
    with progress("auditing"):
        result = audit_design(design, prior_from(prior))
        figures = result.to_dict()  # the costly ones are computed when they are asked for
        leakage = None if gains is None else result.gain_leakage(gains)
    if plot is not None and leakage is not None:
        from maskwell.views.saving import save_chart

        save_chart(leakage.plot(), plot)
    if html is not None:
        from maskwell.views.pages.audit import audit_page

        save(html, audit_page(result))
    if json:
        more = {} if leakage is None else {"gain_leakage": leakage.to_dict()}
        if repeated is not None:
            more["rounds"] = repeated.to_dict()
        emit_json({**figures, **more, "output": named(codebook, html, plot)})
    else:
        from maskwell.views.terminal.audit import audit_view
        from maskwell.views.terminal.tables import show

        show(audit_view(result))
        if leakage is not None:
            typer.echo(f"\n{leakage.summary()}")
        if repeated is not None:
            typer.echo(f"\n{repeated.summary()}")
        say_written(named(codebook, html, plot))


def _gains(path: Path | None, plot: Path | None, design: Design, inputs: list[str]) -> dict[str, Any] | None:
    """What each guess gains for each category, by the labels of the design; an error if the options do not fit."""
    if plot is not None and path is None:
        raise CommandError("--plot draws what a report is worth to a reader; give --gain as well.")
    check_plot(plot, inputs)
    if path is None:
        return None
    text = read_whole(path, CommandError)
    try:
        found = strict_value(text)
    except (ValueError, RecursionError):
        raise CommandError(f"--gain {path.name!r} is not JSON such as {_EXAMPLE}.") from None
    if not isinstance(found, dict) or not all(isinstance(row, dict) for row in found.values()):
        raise CommandError(f"--gain must hold what each guess gains by category: {_EXAMPLE}.")
    labels = {str(category): category for category in design.categories}
    return {guess: {labels.get(name, name): value for name, value in row.items()} for guess, row in found.items()}


def _write_codebook(path: Path | None, design: Design, source: str | None) -> None:
    """Write it if it was asked for."""
    from maskwell.words import codebook

    if path is None:
        return
    if path.suffix.lower() not in _CODEBOOKS:
        raise CommandError(f"a codebook is written to {' or '.join(_CODEBOOKS)}; got {path.name!r}.")
    check_output(path, [source] if source else [])
    book = codebook(design)
    save(path, (book.to_json() if path.suffix.lower() == ".json" else book.to_markdown()) + "\n")


def _explain(design: Design, audience: Audience, written: list[str], json: bool) -> None:
    from maskwell.words import explain

    sentences = [sentence.text for sentence in explain(design, audience.value).sentences]
    if json:
        emit_json({"design": about(design), "audience": audience.value, "sentences": sentences, "output": written})
    else:
        typer.echo("\n".join(sentences).encode())
        say_written(written)
