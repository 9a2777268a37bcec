"""What privacy is asked for, before any design is chosen."""

from maskwell.demands.information import InformationPrivacy
from maskwell.demands.kinds import LDP, AverageSecurity, BetaFactor, Demand, LocalDiversity, RhoPrivacy
from maskwell.demands.storage import demand_from_dict

__all__ = [
    "LDP",
    "AverageSecurity",
    "BetaFactor",
    "Demand",
    "InformationPrivacy",
    "LocalDiversity",
    "RhoPrivacy",
    "demand_from_dict",
]
