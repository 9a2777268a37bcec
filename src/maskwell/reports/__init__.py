"""Reports and their tallies, and the files that hold reports."""

from maskwell.reports.randomness import is_simulated
from maskwell.reports.reports import Reports
from maskwell.reports.tally import Patterns, Tally

__all__ = ["Patterns", "Reports", "Tally", "is_simulated"]
