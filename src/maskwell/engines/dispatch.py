"""One call for every engine: what the source is decides who masks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maskwell.designs import Design
from maskwell.engines import arrow, duckdb, paths, polars, spark
from maskwell.engines.contract import Counting, Masking, Tallies
from maskwell.errors import DataError
from maskwell.tables.labels import Label
from maskwell.tables.matching import Missing

_ENGINES = (paths, arrow, polars, duckdb, spark)


def mask(
    source: Any,
    designs: Mapping[str, Design],
    *,
    id: str | None = None,
    key: bytes | None = None,
    survey: str | None = None,
    keep: Sequence[str] | str = (),
    missing: Missing = "refuse",
    na: Sequence[str] = (),
    integer_ids: bool = False,
    other: Mapping[str, Label] | None = None,
) -> Any:
    """Mask columns of a source by a design each; what comes out is the same kind of thing, lazy where the source is.

    ``source`` is a path, a pattern such as ``"data/*.parquet"`` or a folder of such files (out comes a
    reader of record batches), a table, batch or reader of Arrow, a Polars frame, a DuckDB relation or a Spark frame.
    Out come the columns of ``keep``, then one of reports for each design.

    With ``key``, ``id`` (the column of record ids) and ``survey`` the report of a record depends on (key, design,
    survey and column, id, true value) alone, so every engine gives the same. Lazy sources evaluate when they like, and
    twice, so there masking must be keyed. Ids must be unique: repeated ones are found where all rows pass through this
    process, and within a batch elsewhere; ``repeated_ids(source, id)`` has the engine count them. A label that a design
    does not know is an error, or counts as the category that ``other`` names for its column: ``{"page": "(other)"}``.

    >>> import pyarrow as pa
    >>> from maskwell.designs import direct
    >>> table = pa.table({"person": [1, 2, 3], "habit": ["yes", "no", "no"]})
    >>> masked = mask(table, {"habit": direct(["yes", "no"])}, id="person", key=bytes(32), survey="health 2026")
    >>> tally(masked, {"habit": direct(["yes", "no"])})["habit"].n
    3
    """
    masking = Masking(
        designs, id=id, key=key, survey=survey, keep=keep, missing=missing, na=na, integer_ids=integer_ids, other=other
    )
    return _engine(source).mask(source, masking)


def tally(source: Any, designs: Mapping[str, Design], *, patterns: bool | None = None) -> Tallies:
    """Count the reports in columns of a masked source: a tally for each, exact whatever the partitions.

    ``patterns`` keeps each distinct report, as in ``Reports.tally``.
    """
    result: Tallies = _engine(source).tally(source, Counting(designs, patterns))
    return result


def repeated_ids(source: Any, id: str) -> int:
    """How many record ids of a source repeat another: keyed masking needs none.

    >>> import pyarrow as pa
    >>> repeated_ids(pa.table({"person": [1, 2, 1]}), "person")
    1
    """
    return int(_engine(source).repeated_ids(source, id))


def _engine(source: Any) -> Any:
    for engine in _ENGINES:
        if engine.accepts(source):
            return engine
    raise DataError(
        "source must be a path, a table, batch or reader of Arrow, a Polars frame, a DuckDB relation or a Spark "
        f"frame; got {type(source).__name__}. A pandas frame is passed as pyarrow.Table.from_pandas(frame).",
        parameter="source",
    )
