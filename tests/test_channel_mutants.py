"""Channels, codecs and scores with a planted fault, each caught by a named test.

Every mutant replaces one method; the test that catches it passes without the fault and fails with it.
"""

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pytest

import maskwell as mw
from maskwell import null_spaces
from maskwell.designs import base, codecs
from maskwell.designs.channels import ProductChannel, SizeRow, SymmetricChannel, TableChannel
from maskwell.designs.kinds import subsets
from maskwell.designs.kinds.product import ProductScores
from maskwell.sampling.samplers import TOTAL
from tests import test_channels
from tests.unusual_designs import UNUSUAL


class Mutant(NamedTuple):
    """Where the fault is, what stands there instead, and the test that must fail, with what it is given."""

    owner: Any
    name: str
    fault: Any
    caught_by: Callable[..., None]
    given: Callable[[], tuple[Any, ...]]


def _cached(function: Callable[[Any], Any], name: str) -> Any:
    prop = cached_property(function)
    prop.__set_name__(object, name)
    return prop


def _coarse_distance(self: TableChannel) -> Fraction:
    """Only the upper half of each number is looked at."""
    upper = dataclasses.replace(self, weights=(self.weights >> 40) << 40)
    return TableChannel.__dict__["_honest"].func(upper)


def _members_only(self: Any) -> tuple[float, float]:
    values = self.base + self.slope
    return float(values.min()), float(values.max())


def _sum_of_squares(self: Any) -> Any:
    k = math.prod(self._shape)
    return np.add.outer(*(part.mean_squares() for part in self._parts)).swapaxes(1, 2).reshape(k, k)


def _top_bit_first(self: Any, report: Any) -> Any:
    if self.single:
        return HONEST_PACK(self, report)
    bits = np.array([[c in report for c in self.categories]], np.uint8)
    return np.packbits(bits, axis=1, bitorder="big")


def _different_columns_alone(matrix: Any) -> Any:
    """A column that is there twice counts once, as if the second were not there."""
    rows = list(matrix)
    columns = list(dict.fromkeys(zip(*rows, strict=True)))
    return HONEST_NULL_SPACE(list(zip(*columns, strict=True)))


HONEST_NULL_SPACE = null_spaces.null_space
HONEST_PACK = codecs.SetCodec.pack


def _rappor() -> tuple[Any, ...]:
    return (mw.designs.rappor(5, epsilon=1).channel,)


def _pair() -> mw.Design:
    return mw.designs.product(mw.designs.minimax(4, epsilon=1), mw.designs.warner(truth_prob=0.8))


def _check_rank() -> None:
    """A channel of rank 2 whose first two columns are alike."""
    groups = mw.designs.collapse(["a", "b", "c"], groups=[["a", "b"], ["c"]])
    assert groups.channel.rank == 2


def _check_forgiven_rounding() -> None:
    """Weights out of 2^64 may miss the ratio by their rounding; weights out of 10 are what was meant."""
    near = np.array([[6, 3, 4], [4, 7, 6]], object)
    deviations = TableChannel(3, "near", near, 10).parity_deviations(Fraction(2))
    assert max(row.deviation for row in deviations) > 1e-9


MUTANTS = {
    "odds of a size with k - s and s exchanged": Mutant(
        SizeRow,
        "odds",
        lambda self, k: Fraction(self.inside * self.size, self.outside * (k - self.size)),
        test_channels.test_a_size_says_how_it_favours_the_truth,
        tuple,
    ),
    "distance of columns counted from one side": Mutant(
        SymmetricChannel,
        "column_distance",
        _cached(
            lambda self: Fraction(sum(abs(row.contrast(self.k)) for row in self.rows), (self.k - 1) * TOTAL),
            "column_distance",
        ),
        test_channels.test_exact_figures,
        _rappor,
    ),
    "sets that never hold the truth count by their members": Mutant(
        SizeRow,
        "possible",
        lambda self, k: k if self.size in (0, k) or (self.inside and self.outside) else self.size,
        test_channels.test_exact_figures,
        lambda: (UNUSUAL["all but the truth"].channel,),
    ),
    "parities of a product do not multiply": Mutant(
        ProductChannel,
        "parity",
        _cached(lambda self: max(part.parity for part in self.parts), "parity"),
        test_channels.test_exact_figures,
        lambda: (_pair().channel,),
    ),
    "low bits of a table are not compared": Mutant(
        TableChannel,
        "column_distance",
        _cached(_coarse_distance, "column_distance"),
        test_channels.test_exact_figures,
        lambda: (mw.designs.from_matrix([[0.7, 0.1], [0.3, 0.9]]).channel,),
    ),
    "extremes of scores among members alone": Mutant(
        subsets.SubsetScores,
        "extremes",
        _members_only,
        test_channels.test_scores_against_their_rows,
        lambda: ("minimax(k=5, epsilon=1.0)",),
    ),
    "joint scores whose squares add up": Mutant(
        ProductScores,
        "mean_squares",
        _sum_of_squares,
        test_channels.test_scores_against_their_rows,
        lambda: ("gamma_diagonal x minimax",),
    ),
    "a set packed with its first category in the top bit": Mutant(
        codecs.SetCodec, "pack", _top_bit_first, test_channels.test_one_report_is_packed_as_it_is_shown, tuple
    ),
    "joint reports packed in another order": Mutant(
        codecs.JointCodec,
        "pack",
        lambda self, report: self.join([p.pack(x) for p, x in zip(self.parts, report, strict=True)][::-1]),
        test_channels.test_one_report_is_packed_as_it_is_shown,
        tuple,
    ),
    "a null space without columns that are there twice": Mutant(
        null_spaces, "null_space", _different_columns_alone, _check_rank, tuple
    ),
    "rounding forgiven where nothing was rounded": Mutant(
        TableChannel, "unit", property(lambda self: Fraction(1, 10)), _check_forgiven_rounding, tuple
    ),
    "worth of a report from the worst population": Mutant(
        base.Design,
        "worth",
        property(lambda self: 1 / (1 + self.added_variance / (1 - 1 / self.k))),
        test_channels.test_scores_against_their_rows,
        lambda: ("forced_response(yes_prob=0.1, no_prob=0.2)",),
    ),
}


@pytest.mark.parametrize("title", MUTANTS)
def test_the_fault_is_caught(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[title]
    mutant.caught_by(*mutant.given())
    if title.startswith("low bits"):
        monkeypatch.setattr(TableChannel, "_honest", vars(TableChannel)["column_distance"], raising=False)
    monkeypatch.setattr(mutant.owner, mutant.name, mutant.fault)
    with pytest.raises((AssertionError, ValueError)):
        mutant.caught_by(*mutant.given())


def test_a_parity_that_is_not_kept_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """By ``test_an_audit_computes_the_exact_parity_once``, whose counter sees every computation."""
    computed: list[Any] = []
    honest = vars(SymmetricChannel)["parity"].func

    def forgetful(self: Any) -> Any:
        computed.append(self)
        return honest(self)

    monkeypatch.setattr(SymmetricChannel, "parity", property(forgetful))
    with pytest.raises(AssertionError):
        test_channels.test_an_audit_computes_the_exact_parity_once(lambda: mw.designs.rappor(5, epsilon=1), computed)
