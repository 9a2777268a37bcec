"""The survey document: read strictly, each question with its exact design, and shown to whoever answers.

A question states a demand, and planning chooses the design, or it brings a stored design. What is published holds the
designs themselves, so nothing that is planned differently later can change a survey that runs.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from maskwell.collect.respond.texts import wrong_text
from maskwell.demands import demand_from_dict
from maskwell.designs.base import Design
from maskwell.designs.storage import from_document, to_document
from maskwell.errors import MaskwellError
from maskwell.planning import plan
from maskwell.words.explanation import explain

State = Literal["waiting", "open", "closed"]

MOST_QUESTIONS = 200
MOST_TEXT = 20_000
MOST_NAME = 100
LEAST_BATCH = 10
MOST_BATCH = 1_000_000

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}")
_SURVEY = {"title", "questions"}
_SURVEY_MORE = {"language", "texts", "opens", "closes", "least_batch", "invitations"}
_QUESTION = {"name", "text"}
_QUESTION_MORE = {"categories", "demand", "design", "form", "optional", "planned_n"}
_FORMS = ("choose", "subset")
_MOST_SETS = 4096  # that a page can ask about, and that are looked at one by one


class SurveyError(MaskwellError):
    """A survey document that cannot be published."""


@dataclass(frozen=True)
class Question:
    """One question and the design that masks its answer."""

    name: str
    text: str
    design: Design
    form: str = "choose"
    optional: bool = False

    def to_document(self) -> dict[str, Any]:
        """The question as it is stored."""
        return {
            "name": self.name,
            "text": self.text,
            "categories": self.categories,
            "form": self.form,
            "optional": self.optional,
            "design": to_document(self.design),
        }

    @property
    def categories(self) -> Any:
        """The labels; for several variables a list of labels by name."""
        if self.design.variables:
            return {name: list(part.categories) for name, part in self.design.variables.items()}
        return list(self.design.categories)

    def explanation(self) -> dict[str, Any]:
        """What a report reveals, in sentences for respondents and in numbers, from the design's exact integers."""
        design = self.design
        told = explain(design, "respondent")
        bounded = design.parity != float("inf")
        facts = None if design.variables else design.set_facts()
        return {
            "sentences": [sentence.text for sentence in told.sentences],
            "epsilon": design.epsilon if bounded else None,
            "parity": design.parity if bounded else None,
            "truth_inside": None if facts is None else float(facts.truth_inside),
            "other_inside": None if facts is None or facts.other_inside is None else float(facts.other_inside),
        }


@dataclass(frozen=True)
class Survey:
    """What is asked, when, and from how many reports on an estimate is shown."""

    title: str
    questions: tuple[Question, ...]
    language: str = "en"
    texts: Mapping[str, str] | None = None
    opens: datetime.date | None = None
    closes: datetime.date | None = None
    least_batch: int = LEAST_BATCH
    invitations: bool = False

    def to_document(self) -> dict[str, Any]:
        """The survey as it is stored: every question with its design."""
        return {**self._about(), "questions": [question.to_document() for question in self.questions]}

    def _about(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "language": self.language,
            "texts": dict(self.texts or {}),
            "opens": self.opens.isoformat() if self.opens else None,
            "closes": self.closes.isoformat() if self.closes else None,
            "least_batch": self.least_batch,
            "invitations": self.invitations,
        }

    @cached_property
    def public(self) -> dict[str, Any]:
        """What respondents see, their page and whoever checks it, without id and state."""
        asked = [{**question.to_document(), "explanation": question.explanation()} for question in self.questions]
        return {**self._about(), "questions": asked}

    def state(self, closed: bool, today: datetime.date) -> State:
        """Whether reports are taken today. The owner's closing is final; dates are only compared."""
        if closed or (self.closes is not None and today > self.closes):
            return "closed"
        return "waiting" if self.opens is not None and today < self.opens else "open"

    def question(self, name: str) -> Question:
        """The question of a name."""
        for question in self.questions:
            if question.name == name:
                return question
        raise SurveyError(f"there is no question {name!r}; questions: {', '.join(q.name for q in self.questions)}.")


