"""How the survey procedures for a yes/no question are carried out, with the chances that the matrix gives.

The words follow the named design; the chances are recovered from its matrix, so that what is read out is what is done.
"""

from collections.abc import Callable
from fractions import Fraction

from maskwell.designs.base import Design
from maskwell.words.sentences import Chance, Sentence, device, frequencies, plain

Rows = tuple[tuple[Fraction, ...], ...]
Labels = dict[str, str]


def instructions(design: Design) -> tuple[Sentence, ...]:
    """What the respondent is told to do; nothing for designs that are no such procedure."""
    procedure = PROCEDURES.get(design.name)
    if procedure is None or design.channel.sizes or design.k != 2:
        return ()
    matrix: Rows = tuple(tuple(row) for row in design.matrix(exact=True))
    yes, no, first, second = (quoted(label) for label in (*design.categories, *design.report_labels()[:2]))
    return procedure(matrix, {"yes": yes, "no": no, "first": first, "second": second})


def quoted(label: object) -> str:
    """A label as it stands in a sentence."""
    return f"“{label}”"


def _warner(matrix: Rows, labels: Labels) -> tuple[Sentence, ...]:
    return (
        Sentence("Spin the spinner where nobody else can see it."),
        Sentence(
            "Of the spinner's {base} equal parts {statement} bear the statement that your answer is {yes}, the others "
            "the statement that it is {no}.",
            device(statement=Chance(matrix[0][0], "statement")),
            {"yes": labels["yes"], "no": labels["no"]},
        ),
        Sentence(
            "Say {first} if the statement that it points to is true for you, and {second} if it is not.",
            labels={"first": labels["first"], "second": labels["second"]},
        ),
    )


def _forced_response(matrix: Rows, labels: Labels) -> tuple[Sentence, ...]:
    yes, no = Chance(matrix[0][1], "forced yes"), Chance(matrix[1][0], "forced no")
    free = Chance(1 - yes.value - no.value, "free to answer")
    if yes.value and no.value:
        orders, counts = "{say_yes} tell you to say {yes} and {say_no} to say {no}", {"say_yes": yes, "say_no": no}
    elif yes.value:
        orders, counts = "{say_yes} tell you to say {yes}", {"say_yes": yes}
    elif no.value:
        orders, counts = "{say_no} tell you to say {no}", {"say_no": no}
    else:
        return ()
    return (
        Sentence("Draw a card where nobody else can see it, and put it back afterwards."),
        Sentence(
            f"Of {{base}} such cards {orders}, whatever your answer is; {{free}} tell you to give your true answer.",
            device(**counts, free=free),
            {name: labels[name] for name in ("yes", "no") if f"say_{name}" in counts},
        ),
        Sentence("Do what your card says, and tell nobody which card it was."),
    )


def _unrelated_question(matrix: Rows, labels: Labels) -> tuple[Sentence, ...]:
    sensitive = matrix[0][0] - matrix[0][1]
    if sensitive <= 0 or sensitive == 1:
        return ()
    return (
        Sentence("Draw a card where nobody else can see it, and put it back afterwards."),
        Sentence(
            "Of {base} such cards {cards} show the question of this survey, the others a harmless question.",
            device(cards=Chance(sensitive, "question of the survey")),
        ),
        Sentence(
            "Of {base} people {people} would truthfully answer {yes} to the harmless question.",
            frequencies(people=Chance(matrix[0][1] / (1 - sensitive), "innocuous yes")),
            {"yes": labels["yes"]},
        ),
        Sentence("Answer the question on your card truthfully, and tell nobody which question it was."),
    )


def _crosswise(matrix: Rows, labels: Labels) -> tuple[Sentence, ...]:
    return (
        Sentence(
            "Besides the question of this survey there is a harmless one, to which {people} of {base} people would "
            "truthfully answer {yes}.",
            frequencies(people=Chance(matrix[0][0], "innocuous first")),
            {"yes": labels["yes"]},
        ),
        Sentence(
            "Say {first} if your answers to both questions are the same and {second} if they differ, and tell nobody "
            "the answer to either.",
            labels={"first": labels["first"], "second": labels["second"]},
        ),
    )


def _kuk(matrix: Rows, labels: Labels) -> tuple[Sentence, ...]:
    draws = len(matrix) - 1
    red = [sum((count * row[j] for count, row in enumerate(matrix)), Fraction(0)) / draws for j in (0, 1)]
    counts = device(red_if_yes=Chance(red[0], "red if yes"), red_if_no=Chance(red[1], "red if no"))
    drawing = "{draws} card" if draws == 1 else "{draws} cards, putting each back before the next,"
    return (
        Sentence(
            "Where nobody else can see it, take the first pack of cards if your answer is {yes} and the second if it "
            "is {no}.",
            labels={"yes": labels["yes"], "no": labels["no"]},
        ),
        Sentence("Of {base} cards {red_if_yes} are red in the first pack and {red_if_no} in the second.", counts),
        Sentence(
            f"From your pack draw {drawing} and say only how many are red.",
            {"draws": plain(draws, "draws")},
        ),
    )


PROCEDURES: dict[str, Callable[[Rows, Labels], tuple[Sentence, ...]]] = {
    "warner": _warner,
    "forced_response": _forced_response,
    "unrelated_question": _unrelated_question,
    "crosswise": _crosswise,
    "kuk": _kuk,
}
