"""Many respondents at once: a small HTTP client that sends prepared submissions over connections that stay open."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from maskwell.designs import Design


@dataclass(frozen=True)
class Prepared:
    """A submission that can be sent."""

    id: str
    reports: dict[str, Any]

    @cached_property
    def body(self) -> bytes:
        """What is sent."""
        return json.dumps({"submission": self.id, "reports": self.reports}).encode()

    def ready(self) -> Prepared:
        """The same, with its body made."""
        _ = self.body
        return self


def prepared(designs: dict[str, Design], answers: dict[str, Sequence[Any]], seed: int) -> Iterator[Prepared]:
    """Submissions of simulated respondents; ids follow from the seed, and are those of nobody else."""
    columns = {
        name: designs[name].mask(values, seed=seed, question=name).positions() for name, values in answers.items()
    }
    ids = np.random.default_rng(seed).bytes(16 * len(next(iter(columns.values()))))
    for at, reports in enumerate(zip(*columns.values(), strict=True)):
        identity = uuid.UUID(bytes=ids[16 * at : 16 * at + 16], version=4)
        yield Prepared(str(identity), dict(zip(columns, reports, strict=True)))


@dataclass
class Sent:
    """What came of it: for each submission its status (0 if no answer came), and how long each answer took."""

    statuses: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    elapsed: float = 0.0
    unclear: int = 0  # answers of status 503 that do not say when to try again

    @property
    def acknowledged(self) -> list[str]:
        """The ids that the service said are stored."""
        return [identity for identity, status in self.statuses.items() if status in (200, 201)]

    @property
    def rate(self) -> float:
        """Acknowledged submissions a second."""
        return len(self.acknowledged) / self.elapsed

    def milliseconds(self, *percent: float) -> list[float]:
        """Percentiles of how long an answer took."""
        return [round(1000 * float(value), 1) for value in np.percentile(self.seconds, percent)]


Heard = Callable[[Prepared, int], None]


async def send_all(
    url: str, survey: str, submissions: Iterable[Prepared], clients: int = 64, heard: Heard | None = None
) -> Sent:
    """Send them by so many clients at once, each waiting for its answer before it sends the next.

    ``heard`` is told of every answer, for those who send a submission more than once.
    """
    sent, waiting = Sent(), iter(submissions)
    started = time.perf_counter()
    await asyncio.gather(*(_client(url, survey, waiting, sent, heard) for _ in range(clients)))
    sent.elapsed = time.perf_counter() - started
    return sent


async def _client(url: str, survey: str, waiting: Iterator[Prepared], sent: Sent, heard: Heard | None) -> None:
    address = urlsplit(url)
    reader, writer = None, None
    head = (
        f"POST /api/surveys/{survey}/submissions HTTP/1.1\r\nHost: {address.netloc}\r\n"
        "Content-Type: application/json\r\nContent-Length: "
    ).encode()
    for submission in waiting:
        sent.statuses[submission.id] = 0
        try:
            if reader is None or writer is None:
                reader, writer = await asyncio.open_connection(address.hostname, address.port)
            body, began = submission.body, time.perf_counter()
            writer.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
            status, again = await _status(reader)
            sent.statuses[submission.id] = status
            sent.seconds.append(time.perf_counter() - began)
            sent.unclear += status == 503 and not again
            if heard is not None:
                heard(submission, status)
        except (OSError, asyncio.IncompleteReadError):
            if writer is not None:
                writer.close()
            reader, writer = None, None
            await asyncio.sleep(0.01)
    if writer is not None:
        writer.close()


async def _status(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status of an answer, and whether it says when to try again."""
    head = await reader.readuntil(b"\r\n\r\n")
    lower = head.lower()
    start = lower.index(b"content-length:") + len(b"content-length:")
    await reader.readexactly(int(lower[start : lower.index(b"\r\n", start)]))
    return int(head[9:12]), b"retry-after:" in lower
