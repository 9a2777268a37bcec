"""Run every measurement once and print it with the ratio it is there for: ``make bench``, or ``--quick``."""

import sys

from bench import likelihood, masking, memory, release, risk, subsets


def _line(what: str, figure: str, ratio: str = "") -> None:
    print(f"{what:58} {figure:>16}  {ratio}", flush=True)


def main(quick: bool) -> None:
    n = 1_000_000 if quick else 10_000_000
    print(f"n = {n:,}, k = 100 unless said otherwise, epsilon = 1\n")
    ns = masking.measure(n)
    stream, mask = ns["12 keystream bytes"], ns["gamma_diagonal mask"]
    _line("12 keystream bytes a record", f"{stream:.2f} ns")
    _line("gamma_diagonal mask", f"{mask:.2f} ns", f"{mask / stream:.2f} x the keystream (at most 2)")
    numpy = ns["NumPy PCG64 float"]
    _line("  NumPy PCG64 float implementation", f"{numpy:.2f} ns", f"we are {numpy / mask:.1f} x as fast (at least 3)")
    for name in ("keyed mask, rising ids", "keyed mask, shuffled ids"):
        _line(f"  {name}", f"{ns[name]:.2f} ns", f"{mask / ns[name]:.2f} of the unkeyed speed (at least 0.2)")
    arrow = ns["keyed mask, Arrow ids"]
    beside_numpy = arrow / ns["keyed mask, rising ids"]
    _line("  keyed mask, Arrow ids", f"{arrow:.2f} ns", f"{beside_numpy:.2f} x NumPy ids (at most 1.5)")
    _line("  keyed mask, text ids", f"{ns['keyed mask, text ids']:.2f} ns")
    _line("gamma_diagonal tally", f"{ns['tally']:.2f} ns")

    for k, size in ((10, n), (100, n), (1000, n // 5)):
        rate = subsets.measure(k, size, 20_000 if quick else 100_000)
        for work, least in (("mask", 25), ("tally", 300)):
            peer = rate[f"peer {work}"]
            bound = f" (at least {least})" if k == 100 else ""
            what = f"minimax {work}, k = {k}, n = {size:,}"
            _line(what, f"{rate[work] / 1e6:.1f} M/s", f"{rate[work] / peer:.0f} x multi-freq-ldpy{bound}")
            _line("  multi-freq-ldpy", f"{peer / 1e3:.1f} k/s")

    for what, figure, ratio in likelihood.lines(quick):
        _line(what, figure, ratio)

    sizes = (1_000_000, 10_000_000) if quick else (1_000_000, 10_000_000, 100_000_000)
    per_record = masking.linear_in_n(sizes)
    for size, cost in per_record.items():
        _line(f"gamma_diagonal mask, n = {size:,}", f"{cost:.2f} ns", f"{cost / per_record[sizes[0]]:.2f} x the first")
    for size in sizes[1:]:
        _line(f"mask_batches, n = {size:,}", f"{memory.added_mebibytes(size):.1f} MiB", "beyond a batch (below 64)")
    risk.report(_line, quick)
    release.report(_line, quick)


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
