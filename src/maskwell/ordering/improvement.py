r"""A design that wastes nothing in place of one that does, at the same parity.

A row is a constant plus steps: with values :math:`v_1 > \dots > v_t` and :math:`S_l` the categories whose entry is at
least :math:`v_l`, it is :math:`v_t 1 + \sum_l (v_l - v_{l+1}) 1_{S_l}`. A step of height Δ can be had from a report of
parity γ about its set, the row :math:`(1 + (\gamma-1) 1_S)\,\Delta/(\gamma-1)`, and what all steps leave over is
constant and not negative. So the sets become the reports, those about the same set are merged, the constant, which
tells nothing, is dropped, and the rest is rescaled: all columns still have the same sum. This does at one stroke what
Lemmas 4.2 to 4.4 of chai-nayak-2018 do one step at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from maskwell.designs.base import Design, Matrix, require_design
from maskwell.designs.channels import SizeRow
from maskwell.designs.kinds.subsets import SubsetDesign
from maskwell.designs.named.matrices import build
from maskwell.designs.rounding import split_at_parity
from maskwell.errors import DesignError
from maskwell.ordering.admissibility import admissible
from maskwell.ordering.row_comparison import Comparison, proper
from maskwell.ordering.size_comparison import SizeComparison
from maskwell.ordering.size_rules import Move, SizeTransition
from maskwell.sampling.samplers import TOTAL

_NAME = "improved"
_DECIMAL = Context(prec=50)
# Values of a row that differ by less, relative to its largest, or by two units of rounding, differ by rounding only.
_SAME = Fraction(1, 10**12)
_UNITS = 2
_MOST_CELLS = 250_000


@dataclass(frozen=True)
class Improvement:
    """An admissible design that dominates ``original`` at no larger parity.

    ``original`` is ``C @ design``, C being the identity where ``transition`` is None; ``slack`` is the largest relative
    error of that product. ``wasted`` is the share of the original's reports that told nothing.
    """

    original: Design
    design: Design
    transition: Matrix | SizeTransition | None
    slack: float
    wasted: float

    @cached_property
    def C(self) -> Matrix:
        """The transition matrix from reports of the improved design to reports of the original."""
        if self.transition is None:
            self.original.channel.refuse_large("C")
            return np.eye(self.original.report_count())
        return self.transition.matrix() if isinstance(self.transition, SizeTransition) else self.transition


def improve(design: Design) -> Design:
    """An admissible design that dominates this one at no larger parity; the design itself if it is admissible.

    >>> from maskwell import designs
    >>> improve(designs.rappor(4, epsilon=1)).sizes
    (1, 2, 3)
    """
    return improvement(design).design


def improvement(design: Design) -> Improvement:
    """``improve`` with the proof."""
    require_design(design)
    parity = design.exact_parity()
    if not isinstance(parity, Fraction):
        raise DesignError(
            f"{design.title} has infinite parity, where only the direct question is admissible: improving it would end "
            "all masking. Improve a design of finite parity, or see admissible_average_secure and LocalDiversity."
        )
    if design.variables:
        raise DesignError(
            f"{design.title} masks several variables apart, and what improves it would mask them together; improve its "
            "parts one by one, or from_matrix(design.matrix()) for the joint variable."
        )
    if admissible(design):
        return Improvement(design, design, None, 0.0, 0.0)
    # A better symmetric design is symmetric again, and is found without listing sets.
    return _improved_sizes(design, parity) if design.channel.sizes else _improved_rows(design, parity)


D = TypeVar("D", bound=Design)


def _described(better: D, original: Design) -> D:
    """The design with its origin, and with the demand of the original if it still holds."""
    demand = original.demand if original.demand is not None and original.demand.holds_for(better) else None
    return replace(better, parameters={"of": original.name, **original.parameters}, demand=demand)


# Symmetric designs: the steps of a set are the set itself, or its complement where the set speaks against the truth.


def _improved_sizes(design: Design, parity: Fraction) -> Improvement:
    k, steps = design.k, [(row, *_step(design.k, row, parity)) for row in design.channel.sizes]
    merged: dict[int, Fraction] = {}
    for _, size, weight in steps:
        if weight:
            merged[size] = merged.get(size, Fraction(0)) + weight
    total = sum(merged.values(), Fraction(0))
    weights = split_at_parity(k, {size: _decimal(weight / total) for size, weight in merged.items()}, parity)
    better = _described(SubsetDesign(design.categories, *weights, name=_NAME), design)
    moves = []
    for size in better.sizes:
        for row, new_size, weight in steps:
            if new_size == size and weight:
                shared = size if row.size == size and row.odds(k) >= 1 else 0
                moves.append(Move(size, row.size, shared, float(total * weight / merged[size])))
            if rest := Fraction(row.weight, TOTAL) - weight:
                moves.append(Move(size, row.size, None, float(rest)))
    comparison = SizeComparison(k, better.channel.sizes, design.channel.sizes)
    transition = comparison.transition(moves)
    slack = comparison.error(transition)
    return Improvement(design, better, transition, slack, float(1 - total))


def _decimal(share: Fraction) -> Decimal:
    return _DECIMAL.divide(Decimal(share.numerator), Decimal(share.denominator))


def _step(k: int, row: SizeRow, parity: Fraction) -> tuple[int, Fraction]:
    """The size of the sets that such sets speak for, and the probability of the reports of full parity about them."""
    if row.odds(k) == 1:
        return row.size, Fraction(0)
    row = row.favouring(k)
    rise = Fraction(row.contrast(k), (k - row.size) * TOTAL)
    return row.size, rise * (parity + Fraction(k - row.size, row.size)) / (parity - 1)


# Tables.


def _improved_rows(design: Design, parity: Fraction) -> Improvement:
    exact = design.matrix(exact=True).tolist()
    steps = [_steps(row, _UNITS * design.channel.unit) for row in exact]
    sets = sorted({members for row in steps for members in row}, key=lambda members: (members.bit_count(), members))
    if len(sets) * design.k > _MOST_CELLS:
        raise DesignError(
            f"improving {design.title} would take {len(sets)} reports over {design.k} categories (limit {_MOST_CELLS} "
            "cells); start from a design whose rows take few different values."
        )
    heights = [sum((row.get(members, Fraction(0)) for row in steps), Fraction(0)) for members in sets]
    table, base, total = _balanced(sets, heights, design.k, parity)
    better = _described(build(design.categories, table, _names(design, sets), name=_NAME), design)
    shares = [[row.get(members, 0) / height for members, height in zip(sets, heights, strict=True)] for row in steps]
    rest = [
        max(Fraction(0), min(row) - base * sum(row_steps.values())) for row, row_steps in zip(exact, steps, strict=True)
    ]
    C = proper(float(total) * np.array(shares, float) + np.array(rest, float)[:, None])
    present = [i for i, row in enumerate(exact) if any(row)]
    slack = Comparison(better.matrix(), design.matrix()[present]).error(C[present])
    return Improvement(design, better, C, slack, float(sum(rest)))


def _steps(row: list[Fraction], rounding: Fraction) -> dict[int, Fraction]:
    """The height of each step of a row, by the set of categories above it as a bit mask."""
    order = sorted(range(len(row)), key=lambda j: row[j], reverse=True)
    tolerance = max(_SAME * row[order[0]], rounding)
    steps: dict[int, Fraction] = {}
    members, level = 0, row[order[0]]
    for j in order:
        if level - row[j] > tolerance:
            steps[members] = level - row[j]
            level = row[j]
        members |= 1 << j
    return steps


def _balanced(
    sets: list[int], heights: list[Fraction], k: int, parity: Fraction
) -> tuple[list[list[Fraction]], Fraction, Fraction]:
    """The reports about the sets as rows whose columns sum to 1, the constant per unit of height, and the scale.

    Rounding may have left the sums of columns unequal in the last digits. Then columns are scaled one by one, and the
    two values of a row are chosen a little closer so that no parity exceeds the one allowed.
    """
    above = [
        sum((h for members, h in zip(sets, heights, strict=True) if members >> j & 1), Fraction(0)) for j in range(k)
    ]
    target, whole = parity, sum(heights)
    while True:
        base = 1 / (target - 1)
        sums = [base * whole + own for own in above]
        spread = max(sums) / min(sums)
        if target * spread <= parity:
            break
        target = parity / spread**2
    table = [
        [height * (base + (members >> j & 1)) / sums[j] for j in range(k)]
        for members, height in zip(sets, heights, strict=True)
    ]
    return table, base, sum(sums, Fraction(0)) / k


def _names(design: Design, sets: list[int]) -> list[Any]:
    """A report about one category is called by it, one about several by all of them."""
    members = [[c for j, c in enumerate(design.categories) if mask >> j & 1] for mask in sets]
    if all(len(names) == 1 for names in members):
        return [names[0] for names in members]
    names = [" or ".join(map(str, chosen)) for chosen in members]
    return names if len(set(names)) == len(names) else list(range(len(names)))
