"""Codecs: how reports are packed into bytes, checked, shown and counted. A codec knows nothing of chances.

``Codec`` stores a report as the number of its row and suits every design whose rows can be listed; ``SetCodec`` stores
a set as a bit mask, ``JointCodec`` the reports of several variables side by side.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels import Channel, ProductChannel, SymmetricChannel
from maskwell.designs.channels.numbers import Vector
from maskwell.designs.channels.symmetric import masks_of_size
from maskwell.errors import DesignError, ReportError
from maskwell.sampling.samplers import Packed, code_type
from maskwell.tables.labels import Label

_LISTED = (set, frozenset, list, tuple)


@dataclass(frozen=True, eq=False)
class Codec:
    """A report is the number of its row of the matrix, and counts are one per row."""

    categories: tuple[Label, ...]
    labels: Callable[[], list[Any]]
    channel: Channel
    members: NDArray[np.bool_] | None = None  # row by row, which categories a set holds, where that is at hand

    # Whether a packed report is a mask with one bit per category.
    bit_masks = False

    @property
    def set_sizes(self) -> frozenset[int]:
        """How many members a report may have, where reports are masks of sets; every set of such a size can occur."""
        return frozenset()

    def decode(self, packed: Packed) -> list[Any]:
        """Packed reports as labels or frozensets of labels."""
        labels = self.labels()
        return [labels[code] for code in packed.tolist()]

    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        """The packed form of reports that are given as rows of the matrix."""
        return rows.astype(code_type(self.channel.report_count()))

    def pack(self, report: Any) -> Packed:
        """One report, given as ``decode`` shows it or as a list of its members; an error if it is not one."""
        labels = self.labels()
        wanted = frozenset(report) if isinstance(report, _LISTED) else report
        if wanted not in labels:
            raise ReportError(f"report {report!r} is not one of the design's reports; see design.report_labels().")
        return self.pack_rows(np.array([labels.index(wanted)]))

    def first_impossible(self, packed: Packed) -> int:
        """The first packed report that the design cannot produce, or -1; also -1 if there is none."""
        wrong = packed >= self.channel.report_count()
        wrong[~wrong] = ~self._can_occur[packed[~wrong]]
        return int(np.argmax(wrong)) if wrong.any() else -1

    @cached_property
    def _can_occur(self) -> NDArray[np.bool_]:
        return np.asarray(self.channel.floats.any(axis=1))

    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        """The counts that inference needs, of reports that were checked; sums of weights where they are given."""
        from maskwell.sampling.counting import count_codes

        return count_codes(packed, self.channel.report_count(), weights)

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        """From counts: in how many reports each category stands."""
        if self.members is not None:
            return np.asarray(counts @ self.members)
        labels = self.labels()
        if tuple(labels[: len(self.categories)]) == self.categories:
            return counts[: len(self.categories)]
        if not all(isinstance(label, frozenset) for label in labels):
            raise DesignError(
                f"{self.channel.name} reports are not categories, so there are no inclusion counts; use tally.counts."
            )
        return np.asarray(counts @ np.array([[c in label for c in self.categories] for label in labels]))

    def split(self, packed: Packed) -> list[Packed]:
        """The packed reports of each variable."""
        return [packed]

    def join(self, packed: Sequence[Packed]) -> Packed:
        """Joint reports from one column of packed reports per variable."""
        (alone,) = packed
        return alone


@dataclass(frozen=True, eq=False)
class SetCodec(Codec):
    """A report is a bit mask, or a code if all sets have one member.

    A row of counts is a size: one entry per category, the last for reports of that size.
    """

    channel: SymmetricChannel

    @cached_property
    def single(self) -> bool:
        """Every report is one category, and is stored as its code."""
        return [row.size for row in self.channel.rows] == [1]

    @property
    def bit_masks(self) -> bool:  # type: ignore[override]
        return not self.single

    @property
    def set_sizes(self) -> frozenset[int]:
        return frozenset() if self.single else frozenset(row.size for row in self.channel.rows)

    @property
    def _k(self) -> int:
        return len(self.categories)

    def masks(self) -> list[int]:
        """Every possible set as a bit mask, by size and then by value."""
        return [mask for row in self.channel.rows for mask in masks_of_size(self._k, row.size)]

    def decode(self, packed: Packed) -> list[Any]:
        if self.single:
            return [self.categories[code] for code in packed.tolist()]
        labels = np.array(self.categories, dtype=object)
        return [frozenset(labels[row].tolist()) for row in self.bits(packed).astype(bool)]

    def bits(self, packed: Packed) -> NDArray[np.uint8]:
        """Row by row, 1 for the categories that a report holds."""
        if self.single:
            members = np.zeros((len(packed), self._k), np.uint8)
            members[np.arange(len(packed)), packed] = 1
            return members
        return np.unpackbits(packed, axis=1, count=self._k, bitorder="little")

    def size_index(self, members: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The position of each report's size among the sizes of the design."""
        if self.single:
            return np.zeros(len(members), np.int64)
        at: NDArray[np.int64] = self._size_index[members.sum(axis=1, dtype=np.int64)]
        return at

    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        if self.single:
            return rows.astype(code_type(self._k))
        masks = self.masks()
        width = (self._k + 7) // 8
        raw = b"".join(masks[row].to_bytes(width, "little") for row in rows.tolist())
        return np.frombuffer(raw, np.uint8).reshape(len(rows), width).copy()

    def pack(self, report: Any) -> Packed:
        members = self._members(report)
        sizes = [row.size for row in self.channel.rows]
        if len(members) not in sizes:
            raise ReportError(
                f"report {report!r} has {len(members)} categories; this design reports sets of {sizes[0]} to "
                f"{sizes[-1]}."
            )
        if self.single:
            return self.pack_rows(np.array([self.categories.index(next(iter(members)))]))
        bits = np.array([[c in members for c in self.categories]], np.uint8)
        return np.packbits(bits, axis=1, bitorder="little")

    def _members(self, report: Any) -> frozenset[Any]:
        if not isinstance(report, _LISTED) and not self.single:
            raise ReportError(
                f"report must be a set of categories; got {report!r}. Pass for example {{{report!r}}}.",
                parameter="report",
            )
        members = frozenset(report if isinstance(report, _LISTED) else [report])
        if not members <= set(self.categories):
            raise ReportError(f"report {report!r} holds something that is not a category of the design.")
        return members

    @cached_property
    def _size_index(self) -> NDArray[np.int64]:
        """The position of each set size among the sizes of the design, -1 where it cannot occur."""
        index = np.full(self._k + 9, -1, np.int64)
        index[[row.size for row in self.channel.rows]] = np.arange(len(self.channel.rows))
        return index

    def first_impossible(self, packed: Packed) -> int:
        from maskwell.sampling.counting_kernels import first_impossible_set

        if self.single:
            wrong = packed >= self._k
            return int(np.argmax(wrong)) if wrong.any() else -1
        return int(first_impossible_set(packed, self._k, self._size_index))

    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        from maskwell.sampling.counting import count_codes, count_sets

        if self.single:
            counts = count_codes(packed, self._k, weights)
            return np.append(counts, counts.sum())[None, :]
        return count_sets(packed, self._size_index, (len(self.channel.rows), self._k + 1), weights)

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        totals: NDArray[Any] = counts[:, :-1].sum(axis=0)
        return totals


