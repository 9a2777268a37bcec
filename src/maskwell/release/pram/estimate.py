r"""Counts and tables from a post-randomized file, through the matrices of its plan.

A table that has only the columns of one invariant step (and its strata) is unbiased as it is. Any other table is
corrected: within a stratum, and for each combination of the columns that were not changed, the expected table is the
true one times the Kronecker product of the steps' matrices, which is inverted. Given the true table T, the released
one, S, has covariance :math:`D_{PT} - P D_T P'`; the estimate replaces T and PT by their unbiased estimates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.errors import DataError, EstimationError
from maskwell.release.pram.step import Step
from maskwell.results.result import Result
from maskwell.risk.frequencies import group
from maskwell.tables.codes import Coded, Floats, Ints
from maskwell.tables.encoded import encoded
from maskwell.tables.frames import names_of

_MOST_CELLS = 1500
_SINGULAR = 1e12


@dataclass(frozen=True, eq=False, repr=False)
class PramEstimate(Result):
    """Estimated counts by cell, unbiased and therefore not clipped: they may be negative."""

    columns: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    counts: Floats
    masking_covariance: Floats
    """The estimated covariance of ``counts`` that post-randomization causes, given the true table."""
    n: int

    @property
    def proportions(self) -> Floats:
        """``counts / n``."""
        return self.counts / self.n

    @property
    def masking_errors(self) -> Floats:
        """The standard errors of the proportions that post-randomization alone causes."""
        return np.sqrt(np.maximum(np.diag(self.masking_covariance), 0)) / self.n

    @property
    def standard_errors(self) -> Floats:
        """The standard errors of the proportions, for a simple random sample: sampling and post-randomization."""
        p = np.clip(self.proportions, 0, 1)
        return np.sqrt(self.masking_errors**2 + p * (1 - p) / self.n)

    def _title(self) -> str:
        return f"estimated counts of {len(self.counts):,} cells by {', '.join(self.columns)} from {self.n:,} records"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        levels = {name: [cell[i] for cell in self.labels] for i, name in enumerate(self.columns)}
        figures = {"count": self.counts, "proportion": self.proportions, "proportion_error": self.standard_errors}
        return levels | figures | {"proportion_masking_error": self.masking_errors}

    def __repr__(self) -> str:
        return f"<estimate of {len(self.counts)} cells by {', '.join(self.columns)} from {self.n} records>"


def estimate(all_steps: Sequence[Step], table: Any, of: Sequence[str] | str | None = None) -> PramEstimate:
    """The true counts by the columns ``of``, estimated from a released table."""
    names = all_steps[-1].columns if of is None else names_of(of, "of")
    steps = [step for step in all_steps if set(step.columns) & set(names)]
    masked = {column for step in steps for column in step.columns}
    rest_names = [name for name in names if name not in masked]
    strata_names = list(dict.fromkeys(name for step in steps for name in step.strata))
    wanted = list(dict.fromkeys((*masked, *rest_names, *strata_names)))
    held = encoded(table)
    held.arrays(wanted)  # an error if one is not there
    coded = {name: held.coded(name) for name in wanted}
    n = len(coded[wanted[0]].codes)

    shape = [len(step.labels) for step in steps]
    K = math.prod(shape)
    if K > _MOST_CELLS:
        raise EstimationError(
            f"of asks for a joint table of {K} masked cells (limit {_MOST_CELLS}); name fewer columns."
        )
    cell = np.zeros(n, np.int64)
    for step in steps:
        cell = cell * len(step.labels) + positions(step, coded)
    stratum, h_first = _grouped([coded[name] for name in strata_names], n)
    rest, r_first = _grouped([coded[name] for name in rest_names], n)
    as_it_is = len(steps) == 1 and set(rest_names) <= set(steps[0].strata) and steps[0].keeps_frequencies

    fold, kept = _fold(steps, names)
    R, k = len(r_first), len(fold)
    totals, covariance = np.zeros((R, k)), np.zeros((R, k, k))
    pairs, first = group([stratum, rest], [len(h_first), R], n)
    counts = np.zeros((len(first), K))
    np.add.at(counts, (pairs, cell), 1)
    paths: dict[int, tuple[Floats, Floats]] = {}
    for released, row in zip(counts, first.tolist(), strict=True):
        h, r = int(stratum[row]), int(rest[row])
        if h not in paths:
            paths[h] = _matrix_pair(steps, strata_names, coded, int(h_first[h]), as_it_is)
        P, back = paths[h]
        true = back @ released
        spread = np.diag(released) - (P * true) @ P.T
        totals[r] += fold @ true
        covariance[r] += fold @ back @ spread @ back.T @ fold.T
    labels = _labels(names, kept, rest_names, coded, r_first)
    whole = np.zeros((R * k, R * k))
    for r in range(R):
        whole[r * k : (r + 1) * k, r * k : (r + 1) * k] = covariance[r]
    return PramEstimate(tuple(names), labels, totals.ravel(), whole, n)


def positions(step: Step, coded: dict[str, Coded]) -> Ints:
    """The category of every row among those of the plan, by label."""
    position = {label: i for i, label in enumerate(step.labels)}
    columns = [coded[name] for name in step.columns]
    index, first = _grouped(columns, len(columns[0].codes))
    labels = [tuple(column.labels[column.codes[row]] for column in columns) for row in first.tolist()]
    codes = [position.get(label[0] if len(columns) == 1 else label, -1) for label in labels]
    if -1 in codes:
        unknown = int((np.array(codes)[index] < 0).sum())
        raise DataError(f"{', '.join(step.columns)} hold categories that the plan does not know in {unknown} rows.")
    positions: Ints = np.array(codes)[index]
    return positions


def _grouped(columns: Sequence[Coded], n: int) -> tuple[Ints, Ints]:
    return group([column.codes for column in columns], [column.size for column in columns], n)


def _matrix_pair(
    steps: Sequence[Step], strata: Sequence[str], coded: dict[str, Coded], row: int, as_it_is: bool
) -> tuple[Floats, Floats]:
    """P of the stratum that a row is in, over all steps, and the matrix that takes released tables back."""
    parts = []
    for step in steps:
        level = tuple(coded[name].labels[coded[name].codes[row]] for name in step.strata)
        if level not in step.levels:
            raise DataError("the table has a stratum that the plan does not know; estimate from the released file.")
        parts.append(step.transitions[step.levels.index(level)].floats)
    P: Any = np.ones((1, 1))
    for part in parts:
        P = np.kron(P, part)
    if as_it_is:
        return P, np.eye(len(P))
    if np.linalg.cond(P) > _SINGULAR:
        raise EstimationError(
            "the plan's matrix is singular: different true tables give the same released one on average; only tables "
            "of the post-randomized columns alone can be estimated, and only if the step is invariant."
        )
    return P, np.linalg.inv(P).astype(np.float64)


def _fold(steps: Sequence[Step], names: Sequence[str]) -> tuple[Floats, list[dict[str, Any]]]:
    """The sums that reduce the joint table of the steps to the columns asked for, and what its cells hold."""
    cells: list[dict[str, Any]] = [{}]
    for step in steps:
        parts = [label if len(step.columns) > 1 else (label,) for label in step.labels]
        cells = [cell | dict(zip(step.columns, part, strict=True)) for cell in cells for part in parts]
    shown = [tuple((name, cell[name]) for name in names if name in cell) for cell in cells]
    distinct = {key: i for i, key in enumerate(dict.fromkeys(shown))}
    fold = np.zeros((len(distinct), len(cells)))
    fold[[distinct[key] for key in shown], np.arange(len(cells))] = 1
    return fold, [dict(key) for key in distinct]


def _labels(
    names: Sequence[str], kept: list[dict[str, Any]], rest: Sequence[str], coded: dict[str, Coded], rows: Ints
) -> tuple[tuple[Any, ...], ...]:
    out = []
    for row in rows.tolist():
        fixed = {name: coded[name].labels[coded[name].codes[row]] for name in rest}
        out += [tuple((cell | fixed)[name] for name in names) for cell in kept]
    return tuple(out)
