"""Maximum likelihood to a certified gap beside EM and beside a general convex solver, on the same distinct reports.

All three get the rows and counts of the distinct reports, so none pays for tallying. EM runs the same compiled sums
from the same start to the same gap, or until it has taken ``PATIENCE`` times as long. CVXPY sets the problem up and
solves it with its default solver; the gap that its answer really has is computed by our certificate.
"""

import time
import warnings
from collections.abc import Iterator

import cvxpy
import numpy as np

import maskwell as mw
from bench.em import em
from bench.frame import Bench, Goal, Measured, Row, Work
from bench.frame.stages import Stage
from maskwell.inference.likelihood.estimate import Distinct, safe_start
from maskwell.inference.likelihood.kernels import certificate, chances
from maskwell.inference.likelihood.maximum import Maximum, maximise, tolerance

TITLE = "Maximum likelihood beside EM and a convex solver"
ABOUT = (
    "Uniform subsets of k categories unless said otherwise. All get the same distinct reports; EM starts at the same "
    "point and is stopped when it has taken 60 times as long. The gap is what the log-likelihood may still rise, as "
    "our certificate proves it for each answer."
)
LIMIT = 240.0
PATIENCE = 60
MOST_CONVEX_REPORTS = 5_000


def sample_of(design: mw.Design, n: int) -> tuple[mw.Tally, Distinct]:
    """Reports of a population of normalised uniforms, as in the simulations of wang-ding-2021."""
    generator = np.random.Generator(np.random.PCG64(1))
    population = generator.random(design.k)
    values = generator.choice(design.k, n, p=population / population.sum())
    tally = design.mask(values, seed=1).tally(patterns=True)
    return tally, Distinct.of(tally)


def small(k: int, n: int) -> Iterator[Stage]:
    """Ours, EM, and CVXPY where there are few distinct reports; each returns its gap."""
    tally, sample = sample_of(mw.designs.uniform_subsets(k), n)
    start = safe_start(tally, sample.rows)
    distinct = len(sample.counts)

    def ours() -> dict[str, float]:
        return {"gap": maximise(sample.rows, sample.counts, start).gap, "distinct": distinct}

    yield Stage("ours", 1, ours)
    begun = time.perf_counter()
    ours()
    patience = PATIENCE * (time.perf_counter() - begun)
    # EM cannot leave a zero, so it starts from the same point with its zeros lifted.
    yield Stage("EM", 1, lambda: {"gap": _em(sample, 0.99 * start + 0.01 / k, patience)}, warm=False)
    if distinct <= MOST_CONVEX_REPORTS:
        yield Stage("CVXPY", 1, lambda: {"gap": _convex(tally, sample)})


def _em(sample: Distinct, start: np.ndarray, patience: float) -> float:
    """The gap that EM reaches within ``patience`` seconds."""
    goal = tolerance(float(sample.counts.sum()))
    fit, turns, spent = Maximum(start, np.inf, 0), 10, 0.0
    while fit.gap > goal and spent < patience:
        begun = time.perf_counter()
        fit = em(sample.rows, sample.counts, fit.proportions, goal=goal, most=turns)
        took = time.perf_counter() - begun
        spent += took
        turns = max(1, min(2 * turns, int((patience - spent) / took * turns) + 1))
    return float(fit.gap)


def _convex(tally: mw.Tally, sample: Distinct) -> float:
    """The gap of CVXPY's answer."""
    rows = tally.design.relative_rows(tally.patterns.packed)
    w = cvxpy.Variable(rows.shape[1], nonneg=True)
    objective = cvxpy.Maximize(sample.counts @ cvxpy.log(rows @ w))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where its answer is inexact; the gap says by how much
        cvxpy.Problem(objective, [cvxpy.sum(w) == 1]).solve()
    answer = np.maximum(np.asarray(w.value), 0)
    answer /= answer.sum()
    n = float(sample.counts.sum())
    excess = certificate(sample.rows, sample.counts / n, chances(sample.rows, answer), len(answer), -1)[1]
    return n * float(excess)


def large(design: str, k: int, n: int) -> Iterator[Stage]:
    """A whole estimate from a tally of many distinct reports: the start, the maximum and its certificate."""
    made = mw.designs.uniform_subsets(k) if design == "uniform_subsets" else mw.designs.minimax(k, epsilon=1.0)
    tally, sample = sample_of(made, n)
    distinct = len(sample.counts)

    def estimate() -> dict[str, float]:
        return {"gap": mw.estimate(tally, method="likelihood").gap or 0.0, "distinct": distinct}

    yield Stage("estimate", 1, estimate, warm=False)


def measure(bench: Bench) -> Iterator[Row]:
    """Small problems beside both, then large ones alone."""
    for k in (4, 16, 64):
        for n in (2_000, 100_000) if bench.quick else (2_000, 1_000_000):
            found = bench.alone(Work("bench.likelihood:small", {"k": k, "n": n}), rounds=3)
            yield from _small_rows(f"k = {k}, n = {n:,}", n, k, found)
    for design, k, n in (("minimax", 100, 1_000_000), ("uniform_subsets", 100, 1_000_000), ("minimax", 2_000, 100_000)):
        work = Work("bench.likelihood:large", {"design": design, "k": k, "n": n // 10 if bench.quick else n})
        stage = bench.alone(work, rounds=1)["estimate"]
        what = f"{design}, k = {k:,}, {int(stage.facts['distinct']):,} distinct reports, a whole estimate"
        yield stage.time_row(what, beside=f"gap {stage.facts['gap']:.1g}", a_record=False)


def _small_rows(case: str, n: int, k: int, found: dict[str, Measured]) -> Iterator[Row]:
    ours = found["ours"]
    stopped = found["EM"].facts["gap"] > tolerance(n)
    em_name = f"EM, stopped at a gap of {found['EM'].facts['gap']:.1g}" if stopped else "EM"
    what = f"{case}, {int(ours.facts['distinct']):,} distinct reports, gap {ours.facts['gap']:.1g}"
    goal = Goal(at_least=50) if k >= 16 else None
    yield ours.time_row(what, ours.faster_than(found["EM"]), em_name, goal, a_record=False)
    if "CVXPY" in found:
        name = f"CVXPY, whose gap is {found['CVXPY'].facts['gap']:.1g}"
        yield ours.time_row(what, ours.faster_than(found["CVXPY"]), name, Goal(at_least=500), a_record=False)
