"""``maskwell compare``: several designs for the same question side by side."""

import inspect
from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.shared.design_options import (
    CategoriesFromOption,
    CategoriesOption,
    CountOption,
    SetOption,
    declared_categories,
    load_design,
    named_design,
)
from maskwell.cli.shared.output import STANDARD, CommandError, JsonOption, emit_json, named, progress, save, say_written
from maskwell.cli.shared.pages import HtmlOption, PriorOption, check_page, prior_from
from maskwell.designs import DESIGNS, Design


def compare(
    designs: Annotated[
        list[str],
        typer.Argument(help="Design files, or designs by name with their parameters: minimax:epsilon=1"),
    ],
    settings: SetOption = None,
    categories: CategoriesOption = None,
    categories_from: CategoriesFromOption = None,
    k: CountOption = None,
    prior: PriorOption = None,
    html: HtmlOption = None,
    json: JsonOption = False,
) -> None:
    """Compare designs: what each gives, and which is better.

    A design is better for every analysis if the other's reports can be drawn from its own; every such verdict comes
    with a proof (in --json and in the page). A parameter given with --set goes to each named design that takes it.

    \b
    Examples:
      maskwell compare mine.json theirs.json --html report.html
      maskwell compare minimax rappor trimmed_rappor --set epsilon=1 --k 5
      maskwell compare local_diversity:l=5 minimax:epsilon=2 mine.json --k 20 --json
    """
    from maskwell.views.comparison import compare_designs

    if len(designs) < 2:
        raise CommandError("name two designs or more, as files or as names (see maskwell designs).")
    check_page(html, [text for text in designs if not _is_name(text)])
    shared, labels = list(settings or ()), declared_categories(categories, k, categories_from)
    _refuse_unused(shared, designs)
    found = {name: _design(text, labels, shared) for name, text in zip(_columns(designs), designs, strict=True)}
    with progress("comparing"):
        comparison = compare_designs(found, prior_from(prior))
        figures = comparison.to_dict()
    if html is not None:
        from maskwell.views.pages.compare import compare_page

        save(html, compare_page(comparison))
    if json:
        emit_json({**figures, "output": named(html)})
    else:
        from maskwell.views.terminal.compare import compare_view
        from maskwell.views.terminal.tables import show

        show(compare_view(comparison))
        say_written(named(html))


def _is_name(text: str) -> bool:
    """Whether a design is named rather than a file: a file of that name would have to be written ./name."""
    return text.partition(":")[0] in DESIGNS


def _design(text: str, labels: list[str] | int | None, shared: list[str]) -> Design:
    if not _is_name(text):
        if text != STANDARD and Path(text).suffix != ".json" and not Path(text).exists():
            raise CommandError(
                f"{text!r} is neither a design file nor the name of a design; known: {', '.join(DESIGNS)}."
            )
        return load_design(text)
    name, _, given = text.partition(":")
    parts = _parts(given)
    named = {setting.partition("=")[0] for setting in parts}
    taken = _taken(name)
    also = [s for s in shared if s.partition("=")[0] in taken and s.partition("=")[0] not in named]
    return named_design(name, labels, [*parts, *also])


def _parts(text: str) -> list[str]:
    """Parameters that commas separate, but not the commas within brackets or quotes.

    >>> _parts('P=[[1,0],[0,1]],categories=2')
    ['P=[[1,0],[0,1]]', 'categories=2']
    """
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        depth += 0 if quoted else (character in "[{") - (character in "]}")
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def _refuse_unused(shared: list[str], designs: list[str]) -> None:
    taken = {p for text in designs if _is_name(text) for p in _taken(text.partition(":")[0])}
    for setting in shared:
        name, equals, _ = setting.partition("=")
        if equals and name not in taken:
            raise CommandError(f"--set {name}: none of the named designs takes it.")


def _taken(name: str) -> list[str]:
    """The parameters of a named design."""
    return [
        parameter for parameter in inspect.signature(DESIGNS[name].function).parameters if parameter != "categories"
    ]


def _columns(designs: list[str]) -> list[str]:
    """A name for each design: that of the design or of the file, with parameters or a number where it comes again."""
    short = [text.partition(":")[0] if _is_name(text) else Path(text).stem for text in designs]
    names = [
        text if short.count(base) > 1 and _is_name(text) else base for base, text in zip(short, designs, strict=True)
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: i + 1].count(name)})" for i, name in enumerate(names)
    ]
