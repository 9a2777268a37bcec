"""The catalogue of blocks is balanced, and the best of them is chosen."""

import math
from fractions import Fraction

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import BlockEntry, catalogue
from maskwell.designs.blocks.catalogue import fewest_blocks, hadamard_matrix, hadamard_orders
from maskwell.designs.blocks.finite_fields import field, prime_powers
from maskwell.designs.named.block import points_to_keep
from maskwell.views.audit_figures import findings
from tests.block_helpers import FANO, SMALL, on_entry, symmetric


def assert_balanced(entry: BlockEntry) -> None:
    v, b, r, q, pair = entry.parameters
    members = entry.members()
    assert members.shape == (b, v), entry.name
    assert (v * r, pair * (v - 1)) == (b * q, r * (q - 1)), entry.name
    held = members.astype(np.float32)  # whole numbers below 2^24 are exact
    together = held.T @ held
    expected = np.full((v, v), pair, np.float32)
    np.fill_diagonal(expected, r)
    assert (together == expected).all(), entry.name
    assert (members.sum(axis=1) == q).all(), entry.name


# The catalogue.


@pytest.mark.parametrize("v", range(2, 33))
def test_every_small_entry_is_balanced(v: int) -> None:
    for entry in catalogue(v, v):
        assert_balanced(entry)


def test_large_entries_are_balanced() -> None:
    """One of each family with some hundred points."""
    families = {}
    for entry in catalogue(1100, 250, most_blocks=3000):
        words = [word for word in entry.name.split() if not any(c.isdigit() for c in word)]
        families.setdefault(" ".join(words), entry)
    assert len(families) >= 20
    for entry in families.values():
        assert_balanced(entry)


@pytest.mark.parametrize(
    "parameters",
    [
        (7, 7, 3, 3, 1),  # Fano plane
        (13, 13, 4, 4, 1),
        (31, 31, 15, 15, 7),  # PG(4, 2)
        (40, 40, 13, 13, 4),  # PG(3, 3)
        (9, 12, 4, 3, 1),  # affine planes
        (25, 30, 6, 5, 1),
        (11, 11, 5, 5, 2),  # squares
        (27, 27, 13, 13, 6),
        (37, 37, 9, 9, 2),  # fourth powers
        (109, 109, 28, 28, 7),  # and zero
        (35, 35, 17, 17, 8),  # twin primes
        (16, 16, 6, 6, 2),
        (39, 39, 19, 19, 9),  # Hadamard
        (7, 7, 4, 4, 2),  # complements
        (12, 12, 1, 1, 0),
        (12, 12, 11, 11, 10),
    ],
)
def test_known_designs_are_there(parameters: tuple[int, ...]) -> None:
    v = parameters[0]
    assert parameters in {entry.parameters for entry in catalogue(v, v)}


def test_every_design_has_its_complement() -> None:
    sizes = {(entry.v, entry.q, entry.b) for entry in SMALL}
    assert all((v, v - q, b) in sizes for v, q, b in sizes if v > 2)


def test_fewest_blocks_keeps_one_per_size() -> None:
    kept = fewest_blocks(SMALL)
    assert {(entry.v, entry.q) for entry in kept} == {(entry.v, entry.q) for entry in SMALL}
    assert all(entry.b <= other.b for entry in kept for other in SMALL if (entry.v, entry.q) == (other.v, other.q))


@pytest.mark.parametrize("order", [2, 3, 4, 5, 8, 9, 16, 25, 27, 49, 64])
def test_fields_are_fields(order: int) -> None:
    of = field(order)
    assert sorted(of.powers.tolist()) == list(range(1, order))
    elements = np.arange(order)
    times, plus = of.multiplication, of.addition
    assert (times[1] == elements).all()
    assert (plus[0] == elements).all()
    a, b, c = np.meshgrid(elements, elements, elements[: min(order, 9)], indexing="ij")
    assert (times[a, plus[b, c]] == plus[times[a, b], times[a, c]]).all()
    assert (times[times[a, b], c] == times[a, times[b, c]]).all()
    assert all(sorted(row) == list(range(order)) for row in plus.tolist())


