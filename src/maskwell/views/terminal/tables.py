"""Designs and estimates as tables for a terminal: privacy beside precision.

Labels are shown as they are, never read as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol

from maskwell.designs import Design
from maskwell.plain_text import visible
from maskwell.planning import why_taken
from maskwell.results.numbers import figure, limit
from maskwell.tables.labels import shown
from maskwell.views.wording import privacy_words

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH_OF_A_PIPE = 100
_MOST_ROWS = 200  # as many as a picture of an estimate has


class Foreseen(Protocol):
    """The precision to expect for a category that this share of people hold."""

    @property
    def share(self) -> float: ...
    @property
    def standard_error(self) -> float: ...
    @property
    def half_width(self) -> float: ...
    @property
    def direct_half_width(self) -> float: ...


def show(view: RenderableType) -> None:
    """Print to standard output, as wide as the terminal, or 100 columns where there is none."""
    import sys

    from rich.console import Console
    from rich.text import Text

    class PlainConsole(Console):
        """Text is shown as it is, whoever wrote it: no markup, no control characters, no marks of direction."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text), **options)

    width = None if sys.stdout.isatty() else _WIDTH_OF_A_PIPE
    PlainConsole(width=width, markup=False, highlight=False, emoji=False).print(view)


def precision_words(worth: float) -> str:
    """What masking costs, in one sentence."""
    if not worth:
        return "single categories cannot be estimated, only sums that the reports can tell"
    return (
        f"a masked report is worth {figure(worth)} of a direct answer (categories equally common): "
        f"ask {figure(1 / worth)} times as many people for the same"
    )


def design_view(design: Design, worth: float, n: int | None, foreseen: Sequence[Foreseen]) -> RenderableType:
    """A planned design: privacy beside precision, and with n what to expect of it."""
    from rich.console import Group

    privacy = [
        ("epsilon", limit(design.epsilon)),
        ("parity", limit(design.exact_parity())),
        ("demand", _demand(design)),
    ]
    precision = [("added variance", figure(design.added_variance)), ("worth of a report", figure(worth))]
    if n is not None:
        precision.append((f"direct answers that {n:,} equal", f"{worth * n:,.0f}"))
    parts: list[RenderableType] = [
        *_heading(design),
        _side_by_side(("privacy", privacy), ("precision", precision)),
        f"Privacy: {privacy_words(design)}.",
        f"Precision: {precision_words(worth)}.",
    ]
    if reason := why_taken(design):
        parts.append(f"Among all designs: {reason}")
    if foreseen:
        parts += ["", _foreseen_table(n or 0, foreseen)]
    return Group(*parts)


def designs_view(listed: Iterable[dict[str, Any]]) -> RenderableType:
    """The named designs, one block each."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = []
    for entry in listed:
        parameters = f"  ({', '.join(entry['parameters'])})" if entry["parameters"] else ""
        parts += [Text.assemble((entry["name"], "bold"), parameters), Padding(entry["summary"], (0, 0, 0, 2))]
        parts += [Padding(Text(reference, "dim"), (0, 0, 0, 4)) for reference in entry["references"]]
    return Group(*parts)


def _heading(design: Design) -> list[str]:
    return [
        f"{design.title} design for {design.k:,} categories: {shown(design.categories)}",
        f"fingerprint {design.fingerprint[:12]}",
    ]


def _table(*titles: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for position, title in enumerate(titles):
        table.add_column(title, justify="left" if position == 0 else "right")
    return table


def _side_by_side(left: tuple[str, list[tuple[str, str]]], right: tuple[str, list[tuple[str, str]]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in (left[0], "", right[0], ""):
        table.add_column(title)
    for mine, theirs in zip_longest(left[1], right[1], fillvalue=("", "")):
        table.add_row(*mine, *theirs)
    return table


def _foreseen_table(n: int, foreseen: Sequence[Foreseen]) -> Any:
    table = _table(f"n = {n:,}, category held by", "std.error", "95 % interval", "if asked directly")
    for row in foreseen:
        cells = f"{row.standard_error:.4f}", f"± {row.half_width:.4f}", f"± {row.direct_half_width:.4f}"
        table.add_row(f"{100 * row.share:g} %", *cells)
    return table


def _demand(design: Design) -> str:
    return design.demand.describe() if design.demand else "none stated"
