"""Releases: five keys of a file as large as a census sample, from table to table and from Parquet to Parquet."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.risk import KEYS, SHAPE, table
from bench.timing import best_seconds
from maskwell.microdata import read, write
from maskwell.release import limit_identification
from maskwell.release.identification.blocks.forming import DEFAULT_SIZE, DEFAULT_WAY, WHOLE

XI, WITHIN = 0.5, {KEYS[3]: None}

_CHILD = """
import json, sys
from bench.release import WITHIN, XI, arrow
from bench.risk import KEYS
from maskwell.release import limit_identification

def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field))

limit_identification(arrow(10_000), KEYS, XI, WITHIN, merge="merge", blocks="whole", seed=1)  # compiles the kernels
data = arrow(int(sys.argv[1]))
with open("/proc/self/clear_refs", "w") as reset:  # the peak counts from here
    reset.write("5")
before = status("VmRSS")
release = limit_identification(data, KEYS, XI, WITHIN, merge="merge", blocks="whole", seed=1)
print(json.dumps({"before": before, "peak": status("VmHWM"), "table": data.nbytes}))
"""


def arrow(n: int) -> pa.Table:
    """The records of the risk bench as labels, with two columns beside the keys."""
    labels = {
        name: pa.DictionaryArray.from_arrays(codes.astype(np.int32), [f"{name} is {i}" for i in range(size)])
        for (name, codes), size in zip(table(n).items(), SHAPE, strict=True)
    }
    return pa.table(labels | {"person": np.arange(n), "income": np.sqrt(np.arange(n))})


def seconds(n: int, repeats: int, blocks: str = WHOLE) -> float:
    """Seconds from a table of ``n`` records to the released table with its audit."""
    data = arrow(n)

    def run() -> bool:
        return limit_identification(data, KEYS, XI, WITHIN, merge="merge", blocks=blocks).audit.holds

    return best_seconds(run, repeats)


def end_to_end(n: int, suffix: str) -> float:
    """Seconds from file to released file."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = (Path(folder) / f"{name}{suffix}" for name in ("persons", "released"))
        write(arrow(n).rename_columns([name.replace(" ", "_") for name in arrow(1).column_names]), source)

        def run() -> None:
            data = read(source)
            keys, within = [key.replace(" ", "_") for key in KEYS], {KEYS[3].replace(" ", "_"): None}
            write(
                data.with_table(limit_identification(data.table, keys, XI, within, merge="merge", blocks=WHOLE).table),
                target,
            )

        return best_seconds(run, 1)


def added_mebibytes(n: int) -> tuple[float, float]:
    """Peak memory of a release above the start, and the size of its table, in a process of its own."""
    out = subprocess.run([sys.executable, "-c", _CHILD, str(n)], check=True, capture_output=True, text=True)
    found = json.loads(out.stdout)
    return (found["peak"] - found["before"]) / 1024, found["table"] / 2**20


def report(line: Callable[[str, str, str], None], quick: bool) -> None:
    """Print the measures through ``line(what, figure, ratio)``."""
    sizes = (100_000, 1_000_000) if quick else (1_000_000, 10_000_000)
    per_record = {n: 1e9 * seconds(n, 2 if n <= 1_000_000 else 1) / n for n in sizes}
    for n, cost in per_record.items():
        ratio = f"{cost / per_record[sizes[0]]:.2f} x the first a record"
        line(f"release of 5 keys, n = {n:,}", f"{cost * n / 1e9:.2f} s", ratio)
    n = sizes[0]
    line(f"  in look-alike blocks of {DEFAULT_SIZE} cells, n = {n:,}", f"{seconds(n, 1, DEFAULT_WAY):.2f} s", "")
    added, size = added_mebibytes(n)
    line(f"  memory beyond the table, n = {n:,}", f"{added:.0f} MiB", f"{added / size:.1f} x the table")
    for suffix in (".parquet", ".csv", ".dta", ".sav"):
        spent = end_to_end(n, suffix)
        beside = spent / (per_record[n] * n / 1e9)
        line(f"  from {suffix} to {suffix}, n = {n:,}", f"{spent:.2f} s", f"{beside:.1f} x the release alone")
