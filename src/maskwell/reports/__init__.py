"""Reports and their tallies, and the files that hold reports."""

# Designs mask into reports, and reports carry designs: whichever is asked for first, designs are loaded first.
import maskwell.designs  # noqa: F401
from maskwell.reports.randomness import is_simulated
from maskwell.reports.reports import Reports
from maskwell.reports.tally import Patterns, Tally

__all__ = ["Patterns", "Reports", "Tally", "is_simulated"]
