"""One-category masking beside its own keystream, a NumPy float implementation, and its keyed form."""

import os
from concurrent.futures import ThreadPoolExecutor
from math import exp

import numpy as np
import pyarrow as pa

import maskwell as mw
from bench.timing import best_seconds
from maskwell.sampling.entropy import CounterStream
from maskwell.sampling.samplers import worker_count

K, EPSILON = 100, 1.0


def keystream_seconds(n: int, words: int) -> float:
    """Making ``words`` 32-bit words a record and nothing else, in the threads and chunks that masking uses."""
    chunk = (1 << 19) // words // 16 * 16
    truth = np.zeros(chunk, np.uint32)

    def fill(starts: range) -> None:
        stream = CounterStream(os.urandom(32), "secure")
        for start in starts:
            stream.slots(start, truth[: min(chunk, n - start)], words)

    def work() -> None:
        workers = worker_count(n)
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(fill, [range(w * chunk, n, workers * chunk) for w in range(workers)]))

    return best_seconds(work)


def numpy_response(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """k-ary response as it is usually written: a float coin for each record, and a shifted random category."""
    keep = exp(EPSILON) / (exp(EPSILON) + K - 1)
    lies = generator.integers(0, K - 1, len(values))
    lies += lies >= values
    return np.where(generator.random(len(values)) < keep, values, lies)


def measure(n: int) -> dict[str, float]:
    """Nanoseconds a record."""
    generator = np.random.Generator(np.random.PCG64(1))
    values = generator.integers(0, K, n)
    ids, shuffled = np.arange(n), generator.permutation(n)
    design = mw.designs.gamma_diagonal(K, epsilon=EPSILON)
    keyed = {"key": os.urandom(32), "question": "bench"}
    texts = pa.array(shuffled).cast(pa.string())
    seconds = {
        "12 keystream bytes": keystream_seconds(n, 3),
        "gamma_diagonal mask": best_seconds(lambda: design.mask(values)),
        "NumPy PCG64 float": best_seconds(lambda: numpy_response(values, generator), 3),
        "keyed mask, rising ids": best_seconds(lambda: design.mask(values, ids=ids, **keyed), 3),
        "keyed mask, shuffled ids": best_seconds(lambda: design.mask(values, ids=shuffled, **keyed), 3),
        "keyed mask, Arrow ids": best_seconds(lambda: design.mask(values, ids=pa.array(ids), **keyed), 3),
        "keyed mask, text ids": best_seconds(lambda: design.mask(values, ids=texts, **keyed), 3),
    }
    reports = design.mask(values)
    seconds["tally"] = best_seconds(reports.tally)
    return {name: 1e9 * s / n for name, s in seconds.items()}


def linear_in_n(sizes: tuple[int, ...]) -> dict[int, float]:
    """Nanoseconds a record of ``mask`` at each size."""
    design = mw.designs.gamma_diagonal(K, epsilon=EPSILON)
    per_record = {}
    for n in sizes:
        values = (np.arange(n, dtype=np.int64) * 7) % K
        per_record[n] = 1e9 * best_seconds(lambda v=values: design.mask(v), 3) / n
    return per_record
