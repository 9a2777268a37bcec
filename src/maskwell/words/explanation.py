"""A design in plain words, for the respondent, the interviewer or the methodologist.

Every number is computed from the design's exact integers and kept beside the sentence that states it. Respondents and
interviewers get counts of people and no technical terms; what a record gives away is said as plainly as what it hides.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from maskwell.auditing import audit
from maskwell.auditing.cautions import USUAL_CEILING
from maskwell.demands import AverageSecurity
from maskwell.designs.base import Design, require_design
from maskwell.designs.layered.base import require_layers
from maskwell.designs.storage import about
from maskwell.errors import DesignError
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.results.result import Result
from maskwell.words.record_sentences import (
    belief,
    given_away,
    guess,
    how_often,
    is_certain,
    is_open,
    purpose,
    recorded,
)
from maskwell.words.sentences import Sentence, decimal, plain, quoted, say
from maskwell.words.survey_procedures import instructions

Audience = Literal["respondent", "interviewer", "methodologist"]

_MOST_CLOSING = 3  # the belief, whether that protects, and what it is for
_OPEN = say("The answer is recorded as it is, and whoever sees the record knows it.")


@dataclass(frozen=True)
class Explanation(Result):
    """Sentences about a design; ``str`` gives the text, one sentence a line."""

    design: Design
    audience: Audience
    sentences: tuple[Sentence, ...]

    def __str__(self) -> str:
        return visible_lines(sentence.text for sentence in self.sentences)

    def summary(self) -> str:
        """The sentences: the same as ``str``."""
        return str(self)

    def _title(self) -> str:
        return f"{self.design.title} design for the {self.audience}"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        return {"sentence": [sentence.text for sentence in self.sentences]}

    def to_dict(self) -> dict[str, Any]:
        """The sentences as plain values."""
        return {
            "design": jsonable(about(self.design)),
            "audience": self.audience,
            "sentences": [sentence.text for sentence in self.sentences],
        }


def explain(design: Design, audience: Audience = "respondent") -> Explanation:
    """The design in the words of its audience; of a product, each variable by itself and then all together.

    >>> from maskwell.designs import gamma_diagonal
    >>> print(explain(gamma_diagonal(["tea", "coffee", "water"], gamma=4)))
    Chance decides which of the 3 answers is recorded for you.
    Of 100 people with the same true answer, about 67 have it recorded and about 33 have another one.
    ...
    """
    require_design(design)
    if audience not in get_args(Audience):
        raise DesignError(
            f"audience must be one of {', '.join(get_args(Audience))}; got {audience!r}.", parameter="audience"
        )
    write = _WRITERS[audience]
    if not design.variables:
        return Explanation(design, audience, (*write(design), *_rounds(design, audience)))
    sentences: list[Sentence] = []
    texts = {name: [*write(part), *_rounds(part, audience)] for name, part in design.variables.items()}
    closing = _closing(list(texts.values())) if audience == "respondent" else 0
    for name, own in texts.items():
        sentences += [say("About {variable}:", variable=quoted(name)), *own[: len(own) - closing]]
    if closing:
        sentences += [say("About each of them:"), *own[len(own) - closing :]]
    return Explanation(design, audience, (*sentences, _all_variables(design, audience)))


def _closing(texts: list[list[Sentence]]) -> int:
    """With how many sentences all texts end alike, which are then said once; what was to be done stays where it is."""
    alike = 0
    while alike < _MOST_CLOSING and all(len(own) > alike + 1 for own in texts):
        if any(own[-1 - alike] != texts[0][-1 - alike] for own in texts):
            break
        alike += 1
    return alike


def _rounds(design: Design, audience: Audience) -> Iterator[Sentence]:
    """What is different where the same is asked many times, of a design that was made for that."""
    if not design.has_permanent_layer:
        return
    parity = require_layers(design).longitudinal_parity()
    if audience == "respondent":
        yield say("All of this is about one round.")
        yield belief(
            parity, "everything that is sent in however many rounds, if your device keeps what it masked first,"
        )
        return
    yield say(
        "All of this is about one round. However many there are, they shift anybody's odds by a factor of {parity} at "
        "most where the first layer's report is kept (mw.rounds); masked afresh in each they tell more every time.",
        parity=decimal(parity, "parity of the permanent layer", "up"),
    )


def _respondent(design: Design) -> Iterator[Sentence]:
    steps, sets, parity = instructions(design), design.set_facts(), design.exact_parity()
    yield from steps
    if parity == 1:
        yield say("What is recorded for you does not depend on your answer, so it says nothing about you.")
        return
    if is_open(sets):
        yield _OPEN
    else:
        yield from recorded(design, sets, told=bool(steps))
        yield from given_away(design, sets)
        yield guess(design)
    if isinstance(parity, Fraction):
        yield belief(parity)
        if parity <= USUAL_CEILING:
            yield say("So nobody can be sure of your answer because of your record.")
        else:
            yield say("That protects you little: your record can all but give your answer away.")
    yield purpose(design)


def _interviewer(design: Design) -> Iterator[Sentence]:
    steps, sets, parity = instructions(design), design.set_facts(), design.exact_parity()
    if is_open(sets):
        yield _OPEN
        return
    if steps:
        yield say("Read this out, and look away while the respondent does it:")
        yield from steps
        yield say("Record only what the respondent says, and never ask how it came about.")
    else:
        yield say(
            "Let the respondent enter the true answer where you cannot see it; only the record made from it is kept."
        )
    yield from how_often(design, sets)
    if parity == 1:
        yield say("Records do not depend on the answer.")
    elif isinstance(parity, Fraction):
        if parity <= USUAL_CEILING:
            yield say("A record does not tell you what a respondent's answer is: do not treat it as one.")
        else:
            yield say("A record all but tells you what a respondent's answer is: keep it as safe as the answer.")
        yield say(
            "Never start again for the same person: the factor by which records can shift anybody's odds about an "
            "answer would grow from {once} to {again}.",
            once=decimal(parity, "parity", "up"),
            again=decimal(parity**2, "parity of a second record", "up"),
        )
    else:
        yield from given_away(design, sets)
        if not is_certain(design):
            yield say("Never start again for the same person: further records can narrow down what the answer is.")


def _methodologist(design: Design) -> Iterator[Sentence]:
    yield say(
        "The design {name} masks a variable with {k} categories.", k=plain(design.k, "categories"), name=design.title
    )
    yield from _privacy(design)
    sets = design.set_facts()
    limit = "up to "
    if sets is not None and sets.other_inside is not None:
        limit = ""
        yield say(
            "A report holds the true category with probability {own} and any other given one with probability {other}.",
            own=decimal(sets.truth_inside, "truth recorded"),
            other=decimal(sets.other_inside, "other recorded"),
        )
    yield say(
        "With equally common categories the best guess from a report is right with probability {guess}, without one "
        "with probability {blind}.",
        guess=decimal(audit(design).exact_guess_probability, "guess"),
        blind=decimal(Fraction(1, design.k), "blind guess"),
    )
    if math.isinf(design.added_variance):
        yield say(
            "Not every proportion can be estimated from the reports; sums of proportions may be, by estimate_contrast."
        )
        return
    yield say(
        f"Masking adds {limit}{{added}} to the number of respondents times the total variance of the linear estimator.",
        added=decimal(design.added_variance, "added variance"),
    )
    yield say(
        "With equally common categories a report is worth {worth} of an answer to a direct question.",
        worth=decimal(design.worth, "worth"),
    )


_WRITERS: dict[Audience, Callable[[Design], Iterator[Sentence]]] = {
    "respondent": _respondent,
    "interviewer": _interviewer,
    "methodologist": _methodologist,
}


def _privacy(design: Design) -> Iterator[Sentence]:
    parity = design.exact_parity()
    if isinstance(parity, Fraction):
        yield say(
            "Its parity is {parity}, so ε is {epsilon}: no report shifts anybody's odds by more than this factor, "
            "whatever else they know.",
            parity=decimal(parity, "parity", "up"),
            epsilon=decimal(design.epsilon, "epsilon", "up"),
        )
    else:
        yield say("It has no finite ε: some reports rule categories out, and prior knowledge can do the rest.")
        if design.diversity() > 1:
            yield say(
                "To somebody without prior knowledge every report leaves at least {l} categories equally plausible.",
                l=plain(design.diversity(), "diversity"),
            )
    if exposure := audit(design).exposure:
        yield say(
            "With probability {exposure}, for the category that is worst off, a report proves the true one.",
            exposure=decimal(exposure, "exposure"),
        )
    if design.demand is not None:
        verdict = "holds" if design.demand.holds_for(design) else "does not hold"
        yield say(f"It was built for {{demand}}, which {verdict}.", demand=design.demand.describe())
    if isinstance(design.demand, AverageSecurity):
        yield say("Average security limits an average over reports only: single reports may give the truth away.")


def _all_variables(design: Design, audience: Audience) -> Sentence:
    """What all variables of a product give away together."""
    parity = design.exact_parity()
    if not isinstance(parity, Fraction):
        return say("Some of these records prove something by themselves, so together they have no limit either.")
    if audience == "respondent":
        return belief(parity, "all your records together")
    return say(
        "All records of a person together shift anybody's odds by a factor of {parity} at most.",
        parity=decimal(parity, "parity", "up"),
    )
