"""What is said to respondents and interviewers about a question, in one of its languages.

Every number is that of the design which is carried out.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from maskwell.questionnaires.devices import Device, Part
from maskwell.questionnaires.procedures import TRUTH
from maskwell.questionnaires.question import Question
from maskwell.questionnaires.texts import fill, in_language
from maskwell.results.numbers import limit
from maskwell.words.sentences import Chance, decimal, frequencies

PACKS = ("A", "B")
"""The names of two packs of cards; both look alike, so that nobody sees which one is used."""


def instruction(question: Question, language: str) -> list[str]:
    """What the respondent does, step by step."""
    texts, gaps = question.texts[language], _labels(question, language)
    name, devices = question.procedure.name, question.devices
    if name == "crosswise":
        key = "crosswise"
    else:
        kind = "dice" if devices[0].dice == 2 else devices[0].kind
        once = name == "kuk" and question.design.report_count() == 2
        key = f"{name}.{kind}.once" if once else f"{name}.{kind}"
        gaps |= _counts(question, language)
    silence = "silence.crosswise" if name == "crosswise" else "silence"
    return [*fill(texts[key], **gaps).split("\n"), texts[silence]]


def prompt(question: Question, language: str) -> str:
    """What is asked for in the end: the masked answer."""
    return question.texts[language][f"{question.procedure.name}.ask"]


def protection(question: Question, language: str) -> list[str]:
    """What the answer can tell about the respondent; what it proves is said as plainly as what it hides."""
    texts, design = question.texts[language], question.design
    parity = design.exact_parity()
    if isinstance(parity, Fraction):
        told = frequencies(
            most=Chance(parity / (1 + parity), "belief at most", rounding="up"),
            least=Chance(1 / (1 + parity), "belief at least", rounding="down"),
            even=Chance(Fraction(1, 2), "even belief"),
        )
        return [fill(texts["belief"], **{name: in_language(number.text, language) for name, number in told.items()})]
    proofs = []
    for report, row in zip(design.report_labels(), design.matrix(exact=True), strict=True):
        possible = [c for c, p in zip(design.categories, row, strict=True) if p]
        if len(possible) == 1:
            gaps = {"report": question.label(report, language), "truth": question.label(possible[0], language)}
            proofs.append(fill(texts["proof"], **gaps))
    return proofs


def interviewing(question: Question, language: str) -> list[str]:
    """What the interviewer does."""
    texts, parity = question.texts[language], question.design.exact_parity()
    lines = [texts["interviewer.1"], texts["interviewer.2"], texts["interviewer.3"]]
    share = question.procedure.innocuous
    if share is not None:
        told = frequencies(people=Chance(share, "innocuous yes"))
        yes = question.label(question.design.categories[0], language)
        gaps = {name: in_language(number.text, language) for name, number in told.items()}
        lines.append(fill(texts["interviewer.4"], **gaps, yes=yes, share=share))
    if isinstance(parity, Fraction):
        factors = {"once": decimal(parity, "parity", "up"), "again": decimal(parity**2, "parity", "up")}
        gaps = {name: in_language(factor.text, language) for name, factor in factors.items()}
        lines.append(fill(texts["interviewer.again"], **gaps))
    return lines


def identity(question: Question, language: str) -> list[str]:
    """Which design it is, for whoever holds the reports later."""
    texts, design = question.texts[language], question.design
    parity = design.exact_parity()
    gaps: dict[str, Any] = {"name": design.title}
    if isinstance(parity, Fraction):
        figures = {"epsilon": limit(design.epsilon), "parity": limit(parity)}
        gaps |= {name: in_language(figure, language) for name, figure in figures.items()}
        told = fill(texts["privacy"], **gaps)
    else:
        told = fill(texts["privacy.none"], **gaps)
    return [told, fill(texts["fingerprint"], fingerprint=design.fingerprint)]


def meaning(question: Question, part: Part, language: str) -> str:
    """What one card, part of a spinner or number tells the respondent."""
    texts, categories = question.texts[language], question.design.categories
    match part.outcome.split():
        case ["say", position]:
            return fill(texts["say"], answer=question.label(categories[int(position)], language))
        case ["statement"]:
            return fill(texts["statement"], answer=question.label(categories[0], language))
        case ["negation"]:
            return fill(texts["statement"], answer=question.label(categories[1], language))
        case ["survey"]:
            return texts["this_question"]
        case ["innocuous"]:
            return fill(texts["that_question"], other=question.innocuous[language])
        case ["red" | "black" as colour]:
            return texts[colour]
        case _:
            assert part.outcome == TRUTH
            return texts["true_answer"]


def _labels(question: Question, language: str) -> dict[str, Any]:
    design = question.design
    yes, no = (question.label(category, language) for category in design.categories[:2])
    first, second = (question.label(report, language) for report in design.report_labels()[:2])
    other = question.innocuous.get(language, "")
    return {"yes": yes, "no": no, "first": first, "second": second, "other": other}


def _counts(question: Question, language: str) -> dict[str, Any]:
    if question.procedure.name == "kuk":
        yes, no = question.devices
        red = [next(part.count for part in pack.parts if part.outcome == "red") for pack in (yes, no)]
        return {
            **{"pack_yes": PACKS[0], "pack_no": PACKS[1], "red_yes": red[0], "red_no": red[1]},
            **{"base_yes": yes.base, "base_no": no.base, "draws": question.design.report_count() - 1},
        }
    one = question.devices[0]
    counts = {part.outcome: part.count for part in one.parts if not part.outcome.startswith("say")}
    return {**counts, "base": one.base, "orders": _orders(question, one, language), "faces": _free_faces(one)}


def _orders(question: Question, one: Device, language: str) -> str:
    texts, orders = question.texts[language], []
    for part in one.parts:
        if part.outcome.startswith("say"):
            answer = question.label(question.design.categories[int(part.outcome.split()[1])], language)
            gaps = {"answer": answer, "count": part.count, "faces": ", ".join(map(str, part.faces))}
            orders.append(fill(texts["forced.order_faces" if part.faces else "forced.order"], **gaps))
    return "; ".join(orders)


def _free_faces(one: Device) -> str:
    return ", ".join(str(face) for part in one.parts if part.outcome == TRUTH for face in part.faces)
