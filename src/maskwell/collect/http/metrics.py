"""Figures about the service, in the text format of Prometheus; counts over all surveys, and nothing about reports."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict

from maskwell.collect.service import Service

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """How many requests there were, by route and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_SECONDS) + 1))
        self._lock = threading.Lock()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        place = next((at for at, limit in enumerate(_SECONDS) if seconds <= limit), len(_SECONDS))
        with self._lock:
            self._requests[method if method in _METHODS else "other", route, status] += 1
            self._seconds[route] += seconds
            self._buckets[route][place] += 1

    def text(self, service: Service) -> str:
        """All figures."""
        writer = service.writer
        lines = ["# TYPE maskwell_requests_total counter"]
        with self._lock:
            for (method, route, status), count in sorted(self._requests.items()):
                labels = f'method="{method}",route="{route}",status="{status}"'
                lines.append(f"maskwell_requests_total{{{labels}}} {count}")
            lines.append("# TYPE maskwell_request_seconds histogram")
            for route, buckets in sorted(self._buckets.items()):
                total = 0
                for limit, count in zip((*_SECONDS, "+Inf"), buckets, strict=True):
                    total += count
                    lines.append(f'maskwell_request_seconds_bucket{{route="{route}",le="{limit}"}} {total}')
                lines.append(f'maskwell_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}')
                lines.append(f'maskwell_request_seconds_count{{route="{route}"}} {total}')
        figures = {
            "maskwell_commits_total": ("counter", writer.groups),
            "maskwell_committed_submissions_total": ("counter", writer.committed),
            "maskwell_waiting_submissions": ("gauge", writer.waiting),
            "maskwell_stored_submissions": ("gauge", service.database.stored()),
        }
        for name, (kind, value) in figures.items():
            lines += [f"# TYPE {name} {kind}", f"{name} {value}"]
        return "\n".join(lines) + "\n"


_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