@dataclass(frozen=True, eq=False)
class JointCodec(Codec):
    """The bytes of the variables' reports side by side; all that a joint estimate needs is the distinct ones.

    ``empties`` are packed forms of no report, which say how wide those of a variable are.
    """

    channel: ProductChannel
    parts: tuple[Codec, ...] = field(kw_only=True)
    empties: tuple[Packed, ...] = field(kw_only=True)

    @cached_property
    def widths(self) -> list[int]:
        """The bytes of a report of each variable."""
        return [empty.dtype.itemsize * math.prod(empty.shape[1:]) for empty in self.empties]

    def join(self, packed: Sequence[Packed]) -> Packed:
        """Joint reports from one column of packed reports per variable."""
        pieces = zip(packed, self.widths, strict=True)
        return np.concatenate([np.ascontiguousarray(p).view(np.uint8).reshape(len(p), w) for p, w in pieces], axis=1)

    def split(self, packed: Packed) -> list[Packed]:
        """The packed reports of each variable."""
        ends = list(itertools.accumulate(self.widths))
        pieces = []
        for empty, end, width in zip(self.empties, ends, self.widths, strict=True):
            piece = np.ascontiguousarray(packed[:, end - width : end])
            pieces.append(piece.view(empty.dtype).reshape(len(packed), *empty.shape[1:]))
        return pieces

    def decode(self, packed: Packed) -> list[Any]:
        pieces = zip(self.parts, self.split(packed), strict=True)
        return list(zip(*(part.decode(piece) for part, piece in pieces), strict=True))

    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        indices = np.unravel_index(rows, [part.report_count() for part in self.channel.parts])
        return self.join([part.pack_rows(np.asarray(i)) for part, i in zip(self.parts, indices, strict=True)])

    def pack(self, report: Any) -> Packed:
        if not isinstance(report, (list, tuple)) or len(report) != len(self.parts):
            raise ReportError(f"a joint report has one report for each of {len(self.parts)} variables; got {report!r}.")
        return self.join([part.pack(piece) for part, piece in zip(self.parts, report, strict=True)])

    def first_impossible(self, packed: Packed) -> int:
        firsts = [part.first_impossible(x) for part, x in zip(self.parts, self.split(packed), strict=True)]
        return min((row for row in firsts if row >= 0), default=-1)

    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        return np.array([len(packed) if weights is None else weights.sum()])

    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        raise DesignError("a product has inclusions by variable: use tally.marginal(name).inclusions.")
