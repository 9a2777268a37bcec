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
from typing import Any

from maskwell.extras import require
from maskwell.plain_text import visible, visible_html
from maskwell.results.blocks import Block, Facts, Table, Text
from maskwell.views.charts import style

__all__ = ["Beside", "Block", "Facts", "Figure", "Section", "Table", "Text", "page"]

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; "
    # Vega compiles the expressions of a chart.
    "script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
)
_DARK = f"@media screen and (prefers-color-scheme: dark) {{\n{style.dark_rules()}\n}}\n"


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


@dataclass(frozen=True)
class Beside:
    """Parts that stand beside each other where there is room, and under each other on a phone."""

    blocks: Sequence[Block]

    def html(self) -> str:
        return f'<div class="beside">{"".join(f"<div>{block.html()}</div>" for block in self.blocks)}</div>'


@dataclass(frozen=True)
class Section:
    """A heading, which may be empty, and what stands under it."""

    heading: str
    blocks: Sequence[Block] = field(default_factory=tuple)

    def html(self) -> str:
        heading = f"<h2>{visible_html(self.heading)}</h2>" if self.heading else ""
        return f"<section>{heading}{''.join(block.html() for block in self.blocks)}</section>"


def page(title: str, sections: Sequence[Section], *, lead: str = "", footer: str = "") -> str:
    """The whole page as text. A lone chart names itself: without ``lead`` the title is only read aloud."""
    header = f"<header><h1>{visible_html(title)}</h1><p class='lead'>{visible_html(lead)}</p></header>"
    if not lead:
        header = f"<h1 class='unseen'>{visible_html(title)}</h1>"
    body = "".join(section.html() for section in sections)
    ending = f"<footer>{visible_html(footer)}</footer>" if footer else ""
    scripts = f"<script>{_bundle()}</script>\n<script>{_asset('page.js')}</script>" if "<figure" in body else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{visible_html(title)}</title>\n<style>{_asset('page.css')}{_DARK}</style>\n</head>\n"
        f"<body>\n<main>{header}{body}{ending}</main>\n"
        "<noscript><p>The charts need JavaScript; every number is in the tables.</p></noscript>\n"
        f"{scripts}\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("maskwell.views.pages").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, of the version that the installed Altair writes for."""
    require("Pictures and pages with pictures need", "vl_convert")
    import vl_convert

    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=style.vega_lite_version()))
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
