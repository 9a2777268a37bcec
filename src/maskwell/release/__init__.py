"""Release: a microdata file after post-randomization, with its risk before and after."""

from maskwell.release.evaluation.block_comparison import BlockComparison, compare_blocks
from maskwell.release.identification.limit import limit_identification, plan_identification
from maskwell.release.identification.release import Release
from maskwell.release.identification.theta import theta_for, worst_risk
from maskwell.release.optimum.information import Optimum, Price, most_informative, price_of_restriction
from maskwell.release.optimum.risk_target import RiskTarget, epsilon_for_risk
from maskwell.release.plan import ReleasePlan
from maskwell.release.pram.neighbours import band, by_distance
from maskwell.release.pram.post_randomize import pram
from maskwell.release.pram.release import PramRelease
from maskwell.release.rows import shuffle

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
