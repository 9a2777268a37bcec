"""How designs compare by what they tell: Blackwell's order, what is best within a privacy demand, and how to get there.

The parts: ``domination`` (which of two designs tells more), ``proportional`` (reports that say the same),
``admissibility`` (whether anything tells more at the same privacy) and ``improvement`` (a design that does).
"""

from maskwell.ordering.admissibility import Admissibility, admissible, admissible_average_secure
from maskwell.ordering.domination import Domination, Witness, dominates
from maskwell.ordering.improvement import Improvement, improve, improvement
from maskwell.ordering.proportional import Equivalence, equivalent, merge_proportional, proportional_rows

__all__ = [
    "Admissibility",
    "Domination",
    "Equivalence",
    "Improvement",
    "Witness",
    "admissible",
    "admissible_average_secure",
    "dominates",
    "equivalent",
    "improve",
    "improvement",
    "merge_proportional",
    "proportional_rows",
]
