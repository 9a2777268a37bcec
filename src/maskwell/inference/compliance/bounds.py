"""What follows about each proportion where nothing tells how many people do not follow the design.

Suppose that a share c of all people behave in one of the named ways. Then the reports are a mixture of pairs of a truth
j and a behaviour b with the columns ``(1 - c) P_j + c Q_b``, and the shares of truths among those who follow the design
are the sums of pairs with that truth. Their bounds come from linear programs over all such mixtures that fit the
reports best; their confidence limits from the profile of the likelihood at this c. Nothing else is assumed, so the
limits hold if c is the share; which c is right, the reports may not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.designs.storage import about
from maskwell.errors import EstimationError
from maskwell.exact import given_fraction
from maskwell.inference.compliance.groups import Groups, read_groups
from maskwell.inference.compliance.profile import best_log_likelihood, profile_limits
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.numerics.linear_programs import minimise
from maskwell.plain_json import jsonable
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.results.numbers import percent
from maskwell.results.result import Result

Among = Literal["followers", "all"]
_POINTS = 7
_FIT = 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class ComplianceBounds(Result):
    """Bounds of proportions by the share of people who do not follow the design.

    ``lower`` and ``upper`` have a row for each of ``shares`` and a column for each category: what is possible at the
    reports as they are. ``limits`` (…, 2) also take in the uncertainty of sampling. ``plausible`` says which shares the
    reports do not speak against at that level.
    """

    groups: Groups
    shares: Vector
    lower: Matrix
    upper: Matrix
    limits: Matrix
    plausible: np.ndarray[Any, np.dtype[np.bool_]]
    level: float
    among: Among

    @property
    def categories(self) -> tuple[Any, ...]:
        """The truths."""
        return self.groups.classes.categories

    def _title(self) -> str:
        whom = "all people" if self.among == "all" else "those who follow the design"
        return f"bounds of proportions among {whom}, where up to {percent(float(self.shares[-1]), 0)} do not follow it"

    def _figures(self) -> dict[str, Any]:
        return {
            "behaviours": "; ".join(self.groups.classes.behaviours),
            "designs": "; ".join(design.title for design in self.groups.classes.designs),
            "reports": self.groups.n,
        }

    def _columns(self) -> dict[str, Any]:
        k = len(self.categories)
        return {
            "do not follow": np.repeat(self.shares, k),
            "category": [str(c) for _ in self.shares for c in self.categories],
            "at least": self.lower.ravel(),
            "at most": self.upper.ravel(),
            f"{100 * self.level:g} % from": self.limits[..., 0].ravel(),
            "to": self.limits[..., 1].ravel(),
            "plausible": [bool(fits) for fits in self.plausible for _ in range(k)],
        }

    def _remarks(self) -> list[str]:
        lines = [
            "each line holds if that share of people behave in one of the named ways; the limits take in sampling as "
            "well"
        ]
        confusions = self.groups.classes.confusions()
        if confusions:
            lines.append(f"no report can tell: {'; '.join(confusions[:3])}")
        if not self.plausible.all():
            lines.append("shares that are not plausible fit the reports significantly worse than others do")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The bounds as plain values."""
        return {
            "n": sum(self.groups.sizes),
            "group_sizes": list(self.groups.sizes),
            "designs": [about(design) for design in self.groups.classes.designs],
            "behaviours": list(self.groups.classes.behaviours),
            "categories": jsonable(self.categories),
            "among": self.among,
            "level": self.level,
            "shares": jsonable(self.shares),
            "lower": jsonable(self.lower),
            "upper": jsonable(self.upper),
            "intervals": jsonable(self.limits),
            "plausible": [bool(fits) for fits in self.plausible],
        }

    def __repr__(self) -> str:
        return f"<{self._title()}>"


