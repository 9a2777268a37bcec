"""From what a user asks of a matrix to the transition of one stratum. Labels decide everywhere, never positions."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from maskwell.advice import Advice, Alternatives, Setting
from maskwell.designs.base import Design
from maskwell.designs.channels.stages import ChainedChannel, chained, stage
from maskwell.errors import DataError, DesignError
from maskwell.exact import fraction
from maskwell.release.optimum.information import Optimum
from maskwell.release.pram.invariant import balanced_flows, drifting, mutual_flows, two_stage
from maskwell.release.pram.neighbours import kernel
from maskwell.tables.labels import shown

_TOLERANCE = Fraction(1, 10**9)


@dataclass(frozen=True, eq=False)
class Choice:
    """What was asked for: one of a matrix, a diagonal and a least diagonal, and what no move may do."""

    matrix: Any
    diagonal: Any
    least_diagonal: Any
    invariant: bool
    neighbours: Mapping[Any, Mapping[Any, float]] | None
    zeros: tuple[tuple[Any, Any], ...]
    exempt: frozenset[Any]

    def checked(self, labels: Sequence[Any], strata: Sequence[str]) -> Choice:
        """The choice, if it says one thing about these categories."""
        given = [name for name in ("matrix", "diagonal", "least_diagonal") if getattr(self, name) is not None]
        if len(given) != 1:
            raise DesignError(
                f"give one of matrix, diagonal and least_diagonal; got {' and '.join(given) or 'none of them'}."
            )
        if self.matrix is not None and self.neighbours is not None:
            raise DesignError("neighbours go with a diagonal; a matrix says itself where values move.")
        if _by_stratum(self.matrix) and not strata:
            raise DesignError("matrix has a design for each stratum, but no strata are named.", parameter="matrix")
        for pair in self.zeros:
            if len(pair) != 2:
                raise DesignError("zeros must list pairs (truth, report) of categories.", parameter="zeros")
            _refuse_unknown("zeros", pair, labels)
        if self.neighbours is not None and not set(labels) & set(self.neighbours):
            raise DesignError(f"neighbours name none of the {len(labels):,} categories of the column.")
        return dataclasses.replace(self, zeros=tuple((a, b) for a, b in self.zeros))


def _refuse_unknown(parameter: str, named: Iterable[Any], labels: Sequence[Any]) -> None:
    known = set(labels)
    for label in named:
        if label not in known:
            raise DesignError(
                f"{parameter} names {label!r}, which is not one of the {len(labels):,} categories of the column.",
                parameter=parameter,
            )


def read_exempt(exempt: Iterable[Any], labels: Sequence[Any]) -> frozenset[Any]:
    """The categories that stay out of it: those named, and missing values."""
    if isinstance(exempt, (str, bytes)):
        raise DesignError(f"exempt must be a list of categories; got the text {exempt!r}.", parameter="exempt")
    named = [tuple(label) if isinstance(label, list) else label for label in exempt]
    _refuse_unknown("exempt", named, labels)
    return frozenset((*named, *filter(is_missing, labels)))


def is_missing(label: Any) -> bool:
    """Whether a category is a missing value, or a combination with one."""
    return label is None or (isinstance(label, tuple) and None in label)


def transition(choice: Choice, labels: Sequence[Any], counts: Sequence[int], level: tuple[Any, ...]) -> ChainedChannel:
    """The transition of one stratum, whose categories have these frequencies."""
    names = [repr(label) for label in labels]
    if choice.matrix is not None:
        return _from_matrix(choice, labels, counts, level)
    exact = choice.diagonal is not None
    asked = _leaving(choice.diagonal if exact else choice.least_diagonal, labels, choice.exempt)
    moves = kernel(labels, choice.neighbours, choice.zeros, choice.exempt)
    if not choice.invariant:
        return drifting(asked, moves, names)
    # A category that does not occur, in this stratum, is neither left nor entered.
    leaving = [chance if t else Fraction(0) for chance, t in zip(asked, counts, strict=True)]
    return balanced_flows(counts, leaving, moves, names) if exact else mutual_flows(counts, leaving, moves)


def _leaving(diagonal: Any, labels: Sequence[Any], exempt: frozenset[Any]) -> list[Fraction]:
    """The chance of leaving each category, a decimal such as 0.8 taken at its face value."""
    if isinstance(diagonal, Mapping):
        _refuse_unknown("diagonal", diagonal, labels)
        absent = [label for label in labels if label not in diagonal and label not in exempt]
        if absent:
            raise DesignError(
                f"diagonal must name every category; {len(absent):,} of {len(labels):,} are not named.",
                parameter="diagonal",
            )
    chances = []
    for label in labels:
        if label in exempt:
            chances.append(Fraction(0))
            continue
        value = diagonal[label] if isinstance(diagonal, Mapping) else diagonal
        stay = _decimal(value, "diagonal")
        if not 0 <= stay <= 1:
            raise DesignError(f"diagonal must lie between 0 and 1; got {value!r}.", parameter="diagonal")
        chances.append(1 - stay)
    return chances


def _decimal(value: Any, name: str) -> Fraction:
    """The number that a float is printed as: 0.8 is 4/5."""
    number = value.item() if isinstance(value, np.generic) else value
    exact = fraction(number, name, DesignError)
    return Fraction(repr(number)) if isinstance(number, float) else exact


def _by_stratum(matrix: Any) -> bool:
    given = list(matrix.values()) if isinstance(matrix, Mapping) else []
    return bool(given) and all(_is_design(one) for one in given)


def _is_design(matrix: Any) -> TypeGuard[Design | Optimum]:
    # A matrix may be given as a design, as an optimum, or entry by entry, and one for each stratum.
    return isinstance(matrix, (Design, Optimum))


def _from_matrix(
    choice: Choice, labels: Sequence[Any], counts: Sequence[int], level: tuple[Any, ...]
) -> ChainedChannel:
    matrix = choice.matrix
    if _by_stratum(matrix):
        stratum = level[0] if len(level) == 1 else level
        if stratum not in matrix:
            raise DesignError(
                f"matrix has no design for {len(matrix)} of the strata that occur; give one for each.",
                parameter="matrix",
            )
        matrix = matrix[stratum]
    start = _entries(matrix, labels, choice.exempt)
    _hold(start, labels, choice)
    if not choice.invariant:
        columns = [_whole(list(start[:, j])) for j in range(len(labels))]
        return chained(stage(list(zip(*columns, strict=True))))
    path = two_stage(start, counts)
    _refuse_forbidden(path, labels, choice.zeros)
    return path


def _labelled(matrix: Design | Optimum) -> tuple[Design, Sequence[Any], Sequence[Any]]:
    """A design with the names of its truths and reports; an optimum of joint cells names them by tuples."""
    if isinstance(matrix, Optimum) and matrix.restricted:
        return matrix.design, matrix.labels, matrix.labels
    design = matrix.design if isinstance(matrix, Optimum) else matrix
    return design, design.categories, design.report_labels()


def _entries(matrix: Any, labels: Sequence[Any], exempt: frozenset[Any]) -> NDArray[np.object_]:
    """``P[report, truth]`` over the categories that occur."""
    if _is_design(matrix):
        design, truths, reports = _labelled(matrix)
        exact = design.matrix(exact=True)
        columns = {truth: dict(zip(reports, exact[:, j].tolist(), strict=True)) for j, truth in enumerate(truths)}
    elif isinstance(matrix, Mapping) and all(isinstance(column, Mapping) for column in matrix.values()):
        columns = {truth: {r: _decimal(p, "matrix") for r, p in column.items()} for truth, column in matrix.items()}
    else:
        raise DesignError(
            f"matrix must say which category is which; got {type(matrix).__name__}. Pass "
            "designs.from_matrix(P, categories), whose columns are truths, or {truth: {report: chance}}.",
            parameter="matrix",
        )
    position = {label: i for i, label in enumerate(labels)}
    entries = np.full((len(labels), len(labels)), Fraction(0), dtype=object)
    for j, truth in enumerate(labels):
        if truth not in columns:
            if truth not in exempt:
                raise DataError(
                    f"matrix has no column for {len(set(labels) - set(columns) - exempt)} of the categories "
                    f"that occur; it knows {shown(tuple(columns))}.",
                    parameter="matrix",
                )
            entries[j, j] = Fraction(1)
            continue
        for report, chance in columns[truth].items():
            if report not in position and chance:
                raise DesignError(
                    f"matrix moves values to {report!r}, which does not occur in the table; leave it out of the matrix."
                )
            if report in position:
                entries[position[report], j] = chance
        entries[j, j] += _left_over(columns[truth], truth)
    return entries


def _left_over(column: Mapping[Any, Fraction], truth: Any) -> Fraction:
    """What a column lacks to sum to 1: the rounding of decimals, or it is refused."""
    times = Counter((p.numerator, p.denominator) for p in column.values())
    total = sum((Fraction(*chance) * count for chance, count in times.items()), Fraction(0))
    if abs(total - 1) > _TOLERANCE or min(numerator for numerator, _ in times) < 0:
        raise DesignError(
            f"matrix must hold chances that sum to 1 over the reports of each truth; those of {truth!r} sum to "
            f"{float(total):.6g}. Columns are truths: transpose it if its rows sum to 1.",
            parameter="matrix",
        )
    return 1 - total


def _hold(entries: NDArray[np.object_], labels: Sequence[Any], choice: Choice) -> None:
    """Moves that must not happen become staying, in place."""
    position = {label: i for i, label in enumerate(labels)}
    pairs = [(position[report], position[truth]) for truth, report in choice.zeros]
    for label in choice.exempt:
        e = position[label]
        pairs += [(e, j) for j in range(len(labels)) if j != e] + [(i, e) for i in range(len(labels)) if i != e]
    for i, j in pairs:
        if i != j:
            entries[j, j] += entries[i, j]
            entries[i, j] = Fraction(0)


def _whole(column: list[Fraction]) -> list[int]:
    from maskwell.designs.rounding import integer_matrix

    weights, _ = integer_matrix(np.array([[p] for p in column], dtype=object))
    return [int(w) for w in weights[:, 0]]


def _refuse_forbidden(path: ChainedChannel, labels: Sequence[Any], zeros: Iterable[tuple[Any, Any]]) -> None:
    position = {label: i for i, label in enumerate(labels)}
    if any(path.floats[position[report], position[truth]] > 0 for truth, report in zeros if truth != report):
        raise DesignError(
            Advice(
                "the second stage would make a move that zeros forbid, by way of a third category; use ",
                Alternatives([("diagonal= with zeros, which never does",), (Setting("invariant", False),)]),
                ".",
            )
        )
