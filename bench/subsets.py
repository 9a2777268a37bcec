"""Set-valued masking and counting beside multi-freq-ldpy's subset selection."""

import time

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client

import maskwell as mw
from bench.timing import best_seconds

EPSILON = 1.0
PEER_SECONDS = 20.0


def measure(k: int, n: int, peer_n: int) -> dict[str, float]:
    """Records per second, ours and the peer's."""
    values = np.random.Generator(np.random.PCG64(1)).integers(0, k, n)
    design = mw.designs.minimax(k, epsilon=EPSILON)
    reports = design.mask(values)
    rates = {
        "mask": n / best_seconds(lambda: design.mask(values), 3),
        "tally": n / best_seconds(reports.tally, 3),
        "mask 1 M": 1e6 / best_seconds(lambda: design.mask(values[:1_000_000]), 3),
    }
    return rates | _peer(values[:peer_n].tolist(), k)


def _peer(values: list[int], k: int) -> dict[str, float]:
    """Its rate over as many records as it masks in a fixed time; the first call, which compiles, is left out."""
    SS_Client(values[0], k, EPSILON)
    reports = []
    start = time.perf_counter()
    for value in values:
        reports.append(SS_Client(value, k, EPSILON))
        if time.perf_counter() - start > PEER_SECONDS:
            break
    masked = time.perf_counter() - start
    start = time.perf_counter()
    SS_Aggregator_MI(reports, k, EPSILON)
    return {"peer mask": len(reports) / masked, "peer tally": len(reports) / (time.perf_counter() - start)}
