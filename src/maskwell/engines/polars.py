"""Polars: a frame at once; a lazy frame as an expression for each masked column, which streams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from maskwell.engines import arrow
from maskwell.engines.contract import Counting, Masking, Tallies, require_columns
from maskwell.reports.arrow_columns import arrow_type
from maskwell.sampling.ids.column import refuse_missing_ids, require_id_type


def accepts(source: Any) -> bool:
    """Whether this is a frame of Polars."""
    return type(source).__module__.startswith("polars.") and type(source).__name__ in ("DataFrame", "LazyFrame")


def mask(source: Any, masking: Masking) -> Any:
    """A frame for a frame, a lazy one for a lazy one."""
    import polars as pl

    require_columns(masking.needed, source.collect_schema().names())
    if isinstance(source, pl.DataFrame):
        return pl.from_arrow(arrow.mask(source.select(masking.needed).to_arrow(), masking))
    masking.require_keyed("a lazy frame")
    return source.select(*masking.keep, *(_expression(masking.only(name), name) for name in masking.designs))


def _expression(masking: Masking, name: str) -> Any:
    """The reports of one column: a function of its own cell and the id alone, so that filters may pass below it."""
    import polars as pl
    import pyarrow as pa

    kind = pl.Series(pa.array([], arrow_type(masking.designs[name]))).dtype

    def reports(columns: Sequence[Any]) -> Any:
        batch = pa.record_batch([_plain(column) for column in columns], names=masking.needed)
        return pl.Series(name, masking(batch).column(name), kind)

    return pl.map_batches(masking.needed, reports, return_dtype=kind, is_elementwise=True).alias(name)


def _plain(column: Any) -> Any:
    return column.to_arrow(compat_level=_layout())


def _layout() -> Any:
    """Text in the layout that all of Arrow can work on."""
    import polars as pl

    return pl.CompatLevel.oldest()


def tally(source: Any, counting: Counting) -> Tallies:
    """The tallies of a frame; of a lazy one batch by batch."""
    require_columns(list(counting.designs), source.collect_schema().names())
    return counting.total(map(counting, _batches(source.select(list(counting.designs)))))


def _batches(source: Any) -> Iterator[Any]:
    import polars as pl

    frames = [source] if isinstance(source, pl.DataFrame) else source.collect_batches(maintain_order=False)
    for frame in frames:
        yield from frame.to_arrow(compat_level=_layout()).to_batches(max_chunksize=arrow.ROWS)


def read_and_mask(path: Path, masking: Masking, *, parquet: bool) -> Iterator[Any]:
    """Batches of a file, read and masked by Polars as a stream."""
    import polars as pl

    lazy = mask(pl.scan_parquet(path) if parquet else pl.scan_ipc(path), masking)
    for frame in lazy.collect_batches(maintain_order=True):
        yield from frame.to_arrow(compat_level=_layout()).to_batches()


def repeated_ids(source: Any, name: str) -> int:
    """How many ids of a column repeat another, counted by Polars."""
    import polars as pl

    require_columns([name], source.collect_schema().names())
    ids = source.lazy().select(name)
    require_id_type(ids.head(0).collect().to_arrow(compat_level=_layout()).schema.field(0).type, name)
    id_ = pl.col(name)
    empty = id_.is_null() | (id_.cast(pl.String) == "").fill_null(True) if _is_text(ids) else id_.is_null()
    counted = ids.select(n=pl.len(), different=id_.n_unique(), missing=empty.sum()).collect()
    refuse_missing_ids(counted["missing"].item(), name)
    return int(counted["n"].item() - counted["different"].item())


def _is_text(ids: Any) -> bool:
    import polars as pl

    return ids.collect_schema().dtypes()[0] in (pl.String, pl.Categorical, pl.Enum)
