"""What the commands that judge designs share: the page they write, and the beliefs they start from."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.output import check_output

HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", help="Write a report with pictures to this file; it needs no network.", metavar="FILE"),
]
PriorOption = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="What a reader holds likely beforehand: one weight per category, in their order; equal if not given.",
        metavar="P,P,...",
    ),
]


def prior_from(text: str | None) -> list[int | float | Fraction] | None:
    """The weights that ``--prior`` lists."""
    return None if text is None else [number(part.strip(), "--prior") for part in text.split(",")]


def check_page(html: Path | None, inputs: list[str]) -> None:
    """Before any work: the page needs a folder and must not replace an input."""
    if html is not None:
        check_output(html, inputs)
