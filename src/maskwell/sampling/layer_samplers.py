"""Samplers of two layers: a permanent report, and of it an instantaneous one. They read a fixed number of words.

A layer of a table reads one number of 64 bits, a layer of bits one for each category, so nothing is ever rejected and
each layer has its own words: first all of the permanent layer, then all of the instantaneous one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Codes, Stream, Words
from maskwell.sampling.samplers import Packed, RowSampler, draw

_ROWS_AT_ONCE = 1 << 12
_HALF = np.uint64(32)

Layer = tuple[int, int]
"""Weights out of 2^64 with which a bit is 1 after a 1 and after a 0."""


@dataclass(frozen=True, eq=False)
class TwoTablesSampler:
    """A row of one table, then a row of another given the first; all columns have the total 2^64."""

    first: RowSampler
    second: RowSampler
    width = 4

    def empty(self, n: int) -> Packed:
        return self.second.empty(n)

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        slots = words[: len(truth) * stride].reshape(len(truth), stride)
        kept = self.first.empty(len(truth))
        self.first.run(truth, np.ascontiguousarray(slots[:, :2]).ravel(), 2, kept, exhausted)
        self.second.run(kept.astype(np.uint32), np.ascontiguousarray(slots[:, 2:4]).ravel(), 2, out, exhausted)


@dataclass(frozen=True)
class BitsSampler:
    """One bit a category, 1 for the truth alone; each goes through the layers by itself."""

    k: int
    layers: tuple[Layer, ...]

    @property
    def width(self) -> int:
        return 2 * self.k * len(self.layers)

    def empty(self, n: int) -> Packed:
        return np.empty((n, (self.k + 7) // 8), np.uint8)

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        for start in range(0, len(truth), _ROWS_AT_ONCE):
            part = truth[start : start + _ROWS_AT_ONCE]
            slots = words[start * stride : (start + len(part)) * stride].reshape(len(part), stride)
            bits = np.zeros((len(part), self.k), np.bool_)
            bits[np.arange(len(part)), part] = True
            for at, layer in enumerate(self.layers):
                bits = _through(bits, slots[:, 2 * self.k * at : 2 * self.k * (at + 1)], layer)
            out[start : start + len(part)] = np.packbits(bits, axis=1, bitorder="little")


def _through(bits: NDArray[np.bool_], words: NDArray[Any], layer: Layer) -> NDArray[np.bool_]:
    numbers = words[:, ::2] | words[:, 1::2].astype(np.uint64) << _HALF
    return np.asarray(numbers < np.where(bits, np.uint64(layer[0]), np.uint64(layer[1])))


def flip_again(packed: Packed, k: int, layer: Layer, stream: Stream) -> Packed:
    """Each bit of each packed set through a layer, with words of the stream."""
    out = np.empty_like(packed)
    for start in range(0, len(packed), _ROWS_AT_ONCE):
        part = packed[start : start + _ROWS_AT_ONCE]
        words, stride = stream.slots(start, np.zeros(len(part), np.uint32), 2 * k)
        slots = words[: len(part) * stride].reshape(len(part), stride)
        bits = np.unpackbits(part, axis=1, count=k, bitorder="little").astype(np.bool_)
        out[start : start + len(part)] = np.packbits(_through(bits, slots, layer), axis=1, bitorder="little")
    return out


def row_again(codes: Packed, sampler: RowSampler, stream: Stream) -> Packed:
    """For each row of the first table a row of the second, with words of the stream."""
    return draw(sampler, len(codes), lambda start, stop: codes[start:stop].astype(np.uint32), stream)
