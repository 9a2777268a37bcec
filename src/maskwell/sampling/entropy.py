"""The only source of randomness: AES-256 keystreams, handed out as a slot of 32-bit words per record.

Record ``i`` of a call owns the words ``[i * width, (i + 1) * width)`` of the call's keystream, so neither the
chunk size nor the number of threads can change a report. A record that rejects its way through its slot goes
on in an extension of its own. Three streams differ only in where their key comes from:

* secure: 32 bytes from the operating system for each call, so that nothing is shared with a forked child;
* seeded: a hash of the seed, for simulations that must be repeated;
* keyed: a pseudo-random function of (design, record id, true value), the same in any order or process.
"""

import hashlib
import hmac
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError

Words = NDArray[np.uint32]
Codes = NDArray[np.uint32]

_BLOCK = 16
_ZEROS = np.zeros(1 << 20, np.uint8)
_MIN_KEY_BYTES = 16


class Stream(Protocol):
    """Random words by record."""

    randomness: str

    def slots(self, start: int, truth: Codes, width: int) -> tuple[Words, int]:
        """The words of records ``start``, ``start + 1``, … end to end, and how many each one has."""
        ...

    def longer_slot(self, record: int, truth: int, width: int, extra: int) -> Words:
        """The slot of one record followed by ``extra`` more words."""
        ...


class _Buffers(threading.local):
    """Memory that a thread uses again: fresh pages cost as much as the keystream that fills them."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[np.uint8]] = {}

    def get(self, role: str, n_bytes: int) -> NDArray[np.uint8]:
        if role not in self._held or len(self._held[role]) < n_bytes:
            self._held[role] = np.empty(n_bytes, np.uint8)
        return self._held[role][:n_bytes]


_BUFFERS = _Buffers()


def _ctr(key: bytes, domain: int, first_block: int, n_bytes: int) -> NDArray[np.uint8]:
    """Keystream of AES-256-CTR whose counter block is ``domain`` (64 bits) then a block number (64 bits).

    The bytes are the thread's own and good until it asks for more.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    counter = domain.to_bytes(8, "big") + first_block.to_bytes(8, "big")
    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
    out = _BUFFERS.get("keystream", n_bytes + _BLOCK)
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


@dataclass(frozen=True)
class Source:
    """Where the randomness of a call comes from: the operating system, or a key with ids, or a seed.

    ``context`` keeps the columns of one table apart, which would otherwise share draws for equal answers.
    """

    key: bytes | None = None
    ids: Any = None
    seed: Any = None
    context: str = ""

    def check(self) -> None:
        """An error unless the three go together."""
        if (self.key is None) != (self.ids is None):
            raise DataError("key and ids go together: pass both for keyed masking, or neither.")
        if self.key is not None and self.seed is not None:
            raise DataError(
                "key and seed exclude each other: a key is for repeatable collection, a seed for simulation."
            )
        if self.seed is not None and (not isinstance(self.seed, (int, np.integer)) or self.seed < 0):
            raise DataError(f"seed must be a whole number >= 0; got {self.seed!r}. Leave it out for secure randomness.")

    def stream(self, fingerprint: str, n: int, first: int = 0) -> Stream:
        """The stream of ``n`` records of a design; ``first`` is the number of the first of them under a seed."""
        self.check()
        if self.key is not None:
            return KeyedStream(self.key, fingerprint + self.context, self.ids, n)
        if self.seed is not None:
            text = f"maskwell seed 1 {int(self.seed)}{self.context}"
            return CounterStream(hashlib.sha256(text.encode()).digest(), "seeded", first)
        return CounterStream(os.urandom(32), "secure")


