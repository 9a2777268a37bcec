r"""How much privacy a risk target needs: the ε of the most informative matrix at which τ falls to a threshold.

Ayed, Battiston & Camerlenghi (2020, section 5) ask that α be chosen so that the file's disclosure risk after masking
meets a threshold, and leave open what that risk is. The τ of the released file would not do: masking makes uniques
that are nobody, so that it can rise. Here it is the number of correct matches to expect among the sample uniques from
an intruder who looks for a person under the true values of all keys and, where that fails, by the keys that were not
masked:

.. math:: \tau(\varepsilon) = \sum_{f_k = 1} s_k(\varepsilon)\, r_k + (1 - s_k(\varepsilon))\, r'_k,

with r the risk of a record before masking, that of tau1 or tau2; r' its risk by the keys that stay as they are, 0 where
it is not unique by these; and s the exact chance that its masked columns are released as they are. Against such an
intruder that is on the safe side: others may have moved into the cell. It is not a bound for one who guesses among the
m records that share the keys that were not masked, and is right once in m times at any ε. No masking of these columns
can bring τ below the sum of r'. A matrix that is not invariant may move a value more often than it keeps it, and an
intruder who knows it then looks where the value most likely went: s is the largest chance of any release.

τ need not rise with ε: the most informative matrix changes its shape on the way. It is therefore computed over the
whole range, and the largest ε that meets the target is refined; ``curve`` shows what was computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from maskwell.errors import DataError, DemandError
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.release.optimum.information import Optimum, most_informative
from maskwell.release.optimum.vertices import Vector
from maskwell.results.result import Result
from maskwell.risk.assess import assess
from maskwell.risk.frequencies import cross_classify, group
from maskwell.risk.modelled import MODELS, Modelled
from maskwell.risk.report import RiskReport
from maskwell.tables.codes import Floats
from maskwell.tables.encoded import EncodedTable, encoded
from maskwell.tables.frames import names_of

Measure = Literal["tau1", "tau2"]

_POINTS = 33
_LEAST, _LEAVING = 0.02, 1e-6
"""The range of ε begins here, and ends where a record leaves its cell with this chance."""
_PRECISION = 1e-4


@dataclass(frozen=True, eq=False)
class RiskTarget(Result):
    """The largest ε found at which the risk is at most the target, and the matrix that goes with it.

    ``pram(table, found.columns, matrix=found.optimum, invariant=found.invariant)`` releases by it.
    """

    columns: tuple[str, ...]
    optimum: Optimum = field(repr=False)
    measure: Measure
    target: float
    before: float
    after: float
    invariant: bool
    curve: tuple[tuple[float, float], ...] = field(repr=False)
    """Pairs of ε and the risk at it, over the whole range and where the search went, by ε."""

    @property
    def epsilon(self) -> float:
        """The privacy budget of each record's masked columns."""
        return float(self.optimum.epsilon)

    def _title(self) -> str:
        return f"most informative post-randomization of {' × '.join(self.columns)} at a target risk"

    def _figures(self) -> dict[str, Any]:
        figures = {"target": self.target, f"{self.measure} before": self.before, f"{self.measure} after": self.after}
        return {**figures, "ε": self.epsilon, "mutual information, nats": self.optimum.value}

    def _columns(self) -> dict[str, Any]:
        return {"ε": [at for at, _ in self.curve], "risk": [risk for _, risk in self.curve]}

    def to_dict(self) -> dict[str, Any]:
        """The choice as plain values."""
        names = ("columns", "measure", "target", "before", "after", "epsilon", "invariant", "curve")
        found = {name: getattr(self, name) for name in names}
        return {**jsonable(found), "optimum": self.optimum.to_dict()}

    def summary(self) -> str:
        """The choice in words, a line each."""
        cells = f"{self.optimum.design.k} {'cells' if len(self.columns) > 1 else 'categories'}"
        return visible_lines(
            [
                f"Most informative post-randomization of {' × '.join(self.columns)}, {cells}",
                f"  {self.measure} before         {self.before:.4g} correct matches to expect",
                f"  {self.measure} after          {self.after:.4g}, target {self.target:.4g}",
                f"  ε                   {self.epsilon:.4g}",
                f"  mutual information  {self.optimum.value:.4g} nats",
            ]
        )


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells that are masked, how many records each has, and how the risk of its sample uniques divides."""

    labels: tuple[Any, ...]
    counts: Floats
    hidden: Floats
    """What masking could take away: the summed r - r'."""
    least: float
    """What no masking takes away: all r', and the r of records that are not masked because a value is missing."""


