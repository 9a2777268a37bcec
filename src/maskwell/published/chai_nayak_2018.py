"""Chai & Nayak (2018): their bounds and optimal matrices at chosen arguments, and two formulas that need a correction.

The paper prints formulas, hardly any numbers. Each is evaluated once by hand and once by computing what it claims: an
infimum over beliefs, the largest ratio over sets of reports, a maximum over all matrices, a belief that is reached.
"""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import inf

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.demands import InformationPrivacy
from maskwell.designs.base import Matrix
from maskwell.numerics.linear_programs import minimise
from maskwell.ordering import dominates
from maskwell.published.model import Explanation, Row, Value

KEY = "chai-nayak-2018"


def _parity_with_more_reports(k: int, m: int, eta: int) -> float:
    """Of the matrix with η/(η+m-1) in its diagonal and 1/(η+m-1) elsewhere, m reports for k categories."""
    rows = [[eta if i == j else 1 for j in range(k)] for i in range(m)]
    return designs.from_matrix([[f"{x}/{eta + m - 1}" for x in row] for row in rows], k).parity


def _rho_bound(low: float, high: float) -> float:
    """The infimum of (3.3) for the step functions of ρ1-to-ρ2 privacy."""
    return InformationPrivacy(
        lambda a: low if a > high else 0.0, lambda a: high if a < low else 1.0, breakpoints=(low, high)
    ).parity_bound


def _beta_bound(beta: float) -> float:
    return InformationPrivacy(lambda a: a / beta, lambda a: min(1.0, beta * a)).parity_bound


def _largest_set_ratio() -> float:
    """(2.1), over all sets of reports of the gamma-diagonal design for four categories at γ = 3."""
    matrix = designs.gamma_diagonal(4, gamma=3).matrix()
    sets = [list(s) for size in range(1, 4) for s in combinations(range(4), size)]
    return max(float(matrix[s].sum(axis=0).max() / matrix[s].sum(axis=0).min()) for s in sets)


def _belief(prior: float, true: bool) -> float:
    """The largest, or smallest, belief in category 0 after a report of the gamma-diagonal design at γ = 20."""
    design = designs.gamma_diagonal(4, gamma=20)
    after = [audit(design).posterior(report, prior=[prior, 1 - prior, 0, 0])[0] for report in range(4)]
    return float(max(after) if true else min(after))


def _odds_ratio() -> float:
    after = _belief(0.1, true=True)
    return after / (1 - after) / (0.1 / 0.9)


def _beaten_below_parity() -> str:
    """Whether a matrix whose row parity of 3/2 is below γ = 3 is beaten by the optimal one."""
    weak, best = designs.from_matrix([["3/5", "2/5"], ["2/5", "3/5"]], 2), designs.minimax(2, gamma=3)
    return "inadmissible" if dominates(best, weak) and not dominates(weak, best) else "admissible"


def _three_values() -> str:
    """Whether a matrix of parity 4 with three values in a row is admissible."""
    rows = [["4/7", "2/7", "1/7"], ["1/7", "4/7", "2/7"], ["2/7", "1/7", "4/7"]]
    return "admissible" if audit(designs.from_matrix(rows, 3)).admissible else "inadmissible"


@cache
def largest_trace(k: int, gamma: float) -> tuple[float, Matrix]:
    """The largest trace of a k × k matrix within the parity, by a linear program, and the matrix."""

    def at(i: int, j: int) -> int:
        return i * k + j

    bounds = []
    for i in range(k):
        for j in range(k):
            for other in set(range(k)) - {j}:
                row = np.zeros(k * k)
                row[at(i, j)], row[at(i, other)] = 1, -gamma
                bounds.append(row)
    columns = np.array([[cell % k == j for cell in range(k * k)] for j in range(k)], float)
    limits, costs = np.zeros(len(bounds)), -np.eye(k).reshape(-1)
    found = minimise(costs, limited=np.array(bounds), limits=limits, fixed=columns, totals=np.ones(k))
    matrix = found.x.reshape(k, k)
    return float(np.trace(matrix)), matrix


def _collapsed() -> str:
    parity = designs.collapse(["a", "b", "c"], groups=[["a", "b"], ["c"]]).parity
    return "∞" if parity == inf else f"{parity}"


def _merged_are_equivalent() -> str:
    """Remark 4.1: two proportional rows against their sum."""
    split = designs.from_matrix([["1/4", "1/8"], ["1/2", "1/4"], ["1/4", "5/8"]], 2)
    merged = designs.from_matrix([["3/4", "3/8"], ["1/4", "5/8"]], 2)
    return "equivalent" if dominates(split, merged) and dominates(merged, split) else "different"


