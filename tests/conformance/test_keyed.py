"""Keyed masking: a report is a function of (key, design, id, truth), and of nothing else."""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from tests.conformance.masking_helpers import (
    CODES,
    KEY,
    KEYED,
    PAIRS,
    PRODUCT,
    QUESTION,
    SETS,
    WARNER,
    every_kind,
    narrow,
    refused,
    run_python,
    values_for,
)
from tests.conformance.sampling_checks import repeated, row_counts
from tests.statistics_helpers import fit_test, independence_p_value, smallest_error

OTHER_KEY = bytes(range(1, 33))


@every_kind
def test_keyed_reports_do_not_depend_on_order_or_chunk(design: mw.Design) -> None:
    values, ids = values_for(design, 3001), np.arange(3001) * 7 - 5000
    whole = design.mask(values, **KEYED, ids=ids)
    assert whole.randomness == "keyed"
    assert design.mask(values, **KEYED, ids=ids) == whole
    order = np.random.default_rng(1).permutation(3001)
    shuffled = design.mask(values[order], **KEYED, ids=ids[order])
    assert (shuffled.packed == whole.packed[order]).all()
    parts = [slice(0, 1), slice(1, 64), slice(64, 1000), slice(1000, 3001)]
    batches = design.mask_batches([values[p] for p in parts], **KEYED, ids=[ids[p] for p in parts])
    assert mw.Reports.concatenate(batches) == whole
    one = design.mask(values[1234:1235], **KEYED, ids=ids[1234:1235])
    assert (one.packed[0] == whole.packed[1234]).all()


def test_keyed_reports_do_not_depend_on_threads() -> None:
    """70,000 records are masked in threads, one by one they are not."""
    for design in (CODES, SETS):
        values, ids = values_for(design, 70_000), np.random.default_rng(2).permutation(70_000)
        whole = design.mask(values, **KEYED, ids=ids)
        halves = [design.mask(values[p], **KEYED, ids=ids[p]) for p in (slice(0, 35_000), slice(35_000, None))]
        assert mw.Reports.concatenate(halves) == whole


@pytest.mark.parametrize("text", [False, True])
def test_keyed_reports_do_not_depend_on_the_process(text: bool) -> None:
    ids = [f"person {i}" for i in range(500)] if text else list(range(500))
    here = SETS.mask(np.arange(500) % 40, **KEYED, ids=ids).packed.tobytes()
    there = run_python(f"""
        import hashlib, numpy as np, maskwell as mw
        design = mw.designs.minimax(40, epsilon=0.5)
        order = np.arange(500)[::-1]
        ids = [f"person {{i}}" if {text} else int(i) for i in order]
        packed = design.mask(order % 40, key=bytes(range(32)), question="health 2026/habit", ids=ids).packed[::-1]
        print(hashlib.sha256(packed.tobytes()).hexdigest())
    """)
    assert there == hashlib.sha256(here).hexdigest()


def _shift(ids: np.ndarray) -> np.ndarray:
    return ids + len(ids)


CHANGES: dict[str, Callable[[mw.Design, np.ndarray], Any]] = {
    "another truth": lambda design, ids: design.mask(np.ones(len(ids), int), **KEYED, ids=ids),
    "another id": lambda design, ids: design.mask(np.zeros(len(ids), int), **KEYED, ids=_shift(ids)),
    "the next id": lambda design, ids: design.mask(np.zeros(len(ids), int), **KEYED, ids=ids + 1),
    "the negative id": lambda design, ids: design.mask(np.zeros(len(ids), int), **KEYED, ids=-ids - 1),
    "an id in the high bits": lambda design, ids: design.mask(np.zeros(len(ids), int), **KEYED, ids=ids << 32),
    "the id as text": lambda design, ids: design.mask(np.zeros(len(ids), int), **KEYED, ids=ids.astype(str)),
    "the id as bytes": lambda design, ids: design.mask(np.zeros(len(ids), int), **KEYED, ids=ids.astype("S")),
    "another question": lambda design, ids: design.mask(
        np.zeros(len(ids), int), key=KEY, ids=ids, question=QUESTION + "s"
    ),
    "another key": lambda design, ids: design.mask(np.zeros(len(ids), int), key=OTHER_KEY, question=QUESTION, ids=ids),
    "other integers": lambda design, ids: altered(design).mask(np.zeros(len(ids), int), **KEYED, ids=ids),
    "other labels": lambda design, ids: relabelled(design).mask(["a"] * len(ids), **KEYED, ids=ids),
}


def altered(design: mw.Design) -> mw.Design:
    return mw.designs.gamma_diagonal(4, epsilon=1.001) if design == CODES else mw.designs.minimax(4, epsilon=0.01)


def relabelled(design: mw.Design) -> mw.Design:
    labels = ["a", "b", "c", "d"]
    return mw.designs.gamma_diagonal(labels, epsilon=1) if design == CODES else mw.designs.local_diversity(labels, l=2)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("design", [CODES, PAIRS], ids=["codes", "pairs"])
