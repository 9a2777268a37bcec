"""What every estimate can do, whichever method found the proportions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from maskwell.designs.base import Design, Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.frames import Backend, data_frame
from maskwell.inference import alternatives
from maskwell.inference.alternatives import Alternative
from maskwell.inference.contrasts import Contrast, ContrastScores, contrast_vector
from maskwell.inference.documents import estimate_document
from maskwell.inference.hypotheses import proportions as proportion_tests
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.intervals.closed_form import level_of_each
from maskwell.inference.simplex import project
from maskwell.inference.summary import noise_lines, summary_lines
from maskwell.inference.top import Top, top
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.reports.tally import Tally
from maskwell.results.numbers import limit
from maskwell.results.result import Result


class Noise(NamedTuple):
    """n times the total variance, in its two parts: what masking added, and what sampling alone would have."""

    added: float
    sampling: float
    n: float

    @property
    def privacy_share(self) -> float:
        """The part of the variance that masking added."""
        whole = self.added + self.sampling
        return self.added / whole if whole else 0.0

    @property
    def worth(self) -> float:
        """What a masked report is worth, in open answers."""
        return 1 - self.privacy_share

    @property
    def equivalent_n(self) -> float:
        """How many open answers would have been as precise."""
        return self.n * self.worth


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result, ABC):
    """Estimated proportions of the categories of a design."""

    tally: Tally
    method: str

    default_interval: ClassVar[str]

    # What a method must provide.

    @property
    @abstractmethod
    def proportions(self) -> Vector:
        """The estimated proportions, in the order of the design's categories."""

    @property
    @abstractmethod
    def variances(self) -> Vector:
        """The diagonal of the covariance."""

    @property
    @abstractmethod
    def covariance(self) -> Matrix:
        """The covariance matrix of the estimated proportions."""

    @property
    @abstractmethod
    def cov_type(self) -> str:
        """What kind of covariance it is."""

    @abstractmethod
    def interval(self, level: float = 0.95, method: Any = None, simultaneous: bool = False) -> Matrix:
        """Lower and upper limits by category; simultaneous ones hold for all together (Bonferroni)."""

    @property
    def gap(self) -> float | None:
        """How far the log-likelihood can be below its maximum; None for estimates that do not maximise it."""
        return None

    def remarks(self) -> list[str]:
        """What a reader of the summary must know about this estimate beyond its numbers."""
        return []

    def drawing(self) -> list[str]:
        """How the people were drawn, in lines, where it is known."""
        return []

    def described_sample(self) -> dict[str, Any]:
        """The same for ``to_dict``."""
        return {}

    # What follows.

    @property
    def design(self) -> Design:
        """The design that the reports came from."""
        return self.tally.design

    @property
    def n(self) -> int:
        """The number of reports."""
        return self.tally.n

    @cached_property
    def effective_n(self) -> float:
        """How many unweighted reports from a simple random sample would be as precise."""
        return self.tally.effective_n

    @property
    def standard_errors(self) -> Vector:
        """Square roots of the variances."""
        return np.sqrt(self.variances)

    def contrast(self, scores: ContrastScores) -> Contrast:
        """A weighted sum of proportions: scores by label (others count 0) or one per category."""
        vector = contrast_vector(self.design, scores)
        variance = self.contrast_variance(vector)
        return self.stated(float(vector @ self.proportions), math.sqrt(max(variance, 0.0)))

    def stated(self, value: float, standard_error: float, what: str = "weighted sum of proportions") -> Contrast:
        """A number that follows from this estimate, with the degrees of freedom that its variances have."""
        return Contrast(value, standard_error, self.degrees_of_freedom, what)

    @property
    def degrees_of_freedom(self) -> float:
        """Of the variances: infinite where they follow from the counts of independent reports."""
        return math.inf

    def bound(
        self,
        level: float = 0.95,
        side: Literal["upper", "lower"] = "upper",
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Vector:
        """A limit to one side by category: no more than this (``"upper"``) or no less (``"lower"``), at ``level``.

        It is the one end of the two-sided interval that leaves twice as much outside.

        >>> import maskwell as mw
        >>> found = mw.estimate(mw.Tally.from_counts(mw.designs.direct(["yes", "no"]), [30, 970]))
        >>> round(float(found.bound()[0]), 4), round(float(found.interval()[0, 1]), 4)
        (0.0402, 0.0425)
        """
        if side not in ("upper", "lower"):
            raise EstimationError(f"side must be upper or lower; got {side!r}.", parameter="side")
        together = level_of_each(level, self.design.k if simultaneous else 1)
        wide = alternatives.both_sides(together, "less" if side == "upper" else "greater")
        return self.interval(wide, method)[:, 1 if side == "upper" else 0]

    def test(
        self,
        category: Any,
        value: float,
        alternative: Alternative = "two-sided",
        method: proportion_tests.Kind | None = None,
    ) -> HypothesisTest:
        """Test whether the share of a category is ``value``, against different, ``"less"`` or ``"greater"``.

        ``score`` takes the variance at ``value`` and rejects what Wilson's interval leaves out; ``exact`` takes the
        binomial tails where a count is binomial; ``wald`` takes the estimated variance. The default is the first of
        exact, score and wald that the estimate has.

        >>> import maskwell as mw
        >>> found = mw.estimate(mw.Tally.from_counts(mw.designs.warner(truth_prob=0.75), [320, 680]))
        >>> print(found.test("yes", 0.1, alternative="greater"))
        share of yes, greater than 0.1 (exact): statistic 320.0000, p = 0.08978 (exact tails)
        """
        return proportion_tests.proportion_test(self, category, value, alternative, method)

    @property
    def possible_tests(self) -> tuple[proportion_tests.Kind, ...]:
        """The kinds of ``test`` that hold for this estimate, the best one first."""
        return proportion_tests.kinds(self)

    @property
    def variance_model(self) -> proportion_tests.VarianceModel | None:
        """What knows the variance at any share, for score tests; None where only the estimated one is known."""
        return None

    @property
    def binomial_model(self) -> proportion_tests.BinomialModel | None:
        """What counts reports that hold a category, for exact tests; None where no count is binomial."""
        return None

    def contrast_variance(self, weights: Vector) -> float:
        """The variance of a weighted sum of the estimated proportions."""
        return float(weights @ self.covariance @ weights)

    def projected(self) -> Projection:
        """The nearest proportions that are non-negative and sum to 1; biased, and without standard errors."""
        return Projection(self.design.categories, project(self.proportions))

    @cached_property
    def sampling_variance(self) -> float:
        """n times the total variance that a direct question would have: 1 - sum p^2, without bias, within its range."""
        unbiased = 1 - float(self.proportions @ self.proportions) + float(self.variances.sum())
        return min(max(unbiased, 0.0), 1 - 1 / self.design.k)

    @property
    def noise(self) -> Noise:
        """How much of the uncertainty is the price of privacy."""
        sampling = self.sampling_variance
        total = float(self.variances.sum()) * self.effective_n
        added = self.design.added_variance if self.method == "linear" else max(total - sampling, 0.0)
        return Noise(added, sampling, self.effective_n)

    def summary(self, level: float = 0.95) -> str:
        """The estimate in plain text: design, privacy, proportions, and where the uncertainty comes from."""
        return visible_lines(summary_lines(self, level))

    def top(self, n: int = 20, level: float = 0.95, method: str | None = None) -> Top:
        """The ``n`` most frequent categories, with limits that hold for all categories together.

        ``method`` is that of ``interval``; where a count is binomial it is clopper-pearson, which holds at any level.

        >>> import maskwell as mw
        >>> reports = mw.designs.projective(1000, epsilon=2).mask([7] * 6000 + [9] * 4000, seed=1)
        >>> largest = mw.estimate(reports).top(3)
        >>> largest.categories[:2], largest.present
        ((7, 9), 2)
        """
        return top(self, n, level, method or self.surest_interval)

    @property
    def surest_interval(self) -> str:
        """The kind of interval that holds best far out in the tails, where limits for many categories lie."""
        return self.default_interval

    def category_columns(self, positions: Sequence[int] | None = None) -> dict[str, list[Any]]:
        """The category of every proportion, or of those at some positions, as columns of a table."""
        labels = self.design.categories
        shown = labels if positions is None else [labels[at] for at in positions]
        return {"category": [str(c) for c in shown]}

    def to_frame(self, level: float = 0.95, backend: Backend = "pandas") -> Any:
        """A data frame: category (or a column per variable), estimate, standard error, and limits of an interval."""
        lower, upper = self.interval(level).T
        errors = self.standard_errors
        figures = {"estimate": self.proportions, "standard_error": errors, "lower": lower, "upper": upper}
        return data_frame({**self.category_columns(), **figures}, backend)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Estimate):
            return NotImplemented
        return self.method == other.method and self.tally == other.tally

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.method} estimate of {self.design.k} proportions from {self.n} {self.design.title} reports>"

    def _title(self) -> str:
        missing = f" ({self.tally.missing:,} missing)" if self.tally.missing else ""
        return f"{self.method} estimate from {self.n:,.0f} reports{missing}"

    def _figures(self) -> dict[str, Any]:
        design = self.design
        return {
            "design": f"{design.title}, {design.k:,} categories, fingerprint {design.fingerprint[:12]}",
            "demand": design.demand.describe() if design.demand else "none stated",
            "ε": limit(design.epsilon),
            "reports drawn": self.tally.randomness,
        }

    def _columns(self) -> dict[str, Any]:
        lower, upper = self.interval().T
        figures = {"estimate": self.proportions, "standard error": self.standard_errors}
        return {**self.category_columns(), **figures, "95 % from": lower, "to": upper}

    def _order(self) -> list[int]:
        return list(np.argsort(-self.proportions, kind="stable").tolist())

    def _remarks(self) -> list[str]:
        return [*noise_lines(self), *self.remarks()]

    def associated(self, level: float) -> dict[str, Any]:
        """What ``to_dict`` says of the association of two variables: nothing but for a table of two."""
        return {}

    def to_dict(self, level: float = 0.95, *, method: str | None = None, simultaneous: bool = False) -> dict[str, Any]:
        """Everything as plain values: design, privacy, proportions, limits and where the uncertainty comes from."""
        asked = {"level": level, "interval": method or self.default_interval, "simultaneous": simultaneous}
        limits = self.interval(level, method, simultaneous)
        return dict(jsonable(estimate_document(self, limits, [self.tally.randomness], asked)))


@dataclass(frozen=True, eq=False)
class Projection(Result):
    """Proportions moved to the simplex: presentable, biased, not for further inference."""

    categories: tuple[Any, ...]
    proportions: Vector
    label: str = "projected to the simplex (biased; standard errors do not apply)"

    def _title(self) -> str:
        return f"proportions {self.label}"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        return {"category": self.categories, "proportion": self.proportions.tolist()}
