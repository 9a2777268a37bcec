"""The smallest spreadsheet file that form builders read: sheets of text cells, the same bytes for the same cells."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

Rows = Sequence[Mapping[str, str]]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
# The first moment that a zip file can state: no file tells when it was made.
_MADE = (1980, 1, 1, 0, 0, 0)


def workbook(sheets: Mapping[str, Rows]) -> bytes:
    """A workbook with a sheet for each name; a row is its cells by the name of their column."""
    files = {
        "[Content_Types].xml": _content_types(len(sheets)),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _book(list(sheets)),
        "xl/_rels/workbook.xml.rels": _relations(
            [("worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(sheets) + 1)]
        ),
        **{f"xl/worksheets/sheet{i}.xml": _sheet(rows) for i, rows in enumerate(sheets.values(), start=1)},
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, _MADE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, _HEAD + text)
    return made.getvalue()


def _content_types(count: int) -> str:
    sheets = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPE}.worksheet+xml"/>'
        for i in range(1, count + 1)
    )
    return (
        f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{sheets}</Types>'
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{_LINKS}/{kind}" Target="{target}"/>'
        for i, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>'


def _book(names: Sequence[str]) -> str:
    sheets = "".join(
        f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(names, start=1)
    )
    return f'<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{sheets}</sheets></workbook>'


def _sheet(rows: Rows) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [dict(zip(columns, columns, strict=True)), *rows]
    data = "".join(
        f'<row r="{i}">{"".join(_cell(j, i, line.get(name, "")) for j, name in enumerate(columns))}</row>'
        for i, line in enumerate(lines, start=1)
    )
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData></worksheet>'


def _cell(column: int, row: int, text: str) -> str:
    """A cell of text, which is never taken for a formula or a number; an empty one is left out."""
    if not text:
        return ""
    place, letters = column, ""
    while place >= 0:
        place, letters = place // 26 - 1, chr(ord("A") + place % 26) + letters
    return f'<c r="{letters}{row}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
