"""A billion respondents a day over a million categories, from small cases measured here and a day that is simulated.

``python -m bench.scale`` prints the figures of ``docs/scale.md``. Costs of a report are measured over ``REPORTS`` of
them and multiplied; the day itself is drawn whole: how often each hyperplane is reported by a billion people is one
multinomial draw, so its estimates, limits and the categories that they find are those of a real day.
"""

import gzip
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import maskwell as mw
from bench.large_k import peak_mebibytes
from maskwell.designs.choice import report_bits

K, EPSILON = 1_000_000, 1.0
PEOPLE = 1_000_000_000
REPORTS = 4_000_000
DAY = 86_400
EXPONENTS = (1.0, 1.5)  # of Zipf's law: the web's long tail, and a steeper list
FAN_IN = (2, 16, 64)
WORKERS = 1024


def seconds(work: Callable[[], object]) -> float:
    """Of one run after one that warms up."""
    work()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def shares(exponent: float) -> NDArray[np.float64]:
    """True shares of the categories, the most frequent first."""
    weights = 1 / np.arange(1, K + 1) ** exponent
    return np.asarray(weights / weights.sum())


def simulated_day(design: mw.Design, exponent: float, seed: int) -> mw.Tally:
    """The tally of a whole day, drawn from the exact chances of the reports."""
    chances = design.channel.chances(shares(exponent))  # type: ignore[attr-defined]
    counts = np.random.default_rng(seed).multinomial(PEOPLE, chances / chances.sum())
    return mw.Tally.from_counts(design, counts)


def from_files(reports: mw.Reports) -> tuple[float, float, float]:
    """Bytes and seconds to count a report from a file, by the difference of two files, and seconds to open one."""
    sizes, times, counts = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for part in (4, 1):
            some = reports.part(slice(len(reports) // part))
            path = Path(folder) / f"{part}.parquet"
            some.write(path)
            sizes.append(path.stat().st_size)
            times.append(min(seconds(lambda path=path: mw.Tally.read(path)) for _ in range(3)))  # type: ignore[misc]
            counts.append(len(some))
    further = counts[1] - counts[0]
    each = (times[1] - times[0]) / further
    return (sizes[1] - sizes[0]) / further, each, times[0] - each * counts[0]


def line(what: str, figure: str) -> None:
    """One figure."""
    print(f"{what:62}{figure:>24}", flush=True)


def main(quick: bool) -> None:
    """Measure, multiply, simulate."""
    n = REPORTS // 8 if quick else REPORTS
    design = mw.designs.projective(K, epsilon=EPSILON)
    values = np.random.default_rng(1).integers(0, K, n)
    print(f"k = {K:,}, ε = {EPSILON:g}, {PEOPLE:,} people a day; measured over {n:,} reports\n")

    text = design.to_json().encode()
    line(
        "design file with its labels, and compressed",
        f"{len(text) / 1e6:.1f} MB, {len(gzip.compress(text)) / 1e6:.1f} MB",
    )
    reports = design.mask(values)
    line("a report: bits, and bytes in memory", f"{report_bits(design)}, {reports.packed.dtype.itemsize}")
    stored, reading, opening = from_files(reports)
    line("  in a Parquet file, and a day of them", f"{stored:.2f} B, {stored * PEOPLE / 1e9:.1f} GB")
    masking = seconds(lambda: design.mask(values)) / n
    line("masking a report, all cores of this machine", f"{1e9 * masking:.0f} ns")
    counting = seconds(reports.tally) / n
    line("counting a report in memory, and from the file", f"{1e9 * counting:.0f} ns, {1e9 * reading:.0f} ns")
    line("  and beside it to open a file, for its million labels", f"{opening:.1f} s")
    line("  a day from files, on this machine", f"{reading * PEOPLE / 60:.0f} min")

    tally = reports.tally()
    line("a tally", f"{tally.counts.nbytes / 1e6:.1f} MB")
    merging = seconds(lambda: mw.Tally.merge([tally, tally]))
    line("merging two tallies", f"{1e3 * merging:.1f} ms")
    for fan in FAN_IN:
        depth = int(np.ceil(np.log(WORKERS) / np.log(fan)))
        moved = fan * tally.counts.nbytes / 1e6
        line(
            f"  {WORKERS:,} workers, {fan} at a time: levels, MB into a node, time",
            f"{depth}, {moved:.0f} MB, {depth * (fan - 1) * merging:.2f} s",
        )
    line("reports a second, on average over a day", f"{PEOPLE / DAY:,.0f}")

    for exponent in EXPONENTS:
        truth = shares(exponent)
        day = simulated_day(design, exponent, 7)
        start = time.perf_counter()
        estimate = mw.estimate(day)
        top = estimate.top(10_000)
        took = time.perf_counter() - start
        own = truth[top.positions]
        inside = bool(((top.limits[:, 0] <= own) & (own <= top.limits[:, 1])).all())
        placed = int((top.rank_limits[:, 0] == top.rank_limits[:, 1]).sum())
        print(f"\na day of Zipf's law with exponent {exponent:g}")
        line(
            "  standard error of a share, and of people",
            f"{estimate.standard_errors[-1]:.2e}, {PEOPLE * estimate.standard_errors[-1]:,.0f}",
        )
        line("  all estimates and the limits of the largest 10,000", f"{took:.1f} s")
        line("  categories held by somebody for sure", f"{top.present:,}")
        line("  their part of all people", f"{100 * truth[top.positions[: top.present]].sum():.1f} %")
        line("  the least frequent of them, by its true share", f"{own[: top.present].min():.1e}")
        line("  categories whose place is certain", f"{placed:,}")
        line("  true shares within their limits, all 10,000 together", str(inside))
    line("\npeak memory of all this", f"{peak_mebibytes():,.0f} MiB")


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
