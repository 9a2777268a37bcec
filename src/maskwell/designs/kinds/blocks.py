"""Block designs: the report is a block of a balanced block design, and only whether it holds the truth matters.

With v points, b blocks, each point in r of them and each pair in λ, a block that holds the truth has the chance
``a = inside / r`` and another one ``c = outside / (b - r)``. Parity, estimator and variances are those of the
symmetric design with sets of the same size, with b instead of C(v, q) different reports. With fewer categories than
points the blocks lose the points that stand for nothing; every category is still in r blocks and every pair in λ, so
that inclusion counts are as before, but least squares, weighted by each block's own chance, do better.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.demands import LocalDiversity
from maskwell.designs import stored
from maskwell.designs.base import Matrix, Method, Scores
from maskwell.designs.channels import Channel
from maskwell.designs.channels.numbers import Exact
from maskwell.designs.codecs import Codec
from maskwell.designs.kinds.balanced import BalancedDesign
from maskwell.designs.kinds.subsets import SubsetDesign
from maskwell.designs.named.symmetric import direct, local_diversity, minimax
from maskwell.designs.scores import InclusionScores, TableScores
from maskwell.errors import DesignError
from maskwell.limits import MATRIX_CELLS
from maskwell.sampling.block_samplers import BlockSampler
from maskwell.sampling.samplers import TOTAL, code_type
from maskwell.tables.labels import Label, as_labels

Members = NDArray[np.bool_]


@dataclass(frozen=True)
class Embedding:
    """What it costs that no block design has the points and the size that would be best.

    Some points of a larger design are used then (``points`` is above the number of categories), or blocks of another
    size than ``best_size``, or both. ``ratio`` is the added variance over that of the best symmetric design for the
    categories, whose sets have the best size.
    """

    points: int
    block_size: int
    best_size: int
    added_variance: float
    symmetric_added_variance: float
    ratio: float


@dataclass(frozen=True, eq=False, repr=False)
class BlockDesign(BalancedDesign):
    """Blocks as bit masks of categories, by size and then value, with their multiplicities; two weights out of 2^64."""

    blocks: tuple[int, ...]
    copies: tuple[int, ...]
    inside: int
    outside: int

    kind = "blocks"

    def __post_init__(self) -> None:
        super().__post_init__()
        stored.integers(self.blocks, "blocks")
        stored.integers(self.copies, "copies", 1)
        stored.integers((self.inside, self.outside), "weights inside and outside")
        if not self.blocks or len(self.blocks) != len(self.copies):
            raise DesignError("blocks must each have a number of copies, at least 1.")
        # By Fisher's inequality a balanced design has as many blocks as points or more, so k is bounded as well.
        if len(self.blocks) < self.k:
            raise DesignError(f"{len(self.blocks)} different blocks cannot be balanced on {self.k} categories.")
        if len(self.blocks) * self.k > MATRIX_CELLS or sum(self.copies) * self.k > MATRIX_CELLS:
            raise DesignError(
                f"blocks times categories must be at most {MATRIX_CELLS}; got {sum(self.copies)} x {self.k}. "
                "Use minimax or local_diversity, which need no table."
            )
        if max(self.blocks) >= 1 << self.k:
            raise DesignError(f"blocks must be sets of the {self.k} categories.")
        if not stored.rising(map(_order, self.blocks)):
            raise DesignError("blocks must be listed once each, by size and then by bit mask.")
        if self.inside == 0 or self.inside + self.outside != TOTAL:
            raise DesignError("weights inside and outside must be integers >= 0 that sum to 2^64, inside above 0.")
        if self.outside == 0 and self.blocks[0] == 0:
            raise DesignError("a block that holds no category cannot be reported if the truth is always inside.")
        _ = self._points

    @classmethod
    def of(cls, labels: tuple[Label, ...], members: Members, inside: int, **about: Any) -> Self:
        """The design on a table ``members[block, category]``; equal blocks are one report."""
        packed = np.packbits(members, axis=1, bitorder="little")
        counted = Counter(int.from_bytes(row.tobytes(), "little") for row in packed)
        common = math.gcd(*counted.values())
        blocks = tuple(sorted(counted, key=_order))
        copies = tuple(counted[block] // common for block in blocks)
        return cls(labels, blocks, copies, inside, TOTAL - inside, **about)

    # The block design.

    @cached_property
    def members(self) -> Members:
        """Block by block, which categories it holds."""
        width = (self.k + 7) // 8
        raw = np.frombuffer(b"".join(block.to_bytes(width, "little") for block in self.blocks), np.uint8)
        return np.unpackbits(raw.reshape(-1, width), axis=1, count=self.k, bitorder="little").astype(np.bool_)

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """(b, r, λ): the blocks, those that hold a category, and those that hold two; an error unless all are alike."""
        # Whole numbers up to the number of blocks, which a float of 24 or 53 bits holds exactly.
        exact = np.float32 if sum(self.copies) < 1 << 24 else np.float64
        members = self.members.astype(exact)
        together = (members.T * np.array(self.copies, exact)) @ members
        r, pair = int(together[0, 0]), int(together[0, 1])
        expected = np.full((self.k, self.k), pair, exact)
        np.fill_diagonal(expected, r)
        if (together != expected).any() or r == pair:
            raise DesignError("blocks must be balanced: each category in r of them and each pair in λ < r.")
        return sum(self.copies), r, pair

    @cached_property
    def _points(self) -> int:
        b, r, pair = self.counts
        # From b q = v r and λ (v - 1) = r (q - 1), which are as true of the blocks with all their points.
        excess = r * r - pair * b
        points, rest = divmod(b * (r - pair), excess) if excess > 0 else (0, 0)
        if rest or points < self.k or points * r % b:
            raise DesignError("blocks must be those of a balanced design, or of a larger one without some points.")
        return points

    @property
    def points(self) -> int:
        """v: the points of the block design, as many as categories unless it is embedded in a larger one."""
        return self._points

    @property
    def block_size(self) -> int:
        """q: the points of a block."""
        b, r, _ = self.counts
        return self.points * r // b

    @property
    def embedded(self) -> bool:
        """Whether some points of the block design stand for no category."""
        return self.points > self.k

    # What it costs.

    @cached_property
    def symmetric(self) -> SubsetDesign:
        """The best symmetric design for the same categories at the same parity, or the same diversity."""
        parity = self.exact_parity()
        if isinstance(parity, Fraction):
            return minimax(self.categories, gamma=parity)
        least = self.demand.l if isinstance(self.demand, LocalDiversity) else self.diversity()
        return local_diversity(self.categories, l=least) if least > 1 else direct(self.categories)

    @property
    def embedding(self) -> Embedding | None:
        """The price of a larger block design or of another block size; None where it costs nothing.

        >>> from maskwell.designs import block
        >>> block(7, gamma=1.5).embedding is None
        True
        """
        if not self.estimable:
            return None  # at a parity of 1 no design is best
        (best_size,) = self.symmetric.sizes
        if not self.embedded and self.block_size == best_size:
            return None
        best = self.symmetric.added_variance
        ratio = self.added_variance / best if best else math.inf
        return Embedding(self.points, self.block_size, best_size, self.added_variance, best, ratio)

    @property
    def communication_bits(self) -> float:
        """The binary logarithm of the number of different reports."""
        return math.log2(self.report_count())

    @property
    def symmetric_communication_bits(self) -> float:
        """The same of the best symmetric design."""
        return math.log2(self.symmetric.report_count())

    # The matrix.

    @cached_property
    def channel(self) -> BlockChannel:
        _, r, pair = self.counts
        return BlockChannel(self.k, self.title, self.members, self.copies, *self.chances, r - pair)

    def report_labels(self) -> list[Any]:
        sets = [frozenset(self.categories[j] for j in np.flatnonzero(row).tolist()) for row in self.members]
        return [next(iter(s)) for s in sets] if self.block_size == 1 and not self.embedded else list(sets)

    @cached_property
    def sampler(self) -> BlockSampler:
        # Copies of a block are listed side by side; a stable sort puts those that hold the truth first.
        listed = np.repeat(np.arange(len(self.blocks), dtype=code_type(len(self.blocks))), self.copies)
        order = np.argsort(~self.members[listed].T, axis=1, kind="stable")
        return BlockSampler(self.counts[1], self.inside, listed[order])

    # Estimating.

    @cached_property
    def codec(self) -> Codec:
        return Codec(self.categories, self.report_labels, self.channel, self.members)

    def scores(self, method: Method) -> Scores:
        """Of inclusion counts for ``moments``; least squares for ``linear``, the same thing unless embedded."""
        self.require_estimable()
        if method == "moments" or not self.embedded:
            return InclusionScores(self.channel.floats, self.estimator(method), self.inclusion_probabilities())
        return TableScores(self.channel.floats, self.estimator(method))

    def estimator(self, method: Method) -> Matrix:
        return self._least_squares if method == "linear" and self.embedded else self._from_inclusions

    @cached_property
    def _from_inclusions(self) -> Matrix:
        a, b = self.inclusion
        return np.where(self.members.T, float((1 - b) / (a - b)), float(-b / (a - b)))

    @cached_property
    def _least_squares(self) -> Matrix:
        """Least squares weighted by each block's chance at uniform proportions, p = c + d |z|/k with d = a - c.

        A block's row of P is p times a constant vector plus d u, u = 1_z - |z|/k. The two parts are orthogonal: the
        first carries the sum of the proportions, and the scores are 1/k + C^+ u / (d p) with C the sum of u u' / p.
        """
        other = float(self.chances[1])
        step = float(self.chances[0] - self.chances[1])
        share = self.members.mean(axis=1)
        centred = (self.members - share[:, None]).T
        chance = other + step * share
        information = (centred * (np.array(self.copies) / chance)) @ centred.T
        # The constant vector, which C sends to 0, is given a weight of the size of the others. Balance keeps all of
        # them of one size, so that the inverse is as good as a solution, and faster.
        full = information + np.trace(information) / self.k**2
        scores: Matrix = 1 / self.k + np.linalg.inv(full) @ centred / (step * chance)
        return scores

    @cached_property
    def added_variance(self) -> float:
        if not self.estimable:
            return math.inf
        if self.embedded:
            return float((self.channel.floats.T @ (self._least_squares**2).sum(axis=0)).max()) - 1
        return self.variance_from_inclusions()

    # Storage.

    def stored_weights(self) -> dict[str, Any]:
        digits = (self.k + 3) // 4
        return {
            "inside": str(self.inside),
            "outside": str(self.outside),
            "blocks": [f"{block:0{digits}x}" for block in self.blocks],
            "copies": list(self.copies),
        }

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        inside, outside, blocks, copies = stored.fields(weights, "inside", "outside", "blocks", "copies")
        digits = re.compile(f"[0-9a-f]{{{(len(labels) + 3) // 4}}}")
        if not all(isinstance(block, str) and digits.fullmatch(block) for block in stored.listed(blocks, "blocks")):
            raise DesignError("blocks are stored as bit masks in lower-case hexadecimal, all of the same length.")
        return cls(
            as_labels(labels),
            tuple(int(block, 16) for block in blocks),
            tuple(stored.listed(copies, "copies")),
            stored.weight(inside),
            stored.weight(outside),
            **about,
        )


@dataclass(frozen=True, eq=False)
class BlockChannel(Channel):
    """Balanced blocks: a block has ``copies`` times the chance ``member`` for truths that it holds, else ``other``.

    ``apart`` is how many blocks hold one of two categories and not the other.
    """

    members: Members
    copies: tuple[int, ...]
    member: Fraction
    other: Fraction
    apart: int

    def report_count(self) -> int:
        return len(self.copies)

    def exact(self) -> Exact:
        copies = np.array(self.copies, object)[:, None]
        return np.asarray(np.where(self.members, copies * self.member, copies * self.other))

    @cached_property
    def floats(self) -> Matrix:
        # Each value once: a fraction becomes the nearest float, and there are few different ones.
        member, other = ({n: float(n * chance) for n in set(self.copies)} for chance in (self.member, self.other))
        held = np.array([[member[n]] for n in self.copies])
        not_held = np.array([[other[n]] for n in self.copies])
        return np.where(self.members, held, not_held)

    @cached_property
    def parity(self) -> Fraction | float:
        return max(self.member / self.other, self.other / self.member) if self.other else math.inf

    @cached_property
    def column_distance(self) -> Fraction:
        return 2 * self.apart * abs(self.member - self.other)

    @cached_property
    def diversity(self) -> int:
        if self.other:
            return self.k if self.member == self.other else 0
        return int(self.members.sum(axis=1).min())


def _order(block: int) -> tuple[int, int]:
    return block.bit_count(), block
