"""A new kind of design in one file: nothing else in the package or in the tests names it.

Projective geometry over GF(3) in three dimensions: truths and reports are the 13 points of the plane, as vectors whose
first non-zero coordinate is 1, and report y holds truth x if their inner product is 0. No list of blocks is stored:
incidence is arithmetic, and so is sampling, in plain NumPy. Each line has r = 4 points and two lines share λ = 1.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

import maskwell as mw
from maskwell.designs import Design, stored
from maskwell.designs.channels import TableChannel
from maskwell.planning import half_width, variance_inflation
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import as_labels
from maskwell.views.comparison import compare_designs
from maskwell.views.pages.audit import audit_page
from maskwell.views.pages.compare import compare_page
from tests.conformance import checks, sampling_checks

Q, T = 3, 3
POINTS, ON_A_LINE = 13, 4
ATTEMPTS = 6


def _vector(point: NDArray[Any]) -> NDArray[np.int64]:
    """The coordinates of points 0 .. 12: (1, a, b), then (0, 1, a), then (0, 0, 1)."""
    n = np.asarray(point, np.int64)
    first = np.stack([np.ones_like(n), n // 3, n % 3], axis=-1)
    second = np.stack([np.zeros_like(n), np.ones_like(n), n - 9], axis=-1)
    last = np.broadcast_to([0, 0, 1], first.shape)
    return np.where((n < 9)[..., None], first, np.where((n < 12)[..., None], second, last))


def _point(vector: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of the point that a non-zero vector is a multiple of."""
    lead = np.take_along_axis(vector, (vector != 0).argmax(axis=1)[:, None], axis=1)
    x = vector * lead % Q  # 1 and 2 are their own inverses
    return np.where(x[:, 0] == 1, 3 * x[:, 1] + x[:, 2], np.where(x[:, 1] == 1, 9 + x[:, 2], 12))


def _incidence() -> NDArray[np.bool_]:
    vectors = _vector(np.arange(POINTS))
    return np.asarray(vectors @ vectors.T % Q == 0)


@dataclass(frozen=True)
class LineSampler:
    """Words 0 and 1 choose inside or outside; then each attempt has two free coordinates and the inner product."""

    inside: int
    width = 2 + 3 * ATTEMPTS

    def empty(self, n: int) -> NDArray[np.uint8]:
        return np.empty(n, np.uint8)

    def run(self, truth: Any, words: Any, stride: int, out: Any, exhausted: Any) -> None:
        slots = words[: len(truth) * stride].reshape(len(truth), stride).astype(np.uint64)
        held = (slots[:, 0] | slots[:, 1] << np.uint64(32)) < np.uint64(self.inside)
        x = _vector(truth)
        pivot = (x != 0).argmax(axis=1)
        rows = np.arange(len(truth))
        exhausted[:] = 1
        for start in range(2, stride - 2, 3):
            free = slots[:, start : start + 2]
            y = np.zeros((len(truth), T), np.int64)
            others = np.array([[1, 2], [0, 2], [0, 1]])[pivot]
            np.put_along_axis(y, others, (free % np.uint64(Q)).astype(np.int64), axis=1)
            product = np.where(held, 0, 1 + (slots[:, start + 2] & np.uint64(1)).astype(np.int64))
            y[rows, pivot] = (product - (x * y).sum(axis=1)) % Q
            # 2^32 - 1 is the one word that would favour 0, as 2^32 = 1 mod 3; the zero vector is not a line.
            good = (free < np.uint64(2**32 - 1)).all(axis=1) & y.any(axis=1) & (exhausted == 1)
            out[good] = _point(y[good])
            exhausted[good] = 0


