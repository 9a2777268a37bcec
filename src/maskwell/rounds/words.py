"""Repeated collection in plain words, for the people who take part in it."""

from collections.abc import Iterator

from maskwell.designs.base import Design
from maskwell.rounds.privacy import RoundsPrivacy, privacy
from maskwell.words.record_sentences import belief
from maskwell.words.sentences import Sentence, decimal, plain, say


def explain(design: Design, rounds: int, values: int | None = None) -> tuple[Sentence, ...]:
    """Sentences for respondents; ``str`` of each is its text, and every number in them is computed from the design.

    >>> from maskwell.rounds import rappor
    >>> print(explain(rappor(8, f=0.5, p=0.5, q=0.75), rounds=365, values=1)[0])
    We ask for the same thing in up to 365 rounds.
    """
    return tuple(_sentences(privacy(design, rounds, values)))


def _sentences(found: RoundsPrivacy) -> Iterator[Sentence]:
    yield say("We ask for the same thing in up to {rounds} rounds.", rounds=plain(found.rounds, "rounds"))
    if not found.layered:
        yield from _kept(found)
        return
    yield say(
        "Your device masks your answer once, by chance, and keeps to that masked answer for as long as your answer is "
        "the same; neither is ever sent."
    )
    yield say("In each round it masks the masked answer once more, and only the result of that leaves your device.")
    yield belief(RoundsPrivacy(found.design, 1, 1).exact_parity(), "what is sent in one round")
    yield belief(found.of_one_answer.value, "everything that is sent in all rounds, if your answer stays the same,")
    yield say("More rounds than that would not help: what they can show is the masked answer, and never yours.")
    yield from _of_several(found)
    yield say("That your answer has changed, or is an earlier one again, may show over many rounds.")


def _kept(found: RoundsPrivacy) -> Iterator[Sentence]:
    """A report that is sent again as it is."""
    yield say(
        "Your device masks your answer once, by chance, and sends that masked answer in every round for as long as "
        "your answer is the same; the answer itself never leaves it."
    )
    yield belief(found.of_one_answer.value, "everything that is sent in all rounds, if your answer stays the same,")
    yield from _of_several(found)
    yield say(
        "That your answer has changed, or is an earlier one again, shows in what is sent, to whoever can tell that it "
        "comes from one device."
    )


def _of_several(found: RoundsPrivacy) -> Iterator[Sentence]:
    if found.values > 1:
        yield say(
            "Each new answer is masked anew; with {values} different answers, everything that is sent can shift the "
            "odds about which ones they are by a factor of {parity} at most, for somebody who knows when they change.",
            values=plain(found.values, "values"),
            parity=decimal(found.exact_parity(), "parity of all rounds", "up", 3),
        )
