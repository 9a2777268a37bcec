"""Groups that can tell how many people do not follow the design: how precisely, and with what chance to notice them.

Standard errors are those of the information matrix at assumed shares. The test of full compliance rejects where the
root of its statistic exceeds the normal quantile of its level (half of the time it is 0); where a share behaves
otherwise, this root is about normal around ``sqrt(n D)``, with D twice the least divergence, per respondent, of the
reports from those that people who all follow the design could give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import DesignError
from maskwell.exact import given_fraction
from maskwell.inference.compliance.groups import Classes, classes_of
from maskwell.inference.compliance.profile import best_log_likelihood
from maskwell.inference.intervals.closed_form import normal_quantile as checked_quantile
from maskwell.inference.likelihood.information import invert
from maskwell.numerics.normal import normal_cdf, normal_quantile
from maskwell.planning.inflation import effect_of_sample
from maskwell.planning.sample_size import least
from maskwell.planning.variance_lines import margin, respondents
from maskwell.results.result import Result
from maskwell.tables.labels import shown, text_of

# Respondents at which divergences are computed; they grow in proportion.
_SCALE = 1e6
_SPLITS = 49
_TINY = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class CompliancePlan(Result):
    """Groups of some sizes, what they would tell, and under which assumptions."""

    classes: Classes
    class_shares: Vector
    n: int
    split: tuple[float, ...]
    level: float
    divergence: float | None
    design_effect: float = 1.0
    """What a complex sample does to all variances."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The respondents of each group."""
        ends = np.round(np.cumsum(self.split) * self.n).astype(int)
        return tuple(int(size) for size in np.diff(ends, prepend=0))

    @property
    def assumed(self) -> dict[str, float]:
        """The share of each behaviour that is planned for."""
        k = self.classes.k
        return {name: float(c) for name, c in zip(self.classes.behaviours, self.class_shares[k:], strict=True)}

    @cached_property
    def _covariance(self) -> Matrix:
        return _covariance(self.classes, self.class_shares, self.split) * self.design_effect / self.n

    @property
    def standard_errors(self) -> Vector:
        """Standard errors of the shares of the behaviours."""
        return np.sqrt(np.diag(self._covariance)[self.classes.k :])

    @property
    def total_error(self) -> float:
        """The standard error of the share of all people who do not follow the design."""
        return _total_error(self._covariance, self.classes)

    @property
    def proportion_errors(self) -> Vector:
        """Standard errors of the categories, among those who follow the design."""
        w, honest = self.class_shares, self.classes.honest
        whole = float(honest @ w)
        slopes = np.array([(np.eye(len(w))[j] - w[j] / whole * honest) / whole for j in range(self.classes.k)])
        return np.sqrt(np.maximum(np.diag(slopes @ self._covariance @ slopes.T), 0.0))

    @property
    def power(self) -> float | None:
        """The chance that the test of full compliance rejects; None where several behaviours are planned for."""
        if self.divergence is None:
            return None
        distance = math.sqrt(self.n / self.design_effect * self.divergence)
        return float(normal_cdf(distance - normal_quantile(self.level)))

    def at(self, n: int) -> CompliancePlan:
        """The same with another number of respondents."""
        return replace(self, n=n)

    def _title(self) -> str:
        return f"{self.n:,} respondents in {len(self.split)} groups, to find who does not follow the design"

    def _figures(self) -> dict[str, Any]:
        power = {} if self.power is None else {f"power at a level of {1 - self.level:.3g}": self.power}
        sampled = {} if self.design_effect == 1 else {"design effect": self.design_effect}
        return {"sizes": ", ".join(f"{size:,}" for size in self.sizes), **sampled, **power}

    def _columns(self) -> dict[str, Any]:
        k, whole = self.classes.k, float(self.classes.honest @ self.class_shares)
        return {
            "what": [*self.classes.behaviours, *map(text_of, self.classes.categories)],
            "share of": [*("all people" for _ in self.assumed), *("people who follow the design" for _ in range(k))],
            "assumed": [*self.assumed.values(), *(self.class_shares[:k] / whole).tolist()],
            "standard error": np.concatenate([self.standard_errors, self.proportion_errors]),
        }

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {
            "n": self.n,
            "sizes": list(self.sizes),
            "assumed": self.assumed,
            "standard_errors": self.standard_errors.tolist(),
            "proportion_errors": self.proportion_errors.tolist(),
            "power": self.power,
            "level": self.level,
            "design_effect": self.design_effect,
        }

    def __repr__(self) -> str:
        return f"<{self._title()}>"