@dataclass(frozen=True, eq=False, repr=False)
class PlaneDesign(Design):
    """A line through the truth with the weight ``inside`` out of 2^64, else a line that misses it."""

    inside: int

    kind = "projective plane of order 3"

    def __post_init__(self) -> None:
        super().__post_init__()
        stored.integers((self.inside,), "the weight inside")
        if self.k != POINTS or self.inside % 4 or (TOTAL - self.inside) % 9 or not 0 < self.inside < TOTAL:
            raise mw.DesignError("a plane of order 3 has 13 categories, and weights that 4 and 9 lines can share.")

    @cached_property
    def channel(self) -> TableChannel:
        member, other = self.inside // 4, (TOTAL - self.inside) // 9
        return TableChannel(self.k, self.name, np.where(_incidence(), member, other).astype(object), TOTAL)

    @property
    def sampler(self) -> LineSampler:
        return LineSampler(self.inside)

    def report_labels(self) -> list[Any]:
        return [frozenset(self.categories[j] for j in np.flatnonzero(line)) for line in _incidence()]

    def stored_weights(self) -> dict[str, Any]:
        return {"inside": str(self.inside)}

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        (inside,) = stored.fields(weights, "inside")
        return cls(as_labels(labels), stored.weight(inside), **about)


def plane(gamma: Fraction) -> PlaneDesign:
    """The largest weights within the parity: a line through the truth has γ times the chance of one that misses it."""
    most = math.floor(4 * gamma * TOTAL / (4 * gamma + 9))
    inside = next(w for w in range(most, 0, -1) if w % 4 == 0 and (TOTAL - w) % 9 == 0)
    return PlaneDesign(tuple(range(POINTS)), inside, name="plane", parameters={}, demand=mw.BetaFactor(gamma))


GAMMA = Fraction("2.718281828459045")


@pytest.fixture(scope="module")
def design() -> PlaneDesign:
    return plane(GAMMA)


@pytest.fixture(autouse=True, scope="module")
def known_here_only() -> Iterator[None]:
    """Other tests see the kinds that the package has."""
    yield
    Design.kinds.pop(PlaneDesign.kind, None)


def test_incidence_is_that_of_a_plane() -> None:
    lines = _incidence().astype(int)
    np.testing.assert_array_equal(lines.T @ lines, 3 * np.eye(POINTS, dtype=int) + 1)


def test_it_writes_eight_members_at_most() -> None:
    written = {name for name in vars(PlaneDesign) if not name.startswith("_")} - {"kind", "inside"}
    assert written == set(Design.__abstractmethods__)
    assert len(written) + len({"width", "empty", "run"}) <= 8


def test_the_conformance_suite_holds(design: PlaneDesign) -> None:
    """Matrix, privacy, storage and estimators by enumeration; the sampler by a chi-square per truth, 1e-6 in all."""
    assert design.matrix(exact=True).sum(axis=0).tolist() == [1] * POINTS
    checks.check_privacy(design)
    checks.check_json(design)
    checks.check_unbiased(design)
    checks.check_covariance(design)
    checks.check_added_variance(design)
    sampling_checks.check_one_form(design)
    sampling_checks.check_sampler(design, n=400_000, false_alarm=1e-6 / POINTS, worst_error=0.012)


def test_its_added_variance_is_that_of_the_minimax_design(design: PlaneDesign) -> None:
    """For k = v they are the same (40.2355 at γ = e, by enumeration)."""
    assert design.added_variance == pytest.approx(mw.designs.minimax(POINTS, gamma=GAMMA).added_variance, rel=1e-12)
    assert design.added_variance == pytest.approx(40.2355, abs=5e-5)


