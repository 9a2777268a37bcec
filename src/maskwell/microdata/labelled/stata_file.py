"""The layout of a .dta file, format 118: little-endian sections between tags, and a map of where each begins."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np

from maskwell.errors import DataError

# By type: NumPy's name, the first missing value (.), and the step to .a, .b, …
STORAGE = {
    "int8": ("<i1", 101, 1),
    "int16": ("<i2", 32741, 1),
    "int32": ("<i4", 2147483621, 1),
    "float": ("<f4", 0x7F000000, 0x800),
    "double": ("<f8", 0, 0),
}
_TYPES = {"int8": 65530, "int16": 65529, "int32": 65528, "float": 65527, "double": 65526}
_FORMATS = {"int8": "%8.0g", "int16": "%8.0g", "int32": "%12.0g", "float": "%9.0g", "double": "%10.0g"}
_LONG_TEXT, _LONGEST = 32768, 2045
_NAME, _FORMAT, _LABEL = 129, 57, 321
_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Column:
    """One column as it is stored: a NumPy array of numbers, or an Arrow array of text without nulls."""

    name: str
    storage: str | None
    """None for text."""
    values: Any
    width: int | None
    """The least width of a text; 0 if texts are stored apart whatever their length."""
    format: str
    label: str
    value_labels: Mapping[int, str] = field(default_factory=dict)
    label_set: str = ""


def write_file(file: BinaryIO, columns: Sequence[Column], rows: int, label: str, notes: Sequence[str]) -> None:
    """Write a file; no time is stamped, so equal data give equal files."""
    texts = {column.name: _text_layout(column) for column in columns if column.storage is None}
    sets = {column.label_set: column.value_labels for column in columns if column.value_labels}
    starts = [0]
    file.write(b"<stata_dta>" + _header(len(columns), rows, label))
    starts.append(file.tell())
    file.write(_tagged("map", bytes(8 * 14)))
    for name, content in _description(columns, texts, notes):
        starts.append(file.tell())
        file.write(_tagged(name, content))
    starts.append(file.tell())
    long_texts = _write_data(file, columns, rows, texts)
    starts.append(file.tell())
    file.write(_tagged("strls", b"".join(long_texts)))
    starts.append(file.tell())
    file.write(_tagged("value_labels", b"".join(_label_set(name, own) for name, own in sets.items())))
    starts.append(file.tell())
    file.write(b"</stata_dta>")
    starts.append(file.tell())
    file.seek(starts[1] + len("<map>"))
    file.write(struct.pack("<14Q", *starts))


def _tagged(name: str, content: bytes) -> bytes:
    return f"<{name}>".encode() + content + f"</{name}>".encode()


def _header(columns: int, rows: int, label: str) -> bytes:
    text = label.encode()
    return _tagged(
        "header",
        _tagged("release", b"118")
        + _tagged("byteorder", b"LSF")
        + _tagged("K", struct.pack("<H", columns))
        + _tagged("N", struct.pack("<Q", rows))
        + _tagged("label", struct.pack("<H", len(text)) + text)
        + _tagged("timestamp", b"\0"),
    )


def _padded(texts: Sequence[str], size: int) -> bytes:
    return b"".join(text.encode()[: size - 1].ljust(size, b"\0") for text in texts)


def _text_layout(column: Column) -> tuple[int, bool]:
    """The width of a text column in bytes, and whether its texts are stored apart."""
    import pyarrow.compute as pc

    longest = pc.max(pc.binary_length(column.values)).as_py() or 1
    width = max(longest, column.width or 1)
    return (8, True) if width > _LONGEST or column.width == 0 else (width, False)


def _description(
    columns: Sequence[Column], texts: Mapping[str, tuple[int, bool]], notes: Sequence[str]
) -> list[tuple[str, bytes]]:
    def type_of(column: Column) -> int:
        if column.storage:
            return _TYPES[column.storage]
        width, apart = texts[column.name]
        return _LONG_TEXT if apart else width

    def format_of(column: Column) -> str:
        if column.format or column.storage:
            return column.format or _FORMATS[str(column.storage)]
        width, apart = texts[column.name]
        return "%9s" if apart else f"%{max(width, 9)}s"

    kinds = [type_of(column) for column in columns]
    return [
        ("variable_types", struct.pack(f"<{len(kinds)}H", *kinds)),
        ("varnames", _padded([column.name for column in columns], _NAME)),
        ("sortlist", bytes(2 * (len(columns) + 1))),
        ("formats", _padded([format_of(column) for column in columns], _FORMAT)),
        ("value_label_names", _padded([c.label_set if c.value_labels else "" for c in columns], _NAME)),
        ("variable_labels", _padded([column.label for column in columns], _LABEL)),
        ("characteristics", _notes(notes)),
    ]


def _notes(notes: Sequence[str]) -> bytes:
    if not notes:
        return b""
    entries = [("note0", str(len(notes))), *((f"note{i}", text) for i, text in enumerate(notes, start=1))]
    out = []
    for name, text in entries:
        body = _padded(["_dta", name], _NAME) + text.encode() + b"\0"
        out.append(_tagged("ch", struct.pack("<I", len(body)) + body))
    return b"".join(out)


def _write_data(file: Any, columns: Sequence[Column], rows: int, texts: Mapping[str, tuple[int, bool]]) -> list[bytes]:
    """The records, a batch at a time; what is stored apart is returned."""
    kinds = [
        STORAGE[c.storage][0] if c.storage else "<u8" if texts[c.name][1] else f"S{texts[c.name][0]}" for c in columns
    ]
    record = np.dtype([(f"f{i}", kind) for i, kind in enumerate(kinds)])
    apart: list[bytes] = []
    file.write(b"<data>")
    for start in range(0, rows, _ROWS):
        block = np.zeros(min(_ROWS, rows - start), record)
        for i, column in enumerate(columns):
            part = column.values[start : start + len(block)]
            if column.storage is None and texts[column.name][1]:
                block[f"f{i}"] = _stored_apart(part.to_pylist(), i + 1, start, apart)
            elif column.storage is None:
                block[f"f{i}"] = part.cast("binary").to_numpy(zero_copy_only=False).astype(kinds[i])
            else:
                block[f"f{i}"] = part
        file.write(block.tobytes())
    file.write(b"</data>")
    return apart


def _stored_apart(texts: Sequence[str], variable: int, start: int, apart: list[bytes]) -> list[int]:
    """Long texts as entries of their own; the record holds the variable and the row of the entry."""
    places = []
    for row, text in enumerate(texts, start=start + 1):
        if not text:
            places.append(0)
            continue
        content = text.encode() + b"\0"
        apart.append(b"GSO" + struct.pack("<IQBI", variable, row, 130, len(content)) + content)
        places.append(variable | row << 16)
    return places


def _label_set(name: str, labels: Mapping[int, str]) -> bytes:
    codes = sorted(labels)
    texts = [labels[code].encode() + b"\0" for code in codes]
    if any(len(text) > 32_000 for text in texts):
        raise DataError(f"value label {name!r} has a label of more than 32,000 bytes, which Stata cannot hold.")
    offsets = np.cumsum([0, *map(len, texts[:-1])]).tolist() if texts else []
    n, body = len(codes), b"".join(texts)
    table = struct.pack(f"<ii{n}i{n}i", n, len(body), *offsets, *codes) + body
    return _tagged("lbl", struct.pack("<I", len(table)) + _padded([name], _NAME) + bytes(3) + table)