def compliance_bounds(
    groups: Sequence[Tally | Reports] | Tally | Reports,
    behaviours: Mapping[str, Any],
    *,
    most: float | str = 0.3,
    points: int = _POINTS,
    level: float = 0.95,
    among: Among = "followers",
) -> ComplianceBounds:
    """Bounds of each proportion as the share of people who do not follow the design runs from 0 to ``most``.

    For one group, or wherever ``compliance`` says that the reports do not tell how common a behaviour is. ``among``
    says whose proportions are meant: of those who follow the design, or of all people, where those who do not may have
    any truth unless their :class:`Behaviour` says whose they are.

    >>> import maskwell as mw
    >>> die = mw.designs.forced_response(yes_prob="1/6", no_prob=0)
    >>> bounds = mw.compliance_bounds(mw.Tally.from_counts(die, [320, 680]), {"always no": "no"}, most=0.2, points=3)
    >>> [(float(c), float(p)) for c, p in zip(bounds.shares, bounds.lower[:, 0].round(3))]
    [(0.0, 0.184), (0.1, 0.227), (0.2, 0.28)]
    """
    read = read_groups(groups, behaviours)
    if not read.classes.behaviours:
        raise EstimationError("compliance_bounds needs behaviours: what people do instead.", parameter="behaviours")
    if read.squares is not None:
        raise EstimationError(
            "compliance_bounds takes reports as equally weighted; pass the reports, or tallies without weights.",
            parameter="groups",
        )
    if among not in ("followers", "all"):
        raise EstimationError(f'among must be "followers" or "all"; got {among!r}.', parameter="among")
    share = given_fraction(most, "most", EstimationError)
    if not 0 < share < 1:
        raise EstimationError(f"most must lie between 0 and 1; got {most}.", parameter="most")
    if type(points) is not int or points < 2:
        raise EstimationError(f"points must be a whole number of 2 or more; got {points!r}.", parameter="points")
    shares = np.linspace(0.0, float(share), points)
    quantile = normal_quantile(level)
    highest, _ = best_log_likelihood(read.table, read.weights)
    found = [_at(read, float(c), quantile, among) for c in shares]
    return ComplianceBounds(
        read,
        shares,
        np.array([lower for lower, _, _, _ in found]),
        np.array([upper for _, upper, _, _ in found]),
        np.array([limits for _, _, limits, _ in found]),
        np.array([2 * (highest - value) <= quantile**2 for _, _, _, value in found]),
        level,
        among,
    )


def _at(groups: Groups, c: float, quantile: float, among: Among) -> tuple[Vector, Vector, Matrix, float]:
    """Lower and upper bounds, limits, and the log-likelihood, if a share ``c`` do not follow the design."""
    classes = groups.classes
    k, b = classes.k, len(classes.behaviours)
    # Pair (j, b) stands at j * B + b.
    pairs = np.array([(1 - c) * np.eye(k + b)[j] + c * np.eye(k + b)[k + i] for j in range(k) for i in range(b)]).T
    table = groups.table @ pairs
    value, best = best_log_likelihood(table, groups.weights)
    lower, upper, limits = np.full(k, np.nan), np.full(k, np.nan), np.full((k, 2), np.nan)
    if not np.isfinite(value):
        return lower, upper, limits, value
    everything = np.concatenate([matrix @ pairs for matrix in classes.matrices])
    for j in range(k):
        least, greatest = _counted(groups, j, c, among)
        lower[j] = _extreme(everything, best, least)
        upper[j] = -_extreme(everything, best, -greatest)
        for side, score, point in ((0, least, lower[j]), (1, greatest, upper[j])):
            limits[j, side] = _limit(table, groups.weights, value, point, score, quantile, side)
    return lower, upper, limits, value


def _counted(groups: Groups, j: int, c: float, among: Among) -> tuple[Vector, Vector]:
    """How much of each pair counts for category j at least and at most."""
    classes = groups.classes
    own = np.repeat(np.eye(classes.k)[j], len(classes.behaviours))
    if among == "followers":
        return own, own
    of = [None if x.of is None else classes.categories.index(x.of) for x in classes.behaviours.values()]
    least = (1 - c) * own + c * np.tile([float(at == j) for at in of], classes.k)
    return least, least + c * np.tile([float(at is None) for at in of], classes.k)


def _extreme(table: Matrix, best: Vector, score: Vector) -> float:
    """The least score among mixtures that give the same reports as the best one."""
    fitted = table @ best
    equal, right = np.vstack([table, np.ones(len(best))]), np.append(fitted, 1.0)
    solved = minimise(score, fixed=equal, totals=right, most=1.0)
    if solved.failure:
        # Round-off may leave no mixture that fits to the last digit; one that does to seven is found then.
        slack, edge = np.concatenate([equal, -equal]), np.concatenate([right + _FIT, -right + _FIT])
        solved = minimise(score, limited=slack, limits=edge, most=1.0)
    if solved.failure:
        raise EstimationError(f"no mixture was found that fits the reports ({solved.failure}); please report this.")
    return float(score @ solved.x)


def _limit(
    table: Matrix, weights: Vector, highest: float, point: float, score: Vector, quantile: float, side: int
) -> float:
    """The profile limit of a score beyond its bound."""
    ones = np.ones_like(score)
    point = min(max(point, 0.0), 1.0)
    found = profile_limits(table, weights, highest, point, lambda v: score - v * ones, quantile, 0.05, sides=(side,))
    return found[0]
