"""What privacy a design really gives, computed from the integers that its sampler uses."""

from maskwell.auditing.audit import Audit, audit
from maskwell.auditing.breach_region import BreachRegion, Containment, demand_curves
from maskwell.auditing.empirical.sampler_audit import EmpiricalAudit, audit_sampler, draws_needed
from maskwell.auditing.gain_leakage import GainLeakage

__all__ = [
    "Audit",
    "BreachRegion",
    "Containment",
    "EmpiricalAudit",
    "GainLeakage",
    "audit",
    "audit_sampler",
    "demand_curves",
    "draws_needed",
]
