"""How the survey procedures are carried out, with the chances that the matrix gives.

The words follow the named design; the chances are recovered from its matrix, so that what is read out is what is done.
Where the matrix does not tell them apart, as those of two devices in a row, they are the design's own parameters.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from maskwell.designs.base import Design
from maskwell.words import variant_procedures as variants
from maskwell.words.asked import Asked
from maskwell.words.sentences import Chance, Sentence, device, frequencies, plain, say


def instructions(design: Design) -> tuple[Sentence, ...]:
    """What the respondent is told to do; nothing for other designs."""
    procedure = (PROCEDURES if design.k == 2 else OF_ANY_NUMBER).get(design.name)
    if procedure is None or design.small_matrix() is None:
        return ()
    return tuple(procedure(Asked.by(design)))


def _warner(asked: Asked) -> Iterator[Sentence]:
    _, matrix, labels = asked
    yield say("Spin the spinner where nobody else can see it.")
    yield say(
        "Of the spinner's {base} equal parts {statement} bear the statement that your answer is {yes}, the others "
        "the statement that it is {no}.",
        **device(statement=Chance(matrix[0][0], "statement")),
        **labels,
    )
    yield say("Say {first} if the statement that it points to is true for you, and {second} if it is not.", **labels)


def _forced_response(asked: Asked) -> Iterator[Sentence]:
    _, matrix, labels = asked
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


def _unrelated_question(asked: Asked) -> Iterator[Sentence]:
    _, matrix, labels = asked
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


def _crosswise(asked: Asked) -> Iterator[Sentence]:
    _, matrix, labels = asked
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


def _kuk(asked: Asked) -> Iterator[Sentence]:
    _, matrix, labels = asked
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


Procedure = Callable[[Asked], Iterator[Sentence]]
PROCEDURES: dict[str, Procedure] = {
    "warner": _warner,
    "forced_response": _forced_response,
    "unrelated_question": _unrelated_question,
    "crosswise": _crosswise,
    "kuk": _kuk,
    "mangat": variants.mangat,
    "mangat_singh": variants.mangat_singh,
    "devore": variants.devore,
    "triangular": variants.triangular,
    "singh_joarder": variants.singh_joarder,
    "christofides": variants.christofides,
    "eriksson": _forced_response,
}
"""By the name of the design, for a yes/no question."""
OF_ANY_NUMBER: dict[str, Procedure] = {
    "forced_response": variants.forced_categories,
    "eriksson": variants.forced_categories,
}
"""The same for more categories."""