def test_any_change_gives_an_independent_draw(design: mw.Design, change: str) -> None:
    """Chi-square of independence over 20,000 ids, false alarm 1e-6 for all changes and both designs.

    A dependence of .036 in total variation between the two draws is caught with power .99.
    """
    rate = 1e-6 / (2 * len(CHANGES))
    ids = np.arange(20_000)
    first = design.mask(np.zeros(len(ids), int), **KEYED, ids=ids)
    second = CHANGES[change](design, ids)
    shown = [sorted(map(str, r)) if isinstance(r, frozenset) else r for r in second.decode()]
    assert independence_p_value(first.decode(), shown) > rate
    assert smallest_error(25, len(ids), rate) < 0.037


@pytest.mark.parametrize("design", [CODES, PAIRS, WARNER, PRODUCT], ids=["codes", "pairs", "matrix", "product"])
def test_keyed_reports_have_the_distribution_of_the_design(design: mw.Design) -> None:
    """Chi-square over 100,000 ids and each truth, false alarm 1e-6; errors of .015 are caught with power .99."""
    rate = 1e-6 / 20
    for ids in (np.arange(100_000), [f"{i:x}" for i in range(100_000)]):
        for j, truth in enumerate(design.categories):
            counts = row_counts(design.mask(repeated(design, truth, 100_000), **KEYED, ids=ids))
            chances = design.matrix()[:, j]
            assert not counts[chances == 0].any()
            fit = fit_test(counts, chances, rate)
            assert fit.p_value > rate
            assert fit.smallest_error < 0.015


def test_what_an_id_is_made_of_does_not_matter() -> None:
    """The same ids in any container give the same reports."""
    import pandas
    import polars
    import pyarrow

    n = 300
    numbers = list(range(n))
    values = values_for(SETS, n)
    expected = SETS.mask(values, **KEYED, ids=numbers)
    for ids in (
        range(n),
        np.arange(n),
        np.arange(n, dtype=np.uint64),
        np.arange(n, dtype=np.int16),
        np.arange(n, dtype=">i8"),
        np.arange(2 * n)[::2] // 2,
        pandas.Series(numbers),
        pandas.Series(numbers, dtype="Int64"),
        pandas.Index(numbers),
        polars.Series(numbers),
        pyarrow.array(numbers),
        pyarrow.chunked_array([numbers[:100], numbers[100:]]),
    ):
        assert SETS.mask(values, **KEYED, ids=ids) == expected
    texts = [f"Zoë {i}" for i in numbers]
    expected = SETS.mask(values, **KEYED, ids=texts)
    for ids in (
        np.array(texts),
        np.array(texts, object),
        pandas.Series(texts),
        polars.Series(texts),
        pyarrow.array(texts),
        pyarrow.array(texts, pyarrow.large_string()),
    ):
        assert SETS.mask(values, **KEYED, ids=ids) == expected
    raw = [hashlib.md5(text.encode(), usedforsecurity=False).digest() for text in texts]
    assert any(item.endswith(b"\0") for item in raw)
    assert SETS.mask(values, **KEYED, ids=raw) == SETS.mask(values, **KEYED, ids=np.array(raw, object))
    assert SETS.mask(values, **KEYED, ids=raw) == SETS.mask(values, **KEYED, ids=pyarrow.array(raw))


def test_ids_in_views_and_dictionaries() -> None:
    import polars
    import pyarrow as pa

    texts, raw = ["x", "yy", "a text of more than twelve bytes"], [b"x", b"yy", b"more than twelve bytes"]
    by_text, by_bytes = (CODES.mask([0, 1, 2], **KEYED, ids=ids) for ids in (texts, raw))
    views = pa.array(texts, pa.string_view())
    for ids in (
        polars.Series(texts, dtype=polars.Categorical),
        polars.Series(texts, dtype=polars.Enum(texts)),
        views,
        pa.DictionaryArray.from_arrays([0, 1, 2], views),
        pa.chunked_array([pa.array(texts[:1]).dictionary_encode(), pa.array(texts[1:]).dictionary_encode()]),
    ):
        assert CODES.mask([0, 1, 2], **KEYED, ids=ids) == by_text
    for ids in (pa.array(raw, pa.binary_view()), polars.Series(raw)):
        assert CODES.mask([0, 1, 2], **KEYED, ids=ids) == by_bytes


@pytest.mark.parametrize(
    "ids",
    [
        np.ma.array(range(6), mask=[0, 0, 1, 0, 0, 0]),
        set(range(6)),
        frozenset("abcdef"),
        np.arange(6).reshape(3, 2),
        np.array(list("abcdef")).reshape(3, 2),
    ],
    ids=["masked", "set", "frozenset", "two columns", "two columns of text"],
)
def test_ids_that_would_not_stay_with_their_record(ids: Any) -> None:
    """A hidden id, an order that changes from process to process, rows for columns."""
    refused(mw.DataError, "ids", lambda: CODES.mask([0, 1, 2, 3, 0, 1], **KEYED, ids=ids))


