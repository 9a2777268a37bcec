"""The shares of truths and behaviours, with what follows from them: errors, limits, tests, and how they show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Matrix, Vector
from maskwell.designs.storage import about
from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference import alternatives
from maskwell.inference.compliance.groups import Groups
from maskwell.inference.compliance.hypotheses import full_compliance, model_fit
from maskwell.inference.compliance.profile import best_log_likelihood, profile_limits
from maskwell.inference.contrasts import Contrast, score_vector
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.likelihood.information import Inverse, invert
from maskwell.inference.likelihood.maximum import Maximum, tolerance
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.reports.randomness import AND
from maskwell.results.blocks import Part, Table, Text
from maskwell.results.numbers import DIGITS, figure, limit, percent
from maskwell.results.result import Result
from maskwell.tables.labels import shown, text_of

Kind = Literal["profile", "wald"]
FOLLOWERS, ALL = "people who follow the design", "all people"
_NEAR_ZERO = 1e-9
_FEW = 4


@dataclass(frozen=True, eq=False)
class AmongAll(Result):
    """What the share of each category among all people lies between, as those who do not comply may have any truth.

    >>> possible = AmongAll(("yes", "no"), np.array([0.2, 0.7]), np.array([0.3, 0.8]))
    >>> possible["yes"], possible.limits.tolist()
    ((0.2, 0.3), [[0.2, 0.3], [0.7, 0.8]])
    """

    categories: tuple[Any, ...]
    least: Vector
    greatest: Vector

    @property
    def limits(self) -> Matrix:
        """A line for each category: the least and the greatest share."""
        return np.column_stack([self.least, self.greatest])

    def __getitem__(self, category: Any) -> tuple[float, float]:
        if category not in self.categories:
            raise EstimationError(f"there is no category {category!r}; there are {shown(self.categories)}.")
        at = self.categories.index(category)
        return float(self.least[at]), float(self.greatest[at])

    def words(self) -> str:
        """The first of them in a line."""
        rows = zip(self.categories, self.least, self.greatest, strict=True)
        told = [f"{text_of(label)} {100 * low:.1f} to {percent(high, 1)}" for label, low, high in rows]
        return ", ".join(told[:_FEW]) + (", …" if len(told) > _FEW else "")

    def _title(self) -> str:
        return "shares among all people, as those who do not comply may have any truth"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        labels = [text_of(category) for category in self.categories]
        return {"category": labels, "least": self.least.tolist(), "greatest": self.greatest.tolist()}


@dataclass(frozen=True, eq=False, repr=False)
class Compliance(Result):
    """Shares of truths and behaviours. ``classes`` names them all, ``class_shares`` are among all people."""

    groups: Groups
    fit: Maximum

    # All classes.

    @property
    def classes(self) -> tuple[str, ...]:
        """The truths of people who follow the design, then the behaviours of those who do not."""
        return self.groups.classes.names

    @property
    def class_shares(self) -> Vector:
        """The share of each class among all people; together 1."""
        return self.fit.proportions

    @cached_property
    def _inverse(self) -> Inverse:
        table, chance = self.groups.table, self.groups.table @ self.class_shares
        return invert((table * (self.groups.weights / chance**2)[:, None]).T @ table)

    @cached_property
    def _spread(self) -> Matrix:
        squares = self.groups.squared_weights
        if squares is None:
            return self._inverse.matrix
        table, chance = self.groups.table, self.groups.table @ self.class_shares
        middle = (table * (squares / chance**2)[:, None]).T @ table
        return np.asarray(self._inverse.matrix @ middle @ self._inverse.matrix)

    @property
    def class_errors(self) -> Vector:
        """Standard errors of ``class_shares``; infinite where the reports do not tell a share."""
        told = [self.groups.classes.tells(unit) for unit in np.eye(len(self.classes))]
        return np.where(told, np.sqrt(np.maximum(np.diag(self._spread), 0.0)), np.inf)

    @property
    def gap(self) -> float:
        """No shares have a log-likelihood higher than this one's by more than ``gap``."""
        return self.fit.gap

    @cached_property
    def log_likelihood(self) -> float:
        """The highest log-likelihood of the reports."""
        return float(self.groups.weights @ np.log(self.groups.table @ self.class_shares))

    # Behaviours.

    @property
    def _k(self) -> int:
        return self.groups.classes.k

    @property
    def behaviours(self) -> tuple[str, ...]:
        """The names of the behaviours."""
        return self.classes[self._k :]

    @property
    def shares(self) -> Vector:
        """The share of each behaviour among all people."""
        return self.class_shares[self._k :]

    @property
    def covariance(self) -> Matrix:
        """The covariance of ``shares``: the inverse of the observed information, or with weights a sandwich."""
        return self._spread[self._k :, self._k :]

    @property
    def standard_errors(self) -> Vector:
        """Standard errors of ``shares``, as if none were at 0."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def degrees_of_freedom(self) -> float:
        """Of the standard errors: infinite where they follow from the counts of independent reports."""
        return math.inf

    @property
    def cov_type(self) -> str:
        """How the standard errors were found."""
        return "observed information" if self.groups.squares is None else "sandwich"

    @property
    def default_interval(self) -> Kind:
        """The kind of limits: profile, or Wald where reports are weighted."""
        return "profile" if self.groups.squares is None else "wald"

    def interval(self, level: float = 0.95, method: Kind | None = None) -> Matrix:
        """Lower and upper limits of ``shares``; profile limits hold near 0 too, Wald limits do not."""
        units = np.eye(len(self.classes))[self._k :]
        return np.array([self._limits(unit, None, level, method) for unit in units]).reshape(-1, 2)

    @property
    def followed(self) -> float:
        """The share of people who follow the design."""
        return float(self.class_shares @ self.groups.classes.honest)

    # Truths.

    @property
    def among(self) -> str:
        """Among whom ``proportions`` are: all people if every behaviour says whose it is, else those who comply."""
        return ALL if self.groups.classes.truths_are_known else FOLLOWERS

    def _ratio(self, at: int) -> tuple[Vector, Vector | None]:
        """The classes that a proportion counts, and those that it is a part of if that is not everybody."""
        classes = self.groups.classes
        if classes.truths_are_known:
            return classes.truth(at), None
        return np.eye(len(self.classes))[at], classes.honest

    def _tells(self, above: Vector, below: Vector | None) -> bool:
        """Whether the reports determine a proportion."""
        return self.groups.classes.tells(above) and (below is None or self.groups.classes.tells(below))

    @property
    def proportions(self) -> Vector:
        """The share of each category among the people that ``among`` names; not a number if there are none."""
        pairs, w = [self._ratio(at) for at in range(self._k)], self.class_shares
        if self._nobody:
            return np.full(self._k, np.nan)
        return np.array([float(above @ w) / (1.0 if below is None else float(below @ w)) for above, below in pairs])

    @property
    def _nobody(self) -> bool:
        """Whether by these reports there are no people among whom there could be proportions."""
        return self.among == FOLLOWERS and self.followed <= _NEAR_ZERO

    @cached_property
    def proportion_covariance(self) -> Matrix:
        """The covariance of ``proportions``; of ratios by the delta method."""
        if self._nobody:
            return np.full((self._k, self._k), np.inf)
        slopes = []
        for at, value in enumerate(self.proportions):
            above, below = self._ratio(at)
            slopes.append(above if below is None else (above - value * below) / self.followed)
        rows = np.array(slopes)
        return np.asarray(rows @ self._spread @ rows.T)

    @property
    def proportion_errors(self) -> Vector:
        """Standard errors of ``proportions``; infinite where the reports do not tell one."""
        errors = np.sqrt(np.maximum(np.diag(self.proportion_covariance), 0.0))
        return np.where([self._tells(*self._ratio(at)) for at in range(self._k)], errors, np.inf)

    def proportion_interval(self, level: float = 0.95, method: Kind | None = None) -> Matrix:
        """Lower and upper limits of ``proportions``."""
        return np.array([self._limits(*self._ratio(at), level, method) for at in range(self._k)])

    def among_all(self) -> AmongAll:
        """For each category the least and the greatest share among all people, as those who do not comply may be any.

        Where a behaviour says whose it is, its people are counted there. Limits of what is possible at the estimate,
        without the uncertainty of sampling.
        """
        unknown = sum(
            share
            for share, behaviour in zip(self.shares, self.groups.classes.behaviours.values(), strict=True)
            if behaviour.of is None
        )
        least = np.array([self.groups.classes.truth(at) @ self.class_shares for at in range(self._k)])
        return AmongAll(self.groups.classes.categories, least, least + unknown)

    def contrast(self, scores: Mapping[str, float]) -> Contrast:
        """A weighted sum of class shares, by name; an infinite standard error if the reports do not tell it."""
        vector = score_vector(self.classes, scores, f"class: {shown(self.classes)}")
        told = self.groups.classes.tells(vector)
        error = float(np.sqrt(max(float(vector @ self._spread @ vector), 0.0))) if told else float("inf")
        return Contrast(float(vector @ self.class_shares), error, self.degrees_of_freedom)

    def _limits(self, above: Vector, below: Vector | None, level: float, kind: Kind | None) -> tuple[float, float]:
        method = kind or self.default_interval
        if method not in ("profile", "wald"):
            raise EstimationError(f"interval method must be profile or wald; got {method!r}.", parameter="method")
        if below is not None and self._nobody:
            return 0.0, 1.0
        quantile = alternatives.quantile(level, self.degrees_of_freedom)
        whole = 1.0 if below is None else float(below @ self.class_shares)
        value = float(above @ self.class_shares) / whole
        slope = (above - value * (np.ones_like(above) if below is None else below)) / whole
        error = float(np.sqrt(max(float(slope @ self._spread @ slope), 0.0)))
        if method == "wald":
            if not self._tells(above, below):
                return 0.0, 1.0
            return max(value - quantile * error, 0.0), min(value + quantile * error, 1.0)
        if self.groups.squares is not None:
            raise EstimationError(
                Advice("profile limits take reports as equally weighted; use ", Setting("method", "wald"), ".")
            )
        rest = np.ones_like(above) if below is None else below
        table, weights = self.groups.table, self.groups.weights
        highest = max(self.log_likelihood, best_log_likelihood(table, weights)[0])
        low, high = profile_limits(table, weights, highest, value, lambda v: above - v * rest, quantile, error)
        return low, high

    # Tests.

    def test(self, *, draws: int = 0, seed: int | None = None) -> HypothesisTest:
        """Likelihood ratio test of full compliance: that nobody behaves otherwise.

        A share cannot be below 0, so the statistic has a mixture of chi-square laws, which the result names. Where the
        best fit without behaviours has a category at 0, or with ``draws``, samples are drawn at that fit instead.
        """
        return full_compliance(self.groups, self.log_likelihood, draws, seed)

    @property
    def has_test(self) -> bool:
        """Whether ``test`` has an answer."""
        return bool(self.behaviours) and self.groups.squares is None

    def goodness_of_fit(self) -> HypothesisTest:
        """Test whether these classes can explain the reports of all groups together."""
        return model_fit(self.groups, self.class_shares)

    # What it shows.

    def _title(self) -> str:
        count = len(self.groups.sizes)
        return f"compliance from {self.groups.n:,} reports of {count} group{'s' * (count > 1)}"

    def _figures(self) -> dict[str, Any]:
        drawn = sorted({kind for each in self.groups.randomness for kind in each.split(AND)})
        return {
            "designs": "; ".join(design.title for design in self.groups.classes.designs),
            "ε": "; ".join(limit(design.epsilon) for design in self.groups.classes.designs),
            "reports drawn": AND.join(drawn),
            "follow the design": round(self.followed, DIGITS) if self.behaviours else "all, which is assumed",
            "proportions are among": self.among,
        }

    def _columns(self, level: float = 0.95) -> dict[str, Any]:
        limits = np.concatenate([self.interval(level), self.proportion_interval(level)])
        return {
            "what": [*self.behaviours, *self.classes[: self._k]],
            "share of": [*("all people" for _ in self.behaviours), *(self.among for _ in range(self._k))],
            "estimate": np.concatenate([self.shares, self.proportions]),
            "standard error": np.concatenate([self.standard_errors, self.proportion_errors]),
            f"{100 * level:g} % from": limits[:, 0],
            "to": limits[:, 1],
        }

    def _errors_words(self) -> str:
        return f"standard errors from the {self.cov_type}"

    def _remarks(self) -> list[str]:
        certificate = f"log-likelihood within {tolerance(self.groups.n):.2g} of its maximum"
        lines = [f"{certificate}; {self._errors_words()}"]
        at_zero = [name for name, share in zip(self.classes, self.class_shares, strict=True) if share <= _NEAR_ZERO]
        if at_zero:
            instead = ", profile limits do" if self.default_interval == "profile" else ", nor do Wald limits"
            lines.append(f"estimated at 0: {shown(tuple(at_zero))}; standard errors do not hold there{instead}")
        confusions = self.groups.classes.confusions()
        if confusions:
            lines.append(f"not told apart by these designs: {'; '.join(confusions[:3])}")
        if self.has_test:
            lines.extend(str(self.test()).splitlines())
        if self.behaviours and self.among == FOLLOWERS:
            lines.append(
                f"who does not comply may have any truth; of all people that leaves {self.among_all().words()}"
            )
        if not self.behaviours:
            lines.append("no behaviour was named, so that everybody is taken to follow the design")
        return lines

    def summary(self, level: float = 0.95) -> str:
        """The result in plain text, with profile limits (with weights, Wald limits)."""
        facts = [[name, figure(x) if isinstance(x, float) else x] for name, x in self._figures().items()]
        parts: list[Part] = [Text(self._title()), Table("", ["", ""], facts, "<="), *self._table(self._columns(level))]
        return visible_lines([*(line for part in parts for line in part.lines()), *self._remarks()])

    def to_frame(self, level: float = 0.95, *, backend: Backend = "pandas") -> Any:
        """A data frame: a line for each behaviour and each category."""
        *columns, lower, upper = self._columns(level).items()
        named = {name.replace(" ", "_"): list(values) for name, values in columns}
        return data_frame({**named, "lower": list(lower[1]), "upper": list(upper[1])}, backend)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Everything as plain values; limits of the behaviours, then of the categories."""
        *_, lower, upper = self._columns(level).values()
        return {
            "n": sum(self.groups.sizes),
            "group_sizes": list(self.groups.sizes),
            "designs": [jsonable(about(design)) for design in self.groups.classes.designs],
            "randomness": list(self.groups.randomness),
            "behaviours": list(self.behaviours),
            "shares": jsonable(self.shares),
            "standard_errors": jsonable(self.standard_errors),
            "cov_type": self.cov_type,
            "covariance": jsonable(self.covariance),
            "categories": jsonable(self.groups.classes.categories),
            "among": self.among,
            "proportions": jsonable(self.proportions),
            "proportion_errors": jsonable(self.proportion_errors),
            "among_all": jsonable(self.among_all().limits),
            "level": level,
            "intervals": [[float(a), float(b)] for a, b in zip(lower, upper, strict=True)],
            "log_likelihood": self.log_likelihood,
            "gap": self.gap,
        }

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {share:.4g}" for name, share in zip(self.behaviours, self.shares, strict=True))
        return f"<compliance: {told or 'no behaviours'}; from {self.groups.n} reports>"