def test_it_is_masked_counted_and_estimated(design: PlaneDesign) -> None:
    shares = np.arange(1, POINTS + 1) / 91
    truths = np.repeat(np.arange(POINTS), np.arange(1, POINTS + 1) * 1000)
    reports = design.mask(truths, seed=5)
    tally = reports.tally()
    assert tally.inclusions.sum() == ON_A_LINE * len(truths)
    for method in ("linear", "moments", "likelihood"):
        estimate = mw.estimate(tally, method=method)
        # Five standard errors of 39 figures: a false alarm once in 40,000 seeds, and the seed is fixed.
        assert (np.abs(estimate.proportions - shares) < 5 * estimate.standard_errors).all()
    keyed = design.mask(truths[:500], key=bytes(32), ids=np.arange(500), question="q")
    again = design.mask(truths[:500][::-1], key=bytes(32), ids=np.arange(500)[::-1], question="q")
    np.testing.assert_array_equal(keyed.packed, again.packed[::-1])


def test_a_record_that_runs_out_of_words_goes_on(design: PlaneDesign) -> None:
    """With room for one attempt, one in nine or so goes on; frequencies stay right (one chi-square, 1e-6)."""

    @dataclass(frozen=True)
    class Short(LineSampler):
        width = 5

    from tests.conformance.masking_helpers import planted

    short = planted(design, sampler=Short(design.inside))
    sampling_checks.check_sampler(short, n=400_000, false_alarm=1e-6 / POINTS, worst_error=0.012)


def test_it_is_stored_with_its_reports(design: PlaneDesign, tmp_path: Any) -> None:
    reports = design.mask([0, 5, 12, None], seed=1, missing="keep")
    for name in ("reports.parquet", "reports.csv"):
        reports.write(tmp_path / name)
        back = mw.Reports.read(tmp_path / name)
        assert back.design == design
        assert back.decode() == reports.decode()


def test_it_is_audited(design: PlaneDesign) -> None:
    audit = mw.audit(design, prior=np.arange(1, 14) / 91)
    parity = Fraction(design.inside * 9, (TOTAL - design.inside) * 4)
    assert audit.exact_parity == parity <= GAMMA
    assert audit.demand_holds
    assert audit.admissible
    assert audit.rank == POINTS
    assert audit.exposure == 0
    own = Fraction(design.inside, 4 * TOTAL)
    assert audit.exact_guess_probability == own
    assert "epsilon 1" in audit.summary()
    assert audit.posterior(design.report_labels()[0]).shape == (POINTS,)
    assert not mw.audit_sampler(design, n=20_000, seed=2).flagged
    assert "plane" in audit_page(mw.audit(design))


def test_it_is_explained_and_has_a_codebook(design: PlaneDesign) -> None:
    assert "a list of 4 of the 13 answers" in str(mw.explain(design))
    assert "list" in str(mw.explain(design, "interviewer"))
    assert "masks a variable with 13 categories" in str(mw.explain(design, "methodologist"))
    content = mw.codebook(design, "answer").content
    assert content["reports"]["form"] == "set"
    scores = np.array(content["estimator"]["scores"])
    np.testing.assert_allclose(scores.T @ design.matrix(), np.eye(POINTS), atol=1e-12)
    assert "answer" in mw.codebook(design, "answer").to_markdown()


def test_it_is_planned_with(design: PlaneDesign) -> None:
    uniform = np.full(POINTS, 1 / POINTS)
    assert variance_inflation(design, uniform) == pytest.approx(1 / design.worth)
    assert half_width(design, 1000) == pytest.approx(half_width(mw.designs.minimax(POINTS, gamma=GAMMA), 1000))


def test_it_is_compared(design: PlaneDesign) -> None:
    minimax = mw.designs.minimax(POINTS, gamma=GAMMA)
    # The same variance, and yet neither can be had from the other: one has 13 reports, the other 715.
    assert not mw.dominates(design, minimax)
    assert mw.dominates(design, plane(Fraction(3, 2)))
    assert mw.improve(design) is design
    page = compare_page(compare_designs({"plane": design, "minimax": minimax}))
    assert "plane" in page
    together = mw.designs.product(design, mw.designs.warner(truth_prob=0.8), names=["line", "coin"])
    assert together.exact_parity() == design.exact_parity() * together.parts[1].exact_parity()
