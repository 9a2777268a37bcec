"""Compiled samplers: pure functions (integers, truth, random words) -> report, format 1.

A record reads its 32-bit words from left to right; a browser that reads the same words makes the same report. The rules
are frozen (`docs/sampling_format.md`); in short:

* A 64-bit number is two words, the low one first.
* Another category for a one-category report: one word x gives floor(x r / 2^32) with r = k - 1; rejected, and the
  next word read, if x r mod 2^32 is less than 2^32 mod r. Every value is then exactly equally likely.
* An outcome is the first whose cumulative weight exceeds a 64-bit number; nothing is read if there is only one.
* A set: its other members (or, if more than half of the other categories are in it, those that are not) are drawn as
  a mask of 64-bit words. The mask is filled with independent bits of probability ``start / 2^bits`` (for each binary
  digit of ``start``, lowest first, a random number for every mask word in turn is joined to it by AND if 0, by OR if 1)
  and the truth's bit is cleared. While there are too few, a pick among the k categories is added, or passed over if it
  is the truth or there already; while there are too many, a pick among the c members removes that one, counted from the
  lowest. A pick is the rule above with r = k or c on 16-bit halves of the following words, low half first. Last, the
  mask is inverted if it held the absent ones, and the truth's bit is set or cleared. Before and after each step all
  categories but the truth are exchangeable, so the set is exactly uniform among those of its size.
* A block: a 64-bit number below the weight inside says that the block holds the truth; nothing is read if it always
  does. One word, by the rule for another category with r the number of such blocks, picks one of them in rising order.

A record that runs out of words is flagged as exhausted, its output is void, and the caller repeats it with a longer
slot.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

Array = NDArray[Any]

_U1, _U32, _LOW32 = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)
_TWO32 = np.uint64(1 << 32)


@compiled(inline="always")
def _pair(words: Array, at: int) -> Any:
    return np.uint64(words[at]) | (np.uint64(words[at + 1]) << _U32)


def _bits(x: Any) -> Any:
    return int(x).bit_count()


@compiled(instead=_bits)
def popcount(x: Any) -> Any:
    """How many bits of a 64-bit number are set."""
    x = x - ((x >> _U1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled(inline="always")
def _truth_or_lie(j: Any, low: Any, high: Any, pick: Any, others: Any, stay_low: Any, stay_high: Any) -> Any:
    """The report, and whether its pick was a rejected one that is needed."""
    product = np.uint64(pick) * others
    lie = np.uint32(product >> _U32)
    lie = np.uint32(lie + np.uint32(lie >= j))
    kept = (high < stay_high) | ((high == stay_high) & (low < stay_low))
    return (j if kept else lie), np.uint8((not kept) & (np.uint32(product) < np.uint32(_TWO32 % others)))


@compiled()
def _single_again(truth: Array, words: Array, stride: int, k: int, out: Array, exhausted: Array) -> None:
    """Give records whose first pick was rejected the further words of their slot."""
    others = np.uint64(k - 1)
    unfair = np.uint32(_TWO32 % others)
    for i in range(len(truth)):
        if not exhausted[i]:
            continue
        for at in range(i * stride + 3, (i + 1) * stride):
            product = np.uint64(words[at]) * others
            if np.uint32(product) >= unfair:
                lie = np.uint32(product >> _U32)
                out[i] = lie + np.uint32(lie >= truth[i])
                exhausted[i] = 0
                break


def _single_by_columns(
    truth: Array, words: Array, stride: int, k: int, stay: Any, out: Array, exhausted: Array
) -> None:
    """``single``, one word of all records at a time."""
    slots = words[: len(truth) * stride].reshape(len(truth), stride)
    others = np.uint64(k - 1)
    unfair = _TWO32 % others
    kept = (slots[:, 0].astype(np.uint64) | (slots[:, 1].astype(np.uint64) << _U32)) < np.uint64(stay)
    lie, waiting = np.zeros(len(truth), np.uint64), ~kept
    for at in range(2, stride):
        product = slots[:, at].astype(np.uint64) * others
        fair = waiting & ((product & _LOW32) >= unfair)
        lie[fair] = product[fair] >> _U32
        waiting &= ~fair
    out[:] = np.where(kept, truth, lie + (lie >= truth))
    exhausted[:] = waiting


@compiled(instead=_single_by_columns)
def single(truth: Array, words: Array, stride: int, k: int, stay: Any, out: Array, exhausted: Array) -> None:
    """One category, from 3 words: the truth if a 64-bit number is below ``stay``, else one of the ``k - 1`` others."""
    others = np.uint64(k - 1)
    low, high = np.uint32(stay & _LOW32), np.uint32(stay >> _U32)
    # No branch, 32-bit steps and constant strides, so that both loops compile to vector instructions.
    if stride == 3:
        for i in range(len(truth)):
            at = i * 3
            out[i], exhausted[i] = _truth_or_lie(
                np.uint32(truth[i]), words[at], words[at + 1], words[at + 2], others, low, high
            )
    elif stride == 4:
        for i in range(len(truth)):
            at = i * 4
            out[i], exhausted[i] = _truth_or_lie(
                np.uint32(truth[i]), words[at], words[at + 1], words[at + 2], others, low, high
            )
    else:
        for i in range(len(truth)):
            at = i * stride
            out[i], exhausted[i] = _truth_or_lie(
                np.uint32(truth[i]), words[at], words[at + 1], words[at + 2], others, low, high
            )
    if stride > 3:
        _single_again(truth, words, stride, k, out, exhausted)


@compiled()
def _outcome(u: Any, cumulative: Array) -> Any:
    """How many cumulative weights are at most ``u``."""
    low, high = 0, len(cumulative)
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] <= u:
            low = middle + 1
        else:
            high = middle
    return low


@compiled(inline="always")
def _half(words: Array, half: int) -> Any:
    return (np.int64(words[half >> 1]) >> ((half & 1) << 4)) & 65535


@compiled()
def _remove_member(mask: Array, rank: int) -> None:
    """Clear the set bit that has ``rank`` set bits below it."""
    w = 0
    count = popcount(mask[0])
    while rank >= count:
        rank -= count
        w += 1
        count = popcount(mask[w])
    rest = mask[w]
    for _ in range(rank):
        rest &= rest - _U1
    mask[w] ^= rest & (~rest + _U1)


@compiled()
def subsets(
    truth: Array,
    words: Array,
    stride: int,
    k: int,
    cumulative: Array,
    wanted: Array,
    inverted: Array,
    inside: Array,
    bits: Array,
    start: Array,
    out: Array,
    exhausted: Array,
) -> None:
    """A set as a bit mask: outcome ``o`` draws ``wanted[o]`` categories besides the truth, those in the set or not."""
    n_mask = (k + 63) // 64
    n_bytes = out.shape[1]
    mask = np.zeros(n_mask, np.uint64)
    top = (_U1 << np.uint64(k % 64)) - _U1 if k % 64 else ~np.uint64(0)
    unfair = 65536 % k
    for i in range(len(truth)):
        at = i * stride
        end = at + stride
        o = 0
        if len(cumulative) > 0:
            o = _outcome(_pair(words, at), cumulative)
            at += 2
        if at + 2 * bits[o] * n_mask > end:
            exhausted[i] = 1
            continue
        for w in range(n_mask):
            mask[w] = 0
        for b in range(bits[o]):
            if (start[o] >> b) & 1:
                for w in range(n_mask):
                    mask[w] |= _pair(words, at + 2 * w)
            else:
                for w in range(n_mask):
                    mask[w] &= _pair(words, at + 2 * w)
            at += 2 * n_mask
        mask[n_mask - 1] &= top
        j = np.int64(truth[i])
        own = _U1 << np.uint64(j & 63)
        mask[j >> 6] &= ~own
        count = np.int64(0)
        for w in range(n_mask):
            count += popcount(mask[w])
        half, last = 2 * at, 2 * end
        while count < wanted[o] and half < last:
            product = _half(words, half) * k
            half += 1
            pick = product >> 16
            bit = _U1 << np.uint64(pick & 63)
            fresh = (mask[pick >> 6] & bit) == 0
            good = ((product & 65535) >= unfair) & (pick != j) & fresh
            mask[pick >> 6] |= bit * np.uint64(good)
            count += np.int64(good)
        while count > wanted[o] and half < last:
            product = _half(words, half) * count
            half += 1
            # The remainder need only be known if the low part is small enough to be rejected.
            if (product & 65535) >= count or (product & 65535) >= 65536 % count:
                _remove_member(mask, product >> 16)
                count -= 1
        exhausted[i] = count != wanted[o]
        if inverted[o]:
            for w in range(n_mask):
                mask[w] = ~mask[w]
            mask[n_mask - 1] &= top
        if inside[o]:
            mask[j >> 6] |= own
        else:
            mask[j >> 6] &= ~own
        for b in range(n_bytes):
            out[i, b] = np.uint8((mask[b >> 3] >> np.uint64(8 * (b & 7))) & np.uint64(255))


@compiled()
def rows(
    truth: Array,
    words: Array,
    stride: int,
    totals: Array,
    limits: Array,
    edges: Array,
    which: Array,
    cumulative: Array,
    out: Array,
    exhausted: Array,
) -> None:
    """A row of a matrix, drawn by a number below the truth's total (0 stands for 2^64) among those it can give.

    The truth's rows are those between its ``edges``. A 64-bit number at or above the largest multiple of the total, its
    limit (0: all fit), is rejected.
    """
    for i in range(len(truth)):
        j = truth[i]
        total, limit = totals[j], limits[j]
        at = i * stride
        end = at + stride
        u = _pair(words, at)
        at += 2
        if total != 0:
            while limit != 0 and u >= limit and at + 2 <= end:
                u = _pair(words, at)
                at += 2
            if limit != 0 and u >= limit:
                exhausted[i] = 1
                continue
            u = u % total
        first = edges[j]
        out[i] = which[first + _outcome(u, cumulative[first : edges[j + 1] - 1])]


@compiled(inline="always")
def _place(low: Any, high: Any, pick: Any, inside: Any, n_in: Any, n_out: Any, unfair_in: Any, unfair_out: Any) -> Any:
    """The place of a block in the truth's list, those that hold it first, and whether its pick was a rejected one."""
    held = (np.uint64(low) | (np.uint64(high) << _U32)) < inside
    product = np.uint64(pick) * (n_in if held else n_out)
    unfair = unfair_in if held else unfair_out
    return np.uint32((product >> _U32) + (np.uint64(0) if held else n_in)), np.uint8((product & _LOW32) < unfair)


