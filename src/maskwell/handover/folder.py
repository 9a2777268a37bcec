"""A folder with everything that somebody needs who analyses masked data in R, Stata, SPSS or anything else."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from maskwell.designs.base import Design
from maskwell.errors import DataError
from maskwell.handover.ddi import ddi
from maskwell.handover.tables import matrix_csv, report_texts, require_listable, score_table, scores_csv
from maskwell.microdata.files import write_to
from maskwell.microdata.model import Microdata, Variable
from maskwell.reports import Reports
from maskwell.reports.randomness import is_simulated
from maskwell.results.result import Result
from maskwell.tables.encoded import encoded
from maskwell.tables.labels import text_of
from maskwell.whole_files import complete_files
from maskwell.words.codebook import codebook

Format = Literal["sav", "dta", "csv", "parquet"]
_LABELLED = ("sav", "dta")
_LEADS_ELSEWHERE = frozenset("/\\\0")
_NOT_IN_FILE_NAMES = re.compile(r'[:*?"<>|\x01-\x1f]')
"""What Windows does not take in the name of a file, as a question's name may have it."""


@dataclass(frozen=True, eq=False, repr=False)
class HandOver(Result):
    """What was written, and what each file is."""

    folder: Path
    records: int
    files: Mapping[str, str]
    """What each file is, by its name."""
    randomness: Mapping[str, str]
    """How the reports of each variable were drawn."""

    def _title(self) -> str:
        return f"{self.records:,} masked records handed over"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        return {"file": list(self.files), "what it is": list(self.files.values())}

    def _remarks(self) -> list[str]:
        seeded = [name for name, drawn in self.randomness.items() if is_simulated(drawn)]
        return [f"drawn from a seed, for simulation only: {', '.join(seeded)}"] if seeded else []

    def to_dict(self) -> dict[str, Any]:
        """The folder, how many records, and what each file holds, by its name."""
        return {"folder": str(self.folder), "n": self.records, "contents": dict(self.files)}

    def __repr__(self) -> str:
        return f"<{self._title()}: {', '.join(self.files)}>"


def write(
    reports: Reports | Mapping[str, Reports],
    folder: str | os.PathLike[str],
    *,
    title: str,
    format: Format = "sav",
    beside: Any = None,
    questions: Mapping[str, str] | None = None,
) -> HandOver:
    """Write masked reports for analysts: the file, matrices, scores, codebooks and a DDI description, all or none.

    ``reports`` are of one variable, which is called ``report``, or of several by name, record by record the same
    people. ``beside`` is a table of further columns, such as weights and strata. In the file every variable has the
    score of each answer beside it, NAME_score_1 and so on: the mean of a score, weighted or not, estimates the share of
    the answer, and its standard error is that of the mean. In SPSS and Stata files report number i has the code i and
    its label; it is line i of NAME.matrix.csv. The folder is made if it is not there.
    """
    named = _named(reports)
    if format not in get_args(Format):
        raise DataError(f"format must be one of {', '.join(get_args(Format))}; got {format!r}.", parameter="format")
    target = Path(folder)
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r} to write into; create it first.", "folder")
    n = _length(named)
    columns, variables = _beside(beside, n, named), dict[str, Variable]()
    for name, batch in named.items():
        require_listable(batch.design, name)
        masked, labels = _masked(name, batch, (questions or {}).get(name, name))
        clash = [column for column in masked if column in columns]
        if clash:
            raise DataError(f"two columns would be called {clash[0]!r}; rename one.", parameter="beside")
        columns |= masked
        variables |= labels
    contents, about = _texts(named)
    file_name = f"masked.{format}"
    stored = {name: _codes(batch.design) for name, batch in named.items()} if format in _LABELLED else None
    contents["ddi.xml"] = ddi(
        {name: batch.design for name, batch in named.items()},
        title=title,
        file_name=file_name,
        records=n,
        questions=questions,
        stored=stored,
        randomness={name: batch.randomness for name, batch in named.items()},
    )
    about = {file_name: "the masked data, with scores", **about, "ddi.xml": "a DDI-Codebook 2.6 description"}
    data = _table(columns, variables, title)
    target.mkdir(exist_ok=True)
    with complete_files([target / name for name in (*contents, file_name)]) as files:
        for file, text in zip(files, contents.values(), strict=False):
            file.write(text.encode())
        write_to(data, files[-1], file_name)
    return HandOver(target, n, about, {name: batch.randomness for name, batch in named.items()})