def compliance_groups(
    designs: Sequence[Design],
    behaviours: Mapping[str, Any],
    *,
    proportions: Sequence[float] | Mapping[Any, float],
    shares: Mapping[str, float | str],
    n: int | None = None,
    power: float | None = None,
    standard_error: float | None = None,
    split: Sequence[float] | str = "equal",
    level: float = 0.95,
    design_effect: float = 1.0,
) -> CompliancePlan:
    """Plan groups whose designs together tell how many people do not follow them.

    ``proportions`` are those of the categories among people who follow the design, ``shares`` those of the behaviours
    among all. Give ``n``, the respondents of all groups; or the ``power`` to reject full compliance, or the
    ``standard_error`` of the share of all who do not follow, for which the least n is found. ``split`` are the groups'
    parts of the respondents: ``"equal"``, a list, or of two groups ``"best"``, which makes that standard error least.
    With a ``design_effect`` n people count as n / design_effect from a simple random sample.

    >>> from maskwell import designs
    >>> dice = [designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6")]
    >>> given = {"proportions": {"yes": 0.2, "no": 0.8}, "shares": {"always no": 0.1}}
    >>> plan = compliance_groups(dice, {"always no": "no"}, **given, power=0.8)
    >>> plan.n, plan.standard_errors.round(4)
    (286, array([0.0443]))
    """
    classes = classes_of(list(designs), behaviours)
    w = _assumed(classes, proportions, shares)
    parts = _parts(classes, w, split)
    checked_quantile(level)
    if sum(given is not None for given in (n, power, standard_error)) != 1:
        raise DesignError("give one of n=, power= and standard_error=.")
    confused = [name for at, name in enumerate(classes.behaviours) if not classes.tells(np.eye(len(w))[classes.k + at])]
    if confused:
        raise DesignError(
            f"these designs do not tell how common {shown(tuple(confused))} is: {'; '.join(classes.confusions()[:3])}. "
            "Give a group other chances."
        )
    divergence = _divergence(classes, w, parts) if len(classes.behaviours) == 1 else None
    one = CompliancePlan(classes, w, 1, parts, level, divergence, effect_of_sample(design_effect))
    if n is not None:
        return one.at(respondents(n))
    if standard_error is not None:
        wanted = margin(standard_error, "standard_error")
        return one.at(least(lambda n: one.at(n).total_error <= wanted, f"a standard error of {standard_error}"))
    if divergence is None:
        raise DesignError("power is planned for one behaviour; for several plan their standard_error.", "power")
    chance = margin(power, "power")
    if divergence <= _TINY or chance <= 1 - level:
        raise DesignError(f"power {power} cannot be planned: nobody behaves otherwise, or the level alone gives it.")
    return one.at(least(lambda n: (one.at(n).power or 0.0) >= chance, f"a power of {power}"))


def _assumed(classes: Classes, proportions: Any, shares: Any) -> Vector:
    """The shares of all classes."""
    if not isinstance(shares, Mapping) or set(shares) != set(classes.behaviours) or not shares:
        raise DesignError(f"shares must have a share for each of {shown(tuple(classes.behaviours))}.", "shares")
    if isinstance(proportions, Mapping):
        unknown = [label for label in proportions if label not in classes.categories]
        if unknown:
            raise DesignError(f"proportions names {unknown[0]!r}, which is not a category.", "proportions")
        proportions = [proportions.get(label, 0.0) for label in classes.categories]
    truths = np.array([float(given_fraction(p, "proportions", DesignError)) for p in proportions])
    others = np.array([float(given_fraction(shares[name], "shares", DesignError)) for name in classes.behaviours])
    if len(truths) != classes.k or (truths < 0).any() or abs(truths.sum() - 1) > _TINY:
        raise DesignError(f"proportions must be {classes.k} shares >= 0 that sum to 1.", "proportions")
    if (others < 0).any() or others.sum() >= 1:
        raise DesignError("shares must be >= 0 and leave some people who follow the design.", "shares")
    return np.concatenate([truths * (1 - others.sum()), others])


def _parts(classes: Classes, w: Vector, split: Any) -> tuple[float, ...]:
    count = len(classes.designs)
    if isinstance(split, str):
        if split == "best" and count == 2:
            tried = np.linspace(0.02, 0.98, _SPLITS).tolist()
            best = min(tried, key=lambda part: _total_error(_covariance(classes, w, (part, 1 - part)), classes))
            return best, 1 - best
        if split != "equal":
            raise DesignError('split must be "equal", a list of parts, or of two groups "best".', "split")
        return (1 / count,) * count
    if not isinstance(split, (Sequence, np.ndarray)):
        raise DesignError(f'split must be "equal", "best" or {count} parts; got {type(split).__name__}.', "split")
    parts = np.array([float(given_fraction(part, "split", DesignError)) for part in split])
    if len(parts) != count or (parts <= 0).any():
        raise DesignError(f"split must have {count} parts above 0, one for each group.", "split")
    return tuple((parts / parts.sum()).tolist())


def _covariance(classes: Classes, w: Vector, parts: Sequence[float]) -> Matrix:
    """The covariance of estimated class shares, times the number of respondents."""
    return invert(classes.information(w, parts)).matrix


def _total_error(covariance: Matrix, classes: Classes) -> float:
    others = 1 - classes.honest
    return math.sqrt(max(float(others @ covariance @ others), 0.0))


def _divergence(classes: Classes, w: Vector, parts: Sequence[float]) -> float:
    """Twice the least divergence, per respondent, of the reports from those of full compliance."""
    table = np.concatenate(classes.matrices)
    sizes = np.repeat(np.array(parts), [len(matrix) for matrix in classes.matrices])
    expected = sizes * (table @ w) * _SCALE
    came = expected > 0
    value = float(expected[came] @ np.log(table[came] @ w))
    followed, _ = best_log_likelihood(table[came][:, : classes.k], expected[came])
    return max(2 * (value - followed), 0.0) / _SCALE
