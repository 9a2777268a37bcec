"""Measure every part and write ``docs/performance.md``: ``python -m bench [PART ...] [--quick]``.

A part is a module with ``TITLE``, ``ABOUT`` (a sentence or two for the page), ``LIMIT`` (seconds after which it starts
no further round) and ``measure(bench)``, which yields rows. A new part is such a module and a name in ``PARTS``.
``--quick`` measures less, to look at, and writes nothing.
"""

import os
import sys
import time
from importlib import import_module
from pathlib import Path

from bench.frame import Bench, Row
from bench.frame.page import write
from bench.frame.results import PartResult, read

PARTS = ("masking", "beside", "likelihood", "regression", "risk", "release", "engines")
FOLDER = Path(__file__).resolve().parents[1] / "docs"


def run(name: str, quick: bool) -> PartResult:
    """Measure one part, printing each row as it is found."""
    part = import_module(f"bench.{name}")
    print(f"\n{part.TITLE}\n", flush=True)
    load, begun = os.getloadavg()[0], time.monotonic()
    bench = Bench(quick=True, rounds=1) if quick else Bench(deadline=begun + part.LIMIT)
    rows = []
    for row in part.measure(bench):
        rows.append(row)
        _print(row)
    return PartResult.now(name, part.TITLE, part.ABOUT, rows, time.monotonic() - begun, load)


def _print(row: Row) -> None:
    what, figure, ratio, goal = row.cells()
    print(f"  {what:62} {figure:>28}  {ratio}  {goal}".rstrip(), flush=True)


def main(arguments: list[str]) -> int:
    """Exit code 1 if a part failed (the others are measured and written all the same), 2 if one is unknown."""
    quick = "--quick" in arguments
    names = [name for name in arguments if name != "--quick"] or list(PARTS)
    if unknown := [name for name in names if name not in PARTS]:
        print(f"unknown part {unknown[0]!r}; parts: {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    found, failed = read(FOLDER / "performance.json"), False
    for name in names:
        try:
            found[name] = run(name, quick)
        except Exception as error:
            failed = True
            print(f"  {name} failed: {error}", file=sys.stderr, flush=True)
    if not quick:
        write({name: found[name] for name in PARTS if name in found}, FOLDER)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
