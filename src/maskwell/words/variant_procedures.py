"""How the variants of the classical survey procedures are carried out, with the chances that the matrix gives."""

from collections.abc import Iterator
from fractions import Fraction

from maskwell.errors import DesignError
from maskwell.exact import given_fraction
from maskwell.words.asked import Asked
from maskwell.words.sentences import Chance, Sentence, device, frequencies, plain, quoted, say

# Kinds of cards beyond which nobody listens any more.
_MOST_KINDS = 6

_DRAW = "Draw a card where nobody else can see it, and put it back afterwards."
_PARTS = (
    "Of the spinner's {base} equal parts {statement} bear the statement that your answer is {yes}, the others the "
    "statement that it is {no}."
)
_TRUE_OR_NOT = "Say {first} if the statement that it points to is true for you, and {second} if it is not."


def mangat(asked: Asked) -> Iterator[Sentence]:
    """Who would say no goes by the spinner; everybody spins, so that nobody sees who has to."""
    yield say("Spin the spinner where nobody else can see it, whatever your answer is.")
    yield say(_PARTS, **device(statement=Chance(asked.matrix[1][1], "statement for who says no")), **asked.labels)
    yield say(
        "If your answer is {yes}, say {first}, whatever the spinner shows. If it is {no}, say {first} if the statement "
        "that it points to is true for you, and {second} if it is not.",
        **asked.labels,
    )


def mangat_singh(asked: Asked) -> Iterator[Sentence]:
    """A card asks for the truth, or sends to the spinner."""
    direct, statement = (
        given_fraction(asked.design.parameters[name], name, DesignError) for name in ("direct_prob", "truth_prob")
    )
    yield say(_DRAW)
    yield say(
        "Of {base} such cards {direct} tell you to give your true answer, the others to spin the spinner.",
        **device(direct=Chance(direct, "asked for the truth")),
    )
    yield say(_PARTS, **device(statement=Chance(statement, "statement after a card")), **asked.labels)
    yield say(f"If you are to spin: {_TRUE_OR_NOT[0].lower()}{_TRUE_OR_NOT[1:]}", **asked.labels)
    yield say("Tell nobody which card it was.")


def devore(asked: Asked) -> Iterator[Sentence]:
    """The other question is one to which everybody's answer is yes."""
    yield say(_DRAW)
    yield say(
        "Of {base} such cards {cards} show the question of this survey, the others one to which everybody's answer is "
        "{yes}.",
        **device(cards=Chance(asked.matrix[1][1], "question of the survey")),
        **asked.labels,
    )
    yield say("Answer the question on your card truthfully, and tell nobody which question it was.")


def triangular(asked: Asked) -> Iterator[Sentence]:
    """One mark for a yes to either of two questions, another for two noes."""
    yield say(
        "Besides the question of this survey there is a harmless one, to which {people} of {base} people would "
        "truthfully answer {yes}.",
        **frequencies(people=Chance(asked.matrix[0][1], "innocuous yes of two")),
        **asked.labels,
    )
    yield say(
        "Give {first} if your answer to at least either of the questions is {yes}, and {second} if it is {no} to both, "
        "and tell nobody the answer to either.",
        **asked.labels,
    )


def singh_joarder(asked: Asked) -> Iterator[Sentence]:
    """Who would say yes gets another turn."""
    yield say("Spin the spinner where nobody else can see it.")
    yield say(_PARTS, **device(statement=Chance(asked.matrix[1][1], "statement for who says no")), **asked.labels)
    yield say(
        "If your answer is {yes} and the spinner points to the statement that it is {no}, spin once more, and go by "
        "what it points to then.",
        **asked.labels,
    )
    yield say(f"{_TRUE_OR_NOT[:-1]}; tell nobody how often you spun.", **asked.labels)


def christofides(asked: Asked) -> Iterator[Sentence]:
    """Numbered cards, read from one end or from the other."""
    numbers = asked.design.report_labels()
    drawn = [(number, row[1]) for number, row in zip(numbers, asked.matrix, strict=True) if row[1]]
    yield say(_DRAW)
    if len(drawn) <= _MOST_KINDS:
        says_no = asked.design.categories[1]
        kinds = {f"kind_{at}": Chance(share, "chance", (n, says_no)) for at, (n, share) in enumerate(drawn)}
        shown = {f"number_{at}": quoted(number) for at, (number, _) in enumerate(drawn)}
        bear = " and ".join(f"{{kind_{at}}} bear the number {{number_{at}}}" for at in range(len(drawn)))
        yield say(f"Of {{base}} such cards {bear}.", **device(**kinds), **shown)
    yield say(
        "Say the number on your card if your answer is {no}. If it is {yes}, take that number away from {sum}, and say "
        "what is left. Tell nobody which number it was.",
        sum=plain(len(numbers) + 1, "number to take from"),
        **asked.labels,
    )


def forced_categories(asked: Asked) -> Iterator[Sentence]:
    """A card asks for the truth, or tells which category to say."""
    k = asked.design.k
    forced = [asked.matrix[i][(i + 1) % k] for i in range(k)]
    free = Chance(Fraction(1) - sum(forced), "free to answer by category")
    if free.value == 1:
        return
    yield say(_DRAW)
    cards = "Of {base} such cards {free} tell you to give your true answer"
    places = [i for i in range(k) if forced[i]]
    if len(places) <= _MOST_KINDS:
        orders = {f"say_{i}": Chance(forced[i], "forced to say", (i,)) for i in places}
        said = {f"label_{i}": quoted(asked.design.categories[i]) for i in places}
        others = " and ".join(f"{{say_{i}}} to say {{label_{i}}}" for i in places)
        yield say(f"{cards}, {others}, whatever it is.", **device(free=free, **orders), **said)
    elif len(set(forced)) == 1:
        each = Chance(forced[0], "forced to say", (0,))
        yield say(
            f"{cards}; for each of the {{k}} answers {{each}} tell you to say it, whatever yours is.",
            k=plain(k, "categories"),
            **device(free=free, each=each),
        )
    else:
        yield say(f"{cards}, the others which answer to say, whatever yours is.", **device(free=free))
    yield say("Do what your card says, and tell nobody which card it was.")
