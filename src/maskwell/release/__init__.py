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
from maskwell.release.recoding.hierarchy import Hierarchy, hierarchy, read_hierarchy
from maskwell.release.recoding.recipe import Recipe
from maskwell.release.recoding.recode import Recoded, recode
from maskwell.release.recoding.search import RecodingSearch, search_recoding
from maskwell.release.recoding.ways import Recode, ends, groups, intervals, one_category, rounded
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
    "recode",
    "Recoded",
    "search_recoding",
    "RecodingSearch",
    "Recipe",
    "Recode",
    "intervals",
    "rounded",
    "ends",
    "groups",
    "one_category",
    "hierarchy",
    "read_hierarchy",
    "Hierarchy",
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
