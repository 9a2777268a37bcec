"""Which ids came before? Exact, in memory that does not grow with their number.

Whole numbers are marked in pages of bits, a page for each 2^20 neighbours: up to 512 pages (64 MiB) hold half a billion
ids of a dense range. Ids that lie too far apart for that, and text (as blocks under a key of this process), are
compared at the end: in memory up to four million, beyond that in a temporary file without a name, 8 or 16 bytes an id,
in 256 parts of which one is in memory at a time.
"""

from __future__ import annotations

import tempfile
import weakref
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.sampling.entropy import fresh_key
from maskwell.sampling.ids.blocks import count_repeated_blocks, count_repeated_numbers, text_blocks

_PAGES, _PAGE_BYTES = 512, 1 << 17
_HELD = 4_000_000
_PARTS = 256


class SeenIds:
    """Takes in ids as ``blocks.read_ids`` gives them, and counts those that repeat another."""

    def __init__(self) -> None:
        self.count = 0
        self._kind: str | None = None
        self._repeats = 0
        self._pages = np.zeros((_PAGES, _PAGE_BYTES), np.uint8)  # the system gives memory when a page is touched
        self._keys, self._slots = np.zeros(4 * _PAGES, np.int64), np.full(4 * _PAGES, -1, np.int64)
        self._used = 0
        self._hash_key = fresh_key()
        self._apart = {"numbers": _Apart(np.dtype(np.int64), 1), "texts": _Apart(np.dtype("<u8"), 2)}

    def add(self, ids: Any) -> None:
        """Take in the next ids: all of them whole numbers, or all text."""
        self._refuse_mixed(ids)
        self.count += len(ids)
        if not isinstance(ids, np.ndarray):
            self._apart["texts"].add(text_blocks(ids, self._hash_key).view("<u8"))
            return
        if ids.dtype == np.uint64 and len(ids) and ids.max() > np.iinfo(np.int64).max:
            large = ids > np.iinfo(np.int64).max
            # Two halves tell such a number from the negative one of the same bits.
            self._apart["texts"].add(np.stack([ids[large], np.full(int(large.sum()), 1, np.uint64)], axis=1))
            ids = ids[~large]
        from maskwell.sampling.ids.kernels import mark_in_pages

        left = np.empty(len(ids), np.int64)
        numbers = ids.astype(np.int64, copy=False)
        repeats, self._used, n = mark_in_pages(numbers, self._keys, self._slots, self._pages, self._used, left)
        self._repeats += repeats
        if n:
            self._apart["numbers"].add(left[:n].reshape(-1, 1))

    def _refuse_mixed(self, ids: Any) -> None:
        """One person whose id is a number in one file and text in another would pass for two."""
        if not len(ids):
            return
        kind = "whole numbers" if isinstance(ids, np.ndarray) else "text"
        if self._kind not in (None, kind):
            raise DataError(
                Advice(
                    "ids are whole numbers in one file and text in another (cells of CSV files are text), so that one "
                    "person could pass for two: pass ",
                    Setting("integer_ids", True),
                    " to read all as whole numbers, or write them in one type.",
                ),
                parameter="id",
            )
        self._kind = kind

    @property
    def known_repeats(self) -> int:
        """Those that are known already: whole numbers in pages."""
        return self._repeats

    def repeats(self) -> int:
        """How many of all ids repeat another."""
        return self._repeats + sum(apart.repeats() for apart in self._apart.values())


def repeats_among(ids: Any) -> tuple[int, int]:
    """How many of some ids repeat another, and how many there are."""
    seen = SeenIds()
    seen.add(ids)
    return seen.repeats(), seen.count


class _Apart:
    """Ids that are compared at the end, as rows of whole numbers."""

    def __init__(self, kind: np.dtype[Any], width: int) -> None:
        self._kind, self._width = kind, width
        self._held: list[NDArray[Any]] = []
        self._rows = 0
        self._file: IO[bytes] | None = None
        self._segments: list[list[tuple[int, int]]] = [[] for _ in range(_PARTS)]

    def add(self, ids: NDArray[Any]) -> None:
        """Take in a copy of some."""
        self._held.append(ids.astype(self._kind))
        self._rows += len(ids)
        if self._rows > _HELD:
            self._spill()

    def _spill(self) -> None:
        """Write what is held to the file, part by part."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this object lives
            weakref.finalize(self, self._file.close)
        together = np.concatenate(self._held)
        # Neighbouring ids are spread over all parts.
        mixed = together[:, 0].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        part = (mixed >> np.uint64(56)).astype(np.uint8)
        ends = np.cumsum(np.bincount(part, minlength=_PARTS))
        ordered = together[np.argsort(part, kind="stable")]
        for segments, rows in zip(self._segments, np.split(ordered, ends[:-1]), strict=True):
            segments.append((self._file.tell(), rows.nbytes))
            self._file.write(rows.tobytes())
        self._held, self._rows = [], 0

    def repeats(self) -> int:
        """How many repeat another."""
        if self._file is None:
            return self._count(np.concatenate(self._held)) if self._held else 0
        if self._held:
            self._spill()
        return sum(self._count(self._part(self._file, segments)) for segments in self._segments)

    def _part(self, file: IO[bytes], segments: list[tuple[int, int]]) -> NDArray[Any]:
        pieces = []
        for start, size in segments:
            file.seek(start)
            pieces.append(file.read(size))
        file.seek(0, 2)
        return np.frombuffer(b"".join(pieces), self._kind).reshape(-1, self._width)

    def _count(self, rows: NDArray[Any]) -> int:
        return count_repeated_numbers(rows[:, 0]) if self._width == 1 else count_repeated_blocks(rows.view("<u4"))
