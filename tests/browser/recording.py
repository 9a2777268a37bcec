"""Everything that a respondent's browser sends or keeps, so that two sessions can be compared byte by byte.

Chromium reaches the world through a proxy of ours alone, which writes down every byte that leaves. Random words are
those that a test chose: injected from outside, where the page looks for chance.
"""

from __future__ import annotations

import re
import select
import socket
import socketserver
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.browser.respondents import Collecting, kept

# What Chromium asks its maker by itself, without any page; it is cut off, and no part of a session.
_BROWSERS_OWN = re.compile(rb"[A-Z]+ (http://)?[a-z0-9.-]*\.(google|googleapis|gstatic|gvt1)\.com[:/]")
_MILLISECONDS = re.compile(r'"milliseconds": [0-9.]+')


class Wire(socketserver.ThreadingTCPServer):
    """A proxy that lets the browser reach one address, and keeps what it sends, connection by connection."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, service: str) -> None:
        super().__init__(("127.0.0.1", 0), _Relay)
        self.service = urlsplit(service).netloc
        self.streams: list[bytearray] = []
        self._lock = threading.Lock()

    def new_stream(self) -> bytearray:
        with self._lock:
            self.streams.append(bytearray())
            return self.streams[-1]

    def requests(self) -> list[bytes]:
        """Every request since the last call, head and body, by connection and then in their order."""
        with self._lock:
            found = [request for stream in self.streams for request in _split(bytes(stream))]
            for stream in self.streams:
                stream.clear()
        return found


class _Relay(socketserver.BaseRequestHandler):
    server: Wire

    def handle(self) -> None:
        first = self.request.recv(1 << 16)
        if _BROWSERS_OWN.match(first):
            return
        stream = self.server.new_stream()
        stream += first
        if not self._is_for_the_service(first):
            return
        _, _, port = self.server.service.partition(":")
        with socket.create_connection(("127.0.0.1", int(port))) as service:
            service.sendall(first)
            while ready := select.select([self.request, service], [], [])[0]:
                for end in ready:
                    piece = end.recv(1 << 16)
                    if end is self.request:
                        stream += piece
                    if not piece or (end is self.request and not self._is_for_the_service(piece)):
                        return
                    (service if end is self.request else self.request).sendall(piece)

    def _is_for_the_service(self, sent: bytes) -> bool:
        """Whether requests that begin here are for the service; any other one is written down and cut off."""
        targets = re.findall(rb"^[A-Z]+ ([^ \r\n]+) HTTP/1\.1", sent, re.MULTILINE)
        return all(target.startswith(f"http://{self.server.service}/".encode()) for target in targets)


def _split(stream: bytes) -> Iterator[bytes]:
    while stream:
        head, _, rest = stream.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
        size = int(length[1]) if length else 0
        yield head + b"\r\n\r\n" + rest[:size]
        stream = rest[size:]


@contextmanager
def wire(service: str) -> Iterator[Wire]:
    """The proxy, running."""
    with Wire(service) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()


# From the moment when the form is sent, words are those that were chosen; before and after that, and for bytes, from
# which no report is drawn, a fixed sequence goes on.
_FIXED_CHANCE = """(words) => {
  let [next, state] = [words.length, 0];
  const more = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  addEventListener("submit", () => { next = 0; state = 0; }, true);
  crypto.getRandomValues = (array) => {
    const chosen = () => array instanceof Uint32Array && next < words.length;
    for (let i = 0; i < array.length; i++) array[i] = chosen() ? words[next++] : more();
    return array;
  };
  crypto.randomUUID = () => "123e4567-e89b-42d3-a456-426614174000";
}"""


def fix_chance(context: Any, words: list[int]) -> None:
    """In every page of this context, random words are these when the form is sent."""
    context.add_init_script(f"({_FIXED_CHANCE})({words})")


_IN_THE_BROWSER = """async () => ({
  url: location.href,
  title: document.title,
  history: [history.length, history.state],
  name: window.name,
  local: { ...localStorage },
  session: { ...sessionStorage },
  cookie: document.cookie,
  caches: await caches.keys(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  controls: [...document.querySelectorAll("input, select, textarea")].map(({ value, checked }) => [value, checked]),
  page: document.documentElement.outerHTML,
  globals: Object.keys(window).sort(),
})"""


@dataclass
class Traces:
    """What a session left: requests while the page loaded, then those that followed, and all that is kept anywhere."""

    loading: list[bytes]
    sent: list[bytes]
    in_the_browser: dict[str, Any]
    in_the_service: dict[str, Any]
    context: dict[str, Any] = field(default_factory=dict)

    def differences(self, other: Traces) -> list[str]:
        """Where two sessions differ, by the name of the place."""
        found = [name for name in ("loading", "sent", "context") if getattr(self, name) != getattr(other, name)]
        for place in ("in_the_browser", "in_the_service"):
            mine, theirs = getattr(self, place), getattr(other, place)
            found += [f"{place}: {name}" for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name)]
        return sorted(found)


def traces(page: Any, running: Collecting, loading: list[bytes], sent: list[bytes], lines: list[str]) -> Traces:
    """What there is now: in the page, in its context, in the service's log and in the database."""
    in_the_browser = {**page.evaluate(_IN_THE_BROWSER), "databases": kept(page)}
    in_the_service = {
        "log": sorted(_MILLISECONDS.sub("", line) for line in lines),
        "database": rows(running.database),
    }
    # A page loads its files in any order, and on any connection.
    return Traces(sorted(loading), sent, in_the_browser, in_the_service, dict(page.context.storage_state()))


def rows(database: Path) -> dict[str, list[Any]]:
    """Every row of every table."""
    with closing(sqlite3.connect(database)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        return {table: sorted(map(repr, connection.execute(f'select * from "{table}"'))) for table in tables}


def forget_submissions(database: Path) -> None:
    """As if nobody had answered yet."""
    with closing(sqlite3.connect(database)) as connection, connection:
        for table in ("submissions", "days", "spent"):
            connection.execute(f"delete from {table}")
        connection.execute("update surveys set received = 0")
