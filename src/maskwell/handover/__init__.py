"""Masked data for people who analyse them elsewhere: labelled files, matrices, scores and a DDI codebook."""

from maskwell.handover.ddi import ddi
from maskwell.handover.folder import HandOver, write

__all__ = ["HandOver", "ddi", "write"]
