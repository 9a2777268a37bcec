"""HTTP from the wire, with a bound on what comes before the body: the parser itself would keep any headers."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 1 << 16


class BoundedHeads(HttpToolsProtocol):
    """Refuses a request whose first line and headers are longer than 64 KiB, before it has them all in memory."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._in_head, self._head_bytes, self._refused = True, 0, False

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless the head is too long."""
        if self._in_head:
            self._head_bytes += len(data)
        if not self._refused:
            super().data_received(data)
        # What came with the end of a head may belong to the body, which has a limit of its own.
        if self._in_head and self._head_bytes > MOST_HEAD_BYTES:
            self._refuse()

    def _refuse(self) -> None:
        if not self._refused:
            self._refused = True
            self.send_400_response("The request's headers are too long.")

    def on_headers_complete(self) -> None:
        """The head is whole: refused if it is too long, else answered."""
        length = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        self._in_head, self._head_bytes = False, 0
        if length > MOST_HEAD_BYTES:
            self._refuse()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Handed on, unless the request was refused."""
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Another request may follow, unless this one was refused."""
        self._in_head = True
        if not self._refused:
            super().on_message_complete()
