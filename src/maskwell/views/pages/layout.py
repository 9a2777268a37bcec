"""One self-contained HTML page: text, tables and charts in a single file that needs no network.

Charts travel as specifications with one script that draws them, taken from the installed vl-convert. The page's own
content policy forbids every connection. Text follows the reader's colours, charts adapt to a phone, and print is black
on white.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from maskwell.plain_text import visible, visible_html
from maskwell.views.charts import style

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; "
    # Vega compiles the expressions of a chart.
    "script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
)


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: Literal["plain", "lead", "note"] = "plain"

    def html(self) -> str:
        return f'<p class="{self.kind}">{visible_html(self.text)}</p>'


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
    """A table; ``align`` has one of ``<``, ``>`` and ``=`` (text that wraps) per column; the first names the row."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str
    folded: bool = False

    def html(self) -> str:
        classes = [{"<": "left", ">": "right", "=": "left wrap"}[side] for side in self.align]

        def line(cells: Sequence[str], tag: str, scope: str) -> str:
            made = []
            for j, (cell, name) in enumerate(zip(cells, classes, strict=True)):
                kind = f'th scope="{scope}"' if tag == "th" or j == 0 else "td"
                made.append(f'<{kind} class="{name}">{visible_html(cell)}</{kind[:2]}>')
            return f"<tr>{''.join(made)}</tr>"

        body = "".join(line(row, "td", "row") for row in self.rows)
        table = f"<table><thead>{line(self.header, 'th', 'col')}</thead><tbody>{body}</tbody></table>"
        if self.folded:
            return (
                f'<details><summary>{visible_html(self.caption)}</summary><div class="scroll">{table}</div></details>'
            )
        return f'<div class="caption">{visible_html(self.caption)}</div><div class="scroll">{table}</div>'


@dataclass(frozen=True)
class Figure:
    """An Altair chart; its title and subtitle become text of the page, which wraps and can be read aloud."""

    chart: Any

    def html(self) -> str:
        spec = self.chart.to_dict()
        title = spec.pop("title", "")
        parts = title if isinstance(title, dict) else {"text": title}
        lines = parts.get("subtitle", [])
        under = "<br>".join(visible_html(line) for line in ([lines] if isinstance(lines, str) else lines))
        heading = f"<b>{visible_html(str(parts['text']))}</b>" if parts["text"] else ""
        spec.pop("$schema", None)
        spec["config"] = style.config("currentColor")
        spec["background"] = "transparent"
        # Text marks that name the ink of paper take the ink of the page.
        text = json.dumps(_printed(spec), ensure_ascii=False).replace(f'"{style.INK}"', '"currentColor"')
        return (
            f'<figure><figcaption>{heading}<span>{under}</span></figcaption><div class="chart"></div>'
            f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script></figure>'
        )


def _printed(spec: Any) -> Any:
    """A chart's specification with every text in it made visible; its own line breaks stay."""
    if isinstance(spec, dict):
        return {_printed(key): _printed(value) for key, value in spec.items()}
    if isinstance(spec, list):
        return [_printed(item) for item in spec]
    return "\n".join(map(visible, spec.split("\n"))) if isinstance(spec, str) else spec


Block = Text | Facts | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading, which may be empty, and what stands under it."""

    heading: str
    blocks: Sequence[Block] = field(default_factory=tuple)

    def html(self) -> str:
        heading = f"<h2>{visible_html(self.heading)}</h2>" if self.heading else ""
        return f"<section>{heading}{''.join(block.html() for block in self.blocks)}</section>"


def page(title: str, sections: Sequence[Section], *, lead: str = "", footer: str = "") -> str:
    """The whole page as text. A lone chart names itself: without ``lead`` the title is not repeated on the page."""
    header = f"<header><h1>{visible_html(title)}</h1><p class='lead'>{visible_html(lead)}</p></header>" if lead else ""
    body = "".join(section.html() for section in sections)
    ending = f"<footer>{visible_html(footer)}</footer>" if footer else ""
    has_charts = any(isinstance(block, Figure) for section in sections for block in section.blocks)
    scripts = f"<script>{_bundle()}</script>\n<script>{_asset('page.js')}</script>" if has_charts else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{visible_html(title)}</title>\n<style>{_asset('page.css')}</style>\n</head>\n"
        f"<body>\n<main>{header}{body}{ending}</main>\n"
        "<noscript><p>The charts need JavaScript; every number is in the tables.</p></noscript>\n"
        f"{scripts}\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("maskwell.views.pages").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, of the version that the installed Altair writes for."""
    import vl_convert

    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=style.vega_lite_version()))
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
