"""Designs that waste nothing: who is admissible, who is not and why, and what improves those that are not."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell import designs
from maskwell.ordering import (
    admissible,
    admissible_average_secure,
    dominates,
    equivalent,
    improve,
    improvement,
)
from tests.conformance.members import MEMBERS
from tests.order_checks import dirichlet, judged, tables

FINITE = {title: design for title, design in MEMBERS.items() if math.isfinite(design.parity)}


def test_rappor_is_inadmissible_through_its_empty_and_full_set_only() -> None:
    for k in (2, 5, 12):
        full, trimmed = designs.rappor(k, epsilon=1), designs.trimmed_rappor(k, epsilon=1)
        verdict = admissible(full)
        assert not verdict
        assert verdict.why.startswith("the empty set has chance")
        assert verdict.slack == pytest.approx(1 - 1 / math.e)
        assert admissible(trimmed)
        assert admissible(trimmed).slack < 1e-9
        assert equivalent(improve(full), trimmed)


@pytest.mark.parametrize("k", [2, 3, 7, 40, 300])
def test_improving_rappor_gives_the_trimmed_one(k: int) -> None:
    full = designs.rappor(k, epsilon=1)
    better = improve(full)
    assert isinstance(better, mw.designs.SubsetDesign)
    assert equivalent(better, designs.trimmed_rappor(k, epsilon=1))
    assert better.exact_parity() <= full.exact_parity()
    assert better.demand == full.demand


def test_improving_the_table_of_rappor_gives_the_trimmed_one() -> None:
    better = improve(designs.from_matrix(designs.rappor(4, epsilon=1).matrix()))
    assert better.report_count() == 14
    assert equivalent(better, designs.trimmed_rappor(4, epsilon=1))


@pytest.mark.parametrize("design", FINITE.values(), ids=FINITE.keys())
def test_improvement_of_named_designs(design: mw.Design) -> None:
    found = improvement(design)
    better = found.design
    assert admissible(better)
    assert better.exact_parity() <= design.exact_parity()
    assert np.abs(found.C @ better.matrix() - design.matrix()).max() <= 1e-9
    assert np.abs(found.C.sum(axis=0) - 1).max() < 1e-12
    assert found.C.min() >= 0
    assert found.slack <= 1e-9
    assert judged(better, design)
    # Admissible designs are left alone; the others are improved strictly.
    assert (better is design) == bool(admissible(design)) == bool(judged(design, better))
    assert better.added_variance <= design.added_variance * (1 + 1e-9)
    assert mw.Design.from_json(better.to_json()) == better


@given(st.data())
def test_improvement_of_any_table_is_admissible_and_no_less_private(data: st.DataObject) -> None:
    table = data.draw(tables(data.draw(st.integers(2, 4)), rows=(2, 5), least=1))
    design = designs.from_matrix(table)
    found = improvement(design)
    assert admissible(found.design)
    assert found.design.exact_parity() <= design.exact_parity()
    assert np.abs(found.C @ found.design.matrix() - design.matrix()).max() <= 1e-9
    assert bool(admissible(design)) == bool(dominates(design, found.design))


def test_rows_of_three_values_are_split_exactly() -> None:
    """In fractions throughout. Worked by hand: the steps are 1/6 high, and the rows leave 0, 1/6 and 1/6 over."""
    design = designs.from_matrix([["3/6", "2/6", "1/6"], ["1/6", "1/6", "1/6"], ["2/6", "3/6", "4/6"]])
    found = improvement(design)
    assert found.wasted == pytest.approx(1 / 3)
    assert found.design.report_labels() == ["0", "2", "0 or 1", "1 or 2"]
    eighth = Fraction(1, 8)
    expected = [[3, 1, 1], [1, 1, 3], [3, 3, 1], [1, 3, 3]]
    assert found.design.matrix(exact=True).tolist() == [[value * eighth for value in row] for row in expected]


def test_gamma_diagonal_is_admissible_and_has_the_largest_trace() -> None:
    """chai-nayak-2018, Theorem 4.4, against admissible designs drawn at random and merged into k reports."""
    generator = np.random.default_rng(11)
    for k in (3, 4, 5):
        design = designs.gamma_diagonal(k, gamma=Fraction(4))
        assert admissible(design)
        assert design.matrix().trace() == pytest.approx(4 * k / (4 + k - 1), rel=1e-12)
        for _ in range(15):
            rival = improve(designs.from_matrix(dirichlet(k + 1, k, generator, 3)))
            assert admissible(rival)
            bound = rival.parity * k / (rival.parity + k - 1)
            rows = rival.matrix()
            # Each report is called by its likeliest category: no merging has a larger trace.
            assert rows.max(axis=1).sum() <= bound * (1 + 1e-9)
            equal = designs.gamma_diagonal(k, gamma=rival.exact_parity())
            assert equal.matrix().trace() == pytest.approx(bound, rel=1e-9)


def test_what_is_wrong_is_said_about_the_first_wrong_row() -> None:
    weak = designs.from_matrix([["1/2", "1/4"], ["1/2", "3/4"]], reports=["red", "blue"])
    assert admissible(weak).why == "report 'blue' has parity 1.5 and could tell more: the design's parity is 2."
    split = designs.from_matrix([["3/4", "2/4", "1/4"], ["1/4", "2/4", "3/4"]], reports=["red", "blue"])
    assert (
        admissible(split).why == "report 'red' takes 3 different values and could be split into reports that take two."
    )
    assert admissible(split).slack == pytest.approx(1 / 3)


def test_designs_at_the_ends_of_the_scale() -> None:
    constant = designs.from_matrix([["1/3", "1/3"], ["2/3", "2/3"]])
    assert admissible(constant)
    assert improve(constant) is constant
    assert admissible(designs.direct(4))
    diverse = designs.local_diversity(5, l=2)
    assert not admissible(diverse)
    assert "direct question" in admissible(diverse).why
    assert judged(designs.direct(5), diverse)
    with pytest.raises(mw.DesignError, match="infinite parity") as error:
        improve(diverse)
    assert "\n" not in str(error.value)


def test_admissibility_at_five_thousand_categories() -> None:
    minimax = designs.minimax(5000, epsilon=1)
    start = time.perf_counter()
    assert admissible(minimax)
    assert not admissible(
        designs.SubsetDesign(
            minimax.categories,
            (0, *minimax.sizes),
            (0, *minimax.inside),
            (2**32, minimax.outside[0] - 2**32),
            name="minimax",
        )
    )
    assert improve(minimax) is minimax
    assert time.perf_counter() - start < 1


def test_the_two_matrices_of_average_security() -> None:
    """nayak-zhai-2019, section 3.1: equally secure on average, but one of them gives the truth away."""
    first = designs.from_matrix([["1/2", "0"], ["0", "1/2"], ["1/2", "1/2"]])
    second = designs.from_matrix([["7/10", "2/10"], ["3/10", "8/10"]])
    assert first.column_distance() == second.column_distance() == 1
    assert math.isinf(first.parity)
    assert second.exact_parity() == Fraction(7, 2)
    assert admissible_average_secure(first, Fraction(3, 2))
    assert admissible_average_secure(second, Fraction(3, 2)).why == "report 0 has unequal non-zero entries."
    assert judged(first, second)
    assert not judged(second, first)


def test_equal_entries_are_not_enough_for_average_security() -> None:
    """nayak-zhai-2019 states half of the rule: columns must also be as far apart as φ allows."""
    best, other = (designs.average_secure(3, phi=phi) for phi in (Fraction(3, 2), Fraction(5, 4)))
    assert admissible_average_secure(best, Fraction(3, 2))
    verdict = admissible_average_secure(other, Fraction(3, 2))
    assert not verdict
    assert "(withheld)" in verdict.why
    assert judged(best, other)
    assert not judged(other, best)
    assert admissible_average_secure(other)
    assert not admissible_average_secure(best, Fraction(5, 4))
    assert "not average secure" in admissible_average_secure(best, Fraction(5, 4)).why


@pytest.mark.parametrize(("k", "l"), [(4, 2), (5, 4)])
def test_average_security_by_size_and_by_row(k: int, l: int) -> None:
    design = designs.local_diversity(k, l=l)
    own = 1 + design.column_distance() / 2
    for phi in (own, (own + 2) / 2):
        by_size = admissible_average_secure(design, phi)
        by_row = admissible_average_secure(design.matrix(), phi)
        assert by_size.holds == by_row.holds == (phi == own)
        assert by_size.slack == pytest.approx(by_row.slack)
