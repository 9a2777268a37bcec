"""DuckDB: a relation that masks as it is read, and a function for SQL."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from maskwell.designs import Design
from maskwell.engines import arrow
from maskwell.engines.contract import Counting, Masking, Tallies, require_columns
from maskwell.errors import DataError
from maskwell.reports.arrow_columns import arrow_type
from maskwell.sampling.ids.column import refuse_missing_ids, require_id_type
from maskwell.tables.labels import Label
from maskwell.tables.matching import Missing


def accepts(source: Any) -> bool:
    """Whether this is a relation of DuckDB."""
    return type(source).__name__ == "DuckDBPyRelation"


def mask(source: Any, masking: Masking) -> Any:
    """A relation that reads and masks the source whenever it is read itself.

    It belongs to a connection of its own: DuckDB cannot read one result of a connection inside another. To join it with
    tables, read it there as a reader (``to_arrow_reader``), or use :func:`duckdb_function` in SQL.
    """
    import duckdb

    masking.require_keyed("a relation")
    require_columns(masking.needed, source.columns)
    return duckdb.connect().from_arrow(_Masked(source, masking))


class _Masked:
    """A source of Arrow streams, one for each reading."""

    def __init__(self, relation: Any, masking: Masking) -> None:
        self._relation = relation
        self._masking = masking
        with _unquoted():
            empty = relation.project(", ".join(map(_quoted, masking.needed))).limit(0).to_arrow_table()
        self._schema = masking.schema(empty.schema)
        self._lock = threading.RLock()  # a generator may be closed by the collector of garbage at any moment
        self._running: _Reading | None = None

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self._schema, self._masked()).__arrow_c_stream__(requested_schema)

    def _masked(self) -> Iterator[Any]:
        # A connection has one open result. A second reading at the same time would cut the first one off, so what
        # remains of that is fetched into memory before.
        with self._lock:
            if self._running is not None:
                self._running.fetch_all()
            reading = self._running = _Reading(_read(self._relation, self._masking.needed))
        try:
            while (batch := self._next(reading)) is not None:
                yield self._masking(batch)
        finally:
            # A result that stays open, after a wrong value say, would refuse or disturb the connection's next query.
            with self._lock:
                reading.close()
                if self._running is reading:
                    self._running = None

    def _next(self, reading: _Reading) -> Any:
        with self._lock:
            return reading.next()


class _Reading:
    def __init__(self, batches: Generator[Any]) -> None:
        self._batches, self._fetched = batches, deque[Any]()

    def next(self) -> Any:
        return self._fetched.popleft() if self._fetched else next(self._batches, None)

    def fetch_all(self) -> None:
        self._fetched.extend(self._batches)

    def close(self) -> None:
        self._batches.close()


@contextmanager
def _unquoted() -> Iterator[None]:
    """An error of DuckDB without its text, which may quote a cell: it comes from reading, also through Arrow."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise DataError(
            f"source cannot be read by DuckDB ({type(error).__name__}): its query fails, say at a cell that cannot be "
            "cast (use TRY_CAST), or its connection was asked for something else meanwhile (use connection.cursor() "
            "for that). Run the query by itself to see DuckDB's message, which may show a value.",
            parameter="source",
        ) from None


def _read(relation: Any, columns: Sequence[str]) -> Generator[Any]:
    """The same as ``_whole`` for a source of true values."""
    with _unquoted():
        yield from _whole(relation, columns)


