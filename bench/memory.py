"""Memory that ``mask_batches`` needs beyond one batch of input and output, in a process of its own."""

import json
import subprocess
import sys

BATCH = 1 << 20

_CHILD = """
import json, sys
import numpy as np
import maskwell as mw

n, batch = int(sys.argv[1]), int(sys.argv[2])
design = mw.designs.gamma_diagonal(100, epsilon=1.0)

def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field))

def batches(total):
    for start in range(0, total, batch):
        yield np.arange(start, min(start + batch, total)) % 100

def consume(total):
    return sum(reports.tally().n for reports in design.mask_batches(batches(total)))

consume(1000)                                      # compiles the kernels
with open("/proc/self/clear_refs", "w") as reset:  # the peak counts from here
    reset.write("5")
before = status("VmRSS")
assert consume(n) == n
print(json.dumps({"before": before, "peak": status("VmHWM")}))
"""


def added_mebibytes(n: int) -> float:
    """Peak memory above the start, less one batch of int64 input (and its making) and one of packed output."""
    out = subprocess.run([sys.executable, "-c", _CHILD, str(n), str(BATCH)], check=True, capture_output=True, text=True)
    kib = json.loads(out.stdout)
    in_and_out = BATCH * (2 * 8 + 1) / 2**20
    return (kib["peak"] - kib["before"]) / 1024 - in_and_out
