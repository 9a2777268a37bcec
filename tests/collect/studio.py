"""Visits to the studio without a browser: a client that keeps its cookie, as a browser does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from tests.collect.servers import Server


@contextmanager
def visitor(server: Server, *tokens: str) -> Iterator[httpx.Client]:
    """Somebody who has signed in with these tokens."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for token in tokens:
            assert client.post("/studio/signin", data={"token": token, "then": "/studio/"}).status_code == 303
        yield client
