"""Identification risk: the log-linear models over 364,320 possible cells, and assessment per record as files grow."""

import itertools
import math
from collections.abc import Callable
from functools import reduce

import numpy as np

from bench.timing import best_seconds
from maskwell.risk import assess

SHAPE = (23, 12, 11, 10, 12)
KEYS = [f"key {i}" for i in range(len(SHAPE))]
FRACTION = 0.01


def table(n: int) -> dict[str, np.ndarray]:
    """Records whose keys depend on each other pairwise, so that a stepwise model has work to do."""
    generator = np.random.Generator(np.random.PCG64(5))
    logs = [np.log(generator.dirichlet(np.ones(size))) for size in SHAPE]
    chances = np.exp(reduce(np.add.outer, logs))
    for pair in itertools.combinations(range(len(SHAPE)), 2):
        shape = [size if i in pair else 1 for i, size in enumerate(SHAPE)]
        chances *= np.exp(generator.normal(0, 0.3, shape))
    drawn = generator.choice(chances.size, n, p=chances.reshape(-1) / chances.sum())
    return dict(zip(KEYS, np.unravel_index(drawn, SHAPE), strict=True))


def models(n: int) -> dict[str, float]:
    """Seconds from a table of ``n`` records to tau1, tau2, B1 and B2, by model."""
    records = table(n)

    def run(model: str) -> None:
        report = assess(records, KEYS, population_size=n / FRACTION, model=model)
        _ = report.tau1, report.tau2, report.b1, report.b2

    return {name: best_seconds(lambda name=name: run(name), 3) for name in ("independence", "two-way", "stepwise")}


def linear_in_n(sizes: tuple[int, ...]) -> dict[int, float]:
    """Nanoseconds a record from a table to uniques, tau1, tau2 and the risk of every record, under independence."""
    records = table(max(sizes))
    per_record = {}
    for n in sizes:
        part = {name: column[:n] for name, column in records.items()}

        def run(part: dict[str, np.ndarray] = part, n: int = n) -> None:
            report = assess(part, KEYS, population_size=n / FRACTION, model="independence")
            _ = report.sample_uniques, report.tau1, report.tau2, report.records

        per_record[n] = 1e9 * best_seconds(run, 2) / n
    return per_record


def report(line: Callable[[str, str, str], None], quick: bool) -> None:
    """Print the measures through ``line(what, figure, ratio)``."""
    n = 100_000 if quick else 1_000_000
    for name, seconds in models(n).items():
        line(f"risk, {math.prod(SHAPE):,} possible cells, n = {n:,}, {name}", f"{seconds:.2f} s", "(under 2)")
    sizes = (100_000, 1_000_000) if quick else (1_000_000, 10_000_000)
    per_record = linear_in_n(sizes)
    for size, cost in per_record.items():
        line(f"risk of every record, n = {size:,}", f"{cost:.0f} ns", f"{cost / per_record[sizes[0]]:.2f} x the first")
