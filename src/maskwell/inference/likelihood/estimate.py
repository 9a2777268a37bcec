"""Maximum likelihood: the proportions under which the reports are most probable, with a certificate.

The log-likelihood of proportions w is ``sum c_a ln P(a | w)`` over distinct reports a with counts c_a. It is concave,
so one maximum is all there is to find; ``gap`` bounds how far the estimate can be below it. The covariance is the
inverse of the observed information; with sampling weights the maximum is that of the weighted sum (a pseudo-likelihood)
and the covariance a sandwich. Both assume proportions away from 0. Where an estimate is 0 the normal approximation does
not hold: the summary says so, and profile or bootstrap intervals do not need it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.estimates import Estimate
from maskwell.inference.intervals.bootstrap import bootstrap_limits
from maskwell.inference.intervals.closed_form import level_of_each, wald
from maskwell.inference.intervals.profile import profile_limits
from maskwell.inference.joint import JointTable, linear_estimate
from maskwell.inference.likelihood.information import Inverse, invert
from maskwell.inference.likelihood.kernels import chances, weighted_products
from maskwell.inference.likelihood.maximum import Maximum, maximise, tolerance
from maskwell.inference.likelihood.one_step import one_step
from maskwell.inference.likelihood.report_rows import Rows, rows_of
from maskwell.inference.simplex import project
from maskwell.reports.tally import Tally
from maskwell.sampling.samplers import Packed
from maskwell.tables.labels import shown

Kind = Literal["wald", "profile", "bootstrap"]
_MOST_CELLS = 1 << 27
_PROFILE = Setting("method", "profile", call="interval")
_LIKELIHOOD = Setting("method", "likelihood")
_SAFE_CHANCE = 0.1
_LARGE_TABLE = 300


def estimate_likelihood(tally: Tally, method: str) -> LikelihoodEstimate:
    """The maximum likelihood or the one-step estimate of a tally that keeps its distinct reports."""
    distinct = Distinct.of(tally)
    start = safe_start(tally, distinct.rows)
    kind = JointLikelihoodEstimate if tally.design.variables else LikelihoodEstimate
    if method == "one-step":
        return kind(tally, method, one_step(distinct.rows, distinct.counts, start), start)
    best = maximise(distinct.rows, distinct.counts, start)
    if best.gap > tolerance(tally.n):
        raise EstimationError(
            Advice(
                f"the likelihood was not maximised: after {best.turns} turns the gap is {best.gap:.3g}, above "
                f"{tolerance(tally.n):.3g}; use ",
                Setting("method", "linear"),
                " and please report this design and tally.",
            )
        )
    return kind(tally, method, best, best.proportions)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct reports with their counts, scaled to sum to n if weighted, and likewise scaled sums of squares."""

    rows: Rows
    counts: Vector
    squares: Vector | None

    @staticmethod
    def of(tally: Tally) -> Distinct:
        """The distinct reports of a tally, or an error that says how to keep them."""
        design = tally.design
        packed, counts, squares = _distinct(tally)
        seen = counts > 0
        if np.count_nonzero(seen) * design.k > _MOST_CELLS and not design.codec.bit_masks:
            raise EstimationError(
                Advice(
                    f"{np.count_nonzero(seen)} distinct reports on {design.k} categories are too many for a "
                    "likelihood; use ",
                    Setting("method", "linear"),
                    ".",
                )
            )
        scale = tally.n / counts.sum()
        return Distinct(
            rows_of(design, packed[seen]),
            np.ascontiguousarray(counts[seen] * scale),
            None if squares is None else squares[seen] * scale**2,
        )


def _distinct(tally: Tally) -> tuple[Packed, Vector, Vector | None]:
    patterns = tally.patterns
    if patterns is None:
        raise EstimationError(
            f"likelihood needs each distinct report, which this tally of {tally.design.title} sets does not keep; "
            "use reports.tally(patterns=True), or Tally.read(path, patterns=True)."
        )
    counts = np.asarray(patterns.counts, float)
    if tally.squares is None or patterns.squares is not None:
        return patterns.packed, counts, patterns.squares
    # One count per row of the matrix: the squares stand where the counts do.
    by_row, squares = (x if x.ndim == 1 else x[0, :-1] for x in (tally.counts, tally.squares))
    return patterns.packed, counts, squares[by_row > 0]