def test_prime_powers() -> None:
    found = prime_powers(32)
    assert list(found) == [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]
    assert (found[32], found[27]) == (2, 3)


def test_hadamard_matrices_are_orthogonal() -> None:
    """All orders up to 120 but 92 and 116, for which these constructions give none."""
    assert set(range(4, 121, 4)) - set(hadamard_orders(120)) == {92, 116}
    for order in hadamard_orders(120):
        matrix = hadamard_matrix(order).astype(int)
        assert (matrix @ matrix.T == order * np.eye(order, dtype=int)).all()


# Choosing.


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 19, 20, 21, 25, 27, 31])
def test_the_best_size_is_attained_where_it_fits(k: int) -> None:
    """Without an embedding and at the size of the minimax design, the error is the least that the parity allows."""
    fitting = 0
    for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
        design, best = mw.designs.block(k, epsilon=epsilon), mw.designs.minimax(k, epsilon=epsilon)
        if (design.points, design.block_size) == (k, best.sizes[0]):
            fitting += 1
            assert design.added_variance == pytest.approx(best.added_variance, rel=1e-12)
            assert design.embedding is None
            assert design.report_count() <= best.report_count()
        assert mw.LDP(epsilon).holds_for(design)
    # With a field on k elements there are blocks of every size.
    assert fitting == 5 if k in prime_powers(31) else fitting >= 1


@pytest.mark.parametrize("k", [12, 14, 22, 24, 33, 45, 60, 99])
def test_an_embedding_says_its_price(k: int) -> None:
    """The ratio is that of added variances, above 1 and for these below 1.02; no exact design of the list is better."""
    for epsilon in (0.3, 1.0, 1.7):
        design, best = mw.designs.block(k, epsilon=epsilon), mw.designs.minimax(k, epsilon=epsilon)
        embedding = design.embedding
        if embedding is None:
            assert (design.points, design.block_size) == (k, best.sizes[0])
            continue
        assert (embedding.points, embedding.block_size) == (design.points, design.block_size) != (k, best.sizes[0])
        assert embedding.best_size == best.sizes[0]
        assert embedding.added_variance == design.added_variance
        assert embedding.symmetric_added_variance == pytest.approx(best.added_variance, rel=1e-9)
        assert 1 <= embedding.ratio == pytest.approx(design.added_variance / best.added_variance, rel=1e-9)
        assert embedding.ratio < 1.02
        # A bit is taken to be worth a thousandth, so what was left aside is at most as many thousandths better.
        bound = design.exact_parity()
        exact = [symmetric(k, entry.q, bound).added_variance for entry in fewest_blocks(catalogue(k, k))]
        assert design.added_variance <= min(exact) * (1 + 1e-3 * design.communication_bits)


@pytest.mark.parametrize(
    ("k", "epsilon", "size", "best_size", "price"), [(15, 0.3, 7, 6, 0.00416), (21, 1.0, 5, 6, 0.00498)]
)
def test_another_block_size_has_its_price_too(k: int, epsilon: float, size: int, best_size: int, price: float) -> None:
    """Where the points are the categories but blocks of the best size do not exist."""
    design = mw.designs.block(k, epsilon=epsilon)
    assert not design.embedded
    embedding = design.embedding
    assert embedding is not None
    assert (embedding.points, embedding.block_size, embedding.best_size) == (k, size, best_size)
    bound = design.exact_parity()
    assert embedding.added_variance == pytest.approx(symmetric(k, size, bound).added_variance, rel=1e-12)
    assert embedding.symmetric_added_variance == pytest.approx(symmetric(k, best_size, bound).added_variance, rel=1e-12)
    assert embedding.ratio - 1 == pytest.approx(price, abs=5e-6)
    shown = [row for rows in findings(mw.audit(design)).values() for row in rows if row.name == "price of blocks"]
    assert [float(row.value.removesuffix(" %")) for row in shown] == [pytest.approx(100 * price, rel=2e-3)]


