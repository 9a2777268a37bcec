"""Work shared out among threads, where starting one costs less than it saves."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Done = TypeVar("Done")

_MOST = 8


def worker_count(n: int, worth: int) -> int:
    """Threads worth using for ``n`` items, if one thread more pays from ``worth`` items on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(_MOST, cores, n // worth))


def in_threads(work: Callable[[Part], Done], parts: Sequence[Part]) -> list[Done]:
    """What comes of each part; the first is done by the caller's own thread, which keeps its buffers."""
    if len(parts) < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(len(parts) - 1) as pool:
        others = [pool.submit(work, part) for part in parts[1:]]
        return [work(parts[0]), *(other.result() for other in others)]
