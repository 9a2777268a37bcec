"""Record ids as the 128-bit blocks that a key encrypts: one block an id, the same for any container of the ids.

Whole numbers stand in the block by value. Text and bytes are hashed to it by AES-256 under a key of their own (CBC-MAC
of a message that begins with its length), many at once and without a detour through Python objects. The bytes are in
`docs/sampling_format.md`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.sampling.buffers import BUFFERS
from maskwell.tables.columns import as_arrow, is_column, is_text, only_column

Blocks = NDArray[np.uint32]
"""Four 32-bit words a record, the low one first."""

_HASHED_AT_ONCE = 1 << 15
_WRONG_IDS = "ids must be whole numbers of up to 64 bits, text or bytes, none missing; cast the id column first."


def id_blocks(ids: object, n: int, hash_key: bytes) -> Callable[[int, int], Blocks]:
    """The blocks of a range of records, to be changed freely; an error unless there are ``n`` ids, all different."""
    column = read_ids(ids)
    if len(column) != n:
        raise DataError(f"ids must hold one id per value: expected {n} ids, got {len(column)}.", parameter="ids")
    if isinstance(column, np.ndarray):
        _refuse(count_repeated_numbers(column), n)
        return lambda start, stop: _number_blocks(column[start:stop])
    hashed = text_blocks(column, hash_key)
    _refuse(count_repeated_blocks(hashed), n)
    return lambda start, stop: hashed[start:stop].copy()


def read_ids(ids: Any) -> Any:
    """Ids as a NumPy array of whole numbers, or as an Arrow array of ``large_string`` or ``large_binary``."""
    dtype = getattr(ids, "dtype", None)
    if len(getattr(ids, "shape", ())) > 1 and isinstance(ids, np.ndarray):
        raise DataError(f"ids must be one column; got an array of shape {ids.shape}.", parameter="ids")
    # A masked array hides ids that are missing; Arrow sees them as such.
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and not isinstance(ids, np.ma.MaskedArray):
        column = np.asarray(ids)
        return column.astype(column.dtype.newbyteorder("="), copy=False)
    if isinstance(ids, range):
        return np.asarray(ids)
    column = _as_arrow(ids)
    if column.null_count:
        raise DataError(_WRONG_IDS)
    return column if column.type in _hashed_types() else column.to_numpy()


def _as_arrow(ids: Any) -> Any:
    """Any column of ids as one Arrow array of whole numbers, large text or large bytes."""
    import pyarrow as pa

    ids = only_column(ids, "ids")
    if not is_column(ids):
        raise DataError(f"ids must be a column of ids, one per value; got {type(ids).__name__}.", parameter="ids")
    column = as_arrow(ids)
    if column is None:
        raise DataError(_WRONG_IDS)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    types = pa.types
    if types.is_integer(column.type):
        return column
    text, raw = _hashed_types()
    if is_text(column.type):
        return column.cast(text)
    if types.is_binary(column.type) or types.is_large_binary(column.type) or types.is_fixed_size_binary(column.type):
        return column.cast(raw)
    if not len(column):
        return column.slice(0, 0).cast(text)
    raise DataError(_WRONG_IDS)


def _hashed_types() -> tuple[Any, Any]:
    import pyarrow as pa

    return pa.large_string(), pa.large_binary()


class RepeatedIdsError(DataError):
    """Ids that come more than once among those that are masked together."""


def _refuse(repeats: int, n: int) -> None:
    if repeats:
        raise RepeatedIdsError(f"ids must be unique: {repeats} of {n} ids repeat an earlier one.", parameter="ids")


def _number_blocks(ids: NDArray[Any]) -> Blocks:
    from maskwell.sampling.ids.kernels import fill_id_blocks

    blocks = BUFFERS.get("ids", 16 * len(ids)).view("<u8").reshape(-1, 2)
    fill_id_blocks(ids, blocks)
    return blocks.view("<u4")


def text_blocks(column: Any, key: bytes) -> Blocks:
    """The block of each text of an Arrow column as :func:`read_ids` gives it, hashed under a 32-byte key."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    from maskwell.sampling.ids.kernels import join_text_block

    is_bytes = int(column.type == _hashed_types()[1])
    offsets = np.frombuffer(column.buffers()[1] or bytes(8), np.int64)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(column.buffers()[2] or b"\0", np.uint8)
    # ECB is no way to encrypt a message; it applies the cipher to each block, as one block of CTR would.
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    hashed = np.empty((len(column), 16), np.uint8)
    spare = np.empty(16 * min(len(column), _HASHED_AT_ONCE) + 16, np.uint8)
    for start in range(0, len(column), _HASHED_AT_ONCE):
        ends = offsets[start : start + _HASHED_AT_ONCE + 1]
        n_blocks = (np.diff(ends) + 4 + 15) // 16
        # The longest first, so that those that have a further block are always the first ones.
        order = np.argsort(-n_blocks, kind="stable")
        longest_first = n_blocks[order]
        state = np.zeros((len(order), 16), np.uint8)
        for at in range(int(longest_first[0])):
            m = int(np.searchsorted(-longest_first, -at, side="left"))
            join_text_block(data, ends, order[:m], at, is_bytes, state)
            encryptor.update_into(state[:m].reshape(-1).data, spare.data)
            state[:m] = spare[: 16 * m].reshape(m, 16)
        hashed[start + order] = state
    return hashed.view("<u4")


def count_repeated_blocks(blocks: Blocks) -> int:
    """How many blocks stand earlier too."""
    halves = blocks.view("<u8")
    first = np.sort(halves[:, 0])
    if not (first[1:] == first[:-1]).any():
        return 0
    ordered = halves[np.lexsort((halves[:, 1], halves[:, 0]))]
    return int((ordered[1:] == ordered[:-1]).all(axis=1).sum())


def count_repeated_numbers(ids: NDArray[Any]) -> int:
    """How many ids stand earlier too. Rising ids and dense ranges are counted without a sort."""
    from maskwell.sampling.ids.kernels import count_repeats, order_and_range

    n = len(ids)
    if n < 2:
        return 0
    rising, *ends = order_and_range(ids)
    if rising:
        return 0
    low, high = map(int, ends)
    if high - low < 64 * n:
        return int(count_repeats(ids, ids.dtype.type(low), np.zeros((high - low) // 8 + 1, np.uint8)))
    ordered = np.sort(ids)
    return int((ordered[1:] == ordered[:-1]).sum())
