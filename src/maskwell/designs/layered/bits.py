"""Two layers of bits, as in RAPPOR: one bit a category, each masked by itself, first for good and then in every round.

With ``a1`` and ``b1`` the chances that a permanent bit is 1 for the true category and for another, and ``q`` and ``p``
those of an instantaneous bit after a permanent 1 and 0, one round has bits with ``a = p + (q - p) a1`` and
``b = p + (q - p) b1`` (erlingsson-2014). Bits are independent given the truth, so everything is found bit by bit.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import stored
from maskwell.designs.base import Design, Matrix, Method, Scores, Vector
from maskwell.designs.codecs import SetCodec
from maskwell.designs.layered.base import LayeredDesign, RoundsParity
from maskwell.designs.layered.bit_channel import BitChannel
from maskwell.designs.scores import SUM_TOLERANCE, FromInclusions
from maskwell.designs.set_facts import SetFacts
from maskwell.errors import DesignError
from maskwell.exact import power_above
from maskwell.limits import MATRIX_CELLS
from maskwell.sampling.entropy import Stream
from maskwell.sampling.layer_samplers import BitsSampler, Layer, flip_again
from maskwell.sampling.samplers import TOTAL, Packed
from maskwell.tables.labels import as_labels

MOST_BIT_CATEGORIES = 4096
"""Categories of a report of bits: each takes 16 random bytes a layer."""


@dataclass(frozen=True, eq=False, repr=False)
class BitReports(Design):
    """Whatever reports independent bits: estimates are those of inclusion counts, in closed form."""

    @property
    @abstractmethod
    def channel(self) -> BitChannel: ...

    @cached_property
    def codec(self) -> BitsCodec:
        return BitsCodec(self.categories, self.report_labels, self.channel)

    def report_labels(self) -> list[Any]:
        self.channel.refuse_large("report_labels()")
        return self.codec.decode(self.codec.pack_rows(np.arange(self.report_count())))

    def set_facts(self) -> SetFacts:
        return SetFacts(0, self.k, self.channel.own, self.channel.other)

    @property
    def estimable(self) -> bool:
        return True

    @property
    def added_variance(self) -> float:
        a, b = self.channel.own, self.channel.other
        return float((a * (1 - a) + (self.k - 1) * b * (1 - b)) / (a - b) ** 2)

    def scores(self, method: Method) -> Scores:
        return BitScores(self.channel, (float(self.channel.own), float(self.channel.other)))

    def estimator(self, method: Method) -> Matrix:
        self.channel.refuse_large("the table of scores")
        return self.scores(method).rows(self.pack_rows(np.arange(self.report_count()))).T

    def relative_rows(self, packed: Packed) -> Matrix:
        rows = np.where(self.codec.bits(packed) == 1, float(self.channel.parity), 1.0)
        relative: Matrix = rows / rows.mean(axis=1, keepdims=True)
        return relative


@dataclass(frozen=True, eq=False, repr=False)
class BitsDesign(BitReports):
    """One layer of independent bits: the permanent layer of two. ``layer`` has its weights out of 2^64."""

    layer: Layer

    kind = "bits"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.k, (self.layer,))

    @cached_property
    def channel(self) -> BitChannel:
        return BitChannel(self.k, self.title, *(Fraction(weight, TOTAL) for weight in self.layer))

    @cached_property
    def sampler(self) -> BitsSampler:
        return BitsSampler(self.k, (self.layer,))

    def stored_weights(self) -> dict[str, Any]:
        return {"own": str(self.layer[0]), "other": str(self.layer[1])}

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        own, other = stored.fields(weights, "own", "other")
        return cls(as_labels(labels), (stored.weight(own), stored.weight(other)), **about)


@dataclass(frozen=True, eq=False, repr=False)
class LayeredBits(BitReports, LayeredDesign):
    """Weights out of 2^64: ``first`` of a permanent 1 for the truth and for others, ``second`` of a 1 after 1 and 0."""

    first: Layer
    second: Layer

    kind = "layered bits"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self.k, (self.first, self.second))

    @cached_property
    def channel(self) -> BitChannel:
        own, other = (Fraction(weight, TOTAL) for weight in self.first)
        after_one, after_zero = (Fraction(weight, TOTAL) for weight in self.second)
        chances = (after_zero + (after_one - after_zero) * bit for bit in (own, other))
        return BitChannel(self.k, self.title, *chances)

    @cached_property
    def sampler(self) -> BitsSampler:
        return BitsSampler(self.k, (self.first, self.second))

    # Two layers.

    @cached_property
    def permanent(self) -> BitsDesign:
        return BitsDesign(self.categories, self.first, name=BitsDesign.kind)

    def again(self, permanent: Packed, stream: Stream) -> Packed:
        return flip_again(permanent, self.k, self.second, stream)

    def _parity_of(self, rounds: int) -> RoundsParity:
        """By bit: of T ones for the truth and T zeros for the other answer, as each bit's odds rise with its ones."""
        (own, other), (after_one, after_zero) = self.first, self.second

        def odds(one: int, zero: int) -> Fraction:
            """How much likelier the truth's bit is than another to show T reports with these chances."""
            one, zero = one**rounds, zero**rounds
            return Fraction(own * one + (TOTAL - own) * zero, other * one + (TOTAL - other) * zero)

        return RoundsParity(odds(after_one, after_zero) / odds(TOTAL - after_one, TOTAL - after_zero), True)

    def _parity_above(self, rounds: int) -> Fraction | float:
        """The same, from how much likelier T ones, and T zeros, are after a permanent 1 than after a 0."""
        (own, other), (after_one, after_zero) = self.first, self.second
        ones = power_above(Fraction(after_one, after_zero), rounds)
        zeros = power_above(Fraction(TOTAL - after_zero, TOTAL - after_one), rounds)
        return _odds(own, other, ones) * _odds(TOTAL - other, TOTAL - own, zeros)

    def _kept_moments(self, shares: Vector) -> Matrix:
        a, b = float(self.channel.own), float(self.channel.other)
        own, other = (weight / TOTAL for weight in self.first)
        one, zero = ((weight / TOTAL - b) / (a - b) for weight in self.second)  # mean scores of a permanent bit
        mine, others = (bit * one**2 + (1 - bit) * zero**2 for bit in (own, other))
        return np.diag(others * shares.sum() + (mine - others) * shares)

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        return {"first": [str(w) for w in self.first], "second": [str(w) for w in self.second]}

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        first, second = (stored.weights(layer, "a layer") for layer in stored.fields(weights, "first", "second"))
        if len(first) != 2 or len(second) != 2:
            raise DesignError("a layer of bits has two weights.")
        return cls(as_labels(labels), (first[0], first[1]), (second[0], second[1]), **about)


