"""Everything to print for a question, as one page without any network: cards for both sides, and the device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from maskwell.errors import DataError
from maskwell.questionnaires.devices import Device
from maskwell.questionnaires.pages.drawings import card, spinner
from maskwell.questionnaires.question import Question
from maskwell.questionnaires.texts import fill
from maskwell.questionnaires.words import (
    PACKS,
    identity,
    instruction,
    interviewing,
    meaning,
    prompt,
    protection,
)

_STYLE = """
@page { size: A4; margin: 12mm; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 186mm; font: 12pt/1.45 sans-serif; color: #000; background: #fff; }
section { break-after: page; padding-top: 4mm; }
section:last-child { break-after: auto; }
h1 { font-size: 13pt; margin: 0 0 4mm; font-weight: normal; color: #444; }
.question { font-size: 17pt; font-weight: bold; margin: 0 0 5mm; }
.other { margin: 0 0 5mm; }
ol { padding-left: 7mm; } li { margin: 0 0 2.5mm; }
.answers { display: flex; gap: 4mm; flex-wrap: wrap; margin: 5mm 0; padding: 0; list-style: none; }
.answers li { border: 0.4mm solid #000; border-radius: 2mm; padding: 2mm 6mm; margin: 0; font-size: 14pt; }
.small { font-size: 9.5pt; color: #333; overflow-wrap: anywhere; }
.deck { display: flex; flex-wrap: wrap; }
.deck svg { display: block; break-inside: avoid; }
.spinner { display: block; margin: 4mm auto; }
@media screen {
  body { padding: 0 4mm; }
  /* On paper a device has the size that its words say; a small screen shows all of it. */
  .spinner, .deck svg { max-width: 100%; height: auto; }
}
table { border-collapse: collapse; font-size: 13pt; } td { border: 0.3mm solid #000; padding: 2mm 5mm; }
"""


def page(questions: Question | Sequence[Question], language: str | None = None) -> str:
    """The cards and devices of questions as HTML to print on A4; ``language`` is the main one unless given."""
    asked = [questions] if isinstance(questions, Question) else list(questions)
    if not asked:
        raise DataError("a page needs one question at least.", parameter="questions")
    chosen = asked[0].languages[0] if language is None else language
    for question in asked:
        if chosen not in question.languages:
            raise DataError(
                f"question {question.name!r} is not given in {chosen!r}, but in {', '.join(question.languages)}.",
                parameter="language",
            )
    body = "".join(section for question in asked for section in _sections(question, chosen))
    title = escape(asked[0].wording[chosen])
    return (
        f'<!doctype html>\n<html lang="{escape(chosen)}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f'<body dir="auto">{body}</body></html>\n'
    )


def _sections(question: Question, language: str) -> Iterator[str]:
    texts = question.texts[language]
    yield _section(texts["card.respondent"], _respondent(question, language))
    yield _section(texts["card.interviewer"], _interviewer(question, language))
    for i, one in enumerate(question.devices):
        yield _section(texts["card.device"], _device(question, one, i, language))


def _section(heading: str, inner: str) -> str:
    return f"<section><h1>{escape(heading)}</h1>{inner}</section>"


def _respondent(question: Question, language: str) -> str:
    answers = [question.label(report, language) for report in question.design.report_labels()]
    steps = _list("ol", instruction(question, language))
    said = _list("ul", answers).replace("<ul>", '<ul class="answers">', 1)
    told = "".join(f"<p>{escape(line)}</p>" for line in protection(question, language))
    return f"{_questions(question, language)}{steps}<p>{escape(prompt(question, language))}</p>{said}{told}"


def _interviewer(question: Question, language: str) -> str:
    rules = _list("ol", interviewing(question, language))
    read_out = _list("ul", instruction(question, language))
    known = "".join(f'<p class="small">{escape(line)}</p>' for line in identity(question, language))
    return f"{_questions(question, language)}{rules}{read_out}{known}"


def _questions(question: Question, language: str) -> str:
    texts = question.texts[language]
    asked = f'<p class="question">{escape(question.wording[language])}</p>'
    if question.innocuous:
        heading, other = texts["other_question"], question.innocuous[language]
        asked += f'<p class="other"><b>{escape(heading)}:</b> {escape(other)}</p>'
    return asked


def _device(question: Question, one: Device, position: int, language: str) -> str:
    texts = question.texts[language]
    words = [meaning(question, part, language) for part in one.parts]
    how = f"<p>{escape(texts['dice.how' if one.dice == 2 else f'{one.kind}.how'])}</p>"
    pack = ""
    if len(question.devices) > 1:
        pack = f'<p class="question">{escape(fill(texts["pack"], pack=PACKS[position]))}</p>'
    counts = [fill(texts["parts"], count=part.count, base=one.base) for part in one.parts]
    legend = _list("ul", [f"{count}: {text}" for count, text in zip(counts, words, strict=True)])
    if one.kind == "spinner":
        return f"{how}{legend}{spinner(one, words)}"
    if one.kind == "die":
        rows = "".join(
            f"<tr><td>{', '.join(map(str, part.faces))}</td><td>{escape(text)}</td></tr>"
            for part, text in zip(one.parts, words, strict=True)
        )
        return f"{how}<table>{rows}</table>{legend}"
    coloured = question.procedure.name == "kuk"
    cards = "".join(
        card(text, part.outcome if coloured else None) * part.count for part, text in zip(one.parts, words, strict=True)
    )
    return f'{pack}{how}{legend}<div class="deck">{cards}</div>'


def _list(kind: str, lines: Sequence[str]) -> str:
    return f"<{kind}>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</{kind}>"
