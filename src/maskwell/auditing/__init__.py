"""What privacy a design really gives, computed from the integers that its sampler uses."""

from maskwell.auditing.breach_region import BreachRegion, Containment, demand_curves
from maskwell.auditing.report import Audit, audit

__all__ = ["Audit", "BreachRegion", "Containment", "audit", "demand_curves"]