def test_without_a_price_nothing_is_shown() -> None:
    for design in (mw.designs.block(7, gamma=1.5), mw.designs.block(7, l=3), mw.designs.minimax(7, gamma=1.5)):
        assert not [r for rows in findings(mw.audit(design)).values() for r in rows if r.name == "price of blocks"]
    larger = mw.designs.block(21, l=4).embedding
    assert larger is not None
    assert (larger.block_size, larger.best_size) == (5, 4)
    assert larger.ratio == pytest.approx(17 / 12)


@pytest.mark.parametrize("k", [3, 4, 6, 7, 8, 10, 12, 15, 20, 33])
def test_diversity(k: int) -> None:
    for l in range(2, k, max(1, k // 6)):
        design, best = mw.designs.block(k, l=l), mw.designs.local_diversity(k, l=l)
        assert design.diversity() >= l
        assert design.demand == mw.LocalDiversity(l)
        assert design.exact_parity() == math.inf
        if design.embedding is None and design.block_size == l:
            assert design.added_variance == pytest.approx(best.added_variance, rel=1e-12)
            assert design.added_variance == pytest.approx((k - 1) * (l - 1) / (k - l), rel=1e-12)
        else:
            assert best.added_variance < design.added_variance < math.inf
        assert design.symmetric.added_variance == best.added_variance


def test_a_construction_by_name() -> None:
    """What a design's parameters say gives the same design again."""
    fano = mw.designs.block(6, gamma=4, construction="projective plane of order 2")
    assert fano == on_entry(FANO, k=6, gamma=Fraction(4))
    for design in (fano, mw.designs.block(10, l=3), mw.designs.block(20, epsilon=1), mw.designs.block(5, epsilon=0.5)):
        assert mw.designs.block(design.k, **design.parameters) == design
    with pytest.raises(mw.DesignError, match="'windmill' is not in the catalogue"):
        mw.designs.block(6, gamma=4, construction="windmill")
    with pytest.raises(mw.DesignError, match="fewer than l=3"):
        mw.designs.block(6, l=3, construction="projective plane of order 2")


def test_points_that_are_kept_leave_blocks_large_enough() -> None:
    plane = next(entry for entry in catalogue(21, 21) if entry.name == "projective plane of order 4")
    kept = points_to_keep(plane.members(), 15, 3)
    assert kept is not None
    assert len(kept) == 15
    assert plane.members()[:, kept].sum(axis=1).min() == 3
    assert points_to_keep(FANO.members(), 5, 2) is None


def test_communication_bits() -> None:
    """A plane of order 4 tells one of 21 lines, the symmetric design one of C(21, 5) sets."""
    design = mw.designs.block(21, gamma=3)
    assert design.report_count() == 21
    assert design.communication_bits == math.log2(21)
    assert design.symmetric_communication_bits == pytest.approx(math.log2(math.comb(21, 5)))
    assert design.symmetric.sizes == (5,)


def test_many_categories() -> None:
    """1,000 categories: built, stored, masked and estimated without a table of fractions."""
    design = mw.designs.block(1000, epsilon=1)
    assert design.embedding is not None
    assert 1 < design.embedding.ratio < 1.01
    assert design.communication_bits < 11 < 800 < design.symmetric_communication_bits
    assert mw.Design.from_json(design.to_json()) == design
    reports = design.mask(np.repeat(np.arange(1000), 5), seed=2)
    found = mw.estimate(reports)
    assert found.proportions.sum() == pytest.approx(1, abs=1e-9)
    assert (found.standard_errors > 0).all()
    assert 0 < design.column_distance() < 2
    assert design.diversity() == 0
