"""From a demand and a number of respondents to a design, its precision, and its place among all designs."""

from maskwell.designs.choice import why_taken
from maskwell.planning.allowance import Allowance, demand_for
from maskwell.planning.choose import plan
from maskwell.planning.composition import Composition, Split, compose, repeat, split_epsilon
from maskwell.planning.dummies import (
    DummyEstimate,
    dummy_design,
    dummy_respondents,
    dummy_values,
    estimate_beside_dummies,
    guaranteed_coverage,
)
from maskwell.planning.frontier import FrontierPoint, frontier
from maskwell.planning.groups.compliance import CompliancePlan, compliance_groups
from maskwell.planning.matching import Match, match_added_variance, match_local_diversity
from maskwell.planning.power import power, sample_size_for_power
from maskwell.planning.power_curve import PowerCurve, SimulatedCurve, SimulatedPower, power_curve, simulated_curve
from maskwell.planning.regressions.plan import RegressionPlan, SimulatedRegression, plan_regression
from maskwell.planning.sample_size import half_width, sample_size, variance_inflation
from maskwell.planning.simulated_power import power_of_fit, power_of_homogeneity, power_of_independence
from maskwell.planning.subset_questions import (
    balanced_design,
    combine,
    identifiability,
    question,
    subset_weights,
)

__all__ = [
    "plan",
    "why_taken",
    "sample_size",
    "half_width",
    "variance_inflation",
    "power",
    "sample_size_for_power",
    "PowerCurve",
    "SimulatedCurve",
    "SimulatedPower",
    "power_curve",
    "simulated_curve",
    "power_of_fit",
    "power_of_homogeneity",
    "power_of_independence",
    "RegressionPlan",
    "SimulatedRegression",
    "plan_regression",
    "CompliancePlan",
    "compliance_groups",
    "Allowance",
    "demand_for",
    "Match",
    "match_added_variance",
    "match_local_diversity",
    "FrontierPoint",
    "frontier",
    "Composition",
    "compose",
    "repeat",
    "Split",
    "split_epsilon",
    "DummyEstimate",
    "dummy_design",
    "dummy_respondents",
    "dummy_values",
    "estimate_beside_dummies",
    "guaranteed_coverage",
    "balanced_design",
    "combine",
    "identifiability",
    "question",
    "subset_weights",
]
