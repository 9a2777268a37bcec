"""Several designs for the same question: what each gives, and which of them serves every analysis better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np

from maskwell.auditing import Audit, audit
from maskwell.designs.base import Design
from maskwell.errors import DesignError
from maskwell.ordering import Domination, dominates
from maskwell.ordering.size_rules import SizeTransition
from maskwell.planning import Match, match_added_variance
from maskwell.results.numbers import figure, limit
from maskwell.results.result import Result
from maskwell.tables.labels import shown

_SAME = 1e-9
_MOST_CELLS = 2_000


@dataclass(frozen=True)
class Comparison(Result):
    """The audits of the designs, by name."""

    audits: dict[str, Audit]

    @property
    def names(self) -> list[str]:
        """The names of the designs, in the order in which they were given."""
        return list(self.audits)

    @cached_property
    def order(self) -> dict[tuple[str, str], Domination | str]:
        """For each ordered pair whether the first serves every analysis as well as the second, with its proof.

        Where that cannot be decided, the reason.
        """
        return {pair: self._dominates(*pair) for pair in permutations(self.names, 2)}

    def _dominates(self, better: str, worse: str) -> Domination | str:
        try:
            return dominates(self.audits[better].design, self.audits[worse].design)
        except DesignError as error:
            return str(error)

    @cached_property
    def matches(self) -> dict[str, Match]:
        """The minimax design that is as precise as each; none for a design that adds no variance or cannot estimate."""
        variances = {name: result.added_variance for name, result in self.audits.items()}
        k = next(iter(self.audits.values())).design.k
        return {name: match_added_variance(k, v) for name, v in variances.items() if 0 < v < math.inf}

    def reason(self, better: str, worse: str) -> str:
        """Why the first does or does not serve every analysis as well as the second."""
        found = self.order[better, worse]
        if isinstance(found, str):
            return found
        if found.holds:
            return (
                f"a second draw from each report of {better}, made without the truth, gives {worse} "
                f"(largest relative error {found.slack:.1e})"
            )
        limits = [self.audits[name].parity for name in (better, worse)]
        if limits[1] > limits[0] * (1 + _SAME):
            reach = f"by a factor of {limit(limits[1])}" if math.isfinite(limits[1]) else "without limit"
            return (
                f"a report of {worse} can shift odds {reach}, one of {better} by {limit(limits[0])} at most, and no "
                "second draw raises that"
            )
        witness = found.witness
        assert witness is not None
        return (
            f"there is a bet with which {worse} earns {figure(witness.value_worse)} and {better} "
            f"{figure(witness.value_better)} at most"
        )

    def verdicts(self) -> list[str]:
        """What the comparison shows, in plain sentences: exposure first, then the order, then the extremes."""
        return [*self._exposures(), *self._orders(), *self._extremes()]

    def _exposures(self) -> list[str]:
        exposing = {name: result for name, result in self.audits.items() if result.exposure}
        sentences = [
            f"{name} exposes the respondent: with chance {figure(float(result.exposure))} the report proves the true "
            "answer to anyone who sees it."
            for name, result in exposing.items()
        ]
        safe = [name for name in self.names if name not in exposing]
        if exposing and safe:
            sentences.append(f"{listed(safe)} never {_verb(safe, 'proves', 'prove')} an answer.")
        for one, other in combinations(self.names, 2):
            phi = [self.audits[name].average_security for name in (one, other)]
            if abs(phi[0] - phi[1]) <= _SAME and (one in exposing) != (other in exposing):
                worse = one if one in exposing else other
                sentences.append(
                    f"{one} and {other} have the same average security, φ = {figure(phi[0])}, and yet only {worse} "
                    "exposes the respondent: average security does not see the difference."
                )
        return sentences

    def _orders(self) -> list[str]:
        sentences, unordered = [], []
        for one, other in combinations(self.names, 2):
            words = _order(self, one, other)
            if words:
                sentences.append(words)
            else:
                unordered.append(f"{one} and {other}")
        if unordered:
            sentences.append(
                f"Of {'; of '.join(unordered)}: neither serves every analysis, each is better for some use."
            )
        # What should be done comes first.
        return sorted(sentences, key=lambda words: "should replace" not in words)

    def _extremes(self) -> list[str]:
        bounded = {n: a.epsilon for n, a in self.audits.items() if math.isfinite(a.epsilon)}
        precise = {n: a.added_variance for n, a in self.audits.items() if math.isfinite(a.added_variance)}
        sentences = []
        for values, of, what in (
            (bounded, len(bounded), "the smallest ε"),
            (precise, len(precise), "the least variance"),
        ):
            best = [n for n, v in values.items() if v <= min(values.values()) * (1 + _SAME)]
            if best and len(best) < of:
                verb = "has" if values is bounded else "adds"
                plural = "have" if values is bounded else "add"
                value = (limit if values is bounded else figure)(values[best[0]])
                sentences.append(f"Of all, {listed(best)} {_verb(best, verb, plural)} {what}, {value}.")
        return sentences

    def _title(self) -> str:
        return f"{listed(self.names)} compared"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        audits = self.audits.values()
        return {
            "design": self.names,
            "ε": [limit(found.epsilon) for found in audits],
            "right guesses": [found.guess_probability for found in audits],
            "added variance": [found.added_variance for found in audits],
            "admissible": ["yes" if found.admissible else "NO" for found in audits],
        }

    def _remarks(self) -> list[str]:
        return self.verdicts()

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "verdicts": self.verdicts(),
            "designs": {name: result.to_dict() for name, result in self.audits.items()},
            "order": [_stored(pair, found) for pair, found in self.order.items()],
            "matched_minimax": {name: vars(match) for name, match in self.matches.items()},
        }


def compare_designs(designs: Mapping[str, Design], prior: Any = None) -> Comparison:
    """Compare designs for the same categories, in whatever order each has them.

    >>> from maskwell.designs import rappor, trimmed_rappor
    >>> both = compare_designs({"rappor": rappor(4, epsilon=1), "trimmed": trimmed_rappor(4, epsilon=1)})
    >>> bool(both.order["trimmed", "rappor"]), bool(both.order["rappor", "trimmed"])
    (True, False)
    """
    if len(designs) < 2:
        raise DesignError(f"a comparison needs two designs or more; got {len(designs)}.")
    (first, reference), *others = designs.items()
    for name, design in others:
        odd = tuple(set(reference.categories) ^ set(design.categories))
        if odd:
            raise DesignError(
                f"{first} and {name} are not for the same categories: only one of them has {shown(odd)}; "
                "build both for the same labels."
            )
    return Comparison({name: audit(design, prior) for name, design in designs.items()})


def listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verb(names: Sequence[str], singular: str, plural: str) -> str:
    return singular if len(names) == 1 else plural


def _order(comparison: Comparison, one: str, other: str) -> str:
    """The verdict on a pair; empty if neither serves every analysis as well as the other."""
    there, back = comparison.order[one, other], comparison.order[other, one]
    if isinstance(there, str) or isinstance(back, str):
        reason = there if isinstance(there, str) else back
        return f"Whether {one} or {other} serves every analysis better is not decided: {reason}"
    if there and back:
        return f"{one} and {other} tell exactly the same: each can be drawn from the other's reports."
    if not there and not back:
        return ""
    better, worse = (one, other) if there else (other, one)
    parities = [comparison.audits[name].parity for name in (better, worse)]
    if parities[0] <= parities[1] * (1 + _SAME) and math.isfinite(parities[0]):
        return (
            f"{better} should replace {worse}: it is as private (parity {limit(parities[0])} against "
            f"{limit(parities[1])}) and serves every analysis at least as well."
        )
    return (
        f"{better} tells more than {worse} for every analysis, and protects less: the reports of {worse} can be drawn "
        f"from those of {better}."
    )


def _stored(pair: tuple[str, str], found: Domination | str) -> dict[str, Any]:
    row: dict[str, Any] = {"better": pair[0], "worse": pair[1]}
    if isinstance(found, str):
        return {**row, "dominates": None, "why": found}
    row |= {"dominates": found.holds, "slack": found.slack, "why": found.why}
    if found.witness is not None:
        row["witness"] = {"value_better": found.witness.value_better, "value_worse": found.witness.value_worse}
    return {**row, **proof(found)}


def proof(found: Domination) -> dict[str, Any]:
    """The proof as lists: C or the payoffs where they are small, else the moves between set sizes."""
    table = proof_table(found)
    if table is not None:
        return {"C" if found.holds else "payoffs": table.tolist()}
    if isinstance(found.transition, SizeTransition):
        return {"moves": [move._asdict() for move in found.transition.moves]}
    return {}


def proof_table(found: Domination) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """C, or the payoffs against it; None if they are too large to be read."""
    try:
        table = found.C if found.holds else found.witness.payoffs if found.witness else None
    except DesignError:
        return None
    return table if table is not None and table.size <= _MOST_CELLS else None
