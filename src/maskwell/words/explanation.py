"""A design in plain words, for the respondent, the interviewer or the methodologist.

Every number is computed from the design's exact integers and kept beside the sentence that states it. Respondents and
interviewers get counts of people and no technical terms; what a record gives away is said as plainly as what it hides.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from maskwell.auditing.audit import audit
from maskwell.auditing.cautions import USUAL_CEILING
from maskwell.demands import AverageSecurity
from maskwell.designs.base import Design, require_design
from maskwell.errors import DesignError
from maskwell.plain_text import visible_html, visible_lines
from maskwell.words.record_sentences import belief, given_away, guess, how_often, is_certain, is_open, purpose, recorded
from maskwell.words.sentences import Sentence, decimal, plain
from maskwell.words.survey_procedures import instructions, quoted

Audience = Literal["respondent", "interviewer", "methodologist"]

_OPEN = Sentence("The answer is recorded as it is, and whoever sees the record knows it.")


@dataclass(frozen=True)
class Explanation:
    """Sentences about a design; ``str`` gives the text, one sentence a line."""

    design: Design
    audience: Audience
    sentences: tuple[Sentence, ...]

    def __str__(self) -> str:
        return visible_lines(sentence.text for sentence in self.sentences)

    def _repr_html_(self) -> str:
        return "".join(f"<p>{visible_html(sentence.text)}</p>" for sentence in self.sentences)


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
    writers: dict[str, Callable[[Design], Iterator[Sentence]]] = {
        "respondent": _respondent,
        "interviewer": _interviewer,
        "methodologist": _methodologist,
    }
    write = writers[audience]
    if not design.variables:
        return Explanation(design, audience, tuple(write(design)))
    sentences: list[Sentence] = []
    for name, part in design.variables.items():
        sentences += [Sentence("About {variable}:", labels={"variable": quoted(name)}), *write(part)]
    return Explanation(design, audience, (*sentences, *_together(design, audience)))


def _respondent(design: Design) -> Iterator[Sentence]:
    steps, facts = instructions(design), design.set_facts()
    yield from steps
    if design.exact_parity() == 1:
        yield Sentence("What is recorded for you does not depend on your answer, so it says nothing about you.")
        return
    if is_open(facts):
        yield _OPEN
    else:
        yield from recorded(design, facts, told=bool(steps))
        yield from given_away(design, facts)
        yield guess(design)
    if isinstance(parity := design.exact_parity(), Fraction):
        yield belief(parity)
        if parity <= USUAL_CEILING:
            yield Sentence("So nobody can be sure of your answer because of your record.")
        else:
            yield Sentence("That protects you little: your record can all but give your answer away.")
    yield purpose(design)


def _interviewer(design: Design) -> Iterator[Sentence]:
    steps, facts = instructions(design), design.set_facts()
    if is_open(facts):
        yield _OPEN
        return
    if steps:
        yield Sentence("Read this out, and look away while the respondent does it:")
        yield from steps
        yield Sentence("Record only what the respondent says, and never ask how it came about.")
    else:
        yield Sentence(
            "Let the respondent enter the true answer where you cannot see it; only the record made from it is kept."
        )
    yield from how_often(design, facts)
    parity = design.exact_parity()
    if parity == 1:
        yield Sentence("Records do not depend on the answer.")
        return
    if isinstance(parity, Fraction):
        if parity <= USUAL_CEILING:
            yield Sentence("A record does not tell you what a respondent's answer is: do not treat it as one.")
        else:
            yield Sentence("A record all but tells you what a respondent's answer is: keep it as safe as the answer.")
        yield Sentence(
            "Never start again for the same person: the factor by which records can shift anybody's odds about an "
            "answer would grow from {once} to {again}.",
            {
                "once": decimal(parity, "parity", "up", 3),
                "again": decimal(parity**2, "parity of a second record", "up", 3),
            },
        )
        return
    yield from given_away(design, facts)
    if not is_certain(design):
        yield Sentence("Never start again for the same person: further records can narrow down what the answer is.")


def _methodologist(design: Design) -> Iterator[Sentence]:
    yield Sentence(
        "The design {name} masks a variable with {k} categories.",
        {"k": plain(design.k, "categories")},
        {"name": design.name},
    )
    yield from _privacy(design)
    facts = design.set_facts()
    if facts is not None and facts.other_inside is not None:
        yield Sentence(
            "A report holds the true category with probability {own} and any other given one with probability {other}.",
            {
                "own": decimal(facts.truth_inside, "truth recorded"),
                "other": decimal(facts.other_inside, "other recorded"),
            },
        )
    yield Sentence(
        "With equally common categories the best guess from a report is right with probability {guess}, without one "
        "with probability {blind}.",
        {
            "guess": decimal(audit(design).exact_guess_probability, "guess"),
            "blind": decimal(Fraction(1, design.k), "blind guess"),
        },
    )
    if math.isinf(design.added_variance):
        yield Sentence(
            "Not every proportion can be estimated from the reports; sums of proportions may be, by estimate_contrast."
        )
        return
    limit = "" if facts is not None and facts.other_inside is not None else "up to "
    yield Sentence(
        f"Masking adds {limit}{{added}} to the number of respondents times the total variance of the linear estimator.",
        {"added": decimal(design.added_variance, "added variance")},
    )
    yield Sentence(
        "With equally common categories a report is worth {worth} of an answer to a direct question.",
        {"worth": decimal(design.worth, "worth")},
    )


def _privacy(design: Design) -> Iterator[Sentence]:
    parity = design.exact_parity()
    if isinstance(parity, Fraction):
        yield Sentence(
            "Its parity is {parity}, so ε is {epsilon}: no report shifts anybody's odds by more than this factor, "
            "whatever else they know.",
            {"parity": decimal(parity, "parity", "up"), "epsilon": decimal(design.epsilon, "epsilon", "up")},
        )
    else:
        yield Sentence("It has no finite ε: some reports rule categories out, and prior knowledge can do the rest.")
        if design.diversity() > 1:
            yield Sentence(
                "To somebody without prior knowledge every report leaves at least {l} categories equally plausible.",
                {"l": plain(design.diversity(), "diversity")},
            )
    if exposure := audit(design).exposure:
        yield Sentence(
            "With probability {exposure}, for the category that is worst off, a report proves the true one.",
            {"exposure": decimal(exposure, "exposure")},
        )
    if design.demand is not None:
        verdict = "holds" if design.demand.holds_for(design) else "does not hold"
        yield Sentence(f"It was built for {{demand}}, which {verdict}.", labels={"demand": design.demand.describe()})
    if isinstance(design.demand, AverageSecurity):
        yield Sentence("Average security limits an average over reports only: single reports may give the truth away.")


def _together(design: Design, audience: Audience) -> Iterator[Sentence]:
    """What all variables of a product give away together."""
    parity = design.exact_parity()
    if not isinstance(parity, Fraction):
        yield Sentence("Some of these records prove something by themselves, so together they have no limit either.")
    elif audience == "respondent":
        yield belief(parity, "all your records together")
    else:
        yield Sentence(
            "All records of a person together shift anybody's odds by a factor of {parity} at most.",
            {"parity": decimal(parity, "parity", "up", 3)},
        )
