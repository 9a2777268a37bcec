"""The export of a survey: a file of reports for each question, with the designs and the codebook, as one archive.

Rows are people, in the same random order in every file, drawn anew for each export: files of two questions can be
analysed together, and nothing tells in which order people answered. Only whole batches of submissions are exported.
"""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import IO, Literal

import numpy as np

from maskwell.collect.service import Published, Service, today
from maskwell.collect.surveys.tallies import TooFew
from maskwell.designs.storage import to_document
from maskwell.plain_text import visible
from maskwell.release.rows import random_order
from maskwell.reports.files import write_reports
from maskwell.words import codebook

Format = Literal["parquet", "csv"]

_SAFE = re.compile(r"[^A-Za-z0-9]+")


def export(service: Service, published: Published, kind: Format) -> IO[bytes]:
    """The archive as a temporary file, at its start; an error before there is a whole batch."""
    batches = service.batches(published)
    if not batches:
        raise TooFew(published.survey.least_batch)
    pages = service.database.packed_reports(published.id, 0, batches)
    table = np.concatenate([published.layout.table(page) for page in pages])
    shuffled = table[random_order(len(table), None, None, None)]
    columns = published.layout.columns(shuffled)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = Path(name)
        archive.writestr("README.txt", _readme(published, len(table), kind))
        archive.writestr("survey.json", _json(published.survey.to_document()))
        for number, question in enumerate(published.survey.questions, start=1):
            stem = file_stem(number, question.name)
            book = codebook(question.design, question.name)
            archive.writestr(f"codebooks/{stem}.md", book.to_markdown())
            archive.writestr(f"codebooks/{stem}.json", book.to_json())
            archive.writestr(f"designs/{stem}.json", _json(to_document(question.design)))
            reports = replace(columns[question.name], question=f"{published.id}/{question.name}"[:300])
            write_reports(folder / f"{stem}.{kind}", question.design, [reports])
        for path in sorted(folder.iterdir()):
            archive.write(path, f"reports/{path.name}")
    file.seek(0)
    return file


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
