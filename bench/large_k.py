"""Long lists of categories: error, bits and time of each way to report, in one table.

``python -m bench.large_k`` prints it; ``--million`` masks, counts and estimates 10 M reports over a million categories
alone, ``--quick`` takes a tenth of the reports. Every row is a fresh process, which says its own time and peak memory.
The peers are Hadamard response and optimised local hashing of pure-ldp; where it is not installed they are left out and
the table says so. They get few records: local hashing tries every category on every report.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON = 1.0
BATCH = 1_000_000
RECORDS = 10_000_000
OURS = (("minimax", 1000), ("projective", 1000), ("minimax", 65_536), ("projective", 65_536), ("projective", 1_000_000))
# Records that a peer masks and counts in some seconds.
PEERS = (
    ("hadamard", 1000, 20_000),
    ("local hashing", 1000, 2_000),
    ("hadamard", 65_536, 20_000),
    ("local hashing", 65_536, 50),
)
SET_RECORDS = 100_000  # of 8 KiB each


def zipf(k: int, n: int, seed: int) -> NDArray[np.int64]:
    """True answers with shares about 1, 1/2, 1/3, …."""
    draws = np.random.default_rng(seed).random(n)
    return np.minimum(np.exp(draws * np.log(k + 1)).astype(np.int64), k) - 1


def peak_mebibytes() -> float:
    """The most memory that this process has had."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def ours(name: str, k: int, n: int) -> dict[str, Any]:
    """Seconds to mask, count and estimate ``n`` reports in batches, and what the estimates are worth."""
    import maskwell as mw
    from maskwell.designs.choice import report_bits

    started = time.perf_counter()
    design = mw.designs.DESIGNS[name].function(k, epsilon=EPSILON)
    design.mask(np.zeros(1000, np.int64)).tally()  # loads the kernels: counted in all, not in a report
    seconds = dict.fromkeys(("mask", "count", "estimate"), 0.0)
    truth = np.zeros(k)
    tally = None
    for first in range(0, n, BATCH):
        values = zipf(k, min(BATCH, n - first), first)
        truth += np.bincount(values, minlength=k)
        at = time.perf_counter()
        reports = design.mask(values)
        masked = time.perf_counter()
        part = reports.tally()
        tally = part if tally is None else mw.Tally.merge([tally, part])
        seconds["mask"] += masked - at
        seconds["count"] += time.perf_counter() - masked
    assert tally is not None
    at = time.perf_counter()
    estimate = mw.estimate(tally)
    largest = estimate.top(10)
    seconds["estimate"] = time.perf_counter() - at
    assert largest.categories[0] == 0
    error = estimate.proportions - truth / n
    return {
        "added variance": design.added_variance,
        "measured": float(n * (error**2).sum()),
        "bits": report_bits(design),
        "n": n,
        **seconds,
        "all": time.perf_counter() - started,
        "MiB": peak_mebibytes(),
    }


def peer(name: str, k: int, n: int) -> dict[str, Any]:
    """The same of a peer, as its documentation shows it."""
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

    values = zipf(k, n, 0)
    if name == "hadamard":
        server = HadamardResponseServer(EPSILON, k)
        client = HadamardResponseClient(EPSILON, k, server.get_hash_funcs())
        bits = max(1, (server.hr.outsz - 1).bit_length()) if hasattr(server.hr, "outsz") else k.bit_length()
    else:
        server, client = LHServer(EPSILON, k, use_olh=True), LHClient(EPSILON, k, use_olh=True)
        bits = 32 + (server.g - 1).bit_length()  # the seed of the hash, and its value
    started = time.perf_counter()
    reports = [client.privatise(int(value) + 1) for value in values]
    masked = time.perf_counter()
    for report in reports:
        server.aggregate(report)
    counted = time.perf_counter()
    server.check_and_update_estimates()  # without the clipping of its estimate_all, which hides errors
    found = np.asarray(server.estimated_data)[:k]
    ended = time.perf_counter()
    error = found / n - np.bincount(values, minlength=k) / n
    return {
        "added variance": None,
        "measured": float(n * (error**2).sum()),
        "bits": bits,
        "n": n,
        "mask": masked - started,
        "count": counted - masked,
        "estimate": ended - counted,
        "all": ended - started,
        "MiB": peak_mebibytes(),
    }


def in_a_process(of: Callable[[str, int, int], dict[str, Any]], name: str, k: int, n: int) -> dict[str, Any]:
    """What ``of`` measures, in a process of its own."""
    command = [sys.executable, "-m", "bench.large_k", "--child", of.__name__, name, str(k), str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows(quick: bool) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Every design and peer, with its figures."""
    part = 10 if quick else 1
    for name, k in OURS:
        n = SET_RECORDS if (name, k) == ("minimax", 65_536) else RECORDS // part
        yield name, k, in_a_process(ours, name, k, n)
    if find_spec("pure_ldp") is None:
        print("pure-ldp is not installed: its rows are left out")
        return
    for name, k, n in PEERS:
        yield f"pure-ldp {name}", k, in_a_process(peer, name, k, n)


def minimax_formula(k: int) -> float:
    """What the minimax design adds to the variance at this ε, also where its sets cannot be drawn."""
    gamma = np.exp(EPSILON)
    sizes = np.unique([int(k / (1 + gamma)), int(k / (1 + gamma)) + 1])
    f = k**2 * (sizes * gamma**2 + k - sizes) / (sizes * gamma + k - sizes) ** 2
    return float(((k - 1) ** 2 / (f - k) + 1 / k - 1).min())


def line(name: str, k: int, row: dict[str, Any]) -> str:
    """One row of the table: variances over minimax's, microseconds a report."""
    best = minimax_formula(k)
    stated = "" if row["added variance"] is None else f"{row['added variance'] / best:.4f}"
    micro = "".join(f"{1e6 * row[what] / row['n']:>11.3f}" for what in ("mask", "count"))
    return (
        f"{name:22}{k:>10,}{row['bits']:>8,}{stated:>9}{row['measured'] / best:>10.3f}{micro}"
        f"{row['estimate']:>10.2f}{row['n']:>12,}{row['all']:>8.1f}{row['MiB']:>8,.0f}"
    )


HEAD = (
    f"{'design':22}{'k':>10}{'bits':>8}{'variance':>9}{'measured':>10}{'mask µs':>11}{'count µs':>11}"
    f"{'estim. s':>10}{'reports':>12}{'all s':>8}{'MiB':>8}"
)


def main(options: list[str]) -> None:
    """Print the table, or the row of a million categories."""
    if options[:1] == ["--child"]:
        of = {"ours": ours, "peer": peer}[options[1]]
        print(json.dumps(of(options[2], int(options[3]), int(options[4]))))
        return
    quick = "--quick" in options
    print(
        f"ε = {EPSILON:g}; variances over the minimax formula's: stated, and n times the squared errors found\n{HEAD}"
    )
    if "--million" in options:
        n = RECORDS // 10 if quick else RECORDS
        print(line("projective", 1_000_000, in_a_process(ours, "projective", 1_000_000, n)))
        return
    for name, k, row in rows(quick):
        print(line(name, k, row), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
