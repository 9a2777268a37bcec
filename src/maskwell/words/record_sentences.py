"""Sentences about what is recorded, how often it is what, and what it gives away; for readers without any training."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from maskwell.auditing import audit
from maskwell.designs.base import Design
from maskwell.designs.set_facts import SetFacts
from maskwell.words.sentences import Chance, Sentence, frequencies, plain, quoted, say

# More lines than this are no longer read.
_MOST_LINES = 6


def recorded(design: Design, sets: SetFacts | None, told: bool) -> Iterator[Sentence]:
    """How a record comes about, unless the respondent was told, and how often it is what."""
    k = plain(design.k, "categories")
    if sets is not None and sets.most == 1:
        yield say("Chance decides which of the {k} answers is recorded for you.", k=k)
    elif sets is not None:
        size = "{least}" if sets.least == sets.most else "{least} to {most}"
        yield say(
            f"Chance puts together a list of {size} of the {{k}} answers, which is recorded for you.",
            k=k,
            least=plain(sets.least, "least size"),
            most=plain(sets.most, "most size"),
        )
    elif not told and is_certain(design):
        yield say("Something less precise than your answer is recorded.")
    elif not told:
        yield say("Chance decides, by your answer, what is recorded for you.")
    yield from how_often(design, sets)


def is_open(sets: SetFacts | None) -> bool:
    """Whether the record is the answer itself."""
    return sets is not None and sets.most == 1 and sets.truth_inside == 1


def is_certain(design: Design) -> bool:
    """Whether the answer alone decides the record."""
    matrix = design.small_matrix()
    return matrix is not None and all(p in (0, 1) for p in matrix.flat)


def how_often(design: Design, sets: SetFacts | None) -> Iterator[Sentence]:
    """How often a record is what, counted in people."""
    if sets is None:
        yield from _by_truth(design)
        return
    hit = Chance(sets.truth_inside, "truth recorded")
    miss = Chance(1 - sets.truth_inside, "truth not recorded")
    counts = frequencies(hit=hit, miss=miss)
    if sets.most == 1:
        yield say(
            "Of {base} people with the same true answer, {hit} have it recorded and {miss} have another one.", **counts
        )
        return
    if miss.value:
        yield say(
            "Of {base} people {hit} get a list with their true answer on it, and {miss} get one without it.", **counts
        )
    else:
        yield say("The true answer is always on the list, among others that chance has added.")
    if sets.other_inside is not None and (sets.least < sets.most or miss.value):
        yield say(
            "Any other given answer is on the lists of {other} of {base} people.",
            **frequencies(other=Chance(sets.other_inside, "other recorded")),
        )


def _by_truth(design: Design) -> Iterator[Sentence]:
    """One sentence for each true answer, if they are few."""
    matrix = design.small_matrix()
    if matrix is None or design.k > _MOST_LINES:
        return
    reports = design.report_labels()
    for j, truth in enumerate(design.categories):
        rows = {chr(ord("a") + i): z for i, z in enumerate(z for z in range(len(reports)) if matrix[z, j])}
        if len(rows) > _MOST_LINES:
            continue
        labels = {"truth": quoted(truth), **{f"record_{i}": _shown(reports[z], design) for i, z in rows.items()}}
        if len(rows) == 1:
            yield say("Everybody whose true answer is {truth} has {record_a} recorded.", **labels)
            continue
        chances = {f"people_{i}": Chance(matrix[z, j], "chance", (reports[z], truth)) for i, z in rows.items()}
        *parts, last = [f"{{people_{i}}} have {{record_{i}}}" for i in rows]
        yield say(
            f"Of {{base}} people whose true answer is {{truth}}, {', '.join(parts)} and {last} recorded.",
            **frequencies(**chances),
            **labels,
        )


def _shown(report: Any, design: Design) -> str:
    if not isinstance(report, frozenset):
        return quoted(report)
    return quoted(", ".join(str(c) for c in design.categories if c in report))


def given_away(design: Design, sets: SetFacts | None) -> Iterator[Sentence]:
    """What a record proves, where it proves something."""
    if not math.isinf(design.exact_parity()):
        return
    if sets is not None and sets.truth_inside == 1:
        yield from _always_listed(design, sets)
        return
    matrix = design.small_matrix()
    if matrix is None:
        yield say("Some records show for certain that certain answers are not the true one.")
        return
    certain, partial = [], []
    for report, row in zip(design.report_labels(), matrix, strict=True):
        possible = [c for c, p in zip(design.categories, row, strict=True) if p]
        ruled_out = [quoted(c) for c, p in zip(design.categories, row, strict=True) if not p]
        record = "Whoever sees the record {report} knows for certain that the true answer is"
        if len(possible) == 1:
            certain.append(say(f"{record} {{truth}}.", report=_shown(report, design), truth=quoted(possible[0])))
        elif possible and ruled_out:
            out = " or ".join(ruled_out[:_MOST_LINES])
            partial.append(say(f"{record} not {{out}}.", report=_shown(report, design), out=out))
    yield from certain[:_MOST_LINES]
    yield from partial[:_MOST_LINES]
    if more := len(certain[_MOST_LINES:]) + len(partial[_MOST_LINES:]):
        yield say("As many as {more} other records rule answers out.", more=plain(more, "further exclusions"))


def _always_listed(design: Design, sets: SetFacts) -> Iterator[Sentence]:
    off = design.k - sets.least
    if sets.least == sets.most and off > 1:
        yield say(
            "Whoever sees the list knows for certain that none of the {off} answers left off it is the true one.",
            off=plain(off, "left off"),
        )
    else:
        yield say("Whoever sees the list knows for certain that no answer left off it is the true one.")
    yield say("Somebody who can rule out everything else on the list learns the true answer.")


def guess(design: Design) -> Sentence:
    """How often a stranger would be right, with the record and without."""
    return say(
        "Somebody who knows nothing about you but makes the best of your record would guess your answer right "
        "at most {guess} times out of {base}; without the record, {blind} times.",
        **frequencies(
            guess=Chance(audit(design).exact_guess_probability, "guess", rounding="up"),
            blind=Chance(Fraction(1, design.k), "blind guess"),
        ),
    )


def belief(parity: Fraction, record: str = "your record") -> Sentence:
    """How far the record can move somebody who is undecided."""
    return say(
        f"If somebody thinks that the chance of an answer being yours is {{even}} in {{base}}, {record} can raise it "
        "to no more than {most} in {base}, and lower it to no less than {least} in {base}.",
        **frequencies(
            most=Chance(parity / (1 + parity), "belief at most", rounding="up"),
            least=Chance(1 / (1 + parity), "belief at least", rounding="down"),
            even=Chance(Fraction(1, 2), "even belief"),
        ),
    )


def purpose(design: Design) -> Sentence:
    """Why it is done."""
    what = "how common some answers are together" if math.isinf(design.added_variance) else "how common each answer is"
    return say(f"From the records of many people together it can be worked out {what}.")
