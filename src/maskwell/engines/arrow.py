"""Arrow in memory: tables and batches at once, a reader of record batches as it is read.

A reader can be read once only, so each batch is masked once, and secure masking needs no key. Ids that repeat across
batches are found, in bounded memory; where a reader is not read to its end, only among those that were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from maskwell.engines.contract import Counting, Masking, Tallies, said_repeats
from maskwell.sampling.ids.blocks import RepeatedIdsError
from maskwell.sampling.ids.seen import SeenIds

ROWS = 1 << 18
"""Rows of a table that are masked at a time."""


def accepts(source: Any) -> bool:
    """Whether this is a table, a batch or a reader of Arrow."""
    import pyarrow as pa

    return isinstance(source, (pa.Table, pa.RecordBatch, pa.RecordBatchReader))


def mask(source: Any, masking: Masking) -> Any:
    """The same kind of thing, masked."""
    import pyarrow as pa

    if isinstance(source, pa.RecordBatchReader):
        schema = masking.schema(source.schema)
        return pa.RecordBatchReader.from_batches(schema, mask_batches(source, masking))
    table = pa.Table.from_batches(mask_batches(batches(source), masking), masking.schema(source.schema))
    return table.combine_chunks().to_batches()[0] if isinstance(source, pa.RecordBatch) and len(table) else table


def tally(source: Any, counting: Counting) -> Tallies:
    """The tallies of a source."""
    return counting.total(map(counting, batches(source)))


def batches(source: Any) -> Iterator[Any]:
    """Record batches of bounded size."""
    import pyarrow as pa

    if isinstance(source, pa.RecordBatchReader):
        return iter(source)
    if isinstance(source, pa.RecordBatch):
        return (source.slice(start, ROWS) for start in range(0, len(source), ROWS))
    return iter(source.to_batches(max_chunksize=ROWS))


def mask_batches(
    source: Iterable[Any], masking: Masking, seen: SeenIds | None = None, *, in_file: bool = False
) -> Iterator[Any]:
    """Mask batches in turn, and refuse ids that came before; ``seen`` are those from elsewhere.

    Errors about batches that are ``in_file`` name data rows of the file.
    """
    known, coming, rows = seen or SeenIds(), iter(source), 0
    for batch in coming:
        ids = masking.ids(batch, known.count)
        if ids is not None:
            known.add(ids)
        try:
            masked = masking(batch, ids, rows if in_file else None)
        except RepeatedIdsError:
            # How many there are is told of the whole, not of the batch in which the first was found.
            for rest in coming:
                known.add(masking.ids(rest, known.count))
            refuse_repeated(known, masking)
            raise
        rows += len(batch)
        yield masked
    if seen is None:
        refuse_repeated(known, masking)


def refuse_repeated(seen: SeenIds, masking: Masking) -> None:
    """After the last batch: every id must have come once."""
    repeated = seen.repeats()
    if repeated:
        raise RepeatedIdsError(said_repeats(repeated, seen.count, str(masking.id)), parameter="id")


def refuse_marked(seen: SeenIds, masking: Masking) -> None:
    """The same as far as it is known before the last batch."""
    if seen.known_repeats:
        refuse_repeated(seen, masking)


def repeated_ids(source: Any, name: str) -> int:
    """How many ids of a column repeat another."""
    from maskwell.engines.contract import require_columns
    from maskwell.sampling.ids.column import read_id_column

    seen = SeenIds()
    require_columns([name], source.schema.names)
    for batch in batches(source):
        seen.add(read_id_column(batch.column(name), name, first_row=seen.count))
    return seen.repeats()
