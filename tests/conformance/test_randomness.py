"""Where the draws come from: seeds that repeat, calls and processes that never do, records that need more words."""

import os
from fractions import Fraction

import numpy as np
import pytest

import maskwell as mw
from tests.conformance.masking_helpers import CODES, SETS, narrow, refused, run_python, values_for
from tests.conformance.members import EVERY
from tests.conformance.sampling_checks import check_sampler, check_thresholds
from tests.statistics_helpers import binomial_p_values, independence_p_value

# Seeded: the same reports for any chunks.


@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY.keys())
def test_a_seed_gives_the_same_reports_for_any_chunk_size(design: mw.Design) -> None:
    values = values_for(design, 2000)
    whole = design.mask(values, seed=11)
    assert whole.randomness == "seeded"
    for step in (1, 3, 17, 64, 999):
        size = 100 if step == 1 else 2000
        parts = [values[at : min(at + step, size)] for at in range(0, size, step)]
        pieces = mw.Reports.concatenate(design.mask_batches(parts, seed=11))
        assert (pieces.packed == whole.packed[:size]).all()
        assert pieces.randomness == "seeded"
    with_gaps = [values[:5], values[5:5], values[5:2000]]
    assert mw.Reports.concatenate(design.mask_batches(with_gaps, seed=11)) == whole


def test_a_seed_gives_the_same_reports_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    values = values_for(SETS, 200_000)
    threaded = SETS.mask(values, seed=12)
    monkeypatch.setattr("maskwell.sampling.samplers.worker_count", lambda n, worth: 1)
    assert SETS.mask(values, seed=12) == threaded


def test_seeds_differ_and_are_whole_numbers() -> None:
    values = np.zeros(1000, int)
    assert SETS.mask(values, seed=0) != SETS.mask(values, seed=1)
    assert SETS.mask(values, seed=np.int64(5)) == SETS.mask(values, seed=5)
    assert SETS.mask(values, seed=2**70) == SETS.mask(values, seed=2**70)
    for seed in (-1, 1.5, "1", [1]):
        refused(mw.DataError, "seed", lambda seed=seed: CODES.mask([0], seed=seed))
        refused(mw.DataError, "seed", lambda seed=seed: list(CODES.mask_batches([[0]], seed=seed)))


# Secure: fresh for each call, in each process.


def test_secure_calls_differ() -> None:
    """Two calls agree on 1,000 sets of 15 out of 40 with a chance below 2^-1000."""
    values = np.zeros(1000, int)
    first, second = SETS.mask(values), SETS.mask(values)
    assert first.randomness == "secure"
    assert first != second
    batches = list(SETS.mask_batches([values, values]))
    assert batches[0] != batches[1]


def test_secure_draws_are_independent_of_each_other() -> None:
    """Neighbouring records, and the same record of two calls: chi-square, false alarm 1e-6."""
    first, second = (CODES.mask(np.zeros(40_001, int)).decode() for _ in range(2))
    assert independence_p_value(first, second) > 5e-7
    assert independence_p_value(first[:-1], first[1:]) > 5e-7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_draw_differently() -> None:
    """After a first draw in the parent, and from a generator that was alive when the process split."""
    shown = run_python("""
        import os, sys, hashlib, warnings
        import numpy as np, maskwell as mw
        warnings.simplefilter("ignore")
        design = mw.designs.minimax(40, epsilon=0.5)
        values = np.zeros(1000, int)
        batches = design.mask_batches(values for _ in range(5))
        design.mask(values), next(batches)

        def show():
            for packed in (design.mask(values).packed, next(batches).packed):
                os.write(1, (hashlib.sha256(packed.tobytes()).hexdigest() + "\\n").encode())

        for _ in range(3):
            if os.fork() == 0:
                show()
                os._exit(0)
            os.wait()
        show()
    """).split()
    assert len(shown) == 8
    assert len(set(shown)) == 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_repeat_what_is_seeded() -> None:
    shown = run_python("""
        import os, warnings, hashlib
        import numpy as np, maskwell as mw
        warnings.simplefilter("ignore")
        design = mw.designs.minimax(40, epsilon=0.5)
        design.mask(np.zeros(10, int), seed=1)
        child = os.fork()
        digest = hashlib.sha256(design.mask(np.zeros(1000, int), seed=2).packed.tobytes()).hexdigest()
        os.write(1, (digest + "\\n").encode())
        os.wait() if child else os._exit(0)
    """).split()
    assert len(shown) == 2
    assert len(set(shown)) == 1


# Records that need more random words than a slot holds.


def test_a_record_that_runs_out_of_words_is_drawn_again_without_bias() -> None:
    """Chi-square for each truth on 12,000 draws; errors of .041 are caught with power .99."""
    design = mw.designs.minimax(5, epsilon=0.1)
    assert design.sizes == (2,)
    check_sampler(narrow(design), n=12_000, false_alarm=1e-6 / 5, worst_error=0.041)


def test_long_sets_that_run_out_of_words() -> None:
    """Sets that start from random bits: sizes are exact, and inclusions binomial (false alarm 1e-6 in all)."""
    design, n = narrow(SETS), 4000
    (size,) = SETS.sizes
    assert SETS.sampler.width > 10
    bits = np.unpackbits(design.mask(np.full(n, 7), seed=13).packed, axis=1, count=40, bitorder="little")
    assert (bits.sum(axis=1) == size).all()
    truth, other = SETS.inclusion_probabilities()
    chances = np.where(np.arange(40) == 7, truth, other)
    assert (binomial_p_values(bits.sum(axis=0, dtype=np.int64), n, chances) > 1e-6 / 40).all()


def test_seeded_batches_agree_where_slots_run_out() -> None:
    design, values = narrow(SETS), values_for(SETS, 600)
    whole = design.mask(values, seed=14)
    pieces = mw.Reports.concatenate(design.mask_batches([values[:7], values[7:300], values[300:]], seed=14))
    assert (pieces.packed == whole.packed).all()


def test_totals_that_reject_every_other_number() -> None:
    """A common denominator just above 2^63: half of all 64-bit numbers are thrown away, without bias."""
    total = 2**63 + 29
    third, quarter = Fraction(total // 3, total), Fraction(total // 4, total)
    design = mw.designs.from_matrix([[third, quarter], [1 - third, 1 - quarter]])
    assert design.total == total
    check_thresholds(design)
    check_sampler(design, n=400_000, false_alarm=1e-6 / 2, worst_error=0.012)
