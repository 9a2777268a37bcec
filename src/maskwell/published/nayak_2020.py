"""Nayak (2020), a review: formulas at chosen arguments, and the example of 59,033 census records.

The example's records are public but not printed; what follows from the printed counts is checked, and Tables 1 and 2
are one draw of the method: counts that it keeps are equal, others differ by no more than its standard deviation allows.
"""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, inf, prod, sqrt

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.designs.base import Vector
from maskwell.inference import estimate
from maskwell.published.model import Explanation, Row, Simulated, Value
from maskwell.published.nayak_2020_errata import ERRATA, KEY
from maskwell.release.identification_audit import audit_block
from maskwell.release.theta import least_cells, theta_for, worst_risk
from maskwell.tally import Tally

_N = 59_033
_CATEGORIES = {"gender": 2, "age": 92, "race": 9, "marital status": 5, "area": 44}
_SINGLE, _DOUBLE = 13_662, 4_777
_XI = 0.395

# Original and perturbed count, each with its printed share, and the difference.
TABLE_1 = """
Married        24688 .4182  24678 .4180   10
Widowed         3156 .0535   3180 .0539  -24
Divorced        4742 .0803   4704 .0797   38
Separated       1040 .0176   1039 .0176    1
Never_married  25407 .4304  25432 .4308  -25
"""
TABLE_2 = """
White                  37201 .6302   37201 .6302    0
Black                  15239 .2581   15239 .2581    0
American_Indian           97 .0016      92 .0015    5
Alaska_Native              1 .00002      0 0        1
both_of_these             42 .0007      46 .0008   -4
Asian                   3461 .0586    3445 .0584   16
Pacific_Islander          20 .0004      21 .0004   -1
other_race              1349 .0228    1337 .0227   12
two_or_more             1623 .0275    1652 .0280  -29
"""
_KEPT = {"White", "Black"}
_CUT = Explanation("further digits were cut off", truncated=True)
_REFERENCE = "follows from the printed figures; not in print"


def _theta() -> Fraction:
    return theta_for(_XI)


def _minimax_scores() -> Vector:
    """What one report adds to each proportion under the minimax strategy, k=5, γ=2: two categories are in the set."""
    design = designs.minimax(5, gamma=2)
    counts = np.zeros(design.report_count())
    counts[0] = 1
    return estimate(Tally.from_counts(design, counts)).proportions


def _variance_of_a_share() -> float:
    """n times the variance of an estimated share of 0.3 under Warner's design, truth with chance 0.8."""
    design = designs.warner(truth_prob=0.8)
    tally = Tally.from_counts(design, 1000 * (design.matrix() @ np.array([0.3, 0.7])))
    return 1000 * float(estimate(tally).variances[0])


def _row_parity(first: str) -> str:
    """The parity of a row of the design that is optimal where only the answer yes may be revealing, γ = 20."""
    design = designs.from_matrix([["1", "1/20"], ["0", "19/20"]], 2)
    parity = audit(design).row_parities()[0 if first == "yes" else 1].parity
    return "∞" if parity == inf else str(parity)


def _empty_and_full() -> str:
    """The parities of RAPPOR's empty and full report, k=4."""
    found = {row.report: row.parity for row in audit(designs.rappor(4, gamma=9)).row_parities()}
    return f"{found[0]} and {found[4]}"


def _verdict(name: str) -> str:
    return "admissible" if audit(designs.DESIGNS[name].function(4, gamma=9)).admissible else "inadmissible"


def _row(where: str, what: str, printed: str, compute: Callable[[], Value], why: Explanation | None = None) -> Row:
    return Row(KEY, where, what, printed, compute, why)


def _formulas() -> list[Row]:
    place = "Sections 2 to 4: formulas at chosen arguments"
    return [
        _row(place, "(2.2): n × variance, Warner's p=0.8, π=0.3", "0.6544", _variance_of_a_share),
        _row(place, "Section 3.2: parity of yes where only yes counts, γ=20", "20", lambda: _row_parity("yes")),
        _row(place, "Section 3.2: parity of no in that design", "∞", lambda: _row_parity("no")),
        _row(place, "(4.1): parities of the empty and the full report, RAPPOR", "1 and 1", _empty_and_full),
        _row(place, "Section 4.1: RAPPOR is", "inadmissible", lambda: _verdict("rappor")),
        _row(place, "Section 4.1: RAPPOR without these two rows is", "admissible", lambda: _verdict("trimmed_rappor")),
        _row(place, "Theorem 4.2: p_11, γ=9", "0.9", lambda: float(designs.minimax(2, gamma=9).matrix()[0, 0])),
        _row(place, "(4.4): q, k=5, γ=2", "2", lambda: float(designs.minimax(5, gamma=2).sizes[0])),
        _row(place, "(4.5): factor of V/n, k=5, γ=2", "4.6667", lambda: float(np.ptp(_minimax_scores()))),
        _row(place, "(4.5): constant, k=5, γ=2", "-1.6667", lambda: float(_minimax_scores().min())),
        _row(place, "(4.6): added variance, k=5, γ=2", "25.3333", lambda: designs.minimax(5, gamma=2).added_variance),
    ]


