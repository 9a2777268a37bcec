"""Compiled samplers of secure records: what the leading halves of a record's words decide, and what they leave open.

A category among others, a block or a listed hyperplane is drawn from a 64-bit number u, which is below a weight or not,
and one pick: a word x that gives floor(x r / 2^32) (`kernels.py`). Here a record has 32 bits. The low half of them are
the 16 highest bits of u, the high half those of x.

* If the bits of u differ from the 16 highest bits of the weight, they decide whether u is below it.
* Let ``half * r = 65536 value + rest``, where ``half`` are the bits of x. Then ``x r = 2^32 value + 65536 rest + y``
  with y between 0 and ``65535 r``. If ``1 <= rest <= 65536 - r``, the last two terms together are below 2^32, so that
  the pick is ``value``, and at least 65536, more than 2^32 mod r can be, so that it is not rejected.

Whatever else the words of such a record would hold, its report is the one that is written here. All others are flagged
as open, one in some 65536 / r: their reports are void, and the caller draws the rest of their words.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.numerics.compiled import compiled

Array = NDArray[Any]

_HALF, _LOW_HALF, _SPAN = np.uint32(16), np.uint32(0xFFFF), np.uint32(1 << 16)


@compiled(inline="always")
def _decided(word: Any, edge: Any, n_below: Any, n_above: Any) -> Any:
    """Whether u is below the weight that begins with ``edge``, the pick of so many, and whether either is open.

    For a word or, where nothing is compiled, for an array of them.
    """
    half = np.uint32(word & _LOW_HALF)
    below = np.uint32(half < edge)
    among = np.uint32(n_below * below + n_above * (np.uint32(1) - below))
    product = np.uint32(np.uint32(word >> _HALF) * among)
    rest = np.uint32(product & _LOW_HALF)
    left_open = (half == edge) | (rest == 0) | (np.uint32(rest + among) > _SPAN)
    return below, np.uint32(product >> _HALF), np.uint8(left_open)


def _lead_single_at_once(truth: Array, words: Array, others: Any, edge: Any, out: Array, left_open: Array) -> None:
    stays, lie, left_open[:] = _decided(words, edge, others, others)
    out[:] = np.where(stays, truth, lie + (lie >= truth))


@compiled(instead=_lead_single_at_once)
def lead_single(truth: Array, words: Array, others: Any, edge: Any, out: Array, left_open: Array) -> None:
    """One category, as ``kernels.single`` draws it: the truth, or one of so many others."""
    for i in range(len(truth)):
        j = np.uint32(truth[i])
        stays, lie, left_open[i] = _decided(words[i], edge, others, others)
        out[i] = j if stays else np.uint32(lie + np.uint32(lie >= j))


def _lead_blocks_at_once(
    truth: Array, words: Array, n_inside: Any, edge: Any, table: Array, out: Array, left_open: Array
) -> None:
    inside, pick, left_open[:] = _decided(words, edge, n_inside, np.uint32(table.shape[1]) - n_inside)
    out[:] = table[truth, np.where(inside, pick, n_inside + pick)]


@compiled(instead=_lead_blocks_at_once)
def lead_blocks(
    truth: Array, words: Array, n_inside: Any, edge: Any, table: Array, out: Array, left_open: Array
) -> None:
    """A block, as ``kernels.blocks`` draws it."""
    n_outside = np.uint32(np.uint32(table.shape[1]) - n_inside)
    places = np.empty(len(truth), np.uint16)
    # The places first, without a branch, so that this loop compiles to vector instructions.
    for i in range(len(truth)):
        inside, pick, left_open[i] = _decided(words[i], edge, n_inside, n_outside)
        places[i] = pick if inside else np.uint32(n_inside + pick)
    for i in range(len(truth)):
        out[i] = table[truth[i], places[i]]
