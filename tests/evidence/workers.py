"""The parts of a topic, measured side by side at full size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

from tests.evidence.record import Size

Part = TypeVar("Part")
Done = TypeVar("Done")

PROCESSES = 2


def measured(measure: Callable[[Part], Done], parts: Iterable[Part], size: Size) -> list[Done]:
    """What is found for each part: one after the other if reduced, since tests share the machine's cores already.

    A part must draw from a seed of its own, so that the processes change nothing.
    """
    if size == "reduced":
        return [measure(part) for part in parts]
    # The processes are the threads of linear algebra: more of them would wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        return list(pool.map(measure, parts))
