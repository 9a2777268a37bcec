"""Sentences about what is recorded, how often it is what, and what it gives away; for readers without any training."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.auditing.audit import audit
from maskwell.designs.base import Design
from maskwell.designs.set_facts import SetFacts
from maskwell.words.sentences import Chance, Sentence, frequencies, plain
from maskwell.words.survey_procedures import quoted

# More lines than this are no longer read.
_MOST_LINES = 6


def recorded(design: Design, facts: SetFacts | None, told: bool) -> Iterator[Sentence]:
    """How a record comes about, unless the respondent was told, and how often it is what."""
    k = plain(design.k, "categories")
    if facts is not None and facts.most == 1:
        yield Sentence("Chance decides which of the {k} answers is recorded for you.", {"k": k})
    elif facts is not None:
        sizes = {"least": plain(facts.least, "least size"), "most": plain(facts.most, "most size")}
        if facts.least == facts.most:
            yield Sentence(
                "Chance puts together a list of {least} of the {k} answers, which is recorded for you.",
                {"k": k, "least": sizes["least"]},
            )
        else:
            yield Sentence(
                "Chance puts together a list of {least} to {most} of the {k} answers, which is recorded for you.",
                {"k": k, **sizes},
            )
    elif not told and is_certain(design):
        yield Sentence("Something less precise than your answer is recorded.")
    elif not told:
        yield Sentence("Chance decides, by your answer, what is recorded for you.")
    yield from how_often(design, facts)


def is_open(facts: SetFacts | None) -> bool:
    """Whether the record is the answer itself."""
    return facts is not None and facts.most == 1 and facts.truth_inside == 1


def is_certain(design: Design) -> bool:
    """Whether the answer alone decides the record."""
    matrix = design.small_matrix()
    return matrix is not None and all(p in (0, 1) for p in matrix.flat)


def how_often(design: Design, facts: SetFacts | None) -> Iterator[Sentence]:
    """How often a record is what, counted in people."""
    if facts is None:
        yield from _by_truth(design)
        return
    hit = Chance(facts.truth_inside, "truth recorded")
    miss = Chance(1 - facts.truth_inside, "truth not recorded")
    if facts.most == 1:
        yield Sentence(
            "Of {base} people with the same true answer, {hit} have it recorded and {miss} have another one.",
            frequencies(hit=hit, miss=miss),
        )
        return
    if miss.value:
        yield Sentence(
            "Of {base} people {hit} get a list with their true answer on it, and {miss} get one without it.",
            frequencies(hit=hit, miss=miss),
        )
    else:
        yield Sentence("The true answer is always on the list, among others that chance has added.")
    if facts.other_inside is not None and (facts.least < facts.most or miss.value):
        yield Sentence(
            "Any other given answer is on the lists of {other} of {base} people.",
            frequencies(other=Chance(facts.other_inside, "other recorded")),
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
            yield Sentence("Everybody whose true answer is {truth} has {record_a} recorded.", labels=labels)
            continue
        chances = {f"people_{i}": Chance(matrix[z, j], "chance", (reports[z], truth)) for i, z in rows.items()}
        parts = [f"{{people_{i}}} have {{record_{i}}}" for i in rows]
        listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
        yield Sentence(
            f"Of {{base}} people whose true answer is {{truth}}, {listed} recorded.", frequencies(**chances), labels
        )


def _shown(report: Any, design: Design) -> str:
    if not isinstance(report, frozenset):
        return quoted(report)
    return quoted(", ".join(str(c) for c in design.categories if c in report))


def given_away(design: Design, facts: SetFacts | None) -> Iterator[Sentence]:
    """What a record proves, where it proves something."""
    if not math.isinf(design.exact_parity()):
        return
    if facts is not None and facts.truth_inside == 1:
        yield from _always_listed(design, facts)
        return
    matrix = design.small_matrix()
    if matrix is None:
        yield Sentence("Some records show for certain that certain answers are not the true one.")
        return
    found = exclusions(design, matrix)
    for report, truth in found.certain[:_MOST_LINES]:
        yield Sentence(
            "Whoever sees the record {report} knows for certain that the true answer is {truth}.",
            labels={"report": _shown(report, design), "truth": quoted(truth)},
        )
    for report, out in found.partial[:_MOST_LINES]:
        yield Sentence(
            "Whoever sees the record {report} knows for certain that the true answer is not {out}.",
            labels={"report": _shown(report, design), "out": " or ".join(quoted(c) for c in out[:_MOST_LINES])},
        )
    more = max(len(found.certain) - _MOST_LINES, 0) + max(len(found.partial) - _MOST_LINES, 0)
    if more:
        yield Sentence("As many as {more} other records rule answers out.", {"more": plain(more, "further exclusions")})


class Exclusions(NamedTuple):
    """Reports that leave one truth possible, with that truth, and reports that rule out some, with those."""

    certain: tuple[tuple[Any, Any], ...]
    partial: tuple[tuple[Any, tuple[Any, ...]], ...]


def exclusions(design: Design, matrix: NDArray[np.object_]) -> Exclusions:
    """What reports rule out, from the zeros of the matrix."""
    certain, partial = [], []
    for report, row in zip(design.report_labels(), matrix, strict=True):
        possible = [c for c, p in zip(design.categories, row, strict=True) if p]
        if len(possible) == 1:
            certain.append((report, possible[0]))
        elif 0 < len(possible) < design.k:
            partial.append((report, tuple(c for c in design.categories if c not in possible)))
    return Exclusions(tuple(certain), tuple(partial))


def _always_listed(design: Design, facts: SetFacts) -> Iterator[Sentence]:
    off = design.k - facts.least
    if facts.least == facts.most and off > 1:
        yield Sentence(
            "Whoever sees the list knows for certain that none of the {off} answers left off it is the true one.",
            {"off": plain(off, "left off")},
        )
    else:
        yield Sentence("Whoever sees the list knows for certain that no answer left off it is the true one.")
    yield Sentence("Somebody who can rule out everything else on the list learns the true answer.")


def guess(design: Design) -> Sentence:
    """How often a stranger would be right, with the record and without."""
    return Sentence(
        "Somebody who knows nothing about you but makes the best of your record would guess your answer right "
        "{guess} times out of {base}; without the record, {blind} times.",
        frequencies(
            guess=Chance(audit(design).exact_guess_probability, "guess"),
            blind=Chance(Fraction(1, design.k), "blind guess"),
        ),
    )


def belief(parity: Fraction, record: str = "your record") -> Sentence:
    """How far the record can move somebody who is undecided."""
    return Sentence(
        f"If somebody thinks that the chance of an answer being yours is {{even}} in {{base}}, {record} can raise it "
        "to no more than {most} in {base}, and lower it to no less than {least} in {base}.",
        frequencies(
            most=Chance(parity / (1 + parity), "belief at most", rounding="up"),
            least=Chance(1 / (1 + parity), "belief at least", rounding="down"),
            even=Chance(Fraction(1, 2), "even belief"),
        ),
    )


def purpose(design: Design) -> Sentence:
    """Why it is done."""
    what = "how common some answers are together" if math.isinf(design.added_variance) else "how common each answer is"
    return Sentence(f"From the records of many people together it can be worked out {what}.")
