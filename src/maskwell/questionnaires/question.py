"""A sensitive question as it is put to people who mask their own answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from maskwell.designs.base import Design, require_design
from maskwell.designs.storage import about
from maskwell.errors import DataError, DesignError
from maskwell.plain_text import visible
from maskwell.questionnaires.devices import MOST_PARTS, Device, Kind, device
from maskwell.questionnaires.procedures import Procedure, procedure
from maskwell.questionnaires.texts import LABELS, texts_of, written
from maskwell.results.numbers import limit
from maskwell.results.result import Result

Text = str | Mapping[str, str]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_DRAWING_FORMS = ("form", "phone", "app", "random", "once(random())")


@dataclass(frozen=True, eq=False, repr=False)
class Question(Result):
    """A question with its procedure and devices; ``design`` is the one that is carried out, by which one estimates."""

    name: str
    design: Design
    procedure: Procedure
    devices: tuple[Device, ...]
    wording: Mapping[str, str]
    """The question itself, by language."""
    innocuous: Mapping[str, str]
    """The harmless question, by language; empty if there is none."""
    labels: Mapping[str, Mapping[Any, str]]
    """What answers and reports are called, by language."""
    texts: Mapping[str, Mapping[str, str]]
    """Everything else that is said, by language."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which it can be asked, the main one first."""
        return tuple(self.wording)

    def label(self, value: Any, language: str) -> str:
        """An answer, or a report, as it is said."""
        return self.labels[language].get(value, visible(value))

    def _title(self) -> str:
        return f"question {self.name} by the procedure of {self.design.title}"

    def _figures(self) -> dict[str, Any]:
        return {
            "devices": ", ".join(_told(one) for one in self.devices) or "none",
            "languages": ", ".join(self.languages),
            "demand": "none stated" if self.design.demand is None else self.design.demand.describe(),
            "ε": limit(self.design.epsilon),
            "added variance": self.design.added_variance,
            "fingerprint": self.design.fingerprint[:12],
        }

    def to_dict(self) -> dict[str, Any]:
        """The question as plain values."""
        return {
            "name": self.name,
            "procedure": self.procedure.name,
            "design": about(self.design),
            "epsilon": self.design.epsilon if math.isfinite(self.design.epsilon) else None,
            "devices": [
                {"kind": one.kind, "parts": one.base, "chances": {o: str(p) for o, p in one.chances.items()}}
                for one in self.devices
            ],
            "wording": dict(self.wording),
        }

    def __repr__(self) -> str:
        return f"<{self._title()}, epsilon {limit(self.design.epsilon)}>"


def _told(one: Device) -> str:
    if one.dice == 2:
        return "the sum of two dice"
    names = {"cards": "cards", "spinner": "equal parts of a spinner", "die": "faces"}
    return f"{one.base} {names[one.kind]}"


def ask(
    design: Design,
    text: Text,
    *,
    name: str,
    device: str | None = None,
    innocuous: Text | None = None,
    labels: Mapping[str, Mapping[Any, str]] | None = None,
    texts: Mapping[str, Mapping[str, str]] | None = None,
) -> Question:
    """A question for respondents who mask their answer with a thing in their own hand.

    ``text`` is the question, or one for each language: ``{"en": "Have you ever …?", "de": "Haben Sie je …?"}``.
    ``device`` is "cards", "spinner" or "die"; the first that suits the design unless given. ``innocuous`` is the
    harmless question of designs that have one. ``labels`` translates answers, ``texts`` everything else, each by
    language; English and German are known.

    A device has a whole number of equal parts. If none has the chances of the design, this is refused;
    ``realisable`` finds the best design that has them and protects no less.

    >>> from maskwell.designs import forced_response
    >>> sixth = Fraction(1, 6)
    >>> question = ask(forced_response(yes_prob=sixth, no_prob=sixth), "Did you ever …?", name="q1", device="die")
    >>> question.devices[0].parts[0]
    Part(outcome='say 0', count=1, faces=(1,))
    """
    require_design(design)
    if not _NAME.fullmatch(str(name)):
        raise DataError(
            f"name must be letters, digits and _, and start with a letter, as columns of data files do; got {name!r}.",
            parameter="name",
        )
    steps = procedure(design)
    devices = _devices(design, steps, device)
    carried_out = _as_promised(steps.build(tuple(one.chances for one in devices)), design)
    wording = _by_language(text, "text")
    for given, parameter in ((labels, "labels"), (texts, "texts")):
        if unasked := [language for language in given or {} if language not in wording]:
            raise DataError(
                f"{parameter} are given in {unasked[0]!r}, but text is not; languages: {', '.join(wording)}.",
                parameter=parameter,
            )
    other = _other_question(steps, innocuous, wording)
    said = {language: texts_of(language, texts or {}) for language in wording}
    called = {language: _labels(carried_out, language, (labels or {}).get(language, {})) for language in wording}
    return Question(name, carried_out, steps, devices, wording, other, called, said)


