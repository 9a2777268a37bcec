"""The only source of randomness: AES-256 keystreams, handed out as a slot of 32-bit words per record.

Record ``i`` of a call owns the words ``[i * width, (i + 1) * width)`` of the call's keystream, so neither the
chunk size nor the number of threads can change a report. A record that rejects its way through its slot goes
on in an extension of its own. Three streams differ only in where their key comes from:

* secure: 32 bytes from the operating system for each call, so that nothing is shared with a forked child. Many records
  at once are drawn from the leading halves of their words where those decide the report (`leading.py`);
* seeded: a hash of the seed, for simulations that must be repeated;
* keyed: a pseudo-random function of (design, question, record id, true value), the same in any order or process.

How bytes become words, and keys become streams, is frozen: `docs/sampling_format.md`, format 1.
"""

import hashlib
import hmac
import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.sampling.buffers import BUFFERS
from maskwell.sampling.ids.blocks import id_blocks

Words = NDArray[np.uint32]
Codes = NDArray[np.uint32]

_BLOCK = 16
_ZEROS = np.zeros(1 << 20, np.uint8)
MIN_KEY_BYTES = 16
_LONGEST_QUESTION = 1000


class Stream(Protocol):
    """Random words by record."""

    randomness: str

    def slots(self, start: int, truth: Codes, width: int) -> tuple[Words, int]:
        """The words of records ``start``, ``start + 1``, … end to end, and how many each one has."""
        ...

    def longer_slot(self, record: int, truth: int, width: int, extra: int) -> Words:
        """The slot of one record followed by ``extra`` more words."""
        ...


