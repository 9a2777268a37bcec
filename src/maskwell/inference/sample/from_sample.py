"""What every estimate from a complex sample says beside its numbers: what the sample and the masks cost."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maskwell.inference import alternatives
from maskwell.inference.estimates import Estimate, Noise
from maskwell.inference.sample.sample import Sample
from maskwell.numerics.normal import normal_cdf


@dataclass(frozen=True, eq=False, repr=False)
class FromSample(Estimate):
    """An estimate whose covariance follows from a sample."""

    @property
    @abstractmethod
    def sample(self) -> Sample:
        """The sample that the reports came from."""

    @property
    @abstractmethod
    def masking_variance(self) -> float:
        """The part of the total variance that masking added: it is independent from person to person."""

    @property
    @abstractmethod
    def simple_variance(self) -> float:
        """The total variance of as many reports from a simple random sample."""

    @property
    def degrees_of_freedom(self) -> float:
        """Of the variances, as the sample has them."""
        return self.sample.degrees_of_freedom

    @property
    def cov_type(self) -> str:
        """How the variances were found."""
        return self.sample.variance_kind

    @cached_property
    def design_effect(self) -> float:
        """The total variance over that of as many reports from a simple random sample."""
        simple = self.simple_variance
        return float(self.variances.sum()) / simple if simple > 0 else np.nan

    @cached_property
    def effective_n(self) -> float:
        """How many reports from a simple random sample would be as precise."""
        return self.n / self.design_effect if self.design_effect > 0 else float(self.n)

    @property
    def noise(self) -> Noise:
        """How much of the uncertainty is the price of privacy; the rest is that of the sample.

        Few clusters tell the whole variance badly: it may come out below what the masks alone add. What is left for
        sampling is then taken from a simple random sample with these weights.
        """
        masked = max(self.masking_variance, 0.0)
        rest = float(self.variances.sum()) - masked
        if rest <= 0 and not self.sample.is_census:
            rest = self.sampling_variance / self.sample.effective_n()
        return Noise(masked * self.n, max(rest, 0.0) * self.n, float(self.n))

    @property
    def effective_open_answers(self) -> float:
        """How many open answers from a simple random sample would be as precise."""
        whole = float(self.variances.sum())
        return self.sampling_variance / whole if whole > 0 else np.inf

    def level_for_normal(self, level: float) -> float:
        """The normal level with the same quantile as Student's, with the sample's degrees of freedom, at this level."""
        return min(2 * float(normal_cdf(alternatives.quantile(level, self.degrees_of_freedom))) - 1, 1 - 1e-15)

    def drawing(self) -> list[str]:
        """How the people were drawn."""
        return [f"sample    {self.sample.described}"]

    def described_sample(self) -> dict[str, Any]:
        """The sample as plain values."""
        return {"sample": self.sample.to_dict()}

    def remarks(self) -> list[str]:
        if not self.variances.any():
            return [
                "the sample shows no variance here: the reports are of one person or one cluster, or all alike; "
                "standard errors of 0 are no precision",
                *super().remarks(),
            ]
        return [
            f"design effect {self.design_effect:.3g}: as precise as {self.effective_n:,.0f} reports, or "
            f"{self.effective_open_answers:,.0f} open answers, from a simple random sample "
            f"({self.degrees_of_freedom:g} degrees of freedom)",
            *super().remarks(),
        ]