def _whole(relation: Any, columns: Sequence[str]) -> Generator[Any]:
    """Batches of some columns, all of them or an error.

    A reader whose connection runs another query ends early and says nothing, so a last row is added that must come.
    """
    import pyarrow.compute as pc

    listed = ", ".join(map(_quoted, columns))
    nothing = ", ".join(f"any_value({_quoted(name)})" for name in columns)
    last = relation.limit(0).aggregate(f"{nothing}, true")
    reader = relation.project(f"{listed}, false").union(last).to_arrow_reader(arrow.ROWS)
    ended = False
    with reader:
        for batch in reader:
            is_last = batch.column(len(columns))
            batch = batch.select(range(len(columns)))
            if pc.any(is_last).as_py():
                ended = True
                batch = batch.filter(pc.invert(is_last))
            if len(batch):
                yield batch.rename_columns(list(columns))
    if not ended:
        raise DataError(
            "the relation was cut off: its connection ran another query while it was being read. Finish reading first, "
            "or run the other query on connection.cursor()."
        )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def tally(source: Any, counting: Counting) -> Tallies:
    """The tallies of a relation, batch by batch."""
    require_columns(list(counting.designs), source.columns)
    return counting.total(map(counting, _read(source, list(counting.designs))))


def read_and_mask(path: Path, masking: Masking, *, parquet: bool) -> Iterator[Any]:
    """Batches of a file, read and masked by DuckDB as a stream."""
    import duckdb
    import pyarrow.dataset as ds

    connection = duckdb.connect()
    if parquet:
        source = connection.read_parquet(str(path))
    else:
        source = connection.from_arrow(ds.dataset(path, format="ipc"))
    return _whole(mask(source, masking), [*masking.keep, *masking.designs])


def repeated_ids(source: Any, name: str) -> int:
    """How many ids of a column repeat another, counted by DuckDB."""
    require_columns([name], source.columns)
    column = _quoted(name)
    with _unquoted():
        kind = source.project(column).limit(0).to_arrow_table().schema.field(0).type
        require_id_type(kind, name)
        # Cast, or DuckDB casts the empty text to the type of the ids.
        missing = f"count(*) filter ({column} is null or cast({column} as varchar) = '')"
        repeated = f"count(*) - count(distinct {column})"
        counted = source.aggregate(f"{repeated}, {missing}").fetchall()[0]
    refuse_missing_ids(counted[1], name)
    return int(counted[0])


def duckdb_function(
    connection: Any,
    name: str,
    design: Design,
    *,
    key: bytes,
    survey: str,
    column: str,
    id_type: str = "BIGINT",
    value_type: str = "VARCHAR",
    missing: Missing = "refuse",
    other: Label | None = None,
) -> None:
    """Make ``name(id, value)`` a function of SQL on a connection: the report of a record.

    ``column`` is the question, as the column's name is elsewhere. The function is keyed, so DuckDB may evaluate it as
    often and as early as it likes: in views, for constants, or twice in one query. ``other`` is the category that
    unknown values count as. Ids that are text need ``id_type="VARCHAR"``: a text that is no number cannot be cast, and
    one that is becomes another id than it is elsewhere.

    Arguments of other types are cast by DuckDB before the function is called, and its error quotes a value that cannot
    be: declare the types that the columns have, or cast in the query, ``mask_habit(id, TRY_CAST(habit AS BIGINT))``.
    """
    import pyarrow as pa

    if key is None:
        raise DataError("key is needed: SQL evaluates a function as often as it likes, and each draw would tell more.")
    others = None if other is None else {column: other}
    masking = Masking({column: design}, id="id", key=key, survey=survey, missing=missing, other=others)

    def report(ids: Any, values: Any) -> Any:
        batch = pa.record_batch([_one(ids), _one(values)], names=["id", column])
        return masking(batch, masking.ids(batch)).column(column)

    connection.create_function(
        name, report, [id_type, value_type], _sql_type(design), type="arrow", null_handling="special"
    )


def _one(column: Any) -> Any:
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _sql_type(design: Design) -> str:
    import pyarrow as pa

    kind = arrow_type(design)
    names = {pa.uint8(): "UTINYINT", pa.uint16(): "USMALLINT", pa.uint32(): "UINTEGER", pa.uint64(): "UBIGINT"}
    return names.get(kind, "BLOB")