def realisable(design: Design, device: str | None = None) -> Design:
    """The most precise design that a device gives exactly and that protects no less than ``design``.

    It is of the same procedure, with chances out of a whole number of equal parts, rounded towards privacy.

    >>> from maskwell.designs import warner
    >>> promised = warner(truth_prob=0.731)
    >>> done = realisable(promised, "cards")
    >>> done.matrix(exact=True)[0][0], done.epsilon <= promised.epsilon
    (Fraction(19, 26), True)
    """
    steps = procedure(design)
    kind = _kind(steps, device)
    if kind is None:
        return design
    best: Design | None = None
    for base in range(2, MOST_PARTS[kind] + 1):
        chances = steps.coarser(base)
        if chances is None or _built(kind, chances) is None:
            continue
        found = steps.build(chances)
        if best is None or found.added_variance < best.added_variance * (1 - 1e-12):
            best = found
    if best is None:
        raise DesignError(
            f"no {kind} with up to {MOST_PARTS[kind]} equal parts keeps the privacy of {design.title} and tells "
            "anything; take another device, or a design with less privacy.",
            parameter="device",
        )
    return _as_promised(best, design)


def _as_promised(done: Design, planned: Design) -> Design:
    """The design that is carried out, with the demand of the one that was planned where it keeps it."""
    demand = planned.demand
    return done if demand is None or not demand.holds_for(done) else done.answering(demand)


def _kind(steps: Procedure, asked: str | None) -> Kind | None:
    if asked in _DRAWING_FORMS:
        raise DesignError(
            f"device={asked!r} is refused: a form that draws by itself, as with once(random()), must first be told the "
            "true answer; it then holds it, and may store, repeat or reveal the draw. Take a device that the "
            f"respondent holds ({', '.join(steps.devices) or 'this procedure needs none'}), or let the respondent's "
            "own browser mask before anything is sent (mask.js).",
            parameter="device",
        )
    if asked is not None and asked not in steps.devices:
        raise DesignError(
            f"device must be {' or '.join(steps.devices) or 'left out'} for this procedure; got {asked!r}.",
            parameter="device",
        )
    if not steps.devices:
        return None
    return next(kind for kind in steps.devices if asked in (None, kind))


def _built(kind: Kind, packs: Sequence[Mapping[str, Fraction]]) -> tuple[Device, ...] | None:
    found = [device(kind, pack) for pack in packs]
    return None if None in found else cast("tuple[Device, ...]", tuple(found))


def _devices(design: Design, steps: Procedure, asked: str | None) -> tuple[Device, ...]:
    first = _kind(steps, asked)
    if first is None:
        return ()
    for kind in steps.devices if asked is None else (first,):
        if (built := _built(kind, steps.packs)) is not None:
            return built
    try:
        nearest = realisable(design, asked)
        instead = (
            "maskwell.questionnaires.realisable gives one of the same procedure that it can: ε "
            f"{limit(nearest.epsilon)} instead of {limit(design.epsilon)}, added variance "
            f"{nearest.added_variance:.4g} instead of {design.added_variance:.4g}"
        )
    except DesignError:
        instead = "nor can it for any design of the same procedure that protects no less; take another device"
    raise DesignError(
        f"no {first} with up to {MOST_PARTS[first]} equal parts has the chances of this design, and to do it roughly "
        f"would change what is promised and bias what is estimated; {instead}.",
        parameter="device",
    )


def _by_language(text: Text, parameter: str) -> dict[str, str]:
    given: Any = {"en": text} if isinstance(text, str) else text
    if not isinstance(given, Mapping) or not all(isinstance(words, str) for words in given.values()):
        raise DataError(f"{parameter} must be a question, or one for each language.", parameter=parameter)
    for language, words in given.items():
        if not words.strip():
            raise DataError(f"{parameter} is empty in the language {language!r}.", parameter=parameter)
    if not given:
        raise DataError(f"{parameter} needs the question in one language at least.", parameter=parameter)
    return {language: written(words, parameter) for language, words in given.items()}


def _other_question(steps: Procedure, innocuous: Text | None, wording: Mapping[str, str]) -> dict[str, str]:
    if steps.innocuous is None:
        if innocuous is not None:
            raise DataError("this procedure has no harmless question; leave out innocuous.", parameter="innocuous")
        return {}
    if innocuous is None:
        raise DataError(
            f"innocuous must give the harmless question, to which a share of {float(steps.innocuous):.6g} of all "
            "people truthfully answer yes, such as one about a birthday.",
            parameter="innocuous",
        )
    other = _by_language(innocuous, "innocuous")
    if list(other) != list(wording):
        raise DataError(
            f"innocuous must be given in the languages of text, {', '.join(wording)}; got {', '.join(other)}.",
            parameter="innocuous",
        )
    return other


def _labels(design: Design, language: str, given: Mapping[Any, str]) -> dict[Any, str]:
    values = [*design.categories, *design.report_labels()]
    unknown = [label for label in given if label not in values]
    if unknown:
        raise DataError(f"labels name {unknown[0]!r}, which is neither an answer nor a report.", parameter="labels")
    known: dict[Any, str] = {value: words for value, words in LABELS.get(language, {}).items() if value in values}
    return {**known, **{value: written(words, "labels") for value, words in given.items()}}
