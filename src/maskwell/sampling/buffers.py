"""Memory that a thread uses again: fresh pages cost as much as the keystream that fills them."""

import threading

import numpy as np
from numpy.typing import NDArray


class _Buffers(threading.local):
    def __init__(self) -> None:
        self._held: dict[str, NDArray[np.uint8]] = {}

    def get(self, role: str, n_bytes: int) -> NDArray[np.uint8]:
        """That many bytes, the caller's until the same thread asks for the same role again."""
        if role not in self._held or len(self._held[role]) < n_bytes:
            self._held[role] = np.empty(n_bytes, np.uint8)
        return self._held[role][:n_bytes]


BUFFERS = _Buffers()
