"""Choosing a design for a demand."""

from maskwell.planning.choose import plan

__all__ = ["plan"]
