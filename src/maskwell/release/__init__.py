"""Release: a microdata file after post-randomization, with its risk before and after."""

from maskwell.release.block_comparison import BlockComparison, compare_blocks
from maskwell.release.identification import Release, limit_identification, plan_identification
from maskwell.release.information import Optimum, Price, most_informative, price_of_restriction
from maskwell.release.neighbours import band, by_distance
from maskwell.release.order import shuffle
from maskwell.release.plan import ReleasePlan
from maskwell.release.pram import PramRelease, pram
from maskwell.release.risk_target import RiskTarget, epsilon_for_risk
from maskwell.release.theta import theta_for, worst_risk

__all__ = [
    "limit_identification",
    "plan_identification",
    "Release",
    "compare_blocks",
    "BlockComparison",
    "pram",
    "band",
    "by_distance",
    "PramRelease",
    "shuffle",
    "most_informative",
    "epsilon_for_risk",
    "RiskTarget",
    "price_of_restriction",
    "Price",
    "Optimum",
    "ReleasePlan",
    "theta_for",
    "worst_risk",
]
