"""Identification risk: the log-linear models over 364,320 possible cells, and assessment per record as files grow."""

import itertools
import math
from collections.abc import Iterator
from functools import reduce

import numpy as np

from bench.frame import Bench, Goal, Ratio, Row, Work
from bench.frame.stages import Stage
from maskwell.risk import assess

TITLE = "Risk of identification"
ABOUT = (
    "Five keys with 364,320 possible cells in a made file: from the table to τ1, τ2 and their corrections under each "
    "log-linear model, and to the risk of every record."
)
LIMIT = 120.0
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


def models(n: int) -> Iterator[Stage]:
    """From a table of ``n`` records to tau1, tau2, B1 and B2, by model."""
    records = table(n)

    def run(model: str) -> None:
        report = assess(records, KEYS, population_size=n / FRACTION, model=model)
        _ = report.tau1, report.tau2, report.b1, report.b2

    for name in ("independence", "two-way", "stepwise"):
        yield Stage(name, n, lambda name=name: run(name))


def every_record(n: int) -> Iterator[Stage]:
    """From a table to uniques, tau1, tau2 and the risk of every record, under independence."""
    records = table(n)

    def run() -> None:
        report = assess(records, KEYS, population_size=n / FRACTION, model="independence")
        _ = report.sample_uniques, report.tau1, report.tau2, report.records

    yield Stage("records", n, run)


def measure(bench: Bench) -> Iterator[Row]:
    """The models, then growth in n."""
    n = 100_000 if bench.quick else 1_000_000
    for name, stage in bench.alone(Work("bench.risk:models", {"n": n}), rounds=3).items():
        what = f"{math.prod(SHAPE):,} possible cells, n = {n:,}, {name}"
        yield Row(what, Ratio.of(stage.seconds), "s", goal=Goal(at_most=2))
    sizes = (n, 5 * n)
    found = bench.alternate({str(size): Work("bench.risk:every_record", {"n": size}) for size in sizes}, rounds=3)
    for size in sizes:
        first, stage = found[str(n)]["records"], found[str(size)]["records"]
        yield stage.time_row(f"risk of every record, n = {size:,}", first.faster_than(stage), "the first a record")
