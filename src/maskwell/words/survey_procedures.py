"""How the survey procedures for a yes/no question are carried out, with the chances that the matrix gives.

The words follow the named design; the chances are recovered from its matrix, so that what is read out is what is done.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from maskwell.designs.base import Design
from maskwell.words.sentences import Chance, Sentence, device, frequencies, plain, quoted, say

Rows = tuple[tuple[Fraction, ...], ...]
Labels = dict[str, str]


def instructions(design: Design) -> tuple[Sentence, ...]:
    """What the respondent is told to do; nothing for other designs."""
    procedure = PROCEDURES.get(design.name)
    if procedure is None or design.k != 2:
        return ()
    matrix: Rows = tuple(tuple(row) for row in design.matrix(exact=True))
    yes, no, first, second = (quoted(label) for label in (*design.categories, *design.report_labels()[:2]))
    return tuple(procedure(matrix, {"yes": yes, "no": no, "first": first, "second": second}))


def _warner(matrix: Rows, labels: Labels) -> Iterator[Sentence]:
    yield say("Spin the spinner where nobody else can see it.")
    yield say(
        "Of the spinner's {base} equal parts {statement} bear the statement that your answer is {yes}, the others "
        "the statement that it is {no}.",
        **device(statement=Chance(matrix[0][0], "statement")),
        **labels,
    )
    yield say("Say {first} if the statement that it points to is true for you, and {second} if it is not.", **labels)


def _forced_response(matrix: Rows, labels: Labels) -> Iterator[Sentence]:
    chances = {"yes": Chance(matrix[0][1], "forced yes"), "no": Chance(matrix[1][0], "forced no")}
    forced = {f"say_{answer}": chance for answer, chance in chances.items() if chance.value}
    if not forced:
        return
    orders = " and ".join(f"{{{name}}} to say {{{name.removeprefix('say_')}}}" for name in forced)
    free = Chance(Fraction(1) - sum(chance.value for chance in forced.values()), "free to answer")
    yield say("Draw a card where nobody else can see it, and put it back afterwards.")
    yield say(
        f"Of {{base}} such cards {orders.replace(' to say', ' tell you to say', 1)}, whatever your answer is; {{free}} "
        "tell you to give your true answer.",
        **device(**forced, free=free),
        **labels,
    )
    yield say("Do what your card says, and tell nobody which card it was.")


def _unrelated_question(matrix: Rows, labels: Labels) -> Iterator[Sentence]:
    sensitive = matrix[0][0] - matrix[0][1]
    if sensitive <= 0 or sensitive == 1:
        return
    yield say("Draw a card where nobody else can see it, and put it back afterwards.")
    yield say(
        "Of {base} such cards {cards} show the question of this survey, the others a harmless question.",
        **device(cards=Chance(sensitive, "question of the survey")),
    )
    yield say(
        "Of {base} people {people} would truthfully answer {yes} to the harmless question.",
        **frequencies(people=Chance(matrix[0][1] / (1 - sensitive), "innocuous yes")),
        **labels,
    )
    yield say("Answer the question on your card truthfully, and tell nobody which question it was.")


def _crosswise(matrix: Rows, labels: Labels) -> Iterator[Sentence]:
    yield say(
        "Besides the question of this survey there is a harmless one, to which {people} of {base} people would "
        "truthfully answer {yes}.",
        **frequencies(people=Chance(matrix[0][0], "innocuous first")),
        **labels,
    )
    yield say(
        "Say {first} if your answers to both questions are the same and {second} if they differ, and tell nobody "
        "the answer to either.",
        **labels,
    )


def _kuk(matrix: Rows, labels: Labels) -> Iterator[Sentence]:
    draws = len(matrix) - 1
    red = [sum((count * row[j] for count, row in enumerate(matrix)), Fraction(0)) / draws for j in (0, 1)]
    drawing = "{draws} card" if draws == 1 else "{draws} cards, putting each back before the next,"
    yield say(
        "Where nobody else can see it, take the first pack of cards if your answer is {yes} and the second if it "
        "is {no}.",
        **labels,
    )
    yield say(
        "Of {base} cards {red_if_yes} are red in the first pack and {red_if_no} in the second.",
        **device(red_if_yes=Chance(red[0], "red if yes"), red_if_no=Chance(red[1], "red if no")),
    )
    yield say(f"From your pack draw {drawing} and say only how many are red.", draws=plain(draws, "draws"))


PROCEDURES: dict[str, Callable[[Rows, Labels], Iterator[Sentence]]] = {
    "warner": _warner,
    "forced_response": _forced_response,
    "unrelated_question": _unrelated_question,
    "crosswise": _crosswise,
    "kuk": _kuk,
}
