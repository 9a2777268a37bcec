"""Reports of every kind of design, to be written to files of every format."""

import pytest

import maskwell as mw
from tests.conformance.masking_helpers import values_for

FORMATS = (".parquet", ".arrow", ".csv")
ODD = ["", "NA", "null", 'a,"b"', "two\nlines", "ünï", " ", "0"]
DESIGNS = {
    "codes": mw.designs.gamma_diagonal(ODD, epsilon=1),
    "sets": mw.designs.minimax(11, epsilon=0.3),
    "wide sets": mw.designs.minimax(1001, epsilon=1),
    "many sizes": mw.designs.rappor(["x", "y", "z"], epsilon=1),
    "matrix": mw.designs.average_secure(["a", "b", "c"], phi=1.5),
    "many rows": mw.designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=300),
    "two-byte codes": mw.designs.gamma_diagonal(300, epsilon=4),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
every_format = pytest.mark.parametrize("suffix", FORMATS)
SETS = DESIGNS["sets"]


def masked(design: mw.Design, n: int = 300, gaps: bool = False) -> mw.Reports:
    values = values_for(design, n).tolist()
    if gaps:
        nothing = [None] * len(design.parts) if isinstance(design, mw.designs.ProductDesign) else None
        values[::7] = [nothing] * len(values[::7])
    return design.mask(values, missing="keep", seed=3)
