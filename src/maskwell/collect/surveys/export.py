"""The export of a survey: a file of reports for each question, with the designs and the codebook, as one archive.

Rows are people, in the same random order in every file, drawn anew for each export: files of two questions can be
analysed together, and nothing tells in which order people answered. Only whole batches of submissions are exported.

However many there are, a small part is in memory at a time: rows are dealt to piles at random, one after the other, and
then each pile is shuffled. That gives every order the same chance, as shuffling all of them at once would.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from maskwell.collect.service import Published, Service, today
from maskwell.collect.surveys.tallies import TooFew
from maskwell.designs.storage import to_document
from maskwell.plain_text import visible
from maskwell.release.rows import random_order
from maskwell.reports import Reports
from maskwell.reports.files import write_reports
from maskwell.sampling.entropy import Source
from maskwell.words import codebook

Format = Literal["parquet", "csv"]

_SAFE = re.compile(r"[^A-Za-z0-9]+")


def export(service: Service, published: Published, kind: Format) -> IO[bytes]:
    """The archive as a temporary file, at its start; an error before there is a whole batch."""
    batches = service.batches(published)
    if not batches:
        raise TooFew(published.survey.least_batch)
    rows = batches * published.survey.least_batch
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = Path(name)
        pages = service.database.all_packed_reports(published.id, batches, published.layout.rows_at_once)
        tables = (published.layout.table(page) for page in pages)
        shuffled = _shuffled(tables, rows // published.layout.rows_at_once + 1, folder / "rows")
        archive.writestr("README.txt", _readme(published, rows, kind))
        archive.writestr("survey.json", _json(published.survey.to_document()))
        for number, question in enumerate(published.survey.questions, start=1):
            stem = file_stem(number, question.name)
            book = codebook(question.design, question.name)
            archive.writestr(f"codebooks/{stem}.md", book.to_markdown())
            archive.writestr(f"codebooks/{stem}.json", book.to_json())
            archive.writestr(f"designs/{stem}.json", _json(to_document(question.design)))
            path = folder / f"{stem}.{kind}"
            write_reports(path, question.design, _column(published, question.name, shuffled))
            for written in sorted(folder.glob(f"{stem}.*")):
                archive.write(written, f"reports/{written.name}")
                written.unlink()
    file.seek(0)
    return file


def _shuffled(tables: Iterable[NDArray[np.uint8]], piles: int, place: Path) -> Path:
    """A file of all rows of some tables in random order; there are as many piles, or up to twice as many."""
    piles = 1 << (piles - 1).bit_length()
    width = 0
    for table in tables:
        width = table.shape[1]
        # Any bits of a random word are alike, where a remainder would not be.
        dealt = _random_words(len(table)) & np.uint32(piles - 1)
        for pile in np.unique(dealt).tolist():
            with _pile(place, pile).open("ab") as more:
                more.write(table[dealt == pile].tobytes())
    with place.open("wb") as all_rows:
        for path in (_pile(place, pile) for pile in range(piles)):
            if path.exists():
                rows = np.fromfile(path, np.uint8).reshape(-1, width)
                all_rows.write(rows[random_order(len(rows), None, None, None)].tobytes())
                path.unlink()
    return place


def _pile(place: Path, number: int) -> Path:
    return place.with_name(f"{place.name}.{number}")


def _random_words(count: int) -> NDArray[np.uint32]:
    words, _ = Source().stream("", count).slots(0, np.zeros(count, np.uint32), 1)
    return words[:count]


def _column(published: Published, question: str, rows: Path) -> Iterator[Reports]:
    """The reports to one question, in the order of the rows, a part at a time."""
    width = published.layout.width
    named = f"{published.id}/{question}"[:300]
    with rows.open("rb") as file:
        while part := file.read(published.layout.rows_at_once * width):
            table = np.frombuffer(part, np.uint8).reshape(-1, width)
            yield replace(published.layout.columns(table, [question])[question], question=named)


def file_stem(number: int, name: str) -> str:
    """A file name that is one everywhere."""
    return f"{number:02d}_{_SAFE.sub('_', name).strip('_')[:40] or 'question'}"


def _readme(published: Published, rows: int, kind: str) -> str:
    files = "\n".join(
        f"reports/{file_stem(number, question.name)}.{kind}: {visible(question.name)}"
        for number, question in enumerate(published.survey.questions, start=1)
    )
    return (
        f"{visible(published.survey.title)}\n\n{rows:,} submissions, exported on {today()}. "
        "Every value is a randomised report, not an answer.\n"
        "Rows are people, in the same random order in every file.\n\n"
        f"{files}\n\nEstimate with: maskwell estimate FILE\n"
        "Two questions together: maskwell estimate FILE FILE --joint\n"
    )


def _json(content: object) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False)