def _ctr(key: bytes, domain: int, first_block: int, n_bytes: int) -> NDArray[np.uint8]:
    """Keystream of AES-256-CTR whose counter block is ``domain`` (64 bits) then a block number (64 bits).

    The bytes are the thread's own and good until it asks for more.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    counter = domain.to_bytes(8, "big") + first_block.to_bytes(8, "big")
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
    out = BUFFERS.get("keystream", n_bytes + _BLOCK)
    for offset in range(0, n_bytes, len(_ZEROS)):
        size = min(len(_ZEROS), n_bytes - offset)
        encryptor.update_into(_ZEROS[:size].data, out[offset : offset + size + _BLOCK].data)
    return out[:n_bytes]


class CounterStream:
    """A keystream addressed by record number: domain 0 holds the slots, domain ``i + 1`` extends record ``i``."""

    def __init__(self, key: bytes, randomness: str, first: int = 0) -> None:
        self._key = key
        self._first = first
        self.randomness = randomness

    def slots(self, start: int, truth: Codes, width: int) -> tuple[Words, int]:
        first_byte = 4 * (self._first + start) * width
        skipped = first_byte % _BLOCK
        stream = _ctr(self._key, 0, first_byte // _BLOCK, 4 * len(truth) * width + skipped)
        return stream[skipped:].view("<u4"), width

    def longer_slot(self, record: int, truth: int, width: int, extra: int) -> Words:
        slot = self.slots(record, np.zeros(1, np.uint32), width)[0].copy()
        return np.concatenate([slot, _ctr(self._key, self._first + record + 1, 0, 4 * extra).view("<u4")])


def fresh_key() -> bytes:
    """32 bytes from the operating system."""
    return os.urandom(32)


@dataclass(frozen=True)
class Source:
    """Where the randomness of a call comes from: the operating system, or a key with ids, or a seed.

    ``question`` says what is asked and ``part`` which of several draws it is for; both keep streams apart that would
    otherwise share their draws.
    """

    key: bytes | None = None
    ids: Any = None
    seed: Any = None
    part: str = ""
    question: str | None = None

    def check(self) -> None:
        """An error unless these go together."""
        if (self.key is None) != (self.ids is None):
            raise DataError("key and ids go together: pass both for keyed masking, or neither.")
        if self.key is not None and self.seed is not None:
            raise DataError(
                "key and seed exclude each other: a key is for repeatable collection, a seed for simulation."
            )
        if self.seed is not None and (
            isinstance(self.seed, bool) or not isinstance(self.seed, (int, np.integer)) or self.seed < 0
        ):
            raise DataError(
                f"seed must be a whole number >= 0; got {self.seed!r}. Leave it out for secure randomness.",
                parameter="seed",
            )
        if self.question is not None:
            _check_question(self.question)

    def check_answers(self) -> None:
        """The same for masked answers, where a key needs a question: without one, equal answers show."""
        self.check()
        if self.key is not None and self.question is None:
            raise DataError(
                "key needs question: a text that names the survey and the question, such as 'health 2026/smoking'. "
                "Under one key, two columns of one question would have equal reports wherever their answers are equal.",
                parameter="key",
            )

    def stream(self, fingerprint: str, n: int, first: int = 0) -> Stream:
        """The stream of ``n`` records of a design; ``first`` is the number of the first of them under a seed."""
        self.check()
        asked = "" if self.question is None else f"\n{self.question}"
        if self.key is not None:
            return KeyedStream(self.key, f"{fingerprint}{self.part}{asked}", self.ids, n)
        if self.seed is not None:
            text = f"maskwell seed 1 {int(self.seed)}{self.part}{asked}"
            return CounterStream(hashlib.sha256(text.encode()).digest(), "seeded", first)
        return CounterStream(fresh_key(), "secure")


def _check_question(question: object) -> None:
    """Any text that UTF-8 can hold, but not an empty one."""
    try:
        size = len(question.encode()) if isinstance(question, str) else 0
        found = f"{size:,} bytes" if isinstance(question, str) else type(question).__name__
    except UnicodeEncodeError:
        size, found = 0, "half of a character (a lone surrogate)"
    if not 0 < size <= _LONGEST_QUESTION:
        raise DataError(
            f"question must be a text of 1 to {_LONGEST_QUESTION:,} bytes that names the survey and the question; "
            f"got {found}.",
            parameter="question",
        )


def check_key(key: object) -> bytes:
    """The key, if it is one."""
    if not isinstance(key, bytes) or len(key) < MIN_KEY_BYTES:
        raise DataError(
            f"key must be bytes, at least {MIN_KEY_BYTES} of them; use os.urandom(32) and keep it secret: "
            "whoever holds it can recover the true values.",
            parameter="key",
        )
    return key


class KeyedStream:
    """Words that depend on (key, context, id, truth) alone: the keystream of AES-256-CTR, a counter block per record.

    The counter block is the id's block with the truth joined to it, and HMAC-SHA-512 derives the key from the user's
    and the context (design, part, question).
    """

    randomness = "keyed"

    def __init__(self, key: object, context: str, ids: object, n: int) -> None:
        derived = hmac.digest(check_key(key), b"maskwell keyed 1 " + context.encode(), "sha512")
        self._key = derived[:32]
        self._id_blocks = id_blocks(ids, n, derived[32:])

    def slots(self, start: int, truth: Codes, width: int) -> tuple[Words, int]:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        n_blocks = -(-width // 4)
        blocks = self._id_blocks(start, start + len(truth))
        blocks[:, 2] ^= truth
        if n_blocks > 1:
            blocks = np.repeat(blocks[:, None, :], n_blocks, axis=1)
            blocks.view(">u4")[:, :, 3] += np.arange(n_blocks, dtype=np.uint32)
        out = BUFFERS.get("keystream", blocks.nbytes + _BLOCK)
        # ECB is no way to encrypt a message; here it makes the keystream of many short CTR streams at once.
        encryptor = Cipher(algorithms.AES(self._key), modes.ECB()).encryptor()
        encryptor.update_into(blocks.reshape(-1).view(np.uint8).data, out.data)
        return out[: blocks.nbytes].view("<u4"), 4 * n_blocks

    def longer_slot(self, record: int, truth: int, width: int, extra: int) -> Words:
        return self.slots(record, np.array([truth], np.uint32), width + extra)[0]
