"""Identification risk of microdata: who could be recognised by a combination of what others may know."""

from maskwell.risk.assess import assess
from maskwell.risk.report import RiskReport

__all__ = ["RiskReport", "assess"]
