"""How the bench measures: works in processes of their own, in alternating rounds, written down as JSON and a page."""

from bench.frame.rounds import Bench, Measured, Work
from bench.frame.rows import Goal, Ratio, Row

__all__ = ["Bench", "Goal", "Measured", "Ratio", "Row", "Work"]
