"""Products of channels: the matrix is the Kronecker product of the parts, and is formed only where it is asked for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.numbers import Exact
from maskwell.errors import DesignError
from maskwell.limits import MOST_STEPS


@dataclass(frozen=True, eq=False)
class ProductChannel(Channel):
    """Channels that act on one variable each, independently."""

    parts: tuple[Channel, ...]

    def exact(self) -> Exact:
        return reduce(_kronecker, (part.table() for part in self.parts))

    def report_count(self) -> int:
        return math.prod(part.report_count() for part in self.parts)

    @cached_property
    def parity(self) -> Fraction | float:
        # A report's ratio is the product of its parts' ratios, and every combination of rows is a report.
        return reduce(lambda a, b: math.inf if math.inf in (a, b) else a * b, (part.parity for part in self.parts))

    @cached_property
    def diversity(self) -> int:
        return math.prod(part.diversity for part in self.parts)

    @cached_property
    def column_distance(self) -> Fraction:
        """By enumeration of the joint reports, for one pair of truths of every kind that the parts tell apart."""
        self.refuse_large("column_distance()")
        self._refuse_many_pairs()
        columns, pairs, total = [], [], 1
        for part in self.parts:
            exact = part.exact()
            denominator = math.lcm(*{p.denominator for p in exact.flat})
            columns.append(np.array([[int(p * denominator) for p in row] for row in exact], object).T)
            # Equal truths of a variable are all alike. Different ones count in both orders: with those of another
            # variable, (a, c) and (b, d) is another pair than (a, d) and (b, c).
            pairs.append([(0, 0), *itertools.permutations(range(part.kinds_of_truth), 2)])
            total *= denominator

        def distance(pair: Sequence[tuple[int, int]]) -> int:
            ends = [[column[p[end]] for column, p in zip(columns, pair, strict=True)] for end in (0, 1)]
            first, second = (reduce(lambda a, b: np.multiply.outer(a, b).reshape(-1), end) for end in ends)
            return int(abs(first - second).sum())

        return Fraction(max(distance(pair) for pair in itertools.product(*pairs)), total)

    # The singular values of a Kronecker product are the products of the parts' singular values.

    @cached_property
    def rank(self) -> int:
        return math.prod(part.rank for part in self.parts)

    @cached_property
    def condition_number(self) -> float:
        return math.prod(part.condition_number for part in self.parts)

    def _refuse_many_pairs(self) -> None:
        pairs = math.prod(1 + part.kinds_of_truth * (part.kinds_of_truth - 1) for part in self.parts)
        if pairs * self.report_count() > MOST_STEPS:
            raise DesignError(
                f"the L1 distance of {self.name} would take {pairs:,} pairs of truths over {self.report_count():,} "
                f"reports (limit {MOST_STEPS:,} steps); ask for a bound on the parity instead, which multiplies."
            )


def _kronecker(a: Exact, b: Exact) -> Exact:
    joint: Exact = np.einsum("ij,kl->ikjl", a, b).reshape(len(a) * len(b), -1)
    return joint
