"""A file of masked variables described in DDI-Codebook 2.6, which data archives keep.

For every variable: that it is randomised, the reports that can occur, the true answers that can be estimated, the
privacy, the exact matrix, how to estimate, and the whole design as notes for programs. Counts of reports are left out:
they would be read as counts of answers.
"""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from typing import Any

from maskwell.designs.base import Design, require_design
from maskwell.errors import DataError
from maskwell.plain_text import visible
from maskwell.results.numbers import limit
from maskwell.tables.labels import report_text
from maskwell.words.codebook import NOTICE, codebook

NAMESPACE = "ddi:codebook:2_6"
_MOST_REPORTS = 1_000
_DRAWN = {
    "seeded": "from a seed: a simulation, which protects nobody",
    "external": "elsewhere: that people followed the design is assumed, not seen",
}


def ddi(
    designs: Design | Mapping[str, Design],
    *,
    title: str,
    file_name: str | None = None,
    records: int | None = None,
    questions: Mapping[str, str] | None = None,
    stored: Mapping[str, Sequence[str]] | None = None,
    randomness: Mapping[str, str] | None = None,
) -> str:
    """The description as XML: of one masked variable ``report``, or of several by name.

    ``questions`` are their wordings. ``stored`` gives for a variable how the file spells each report, in the order of
    ``design.report_labels()``, where that is not its label. ``randomness`` says how the reports were drawn.

    >>> from maskwell.designs import warner
    >>> text = ddi({"tax": warner(truth_prob=0.75)}, title="A survey on taxes")
    >>> text.splitlines()[1]
    '<codeBook xmlns="ddi:codebook:2_6" version="2.6">'
    """
    named = dict(designs) if isinstance(designs, Mapping) else {"report": designs}
    if not named:
        raise DataError("designs must name one masked variable at least.", parameter="designs")
    for design in named.values():
        require_design(design)
    for given, what in ((questions, "questions"), (stored, "stored"), (randomness, "randomness")):
        unknown = [name for name in given or {} if name not in named]
        if unknown:
            raise DataError(f"{what} names {unknown[0]!r}, which is not a masked variable.", parameter=what)
    book = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.6"})
    _titled(_add(_add(book, "docDscr"), "citation"), f"{title}: description of the masked variables")
    study = _add(book, "stdyDscr")
    _titled(_add(study, "citation"), title)
    _add(study, "notes", NOTICE, type="maskwell", subject="randomised variables")
    about = _add(_add(book, "fileDscr", ID="F1"), "fileTxt")
    _add(about, "fileName", file_name or title)
    if records is not None:
        _add(_add(about, "dimensns"), "caseQnty", str(records))
    data = _add(book, "dataDscr")
    for position, (name, design) in enumerate(named.items(), start=1):
        variable = _variable(data, position, name, design, (questions or {}).get(name), (stored or {}).get(name))
        if randomness and name in randomness:
            _note(variable, "drawn", _DRAWN.get(randomness[name], randomness[name]))
    ET.indent(book, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(book, encoding="unicode") + "\n"


def _variable(
    data: ET.Element, position: int, name: str, design: Design, question: str | None, stored: Sequence[str] | None
) -> ET.Element:
    book = codebook(design, name).content
    variable = _add(data, "var", ID=f"V{position}", name=name, files="F1", intrvl="discrete")
    _add(variable, "labl", f"Randomised report on {question or name}")
    _add(variable, "security", NOTICE)
    if question:
        _add(_add(variable, "qstn"), "qstnLit", question)
    _add(variable, "txt", " ".join(book["design"]["explanation"]))
    labels = design.report_labels() if design.report_count() <= _MOST_REPORTS and not design.variables else []
    if stored is not None and len(stored) != len(labels):
        raise DataError(
            f"stored has {len(stored)} spellings of {name!r} for {len(labels)} reports.", parameter="stored"
        )
    for i, label in enumerate(labels):
        text = str(report_text(label, design.categories))
        category = _add(variable, "catgry")
        _add(category, "catValu", text if stored is None else str(stored[i]))
        _add(category, "labl", text)
    _add(variable, "varFormat", type="character" if stored is None else "numeric")
    if not math.isinf(design.exact_parity()):
        _note(variable, "epsilon", f"{limit(design.epsilon)}")
        _note(variable, "parity", book["privacy"]["parity"])
    else:
        _note(variable, "epsilon", "unbounded: some reports rule an answer out")
    if "categories" in book:
        _note(variable, "true answers", json.dumps(book["categories"], ensure_ascii=False))
        _note(variable, "probabilities", json.dumps(book["probabilities"], ensure_ascii=False))
    _note(variable, "estimator", json.dumps(book["estimator"], ensure_ascii=False))
    for line in book["design"]["citation"]:
        _note(variable, "source", line)
    _note(variable, "design", design.to_json())
    _note(variable, "fingerprint", design.fingerprint)
    return variable


def _note(variable: ET.Element, subject: str, text: str) -> None:
    _add(variable, "notes", text, type="maskwell", subject=subject)


def _titled(citation: ET.Element, title: str) -> None:
    _add(_add(citation, "titlStmt"), "titl", title)


def _add(parent: ET.Element, tag: str, text: str | None = None, **attributes: Any) -> ET.Element:
    child = ET.SubElement(parent, tag, {key: visible(value) for key, value in attributes.items()})
    if text is not None:
        child.text = "\n".join(map(visible, text.split("\n")))
    return child
