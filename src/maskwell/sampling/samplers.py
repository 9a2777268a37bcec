"""A sampler binds a kernel to a design's integers; ``draw`` runs one over many records in chunks and threads."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import isqrt
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import say_if_slow
from maskwell.sampling.entropy import Codes, Stream, Words
from maskwell.sampling.leading import draw_led, few_picks, leading, leading_half
from maskwell.sampling.threads import in_threads, worker_count

TOTAL = 1 << 64
MOST_CATEGORIES = 1 << 16  # of a set: its members are picked by 16-bit numbers
_CHUNK_WORDS = 1 << 19  # large enough that threads seldom wait for the interpreter lock
_LED_CHUNK = 1 << 18  # records of a word each; their codes are as many bytes again
_SLOW_ABOVE = 50_000  # records that take seconds where nothing is compiled
_HALF, _LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)

Packed = NDArray[Any]


class Sampler(Protocol):
    """How one design's reports are drawn: ``width`` words a record, ``run`` fills packed reports."""

    @property
    def width(self) -> int: ...

    def empty(self, n: int) -> Packed: ...

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None: ...


def code_type(n_codes: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest unsigned integer that holds codes ``0 .. n_codes - 1``."""
    return np.uint8 if n_codes <= 1 << 8 else np.uint16 if n_codes <= 1 << 16 else np.uint32


@dataclass(frozen=True)
class CopySampler:
    """The report is the truth."""

    k: int
    width = 0

    def empty(self, n: int) -> Packed:
        return np.empty(n, code_type(self.k))

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        out[:] = truth


@dataclass(frozen=True)
class SingleSampler:
    """The truth with probability ``stay / 2^64``, else one of the other categories."""

    k: int
    stay: int
    width = 3

    def empty(self, n: int) -> Packed:
        return np.empty(n, code_type(self.k))

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        from maskwell.sampling.kernels import single

        single(truth, words, stride, self.k, np.uint64(self.stay), out, exhausted)

    def leads(self, n: int) -> bool:
        return few_picks(self.k - 1)

    def lead(self, truth: Codes, words: Words, out: Packed, left_open: NDArray[np.uint8]) -> None:
        from maskwell.sampling.leading_kernels import lead_single

        lead_single(truth, words, np.uint32(self.k - 1), leading_half(self.stay), out, left_open)


@dataclass(frozen=True, eq=False)
class WithinSampler:
    """The truth j with probability ``stay[j] / 2^64``, else another category of its block, a range of categories.

    The rule of ``SingleSampler`` within each block, without a kernel: few records of a file are in a block, and loading
    the compiled ones takes longer than drawing a million of them.
    """

    first: NDArray[np.uint32]
    """The first category of each category's block."""
    others: NDArray[np.uint64]
    """How many other categories the block has."""
    stay: NDArray[np.uint64]
    width = 3

    def empty(self, n: int) -> Packed:
        return np.empty(n, np.uint32)

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        slots = words[: len(truth) * stride].reshape(len(truth), stride)
        number = slots[:, 0] | slots[:, 1].astype(np.uint64) << _HALF
        out[:] = truth
        pending = np.flatnonzero(number >= self.stay[truth])
        for at in range(2, stride):
            pending_truth = truth[pending]
            others, first = self.others[pending_truth], self.first[pending_truth]
            product = slots[pending, at] * others
            fair = (product & _LOW_HALF) >= (1 << 32) % others
            pick = (product >> _HALF).astype(np.uint32)
            out[pending[fair]] = (first + pick + (pick >= pending_truth - first))[fair]
            pending = pending[~fair]
        exhausted[pending] = 1


def start_of_set(k: int, wanted: int) -> tuple[int, int]:
    """``(bits, start)``: fill the mask with bits of probability start / 2^bits, at or below ``wanted / (k - 1)``.

    Small sets start empty: picking their members one by one is cheaper.
    """
    if 8 * wanted <= k - 1 or k < 16:
        return 0, 0
    bits = 4 if k < 256 else 5 if k < 1024 else 6
    start = (wanted << bits) // (k - 1)
    while start % 2 == 0:
        start, bits = start // 2, bits - 1
    return bits, start


def words_of_set(k: int, wanted: int) -> int:
    """Words for the mask and the picks of a set: enough up to three standard deviations of the mask's count."""
    bits, start = start_of_set(k, wanted)
    filled = (k - 1) * start >> bits
    spread = -(-3 * isqrt((k - 1) * start * ((1 << bits) - start)) >> bits)
    to_add = wanted - filled + spread
    # A pick adds a member unless it is rejected, the truth, or there already.
    to_pick = -(-to_add * k * 65536 // ((k - wanted) * (65536 - 65536 % k)))
    return 2 * bits * ((k + 63) // 64) + (to_pick + isqrt(4 * to_pick) + 1) // 2


class Outcome(NamedTuple):
    """A set of some size with the truth inside or not, and how many other categories are drawn for it."""

    weight: int
    inside: int
    wanted: int
    inverted: int


@dataclass(frozen=True)
class SubsetSampler:
    """A size and whether the truth is inside, by integer weights that sum to 2^64; then a uniform set."""

    k: int
    sizes: tuple[int, ...]
    inside: tuple[int, ...]
    outside: tuple[int, ...]

    @cached_property
    def _outcomes(self) -> list[Outcome]:
        """Every outcome that can occur, by size, the truth inside first."""
        outcomes = []
        for size, *weights in zip(self.sizes, self.inside, self.outside, strict=True):
            for weight, inside in zip(weights, (1, 0), strict=True):
                others = size - inside
                inverted = int(2 * others > self.k - 1)
                wanted = self.k - 1 - others if inverted else others
                outcomes.append(Outcome(weight, inside, wanted, inverted))
        return [outcome for outcome in outcomes if outcome.weight]

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.uint64], Packed, Packed, Packed, Packed, Packed]:
        weights, inside, wanted, inverted = zip(*self._outcomes, strict=True)
        bits, start = zip(*(start_of_set(self.k, w) for w in wanted), strict=True)
        cumulative = np.array(list(accumulate(weights))[:-1], np.uint64)
        return cumulative, np.array(wanted), np.array(inverted), np.array(inside), np.array(bits), np.array(start)

    @cached_property
    def width(self) -> int:
        """Words that all but about one record in a thousand can do with."""
        first = 2 if len(self._outcomes) > 1 else 0
        return first + max(words_of_set(self.k, outcome.wanted) for outcome in self._outcomes)

    def empty(self, n: int) -> Packed:
        return np.empty((n, (self.k + 7) // 8), np.uint8)

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        from maskwell.sampling.kernels import subsets

        subsets(truth, words, stride, self.k, *self._arrays, out, exhausted)


@dataclass(frozen=True, eq=False)
class RowSampler:
    """A row of an explicit matrix: ``weights[report, truth]`` out of ``totals[truth]``, each at most 2^64."""

    weights: NDArray[Any]
    totals: Sequence[int]
    width: int

    @classmethod
    def of_design(cls, weights: NDArray[Any], total: int) -> Self:
        """The sampler of a matrix whose columns have one total."""
        # A total that is small beside 2^64 hardly ever rejects; a large one may reject every other number.
        return cls(weights, [total] * weights.shape[1], 2 if total == TOTAL or total < 1 << 40 else 16)

    @property
    def k(self) -> int:
        return len(self.totals)

    @cached_property
    def _arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64], Packed, NDArray[np.uint64]]:
        """By truth: the total and its largest multiple, both modulo 2^64, and where its rows start; the rows that can
        occur, truth after truth, and their cumulative weights within the truth.
        """
        columns = self.weights.T
        truths, which = np.nonzero(columns)
        edges = np.searchsorted(truths, np.arange(self.k + 1))
        # Only a weight that is alone in its column may be 2^64, and the last cumulative weight is never looked at.
        weights = (columns[truths, which] & (TOTAL - 1)).astype(np.uint64)
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weights)])  # modulo 2^64, as are the differences
        cumulative = sums[1:] - np.repeat(sums[edges[:-1]], np.diff(edges))
        totals = np.array([total % TOTAL for total in self.totals], np.uint64)
        limits = np.array([(TOTAL - TOTAL % total) % TOTAL for total in self.totals], np.uint64)
        return totals, limits, edges, which.astype(code_type(len(self.weights))), cumulative

    def empty(self, n: int) -> Packed:
        return np.empty(n, code_type(len(self.weights)))

    def run(self, truth: Codes, words: Words, stride: int, out: Packed, exhausted: NDArray[np.uint8]) -> None:
        from maskwell.sampling.kernels import rows

        rows(truth, words, stride, *self._arrays, out, exhausted)


