"""Masking beside its floor, beside NumPy, and as n and k grow: time and memory."""

import os
from collections.abc import Iterator
from math import exp

import numpy as np

from bench.frame import Bench, Goal, Ratio, Row, Work
from bench.frame.stages import Stage
from bench.peers import EPSILON

TITLE = "Masking beside its floor, and as it grows"
ABOUT = (
    "The floor is what no masking can go below: the keystream bytes that a record draws, one pass over memory, a file "
    "read and written. A record of `gamma_diagonal` has 12 bytes by the sampling format, and a secure draw makes 4 of "
    "them unless the others matter. `gamma_diagonal` with 100 categories at ε = 1 unless said otherwise; ns are "
    "nanoseconds a record."
)
LIMIT = 300.0
K = 100
BATCH = 1 << 20


def numpy_response(values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """k-ary response as it is usually written: a float coin for each record, and a shifted random category."""
    keep = exp(EPSILON) / (exp(EPSILON) + K - 1)
    lies = generator.integers(0, K - 1, len(values))
    lies += lies >= values
    return np.where(generator.random(len(values)) < keep, values, lies)


def numpy(n: int) -> Iterator[Stage]:
    generator = np.random.Generator(np.random.PCG64(1))
    values = generator.integers(0, K, n)
    yield Stage("mask", n, lambda: numpy_response(values, generator))


def keyed(n: int) -> Iterator[Stage]:
    """The same by a key, with ids of several kinds."""
    import pyarrow as pa

    import maskwell as mw

    design = mw.designs.gamma_diagonal(K, epsilon=EPSILON)
    generator = np.random.Generator(np.random.PCG64(1))
    values, rising, shuffled = np.arange(n) * 7919 % K, np.arange(n), generator.permutation(n)
    ids = {
        "rising ids": rising,
        "shuffled ids": shuffled,
        "Arrow ids": pa.array(rising),
        "text ids": pa.array(shuffled).cast(pa.string()),
    }
    key = os.urandom(32)
    for name, column in ids.items():
        yield Stage(name, n, lambda ids=column: design.mask(values, ids=ids, key=key, question="bench"))


def batches(n: int) -> Iterator[Stage]:
    """``mask_batches`` over ``n`` records that are made as they are asked for, and counted as they come."""
    import maskwell as mw

    design = mw.designs.gamma_diagonal(K, epsilon=EPSILON)

    def consume(total: int) -> int:
        made = (np.arange(start, min(start + BATCH, total)) % K for start in range(0, total, BATCH))
        return sum(reports.tally().n for reports in design.mask_batches(made))

    consume(1000)  # compiles the kernels
    yield Stage("mask_batches", n, lambda: consume(n), warm=False)


def measure(bench: Bench) -> Iterator[Row]:
    """The floor and what stands on it, then growth in n, growth in k, and memory."""
    n = 1_000_000 if bench.quick else 10_000_000
    yield from _floor(bench, n)
    yield from _growth_in_n(bench, (n // 10, n, 10 * n))
    yield from _growth_in_k(bench, n // 10)
    for size in (n, 10 * n):
        found = bench.alone(Work("bench.masking:batches", {"n": size}))["mask_batches"]
        if found.added_mib is not None:
            in_and_out = BATCH * (2 * 8 + 1) / 2**20  # an int64 batch and its making, and a packed one
            beyond = Ratio.of([found.added_mib - in_and_out])
            yield Row(f"memory of mask_batches beyond a batch, n = {size:,}", beyond, "MiB", goal=Goal(at_most=64))


def _floor(bench: Bench, n: int) -> Iterator[Row]:
    works = {
        "keystream": Work("bench.floor:keystream", {"n": n, "words": 3}),
        "drawn": Work("bench.floor:keystream", {"n": n, "words": 1}),
        "memory": Work("bench.floor:memory", {"n": n}),
        "files": Work("bench.floor:files", {"n": n}),
        "ours": Work("bench.ours:mask_and_count", {"design": "gamma_diagonal", "k": K, "n": n}),
        "numpy": Work("bench.masking:numpy", {"n": n}),
        "keyed": Work("bench.masking:keyed", {"n": n}),
    }
    found = bench.alternate(works)
    stream, ours = found["keystream"]["12 keystream bytes"], found["ours"]["mask"]
    drawn = found["drawn"]["4 keystream bytes"]
    yield stream.time_row("12 keystream bytes a record")
    yield drawn.time_row("4 keystream bytes a record")
    yield found["memory"]["copy of memory"].time_row("copy of an int64 column into bytes")
    yield found["files"]["read and write Parquet"].time_row("Parquet of an id and a byte read and written")
    yield ours.time_row("mask", stream.faster_than(ours), "the time of 12 bytes", Goal(at_most=2))
    yield ours.time_row("mask", drawn.faster_than(ours), "the time of 4 bytes")
    yield ours.time_row("mask", ours.faster_than(found["numpy"]["mask"]), "NumPy with floats", Goal(at_least=3))
    yield found["ours"]["tally"].time_row("tally")
    for name, stage in found["keyed"].items():
        yield stage.time_row(f"keyed mask, {name}", ours.faster_than(stage), "the time without a key")


def _growth_in_n(bench: Bench, sizes: tuple[int, ...]) -> Iterator[Row]:
    works = {str(n): Work("bench.ours:mask_and_count", {"design": "gamma_diagonal", "k": K, "n": n}) for n in sizes}
    found = bench.alternate(works)
    for n in sizes:
        for stage in ("mask", "tally"):
            first, this = found[str(sizes[0])][stage], found[str(n)][stage]
            yield this.time_row(f"{stage}, n = {n:,}", first.faster_than(this), "the first a record")


def _growth_in_k(bench: Bench, n: int) -> Iterator[Row]:
    for design in ("gamma_diagonal", "minimax", "projective"):
        sizes = (10, 100, 1000, 10_000) if design == "minimax" else (10, 1000, 100_000)
        records = {k: max(10_000, n // max(1, k // 100)) if design == "minimax" else n for k in sizes}
        works = {str(k): Work("bench.ours:mask_and_count", {"design": design, "k": k, "n": records[k]}) for k in sizes}
        found = bench.alternate(works)
        for k in sizes:
            for stage in ("mask", "tally"):
                yield found[str(k)][stage].time_row(f"{design}, {stage}, k = {k:,}, n = {records[k]:,}")
