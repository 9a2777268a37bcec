"""What privacy a design really gives, computed from the integers that its sampler uses."""

from maskwell.auditing.parity import Audit, audit

__all__ = ["Audit", "audit"]
