"""Views: what results look like as pictures, pages and text."""

from maskwell.views.audit import belief_chart, matrix_chart
from maskwell.views.breach import breach_chart
from maskwell.views.compare import compare
from maskwell.views.estimate import chart, save_chart
from maskwell.views.frontier import frontier_chart
from maskwell.views.precision import precision_chart

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
