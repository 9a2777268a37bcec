"""``maskwell questionnaire``: a form and cards for respondents who mask their answers by hand."""

from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.design_options import load_design
from maskwell.cli.shared.output import CommandError, JsonOption, check_output, emit_json, say_written
from maskwell.plain_text import visible


def questionnaire(
    design: Annotated[str, typer.Argument(help="A design file, or - for standard input.", metavar="DESIGN")],
    text: Annotated[
        list[str],
        typer.Option(
            "--question",
            metavar="[LANGUAGE=]QUESTION",
            help="The question; repeat for other languages, as in de=Haben …?",
        ),
    ],
    name: Annotated[str, typer.Option("--name", help="What the answer is called in the data.")] = "answer",
    device: Annotated[
        str | None, typer.Option("--device", help="What the respondent draws with: cards, spinner or die.")
    ] = None,
    innocuous: Annotated[
        list[str] | None,
        typer.Option(
            "--innocuous", metavar="[LANGUAGE=]QUESTION", help="The harmless question, if the design has one."
        ),
    ] = None,
    form: Annotated[
        Path | None, typer.Option("--form", metavar="FILE", help="Write an XLSForm (.xlsx) for ODK, KoBoToolbox …")
    ] = None,
    cards: Annotated[
        Path | None, typer.Option("--cards", metavar="FILE", help="Write cards and devices to print (.html).")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="The language of the cards; the first one unless given.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="The title of the form; the question unless given.")
    ] = None,
    carried_out: Annotated[
        Path | None,
        typer.Option("--carried-out", metavar="FILE", help="Write the design that is carried out, to estimate with."),
    ] = None,
    nearest: Annotated[
        bool,
        typer.Option(
            "--nearest",
            help="Take the nearest design that the device gives exactly and that protects no less; estimates need it, "
            "so that it is written with --carried-out.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Make a form and cards for respondents who mask their answer with a thing in their own hand.

    \b
    Examples:
      maskwell plan --design warner --set truth_prob=0.7 -o spinner.json
      maskwell questionnaire spinner.json --question "Did you ever …?" --form form.xlsx --cards cards.html
      maskwell questionnaire spinner.json --question "Did you …?" --question "de=Haben …?" --cards k.html --language de
    """
    from maskwell.questionnaires import ask, page, realisable, xlsform

    outputs = [path for path in (form, cards, carried_out) if path is not None]
    if not outputs and not json:
        raise CommandError("name what to write: --form FILE, --cards FILE or --carried-out FILE.")
    for output in outputs:
        check_output(output, [design])
    for named, suffix in ((form, ".xlsx"), (cards, ".html")):
        if named is not None and named.suffix.lower() != suffix:
            raise CommandError(f"{named.name!r} must end in {suffix}.")
    if nearest and carried_out is None:
        raise CommandError(
            "--nearest carries out another design than the one that was planned, and estimates need that one: name a "
            "file for it with --carried-out."
        )
    asked_for = planned = load_design(design)
    if nearest:
        asked_for = realisable(asked_for, device)
    question = ask(
        asked_for,
        _by_language(text),
        name=name,
        device=device,
        innocuous=_by_language(innocuous) if innocuous else None,
    )
    contents: list[tuple[Path, bytes]] = []
    if form is not None:
        heading = title or next(iter(question.wording.values()))
        contents.append((form, xlsform(question, title=heading)))
    if cards is not None:
        contents.append((cards, page(question, language).encode()))
    if carried_out is not None:
        contents.append((carried_out, question.design.to_json().encode()))
    _write(contents)
    figures: dict[str, Any] = {**question.to_dict(), "output": [str(path) for path, _ in contents]}
    if json:
        emit_json(figures)
    else:
        typer.echo(question.summary())
        say_written([str(path) for path, _ in contents])
        if carried_out is not None and question.design != planned:
            typer.echo(
                "the device carries out another design than the one that was planned: read and estimate the answers "
                f"with {visible(carried_out.name)}, not with {visible(design)}"
            )


def _by_language(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for words in given:
        tag, equals, rest = words.partition("=")
        language, text = (tag, rest) if equals and _is_tag(tag) else ("en", words)
        if language in found:
            raise CommandError(f"a question is given twice in the language {language!r}.")
        found[language] = text
    return found


def _is_tag(text: str) -> bool:
    first, *rest = text.split("-")
    return 2 <= len(first) <= 3 and first.isalpha() and all(part.isalnum() for part in rest)


def _write(contents: list[tuple[Path, bytes]]) -> None:
    from maskwell.whole_files import complete_files

    try:
        with complete_files([path for path, _ in contents]) as files:
            for file, (_, text) in zip(files, contents, strict=True):
                file.write(text)
    except OSError as error:
        raise CommandError(f"{error.filename!r} could not be written: {error.strerror or error}.") from None