def _formula(where: str, what: str, printed: str, compute: Callable[[], Value], value: float | None = None) -> Row:
    """A printed formula with the value that it has at the arguments chosen, or a printed claim in words."""
    return Row(KEY, where, what, printed, compute, kind="formula", formula=None if value is None else lambda: value)


def _correction(what: str, printed: str, compute: Callable[[], Value], why: Explanation) -> Row:
    return Row(KEY, "Statements that need a correction", what, printed, compute, why, kind="correction")


_BOUNDS = "Sections 1 to 3: formulas at chosen arguments"
_OPTIMAL = "Section 4: admissible and optimal matrices"
_RHO = "ρ2(1-ρ1)/(ρ1(1-ρ2))"

ROWS = (
    _formula(
        _BOUNDS, "Section 1: parity with m=5 reports, k=3, η=4", "η", lambda: _parity_with_more_reports(3, 5, 4), 4.0
    ),
    _formula(
        _BOUNDS,
        "Section 1: reports of RAPPOR, k=5",
        "2^k",
        lambda: float(designs.rappor(5, epsilon=1).report_count()),
        32.0,
    ),
    _formula(_BOUNDS, "(1.6): parity, ρ1=0.2, ρ2=0.5", _RHO, lambda: _rho_bound(0.2, 0.5), 0.5 * 0.8 / (0.2 * 0.5)),
    _formula(_BOUNDS, "(1.6): parity, ρ1=0.1, ρ2=0.6", _RHO, lambda: _rho_bound(0.1, 0.6), 0.6 * 0.9 / (0.1 * 0.4)),
    _formula(_BOUNDS, "Theorem 1.2: bound on parity, β=3", "β", lambda: _beta_bound(3), 3.0),
    _formula(_BOUNDS, "(2.1): e^ε where the parity is γ=3", "γ", _largest_set_ratio, 3.0),
    _formula(_BOUNDS, "(3.5): h(0.1), γ=20", "γa/(1+(γ-1)a)", lambda: _belief(0.1, true=True), 2 / (1 + 1.9)),
    _formula(
        _BOUNDS, "Section 3: 1 - h(1 - a), a=0.1, γ=20", "1-h(1-a)", lambda: _belief(0.1, true=False), 1 - 18 / 18.1
    ),
    _formula(_BOUNDS, "(3.6): largest Bayes factor, γ=20", "γ", _odds_ratio, 20.0),
    _formula(_OPTIMAL, "Remark 4.1: with proportional rows merged, a design is", "equivalent", _merged_are_equivalent),
    _formula(_OPTIMAL, "Lemma 4.2: row parity 3/2 where γ=3", "inadmissible", _beaten_below_parity),
    _formula(_OPTIMAL, "Lemma 4.4: three values in a row", "inadmissible", _three_values),
    _formula(
        _OPTIMAL,
        "Proposition 4.1: p_11 for k=2, γ=3",
        "γ/(γ+1)",
        lambda: float(designs.minimax(2, gamma=3).matrix()[0, 0]),
        3 / 4,
    ),
    _formula(
        _OPTIMAL, "Theorem 4.4 (b): p_11, k=4, γ=3", "γ/(γ+k-1)", lambda: float(largest_trace(4, 3)[1][0, 0]), 3 / 6
    ),
    _formula(
        _OPTIMAL, "Theorem 4.4 (b): p_12, k=4, γ=3", "1/(γ+k-1)", lambda: float(largest_trace(4, 3)[1][0, 1]), 1 / 6
    ),
    _formula(_OPTIMAL, "Section 5: parity of collapsed cells", "∞", _collapsed),
    _correction(
        "Theorem 4.4 (a): largest trace, k=4, γ=3",
        "13.5000",
        lambda: largest_trace(4, 3)[0],
        Explanation("printed γ^k/(γ+k-1), more than the 4 of the identity; γk/(γ+k-1) is meant", lambda: 3**4 / 6),
    ),
    _correction(
        "Theorem 4.4, proof: a_j from the sum of all, k=4, γ=3",
        "1.5000",
        lambda: float(largest_trace(4, 3)[1][0, 0]),
        Explanation(
            "printed γ/(1-γ)·(1 - Σa), above 1; what precedes it gives γ/(γ-1)·(1 - Σa/γ)",
            lambda: 3 / (1 - 3) * (1 - largest_trace(4, 3)[0]),
        ),
    ),
)
