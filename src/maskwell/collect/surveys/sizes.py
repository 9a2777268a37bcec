"""How large a survey and its submissions may get: nobody is asked what cannot be loaded, or could not be sent."""

from __future__ import annotations

import json
from collections.abc import Iterable

from maskwell.collect.surveys.document import Question, Survey, SurveyError
from maskwell.designs.base import Design

LARGE_SURVEY = "labels travel to every respondent: take fewer or shorter ones, or raise survey_bytes."
_AROUND = len('{"submission":"123e4567-e89b-42d3-a456-426614174000","reports":{}}')


def refuse_unsendable(survey: Survey, most: int) -> None:
    """An error if somebody's reports could be larger than the service takes, when their answers are forgotten.

    >>> from maskwell import designs
    >>> days = designs.minimax(["Mon", "Tue", "Wed", "Thu"], gamma=2)
    >>> refuse_unsendable(Survey("Days", (Question("day", "Which?", days),)), 80)
    >>> refuse_unsendable(Survey("Days", (Question("day", "Which?", days),)), 70)
    Traceback (most recent call last):
    maskwell.collect.surveys.document.SurveyError: reports of this survey can take 73 bytes, most of them those of \
question 'day'; 70 are accepted. Take a projective design, whose report is one number, or fewer categories.
    """
    sizes = {question.name: _entry(question) for question in survey.questions}
    largest = _AROUND + sum(sizes.values()) + len(sizes) - 1
    if largest > most:
        worst = max(sizes, key=lambda name: sizes[name])
        raise SurveyError(
            f"reports of this survey can take {largest:,} bytes, most of them those of question {worst!r}; {most:,} "
            "are accepted. Take a projective design, whose report is one number, or fewer categories."
        )


def _entry(question: Question) -> int:
    none = len("null") if question.optional else 0
    return len(json.dumps(question.name, ensure_ascii=False).encode()) + 1 + max(_largest_report(question.design), none)


def _largest_report(design: Design) -> int:
    """The length of the longest report of a design as JSON."""
    if design.variables:
        return _listed(_largest_report(part) for part in design.variables.values())
    if design.codec.bit_masks:
        size = max(design.codec.set_sizes)
        return _listed(len(str(position)) for position in range(design.k - size, design.k))
    return len(str(design.report_count() - 1))


def _listed(lengths: Iterable[int]) -> int:
    """The length of a list of entries with these lengths."""
    known = list(lengths)
    return sum(known) + max(0, len(known) - 1) + len("[]")
