"""Questions as an XLSForm, for ODK, KoBoToolbox and whatever else reads it.

The form says what to do with the device in the respondent's hand, and takes the masked answer. It asks nothing else,
computes nothing and draws nothing, so that it never knows the truth. With the answers it keeps each design's
fingerprint, by which the estimates know how the answers came about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from maskwell.errors import DataError
from maskwell.plain_text import visible
from maskwell.questionnaires.question import Question
from maskwell.questionnaires.words import instruction, prompt, protection
from maskwell.questionnaires.xlsx import workbook

_TOKEN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_FORM_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def xlsform(
    questions: Question | Sequence[Question], *, title: str, form_id: str = "masked_survey", version: str = "1"
) -> bytes:
    """The form as an .xlsx file; write the bytes to a file and give it to your survey server.

    Reports are stored under their labels if these are plain words, else as r0, r1, … in the order of
    ``design.report_labels()``.
    """
    asked = [questions] if isinstance(questions, Question) else list(questions)
    languages = _languages(asked)
    if not _FORM_ID.fullmatch(form_id):
        raise DataError(
            f"form_id must be letters, digits, _, . or -, and start with a letter; got {form_id!r}.",
            parameter="form_id",
        )
    main = languages[0]
    settings = {
        "form_title": visible(title),
        "form_id": form_id,
        "version": visible(version),
        "default_language": _language(asked[0], main),
    }
    survey = [row for question in asked for row in _rows(question)]
    choices = [row for question in asked for row in _choices(question)]
    if any("${" in cell for row in (*survey, *choices, settings) for cell in row.values()):
        raise DataError("a label or title holds ${...}: a form would put another answer in its place; rename it.")
    return workbook({"survey": survey, "choices": choices, "settings": [settings]})


def stored_names(question: Question) -> dict[Any, str]:
    """Under which name a form stores each report."""
    labels = question.design.report_labels()
    texts = [str(label) for label in labels]
    plain = len(set(texts)) == len(texts) and all(_TOKEN.fullmatch(text) for text in texts)
    return dict(zip(labels, texts if plain else [f"r{i}" for i in range(len(labels))], strict=True))


def _languages(asked: Sequence[Question]) -> tuple[str, ...]:
    if not asked:
        raise DataError("a form needs one question at least.", parameter="questions")
    names = [name for question in asked for name in (question.name, *_around(question).values())]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(
            f"two parts of the form would be called {twice[0]!r}; give each question a name of its own.",
            parameter="name",
        )
    if len({question.languages for question in asked}) > 1:
        raise DataError("all questions of a form must be given in the same languages.", parameter="text")
    return asked[0].languages


def _around(question: Question) -> dict[str, str]:
    """What stands around a question's answer, by its name in the form."""
    return {part: f"{question.name}_{part}" for part in ("group", "how", "design")}


def _rows(question: Question) -> Iterator[Mapping[str, str]]:
    name, around = question.name, _around(question)

    def labels(text: Any) -> dict[str, str]:
        return {f"label::{_language(question, language)}": text(language) for language in question.languages}

    yield {"type": "begin_group", "name": around["group"], **labels(lambda language: question.wording[language])}
    yield {"type": "note", "name": around["how"], **labels(lambda language: _numbered(question, language))}
    yield {
        "type": f"select_one {name}_reports",
        "name": name,
        **labels(lambda language: prompt(question, language)),
        "required": "yes",
    }
    yield {
        "type": "calculate",
        "name": around["design"],
        "calculation": f"'{question.design.fingerprint}'",
    }
    yield {"type": "end_group"}


def _numbered(question: Question, language: str) -> str:
    steps = [f"{i}. {step}" for i, step in enumerate(instruction(question, language), start=1)]
    return "\n\n".join([question.wording[language], *steps, *protection(question, language)])


def _choices(question: Question) -> Iterator[Mapping[str, str]]:
    for report, stored in stored_names(question).items():
        labels = {
            f"label::{_language(question, language)}": question.label(report, language)
            for language in question.languages
        }
        yield {"list_name": f"{question.name}_reports", "name": stored, **labels}


def _language(question: Question, tag: str) -> str:
    """A language as XLSForm writes it: its name, and its tag in brackets."""
    return f"{question.texts[tag]['language']} ({tag})"
