"""Maximum likelihood to a certified gap beside EM and beside a general convex solver, on the same distinct reports.

All three get the rows and counts of the distinct reports, so none pays for tallying. EM runs the same compiled sums
from the same start to the same gap, or until it has taken ``PATIENCE`` times as long. CVXPY sets the problem up and
solves it with its default solver; the gap that its answer really has is computed by our certificate.
"""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import cvxpy
import numpy as np

import maskwell as mw
from bench.em import em
from bench.timing import best_seconds
from maskwell.inference.likelihood.estimate import Sample, safe_start
from maskwell.inference.likelihood.kernels import certificate, chances
from maskwell.inference.likelihood.maximum import Maximum, maximise, tolerance

PATIENCE = 60
MOST_CONVEX_REPORTS = 5_000


@dataclass(frozen=True)
class Timing:
    """Seconds of each method; EM's is a lower bound if it was stopped, CVXPY's is None if it was not tried."""

    distinct: int
    ours: float
    gap: float
    em: float
    em_reached: bool
    convex: float | None
    convex_gap: float | None


def sample_of(design: mw.Design, n: int) -> tuple[mw.Tally, Sample]:
    """Reports of a population of normalised uniforms, as in the simulations of wang-ding-2021."""
    generator = np.random.Generator(np.random.PCG64(1))
    population = generator.random(design.k)
    values = generator.choice(design.k, n, p=population / population.sum())
    tally = design.mask(values, seed=1).tally(patterns=True)
    return tally, Sample.of(tally)


def measure(k: int, n: int) -> Timing:
    """Uniform subsets of ``k`` categories, ``n`` reports."""
    tally, sample = sample_of(mw.designs.uniform_subsets(k), n)
    start = safe_start(tally, sample.rows)
    repeats = 3 if len(sample.counts) > MOST_CONVEX_REPORTS else 50  # microseconds need more of them
    ours = best_seconds(lambda: maximise(sample.rows, sample.counts, start), repeats)
    gap = maximise(sample.rows, sample.counts, start).gap
    # EM cannot leave a zero, so it starts from the same point with its zeros lifted.
    lifted = 0.99 * start + 0.01 / k
    em_seconds, reached = _em_seconds(sample, lifted, PATIENCE * ours)
    convex = _convex(tally, sample) if len(sample.counts) <= MOST_CONVEX_REPORTS else (None, None)
    return Timing(len(sample.counts), ours, gap, em_seconds, reached, *convex)


def _em_seconds(sample: Sample, start: np.ndarray, patience: float) -> tuple[float, bool]:
    goal = tolerance(float(sample.counts.sum()))
    em(sample.rows, sample.counts, start, most=1)
    fit, turns, spent = Maximum(start, np.inf, 0), 10, 0.0
    while fit.gap > goal and spent < patience:
        begun = time.perf_counter()
        fit = em(sample.rows, sample.counts, fit.proportions, goal=goal, most=turns)
        took = time.perf_counter() - begun
        spent += took
        turns = max(1, min(2 * turns, int((patience - spent) / took * turns) + 1))
    return spent, fit.gap <= goal


def _convex(tally: mw.Tally, sample: Sample) -> tuple[float, float]:
    rows = tally.design.relative_rows(tally.patterns.packed)

    def solve() -> np.ndarray:
        w = cvxpy.Variable(rows.shape[1], nonneg=True)
        objective = cvxpy.Maximize(sample.counts @ cvxpy.log(rows @ w))
        cvxpy.Problem(objective, [cvxpy.sum(w) == 1]).solve()
        return np.asarray(w.value)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where its answer is inexact; the gap says by how much
        seconds = best_seconds(solve)
        answer = np.maximum(solve(), 0)
    answer /= answer.sum()
    n = float(sample.counts.sum())
    excess = certificate(sample.rows, sample.counts / n, chances(sample.rows, answer), len(answer), -1)[1]
    return seconds, n * float(excess)


def lines(quick: bool) -> Iterator[tuple[str, str, str]]:
    """What was measured, the time, and the ratio it is there for."""
    for k in (4, 8, 16, 32, 64):
        for n in (2_000, 100_000) if quick else (2_000, 100_000, 10_000_000):
            t = measure(k, n)
            bound = " (at least 50)" if k >= 16 else ""
            yield (
                f"likelihood, p = {k}, n = {n:,}, {t.distinct:,} distinct",
                _shown(t.ours),
                f"{t.em / t.ours:.0f} x EM{'' if t.em_reached else ' and more'}{bound}; gap {t.gap:.1g}",
            )
            if t.convex is not None:
                ratio = f"we are {t.convex / t.ours:.0f} x as fast (at least 500); its gap {t.convex_gap:.1g}"
                yield "  CVXPY", _shown(t.convex), ratio
    yield large(mw.designs.minimax(100, epsilon=1.0), 100_000 if quick else 1_000_000)
    yield large(mw.designs.uniform_subsets(100), 100_000 if quick else 1_000_000)
    yield large(mw.designs.minimax(2_000, epsilon=1.0), 20_000 if quick else 100_000)


def large(design: mw.Design, n: int) -> tuple[str, str, str]:
    """A whole estimate from a tally of many distinct reports: the start, the maximum and its certificate."""
    tally, sample = sample_of(design, n)
    begun = time.perf_counter()
    gap = mw.estimate(tally, method="likelihood").gap
    spent = time.perf_counter() - begun
    what = f"likelihood, {design.name}, k = {design.k:,}, {len(sample.counts):,} distinct"
    return what, _shown(spent), f"gap {gap:.1g} (in seconds)"


def _shown(seconds: float) -> str:
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1.0, "s")
    return f"{seconds * scale:.3g} {unit}"
