"""A look at the dictionary of an SPSS file before it is parsed: a damaged one can bring the parser's process down."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_HEADER = 176
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_WIDEST = 255
_OF_TEXT = (1, 2)
"""The formats A and AHEX."""


def is_sound(path: Path) -> bool:
    """Whether the records of the dictionary follow each other as they must, and agree about the variables."""
    with open(path, "rb") as file:
        head = file.read(_HEADER)
        if len(head) < _HEADER or head[:4] not in (b"$FL2", b"$FL3"):
            return False
        found = _Dictionary(file, "<" if head[64:68] in (b"\x02\0\0\0", b"\x03\0\0\0") else ">")
        try:
            while (kind := found.numbers(1)[0]) != _END:
                found.read(kind)
        except (struct.error, OSError, ValueError, IndexError):
            return False
    return True


class _Dictionary:
    """The records passed over so far; one that cannot be is a ValueError."""

    def __init__(self, file: BinaryIO, order: str) -> None:
        self.file, self.order = file, order
        self.widths: list[int] = []
        """By variable: 0 for numbers, the bytes of a text, -1 where a text goes on."""
        self.labelled: list[bytes] = []
        """The values of the last set of labels."""

    def numbers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"{self.order}{count}i", self.file.read(4 * count))

    def skip(self, size: int) -> None:
        self.require(size >= 0)
        self.file.seek(size, 1)

    @staticmethod
    def require(possible: bool) -> None:
        if not possible:
            raise ValueError

    def read(self, kind: int) -> None:
        if kind == _VARIABLE:
            self.variable()
        elif kind == _LABELS:
            self.labels()
        elif kind == _LABELLED:
            self.labelled_variables()
        elif kind == _DOCUMENT:
            self.skip(80 * self.numbers(1)[0])
        elif kind == _EXTENSION:
            _, size, count = self.numbers(3)
            self.require(size >= 0)
            self.skip(size * count)
        else:
            self.require(False)

    def variable(self) -> None:
        width, labelled, missing, *formats = self.numbers(5)
        self.skip(8)
        self.require(-1 <= width <= _WIDEST and labelled in (0, 1) and -3 <= missing <= 3)
        self.require(width != 0 or not any(shown >> 16 & 0xFF in _OF_TEXT for shown in formats))
        if labelled:
            (length,) = self.numbers(1)
            self.skip(-(-length // 4) * 4)
        self.skip(8 * abs(missing))
        self.widths.append(width)

    def labels(self) -> None:
        self.labelled = []
        for _ in range(self.numbers(1)[0]):
            entry = self.file.read(9)
            self.labelled.append(entry[:8])
            self.skip(-(entry[8] + 1) % 8 + entry[8])

    def labelled_variables(self) -> None:
        (count,) = self.numbers(1)
        self.require(count >= 0)
        for position in self.numbers(count):
            self.require(1 <= position <= len(self.widths) and self.widths[position - 1] >= 0)
            is_text = self.widths[position - 1] > 0
            self.require(not is_text or not any(b"\0" in value for value in self.labelled))