def _method() -> list[Row]:
    place = "Section 5: the method and its example"
    return [
        _row(place, "h(0)", "1", lambda: float(worst_risk(Fraction(0)))),
        _row(place, "h(1)", "0.3333", lambda: float(worst_risk(Fraction(1)))),
        _row(place, "ξ=0.395: θ", "0.8", lambda: float(_theta())),
        _row(place, "ξ=0.395: least number of cells, 1/(1-θ)", "5", lambda: float(least_cells(_theta()))),
        _row(place, "ξ=0.395: largest sensitive frequency", "2", lambda: float(ceil(1 / _XI) - 1)),
        _row(place, "chance to move for a singleton", "0.8", lambda: float(_theta())),
        _row(place, "chance to move for a doubleton", "0.4", lambda: float(_theta() / 2)),
        _row(place, "cells of the cross-classification", "364320", lambda: float(prod(_CATEGORIES.values()))),
        _row(place, "partition sets: gender × age intervals × races", "42", lambda: 2.0 * 7 * 3),
        _row(place, "records in all, Table 1", "59033", lambda: float(sum(_counts(TABLE_1)))),
        _row(place, "records in all, Table 2", "59033", lambda: float(sum(_counts(TABLE_2)))),
    ]


def _counts(table: str) -> list[int]:
    return [int(line.split()[1]) for line in table.strip().splitlines()]


def _largest_risk(singles: int, doubles: int, xi: float = _XI) -> float:
    """The largest exact chance of a correct match in a block of so many cells."""
    return float(audit_block({1: singles, 2: doubles}, theta_for(xi)).risk)


def _references() -> list[Row]:
    values: list[tuple[str, str, Callable[[], float]]] = [
        ("sensitive cells", "18439", lambda: float(_SINGLE + _DOUBLE)),
        ("records in them", "23216", lambda: float(_SINGLE + 2 * _DOUBLE)),
        ("records expected to move: θ for each sensitive cell", "14734", lambda: float(_theta()) * (_SINGLE + _DOUBLE)),
        ("share of all records", "24.96%", lambda: 100 * float(_theta()) * (_SINGLE + _DOUBLE) / _N),
        (
            "mean size of the 25,406 - 18,439 other cells",
            "5.14",
            lambda: (_N - _SINGLE - 2 * _DOUBLE) / (25_406 - 18_439),
        ),
        ("h(0.8)", "0.394737", lambda: float(worst_risk(Fraction(4, 5)))),
        ("θ", "0.79905", lambda: float(_theta())),
        ("largest chance of a match, block of 124 doubletons", "0.39473", lambda: _largest_risk(0, 124)),
        ("largest chance of a match, block of 1480 doubletons", "0.39498", lambda: _largest_risk(0, 1480)),
        ("largest chance of a match, block of 124 singletons", "0.23820", lambda: _largest_risk(124, 0)),
        ("the same at ξ=0.5", "0.49874", lambda: _largest_risk(124, 0, 0.5)),
    ]
    place = "Section 5: what the example's figures imply"
    return [Row(KEY, place, what, text, compute, note=_REFERENCE) for what, text, compute in values]


def _explained(printed: str, share: float) -> Explanation | None:
    """Four shares of Table 2 are not rounded to the nearest: two are cut off and two rounded up."""
    digits = len(printed.partition(".")[2])
    if f"{share:.{digits}f}" == f"{float(printed):.{digits}f}":
        return None
    if float(printed) < share:
        return _CUT
    return Explanation("rounded up, not to the nearest", lambda: ceil(share * 10**digits) / 10**digits)


def _table(table: str, place: str) -> list[Row]:
    rows = []
    for line in table.strip().splitlines():
        name, original, first, perturbed, second, difference = line.split()
        for kind, count, printed in (("original", original, first), ("perturbed", perturbed, second)):
            share = int(count) / _N
            why = _explained(printed, share)
            rows.append(_row(place, f"{name.replace('_', ' ')}, {kind}", printed, lambda share=share: share, why))  # type: ignore[misc]
        change = float(int(original) - int(perturbed))
        rows.append(_row(place, f"{name.replace('_', ' ')}, difference", difference, lambda change=change: change))  # type: ignore[misc]
    return rows


def _expected_difference(records: int) -> Simulated:
    """The release is unbiased, and no record adds more than 1/4 to the variance of a count."""
    return Simulated(0.0, sqrt(min(records, _SINGLE + 2 * _DOUBLE) / 4))


def _draws() -> list[Row]:
    other = sum(int(line.split()[1]) for line in TABLE_2.strip().splitlines() if line.split()[0] not in _KEPT)
    place = "Tables 1 and 2: the draw"
    note = "one draw; ours is the expected difference with the largest standard deviation that it can have"
    return [
        Row(KEY, place, "largest difference of Table 1", "38", lambda: _expected_difference(_N), note=note),
        Row(KEY, place, "largest difference of Table 2", "29", lambda: _expected_difference(other), note=note),
    ]


ROWS = (
    *_formulas(),
    *_method(),
    *_references(),
    *_table(TABLE_1, "Table 1: marital status, shares and differences"),
    *_table(TABLE_2, "Table 2: race, shares and differences"),
    *_draws(),
    *ERRATA,
)