def read_survey(document: object) -> Survey:
    """The survey of a document, new or published; an error names the first thing that is wrong with it."""
    given = _members(document, "a survey", _SURVEY, _SURVEY_MORE)
    listed = given["questions"]
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_QUESTIONS:
        raise SurveyError(f"questions must be a list of 1 to {MOST_QUESTIONS} questions.")
    questions = tuple(_question(item, number) for number, item in enumerate(listed, start=1))
    names = [question.name for question in questions]
    if len(set(names)) < len(names):
        raise SurveyError("two questions have the same name.")
    opens, closes = _date(given.get("opens"), "opens"), _date(given.get("closes"), "closes")
    if opens and closes and closes < opens:
        raise SurveyError(f"closes ({closes}) must not come before opens ({opens}).")
    return Survey(
        title=_text(given["title"], "title", MOST_TEXT),
        questions=questions,
        language=_language(given.get("language", "en")),
        texts=_texts(given.get("texts", {})),
        opens=opens,
        closes=closes,
        least_batch=_whole(given.get("least_batch", LEAST_BATCH), "least_batch", MOST_BATCH),
        invitations=_flag(given.get("invitations", False), "invitations"),
    )


def _question(item: object, number: int) -> Question:
    what = f"question {number}"
    given = _members(item, what, _QUESTION, _QUESTION_MORE)
    if ("design" in given) == ("demand" in given):
        raise SurveyError(f"{what} must have a demand or a design, and not both.")
    try:
        design = _design(given)
    except SurveyError as error:
        raise SurveyError(f"{what}: {error}") from None
    except MaskwellError as error:
        raise SurveyError(f"{what}: {error}") from None
    form = given.get("form", "choose")
    if form not in _FORMS:
        raise SurveyError(f"{what}: form must be {' or '.join(_FORMS)}.")
    if form == "subset" and not can_be_asked(design):
        raise SurveyError(
            f"{what}: form 'subset' needs a design that reports each set as often as its complement, such as "
            "uniform_subsets or independent."
        )
    question = Question(
        name=_text(given["name"], f"{what}: name", MOST_NAME),
        text=_text(given["text"], f"{what}: text", MOST_TEXT),
        design=design,
        form=form,
        optional=_flag(given.get("optional", False), f"{what}: optional"),
    )
    if "design" in given and given.get("categories", question.categories) != question.categories:
        raise SurveyError(f"{what}: categories are not those of its design; leave them out.")
    return question


def _design(given: dict[str, Any]) -> Design:
    if "design" in given:
        if "planned_n" in given:
            raise SurveyError("planned_n goes with a demand; a design has it among its parameters.")
        return from_document(given["design"])
    categories = given.get("categories")
    if not isinstance(categories, list):
        raise SurveyError("categories must be a list of labels.")
    return plan(categories, demand_from_dict(given["demand"]), n=given.get("planned_n"))


def can_be_asked(design: Design) -> bool:
    """Whether yes/no questions about sets carry the design out: each set comes as often as its complement."""
    from maskwell.planning import question

    if design.variables or design.report_count() > _MOST_SETS:
        return False
    try:
        return all(question(design, report) is not None for report in design.report_labels())
    except (MaskwellError, TypeError):
        return False


def _members(item: object, what: str, needed: set[str], more: set[str]) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise SurveyError(f"{what} must be an object with {', '.join(sorted(needed))}.")
    if lacking := needed - item.keys():
        raise SurveyError(f"{what} lacks {', '.join(sorted(lacking))}.")
    if unknown := item.keys() - needed - more:
        raise SurveyError(f"{what} has no member {sorted(unknown)[0]!r}; it may have {', '.join(sorted(more))}.")
    return item


def _text(value: object, what: str, most: int) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise SurveyError(f"{what} must be a text of 1 to {most:,} characters.")
    if "\x00" in value:
        raise SurveyError(f"{what} holds the character 0, which no database keeps.")
    return value


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > MOST_QUESTIONS:
        raise SurveyError(f"texts must be an object of at most {MOST_QUESTIONS} texts.")
    texts = {
        _text(name, "a name in texts", MOST_NAME): _text(text, "a text in texts", MOST_TEXT)
        for name, text in value.items()
    }
    if (wrong := wrong_text(texts)) is not None:
        raise SurveyError(wrong)
    return texts


def _language(value: object) -> str:
    if not isinstance(value, str) or not _LANGUAGE.fullmatch(value):
        raise SurveyError("language must be a language tag such as 'en' or 'pt-BR'.")
    return value


def _date(value: object, what: str) -> datetime.date | None:
    if value is None:
        return None
    try:
        if not isinstance(value, str) or len(value) != 10:
            raise ValueError
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise SurveyError(f"{what} must be a date such as '2027-03-31', or null.") from None


def _whole(value: object, what: str, most: int) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise SurveyError(f"{what} must be a whole number from 1 to {most:,}.")
    return value


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise SurveyError(f"{what} must be true or false.")
    return value
