"""Secure draws from one word a record: the leading halves of its words first, the rest only where a choice is left.

Words that nobody will repeat need not exist before somebody reads them. The 16 highest bits of the two words that tell
most decide nearly every report (`leading_kernels.py`), so that a secure draw of many records makes 4 bytes of keystream
for each instead of 12. The few that are left open get the other bits of their words, fresh ones, and go to the sampler
itself. Every report is bit for bit the one that the format gives to the words of its record, as far as they were made.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from maskwell.sampling.entropy import Codes, CounterStream, Stream, Words, fresh_key

Array = NDArray[Any]

_LED_FROM = 1 << 16  # records; fewer take no time worth a second kernel
_MOST_PICKS = 1 << 11  # among more, the records left open cost more than shorter words save
_LOW_HALF, _HIGH_HALF, _HALF = np.uint32(0xFFFF), np.uint32(0xFFFF0000), np.uint32(16)


@runtime_checkable
class LeadingSampler(Protocol):
    """A sampler of a 64-bit number and a pick, ``width`` 3, that can also begin with their leading halves."""

    width: int

    def empty(self, n: int) -> Array: ...

    def run(self, truth: Codes, words: Words, stride: int, out: Array, exhausted: NDArray[np.uint8]) -> None: ...

    def leads(self, n: int) -> bool:
        """Whether that pays for ``n`` records."""
        ...

    def lead(self, truth: Codes, words: Words, out: Array, left_open: NDArray[np.uint8]) -> None:
        """Fill the reports that a word a record decides, and flag the others."""
        ...


def leading(sampler: object, n: int, stream: Stream) -> LeadingSampler | None:
    """The sampler, if ``n`` of its records are to be drawn from leading halves: never under a key or a seed."""
    if n < _LED_FROM or stream.randomness != "secure" or not isinstance(sampler, LeadingSampler):
        return None
    return sampler if sampler.leads(n) else None


def few_picks(*among: int) -> bool:
    """Whether leading halves decide nearly all picks among so many."""
    return max(among) <= _MOST_PICKS


def leading_half(weight: int) -> np.uint32:
    """The 16 highest bits of a weight of 64."""
    return np.uint32(weight >> 48)


def draw_led(sampler: LeadingSampler, truth: Codes, words: Words, out: Array) -> None:
    """Reports of records with a word each."""
    left_open = np.empty(len(truth), np.uint8)
    sampler.lead(truth, words, out, left_open)
    at = np.flatnonzero(left_open.view(np.bool_))
    if len(at):
        out[at] = _settled(sampler, truth[at], words[at])


def _settled(sampler: LeadingSampler, truth: Codes, leads: Words) -> Array:
    """Reports of records whose words begin with these leading halves."""
    n, out = len(truth), sampler.empty(len(truth))
    words = _fresh_words(n, sampler.width)
    words[:, 1] = (words[:, 1] & _LOW_HALF) | (leads << _HALF)
    words[:, 2] = (words[:, 2] & _LOW_HALF) | (leads & _HIGH_HALF)
    while True:
        exhausted = np.zeros(n, np.uint8)
        sampler.run(truth, words.ravel(), words.shape[1], out, exhausted)
        if not exhausted.any():
            return out
        words = np.hstack([words, _fresh_words(n, sampler.width)])


def _fresh_words(n: int, width: int) -> Words:
    """Words of records that nobody has seen or will see again."""
    stream = CounterStream(fresh_key(), "secure")
    return stream.slots(0, np.zeros(n, np.uint32), width)[0].copy().reshape(n, width)
