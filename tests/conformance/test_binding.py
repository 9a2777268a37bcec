"""The audit is bound to the sampler: both read the same integers, so neither can drift from the other."""

from dataclasses import replace
from fractions import Fraction

import pytest

import maskwell as mw
from maskwell.designs import MatrixDesign, SubsetDesign
from tests.conformance.checks import row_parity
from tests.conformance.members import MEMBERS
from tests.conformance.sampling_checks import check_sampler, check_thresholds

SUBSETS = {title: design for title, design in MEMBERS.items() if isinstance(design, SubsetDesign)}
AT_A_PARITY = {title: design for title, design in SUBSETS.items() if design.parity < float("inf")}
MATRICES = {title: d for title, d in MEMBERS.items() if isinstance(d, MatrixDesign) and d.parity < float("inf")}
# A twentieth of all answers: far above the 1.2 % that 400,000 draws are sure to show.
LARGE = (1 << 64) // 20


def moved_inside(design: SubsetDesign, at: int, amount: int) -> SubsetDesign:
    """The design with this much weight of its ``at``-th size moved from outside to inside."""
    inside, outside = list(design.inside), list(design.outside)
    inside[at], outside[at] = inside[at] + amount, outside[at] - amount
    return replace(design, inside=tuple(inside), outside=tuple(outside))


def moved_between_rows(design: MatrixDesign, column: int, source: int, target: int, amount: int) -> MatrixDesign:
    rows = [list(row) for row in design.weights]
    rows[source][column] -= amount
    rows[target][column] += amount
    return replace(design, weights=tuple(map(tuple, rows)))


@pytest.mark.parametrize("design", AT_A_PARITY.values(), ids=AT_A_PARITY.keys())
def test_one_integer_changed_by_one_changes_parity(design: SubsetDesign) -> None:
    """One more inside, for any size, and the claim is broken: the integers are rounded as little as privacy allows."""
    for at, size in enumerate(design.sizes):
        if 0 < size < design.k:
            more, less = moved_inside(design, at, 1), moved_inside(design, at, -1)
            assert more.exact_parity() > design.exact_parity()
            assert not design.demand.holds_for(more)
            assert less.exact_parity() != design.exact_parity() or len(design.sizes) > 1
            assert len({design.fingerprint, more.fingerprint, less.fingerprint}) == 3


@pytest.mark.parametrize("design", MATRICES.values(), ids=MATRICES.keys())
def test_one_entry_changed_by_one_changes_parity(design: MatrixDesign) -> None:
    """In the row that decides parity, the largest entry grows by one."""
    parities = [row_parity([Fraction(w) for w in row]) for row in design.weights]
    worst = parities.index(max(parities))
    column = design.weights[worst].index(max(design.weights[worst]))
    other = max((row for row in range(len(parities)) if row != worst), key=lambda row: design.weights[row][column])
    assert moved_between_rows(design, column, other, worst, 1).exact_parity() > design.exact_parity()
    less = moved_between_rows(design, column, worst, other, 1)
    assert less.exact_parity() != design.exact_parity() or parities.count(max(parities)) > 1
    assert less.fingerprint != design.fingerprint


@pytest.mark.parametrize("design", SUBSETS.values(), ids=SUBSETS.keys())
def test_a_large_change_moves_sampled_frequencies(design: SubsetDesign) -> None:
    """Rejected at the false-alarm rate of the suite; the change shows with probability above .99."""
    sizes = [at for at, size in enumerate(design.sizes) if 0 < size < design.k]
    at = max(sizes, key=lambda at: design.inside[at] + design.outside[at])
    amount = LARGE if design.outside[at] > LARGE else -LARGE
    altered = moved_inside(design, at, amount)
    check_thresholds(altered)
    with pytest.raises(AssertionError, match=r"p-value|probability zero"):
        check_sampler(altered, n=400_000, false_alarm=1e-9, worst_error=0.012, claimed=design)


@pytest.mark.parametrize("design", MATRICES.values(), ids=MATRICES.keys())
def test_a_large_change_of_a_matrix_moves_sampled_frequencies(design: MatrixDesign) -> None:
    heavy = max(range(len(design.weights)), key=lambda row: design.weights[row][0])
    # A coarse matrix is first written in finer units, so that a twentieth can be moved.
    finer = 1 if design.total >= 20 else 20
    weights = tuple(tuple(finer * weight for weight in row) for row in design.weights)
    same = replace(design, weights=weights, total=finer * design.total)
    altered = moved_between_rows(same, 0, heavy, (heavy + 1) % len(weights), same.total // 20)
    check_thresholds(altered)
    with pytest.raises(AssertionError, match="p-value"):
        check_sampler(altered, n=400_000, false_alarm=1e-9, worst_error=0.012, claimed=design)


def test_epsilon_and_sampler_read_the_same_integers() -> None:
    design = mw.designs.gamma_diagonal(4, epsilon=1)
    assert isinstance(design, SubsetDesign)
    assert design.sampler.stay == design.inside[0]
    assert design.exact_parity() == Fraction(3 * design.inside[0], design.outside[0])
