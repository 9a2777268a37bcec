"""What a run found, kept as one JSON document by part, with the date and the machine of each part."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.frame.rows import Row


@dataclass(frozen=True)
class PartResult:
    """The rows of one part, and when, where and how long they were measured."""

    name: str
    title: str
    about: str
    rows: list[Row]
    seconds: int
    date: str
    machine: str
    versions: dict[str, str]

    @classmethod
    def now(cls, name: str, title: str, about: str, rows: Sequence[Row], seconds: float, load: float) -> PartResult:
        """A result measured just now, ``load`` being how many processes ran or waited before it began."""
        here = f"{machine()}, {load:.1f} processes running or waiting before the run"
        return cls(name, title, about, list(rows), round(seconds), date.today().isoformat(), here, _versions())


def machine() -> str:
    """Processor, cores, memory and system; nothing that names the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{_processor()}, {cores} cores, {memory:.0f} GiB of memory, {platform.system()} {platform.machine()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unnamed processor"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unnamed processor")


def _versions() -> dict[str, str]:
    packages = ("maskwell", "numpy", "numba", "cryptography", "pyarrow")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


def read(path: Path) -> dict[str, PartResult]:
    """The parts of an earlier run, by name; none if there was none."""
    if not path.exists():
        return {}
    parts: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return {
        name: PartResult(**{**part, "name": name, "rows": [Row.from_dict(row) for row in part["rows"]]})
        for name, part in parts.items()
    }


def as_json(parts: dict[str, PartResult]) -> str:
    """One line per row, so that two runs can be compared."""
    blocks = []
    for name, part in parts.items():
        head = {key: value for key, value in asdict(part).items() if key not in ("name", "rows")}
        rows = ",\n".join(f"  {json.dumps(asdict(row), ensure_ascii=False)}" for row in part.rows)
        beginning = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
        blocks.append(f'{json.dumps(name)}: {beginning},\n "rows": [\n{rows}\n ]\n}}')
    return "{\n" + ",\n".join(blocks) + "\n}\n"