def _odds(own: int, other: int, ratio: Fraction | float) -> Fraction:
    """How much likelier the first bit shows what is ``ratio`` times as likely after a 1; it rises with the ratio."""
    if not isinstance(ratio, Fraction):
        return Fraction(own, other)
    return (own * ratio + (TOTAL - own)) / (other * ratio + (TOTAL - other))


def _check(k: int, layers: tuple[Layer, ...]) -> None:
    if k > MOST_BIT_CATEGORIES:
        raise DesignError(
            f"reports of bits are for up to {MOST_BIT_CATEGORIES:,} categories; got {k:,}. Group them, or keep "
            "one report for each answer and send it as it is: mask by mw.plan(categories, mw.LDP(epsilon)) with a key, "
            "which mw.rounds.privacy(design, rounds, values) accounts for."
        )
    for layer in layers:
        stored.integers(layer, "the weights of a layer of bits", 1)
        if not layer[1] < layer[0] < TOTAL:
            raise DesignError(
                "a layer of bits has two weights: of a 1 after a 1, below 2^64, and a smaller one after 0."
            )


@dataclass(frozen=True, eq=False)
class BitsCodec(SetCodec):
    """A report is a bit mask of any size, and what is counted is how often each category stands in one."""

    channel: BitChannel  # type: ignore[assignment]

    @property
    def single(self) -> bool:
        return False

    @property
    def set_sizes(self) -> frozenset[int]:
        return frozenset(range(self._k + 1))

    def masks(self) -> list[int]:
        return self.channel.masks()

    def pack(self, report: Any) -> Packed:
        members = self._members(report)
        return np.packbits(np.array([[c in members for c in self.categories]], np.uint8), axis=1, bitorder="little")

    @cached_property
    def _size_index(self) -> NDArray[np.int64]:
        index = np.full(self._k + 9, -1, np.int64)
        index[: self._k + 1] = 0
        return index

    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        from maskwell.sampling.counting import count_sets

        return count_sets(packed, self._size_index, (1, self._k + 1), weights)


@dataclass(frozen=True)
class BitScores(FromInclusions):
    """The score of a bit is ``(bit - b) / (a - b)``: unbiased given each truth, so scores of two bits share nothing."""

    channel: BitChannel
    inclusion: tuple[float, float]

    @property
    def k(self) -> int:
        return self.channel.k

    def mean(self, counts: NDArray[Any]) -> Vector:
        a, b = self.inclusion
        held = counts[:, :-1].sum(axis=0) / counts[:, -1].sum()
        return np.asarray((held - b) / (a - b))

    def rows(self, packed: Packed) -> Matrix:
        a, b = self.inclusion
        bits = np.unpackbits(packed, axis=1, count=self.channel.k, bitorder="little")
        return np.asarray((bits - b) / (a - b), np.float64)

    def second_moment(self, proportions: Vector) -> Matrix:
        if self.channel.k**2 > MATRIX_CELLS:
            raise DesignError(f"the covariance of {self.channel.k:,} categories is too large; use variances.")
        return np.diag(self.second_moment_diagonal(proportions))

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        intercept, slope = self.common_line()
        return np.asarray(intercept * proportions.sum() + slope * proportions)

    def mean_squares(self) -> Matrix:
        intercept, slope = self.common_line()
        return intercept + slope * np.eye(self.channel.k)

    def extremes(self) -> tuple[float, float]:
        a, b = self.inclusion
        return -b / (a - b), (1 - b) / (a - b)

    def contrast_moment(self, weights: Vector, proportions: Vector) -> float:
        return float(weights**2 @ self.second_moment_diagonal(proportions))

    def holds_at(self, proportions: Vector) -> bool:
        return bool(abs(proportions.sum() - 1) <= SUM_TOLERANCE and (proportions >= 0).all())