def safe_start(tally: Tally, rows: Rows) -> Vector:
    """Proportions at which no observed report is improbable, as near the linear estimate as that allows.

    The nearest point of the simplex is best where most categories belong at zero. If it makes a report (nearly)
    impossible, as it can where sets always hold the truth, no entry is taken below its own standard error.
    """
    k = tally.design.k
    uniform = np.full(k, 1 / k)
    if k > _LARGE_TABLE and tally.design.scores_need_table:
        return uniform  # inverting so large a table takes longer than the maximum
    try:
        linear = linear_estimate(tally)
        inside = project(linear.proportions)
        if chances(rows, inside).min() >= _SAFE_CHANCE:
            return inside
        floored = np.maximum(linear.proportions, linear.standard_errors)
    except EstimationError:
        return uniform
    start: Vector = floored / floored.sum()
    return start if chances(rows, start).min() > 0 else (start + uniform) / 2


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodEstimate(Estimate):
    """An estimate from the likelihood; ``point`` is where its information is taken."""

    fit: Maximum
    point: Vector

    default_interval = "wald"

    @property
    def proportions(self) -> Vector:
        """None below 0 for the maximum; a single step can leave the simplex."""
        return self.fit.proportions

    @property
    def gap(self) -> float:
        """No proportions have a log-likelihood higher than this one's by more than ``gap``."""
        return self.fit.gap

    @property
    def log_likelihood(self) -> float:
        """Relative to proportions that are all equal; infinite below 0 where a step made a report impossible."""
        chance = chances(self.distinct.rows, self.proportions)
        if (chance <= 0).any():
            return -math.inf
        return float(self.distinct.counts @ np.log(chance))

    @property
    def at_zero(self) -> tuple[Any, ...]:
        """The categories whose proportion is estimated as 0 (or below, by one step)."""
        return tuple(c for c, p in zip(self.design.categories, self.proportions, strict=True) if p <= 0)

    @property
    def undetermined(self) -> tuple[Any, ...]:
        """The categories that these reports do not tell apart from others; their standard errors are infinite."""
        return tuple(c for c, open_ in zip(self.design.categories, self._inverse.undetermined, strict=True) if open_)

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct reports."""
        return Distinct.of(self.tally)

    def _products(self, counts: Vector) -> Matrix:
        chance = chances(self.distinct.rows, self.point)
        products: Matrix = weighted_products(self.distinct.rows, counts / chance**2, np.arange(self.design.k))
        return products

    @cached_property
    def _inverse(self) -> Inverse:
        return invert(self._products(self.distinct.counts))

    @cached_property
    def _middle(self) -> Matrix | None:
        """The variance of the score where weights make it differ from the information."""
        return None if self.distinct.squares is None else self._products(self.distinct.squares)

    @cached_property
    def _spread(self) -> Matrix:
        inverse, middle = self._inverse.matrix, self._middle
        return inverse if middle is None else inverse @ middle @ inverse

    @property
    def cov_type(self) -> str:
        """ "observed information", or "sandwich" with sampling weights."""
        return "observed information" if self.tally.squares is None else "sandwich"

    @property
    def variances(self) -> Vector:
        """Infinite where the reports do not determine a proportion."""
        return np.where(self._inverse.undetermined, np.inf, np.maximum(np.diag(self._spread), 0.0))

    @property
    def covariance(self) -> Matrix:
        """The covariance of the estimated proportions, as if none of them were at the boundary."""
        if self.undetermined:
            raise EstimationError(
                Advice(
                    f"these reports do not determine the proportions of {shown(self.undetermined)}, so there is no "
                    "covariance; use standard_errors, contrast, or ",
                    _PROFILE,
                    ".",
                )
            )
        return self._spread

    def contrast_variance(self, weights: Vector) -> float:
        """The variance of a weighted sum of proportions: infinite if the reports do not determine it."""
        return self._inverse.variance(weights, self._middle)

    def interval(
        self,
        level: float = 0.95,
        method: Kind | None = None,
        simultaneous: bool = False,
        *,
        seed: int | None = None,
    ) -> Matrix:
        """Lower and upper limits by category; simultaneous ones hold for all together (Bonferroni).

        ``wald`` is fast and needs proportions away from 0 (for the maximum, cut at 0 and 1). ``profile`` takes in every
        value that a likelihood ratio test keeps; it holds near 0 too, and fits the model some ten times per category.
        ``bootstrap`` tries each share as if it were true and keeps those under which reports with a score as extreme as
        the observed one are not too rare; it holds beside 0 too. ``seed`` is for the sample of reports that it draws
        where there are too many to list; without one it follows from the tally.
        """
        level = level_of_each(level, self.design.k if simultaneous else 1)
        kind = method or self.default_interval
        if kind == "wald":
            limits = wald(self, level)
            return limits if self.method == "one-step" else np.clip(limits, 0.0, 1.0)
        if kind not in get_args(Kind):
            raise EstimationError(f"interval method must be one of {', '.join(get_args(Kind))}; got {method!r}.")
        if self.tally.squares is not None:
            raise EstimationError(f"{kind} intervals take reports as equally weighted; use wald for a weighted tally.")
        if kind == "bootstrap":
            return bootstrap_limits(self, level, seed)
        if self.method == "one-step":
            raise EstimationError(
                Advice("profile intervals belong to the maximum; use ", _LIKELIHOOD, ", or wald limits.")
            )
        return profile_limits(self, level)

    def remarks(self) -> list[str]:
        lines: list[str] = [Advice(*self._certificate(), f"; covariance {self._covariance_words}")]
        if self.at_zero:
            outside = " or below" if self.method == "one-step" else ""
            lines.append(
                Advice(
                    f"estimated at 0{outside}: {shown(self.at_zero)}; standard errors and Wald limits do not hold "
                    "there: use ",
                    *self._holds_at_zero,
                )
            )
        if self.undetermined:
            lines.append(f"not determined by these reports (one maximum of many): {shown(self.undetermined)}")
        return lines

    @property
    def _covariance_words(self) -> str:
        return f"from the {self.cov_type}"

    @property
    def _holds_at_zero(self) -> tuple[str | Setting, ...]:
        """Whose limits hold where a proportion is estimated as 0."""
        return _PROFILE, " of the likelihood estimate"

    def _certificate(self) -> tuple[str | Setting, ...]:
        if math.isinf(self.gap):
            return "the step left the proportions under which all reports are possible: use ", _LIKELIHOOD
        return (f"log-likelihood within {self.gap:.2g} of its maximum",)


@dataclass(frozen=True, eq=False, repr=False)
class JointLikelihoodEstimate(JointTable, LikelihoodEstimate):
    """A likelihood estimate of joint proportions."""

    def marginal(self, name: str) -> LikelihoodEstimate:
        """The estimate of one variable by itself; the sums of ``table`` use the other variables' reports as well."""
        return estimate_likelihood(self.tally.marginal(name), self.method)

    def _with_covariance(self) -> Estimate:
        """Itself inside the simplex; at its boundary the maximum is biased, and the linear estimate takes its place."""
        return linear_estimate(self.tally) if self.at_zero or self.undetermined else self
