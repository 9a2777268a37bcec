"""Nothing beats the frontier, and parities of several questions multiply."""

import inspect
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import maskwell as mw
from maskwell import designs, planning
from maskwell.designs import DESIGNS
from tests.conformance.members import MEMBERS

Floats = NDArray[np.float64]


# The frontier.


def exists(name: str, k: int) -> bool:
    """Whether the named design takes an ε and can be built for k categories."""
    function = DESIGNS[name].function
    if "epsilon" not in inspect.signature(function).parameters:
        return False
    try:
        return bool(function(k, epsilon=1.0))
    except mw.DesignError:
        return False


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_nothing_beats_the_minimax_design_at_equal_epsilon(k: int) -> None:
    epsilons = [0.1, 0.5, 1.0, 2.0, 4.0]
    points = planning.frontier(k, epsilons)
    assert {p.name for p in points} >= {"direct", *(name for name in DESIGNS if name != "block" and exists(name, k))}
    for epsilon in epsilons:
        same = {p.name: p for p in points if p.parameters.get("epsilon") == epsilon}
        best = same["minimax"]
        assert best.on_epsilon_frontier
        for point in same.values():
            assert epsilon * (1 - 1e-9) <= point.epsilon <= epsilon
            assert point.added_variance >= best.added_variance * (1 - 1e-12)
            assert point.on_epsilon_frontier == (point.added_variance <= best.added_variance * (1 + 1e-6))
        assert same["trimmed_rappor"].added_variance <= same["rappor"].added_variance


@pytest.mark.parametrize("k", [3, 6])
def test_the_frontier_is_what_no_other_point_beats(k: int) -> None:
    points = planning.frontier(k, [0.3, 1.0, 3.0])
    for point in points:
        design = DESIGNS[point.name].function(k, **point.parameters)
        assert (point.epsilon, point.parity) == (design.epsilon, design.parity)
        assert point.added_variance == design.added_variance
        assert point.guess_probability == pytest.approx(design.matrix().max(axis=1).sum() / k, rel=1e-12)
        for flag, privacy in (("on_epsilon_frontier", "epsilon"), ("on_guess_frontier", "guess_probability")):
            as_private = [p for p in points if getattr(p, privacy) <= getattr(point, privacy) * (1 + 1e-9)]
            best = min(p.added_variance for p in as_private)
            finite = math.isfinite(getattr(point, privacy))
            if getattr(point, flag):
                assert finite
                assert point.added_variance <= best + 2e-9 * (1 + best)
            elif finite:
                beaten = point.added_variance > best
                tied = [p for p in as_private if p.added_variance <= point.added_variance + 2e-9 * (1 + best)]
                assert beaten or any(getattr(p, privacy) < getattr(point, privacy) for p in tied)
    assert all(p.on_guess_frontier for p in points if p.name in ("direct", "local_diversity"))


def test_the_frontier_of_chosen_designs() -> None:
    points = planning.frontier(10, [1.0], ls=[3, 99], names=["minimax", "local_diversity"])
    assert [(p.name, p.parameters) for p in points] == [("minimax", {"epsilon": 1.0}), ("local_diversity", {"l": 3})]
    with pytest.raises(mw.DesignError, match="'minmax' is not one of"):
        planning.frontier(10, [1.0], names=["minmax"])


# Several questions.

FINITE = [design for design in MEMBERS.values() if math.isfinite(design.parity) and design.k <= 3]


@given(st.lists(st.sampled_from(FINITE), min_size=1, max_size=3))
def test_parities_multiply_and_shares_say_where_epsilon_goes(parts: list[mw.Design]) -> None:
    together = planning.compose(parts)
    matrix = np.ones((1, 1), object)
    for part in parts:
        matrix = np.kron(matrix, part.matrix(exact=True))
    rows = [row for row in matrix if any(row)]
    assert together.exact_parity == max(max(row) / min(row) for row in rows)
    assert together.epsilon == pytest.approx(math.fsum(p.epsilon for p in parts), rel=1e-12)
    assert math.fsum(together.shares) == pytest.approx(1)
    for part, share in zip(parts, together.shares, strict=True):
        assert share * together.epsilon == pytest.approx(part.epsilon)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_repeated_answers_multiply_parity_although_the_truth_is_the_same(times: int) -> None:
    for design in FINITE:
        matrix = design.matrix(exact=True)
        rows = [math.prod(combination) for combination in itertools.product(list(matrix), repeat=times)]
        parity = max(max(row) / min(row) for row in rows if any(row))
        repeated = planning.repeat(design, times)
        assert repeated.exact_parity == parity
        assert repeated.parity == float(parity)
        assert len(repeated.names) == times


