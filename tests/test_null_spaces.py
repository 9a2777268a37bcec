"""What a matrix sends to zero, held against elimination over the rationals, with primes that mislead."""

from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maskwell as mw
from maskwell import null_spaces
from maskwell.exact import eliminate
from maskwell.null_spaces import null_space, rank

FIRST, SECOND = islice(null_spaces._primes(), 2)


def by_elimination(matrix: list[list[Any]]) -> list[list[Fraction]]:
    """The same basis from Gauss and Jordan's elimination over the rationals."""
    rows, pivots, _ = eliminate(matrix)
    basis = []
    for free in (j for j in range(len(rows[0])) if j not in pivots):
        vector = [Fraction(j == free) for j in range(len(rows[0]))]
        for at, column in enumerate(pivots):
            vector[column] = -rows[at][free]
        basis.append(vector)
    return basis


# Numbers that are small, nearly a multiple of the first primes, or fractions.
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.tuples(st.integers(-2, 2), st.sampled_from([FIRST, SECOND, FIRST * SECOND]), st.integers(-1, 1)).map(
        lambda parts: parts[0] * parts[1] + parts[2]
    ),
    st.fractions(-3, 3, max_denominator=9),
)


@st.composite
def matrices(draw: Any) -> list[list[Any]]:
    """Products of two matrices, so that columns depend on each other."""
    rows, inner, columns = draw(st.integers(1, 5)), draw(st.integers(1, 3)), draw(st.integers(1, 6))
    left = np.array([[draw(NUMBERS) for _ in range(inner)] for _ in range(rows)], object)
    right = np.array([[draw(NUMBERS) for _ in range(columns)] for _ in range(inner)], object)
    made: list[list[Any]] = (left @ right).tolist()
    return made


@given(matrices())
def test_the_basis_is_that_of_elimination_over_the_rationals(matrix: list[list[Any]]) -> None:
    assert null_space(matrix) == by_elimination(matrix)
    assert rank(matrix) == len(eliminate(matrix).pivots)


@pytest.mark.parametrize(
    "matrix",
    [
        [[FIRST, 0], [0, 1]],  # the first prime hides a row
        [[FIRST, 1, 0], [0, 0, 1]],  # ... and makes a later column lead
        [[1, 1], [1, 1 + FIRST * SECOND]],  # two hide that the columns differ
        [[0, 0, 0]],
        [[1, 2, 2, 2]],
    ],
)
def test_a_prime_that_misleads_only_costs_time(matrix: list[list[int]]) -> None:
    assert null_space(matrix) == by_elimination(matrix)


def test_many_categories_that_depend_on_each_other_are_told() -> None:
    """Two answers out of 200 are reported alike; over the rationals this takes minutes."""
    k = 200
    weights = np.random.default_rng(1).integers(1, 1 << 40, (k, k)).astype(object)
    weights[:, 7] = weights[:, 3]
    totals = weights.sum(axis=0)
    weights[0] += max(totals) - totals
    design = mw.designs.MatrixDesign(
        tuple(range(k)), tuple(map(tuple, weights.tolist())), int(max(totals)), tuple(range(k)), name="from_matrix"
    )
    assert design.channel.rank == k - 1
    with pytest.raises(mw.EstimationError, match=r"cannot estimate the categories 3, 7: .* along - 3 \+ 7"):
        design.scores("linear")


def test_what_would_take_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    matrix = random.integers(0, 1 << 60, (12, 15)).astype(object).tolist()
    assert len(null_space(matrix)) == 3
    monkeypatch.setattr(null_spaces, "_MOST_STEPS", 10_000)
    with pytest.raises(mw.DesignError, match=r"12 reports of 15 categories .* too long to find exactly"):
        null_space(matrix)


def test_primes_are_prime_and_fit() -> None:
    for prime in islice(null_spaces._primes(), 50):
        assert prime < 1 << 31
        assert all(prime % divisor for divisor in range(2, int(prime**0.5) + 1))
