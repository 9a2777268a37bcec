"""Ids that came before are found exactly, in pages, in memory and in temporary files."""

import numpy as np
import pyarrow as pa
import pytest

from maskwell.sampling.ids import seen as seen_module
from maskwell.sampling.ids.blocks import read_ids
from maskwell.sampling.ids.seen import SeenIds

RNG = np.random.default_rng(7)
DENSE = RNG.permutation(3_000_000)[:20_000]
SCATTERED = RNG.integers(-(2**63), 2**63 - 1, 20_000)
UNSIGNED = RNG.integers(0, 2**64 - 1, 20_000, np.uint64)
TEXTS = np.array([f"person {i}" for i in DENSE])
KINDS = {"dense": DENSE, "scattered": SCATTERED, "unsigned": UNSIGNED, "text": TEXTS}


def repeats(batches: list[np.ndarray]) -> int:
    seen = SeenIds()
    for batch in batches:
        seen.add(read_ids(batch if batch.dtype.kind in "iu" else pa.array(batch.tolist())))
    return seen.repeats()


@pytest.mark.parametrize("held", [4_000_000, 3000])
@pytest.mark.parametrize("pages", [512, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_repeats_across_batches_are_counted(kind: str, pages: int, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "_PAGES", pages)
    monkeypatch.setattr(seen_module, "_HELD", held)
    ids = KINDS[kind]
    assert len(np.unique(ids)) == len(ids)
    assert repeats(np.array_split(ids, 7)) == 0
    # Seven ids of the first batches come again in the last one, one of them twice.
    again = np.concatenate([ids, ids[:7], ids[:1]])
    assert repeats(np.array_split(again, 9)) == 8


def test_numbers_of_the_same_bits_are_told_apart() -> None:
    assert repeats([np.array([-1, 5]), np.array([2**64 - 1, 7], np.uint64)]) == 0
    assert repeats([np.array([5], np.int8), np.array([5], np.uint64)]) == 1
