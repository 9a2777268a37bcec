"""What one process measures: the stages that a work yields, each timed after one run that warms up.

A work is a generator function, named ``module:function``. It prepares its data and yields one ``Stage`` after another;
what it does between two of them is not timed. This module needs the standard library alone, so that works of peers run
in the peers' environments: ``python -m bench.frame.stages REQUEST``, with the request and the answer as JSON.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Stage(NamedTuple):
    """One thing to time: ``call`` handles ``records`` records. If it returns a dictionary of numbers, they are kept."""

    name: str
    records: int
    call: Callable[[], object]
    warm: bool = True
    """Whether one run before the timed ones compiles and fills caches; not where a run takes long or is done once."""


def measure(stages: Iterable[Stage], seconds: float) -> dict[str, dict[str, Any]]:
    """By stage: the seconds of each run, as many as fit into ``seconds`` (at least one), and the memory they added."""
    found: dict[str, dict[str, Any]] = {}
    for stage in stages:
        if stage.warm:
            stage.call()
        before = _reset_peak()
        times: list[float] = []
        while not times or sum(times) + times[-1] < seconds:
            begun = time.perf_counter()
            answer = stage.call()
            times.append(time.perf_counter() - begun)
        peak = _status("VmHWM")
        memory = {} if peak is None or before is None else {"peak_mib": peak, "added_mib": peak - before}
        facts = answer if isinstance(answer, dict) else {}
        found[stage.name] = {"records": stage.records, "seconds": times, "facts": facts, **memory}
    return found


def _reset_peak() -> float | None:
    """Let the peak count from here on; the memory in use now, in MiB, or None where the system does not say."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(field: str) -> float | None:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), None)


def main(request: str) -> None:
    """Import the work, measure it, print the answer as the last line."""
    asked = json.loads(request)
    module, function = asked["work"].split(":")
    stages = getattr(importlib.import_module(module), function)(**asked["arguments"])
    print(json.dumps(measure(stages, asked["seconds"])))


if __name__ == "__main__":
    main(sys.argv[1])
