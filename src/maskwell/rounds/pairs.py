r"""Pairs of a permanent and an instantaneous layer.

Privacy is asked for twice: ``longitudinal``, the ε of the permanent layer, which no number of rounds exceeds, and
``per_round``, the ε of one report. Within a family of layers both can be had at once without loss: the error of one
round is that of the best single layer at ``per_round``, and what remains after many rounds is that of the best single
layer at ``longitudinal``. For bits, with :math:`a` and :math:`b` the chances of a 1 for the truth and for others, any
pair of chances can be reached from a permanent pair whose ratios :math:`a/b` and :math:`(1-b)/(1-a)` are both larger,
and the best ones, :math:`a = 1/2` and :math:`b = 1/(1+\gamma)`, have larger ratios for larger γ.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.demands import LDP
from maskwell.designs import LayeredBits, LayeredTables
from maskwell.designs.base import Design, require_design
from maskwell.designs.rounding import table_out_of_total
from maskwell.errors import DesignError
from maskwell.exact import fraction
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import as_labels

Categories = Iterable[Any] | int
Number = float | Fraction


def kary(categories: Categories, *, longitudinal: Number, per_round: Number) -> LayeredTables:
    """k-ary response twice: a category is kept for good, and another one may be sent in its place in each round.

    >>> design = kary(3, longitudinal=2, per_round=1)
    >>> round(design.epsilon, 6), round(design.permanent.epsilon, 6)
    (1.0, 2.0)
    """
    labels = as_labels(categories)
    k, kept, sent = len(labels), *_bounds(longitudinal, per_round)
    rest = math.ceil(TOTAL / (kept + k - 1))
    # The chance of a given other category in one round is (rest + moves) / 2^64 - k rest moves / 2^128.
    moves = max(1, math.ceil((TOTAL**2 / (sent + k - 1) - TOTAL * rest) / (TOTAL - k * rest)))
    demand = LDP(per_round)
    return LayeredTables(
        labels, _diagonal(k, rest), _diagonal(k, moves), labels, name=LayeredTables.kind, demand=demand
    )


def unary(categories: Categories, *, longitudinal: Number, per_round: Number) -> LayeredBits:
    """A bit for each category twice: the best bits are kept for good, and flipped with one chance in each round.

    >>> design = unary(100, longitudinal=2, per_round=1)
    >>> round(design.epsilon, 6), round(design.permanent.epsilon, 6)
    (1.0, 2.0)
    """
    kept, sent = _bounds(longitudinal, per_round)
    other = Fraction(math.ceil(TOTAL / (kept + 1)), TOTAL)
    flip = max(1, math.ceil((1 / (sent + 1) - other) / (1 - 2 * other) * TOTAL))
    first, second = (TOTAL // 2, int(other * TOTAL)), (TOTAL - flip, flip)
    return LayeredBits(as_labels(categories), first, second, name=LayeredBits.kind, demand=LDP(per_round))


def rappor(categories: Categories, *, f: Number, p: Number, q: Number) -> LayeredBits:
    r"""RAPPOR's two responses with one bit a category (erlingsson-2014).

    A permanent bit is the true one with chance :math:`1 - f` and else a fair coin; a sent bit is 1 with chance q after
    a permanent 1 and p after a permanent 0.

    >>> design = rappor(8, f=0.5, p=0.5, q=0.75)
    >>> design.longitudinal_parity(), design.exact_parity()
    (Fraction(9, 1), Fraction(77, 45))
    """
    coin, zero, one = (fraction(x, name, DesignError) for x, name in ((f, "f"), (p, "p"), (q, "q")))
    if not 0 < coin < 1:
        raise DesignError(f"f must lie between 0 and 1; got {f}. With 0 the answer is kept as it is, with 1 nothing.")
    if not 0 < zero < one < 1:
        raise DesignError(f"p and q must have 0 < p < q < 1; got p={p} and q={q}.")
    first, second = ((math.floor(a * TOTAL), math.ceil(b * TOTAL)) for a, b in ((1 - coin / 2, coin / 2), (one, zero)))
    return LayeredBits(as_labels(categories), first, second, name=LayeredBits.kind)


def layers(permanent: Design, instantaneous: Design) -> LayeredTables:
    """Any two designs with few reports, the second for as many categories as the first has reports.

    >>> from maskwell.designs import warner
    >>> layers(warner(truth_prob=0.75), warner(truth_prob=0.75)).exact_parity()
    Fraction(5, 3)
    """
    for design in (permanent, instantaneous):
        require_design(design)
    if instantaneous.k != permanent.report_count():
        raise DesignError(
            f"the instantaneous layer must be a design for the {permanent.report_count():,} reports of the permanent "
            f"one; it is for {instantaneous.k:,} categories."
        )
    reports = tuple(
        ", ".join(sorted(map(str, label))) if isinstance(label, frozenset) else label
        for label in instantaneous.report_labels()
    )
    first, second = _table(permanent), _table(instantaneous)
    return LayeredTables(permanent.categories, first, second, reports, name=LayeredTables.kind)


def _bounds(longitudinal: Number, per_round: Number) -> tuple[Fraction, Fraction]:
    """The parities that the two ε allow."""
    kept, sent = (Fraction(LDP(epsilon).exact_bound()) for epsilon in (longitudinal, per_round))
    if not sent <= kept:
        raise DesignError(
            f"per_round must not be above longitudinal, which bounds all rounds together; got {per_round} and "
            f"{longitudinal}.",
            parameter="per_round",
        )
    return kept, sent


def _diagonal(k: int, rest: int) -> tuple[tuple[int, ...], ...]:
    own = TOTAL - (k - 1) * rest
    return tuple(tuple(own if i == j else rest for j in range(k)) for i in range(k))


def _table(design: Design) -> tuple[tuple[int, ...], ...]:
    exact = design.matrix(exact=True)
    if not np.all(exact > 0):
        raise DesignError(
            f"{design.title} has reports that rule an answer out; each layer must leave every report possible."
        )
    return tuple(tuple(int(w) for w in row) for row in table_out_of_total(exact))
