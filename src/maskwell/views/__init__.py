"""Views: what results look like as pictures, pages and text."""

from maskwell.views.charts.beliefs import belief_chart
from maskwell.views.charts.breach_regions import breach_chart
from maskwell.views.charts.compared_estimates import compare
from maskwell.views.charts.estimate import chart
from maskwell.views.charts.matrix import matrix_chart
from maskwell.views.charts.plans.frontier import frontier_chart
from maskwell.views.charts.plans.precision import precision_chart
from maskwell.views.saving import save_chart

__all__ = [
    "belief_chart",
    "breach_chart",
    "chart",
    "compare",
    "frontier_chart",
    "matrix_chart",
    "precision_chart",
    "save_chart",
]
