"""What a web page holds: tables, charts with their data, and anything that could reach for a network."""

import json
import re
from html.parser import HTMLParser
from typing import Any


def rows_of(node: Any) -> list[dict[str, Any]]:
    """Every row of data in a chart's specification, in reading order, layers counted once."""
    if isinstance(node, dict):
        if "datasets" in node:
            return [row for rows in node["datasets"].values() for row in rows]
        if "values" in node and isinstance(node["values"], list):
            return list(node["values"])
        return [row for value in node.values() for row in rows_of(value)]
    if isinstance(node, list):
        return [row for item in node for row in rows_of(item)]
    return []


class PageReader(HTMLParser):
    """The tables, embedded charts, and everything in a page that could reach for a network."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.charts: list[dict[str, Any]] = []
        self.scripts: list[str] = []
        self.references: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self._tag = ""
        self._kind: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag, self._kind = tag, dict(attrs).get("type")
        self.references += [
            (tag, value) for name, value in attrs if name in {"src", "href", "srcset", "action", "data"}
        ]
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in {"td", "th"}:
            self.rows[-1][-1] += data
        if self._tag == "script":
            if self._kind == "application/json":
                self.charts.append(json.loads(data))
            else:
                self.scripts.append(data)
        elif self._tag != "style":
            self.words.append(data)


def assert_needs_no_network(text: str) -> None:
    """Nothing is loaded, nothing may be, and outside the drawing script no address is even named."""
    reader = PageReader(text)
    assert reader.references == []
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text.split("<script>")[0]
    bundle = max(reader.scripts, key=len, default="")
    rest = text.replace(bundle, "") if bundle else text
    assert not re.search(r"(?i)https?:|//[a-z0-9-]+\.[a-z]", rest)
