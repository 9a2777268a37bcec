"""Running the service: its socket, its log, what it says when it is ready, and a stop that loses nothing."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from maskwell.collect.http.protocol import BoundedHeads
from maskwell.errors import MaskwellError

# How long requests that are under way may take when the service is stopped.
_PATIENCE = 30


class PortError(MaskwellError):
    """A port that cannot be listened on."""


def listening(host: str, port: int) -> socket.socket:
    """A socket on which the service listens."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise PortError(f"port {port} on {host!r} cannot be used: {reason}; choose another with --port.") from None
    listener.listen(2048)
    return listener


class _Server(uvicorn.Server):
    """Says when it is ready, and ends on a signal without passing it on: a stop is no failure."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    app: Any, listener: socket.socket, ready: Callable[[], None], *, quiet: bool = False, proxies: str = "127.0.0.1"
) -> None:
    """Serve until a signal comes; then answer what is under way, write what waits, and return.

    ``proxies`` are the addresses of servers that stand before this one: they alone are believed about who asks
    (X-Forwarded-For), and whether by https (X-Forwarded-Proto). ``quiet`` logs no request, for a terminal on which
    somebody is to find what is printed.
    """
    _log_to_stderr(logging.WARNING if quiet else logging.INFO)
    # Its own logs would name addresses.
    config = uvicorn.Config(
        app,
        http=BoundedHeads,
        log_config=None,
        access_log=False,
        forwarded_allow_ips=proxies,
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=30,
        ws="none",
        lifespan="on",
    )
    _Server(config, ready).run(sockets=[listener])


def _log_to_stderr(level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("maskwell.collect")
    log.handlers, log.propagate = [handler], False
    log.setLevel(level)
    logging.getLogger("uvicorn").handlers = [logging.NullHandler()]
    logging.getLogger("uvicorn").propagate = False
