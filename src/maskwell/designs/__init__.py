"""Randomized-response designs: named functions that return one of a few kinds of design."""

from maskwell.designs.base import Design
from maskwell.designs.blocks.catalogue import BlockEntry, catalogue
from maskwell.designs.kinds.blocks import BlockDesign, Embedding
from maskwell.designs.kinds.conditional import ConditionalDesign
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.kinds.product import ProductDesign, product
from maskwell.designs.kinds.projective import ProjectiveDesign
from maskwell.designs.kinds.subsets import SubsetDesign
from maskwell.designs.layered.base import LayeredDesign
from maskwell.designs.layered.bits import BitsDesign, LayeredBits
from maskwell.designs.layered.tables import LayeredTables
from maskwell.designs.named.binary import crosswise, forced_response, kuk, unrelated_question, warner
from maskwell.designs.named.block import block
from maskwell.designs.named.conditional import conditional, independent
from maskwell.designs.named.matrices import average_secure, collapse, from_matrix
from maskwell.designs.named.projective import projective
from maskwell.designs.named.symmetric import (
    direct,
    gamma_diagonal,
    local_diversity,
    minimax,
    optimized_unary,
    rappor,
    trimmed_rappor,
    uniform_subsets,
)
from maskwell.designs.named.variants import (
    christofides,
    devore,
    eriksson,
    mangat,
    mangat_singh,
    singh_joarder,
    triangular,
)
from maskwell.designs.registry import DESIGNS, Entry

__all__ = [
    "DESIGNS",
    "BitsDesign",
    "BlockDesign",
    "BlockEntry",
    "ConditionalDesign",
    "Design",
    "Embedding",
    "Entry",
    "LayeredBits",
    "LayeredDesign",
    "LayeredTables",
    "MatrixDesign",
    "ProductDesign",
    "ProjectiveDesign",
    "SubsetDesign",
    "average_secure",
    "block",
    "catalogue",
    "christofides",
    "collapse",
    "conditional",
    "crosswise",
    "devore",
    "direct",
    "eriksson",
    "forced_response",
    "from_matrix",
    "gamma_diagonal",
    "independent",
    "kuk",
    "local_diversity",
    "mangat",
    "mangat_singh",
    "minimax",
    "optimized_unary",
    "product",
    "projective",
    "rappor",
    "singh_joarder",
    "triangular",
    "trimmed_rappor",
    "uniform_subsets",
    "unrelated_question",
    "warner",
]
