"""Nayak (2020), a review: formulas at chosen arguments, and the example of 59,033 census records.

The example's records are public but not printed. Tables 1 and 2 are one draw of the method: shares and differences are
the paper's arithmetic, and how far a draw may be from its mean is too much to tell anything.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import ceil, inf, prod, sqrt

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.designs.base import Vector
from maskwell.inference import estimate
from maskwell.published.errata.nayak_2020 import ERRATA, KEY
from maskwell.published.model import EXACT, Row, Simulated, Value
from maskwell.release.identification.audit import audit_block
from maskwell.release.identification.limit import limit_identification
from maskwell.release.identification.theta import least_cells, theta_for, worst_risk
from maskwell.reports.tally import Tally

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


def _largest_sensitive(xi: float) -> int:
    """The largest cell that a release changes, of a table with 40 cells of each size up to 7."""
    sizes = [size for size in range(1, 8) for _ in range(40 * size)]
    cells = [f"{size} {i // size}" for i, size in enumerate(sizes)]
    setup = limit_identification({"size": sizes, "cell": cells}, keys=["size", "cell"], xi=xi, seed=1).setup
    return int(setup.cells.counts[setup.blocks.cells].max())


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


def _formulas() -> list[Row]:
    place = "Sections 2 to 4: formulas at chosen arguments"

    def row(what: str, printed: str, compute: Callable[[], Value], value: float | None = None) -> Row:
        return Row(KEY, place, what, printed, compute, kind="formula", formula=None if value is None else lambda: value)

    yes = 0.8 * 0.3 + 0.2 * 0.7
    k, gamma, q = 5, 2, 2
    factor = (k - 1) * (q * gamma + k - q) / (q * (gamma - 1) * (k - q))
    constant = ((1 - k) * (q * gamma + k - q) / ((gamma - 1) * (k - q)) + 1) / k
    return [
        row(
            "(2.2): n × variance, Warner's p=0.8, π=0.3", "λ(1-λ)/(2p-1)²", _variance_of_a_share, yes * (1 - yes) / 0.36
        ),
        row("Section 3.2: parity of yes where only yes counts, γ=20", "20", lambda: _row_parity("yes")),
        row("Section 3.2: parity of no in that design", "∞", lambda: _row_parity("no")),
        row("(4.1): parities of the empty and the full report, RAPPOR", "1 and 1", _empty_and_full),
        row("Section 4.1: RAPPOR is", "inadmissible", lambda: _verdict("rappor")),
        row("Section 4.1: RAPPOR without these two rows is", "admissible", lambda: _verdict("trimmed_rappor")),
        row("Theorem 4.2: p_11, γ=9", "γ/(γ+1)", lambda: float(designs.minimax(2, gamma=9).matrix()[0, 0]), 9 / 10),
        row(
            "(4.4): q, k=5, γ=2",
            "(4.4)",
            lambda: float(designs.minimax(5, gamma=2).sizes[0]),
            _printed_size(5, 2),
        ),
        row("(4.5): factor of V/n, k=5, γ=2", "(4.5)", lambda: float(np.ptp(_minimax_scores())), factor),
        row("(4.5): constant, k=5, γ=2", "(4.5)", lambda: float(_minimax_scores().min()), constant),
        row(
            "(4.6): added variance, k=5, γ=2",
            "(4.6)",
            lambda: designs.minimax(5, gamma=2).added_variance,
            (k - 1) ** 2 / (_f(k, gamma, q) - k) + 1 / k - 1,
        ),
    ]


def _f(k: int, gamma: int, x: int) -> float:
    """(4.3)."""
    return k**2 * (x * gamma**2 + k - x) / (x * gamma + k - x) ** 2


def _printed_size(k: int, gamma: int) -> float:
    """(4.4)."""
    low, high = k // (1 + gamma), -(-k // (1 + gamma))
    return float(low if low >= 1 and _f(k, gamma, low) >= _f(k, gamma, high) else high)


def _method() -> list[Row]:
    place = "Section 5: the method and its example"

    def formula(what: str, printed: str, compute: Callable[[], Value], value: float) -> Row:
        return Row(KEY, place, what, printed, compute, kind="formula", formula=lambda: value)

    def printed(what: str, text: str, compute: Callable[[], Value], unit: str | None = None) -> Row:
        return Row(KEY, place, what, text, compute, unit=unit)

    def arithmetic(what: str, text: str, compute: Callable[[], Value]) -> Row:
        return Row(KEY, place, what, text, compute, kind="arithmetic", unit=EXACT)

    return [
        formula("h(0)", "1", lambda: float(worst_risk(Fraction(0))), 1.0),
        formula("h(1)", "1/3", lambda: float(worst_risk(Fraction(1))), 1 / 3),
        printed("ξ=0.395: θ", "0.8", lambda: float(_theta())),
        printed("ξ=0.395: least number of cells, 1/(1-θ)", "5", lambda: float(least_cells(_theta())), EXACT),
        formula(
            "ξ=0.395: largest sensitive frequency",
            "⌈1/ξ⌉-1",
            lambda: float(_largest_sensitive(_XI)),
            ceil(1 / _XI) - 1.0,
        ),
        printed("chance to move for a singleton", "0.8", lambda: float(_theta())),
        printed("chance to move for a doubleton", "0.4", lambda: float(_theta() / 2)),
        arithmetic("cells of the cross-classification", "364320", lambda: float(prod(_CATEGORIES.values()))),
        arithmetic("partition sets: gender × age intervals × races", "42", lambda: 2.0 * 7 * 3),
        arithmetic("records in all, Table 1", "59033", lambda: float(sum(_counts(TABLE_1)))),
        arithmetic("records in all, Table 2", "59033", lambda: float(sum(_counts(TABLE_2)))),
    ]


def _counts(table: str) -> list[int]:
    return [int(line.split()[1]) for line in table.strip().splitlines()]


def _largest_risk(singles: int, doubles: int, xi: float = _XI) -> float:
    """The largest exact chance of a correct match in a block of so many cells."""
    return float(audit_block({1: singles, 2: doubles}, theta_for(xi)).risk)


def _implied() -> list[Row]:
    values: list[tuple[str, Callable[[], float]]] = [
        ("sensitive cells", lambda: float(_SINGLE + _DOUBLE)),
        ("records in them", lambda: float(_SINGLE + 2 * _DOUBLE)),
        ("records expected to move: θ for each sensitive cell", lambda: float(_theta()) * (_SINGLE + _DOUBLE)),
        ("share of all records, percent", lambda: 100 * float(_theta()) * (_SINGLE + _DOUBLE) / _N),
        ("mean size of the 25,406 - 18,439 other cells", lambda: (_N - _SINGLE - 2 * _DOUBLE) / (25_406 - 18_439)),
        ("h(0.8)", lambda: float(worst_risk(Fraction(4, 5)))),
        ("θ", lambda: float(_theta())),
        ("largest chance of a match, block of 124 doubletons", lambda: _largest_risk(0, 124)),
        ("largest chance of a match, block of 1480 doubletons", lambda: _largest_risk(0, 1480)),
        ("largest chance of a match, block of 124 singletons", lambda: _largest_risk(124, 0)),
        ("the same at ξ=0.5", lambda: _largest_risk(124, 0, 0.5)),
    ]
    place = "Section 5: what the example's figures imply"
    return [Row(KEY, place, what, "", compute, kind="unprinted") for what, compute in values]


# Shares of Table 2 that are one off in their last digit.
_SLIPS = {
    "American Indian, perturbed": "one too low in the last digit",
    "Pacific Islander, original": "one too high in the last digit",
    "other race, original": "one too low in the last digit",
    "other race, perturbed": "one too high in the last digit",
}


def _table(table: str, place: str) -> list[Row]:
    """Shares and differences of the printed counts: the paper's own arithmetic."""
    rows = []
    for line in table.strip().splitlines():
        name, original, first, perturbed, second, difference = line.split()
        values = {
            "original": (first, int(original) / _N, None),
            "perturbed": (second, int(perturbed) / _N, None),
            "difference": (difference, float(int(original) - int(perturbed)), EXACT),
        }
        for kind, (printed, value, unit) in values.items():
            what = f"{name.replace('_', ' ')}, {kind}"
            slip = _SLIPS.get(what, "")
            compute = partial(float, value)
            rows.append(Row(KEY, place, what, printed, compute, kind="arithmetic", unit=unit, differs=slip))
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
    *_implied(),
    *_table(TABLE_1, "Table 1: marital status, shares and differences"),
    *_table(TABLE_2, "Table 2: race, shares and differences"),
    *_draws(),
    *ERRATA,
)