def test_a_question_without_a_limit_takes_all_of_it() -> None:
    parts = [designs.minimax(3, epsilon=1), designs.local_diversity(4, l=2), designs.direct(2)]
    together = planning.compose(parts, ["a", "b", "c"])
    assert (together.epsilon, together.parity, together.exact_parity) == (math.inf,) * 3
    assert together.shares == (0, 0.5, 0.5)
    assert str(together).splitlines()[-1].split() == ["together", "inf"]


def test_composition_refuses_what_makes_no_sense() -> None:
    design = designs.warner(truth_prob=0.75)
    for ask, named in (
        (lambda: planning.compose([]), "no designs"),
        (lambda: planning.compose([design], ["a", "b"]), "names"),
        (lambda: planning.repeat(design, 0), "times"),
        (lambda: planning.repeat(design, 1.5), "times"),  # type: ignore[arg-type]
        (lambda: planning.split_epsilon(0, [2]), "total"),
        (lambda: planning.split_epsilon(1e6, [2]), "total"),
        (lambda: planning.split_epsilon(1, []), "ks"),
        (lambda: planning.split_epsilon(1, [2.5]), "ks"),  # type: ignore[list-item]
        (lambda: planning.split_epsilon(1, [2, 3], [1]), "weights"),
        (lambda: planning.split_epsilon(1, [2, 3], [1, 0]), "weights"),
    ):
        with pytest.raises(mw.DesignError, match=named) as caught:
            ask()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("total", "ks", "weights"),
    [
        (2.0, [2, 10], None),
        (1.0, [2, 2], [1, 100]),
        (0.2, [3, 5, 9], None),
        (6.0, [2, 20, 200], [5, 1, 0.1]),
        (3.0, [7], None),
        (12.0, [4, 4, 4, 30], None),
        (1.5, [50, 60], [1, 2]),
    ],
)
def test_a_split_is_within_its_total_and_no_other_split_is_better(
    total: float, ks: list[int], weights: list[float] | None
) -> None:
    split = planning.split_epsilon(total, ks, weights)
    scale = weights or [1.0] * len(ks)
    assert sum(map(Fraction, split.epsilons)) <= Fraction(total)
    assert math.fsum(split.epsilons) == pytest.approx(total, rel=1e-9)
    best = [mw.plan(k, demand) for k, demand in zip(ks, split.demands, strict=True)]
    assert planning.compose(best).epsilon <= total
    cost = math.fsum(w * d.added_variance for w, d in zip(scale, best, strict=True))
    assert split.added_variance == pytest.approx(cost, rel=1e-9)
    even = math.fsum(
        w * designs.minimax(k, epsilon=total / len(ks)).added_variance for w, k in zip(scale, ks, strict=True)
    )
    assert split.even_added_variance == pytest.approx(even, rel=1e-9)
    assert split.lower_bound <= split.added_variance <= split.even_added_variance * (1 + 1e-12)
    # The best size changes with ε, which leaves a gap to the bound; it is tiny.
    assert split.added_variance - split.lower_bound <= 1e-3 * split.added_variance
    for shares in np.random.default_rng(5).dirichlet(np.ones(len(ks)), size=60):
        parts = np.maximum(shares * total, 1e-3)
        other = math.fsum(
            w * designs.minimax(k, epsilon=float(e)).added_variance for w, k, e in zip(scale, ks, parts, strict=True)
        )
        assert other >= split.lower_bound * (1 - 1e-9) or parts.sum() > total * (1 + 1e-12)
        assert other >= split.added_variance * (1 - 1e-6) or parts.sum() > total * (1 + 1e-12)