@compiled()
def blocks(
    truth: Array, words: Array, stride: int, n_inside: int, inside: Any, table: Array, out: Array, exhausted: Array
) -> None:
    """A block, from 3 words: ``table[truth]`` lists the ``n_inside`` blocks that hold the truth, then the others."""
    n_in, n_out = np.uint64(n_inside), np.uint64(table.shape[1] - n_inside)
    unfair_in, unfair_out = _TWO32 % n_in, _TWO32 % n_out
    places = np.empty(len(truth), np.uint32)
    # The places first, without a branch and at a constant stride, so that this loop compiles to vector instructions.
    if stride == 3:
        for i in range(len(truth)):
            at = i * 3
            places[i], exhausted[i] = _place(
                words[at], words[at + 1], words[at + 2], inside, n_in, n_out, unfair_in, unfair_out
            )
    else:
        for i in range(len(truth)):
            at = i * stride
            last = at + 2
            places[i], exhausted[i] = _place(
                words[at], words[at + 1], words[last], inside, n_in, n_out, unfair_in, unfair_out
            )
            while exhausted[i] and last + 1 < at + stride:
                last += 1
                places[i], exhausted[i] = _place(
                    words[at], words[at + 1], words[last], inside, n_in, n_out, unfair_in, unfair_out
                )
    for i in range(len(truth)):
        out[i] = table[truth[i], places[i]]


@compiled()
def blocks_inside(
    truth: Array, words: Array, stride: int, n_inside: int, table: Array, out: Array, exhausted: Array
) -> None:
    """A block that holds the truth, from one word: one of the first ``n_inside`` of ``table[truth]``."""
    unfair = np.uint32(_TWO32 % np.uint64(n_inside))
    for i in range(len(truth)):
        at = i * stride
        product = np.uint64(words[at]) * np.uint64(n_inside)
        more = 1
        while np.uint32(product) < unfair and more < stride:
            product = np.uint64(words[at + more]) * np.uint64(n_inside)
            more += 1
        exhausted[i] = np.uint32(product) < unfair
        out[i] = table[truth[i], product >> _U32]
