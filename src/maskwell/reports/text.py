"""Reports as the cells of a CSV file.

The label where a report is one category or row; for a set k characters 0 and 1 in the order of the categories; for
several variables the packed bytes in hexadecimal. An empty cell without quotes is a missing report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import ReportError
from maskwell.reports.batch import Batch
from maskwell.sampling.samplers import Packed

if TYPE_CHECKING:
    from maskwell.designs.base import Design

B = TypeVar("B", bound=Batch)

COLUMN = "report"
_BATCH_BYTES = 1 << 24
_LEAST_BLOCK = 1 << 20


class ReportTexts:
    """The spelling of a design's reports."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._empty = design.sampler.empty(0)
        self._labels = spelled_labels(design) if self._empty.ndim == 1 else None
        self._sets = design.codec.bit_masks

    @property
    def width(self) -> int:
        """The bytes that the longest report takes."""
        if self._labels is not None:
            return max(len(text.encode()) for text in self._labels)
        return self.design.k if self._sets else 2 * int(self._empty.shape[1])

    @property
    def batch_rows(self) -> int:
        """How many reports are spelled at a time, such that memory is bounded whatever the design."""
        return max(1, _BATCH_BYTES // max(self.width, 64))

    def write(self, packed: Packed) -> Any:
        """Packed reports as an Arrow column of text."""
        import pyarrow as pa

        if self._labels is not None:
            return pa.array(self._labels, pa.string()).take(pa.array(packed))
        if self._sets:
            characters = np.unpackbits(packed, axis=1, count=self.design.k, bitorder="little") + np.uint8(ord("0"))
        else:
            nibbles = np.stack([packed >> 4, packed & 15], axis=2).reshape(len(packed), -1)
            characters = np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles]
        ends = np.arange(len(packed) + 1, dtype=np.int32) * np.int32(self.width)
        return pa.StringArray.from_buffers(len(packed), pa.py_buffer(ends), pa.py_buffer(characters.tobytes()))

    def read(self, texts: Any) -> tuple[Packed, Any]:
        """Packed reports of an Arrow column of text without nulls, and which texts are not reports."""
        import pyarrow as pa
        from pyarrow import compute

        if self._labels is not None:
            codes = compute.index_in(texts, value_set=pa.array(self._labels, pa.string()))
            return codes.fill_null(0).to_numpy(zero_copy_only=False).astype(self._empty.dtype), codes.is_null()
        wrong = compute.not_equal(compute.binary_length(texts), self.width)
        if compute.any(wrong).as_py() or not len(texts):
            return self.design.sampler.empty(len(texts)), wrong
        alphabet = b"01" if self._sets else b"0123456789abcdef"
        value = np.full(256, 255, np.uint8)
        value[np.frombuffer(alphabet, np.uint8)] = np.arange(len(alphabet))
        digits = value[_characters(texts, self.width)]
        packed = (
            np.packbits(digits, axis=1, bitorder="little") if self._sets else (digits[:, ::2] << 4) | digits[:, 1::2]
        )
        return packed, pa.array((digits == 255).any(axis=1))


def spelled_labels(design: Design) -> list[str]:
    """The text of every report of a design that stores reports as codes, no two alike."""

    def text(label: object) -> str:
        if isinstance(label, frozenset):
            return "".join("1" if c in label else "0" for c in design.categories)
        return str(label)

    labels = design.report_labels()
    plain = [text(label) for label in labels]
    # Where a number and a text look alike, 1 and "1", all are spelled as in JSON.
    return plain if len(set(plain)) == len(plain) else [json.dumps(label, ensure_ascii=False) for label in labels]


def _characters(texts: Any, width: int) -> NDArray[np.uint8]:
    """The bytes of texts of one width, a row for each: Arrow keeps them one after the other."""
    start = texts.offset
    ends = np.frombuffer(texts.buffers()[1], np.int32)[start : start + len(texts) + 1]
    return np.frombuffer(texts.buffers()[2], np.uint8)[ends[0] : ends[-1]].reshape(-1, width)


class CsvWriter:
    """Writes batches of reports as a column of text."""

    def __init__(self, file: BinaryIO, design: Design) -> None:
        import pyarrow as pa
        from pyarrow import csv

        self._schema = pa.schema([pa.field(COLUMN, pa.string())])
        self._texts = ReportTexts(design)
        self._writer = csv.CSVWriter(file, self._schema)

    def write(self, batch: Batch) -> None:
        """Write one batch, a bounded part at a time."""
        import pyarrow as pa
        from pyarrow import compute

        step = self._texts.batch_rows
        for start in range(0, len(batch), step):
            texts = self._texts.write(batch.packed[start : start + step])
            if batch.missing is not None:
                texts = compute.if_else(pa.array(batch.missing[start : start + step]), None, texts)
            self._writer.write_batch(pa.record_batch([texts], schema=self._schema))

    def close(self) -> None:
        """After the last batch."""
        self._writer.close()


def read_csv(path: str | os.PathLike[str], none: B) -> Iterator[B]:
    """The checked reports of a CSV file; ``none`` holds no reports, but what the file says of all of them."""
    import pyarrow as pa
    from pyarrow import compute, csv

    name, design, spelled = Path(path).name, none.design, ReportTexts(none.design)
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - 1, 0))
        if file.read(1) != b"\n":
            raise ReportError(f"{name!r} is truncated: its last line has no end.")
    convert = csv.ConvertOptions(
        column_types={COLUMN: pa.string()},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    parse = csv.ParseOptions(ignore_empty_lines=False, newlines_in_values=True)
    # A block must hold the longest row: quotes in a label are doubled, and the cell has two of its own.
    read = csv.ReadOptions(block_size=max(_LEAST_BLOCK, 4 * spelled.width))
    reader = csv.open_csv(str(path), read_options=read, convert_options=convert, parse_options=parse)
    if reader.schema.names != [COLUMN]:
        raise ReportError(f"{name!r} must have one column named {COLUMN!r}.")
    count = 0
    for batch in reader:
        texts = batch.column(0)
        missing = texts.is_null().to_numpy(zero_copy_only=False) if texts.null_count else None
        present = np.arange(len(texts)) if missing is None else np.flatnonzero(~missing)
        found, wrong = spelled.read(texts.drop_null())
        if compute.any(wrong).as_py():
            row = count + int(present[compute.index(wrong, True).as_py()])
            raise ReportError(f"{name!r}: the report in row {row} is not one that {design.title} can produce.")
        packed = design.sampler.empty(len(texts))
        packed[:] = 0
        packed[present] = found
        yield replace(none, packed=packed, missing=missing).check(count)
        count += len(texts)
