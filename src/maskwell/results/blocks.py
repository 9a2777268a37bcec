"""The parts of which a result is told: paragraphs, facts and tables, each as lines of text and as HTML.

Pages, notebooks and summaries are made of the same parts, so that all of them say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from maskwell.plain_text import visible, visible_html

# A word of more letters breaks where the line ends, and does not push other columns out of sight.
_LONG = 24
_ALIGN = {"<": "left", ">": "right", "=": "left wrap"}


class Block(Protocol):
    """A part of a page."""

    def html(self) -> str:
        """As an element of a page, with everything in it escaped."""


class Part(Block, Protocol):
    """A part that can stand in a summary, too."""

    def lines(self) -> list[str]:
        """As lines of text."""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: Literal["plain", "lead", "note"] = "plain"

    def html(self) -> str:
        return f'<p class="{self.kind}">{visible_html(self.text)}</p>'

    def lines(self) -> list[str]:
        return [visible(self.text)]


@dataclass(frozen=True)
class Facts:
    """A few numbers that stand out, each with the words that say what it is."""

    items: Sequence[tuple[str, str]]

    def html(self) -> str:
        cells = "".join(
            f"<div><b>{visible_html(value)}</b><span>{visible_html(words)}</span></div>" for value, words in self.items
        )
        return f'<div class="facts">{cells}</div>'


@dataclass(frozen=True)
class Table:
    """A table; ``align`` has one of ``<``, ``>`` and ``=`` (text that wraps) per column; the first names the row.

    >>> print(*Table("", ["category", "share"], [["yes", "9.5 %"], ["no", "90.5 %"]], "<>").lines(), sep=chr(10))
    category   share
    yes        9.5 %
    no        90.5 %
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    folded: bool = False

    def html(self) -> str:
        classes = [_ALIGN[side] for side in self.align]

        def line(cells: Sequence[str], tag: str, scope: str) -> str:
            made = []
            for j, (cell, name) in enumerate(zip(cells, classes, strict=True)):
                # A heading without words would be read aloud as one.
                kind = f'th scope="{scope}"' if (tag == "th" and cell) or (tag == "td" and j == 0) else "td"
                long = " long" if any(len(word) > _LONG for word in cell.split()) else ""
                made.append(f'<{kind} class="{name}{long}">{visible_html(cell)}</{kind[:2]}>')
            return f"<tr>{''.join(made)}</tr>"

        head = f"<thead>{line(self.header, 'th', 'col')}</thead>" if any(self.header) else ""
        body = "".join(line(row, "td", "row") for row in self.rows)
        caption = visible_html(self.caption)
        # Where a table is wider than the screen it scrolls by itself, by keyboard too.
        around = f'<div class="scroll" tabindex="0" role="group" aria-label="{caption or "table"}">'
        table = f"{around}<table>{head}<tbody>{body}</tbody></table></div>"
        if self.folded:
            return f"<details><summary>{caption}</summary>{table}</details>"
        return f'<div class="caption">{caption}</div>{table}' if caption else table

    def lines(self) -> list[str]:
        shown = [[visible(cell) for cell in row] for row in ([self.header] if any(self.header) else []) + [*self.rows]]
        widths = [max((len(row[j]) for row in shown), default=0) for j in range(len(self.align))]
        sides = [">" if side == ">" else "<" for side in self.align]
        body = [
            "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
            for row in shown
        ]
        return [*([visible(self.caption)] if self.caption else []), *body]