def _named(reports: Any) -> dict[str, Reports]:
    """The reports by the name of their variable, which is the beginning of names of files."""
    named = {"report": reports} if isinstance(reports, Reports) else reports
    if not isinstance(named, Mapping) or not all(isinstance(batch, Reports) for batch in named.values()):
        raise DataError("reports must be Reports, or Reports by the name of their variable.", parameter="reports")
    if not named:
        raise DataError("reports must name one masked variable at least.", parameter="reports")
    for name in named:
        if not isinstance(name, str) or not name or set(name) & _LEADS_ELSEWHERE or name.startswith("."):
            raise DataError(
                f"the variable {name!r} cannot be the beginning of a file's name; call it by letters, digits and _.",
                parameter="reports",
            )
    return dict(named)


def _length(named: Mapping[str, Reports]) -> int:
    lengths = {name: len(batch) for name, batch in named.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{n:,} of {name!r}" for name, n in lengths.items())
        raise DataError(f"reports must be of the same people, one each; got {told}.", parameter="reports")
    return next(iter(lengths.values()))


def _beside(table: Any, n: int, named: Mapping[str, Reports]) -> dict[str, Any]:
    if table is None:
        return {}
    source = encoded(table)
    arrays = source.arrays(list(source.names))
    both = [name for name in arrays if name in named]
    if both:
        raise DataError(
            f"beside has a column {both[0]!r}, as a masked variable is called; rename it.", parameter="beside"
        )
    wrong = next((name for name, array in arrays.items() if len(array) != n), None)
    if wrong is not None:
        raise DataError(f"beside must have a row for each of the {n:,} reports.", parameter="beside")
    return dict(arrays)


def _masked(name: str, batch: Reports, question: str) -> tuple[dict[str, Any], dict[str, Variable]]:
    """A variable's reports and their scores, as columns with labels."""
    import pyarrow as pa

    design, labels = batch.design, batch.design.report_labels()
    absent = np.zeros(len(batch), bool) if batch.missing is None else batch.missing
    places = _places(batch)
    if _are_numbers(design):
        values = pa.array(np.array(labels, np.int64)[places], mask=absent)
    else:
        values = pa.DictionaryArray.from_arrays(
            pa.array(places.astype(np.int32), mask=absent), pa.array(report_texts(design))
        )
    columns = {name: values}
    told = {name: Variable(label=f"Randomised report, not an answer: {question}"[:80])}
    if not design.estimable:
        return columns, told
    scores = score_table(design)
    for j, category in enumerate(design.categories):
        column = f"{name}_score_{j + 1}"
        columns[column] = pa.array(np.ascontiguousarray(scores[places, j]), mask=absent)
        told[column] = Variable(label=f"{name}: score of “{text_of(category)}”, whose mean estimates its share"[:80])
    return columns, told


def _places(batch: Reports) -> Any:
    """The row of the matrix of every report; that of a missing one is the first."""
    design = batch.design
    rows = design.pack_rows(np.arange(design.report_count()))
    packed = batch.packed
    if packed.ndim == 1:
        place = np.zeros(int(rows.max()) + 1, np.int64)
        place[rows] = np.arange(len(rows))
        return place[np.where(packed < len(place), packed, 0)]
    position = {row.tobytes(): i for i, row in enumerate(rows)}
    return np.array([position.get(row.tobytes(), 0) for row in packed], np.int64)


def _are_numbers(design: Design) -> bool:
    return all(type(label) is int for label in design.report_labels())


def _codes(design: Design) -> list[str]:
    """How SPSS and Stata files spell each report."""
    labels = design.report_labels()
    return [str(label) for label in labels] if _are_numbers(design) else [str(i + 1) for i in range(len(labels))]


def _texts(named: Mapping[str, Reports]) -> tuple[dict[str, str], dict[str, str]]:
    contents: dict[str, str] = {}
    about: dict[str, str] = {}

    def hold(name: str, text: str, what: str) -> None:
        contents[name], about[name] = text, what

    for name, batch in named.items():
        design, stem = batch.design, _NOT_IN_FILE_NAMES.sub("_", name)
        if f"{stem}.matrix.csv" in contents:
            raise DataError(f"the files of two variables would be called {stem!r}; rename one.", parameter="reports")
        hold(f"{stem}.matrix.csv", matrix_csv(design), f"{name}: the chance of each report given each true answer")
        if design.estimable:
            hold(f"{stem}.scores.csv", scores_csv(design), f"{name}: the scores of each report")
        hold(f"{stem}.design.json", design.to_json(), f"{name}: the design, exactly")
        hold(f"{stem}.codebook.md", codebook(design, name).to_markdown(), f"{name}: how to read and estimate")
    return contents, about


def _table(columns: Mapping[str, Any], variables: Mapping[str, Variable], title: str) -> Microdata:
    import pyarrow as pa

    return Microdata(pa.table(dict(columns)), "arrow", variables, label=title[:80])
