"""Files by their names: one file, a pattern such as ``data/*.parquet``, or a folder; read in batches of bounded size.

Parquet is read without its pre-buffer, which holds a whole row group twice.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from maskwell.designs import Design
from maskwell.engines import arrow
from maskwell.engines.contract import Counting, Masking, Tallies
from maskwell.engines.folders import data_in, outermost
from maskwell.engines.record import recorded_parts, require_recorded, require_whole
from maskwell.errors import DataError
from maskwell.microdata.files import ARROW as COLUMNAR
from maskwell.microdata.files import SPSS, STATA, TEXT, suffix_of
from maskwell.reports.batch import Batch
from maskwell.reports.containers import one_line_errors, open_container
from maskwell.reports.files import SUFFIXES, read_reports
from maskwell.reports.table_files import TABLE_FORMAT, masked_columns, read_table
from maskwell.reports.tally import Tally
from maskwell.tables.files import open_columns

_READ_ROWS = 1 << 18


def accepts(source: Any) -> bool:
    """Whether this names files."""
    return isinstance(source, (str, os.PathLike)) or (
        isinstance(source, (list, tuple)) and all(isinstance(path, (str, os.PathLike)) for path in source)
    )


def expand(source: Any) -> list[Path]:
    """The files that a name, a pattern, a folder or a list of these stands for, in the order of their names.

    A folder stands for its own files and those of its partitions, ``region=north/`` and the like; one that a run has
    made stands for the parts that its record lists.
    """
    if isinstance(source, (list, tuple)):
        found = [path for item in source for path in expand(item)]
    else:
        path = Path(source)
        if path.is_dir():
            found = _files_of(path)
        elif path.exists() or not glob.has_magic(str(source)):
            found = [path]
        else:
            found = sorted(map(Path, glob.glob(str(source), recursive=True)))
    if not found:
        raise DataError(f"{str(source)!r} stands for no file of data; {_remedy(source)}.")
    once = list(dict.fromkeys(found))
    _refuse_other_names(once)
    return once


def _refuse_other_names(files: Sequence[Path]) -> None:
    """One file must not come twice under two spellings, by a link or by a hard link."""
    named: dict[tuple[int, int], Path] = {}
    for path in files:
        try:
            status = path.stat()
        except OSError:
            continue
        before = named.setdefault((status.st_dev, status.st_ino), path)
        if before is not path:
            raise DataError(
                f"{str(before)!r} and {str(path)!r} are one file, which would be counted twice; name it once.",
                parameter="source",
            )


def _files_of(folder: Path) -> list[Path]:
    recorded = recorded_parts(folder)
    return data_in(folder) if recorded is None else recorded


def _remedy(source: Any) -> str:
    if not isinstance(source, (list, tuple)) and Path(source).is_dir():
        if any(path.is_dir() and not path.name.startswith((".", "_")) for path in Path(source).iterdir()):
            return (
                "it holds folders, of which those with names such as region=north are looked into: name the files of "
                f"others by a pattern in quotes, {str(Path(source) / '**' / '*.parquet')!r}"
            )
        return f"it may hold {', '.join((*COLUMNAR, *TEXT, *STATA, *SPSS))}"
    return "give a file, a pattern in quotes, or a folder"


def refuse_unfinished(source: Any) -> None:
    """An error if a source names a folder, or files of one, whose record says that they are not all and only its parts.

    Of files that are named one by one, or by a pattern, only those that are named must be parts as they were written.
    """
    items = source if isinstance(source, (list, tuple)) else [source]
    for item in items:
        if Path(item).is_dir():
            require_whole(outermost(Path(item)), Path(item))
        elif glob.has_magic(str(item)) and not Path(item).exists():
            for folder in sorted({outermost(path.parent) for path in expand(item)}):
                require_whole(folder)
    by_folder: dict[Path, list[Path]] = {}
    for path in expand(source):
        by_folder.setdefault(outermost(path.parent), []).append(path)
    for folder, files in by_folder.items():
        require_recorded(folder, files)


def mask(source: Any, masking: Masking) -> Any:
    """A reader of masked record batches."""
    import pyarrow as pa

    found = read(expand(source), masking.needed)
    first = next(found, None)
    if first is None:
        raise DataError("the files have no rows; there is nothing to mask.")
    schema = masking.schema(first.schema)
    return pa.RecordBatchReader.from_batches(
        schema, same_types(arrow.mask_batches(chain([first], found), masking), schema)
    )


def read(paths: Sequence[Path], columns: Sequence[str], **text: str | None) -> Iterator[Any]:
    """Batches of some columns, one file after the other; ``text`` is delimiter and encoding of CSV files."""
    for path in paths:
        try:
            with open_columns(path, columns, **text) as table:
                yield from table.batches
        except OSError as error:
            raise DataError(f"{path.name!r} cannot be read: {error.strerror or error}.") from None


def same_types(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """The same batches, if those of later files have the types of the first."""
    for batch in batches:
        for field, own in zip(schema, batch.schema, strict=True):
            if field.type != own.type:
                raise DataError(
                    f"column {field.name!r} is {own.type} in one file and {field.type} in another; cast it first."
                )
        yield batch


def tally(source: Any, counting: Counting) -> Tallies:
    """The tallies of files of reports: sealed ones are checked whole, others report by report."""
    refuse_unfinished(source)
    return counting.total(tally_file(path, counting) for path in expand(source))


def tally_file(path: Path, counting: Counting) -> Tallies:
    """The tallies of one file."""
    named = list(counting.designs)
    with one_line_errors(path.name):
        if path.suffix.lower() == ".csv":
            return _single(path, counting, named)
        found = open_container(path)
        if found.metadata.get("maskwell") == TABLE_FORMAT:
            return counting.total(map(counting, read_table(found, _READ_ROWS, named)))
        if "maskwell" in found.metadata:
            return _single(path, counting, named)
    return counting.total(map(counting, read([path], named)))


def _single(path: Path, counting: Counting, named: Sequence[str]) -> Tallies:
    if len(named) > 1:
        raise DataError(f"{path.name!r} holds the reports of one column; give one design.")
    design, batches = read_reports(path, Batch, None)
    counting.require_same(named[0], design)
    return {named[0]: Tally.stream(design, batches, counting.patterns)}


def designs_in(paths: Sequence[Path]) -> dict[str, Design]:
    """The designs of the masked columns of sealed files, which must agree where two files have one column."""
    found: dict[str, Design] = {}
    for path in paths:
        for name, design in _designs_of(path).items():
            if found.setdefault(name, design) != design:
                raise DataError(f"{path.name!r} holds reports of {name!r} by another design than files before it.")
    return found


def _designs_of(path: Path) -> dict[str, Design]:
    if suffix_of(path) in SUFFIXES and path.suffix != ".csv":
        with one_line_errors(path.name):
            container = open_container(path)
            if container.metadata.get("maskwell") == TABLE_FORMAT:
                said = masked_columns(container.metadata, path.name, Batch)
                return {name: none.design for name, none in said.items()}
    design, _ = read_reports(path, Batch)
    return {"report": design}


def repeated_ids(source: Any, name: str) -> int:
    """How many ids of a column repeat another."""
    from maskwell.sampling.ids.column import read_id_column
    from maskwell.sampling.ids.seen import SeenIds

    seen = SeenIds()
    for batch in read(expand(source), [name]):
        seen.add(read_id_column(batch.column(name), name, first_row=seen.count))
    return seen.repeats()
