"""The errata of the papers as a page: ``python -m tools.docs_site.errata`` writes docs/errata.md.

Its rows are those that the tests and ``maskwell reproduce`` read. Some take minutes, so that the page is kept.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from maskwell.designs.registry import REFERENCES
from maskwell.published import Comparison, Row, compare, rows

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errata.md"
_LEAD = """# Errata of the papers

What the papers print and their own definitions do not give. Each line is data of the program, which computes our value;
where a reason for the difference is known, the reason is computed too and has to give back what was printed.
`maskwell reproduce` computes all of it again, with the many numbers that agree."""


def wanted() -> list[Row]:
    """The rows in which what is printed is another value than ours."""
    return [row for row in rows() if row.kind == "correction" or row.explanation is not None or row.differs]


def page() -> str:
    """The page as Markdown, by paper and place."""
    parts = [_LEAD]
    for key, of_source in groupby(compare(wanted()), key=lambda found: found.row.key):
        parts += [f"## {key}", cell(REFERENCES[key])]
        for where, group in groupby(of_source, key=lambda found: found.row.where):
            parts += [f"### {cell(where)}", _table(list(group))]
    return "\n\n".join(parts) + "\n"


def _table(found: list[Comparison]) -> str:
    lines = ["| what | printed | ours | why |", "|---|---|---|---|"]
    for one in found:
        cells = (one.row.what, one.printed_shown, one.ours_shown, one.explanation)
        lines.append("| " + " | ".join(cell(text) for text in cells) + " |")
    return "\n".join(lines)


def cell(text: str) -> str:
    """A text in which nothing is a mark of Markdown."""
    escaped = "".join(f"\\{mark}" if mark in "|*_<>[]$`~" else mark for mark in text)
    return " ".join(escaped.split())


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
