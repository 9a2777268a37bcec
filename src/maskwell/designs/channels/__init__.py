"""Channels: the mathematics of a design, ``P[report, truth]`` as exact numbers, without labels, bytes or chance.

``Channel`` computes everything from the exact rows; ``SymmetricChannel`` and ``ProductChannel`` have closed forms.
"""

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.given import GivenChannel
from maskwell.designs.channels.leakage.leakage import Enclosure, Leakage
from maskwell.designs.channels.product import ProductChannel
from maskwell.designs.channels.rows import Exposure, RowClass, SizeRow
from maskwell.designs.channels.symmetric import SymmetricChannel
from maskwell.designs.channels.table import TableChannel

__all__ = [
    "Channel",
    "Enclosure",
    "Exposure",
    "GivenChannel",
    "Leakage",
    "ProductChannel",
    "RowClass",
    "SizeRow",
    "SymmetricChannel",
    "TableChannel",
]
