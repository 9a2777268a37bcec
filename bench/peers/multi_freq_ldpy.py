"""multi-freq-ldpy: a compiled function for a record, a Python loop over reports."""

from collections.abc import Callable, Iterator
from typing import Any

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

from bench.frame.stages import Stage
from bench.peers import EPSILON, truths


def kary(k: int, n: int) -> Iterator[Stage]:
    return _stages(k, n, GRR_Client, lambda reports: GRR_Aggregator_MI(reports, k, EPSILON))


def subsets(k: int, n: int) -> Iterator[Stage]:
    return _stages(k, n, SS_Client, lambda reports: SS_Aggregator_MI(reports, k, EPSILON))


def unary(k: int, n: int) -> Iterator[Stage]:
    return _stages(k, n, UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON))


def _stages(k: int, n: int, client: Callable[..., Any], count: Callable[[list[Any]], object]) -> Iterator[Stage]:
    values = truths(k, n)
    yield Stage("mask", n, lambda: [client(value, k, EPSILON) for value in values])
    reports = [client(value, k, EPSILON) for value in values]
    yield Stage("tally", n, lambda: count(reports))