class KeyedStream:
    """Words that depend on (key, design, id, truth) alone: AES-256 of distinct blocks, as a pseudo-random function.

    Block ``c`` of a record is the encryption of its id block xor (0, 0, truth, c), under a key that HMAC-SHA-512
    derives from the user's key and the design's fingerprint.
    """

    randomness = "keyed"

    def __init__(self, key: object, fingerprint: str, ids: object, n: int) -> None:
        if not isinstance(key, bytes) or len(key) < _MIN_KEY_BYTES:
            raise DataError(
                f"key must be at least {_MIN_KEY_BYTES} bytes; use os.urandom(32) and keep it secret: "
                "whoever holds it can recover the true values."
            )
        derived = hmac.digest(key, b"maskwell keyed 1 " + fingerprint.encode(), "sha512")
        self._key = derived[:32]
        self._id_blocks = _id_blocks(ids, n, derived[32:])

    def slots(self, start: int, truth: Codes, width: int) -> tuple[Words, int]:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        n_blocks = -(-width // 4)
        blocks = self._id_blocks(start, start + len(truth))
        blocks[:, 2] ^= truth
        if n_blocks > 1:
            blocks = np.repeat(blocks[:, None, :], n_blocks, axis=1)
            blocks[:, :, 3] ^= np.arange(n_blocks, dtype=np.uint32)
        out = _BUFFERS.get("keystream", blocks.nbytes + _BLOCK)
        # ECB is no way to encrypt a message; here it only applies the cipher to each distinct block.
        encryptor = Cipher(algorithms.AES(self._key), modes.ECB()).encryptor()
        encryptor.update_into(blocks.reshape(-1).view(np.uint8).data, out.data)
        return out[: blocks.nbytes].view("<u4"), 4 * n_blocks

    def longer_slot(self, record: int, truth: int, width: int, extra: int) -> Words:
        return self.slots(record, np.array([truth], np.uint32), width + extra)[0]


def _id_blocks(ids: object, n: int, hash_key: bytes) -> Callable[[int, int], NDArray[np.uint32]]:
    """Record ids as distinct 128-bit blocks: whole numbers by value, text by a keyed 128-bit hash."""
    column = _as_numbers(ids)
    items = column if column is not None else _as_list(ids)
    if len(items) != n:
        raise DataError(f"ids must hold one id per value: expected {n} ids, got {len(items)}.")
    if column is not None:
        _refuse_duplicates(column)
        return lambda start, stop: _number_blocks(column[start:stop])
    if not all(isinstance(item, (str, bytes)) for item in items):
        raise DataError("ids must be whole numbers, text or bytes, none missing; cast the id column first.")
    if len(set(items)) < n:
        raise DataError(f"ids must be unique: {n - len(set(items))} of {n} ids repeat an earlier one.")
    digests = np.frombuffer(b"".join(_text_id(item, hash_key) for item in items), "<u4").reshape(n, 4)
    return lambda start, stop: digests[start:stop].copy()


def _as_numbers(ids: Any) -> NDArray[Any] | None:
    """Ids as 64-bit whole numbers, if that is what they are."""
    dtype = getattr(ids, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        column = np.asarray(ids)
        return column.astype(column.dtype.newbyteorder("="), copy=False).ravel()
    if isinstance(ids, range):
        return np.asarray(ids)
    items = _as_list(ids)
    if not items or not all(type(item) is int for item in items):
        return None
    try:
        return np.array(items, np.int64 if min(items) < 0 else np.uint64)
    except OverflowError:
        raise DataError("ids that are whole numbers must fit in 64 bits; pass longer ones as text.") from None


def _as_list(ids: Any) -> list[Any]:
    """A column of any library as plain values. (NumPy would cut trailing NULs off a list of text.)"""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(ids, method):
            return list(getattr(ids, method)())
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise DataError(f"ids must be a column of ids, one per value; got {type(ids).__name__}.")
    return list(ids)


def _number_blocks(ids: NDArray[Any]) -> NDArray[np.uint32]:
    from maskwell.sampling.id_kernels import fill_id_blocks

    blocks = _BUFFERS.get("ids", 16 * len(ids)).view("<u8").reshape(-1, 2)
    fill_id_blocks(ids, blocks)
    return blocks.view("<u4")


def _text_id(item: str | bytes, key: bytes) -> bytes:
    raw, person = (item.encode(), b"maskwell text") if isinstance(item, str) else (item, b"maskwell bytes")
    return hashlib.blake2b(raw, digest_size=16, key=key, person=person).digest()


def _refuse_duplicates(ids: NDArray[Any]) -> None:
    """Equal ids would give two records one draw. Rising ids and dense ranges are checked without a sort."""
    from maskwell.sampling.id_kernels import count_repeats, order_and_range

    n = len(ids)
    if n < 2:
        return
    rising, *ends = order_and_range(ids)
    if rising:
        return
    low, high = map(int, ends)
    if high - low < 64 * n:
        repeats = int(count_repeats(ids, ids.dtype.type(low), np.zeros((high - low) // 8 + 1, np.uint8)))
    else:
        ordered = np.sort(ids)
        repeats = int((ordered[1:] == ordered[:-1]).sum())
    if repeats:
        raise DataError(f"ids must be unique: {repeats} of {n} ids repeat an earlier one.")
