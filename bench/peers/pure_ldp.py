"""pure-ldp: a client and a server object, one record at a time."""

from collections.abc import Iterator
from typing import Any

from pure_ldp.frequency_oracles import DEClient, DEServer, UEClient, UEServer

from bench.frame.stages import Stage
from bench.peers import EPSILON, truths


def kary(k: int, n: int) -> Iterator[Stage]:
    return _stages(k, n, DEClient(EPSILON, k), DEServer(EPSILON, k))


def unary(k: int, n: int) -> Iterator[Stage]:
    return _stages(k, n, UEClient(EPSILON, k, use_oue=True), UEServer(EPSILON, k, use_oue=True))


def _stages(k: int, n: int, client: Any, server: Any) -> Iterator[Stage]:
    values = [value + 1 for value in truths(k, n)]  # it counts categories from 1
    yield Stage("mask", n, lambda: [client.privatise(value) for value in values])
    reports = [client.privatise(value) for value in values]

    def count() -> None:
        for report in reports:
            server.aggregate(report)
        server.check_and_update_estimates()

    yield Stage("tally", n, count)
