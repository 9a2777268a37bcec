"""Joint tables of several masked variables against enumeration of all joint reports, and their intervals.

What a product estimates is compared with the Kronecker product of its parts' matrices, which the library never forms
for this purpose. Coverage is simulated with a false-alarm rate of 1e-6 over all intervals of this file.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import maskwell as mw
from maskwell import designs

FALSE_ALARM = 1e-6

PRODUCTS = {
    "two of one category": designs.product(designs.gamma_diagonal(2, gamma=4), designs.gamma_diagonal(3, epsilon=1.0)),
    "labels and sets": designs.product(
        designs.gamma_diagonal(["low", "high"], epsilon=2.0), designs.minimax(4, epsilon=0.5), names=["income", "area"]
    ),
    "three unlike": designs.product(
        designs.warner(truth_prob=0.8), designs.uniform_subsets(5), designs.direct(2), names=["drugs", "race", "sex"]
    ),
    "sets of all sizes": designs.product(designs.rappor(3, epsilon=2.0), designs.local_diversity(3, l=2)),
}
every_product = pytest.mark.parametrize("design", PRODUCTS.values(), ids=PRODUCTS.keys())


def population(design: mw.designs.ProductDesign, seed: int = 1) -> np.ndarray:
    """No cell is empty, and the variables are associated."""
    w = np.random.default_rng(seed).uniform(0.5, 2, design.k)
    return w / w.sum()


def expected_tally(design: mw.designs.ProductDesign, w: np.ndarray, n: float = 1e5) -> mw.Tally:
    return mw.Tally.from_counts(design, n * (design.matrix() @ w))


def enumerated_scores(design: mw.designs.ProductDesign) -> np.ndarray:
    """Least squares weighted at the uniform population, part by part and then as a Kronecker product."""
    joint = np.ones((1, 1))
    for part in design.parts:
        matrix = part.matrix()
        weighted = matrix.T / np.maximum(matrix.mean(axis=1), 1e-300)
        joint = np.kron(joint, np.linalg.solve(weighted @ matrix, weighted))
    return joint


def enumerated_covariance(design: mw.designs.ProductDesign, w: np.ndarray) -> np.ndarray:
    scores = enumerated_scores(design)
    return (scores * (design.matrix() @ w)) @ scores.T - np.outer(w, w)


def enumerated_information(design: mw.designs.ProductDesign, w: np.ndarray) -> np.ndarray:
    """The covariance of an efficient estimator, from the joint matrix."""
    matrix = design.matrix()
    rows = matrix[matrix.any(axis=1)]
    basis = np.vstack([np.eye(design.k - 1), -np.ones(design.k - 1)])
    information = (rows / (rows @ w)[:, None]).T @ rows
    return basis @ np.linalg.solve(basis.T @ information @ basis, basis.T)


COVARIANCES = {"linear": enumerated_covariance, "likelihood": enumerated_information}
every_method = pytest.mark.parametrize("method", COVARIANCES)


@every_product
@every_method
def test_joint_table_and_covariance(design: mw.designs.ProductDesign, method: Any) -> None:
    w = population(design)
    found = mw.estimate(expected_tally(design, w), method)
    expected = COVARIANCES[method](design, w)
    allowed = 1e-9 if method == "linear" else 1e-4  # a likelihood is maximised to within a gap
    assert found.proportions == pytest.approx(w, abs=allowed)
    assert 1e5 * found.covariance == pytest.approx(expected, abs=10 * allowed * np.abs(expected).max())
    assert found.table.shape == tuple(part.k for part in design.parts)  # type: ignore[attr-defined]


@every_product
def test_sums_of_the_joint_table_are_the_marginal_estimates(design: mw.designs.ProductDesign) -> None:
    """Linear scores sum to 1, so nothing is lost by looking at one variable, and its covariance is the same."""
    w = np.random.default_rng(3).choice(design.report_count(), 800, p=design.matrix() @ population(design))
    joint: Any = mw.estimate(mw.Tally.from_counts(design, np.bincount(w, minlength=design.report_count())))
    cells = np.array(list(itertools.product(*(range(part.k) for part in design.parts))))
    for axis, name in enumerate(design.names):
        alone = joint.marginal(name)
        others = tuple(i for i in range(len(design.parts)) if i != axis)
        sums = (cells[:, axis] == np.arange(design.parts[axis].k)[:, None]).astype(float)
        assert joint.table.sum(axis=others) == pytest.approx(alone.proportions, abs=1e-12)
        assert sums @ joint.covariance @ sums.T == pytest.approx(alone.covariance, rel=1e-8, abs=1e-12)


def masked_parts(design: mw.designs.ProductDesign, n: int) -> tuple[mw.Reports, list[mw.Reports]]:
    """Joint reports, and the same reports variable by variable."""
    rng = np.random.default_rng(5)
    columns = {
        name: [part.categories[i] for i in rng.integers(0, part.k, n)]
        for name, part in zip(design.names, design.parts, strict=True)
    }
    joint = design.mask(columns, seed=6)
    return joint, [mw.Reports(p, x) for p, x in zip(design.parts, design.split(joint.packed), strict=True)]


@every_product
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", ["linear", "moments", "likelihood", "one-step"])
def test_a_marginal_tally_is_as_good_as_the_variable_alone(
    design: mw.designs.ProductDesign, weighted: bool, method: Any
) -> None:
    joint, parts = masked_parts(design, 600)
    weights = np.random.default_rng(7).uniform(0.5, 4, 600) if weighted else None
    tally = joint.tally(weights=weights)
    for name, reports in zip(design.names, parts, strict=True):
        marginal, alone = tally.marginal(name), reports.tally(weights=weights, patterns=True)
        assert (marginal.n, marginal.missing) == (600, 0)
        assert marginal.counts == pytest.approx(alone.counts, rel=1e-12)
        ours, theirs = marginal.patterns, alone.patterns
        assert ours is not None
        assert theirs is not None
        assert (ours.packed == theirs.packed).all()
        assert ours.counts == pytest.approx(theirs.counts, rel=1e-12)
        one, two = mw.estimate(marginal, method), mw.estimate(alone, method)
        assert one.proportions == pytest.approx(two.proportions, abs=1e-6)
        assert one.covariance == pytest.approx(two.covariance, rel=1e-4, abs=1e-9)


def test_an_unweighted_marginal_is_the_same_tally_exactly() -> None:
    design = PRODUCTS["three unlike"]
    joint, parts = masked_parts(design, 500)
    for name, reports in zip(design.names, parts, strict=True):
        assert joint.tally().marginal(name) == reports.tally()


def cramers_v(table: np.ndarray) -> float:
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sqrt(((table - independent) ** 2 / independent).sum() / (min(table.shape) - 1)))


def numeric_gradient(function: Callable[[np.ndarray], float], at: np.ndarray) -> np.ndarray:
    step = 1e-6
    return np.array([(function(at + step * e) - function(at - step * e)) / (2 * step) for e in np.eye(len(at))])


@every_method
@pytest.mark.parametrize("label", ["two of one category", "labels and sets", "sets of all sizes"])
def test_association_by_the_delta_method(label: str, method: Any) -> None:
    design = PRODUCTS[label]
    shape = [part.k for part in design.parts]
    w = population(design, 2)
    found: Any = mw.estimate(expected_tally(design, w), method)
    gradient = numeric_gradient(lambda x: cramers_v(x.reshape(shape) / x.sum()), w)
    variance = gradient @ COVARIANCES[method](design, w) @ gradient / 1e5
    association = found.association()
    true = cramers_v(w.reshape(shape))
    assert association.uncorrected == pytest.approx(true, rel=1e-3)
    assert 0 <= association.value <= association.uncorrected
    # Noise of the second order, which the error of V has besides, is a thousandth of it at this size.
    assert association.standard_error == pytest.approx(np.sqrt(variance), rel=0.02)


@every_method
def test_conditional_share_by_the_delta_method(method: Any) -> None:
    design = PRODUCTS["three unlike"]
    w = population(design, 3)
    found: Any = mw.estimate(expected_tally(design, w), method)
    of, given = {"race": 2}, {"drugs": "yes", "sex": 1}
    both = np.array([c == ("yes", 2, 1) for c in design.categories])
    base = np.array([c[0] == "yes" and c[2] == 1 for c in design.categories])
    gradient = numeric_gradient(lambda x: float(x[both].sum() / x[base].sum()), w)
    variance = gradient @ COVARIANCES[method](design, w) @ gradient / 1e5
    share = found.conditional(of, given)
    assert share.value == pytest.approx(w[both].sum() / w[base].sum(), rel=1e-3)
    assert share.standard_error == pytest.approx(np.sqrt(variance), rel=1e-3)


SURVEYS = 1_500
# Wald intervals of smooth functions, far from where they break down: what they are held to, set in advance.
LOWEST, HIGHEST = 0.93, 0.965


@pytest.mark.parametrize(("label", "n"), [("two of one category", 4_000), ("labels and sets", 8_000)])
def test_intervals_of_joint_results_cover(label: str, n: int) -> None:
    """Cells, a marginal, a conditional share and the association; false alarm 1e-6 over both designs."""
    design = PRODUCTS[label]
    w = population(design, 4)
    table = w.reshape([part.k for part in design.parts])
    first, second = design.names
    labels = design.parts[0].categories[1], design.parts[1].categories[0]
    truths = [*w, *table.sum(axis=0), table[1, 0] / table[1].sum(), cramers_v(table)]
    rng, covered = np.random.default_rng(20), np.zeros(len(truths), int)
    chances = design.matrix() @ w
    for counts in rng.multinomial(n, chances / chances.sum(), size=SURVEYS):
        found: Any = mw.estimate(mw.Tally.from_counts(design, counts))
        share = found.conditional(of={second: labels[1]}, given={first: labels[0]})
        limits = [
            *found.interval(method="wald"),
            *found.marginal(second).interval(method="wald"),
            share.interval(),
            found.association().interval(),
        ]
        covered += [low <= truth <= high for (low, high), truth in zip(limits, truths, strict=True)]
    tail = FALSE_ALARM / 40
    assert (covered >= binom.ppf(tail, SURVEYS, LOWEST)).all(), covered / SURVEYS
    assert (covered <= binom.isf(tail, SURVEYS, HIGHEST)).all(), covered / SURVEYS


@every_method
def test_bootstrap_limits_of_a_conditional_share_agree_with_the_delta_method(method: Any) -> None:
    """Where many reports speak, both are normal."""
    design = PRODUCTS["two of one category"]
    rng = np.random.default_rng(8)
    codes = rng.choice(design.k, 3_000, p=population(design))
    found: Any = mw.estimate(design.mask(np.column_stack(np.unravel_index(codes, (2, 3))), seed=9), method)
    of, given = {"x2": 1}, {"x1": 0}
    low, high = found.conditional_interval(of, given)
    assert (low, high) == found.conditional_interval(of, given)
    share = found.conditional(of, given)
    width = 2 * 1.96 * share.standard_error
    assert low < share.value < high
    assert np.array([low, high]) == pytest.approx(share.interval(), abs=0.1 * width)


def test_what_is_refused() -> None:
    design = PRODUCTS["two of one category"]
    tally = design.mask(np.zeros((200, 2), int), seed=1).tally()
    found: Any = mw.estimate(tally)
    with pytest.raises(mw.EstimationError, match="no variable 'x9'"):
        found.conditional(of={"x9": 1}, given={"x1": 0})
    with pytest.raises(mw.EstimationError, match="no category 7"):
        found.conditional(of={"x2": 7}, given={"x1": 0})
    with pytest.raises(mw.EstimationError, match="level"):
        found.conditional_interval(of={"x2": 0}, given={"x1": 0}, level=2)
    weighted: Any = mw.estimate(design.mask(np.zeros((200, 2), int), seed=1).tally(weights=np.ones(200)))
    with pytest.raises(mw.EstimationError, match="equally weighted"):
        weighted.conditional_interval(of={"x2": 0}, given={"x1": 0})
    three: Any = mw.estimate(masked_parts(PRODUCTS["three unlike"], 300)[0])
    with pytest.raises(mw.EstimationError, match="two variables"):
        three.association()
