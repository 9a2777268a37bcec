"""Three statements of Nayak & Zhai (2019) that hold only after a correction, each with a computation that shows it."""

from fractions import Fraction

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.inference import estimate
from maskwell.published.model import Explanation, Row
from maskwell.reports.tally import Tally

KEY = "nayak-zhai-2019"
_PLACE = "Statements that need a correction"


def _phi_range(shift: int = 0) -> str:
    """From the least φ of a design whose reports ignore the truth to that of the direct question."""
    low, high = (
        audit(design).average_security - shift for design in (designs.from_matrix([[1, 1]]), designs.direct(2))
    )
    return f"{low:g} < φ < {high:g}"


def identity_product(gamma: int) -> str:
    """Which product of the minimax design P* for k=5 and its estimator L* is the identity; P*L* is tried first."""
    design = designs.minimax(5, gamma=gamma)
    matrix = design.matrix()
    single_reports = np.eye(len(matrix), dtype=int)
    estimator = np.array([estimate(Tally.from_counts(design, one)).proportions for one in single_reports]).T
    for name, product in (("P*L*", matrix @ estimator), ("L*P*", estimator @ matrix)):
        if np.allclose(product, np.eye(len(product)), rtol=0, atol=1e-12):
            return f"{name} = I"
    return "neither"


def _p_a(phi: str) -> designs.MatrixDesign:
    """The truth with chance a = φ - 1, nothing otherwise."""
    return designs.average_secure(2, phi=Fraction(phi))


def _admissible() -> str:
    """Whether P_a with a = 1/4 is admissible at φ = 3/2, where P_0 has a = 1/2.

    It is not if P_0 with half of its reports withheld is the same design, and P_a cannot be turned into P_0. No further
    masking widens the distance between columns, so it cannot where its own distance is smaller.
    """
    best, other = _p_a("3/2"), _p_a("5/4")
    withhold = np.array([["1/2", "0", "0"], ["0", "1/2", "0"], ["1/2", "1/2", "1"]])
    further = np.vectorize(Fraction, otypes=[object])(withhold) @ best.matrix(exact=True)
    same = bool((further == other.matrix(exact=True)).all())
    return "inadmissible" if same and other.column_distance() < best.column_distance() else "admissible"


def _admissible_by_equal_entries() -> str:
    return "admissible" if _p_a("5/4").diversity() > 0 else "inadmissible"


def swapped_product(key: str, section: str) -> Row:
    """The order of L* and P* that two papers print."""
    return Row(
        key,
        _PLACE,
        f"{section}: unbiasedness of L*S/n (k=5, γ=2)",
        "P*L* = I",
        lambda: identity_product(gamma=2),
        Explanation(
            "the order printed holds only where every report is one category (k=5, γ=20)",
            lambda: identity_product(gamma=20),
        ),
        kind="correction",
    )


ERRATA = (
    Row(
        KEY,
        _PLACE,
        "Theorem 3.1: range of φ",
        "0 < φ < 1",
        _phi_range,
        Explanation("no design has φ below 1; printed is the range of φ - 1", lambda: _phi_range(shift=1)),
        kind="correction",
    ),
    swapped_product(KEY, "Section 3.2"),
    Row(
        KEY,
        _PLACE,
        "Remark after Theorem 3.1 (k=2, φ=3/2): P_a, a=1/4, is",
        "admissible",
        _admissible,
        Explanation(
            "its rows' non-zero entries are equal, but P_a is P_0 with half of the reports withheld",
            _admissible_by_equal_entries,
        ),
        kind="correction",
    ),
)