def epsilon_for_risk(
    table: Any,
    columns: Sequence[str] | str,
    *,
    keys: Sequence[str] | str,
    target: float,
    measure: Measure = "tau1",
    weights: Any = None,
    population_size: float | None = None,
    model: str | Sequence[Sequence[str]] = MODELS[0],
    structural_zeros: Sequence[Any] | None = None,
    invariant: bool = True,
) -> RiskTarget:
    """The largest ε whose most informative post-randomization of ``columns`` brings tau1 or tau2 down to ``target``.

    ``columns`` are one or more of the ``keys``; several are masked as one, by their cells that occur. ``weights``,
    ``population_size``, ``model`` and ``structural_zeros`` are those of ``risk.assess``; ``invariant`` is that of
    ``pram``, whose second stage changes the chance of staying. Values that are missing are not masked.

    >>> table = {"area": list("nnnnswnnsw" * 10), "age": [20, 30, 40, 50, 60] * 20, "job": [i % 17 for i in range(100)]}
    >>> found = epsilon_for_risk(table, ["area", "age"], keys=["area", "age", "job"], target=8, population_size=300)
    >>> round(found.before, 2), round(found.after, 2), round(found.epsilon, 2)
    (36.73, 8.0, 1.65)
    """
    if measure not in get_args(Measure):
        raise DemandError(f'measure must be "tau1" or "tau2"; got {measure!r}.', parameter="measure")
    names, key_names = names_of(columns, "columns"), names_of(keys, "keys")
    outside = [name for name in names if name not in key_names]
    if outside or not names:
        raise DataError(
            f"columns must be one or more of the keys, by which an intruder matches; got {list(names)}.",
            parameter="columns",
        )
    table = encoded(table)
    report = assess(table, key_names, weights, population_size, model=model, structural_zeros=structural_zeros)
    cells = _cells(table, report, names, measure)
    before = float(cells.hidden.sum()) + cells.least
    if not isinstance(target, Real) or not 0 <= target < before:
        raise DemandError(
            f"target must lie between 0 and the file's own {measure} of {before:.4g}; got {target!r}. A file that "
            "meets it already need not be masked.",
            parameter="target",
        )
    return _search(names, cells, measure, target, before, invariant)


def _cells(table: EncodedTable, report: RiskReport, names: tuple[str, ...], measure: Measure) -> _Cells:
    if report.modelled is None:
        raise DataError(f"{measure} speaks of a population; give its population_size, or weights.")
    risk, by_other_keys = (by_cell[report.require_records()] for by_cell in _risks(report.modelled, names, measure))
    found, cell_of_row = cross_classify([table.coded(name) for name in names])
    labels = [tuple(own[code] for own, code in zip(found.labels, row, strict=True)) for row in found.codes.tolist()]
    masked = np.array([None not in label for label in labels])
    if masked.sum() < 2:
        raise DataError(
            f"columns must hold two categories or more to mask; {' × '.join(names)} holds fewer.", parameter="columns"
        )
    hidden = np.bincount(cell_of_row, risk - by_other_keys, len(labels))
    named = [label for label, is_masked in zip(labels, masked, strict=True) if is_masked]
    return _Cells(
        tuple(label[0] for label in named) if len(names) == 1 else tuple(named),
        found.counts[masked].astype(float),
        hidden[masked],
        float(by_other_keys.sum() + hidden[~masked].sum()),
    )


def _risks(modelled: Modelled, names: tuple[str, ...], measure: Measure) -> tuple[Floats, Floats]:
    """r and r' by cell of all keys; both are 0 for cells of more than one record."""
    cells = modelled.cells
    risk = _unique_risk(modelled, measure)
    kept = [i for i, name in enumerate(cells.keys) if name not in names]
    if not kept:
        return risk, np.zeros(len(cells))
    coarse, _ = group([cells.codes[:, i] for i in kept], [cells.shape[i] for i in kept], len(cells))
    for name in names:
        modelled = modelled.without(name)
    # The coarser model fits a little differently; who is found by fewer keys is found by all of them.
    return risk, np.minimum(_unique_risk(modelled, measure)[coarse], risk)


def _unique_risk(modelled: Modelled, measure: Measure) -> Floats:
    risk = modelled.uniqueness if measure == "tau1" else modelled.match_chances
    return np.where(modelled.cells.counts == 1, risk, 0.0)


def _search(
    names: tuple[str, ...], cells: _Cells, measure: Measure, target: float, before: float, invariant: bool
) -> RiskTarget:
    """The range on a grid, then between the last point that meets the target and the next, which does not."""
    tried: dict[float, tuple[float, Optimum]] = {}

    def risk_at(epsilon: float) -> float:
        # By position: a column may hold decimals or dates, which cannot be labels of a design.
        optimum = replace(most_informative(cells.counts / cells.counts.sum(), epsilon), labels=cells.labels)
        risk = cells.least + float(cells.hidden @ found_chance(optimum, cells.counts, invariant))
        tried[epsilon] = risk, optimum
        return risk

    grid = np.geomspace(_LEAST, math.log((len(cells.labels) - 1) / _LEAVING), _POINTS).tolist()
    meets = [epsilon for epsilon in grid if risk_at(epsilon) <= target]
    if not meets:
        raise DemandError(
            f"target {target:.4g} is out of reach: masking {' × '.join(names)} leaves a {measure} of "
            f"{min(risk for risk, _ in tried.values()):.4g} at least, of which {cells.least:.4g} by the other keys. "
            "Mask more of the keys, or coarsen them."
        )
    low = max(meets)
    high = next((epsilon for epsilon in grid if epsilon > low), low)
    while high - low > _PRECISION * low:
        middle = (low + high) / 2
        low, high = (middle, high) if risk_at(middle) <= target else (low, middle)
    after, optimum = tried[low]
    curve = tuple((epsilon, risk) for epsilon, (risk, _) in sorted(tried.items()))
    return RiskTarget(names, optimum, measure, float(target), before, after, invariant, curve)


def found_chance(optimum: Optimum, counts: Floats, invariant: bool) -> Vector:
    """The chance that a record is released where an intruder looks for it, by category.

    With ``invariant``, the chance to stay through both stages: T_j Σ_m P_mj² / (PT)_m, as the second stage returns to j
    from every m. Without, the largest chance of any release.
    """
    q = optimum.q
    assert q is not None
    move = (1 - q) / (len(q) - 1)
    if not invariant:
        return np.maximum(q, move)
    frequencies = move @ counts + (q - move) * counts
    stays: Vector = counts * (move**2 * (1 / frequencies).sum() + (q**2 - move**2) / frequencies)
    return stays
