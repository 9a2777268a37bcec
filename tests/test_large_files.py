"""Small files of large designs are audited, explained and written as codebooks without tables of sizes or fractions."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell import null_spaces
from maskwell.designs.base import Design
from maskwell.designs.channels.table import TableChannel
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.kinds.subsets import SubsetDesign

TOTAL = 1 << 64


def many_sizes(k: int, sizes: int) -> SubsetDesign:
    inside = (3,) * (sizes - 1) + (TOTAL // 2 - 3 * (sizes - 1),)
    outside = (1,) * (sizes - 1) + (TOTAL // 2 - (sizes - 1),)
    return SubsetDesign(tuple(range(k)), tuple(range(1, sizes + 1)), inside, outside, name="many")


@pytest.mark.parametrize(("k", "sizes"), [(2000, 300), (65536, 40)])
def test_a_codebook_of_many_sizes_holds_no_table_of_sizes_by_categories(k: int, sizes: int) -> None:
    design = many_sizes(k, sizes)
    tracemalloc.start()
    book = mw.codebook(design)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(book.content["estimator"]["member"]) == sizes
    # Labels, numbers and text grow with k and with the number of sizes, not with their product.
    assert peak < 8 * k * sizes / 4 + 300 * (k + sizes)


def test_the_scores_by_size_are_those_of_reports() -> None:
    design = many_sizes(9, 7)
    book = mw.codebook(design).content["estimator"]
    for at, size in enumerate(book["sizes"]):
        row = design.scores("linear").rows(design.pack(frozenset(range(size))))[0]
        assert row[0] == book["member"][at]
        assert row[-1] == book["other"][at]


def long_matrix(rows: int, same: bool) -> MatrixDesign:
    weights = [(i + 1, i + 1 if same else rows - i) for i in range(rows)]
    total = sum(a for a, _ in weights)
    assert total == sum(b for _, b in weights)
    return MatrixDesign(("a", "b"), tuple(weights), total, tuple(range(rows)), name="long")


@pytest.mark.parametrize("same", [True, False])
def test_audit_and_explanation_of_a_long_matrix_write_out_no_fractions(
    same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = long_matrix(20_000, same)
    slow = Design.from_json(design.to_json())
    expected = (
        Fraction(slow.channel.exact().max(axis=1).sum()) / 2,
        sum(abs(a - b) for a, b in slow.channel.exact()),
        slow.channel.exact().astype(float),
    )

    def refuse(channel: TableChannel) -> None:
        raise AssertionError("the table is written out in fractions")

    monkeypatch.setattr(TableChannel, "exact", refuse)
    audit = mw.audit(design)
    str(audit)
    str(mw.explain(design))
    assert audit.exact_guess_probability == expected[0]
    assert design.channel.column_distance == expected[1]
    assert (design.channel.floats == expected[2]).all()
    assert audit.rank == (1 if same else 2)


def test_what_a_long_matrix_cannot_tell_is_found_from_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    eliminated = null_spaces._eliminated

    def counted(matrix: Any, prime: int) -> Any:
        lengths.append(len(matrix))
        return eliminated(matrix, prime)

    monkeypatch.setattr(null_spaces, "_eliminated", counted)
    with pytest.raises(mw.MaskwellError, match="cannot estimate"):
        long_matrix(5000, True).scores("linear")
    assert max(lengths) <= 2


def test_what_a_table_answers_in_whole_numbers_is_what_its_fractions_say() -> None:
    from maskwell.designs.channels.base import Channel

    random = np.random.default_rng(2)
    for _ in range(200):
        k, rows = random.integers(2, 5), random.integers(2, 6)
        chosen = random.integers(0, rows, (k, 6))
        weights = np.array([np.bincount(column, minlength=rows) for column in chosen]).T.astype(object)
        channel = TableChannel(int(k), "x", weights, 6)
        assert channel.exposure() == Channel.exposure(channel)
        assert channel.diversity == Channel.diversity.func(channel)  # type: ignore[attr-defined]
        assert channel.best_guesses() == Channel.best_guesses(channel)
        assert channel.rank == null_spaces.rank(channel.exact().tolist())
        assert channel.column_distance == Channel.column_distance.func(channel)  # type: ignore[attr-defined]
