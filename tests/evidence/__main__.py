"""Run topics at full size and write ``docs/evidence``: ``python -m tests.evidence [topic ...]``, or all of them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.evidence.record import write
from tests.evidence.topics import SPEED, TOPICS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "evidence"


def main(names: list[str]) -> int:
    """Exit code 1 if a criterion is not met (the page is written all the same), 2 if a topic is unknown."""
    topics = {**TOPICS, **SPEED}
    unknown = [name for name in names if name not in topics]
    if unknown:
        print(f"unknown topic {unknown[0]!r}; topics: {', '.join(topics)}.", file=sys.stderr)
        return 2
    failed = False
    for name in names or topics:
        start = time.monotonic()
        result = topics[name]("full")
        seconds = time.monotonic() - start
        write(result, seconds, FOLDER)
        failed |= bool(result.failures)
        print(f"{name}: {result.findings[0]} ({seconds:.0f} s)", flush=True)
        for failure in result.failures:
            print(f"  not met: {failure}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
