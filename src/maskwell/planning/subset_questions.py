"""Subset privacy in the field: several small variables as one, yes/no questions, and chances of sets that balance."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design
from maskwell.designs.kinds.conditional import ConditionalDesign
from maskwell.designs.named.conditional import conditional
from maskwell.errors import DataError, DesignError, EstimationError, ReportError
from maskwell.inference import Contrast, Estimate
from maskwell.numerics.linear_programs import minimise
from maskwell.results.result import Result
from maskwell.tables.labels import Label, as_labels, shown
from maskwell.tables.matching import read_column

_SEPARATOR = ", "
_LP_TOLERANCE = 1e-9
_SIMPLE_DENOMINATOR = 10**6


# Several variables as one.


@dataclass(frozen=True)
class Combination:
    """Variables with few categories each, seen as one with many: two yes/no questions make four categories."""

    levels: tuple[tuple[str, tuple[Label, ...]], ...]

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """One label per combination, the last variable changing fastest."""
        joint = itertools.product(*(labels for _, labels in self.levels))
        return tuple(_SEPARATOR.join(str(label) for label in labels) for labels in joint)

    def values(self, table: Any) -> NDArray[np.str_]:
        """The combined values of a table, given as columns by name."""
        joint: Any = 0
        sizes = set()
        for name, labels in self.levels:
            try:
                column = read_column(table[name], labels)
            except (KeyError, IndexError):
                raise DataError(f"the table must have a column {name!r}.") from None
            sizes.add(column.n)
            if len(sizes) > 1:
                raise DataError("the columns of a table must have equally many values.")
            joint = joint * len(labels) + column.codes(0, column.n).astype(np.int64)
        combined: NDArray[np.str_] = np.array(self.categories)[joint]
        return combined

    def marginal(self, estimate: Estimate, name: str) -> dict[Label, Contrast]:
        """The proportions of one variable, with standard errors, from an estimate of the combined one."""
        names = [variable for variable, _ in self.levels]
        if name not in names or estimate.design.categories != self.categories:
            raise EstimationError(f"marginal needs an estimate of this combination and one of {', '.join(names)}.")
        at = names.index(name)
        codes = np.indices([len(labels) for _, labels in self.levels])[at].ravel()
        return {label: estimate.contrast((codes == i).astype(float)) for i, label in enumerate(self.levels[at][1])}


def combine(variables: Mapping[str, Iterable[Any] | int]) -> Combination:
    """See several variables as one, for designs that need four categories or more.

    A single variable can be combined with an artificial one, such as the toss of a coin.

    >>> combine({"gender": ["f", "m"], "income": ["low", "high"]}).categories
    ('f, low', 'f, high', 'm, low', 'm, high')
    """
    if len(variables) < 2:
        raise DesignError(f"combine needs two variables or more; got {len(variables)}.")
    combination = Combination(tuple((str(name), as_labels(labels)) for name, labels in variables.items()))
    as_labels(combination.categories)  # labels that contain the separator could make two combinations look alike
    return combination


# Yes/no questions.


@dataclass(frozen=True)
class Question:
    """A question whose two answers are the two reports; respondents see the text only."""

    text: str
    if_yes: frozenset[Label]
    if_no: frozenset[Label]

    def __str__(self) -> str:
        return self.text


def question(design: Design, report: Iterable[Label]) -> Question:
    """The yes/no question that leads to a report: yes reports the set, no reports what it leaves out.

    For designs that can be carried out by asking, which report a set and its complement equally often: ``independent``
    and ``uniform_subsets``.

    >>> from maskwell.designs import uniform_subsets
    >>> question(uniform_subsets(["red", "green", "blue", "black"]), ["red", "blue"]).text
    'Is your answer one of these: red, blue?'
    """
    members = frozenset(report)
    unknown = members - frozenset(design.categories)
    if unknown:
        raise ReportError(f"a report names something that is not a category; categories: {shown(design.categories)}.")
    rest = frozenset(design.categories) - members
    if not _chance(design, members) or _chance(design, members) != _chance(design, rest):
        raise DesignError(
            f"{design.title} does not report this set and its complement equally often, so no yes/no question does it; "
            "use independent or uniform_subsets."
        )
    listed = ", ".join(str(category) for category in design.categories if category in members)
    return Question(f"Is your answer one of these: {listed}?", members, rest)


def _chance(design: Design, members: frozenset[Label]) -> Fraction:
    """The chance of a set given a truth that it holds, in a design whose reports always hold it; else 0."""
    row = design.exact_row(members)
    inside = {p for p, category in zip(row, design.categories, strict=True) if category in members}
    others = {p for p, category in zip(row, design.categories, strict=True) if category not in members}
    return inside.pop() if len(inside) == 1 and not any(others) else Fraction(0)


# What reports tell.


@dataclass(frozen=True)
class Identifiability(Result):
    """Whether reports determine all proportions; if not, ``reason`` names what they cannot tell apart."""

    holds: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds

    def _title(self) -> str:
        return f"the reports {'determine' if self.holds else 'do not determine'} all proportions"

    def _figures(self) -> dict[str, str]:
        return {"because": self.reason} if self.reason else {"identified": "yes"}


def identifiability(design: Design) -> Identifiability:
    """Whether a design's reports determine the proportions, decided before anything is collected.

    >>> from maskwell.designs import collapse
    >>> bool(identifiability(collapse(["a", "b", "c"], groups=[["a", "b"], ["c"]])))
    False
    """
    try:
        design.require_estimable()
    except EstimationError as error:
        return Identifiability(False, str(error))
    return Identifiability(True)


# Chances that balance.


def subset_weights(
    categories: Iterable[Any] | int,
    subsets: Iterable[Iterable[Label]] | Mapping[Any, float],
) -> dict[frozenset[Label], Fraction]:
    """Chances for ``conditional``: each category's sets sum to 1, as evenly over the allowed subsets as that permits.

    With a mapping, the chances are kept as close in proportion to its numbers: the least ratio of chance to number is
    made as large as it can be (a linear program). Subsets that cannot be used at all are left out.

    >>> weights = subset_weights(3, [(0, 1), (1, 2), (0, 2)])
    >>> [(sorted(members), str(chance)) for members, chance in weights.items()]
    [([0, 1], '1/2'), ([1, 2], '1/2'), ([0, 2], '1/2')]
    """
    labels = as_labels(categories)
    wanted = _wanted(labels, subsets)
    members = np.array([[label in subset for label in labels] for subset in wanted], float)
    numbers = np.array(list(wanted.values()))
    chances = _most_even(members, numbers)
    if chances is None:
        raise DesignError(_why_impossible(labels, members))
    found = {subset: _simple(chance) for subset, chance in zip(wanted, chances, strict=True) if chance > _LP_TOLERANCE}
    for label in labels:
        if sum((chance for subset, chance in found.items() if label in subset), Fraction(0)) != 1:
            # No simple fractions: floats as they are, which conditional balances in its integers.
            exact = zip(wanted, chances, strict=True)
            return {subset: Fraction(float(chance)) for subset, chance in exact if chance > _LP_TOLERANCE}
    return found


def _wanted(
    labels: tuple[Label, ...], subsets: Iterable[Iterable[Label]] | Mapping[Any, float]
) -> dict[frozenset[Label], float]:
    given = subsets if isinstance(subsets, Mapping) else {frozenset(subset): 1.0 for subset in subsets}
    wanted = {frozenset(subset): float(number) for subset, number in given.items()}
    if not wanted:
        raise DesignError("subsets must name at least one set of categories.", parameter="subsets")
    for subset, number in wanted.items():
        if not subset <= frozenset(labels) or not 2 <= len(subset) <= len(labels):
            raise DesignError(
                f"subsets must hold 2 or more of the categories {shown(labels)}; one holds {len(subset)} or others.",
                parameter="subsets",
            )
        if not 0 < number < np.inf:
            raise DesignError(f"subsets must be given positive numbers; one is {number}.", parameter="subsets")
    return wanted


def _most_even(members: NDArray[np.float64], numbers: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Chances with sums 1 whose least ratio to ``numbers``, over subsets that can be used, is largest; None if none."""
    usable = _usable(members)
    if not usable.any():
        return None
    n, k = int(usable.sum()), members.shape[1]
    # Variables: the chances and the least ratio t, with t numbers <= chances.
    result = minimise(
        np.append(np.zeros(n), -1.0),
        limited=np.hstack([-np.eye(n), numbers[usable, None] / numbers.max()]),
        limits=np.zeros(n),
        fixed=np.hstack([members[usable].T, np.zeros((k, 1))]),
        totals=np.ones(k),
    )
    chances = np.zeros(len(members))
    chances[usable] = result.x[:-1]
    return chances


