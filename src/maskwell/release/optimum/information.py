r"""The most informative post-randomization under differential privacy, with proof.

Of all matrices that keep category j with chance q_j and move it to each other one alike, this finds the one whose
released category tells most about the original: the largest mutual information under the population p, among those
with parity at most e^ε (ayed-2020). Mutual information is convex in q, so that an optimum is at a vertex and a local
solver stops at many that are not the best; the paper's own tables show it (``published``, key ``ayed-2020``). Here the
global optimum is found, and an upper bound that proves it.

Mutual information is not what an analyst estimates: ``design.added_variance`` says what the design costs there.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.demands import LDP
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.errors import DesignError
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.release.optimum import staircase
from maskwell.release.optimum.branch_and_bound import search
from maskwell.release.optimum.relaxation import information
from maskwell.release.optimum.vertices import Vector, families
from maskwell.results.numbers import figure
from maskwell.results.result import Result
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import Label, as_labels

_SUM_TOLERANCE = 1e-6
# Below it, a gap is rounding.
_PROVED = 1e-8
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Optimum(Result):
    """A design, how informative it is and how informative any could be, in nats.

    ``labels`` are the categories as they were named. Where they are cells of several columns, tuples, the design's own
    categories are their positions; ``pram(..., matrix=optimum)`` takes either. ``q`` is each category's chance of being
    released as it is (for an unrestricted design, whose reports are not categories, None). ``vertex`` names the kind of
    vertex; ``parts`` counts how many parts the proof needed.
    """

    design: MatrixDesign = field(repr=False)
    value: float
    bound: float
    epsilon: float | Fraction
    restricted: bool
    q: Vector | None = field(default=None, repr=False)
    vertex: str = ""
    parts: int = 0
    labels: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def gap(self) -> float:
        """How much more informative another design of the class could be; no more than rounding where it is proved."""
        return max(0.0, self.bound - self.value)

    @property
    def proved(self) -> bool:
        """Whether the bound leaves nothing above the value but rounding."""
        return self.gap <= _PROVED * self.bound + _ROUNDING

    def _title(self) -> str:
        return f"most informative design for {self.design.k:,} categories at ε = {figure(self.epsilon)}"

    def _figures(self) -> dict[str, Any]:
        bits = figure(self.value / math.log(2))
        return {
            "mutual information": f"{figure(self.value)} nats ({bits} bits)",
            "upper bound": f"{figure(self.bound)} nats" + (", reached: a proved optimum" if self.proved else ""),
            "chances of staying": self.vertex or "one per category" if self.restricted else "any shape",
        }

    def _columns(self) -> dict[str, Any]:
        if self.q is None:
            return {}
        return {"category": [str(label) for label in self.labels], "chance of staying": self.q}

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        found = {
            name: getattr(self, name) for name in ("value", "bound", "epsilon", "restricted", "q", "vertex", "proved")
        }
        return dict(jsonable({**found, "categories": self.labels, "design": self.design.to_dict()}))

    def summary(self) -> str:
        """The result in words, a line each."""
        shape = "one chance of staying per category" if self.restricted else "any shape"
        verdict = "a proved global optimum" if self.proved else f"not proved: others may reach {self.bound:.6g}"
        return visible_lines(
            [
                f"Most informative design with {shape}, ε = {float(self.epsilon):g}, {self.design.k} categories",
                f"  mutual information  {self.value:.6f} nats ({self.value / math.log(2):.6f} bits)",
                f"  upper bound         {self.bound:.6f} nats: {verdict}",
                *([f"  chances of staying  {self.vertex}"] if self.vertex else []),
            ]
        )


@dataclass(frozen=True)
class Price(Result):
    """What it costs to give every category one chance of staying, in nats."""

    restricted: Optimum
    unrestricted: Optimum

    @property
    def lost(self) -> float:
        """Mutual information that a design of another shape would keep."""
        return self.unrestricted.value - self.restricted.value

    @property
    def kept(self) -> float:
        """The restricted optimum as a share of the unrestricted one."""
        return self.restricted.value / self.unrestricted.value if self.unrestricted.value else 1.0

    def _title(self) -> str:
        return "what one chance of staying for every category costs, in nats of mutual information"

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        values = {"restricted": self.restricted.value, "unrestricted": self.unrestricted.value}
        return {**values, "lost": self.lost, "kept": self.kept}


def most_informative(
    p: Any, epsilon: float | Fraction, *, restricted: bool = True, categories: Iterable[Any] | None = None
) -> Optimum:
    """The design at parity e^epsilon whose reports tell most about a population with proportions ``p``.

    ``p`` is a list (``categories`` names its entries), a mapping from label to proportion or a pandas Series. Labels
    may be tuples, the cells of several columns that change as one. The design's integers never exceed the parity.
    ``restricted=False`` allows any shape, for at most 14 categories.

    >>> optimum = most_informative({"north": 0.5, "south": 0.3, "west": 0.2}, epsilon=2)
    >>> round(optimum.value, 4), optimum.proved, optimum.vertex
    (0.4012, True, 'v_α for all')
    """
    named, proportions = _population(p, categories)
    labels = as_labels(len(named)) if _is_joint(named) else named
    find = _restricted if restricted else _unrestricted
    return replace(find(labels, proportions, LDP(epsilon)), labels=named)


def price_of_restriction(p: Any, epsilon: float | Fraction, *, categories: Iterable[Any] | None = None) -> Price:
    """The optimum with one chance of staying per category beside that of any shape, for at most 14 categories.

    >>> price = price_of_restriction([0.3, 0.1, 0.2, 0.08, 0.02, 0.04, 0.06, 0.1, 0.01, 0.09], epsilon=0.5)
    >>> round(price.restricted.value, 6), round(price.unrestricted.value, 6)
    (0.013283, 0.031136)
    """
    return Price(
        most_informative(p, epsilon, categories=categories),
        most_informative(p, epsilon, categories=categories, restricted=False),
    )


def _restricted(labels: tuple[Label, ...], p: Vector, demand: LDP) -> Optimum:
    size, parity = len(p), demand.exact_bound()
    found = search(p, families(size, parity))
    chances = found.family.chances
    moves = _integer_moves([(1 - chances[i].stay) / (size - 1) for i in found.choice], parity)
    rows = tuple(
        tuple(TOTAL - (size - 1) * move if i == j else move for j, move in enumerate(moves)) for i in range(size)
    )
    design = _design(labels, rows, labels, demand, restricted=True)
    t = np.array([float(Fraction(size * move - TOTAL, TOTAL)) for move in moves])
    return Optimum(
        design=design,
        value=information(p, t),
        bound=found.bound,
        epsilon=demand.epsilon,
        restricted=True,
        q=np.array([(TOTAL - (size - 1) * move) / TOTAL for move in moves]),
        vertex=found.family.describe(found.choice.tolist()),
        parts=found.parts,
    )


def _integer_moves(moves: list[Fraction], parity: Fraction) -> list[int]:
    """Each category's chance to move to a given other one, out of 2^64, with no ratio above the parity.

    Rounding could raise one, so all chances are drawn towards 1/S by the least share, in steps, that is enough.
    """
    size = len(moves)
    share = Fraction(0)
    while share < Fraction(1, 2):
        exact = {move: TOTAL * (move + share * (Fraction(1, size) - move)) for move in set(moves)}
        whole = {move: min(max(round(x), 1), (TOTAL - 1) // (size - 1)) for move, x in exact.items()}
        rounded = [whole[move] for move in moves]
        if 1 < _parity(rounded) <= parity:
            return rounded
        share = max(4 * share, Fraction(1, TOTAL))
    raise staircase.too_private(parity, size)


def _parity(moves: list[int]) -> Fraction:
    """The largest ratio within a row, where row i holds the moves of all others and what is left for staying at i."""
    size = len(moves)
    order = sorted(range(size), key=lambda k: moves[k])
    worst = Fraction(1)
    for i, move in enumerate(moves):
        stay = TOTAL - (size - 1) * move
        least = moves[order[0] if order[0] != i else order[1]]
        most = moves[order[-1] if order[-1] != i else order[-2]]
        worst = max(worst, Fraction(max(stay, most), min(stay, least)))
    return worst


def _unrestricted(labels: tuple[Label, ...], p: Vector, demand: LDP) -> Optimum:
    # No double and no integer out of 2^64 tells larger parities apart.
    parity = min(demand.exact_bound(), Fraction(2**200))
    found = staircase.solve(p, float(parity - 1))
    rows = staircase.integers(found, parity)
    design = _design(labels, rows, tuple(_report(labels, row) for row in found.high.tolist()), demand, restricted=False)
    return Optimum(
        design=design,
        value=staircase.matrix_information(p, design.matrix()),
        bound=found.bound,
        epsilon=demand.epsilon,
        restricted=False,
    )


def _design(
    labels: tuple[Label, ...],
    rows: tuple[tuple[int, ...], ...],
    reports: tuple[Label, ...],
    demand: LDP,
    *,
    restricted: bool,
) -> MatrixDesign:
    parameters = {"epsilon": demand.epsilon, "restricted": restricted}
    return MatrixDesign(labels, rows, TOTAL, reports, name="most_informative", parameters=parameters, demand=demand)


def _report(labels: tuple[Label, ...], high: list[bool]) -> str:
    """A report by the categories that make it more likely."""
    return " or ".join(str(label) for label, more in zip(labels, high, strict=True) if more) or "(any)"


def _is_joint(labels: Iterable[Any]) -> bool:
    return any(isinstance(label, tuple) for label in labels)


def _named(categories: Any) -> tuple[Any, ...]:
    """The labels, which may be cells of several columns."""
    listed = list(categories) if isinstance(categories, Iterable) and not isinstance(categories, str) else None
    if listed is None or not _is_joint(listed):
        return as_labels(categories if listed is None else listed)
    if len({len(cell) if isinstance(cell, tuple) else 0 for cell in listed}) > 1 or len(set(listed)) < len(listed):
        raise DesignError(
            "categories must be different cells with as many entries each, such as ('north', 30).",
            parameter="categories",
        )
    return tuple(listed)


def _population(p: Any, categories: Iterable[Any] | None) -> tuple[tuple[Any, ...], Vector]:
    """Labels and proportions that sum to 1."""
    if type(p).__module__.startswith("pandas") and hasattr(p, "to_dict"):
        p = p.to_dict()
    if isinstance(p, Mapping):
        if categories is not None:
            raise DesignError(
                "categories is given twice: p is a mapping and names them; leave categories out.",
                parameter="categories",
            )
        categories, p = list(p), list(p.values())
    try:
        proportions = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise DesignError("p must hold a proportion for each category, as numbers.", parameter="p") from None
    if proportions.ndim != 1:
        raise DesignError(
            f"p must be one list of proportions; got an array of shape {proportions.shape}.", parameter="p"
        )
    labels = _named(len(proportions) if categories is None else categories)
    if len(labels) != len(proportions):
        raise DesignError(
            f"p has {len(proportions)} entries but categories names {len(labels)}; they must match.", parameter="p"
        )
    if not np.isfinite(proportions).all() or proportions.min() < 0:
        raise DesignError("p must hold proportions: finite numbers, none below 0.", parameter="p")
    total = float(proportions.sum())
    if abs(total - 1) > _SUM_TOLERANCE:
        raise DesignError(f"p must sum to 1; it sums to {total:.9g}. Divide counts by their sum.", parameter="p")
    return labels, proportions / total
