"""What privacy a design really gives, computed from the integers that its sampler uses."""

from maskwell.auditing.blackwell import Domination, Improvement, dominates, equivalent, improve, improvement
from maskwell.auditing.breach_region import BreachRegion, Containment, demand_curves
from maskwell.auditing.codebook import Codebook, codebook
from maskwell.auditing.empirical import EmpiricalAudit, audit_sampler, draws_needed
from maskwell.auditing.explain import Explanation, explain
from maskwell.auditing.report import Audit, audit

__all__ = [
    "Audit",
    "BreachRegion",
    "Codebook",
    "Containment",
    "Domination",
    "EmpiricalAudit",
    "Explanation",
    "Improvement",
    "audit",
    "audit_sampler",
    "codebook",
    "demand_curves",
    "dominates",
    "draws_needed",
    "equivalent",
    "explain",
    "improve",
    "improvement",
]
