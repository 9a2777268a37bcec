"""What reports are worth to a reader with any aim: the leakage of a design for a gain of the reader's own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from maskwell.designs.base import Design, Vector
from maskwell.designs.channels.leakage.gains import Gains, worth_by_guess, worth_of_reports
from maskwell.designs.storage import about
from maskwell.errors import DesignError
from maskwell.exact import given_fraction
from maskwell.limits import MOST_WEIGHTS
from maskwell.results.numbers import figure, limit
from maskwell.results.result import Result


@dataclass(frozen=True, repr=False)
class GainLeakage(Result):
    """What the best guess is worth without a report and with one; ``guesses`` counts what the reader may guess.

    ``best_guess`` is the guess that is worth most without a report, the first of them if several are. Figures are
    fractions, except that the vulnerability with a report is a float where reports are too many to list.
    ``exact_bound`` is the Bayes capacity, the sum over reports of their largest chance: no prior and no gain, of those
    that are never negative, has a larger ``multiplicative`` leakage.
    """

    design: Design
    guesses: int
    best_guess: Any
    exact_prior_vulnerability: Fraction
    exact_posterior_vulnerability: Fraction | float
    exact_bound: Fraction

    @property
    def prior_vulnerability(self) -> float:
        """What the best guess gains on average without a report."""
        return float(self.exact_prior_vulnerability)

    @property
    def posterior_vulnerability(self) -> float:
        """What the best guess from a report gains on average."""
        return float(self.exact_posterior_vulnerability)

    @property
    def multiplicative(self) -> float:
        """By which factor reports raise the average gain; 1 if they are of no use for it."""
        return float(self.exact_posterior_vulnerability / self.exact_prior_vulnerability)

    @property
    def bits(self) -> float:
        """The same factor as its logarithm to base 2."""
        return math.log2(self.multiplicative)

    @property
    def additive(self) -> float:
        """How much reports add to the average gain."""
        return float(self.exact_posterior_vulnerability - self.exact_prior_vulnerability)

    @property
    def bound(self) -> float:
        """``exact_bound`` as the nearest float."""
        return float(self.exact_bound)

    def _title(self) -> str:
        return f"leakage of a {self.design.title} design for {self.design.k:,} categories and a gain of the reader"

    def _figures(self) -> dict[str, Any]:
        return {
            "guesses": self.guesses,
            "best guess without a report": str(self.best_guess),
            "gain without a report": figure(self.exact_prior_vulnerability),
            "gain with a report": figure(self.exact_posterior_vulnerability),
            "multiplicative leakage": figure(self.multiplicative),
            "its bound for any gain and prior": limit(self.exact_bound),
            "additive leakage": figure(self.additive),
        }

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON can hold them: exact ones as text."""
        plain = ("prior_vulnerability", "posterior_vulnerability", "multiplicative", "bits", "additive", "bound")
        exact = ("exact_prior_vulnerability", "exact_posterior_vulnerability", "exact_bound")
        return {
            "design": about(self.design),
            "guesses": self.guesses,
            "best_guess": str(self.best_guess),
            **{name: getattr(self, name) for name in plain},
            **{name: str(getattr(self, name)) for name in exact},
        }

    def __repr__(self) -> str:
        return (
            f"<gain leakage of a {self.design.title} design: {figure(self.prior_vulnerability)} without a report, "
            f"{figure(self.posterior_vulnerability)} with one>"
        )


def gain_leakage(design: Design, prior: Vector | None, gain: Any) -> GainLeakage:
    """The leakage for a gain under prior weights; None for categories that are all alike."""
    read = read_gain(gain, design)
    weights = [Fraction(w) for w in ([1] * design.k if prior is None else prior.tolist())]
    total = sum(weights)
    exact_prior = [w / total for w in weights]
    worth = worth_by_guess(exact_prior, read.gains)
    before = max(worth)
    if not before:
        raise DesignError(
            "gain is 0 wherever the prior is positive, so that nothing can leak; give a gain for a category that "
            "occurs.",
            parameter="gain",
        )
    after = worth_of_reports(design.channel, exact_prior, read.gains)
    # A report never lowers what the best guess is worth; round-off in a float might.
    after = max(before, after)
    bound = design.k * Fraction(design.channel.leakage(None).prediction())
    return GainLeakage(design, len(worth), read.guesses[worth.index(before)], before, after, bound)


class Gain(NamedTuple):
    """The guesses of a reader, and the gains that are not 0 by guess and number of the category."""

    guesses: list[Any]
    gains: Gains


def read_gain(gain: Any, design: Design) -> Gain:
    """A gain as the caller wrote it: guess -> {truth: gain}, or a matrix with one row a guess.

    >>> from maskwell.designs import warner
    >>> read_gain({"pay": {"yes": 3}}, warner(truth_prob=0.75))
    Gain(guesses=['pay'], gains=[{0: Fraction(3, 1)}])
    """
    rows = _named(gain, design) if isinstance(gain, Mapping) else _numbered(gain, design)
    if not rows:
        raise _refused("has no guess", "name at least one guess and what it gains")
    gains = []
    for guess, row in rows.items():
        exact = {at: _entry(value, guess) for at, value in row.items()}
        gains.append({at: value for at, value in exact.items() if value})
    return Gain(list(rows), gains)


def _named(gain: Mapping[Any, Any], design: Design) -> dict[Any, dict[int, Any]]:
    numbers = {label: at for at, label in enumerate(design.categories)}
    rows = {}
    for guess, row in gain.items():
        if not isinstance(row, Mapping):
            raise _refused(f"of guess {guess!r} is no mapping", "give a mapping from category to gain")
        if unknown := [label for label in row if label not in numbers]:
            reason = f"of guess {guess!r} names {unknown[0]!r}, which is no category of the design"
            raise _refused(reason, "use the labels in design.categories")
        rows[guess] = {numbers[label]: value for label, value in row.items()}
    return rows


def _numbered(gain: Any, design: Design) -> dict[Any, dict[int, Any]]:
    try:
        rows = [list(row) for row in (gain.tolist() if hasattr(gain, "tolist") else gain)]
    except TypeError:
        raise _refused(
            "is neither a mapping nor a matrix", "give guess -> {category: gain}, or rows by guess"
        ) from None
    for at, row in enumerate(rows):
        if len(row) != design.k:
            reason = f"has {len(row)} entries in row {at} where the design has {design.k} categories"
            raise _refused(reason, "give one row per guess and one column per category")
    if len(rows) * design.k > MOST_WEIGHTS:
        raise _refused(f"has more than {MOST_WEIGHTS:,} cells", "give a mapping that leaves out what is 0")
    return {at: dict(enumerate(row)) for at, row in enumerate(rows)}


def _entry(value: Any, guess: Any) -> Fraction:
    try:
        exact = given_fraction(value, f"gain of guess {guess!r}", DesignError)
    except DesignError as error:
        raise DesignError(error.message, parameter="gain") from None
    if exact < 0:
        raise _refused(f"of guess {guess!r} is negative ({figure(exact)})", "add the largest loss to every gain")
    return exact


def _refused(reason: str, remedy: str) -> DesignError:
    return DesignError(f"gain {reason}; {remedy}.", parameter="gain")