@pytest.mark.parametrize("values", [{0, 1, 2}, frozenset([0, 1])])
def test_a_set_is_no_column_of_values(values: Any) -> None:
    refused(mw.DataError, "values", lambda: CODES.mask(values))


def test_more_ids_than_values() -> None:
    batches = CODES.mask_batches([[0, 1]], **KEYED, ids=[[1, 2], [3, 4]])
    refused(mw.DataError, "more batches", lambda: list(batches))
    assert len(CODES.mask(np.array([], int), **KEYED, ids=np.array([]))) == 0


def test_ids_that_differ_only_in_trailing_zeros_are_two_ids() -> None:
    for pair in ([b"a", b"a\0"], ["a", "a\0"], np.array([b"a", b"a\0"], object)):
        assert len(CODES.mask([0, 0], **KEYED, ids=pair)) == 2


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 1],
        [3, 2, 2],
        [-5, 7, -5],
        [0, 10**15, 0],
        [2**63 - 1, -(2**63), 2**63 - 1],
        np.array([2**64 - 1, 0, 2**64 - 1], np.uint64),
        np.array([1, 1, 2], np.int8),
        ["a", "b", "a"],
        [b"a", b"b", b"b"],
        np.array(["x", "y", "x"]),
        np.array(["x", "y", "x"], object),
    ],
)
def test_repeated_ids_are_refused(ids: Any) -> None:
    """Two records with one id would get one draw."""
    refused(mw.DataError, "1 of 3 ids repeat", lambda: CODES.mask([0, 1, 2], **KEYED, ids=ids))


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64, np.uint16, np.uint64])
@pytest.mark.parametrize("spread", [1, 3, 1000])
def test_repeated_ids_are_found_wherever_they_are(kind: Any, spread: int) -> None:
    """Dense and sparse, in any order, with the repeat anywhere; and none is found where there is none."""
    largest = np.iinfo(kind).max
    ids = (np.arange(2000) * min(spread, largest // 2000)).astype(kind)
    ids = np.random.default_rng(3).permutation(ids)
    assert len(CODES.mask(np.zeros(2000, int), **KEYED, ids=ids)) == 2000
    ids[1999] = ids[17]
    refused(mw.DataError, "1 of 2000 ids", lambda: CODES.mask(np.zeros(2000, int), **KEYED, ids=ids))


@pytest.mark.parametrize(("kind", "reach"), [(np.int8, 100), (np.int16, 20_000)])
def test_narrow_integers_do_not_wrap_around(kind: Any, reach: int) -> None:
    ids = np.random.default_rng(4).permutation(np.arange(-reach, reach + 1)).astype(kind)
    assert len(CODES.mask(np.zeros(len(ids), int), **KEYED, ids=ids)) == len(ids)


@pytest.mark.parametrize(
    "ids",
    [[1], [1, 2, 3], [[1], [2]], 5, [1.0, 2.0], [True, False], [1, None], ["a", None], [None, None], [(1,), (2,)]],
)
def test_ids_that_are_none(ids: Any) -> None:
    refused(mw.DataError, "ids", lambda: CODES.mask([0, 1], **KEYED, ids=ids))


@pytest.mark.parametrize("key", [b"", b"short", "x" * 32, 12345, bytearray(8)])
def test_keys_that_are_none(key: Any) -> None:
    message = refused(mw.DataError, "key", lambda: CODES.mask([0, 1], key=key, question=QUESTION, ids=[1, 2]))
    assert "short" not in message
    assert "xxxx" not in message


def test_key_ids_and_seed_go_together_or_not_at_all() -> None:
    refused(mw.DataError, "key and ids", lambda: CODES.mask([0], key=KEY))
    refused(mw.DataError, "key and ids", lambda: CODES.mask([0], ids=[1]))
    refused(mw.DataError, "key and seed", lambda: CODES.mask([0], **KEYED, ids=[1], seed=1))
    refused(mw.DataError, "key and ids", lambda: CODES.mask_batches([[0]], key=KEY))
    refused(mw.DataError, "key and ids", lambda: CODES.mask_batches([[0]], ids=[[1]]))
    refused(mw.DataError, "key and seed", lambda: CODES.mask_batches([[0]], **KEYED, ids=[[1]], seed=1))
    refused(mw.DataError, "ids", lambda: list(CODES.mask_batches([[0], [1]], **KEYED, ids=[[1]])))


@pytest.mark.parametrize("width", [2, 5, 9, 100])
def test_keyed_reports_do_not_depend_on_the_length_of_a_slot(width: int) -> None:
    values, ids = values_for(SETS, 2000), np.arange(2000)
    expected = SETS.mask(values, **KEYED, ids=ids).packed
    assert (narrow(SETS, width).mask(values, **KEYED, ids=ids).packed == expected).all()