def draw(sampler: Sampler, n: int, truth_of: Callable[[int, int], Codes], stream: Stream) -> Packed:
    """Reports of ``n`` records; ``truth_of(start, stop)`` gives their category codes."""
    if n > _SLOW_ABOVE:
        say_if_slow("masking many records")
    out = sampler.empty(n)
    led = leading(sampler, n, stream)
    chunk = _LED_CHUNK if led else max(64, _CHUNK_WORDS // max(sampler.width, 1) // 16 * 16)

    def mask_chunk(start: int) -> None:
        truth = truth_of(start, min(start + chunk, n))
        reports = out[start : start + chunk]
        if led:
            draw_led(led, truth, stream.slots(start, truth, 1)[0], reports)
            return
        exhausted = np.zeros(len(truth), np.uint8)
        words, stride = stream.slots(start, truth, sampler.width)
        sampler.run(truth, words, stride, reports, exhausted)
        for i in np.flatnonzero(exhausted.view(np.bool_)):
            _repeat(sampler, start + int(i), truth[i : i + 1], stream, reports[i : i + 1])

    # Whichever thread is free takes the next chunk: one that has to wait for a core would keep the others waiting.
    starts = deque(range(0, n, chunk))

    def mask_chunks(_: int) -> None:
        while True:
            try:
                start = starts.popleft()
            except IndexError:
                return
            mask_chunk(start)

    in_threads(mask_chunks, range(worker_count(n, chunk)))
    return out


def _repeat(sampler: Sampler, record: int, truth: Codes, stream: Stream, out: Packed) -> None:
    """Draw one record again with longer and longer slots until it needs no more words."""
    extra, exhausted = max(sampler.width, 16), np.ones(1, np.uint8)
    while exhausted[0]:
        exhausted[0] = 0
        words = stream.longer_slot(record, int(truth[0]), sampler.width, extra)
        sampler.run(truth, words, len(words), out, exhausted)
        extra *= 2
