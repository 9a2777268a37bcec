"""Repeated collection in plain words, for the people who take part in it."""

from collections.abc import Iterator

from maskwell.designs import LayeredDesign
from maskwell.rounds.privacy import RoundsPrivacy, privacy
from maskwell.words.record_sentences import belief
from maskwell.words.sentences import Sentence, decimal, plain, say


def explain(design: LayeredDesign, rounds: int, values: int | None = None) -> tuple[Sentence, ...]:
    """Sentences for respondents; ``str`` of each is its text, and every number in them is computed from the design.

    >>> from maskwell.rounds import rappor
    >>> print(explain(rappor(8, f=0.5, p=0.5, q=0.75), rounds=365, values=1)[0])
    We ask for the same thing in up to 365 rounds.
    """
    return tuple(_sentences(privacy(design, rounds, values)))


def _sentences(found: RoundsPrivacy) -> Iterator[Sentence]:
    design = found.design
    yield say("We ask for the same thing in up to {rounds} rounds.", rounds=plain(found.rounds, "rounds"))
    yield say(
        "Your device masks your answer once, by chance, and keeps to that masked answer for as long as your answer is "
        "the same; neither is ever sent."
    )
    yield say("In each round it masks the masked answer once more, and only the result of that leaves your device.")
    yield belief(design.parity_of_rounds(1).value, "what is sent in one round")
    one = design.parity_of_rounds(found.rounds).value
    yield belief(one, "everything that is sent in all rounds, if your answer stays the same,")
    yield say("More rounds than that would not help: what they can show is the masked answer, and never yours.")
    if found.values > 1:
        yield say(
            "Each new answer is masked anew; with {values} different answers, everything that is sent can shift "
            "anybody's odds about them by a factor of {parity} at most.",
            values=plain(found.values, "values"),
            parity=decimal(found.exact_parity(), "parity of all rounds", "up", 3),
        )
    yield say("That your answer has changed may show over many rounds.")
