"""A key that no text shows: neither a plan, nor a log, nor an error quotes it."""

from __future__ import annotations

import hmac
from pathlib import Path
from typing import Any

from maskwell.sampling.entropy import check_key


class Secret:
    """Holds a key. It goes to other processes where it is pickled, and nowhere else."""

    __slots__ = ("_bytes",)

    def __init__(self, key: object) -> None:
        self._bytes = check_key(key)

    def reveal(self) -> bytes:
        """The key itself."""
        return self._bytes

    def check_value(self) -> str:
        """A text that tells whether two keys are the same, and nothing else about them."""
        return hmac.digest(self._bytes, b"maskwell key check 1", "sha256")[:8].hex()

    def check_content(self, path: Path) -> str:
        """The same for the content of a file: who has no key learns nothing from it, not even by trying."""
        mac = hmac.new(hmac.digest(self._bytes, b"maskwell content 1", "sha256"), digestmod="sha256")
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                mac.update(block)
        return mac.hexdigest()[:32]

    def __reduce__(self) -> tuple[Any, ...]:
        return Secret, (self._bytes,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._bytes == self._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __repr__(self) -> str:
        return "<secret key>"
