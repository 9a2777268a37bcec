"""What a submission is: one report for each question, checked against the designs and packed into a few bytes.

No message quotes what was sent: a form that is built wrongly might send a true answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwell.collect.surveys.document import Survey
from maskwell.errors import MaskwellError, ReportError
from maskwell.reports import Reports
from maskwell.reports.elsewhere.positions import packed_width, packer, unpacked
from maskwell.reports.randomness import UNKNOWN

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

# Who drew the reports cannot be checked from here: the page does it securely, another client may not.
RANDOMNESS = UNKNOWN


# Of what is in memory at a time, however many there are.
_MOST_ROWS, _MOST_BYTES = 1 << 16, 1 << 23


class SubmissionError(MaskwellError):
    """Reports that the designs of a survey cannot have produced, or that do not fit its questions."""


@dataclass(frozen=True)
class Submission:
    """One person's reports, under an id that their device drew."""

    survey: str
    id: bytes
    reports: bytes


class Layout:
    """How the reports of one survey are packed: a bit per question for no answer, then each report's bytes."""

    def __init__(self, survey: Survey) -> None:
        self._questions = survey.questions
        self._place = {question.name: at for at, question in enumerate(survey.questions)}
        self._packers = [packer(question.design) for question in survey.questions]
        self._widths = [packed_width(question.design) for question in survey.questions]
        self._flag_bytes = (len(survey.questions) + 7) // 8
        self.width = self._flag_bytes + sum(self._widths)
        self.rows_at_once = max(1, min(_MOST_ROWS, _MOST_BYTES // self.width))

    def pack(self, reports: object) -> bytes:
        """The packed form of ``{"question": report}``; an error says which question is wrong."""
        if not isinstance(reports, dict):
            raise SubmissionError("reports must be an object with a report for each question.")
        if any(name not in self._place for name in reports):
            raise SubmissionError(f"a report is for no question of this survey; questions: {', '.join(self._place)}.")
        missing, pieces = 0, []
        for at, question in enumerate(self._questions):
            report = reports.get(question.name)
            if report is None:
                if not question.optional:
                    raise SubmissionError(f"question {question.name!r} needs a report.")
                missing |= 1 << at
                pieces.append(bytes(self._widths[at]))
                continue
            try:
                pieces.append(self._packers[at](report))
            except ReportError as error:
                raise SubmissionError(f"question {question.name!r}: {error.message}") from None
        return missing.to_bytes(self._flag_bytes, "little") + b"".join(pieces)

    def unpack(self, rows: Sequence[bytes], names: Sequence[str] | None = None) -> dict[str, Reports]:
        """The reports of each question, in the order of the rows."""
        return self.columns(self.table(rows), names)

    def table(self, rows: Sequence[bytes]) -> NDArray[np.uint8]:
        """Packed submissions as an array, a row each."""
        return np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), self.width)

    def columns(self, table: NDArray[np.uint8], names: Sequence[str] | None = None) -> dict[str, Reports]:
        """The reports of each question in such an array."""
        wanted = self._place if names is None else names
        return {name: self._column(table, self._place[name]) for name in wanted}

    def _column(self, table: NDArray[np.uint8], at: int) -> Reports:
        design, width = self._questions[at].design, self._widths[at]
        start = self._flag_bytes + sum(self._widths[:at])
        packed = unpacked(design, np.ascontiguousarray(table[:, start : start + width]))
        missing = (table[:, at // 8] >> (at % 8) & 1).astype(np.bool_)
        return Reports(design, packed, missing if self._questions[at].optional else None, RANDOMNESS)


def read_submission(survey: str, layout: Layout, document: object) -> Submission:
    """The submission of ``{"submission": "<uuid>", "reports": {…}}``."""
    if not isinstance(document, dict) or document.keys() != {"submission", "reports"}:
        raise SubmissionError('a submission must be {"submission": "<uuid>", "reports": {"<question>": <report>}}.')
    return Submission(survey, submission_id(document["submission"]), layout.pack(document["reports"]))


def submission_id(text: object) -> bytes:
    """The bytes of a UUID in its usual spelling."""
    if not isinstance(text, str) or not _UUID.fullmatch(text):
        raise SubmissionError("submission must be a UUID such as 123e4567-e89b-42d3-a456-426614174000.")
    return bytes.fromhex(text.replace("-", ""))
