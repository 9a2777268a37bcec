"""Randomized-response designs: named functions that return one of a few kinds of design."""

from maskwell.designs.base import Design
from maskwell.designs.binary import crosswise, forced_response, kuk, unrelated_question, warner
from maskwell.designs.block_catalogue import BlockEntry, catalogue
from maskwell.designs.block_choice import block
from maskwell.designs.blocks import BlockDesign, Embedding
from maskwell.designs.conditional import ConditionalDesign, conditional, independent
from maskwell.designs.explicit import average_secure, collapse, from_matrix
from maskwell.designs.matrix import MatrixDesign
from maskwell.designs.product import ProductDesign, product
from maskwell.designs.registry import DESIGNS, Entry
from maskwell.designs.subsets import SubsetDesign
from maskwell.designs.symmetric import (
    direct,
    gamma_diagonal,
    local_diversity,
    minimax,
    optimized_unary,
    rappor,
    trimmed_rappor,
    uniform_subsets,
)

__all__ = [
    "DESIGNS",
    "BlockDesign",
    "BlockEntry",
    "ConditionalDesign",
    "Design",
    "Embedding",
    "Entry",
    "MatrixDesign",
    "ProductDesign",
    "SubsetDesign",
    "average_secure",
    "block",
    "catalogue",
    "collapse",
    "conditional",
    "crosswise",
    "direct",
    "forced_response",
    "from_matrix",
    "gamma_diagonal",
    "independent",
    "kuk",
    "local_diversity",
    "minimax",
    "optimized_unary",
    "product",
    "rappor",
    "trimmed_rappor",
    "uniform_subsets",
    "unrelated_question",
    "warner",
]
