"""``maskwell audit``: what privacy a design really gives."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

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

_CODEBOOKS = (".md", ".json")


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
    html: HtmlOption = None,
    json: JsonOption = False,
) -> None:
    """Say what privacy a design really gives.

    All figures come from the exact integers that its sampler uses; warnings say what a figure alone would hide.

    \b
    Examples:
      maskwell audit design.json --html report.html
      maskwell audit design.json --explain respondent
      maskwell audit --design rappor --set epsilon=1 --k 5
      maskwell audit --design from_matrix --set 'P=[["2/3","1/3"],["1/3","2/3"]]' --json
    """
    from maskwell.auditing import audit as audit_design

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
    _write_codebook(codebook, design, file)
    if explain is not None:
        _explain(design, explain, named(codebook), json)
        return
    with progress("auditing"):
        result = audit_design(design, prior_from(prior))
        figures = result.to_dict()  # the costly ones are computed when they are asked for
    if html is not None:
        from maskwell.views.pages.audit import audit_page

        save(html, audit_page(result))
    if json:
        emit_json({**figures, "output": named(codebook, html)})
    else:
        from maskwell.views.terminal.audit import audit_view
        from maskwell.views.terminal.tables import show

        show(audit_view(result))
        say_written(named(codebook, html))


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
