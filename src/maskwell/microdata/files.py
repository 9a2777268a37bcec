"""Reading and writing microdata by suffix, with one clear line when a file is not what its name says."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError, MaskwellError
from maskwell.input_files import require_regular
from maskwell.microdata.model import Microdata
from maskwell.whole_files import complete_file

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
PARQUET = (".parquet", ".pq")
ARROW = (*PARQUET, ".arrow", ".feather", ".ipc")
STATA, SPSS = (".dta",), (".sav", ".zsav")
READABLE = TEXT + ARROW + STATA + SPSS
_UNWRITTEN = "could not be written", "its columns differ in length, or one holds values that no one type can hold"


def read(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    user_missing: bool = False,
) -> Microdata:
    """Read a file by its suffix.

    The delimiter and the encoding of a CSV file are found unless they are given; ``na`` lists texts that mean missing
    in it, besides the empty cell. Codes that an SPSS or Stata file declares missing and labels (9, "no answer"; .a) are
    categories, as their labels are values: ``Microdata.declared_missing`` lists them, and with ``user_missing`` they
    are missing values. They are written with their codes either way.
    """
    file, suffix = Path(path), suffix_of(path)
    if not file.exists():
        raise DataError(f"{file.name!r} was not found.")
    require_regular(file)
    if not file.stat().st_size:
        raise DataError(f"{file.name!r} is empty.")
    if na and suffix not in TEXT:
        declared = " to count codes that it declares missing so." if suffix in (*STATA, *SPSS) else ""
        remedy = ("; pass ", Setting("user_missing", True), declared) if declared else (".",)
        raise DataError(
            Advice(f"na is for CSV files, and {file.name!r} says itself what is missing", *remedy), parameter="na"
        )
    with _one_line(file.name):
        if suffix in TEXT:
            from maskwell.microdata.text.reader import read_text

            with open_text(file, suffix) as opened:
                delimiter = delimiter or delimiter_of(suffix)
                found = read_text(opened, file.name, delimiter=delimiter, encoding=encoding, na=na)
        elif suffix in ARROW:
            from maskwell.microdata.columnar import read_columnar

            found = read_columnar(file, suffix)
        elif suffix in STATA:
            from maskwell.microdata.labelled.stata import read_stata

            found = read_stata(file)
        else:
            from maskwell.microdata.labelled.spss import read_spss

            found = read_spss(file)
    _refuse_repeated(found.names, file.name, found.kind)
    return found.without_declared() if user_missing else found


def write(data: Any, path: str | os.PathLike[str]) -> None:
    """Write microdata, or a table, whole or not at all, in the format of the suffix.

    Within a format codes, labels and spelling stay as they were read. Between formats categories become codes 1, 2, …
    with value labels (or keep the whole numbers they had), and missing values of any kind become missing.
    """
    target = Path(path)
    suffix_of(target)
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r} to write {target.name!r} into; create it first.")
    with _one_line(target.name, *_UNWRITTEN), complete_file(target) as file:
        write_to(data, file, target.name)


def write_to(data: Any, file: BinaryIO, name: str) -> None:
    """Write to an open file that will be called ``name``, which decides its format."""
    data = data if isinstance(data, Microdata) else Microdata(_arrow_table(data), "arrow")
    suffix = suffix_of(name)
    _refuse_repeated(data.names, name, data.kind)
    with _one_line(name, *_UNWRITTEN):
        if suffix in TEXT:
            from maskwell.microdata.text.writer import write_text

            write_text(data, file, "\t" if suffix.startswith(".tsv") else ",", compressed=suffix.endswith(".gz"))
        elif suffix in ARROW:
            from maskwell.microdata.columnar import write_columnar

            write_columnar(data, file, suffix)
        elif suffix in STATA:
            from maskwell.microdata.labelled.stata import write_stata

            write_stata(data, file, name)
        else:
            from maskwell.microdata.labelled.spss import write_spss

            write_spss(data, file, name)


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix that decides the format; one that is not known is an error."""
    name = Path(path).name or str(path)
    for suffix in READABLE:
        if name.lower().endswith(suffix):
            return suffix
    raise DataError(f"{name!r} must end in {', '.join(READABLE)}.")


@contextmanager
def open_text(path: str | os.PathLike[str], suffix: str) -> Iterator[Any]:
    """A text file, unpacked if its suffix says that it is packed."""
    with open(path, "rb") as file:
        if suffix.endswith(".gz"):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked
        else:
            yield file


def delimiter_of(suffix: str) -> str | None:
    """The delimiter that a suffix promises."""
    return "\t" if suffix.startswith(".tsv") else None


def _arrow_table(table: Any) -> Any:
    import narwhals as nw
    import pyarrow as pa

    if isinstance(table, dict):
        table = pa.table(table)
    if not isinstance(table, pa.Table):
        try:
            table = nw.from_native(table, eager_only=True).to_arrow()
        except TypeError:
            raise DataError(
                f"data must be microdata or a data frame; got {type(table).__name__}.", parameter="data"
            ) from None
    return table.unify_dictionaries().combine_chunks()


def _refuse_repeated(names: Sequence[str], name: str, kind: str) -> None:
    if not names:
        raise DataError(f"{name!r} has no columns.")
    for position, column in enumerate(names):
        if column in names[:position]:
            # In a CSV file without a header this would be an answer.
            which = f"number {position + 1}" if kind == "csv" else f"{column!r}"
            raise DataError(f"{name!r} has two columns of one name: column {which} is there twice; rename one.")


@contextmanager
def _one_line(
    name: str,
    failed: str = "cannot be read",
    why: str = "it is truncated, damaged, or another kind of file",
) -> Iterator[None]:
    """Messages of the packages that read files may quote a cell, so they are not shown."""
    import pyarrow as pa

    try:
        yield
    except MaskwellError:
        raise
    except OSError as error:
        if error.errno is None:
            raise DataError(f"{name!r} {failed}: {why}.") from None
        raise DataError(f"{name!r} {failed}: {error.strerror or os.strerror(error.errno)}.") from None
    except (pa.ArrowException, UnicodeError, MemoryError, OverflowError):
        raise DataError(f"{name!r} {failed}: {why}.") from None
