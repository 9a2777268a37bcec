"""Views: what results look like as pictures, pages and text."""

from maskwell.views.compare import compare
from maskwell.views.estimate import chart, save_chart

__all__ = ["chart", "compare", "save_chart"]
