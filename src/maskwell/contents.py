"""What ``import maskwell`` offers: every public name, from where it lives."""

from maskwell import collect, designs, engines, handover, microdata, planning, questionnaires, release, risk, rounds
from maskwell.auditing import Audit, audit, audit_sampler
from maskwell.demands import (
    LDP,
    AverageSecurity,
    BetaFactor,
    Demand,
    InformationPrivacy,
    LocalDiversity,
    RhoPrivacy,
)
from maskwell.designs import Design
from maskwell.errors import (
    DataError,
    DemandError,
    DesignError,
    EstimationError,
    MaskwellError,
    RecurrenceWarning,
    ReportError,
    SimulationWarning,
)
from maskwell.inference import (
    Estimate,
    HypothesisTest,
    estimate,
    estimate_by,
    estimate_contrast,
    estimate_totals,
    goodness_of_fit,
    homogeneity_test,
    independence_test,
)
from maskwell.inference.compliance.behaviours import Behaviour
from maskwell.inference.compliance.bounds import ComplianceBounds, compliance_bounds
from maskwell.inference.compliance.fit import compliance
from maskwell.inference.compliance.result import Compliance
from maskwell.inference.items.correlations import correlations
from maskwell.inference.items.sums import sum_score
from maskwell.inference.regression.fit import regress
from maskwell.inference.regression.frame.arms import arms
from maskwell.inference.regression.regression import Regression
from maskwell.inference.sample.quotients import compare_groups, ratio
from maskwell.inference.sample.sample import Sample
from maskwell.ordering import dominates, equivalent, improve
from maskwell.planning import plan
from maskwell.reports import Reports
from maskwell.reports.joint import side_by_side
from maskwell.reports.tally import Tally
from maskwell.words import codebook, explain

__all__ = [
    "AverageSecurity",
    "BetaFactor",
    "Demand",
    "InformationPrivacy",
    "LDP",
    "LocalDiversity",
    "RhoPrivacy",
    "Design",
    "designs",
    "Reports",
    "Tally",
    "side_by_side",
    "Estimate",
    "estimate",
    "estimate_by",
    "estimate_contrast",
    "estimate_totals",
    "HypothesisTest",
    "goodness_of_fit",
    "homogeneity_test",
    "independence_test",
    "Behaviour",
    "Compliance",
    "ComplianceBounds",
    "compliance",
    "compliance_bounds",
    "Sample",
    "compare_groups",
    "ratio",
    "correlations",
    "sum_score",
    "Regression",
    "arms",
    "regress",
    "Audit",
    "audit",
    "audit_sampler",
    "codebook",
    "dominates",
    "equivalent",
    "explain",
    "improve",
    "plan",
    "planning",
    "collect",
    "engines",
    "handover",
    "microdata",
    "questionnaires",
    "release",
    "risk",
    "rounds",
    "MaskwellError",
    "DataError",
    "DemandError",
    "DesignError",
    "EstimationError",
    "ReportError",
    "RecurrenceWarning",
    "SimulationWarning",
]