def _usable(members: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The subsets that some balanced chances give a positive weight."""
    n, k = members.shape
    # Variables: parts between 0 and 1, non-negative rests, and the sum that every category reaches, whatever it is.
    balance = np.hstack([members.T, members.T, -np.ones((k, 1))])
    most = np.append(np.ones(n), np.full(n + 1, np.inf))
    found = minimise(np.append(-np.ones(n), np.zeros(n + 1)), fixed=balance, totals=np.zeros(k), most=most)
    return found.x[:n] > 0.5


def _why_impossible(labels: tuple[Label, ...], members: NDArray[np.float64]) -> str:
    """Scores that sum to more than 0 over all categories but to no more than 0 over any subset prove it."""
    uncovered = tuple(label for label, times in zip(labels, members.sum(axis=0), strict=True) if not times)
    if uncovered:
        return f"subsets must cover every category; none holds {shown(uncovered)}."
    k = len(labels)
    scores = minimise(-np.ones(k), limited=members, limits=np.zeros(len(members)), least=-1.0, most=1.0).x
    rare = tuple(label for label, score in zip(labels, scores, strict=True) if score > _LP_TOLERANCE)
    common = tuple(label for label, score in zip(labels, scores, strict=True) if score < -_LP_TOLERANCE)
    return (
        f"no chances of these subsets hold every category equally often: they hold {shown(common)} too often beside "
        f"{shown(rare)}; allow a subset with more of the latter."
    )


def _simple(chance: float) -> Fraction:
    return Fraction(float(chance)).limit_denominator(_SIMPLE_DENOMINATOR)


def balanced_design(
    categories: Iterable[Any] | int, subsets: Iterable[Iterable[Label]] | Mapping[Any, float]
) -> ConditionalDesign:
    """The conditional design on the allowed subsets, with the chances of ``subset_weights``."""
    labels = as_labels(categories)
    return conditional(labels, subset_probs=subset_weights(labels, subsets))
