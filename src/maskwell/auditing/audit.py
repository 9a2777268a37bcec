"""The audit of a design: what privacy it really gives, computed from the integers that its sampler uses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maskwell.auditing.breach_region import BreachRegion
from maskwell.auditing.cautions import average_security_caution, cautions
from maskwell.auditing.gain_leakage import GainLeakage, gain_leakage
from maskwell.auditing.priors import read_prior
from maskwell.auditing.summary import about, figures, summarize
from maskwell.designs import storage
from maskwell.designs.base import Design, Method, Vector, require_design
from maskwell.designs.channels import Enclosure, Exposure, Leakage
from maskwell.errors import EstimationError, ReportError
from maskwell.inference.posterior import posterior
from maskwell.ordering import Admissibility, admissible
from maskwell.results.result import Result


class RowParity(NamedTuple):
    """The parity of a row, or of all rows that stand for a set of one size.

    ``report`` is the size for symmetric designs and the report's label otherwise; ``rows`` counts them.
    """

    report: Any
    parity: Fraction | float
    rows: int


class Influence(NamedTuple):
    """What one chosen report can do to the estimated number of respondents in a category.

    ``adds``: above what a truthful respondent of another category would contribute on average, which is 0.
    ``removes``: below what a truthful respondent of the category would, which is 1.
    """

    adds: float
    removes: float


def audit(design: Design, prior: Any = None) -> Audit:
    """Audit a design; leakage is averaged over ``prior``, one weight per category, or over all categories alike.

    >>> from maskwell.designs import local_diversity
    >>> result = audit(local_diversity(10, l=5))
    >>> result.diversity, result.guess_probability
    (5, 0.2)
    """
    require_design(design)
    weights = read_prior(prior, design)
    return Audit(design, None if weights is None else tuple(weights.tolist()))


@dataclass(frozen=True, repr=False)
class Audit(Result):
    """What a design gives. Figures are computed when asked for; exact ones come as fractions beside the floats."""

    design: Design
    prior: tuple[float, ...] | None = None

    # How far a report can shift odds.

    @cached_property
    def exact_parity(self) -> Fraction | float:
        """The largest ratio between two chances of the same report; ``math.inf`` if one of them is zero."""
        return self.design.exact_parity()

    @property
    def parity(self) -> float:
        """``exact_parity`` as the nearest float."""
        return float(self.exact_parity)

    @property
    def epsilon(self) -> float:
        """The ε of local differential privacy: ln of the exact parity, rounded up."""
        return self.design.epsilon

    @property
    def bayes_factor_bound(self) -> float:
        """No report changes anyone's odds, for any property and prior, by more than this factor."""
        return self.parity

    @property
    def breach_region(self) -> BreachRegion:
        """The changes of belief that the design rules out."""
        return BreachRegion(self.exact_parity)

    @property
    def demand_holds(self) -> bool | None:
        """Whether the demand that the design names holds, decided exactly; None if it names none."""
        return self.design.demand.holds_for(self.design) if self.design.demand else None

    def row_parities(self) -> list[RowParity]:
        """(report, parity, rows): one entry per set size for symmetric designs, else one per row."""
        classes = self.design.channel.row_classes()
        labels = self.design.class_labels(row.at for row in classes)
        return [RowParity(label, row.parity, row.rows) for label, row in zip(labels, classes, strict=True)]

    @cached_property
    def _exposure(self) -> Exposure:
        return self.design.channel.exposure()

    @property
    def exposure(self) -> Fraction:
        """The chance that the report proves the true answer, for the category that is worst off."""
        return self._exposure.chance

    @property
    def exposing_reports(self) -> tuple[Any, ...]:
        """The reports that prove the true answer."""
        labels = self.design.class_labels(self._exposure.classes)
        return (
            tuple(f"any set of {size}" for size in labels) if self.design.channel.classes_are_sizes else tuple(labels)
        )

    # Other notions of privacy.

    @cached_property
    def exact_l1(self) -> Fraction:
        """The largest L1 distance between two columns."""
        return self.design.column_distance()

    @property
    def l1(self) -> float:
        """``exact_l1`` as the nearest float."""
        return float(self.exact_l1)

    @property
    def average_security(self) -> float:
        """The least φ that holds; read ``average_security_warning`` with it."""
        return float(1 + self.exact_l1 / 2)

    @property
    def average_security_warning(self) -> str:
        """Why φ misleads for this design; empty if it does not."""
        return average_security_caution(self)

    @property
    def diversity(self) -> int:
        """The least number of answers that a report leaves possible, all equally likely; 0 if they are not."""
        return self.design.diversity()

    # Leakage under the prior.

    @cached_property
    def _leakage(self) -> Leakage:
        return self.design.channel.leakage(None if self.prior is None else np.array(self.prior))

    @cached_property
    def exact_guess_probability(self) -> Fraction:
        """The chance that the best guess is right when all categories are alike, whatever ``prior`` is."""
        return Fraction(self.design.channel.leakage(None).prediction())

    @property
    def guess_probability(self) -> float:
        """The chance that the best guess from a report is right, under the prior if there is one."""
        return self.prediction

    @cached_property
    def prediction(self) -> float:
        """Prediction leakage: the same chance by its other name. Without a report it is the largest prior weight."""
        return float(self._leakage.prediction())

    @cached_property
    def largest_posterior(self) -> float:
        """The most that any report can make of any category, from this prior."""
        return self._leakage.largest_posterior()

    @cached_property
    def size_leakage(self) -> float:
        """The average prior weight of the categories that a report rules out."""
        return self._leakage.size()

    @cached_property
    def mutual_information_bounds(self) -> Enclosure:
        """Proven limits in bits; equal unless sets are too many to list and the prior is not uniform."""
        return self._leakage.mutual_information()

    @property
    def mutual_information(self) -> float:
        """Between truth and report, in bits; off by at most half the width of ``mutual_information_bounds``."""
        return self.mutual_information_bounds.middle

    @cached_property
    def capacity_bounds(self) -> Enclosure:
        """Proven limits of the largest mutual information over all priors, in bits."""
        return self._leakage.capacity()

    @property
    def capacity(self) -> float:
        """The largest mutual information over all priors, in bits: the upper limit, which is the cautious one."""
        return self.capacity_bounds.upper

    def gain_leakage(self, gain: Any) -> GainLeakage:
        """What reports are worth to a reader who guesses for a gain, under the prior if there is one.

        ``gain`` maps each guess to {category: gain}, where what is left out gains nothing, or is a matrix with one row
        a guess and one column a category. Gains are not negative. Guessing the category for a gain of 1 if it is right
        gives ``guess_probability``.

        >>> from maskwell.designs import warner
        >>> found = audit(warner(truth_prob=0.75)).gain_leakage({"accuse": {"yes": 1}, "pass by": {"no": 2}})
        >>> found.best_guess, found.prior_vulnerability, found.posterior_vulnerability, found.bound
        ('pass by', 1.0, 1.125, 1.5)
        """
        return gain_leakage(self.design, None if self.prior is None else np.array(self.prior), gain)

    def posterior(self, report: Any, prior: Any = None) -> Vector:
        """What a reader believes after a report, by category; a prior given here replaces the audit's own.

        >>> from maskwell.designs import warner
        >>> audit(warner(truth_prob=0.75)).posterior("yes", prior=[0.5, 0.5]).tolist()
        [0.75, 0.25]
        """
        weights = read_prior(self.prior if prior is None else prior, self.design)
        try:
            return posterior(self.design, report, weights)
        except EstimationError:
            why = "cannot occur under this design and prior, so it leaves no posterior"
            raise ReportError(f"report {report!r} {why}.") from None

    # What the analyst gets.

    @property
    def added_variance(self) -> float:
        """What masking adds to n times the total variance of the linear estimator; infinite if not estimable."""
        return self.design.added_variance

    @cached_property
    def rank(self) -> int:
        """The rank of P, decided without round-off: k if every proportion can be estimated."""
        return self.design.channel.rank

    @cached_property
    def condition_number(self) -> float:
        """Largest over smallest singular value of P; infinite below full rank."""
        return self.design.channel.condition_number

    @property
    def trace(self) -> float | None:
        """The sum of the chances to report the truth as it is; None where reports are not the categories."""
        rows = self.design.truthful_rows()
        return None if rows is None else float(self.design.channel.trace(rows))

    def influence(self, method: Method = "linear") -> Influence:
        """How many respondents one chosen report can add to, or remove from, an estimated category.

        With A and B the chances that a report holds the truth and another category, ``adds`` is (1-B)/(A-B) and
        ``removes`` A/(A-B) for the moment estimator of a symmetric design, and for the linear one where all sets have
        one size. A direct question has 1 and 1.
        """
        low, high = self.design.scores(method).extremes()
        return Influence(high, 1 - low)

    @property
    def report_influence(self) -> float:
        """How many respondents one false report can add to a category: (1-B)/(A-B) where sets have one size.

        Infinite if the proportions cannot be estimated.
        """
        return self.influence().adds if math.isfinite(self.added_variance) else math.inf

    @cached_property
    def proportional_rows(self) -> int:
        """How many rows could be merged into others without loss."""
        return self.design.channel.proportional_rows()

    def proportional_groups(self) -> list[tuple[Any, ...]]:
        """The reports that say the same, by groups."""
        labels = self.design.report_labels()
        return [tuple(labels[at] for at in group) for group in self.design.channel.proportional_groups()]

    @cached_property
    def _admissibility(self) -> Admissibility:
        return admissible(self.design)

    @property
    def admissible(self) -> bool:
        """Whether no design of the same parity is better for every analysis, at relative tolerance 1e-9."""
        return self._admissibility.holds

    @property
    def admissibility_slack(self) -> float:
        """How far the design is from the condition for being admissible."""
        return self._admissibility.slack

    @property
    def why_not(self) -> str:
        """What makes the design inadmissible; empty if it is admissible."""
        return "" if self.admissible else self._admissibility.why

    @cached_property
    def warnings(self) -> list[str]:
        """What the figures alone would hide, in plain sentences."""
        return list(cautions(self))

    def summary(self) -> str:
        """The audit in plain text."""
        return summarize(self)

    def _title(self) -> str:
        return about(self)

    def _figures(self) -> dict[str, str]:
        return figures(self)

    def _remarks(self) -> list[str]:
        return [f"Warning: {words}" for words in self.warnings]

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON can hold them: fractions as text, infinite ones as None."""
        exact = ("exact_parity", "exact_l1", "exposure", "exact_guess_probability")
        plain = (*_FIGURES, "demand_holds", "diversity", "rank", "admissible", "why_not", "warnings")
        return {
            "design": storage.about(self.design),
            "demand": self.design.demand.to_dict() if self.design.demand else None,
            "prior": None if self.prior is None else list(self.prior),
            **{name: _finite(getattr(self, name), str) for name in exact},
            **{name: _finite(getattr(self, name)) for name in plain},
            "mutual_information_bounds": list(self.mutual_information_bounds),
            "capacity_bounds": list(self.capacity_bounds),
            # Numbers of sets soon have more digits than JSON readers take.
            "proportional_rows": str(self.proportional_rows),
        }

    def __repr__(self) -> str:
        return f"<audit of a {self.design.title} design: parity {self.parity:.6g}, {len(self.warnings)} warnings>"


_FIGURES = (
    "parity",
    "epsilon",
    "bayes_factor_bound",
    "l1",
    "average_security",
    "guess_probability",
    "largest_posterior",
    "size_leakage",
    "mutual_information",
    "prediction",
    "capacity",
    "added_variance",
    "condition_number",
    "trace",
    "report_influence",
    "admissibility_slack",
)


def _finite(value: Any, convert: Any = lambda x: x) -> Any:
    return None if isinstance(value, float) and math.isinf(value) else convert(value)
