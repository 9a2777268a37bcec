"""Cramér's V of noisy tables: possible values, a correction that is the noise, and limits that cover.

Coverage is simulated with fixed seeds; each check states its false-alarm rate.
"""

import numpy as np
import pytest
from scipy.stats import binom

import maskwell as mw
from maskwell import designs
from maskwell.inference.cramers_v import (
    Seconds,
    _of_differences,
    added_noise,
    corrected_v,
    phi_squared,
    plain_v,
    sampled_v,
)

ALARM = 1e-6


def multinomial(table: np.ndarray, n: int) -> np.ndarray:
    p = table.ravel()
    return (np.diag(p) - np.outer(p, p)) / n


def coupled(w: np.ndarray, share: float) -> np.ndarray:
    """A share of the people has the same answer to both questions."""
    return (1 - share) * np.outer(w, w) + share * np.diag(w)


def drawn(design: mw.designs.ProductDesign, table: np.ndarray, n: int, generator: np.random.Generator) -> mw.Tally:
    chances = design.matrix() @ table.ravel()
    return mw.Tally.from_counts(design, generator.multinomial(n, chances / chances.sum()))


# What is taken off.


def test_for_independent_open_answers_the_correction_is_that_of_the_degrees_of_freedom() -> None:
    table = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1])
    table[0, 0], table[0, 1], table[1, 0], table[1, 1] = table[:2, :2].ravel() + np.array([1, -1, -1, 1]) * 1e-9
    found = corrected_v(table, multinomial(table, 500))
    assert found is not None
    assert found.value == 0
    noise = found.form.noise
    assert noise == pytest.approx(2 * 3 / 500, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 1.0])
def test_the_noise_is_half_the_second_derivative_times_the_covariance(share: float) -> None:
    """Against numerical differentiation in every direction of the covariance."""
    table = coupled(np.array([0.5, 0.3, 0.2]), share) + 1e-3 * np.array([[1, -1, 0], [0, 1, -1], [-1, 0, 1]])
    noise = np.random.default_rng(1).normal(size=(9, 9)) * 0.01
    covariance = noise @ noise.T
    values, vectors = np.linalg.eigh(covariance)
    step = 1e-4

    def phi(flat: np.ndarray) -> float:
        cells = flat.reshape(3, 3)
        return float((cells**2 / np.outer(cells.sum(axis=1), cells.sum(axis=0))).sum() - 1)

    at = table.ravel()
    second = [(phi(at + step * u) - 2 * phi(at) + phi(at - step * u)) / step**2 for u in vectors.T]
    found = added_noise(table, table.sum(axis=1), table.sum(axis=0), Seconds.of(covariance.reshape(3, 3, 3, 3)))
    assert found == pytest.approx(float(values @ second) / 2, rel=1e-4)


def test_at_independence_it_is_the_variance_of_the_differences() -> None:
    rows, columns = np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.3])
    noise = np.random.default_rng(2).normal(size=(6, 6)) * 0.01
    noise -= noise.mean(axis=0)  # shares sum to 1
    cells = (noise @ noise.T).reshape(3, 2, 3, 2)
    spread = np.einsum("ijij->ij", _of_differences(cells, rows, columns))
    independent = np.outer(rows, columns)
    assert added_noise(independent, rows, columns, Seconds.of(cells)) == pytest.approx(
        (spread / independent).sum(), rel=1e-9
    )


def test_where_one_decides_the_other_nothing_is_taken_off() -> None:
    for shares in ([0.5, 0.5], [0.6, 0.3, 0.1]):
        table = np.diag(shares)
        found = corrected_v(table, multinomial(table, 200))
        assert found is not None
        assert found.value == pytest.approx(1)
        assert found.interval()[1] == 1


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_a_sample_of_open_answers_is_the_case_of_a_multinomial_covariance(share: float) -> None:
    counts = np.rint(500 * coupled(np.array([0.5, 0.3, 0.2]), share))
    table = counts / counts.sum()
    sample, general = sampled_v(counts), corrected_v(table, multinomial(table, int(counts.sum())))
    assert sample is not None
    assert general is not None
    seconds = Seconds.of(multinomial(table, int(counts.sum())).reshape(3, 3, 3, 3))
    for one, other in zip(Seconds.of_sample(table, counts.sum()), seconds, strict=True):
        assert one == pytest.approx(other, abs=1e-15)
    assert sample.uncorrected == pytest.approx(general.uncorrected, abs=1e-9)
    assert sample.value == pytest.approx(general.value, abs=0.01)
    assert sample.interval() == pytest.approx(general.interval(), abs=0.01)


def test_plain_v_is_that_of_the_counts() -> None:
    counts = np.array([[30, 14, 6], [20, 21, 9]])
    assert plain_v(counts) == pytest.approx(np.sqrt(phi_squared(counts / 100)))
    assert plain_v([[3, 4]]) == 0
    assert corrected_v(np.array([[0.3, 0.7]]), np.eye(2)) is None


# Masked variables.

HEAVY = designs.product(designs.gamma_diagonal(4, epsilon=1.0), designs.minimax(4, epsilon=1.0))


@pytest.mark.parametrize("method", ["linear", "likelihood"])
def test_independent_variables_under_heavy_masking_have_possible_values(method: str) -> None:
    """As they stand, estimated tables have a V of 1.3 on average here; 200 surveys of 300 people."""
    w, generator = np.array([0.4, 0.3, 0.2, 0.1]), np.random.default_rng(3)
    found = [
        mw.estimate(drawn(HEAVY, np.outer(w, w), 300, generator), method).association()  # type: ignore[arg-type,attr-defined]
        for _ in range(200)
    ]
    limits = np.array([one.interval() for one in found])
    assert np.mean([one.uncorrected for one in found]) > 0.8
    assert (limits[:, 1] > 0.1).all()
    assert all(0 <= low <= one.value <= high <= 1 for one, (low, high) in zip(found, limits, strict=True))
    # The correction is the mean, so that half of the surveys or more fall below it; 5 standard errors of 200.
    assert np.mean([one.value == 0 for one in found]) > 0.5 - 5 * np.sqrt(0.25 / 200)
    assert (limits[:, 0] == 0).sum() >= binom.ppf(ALARM, 200, 0.96)


CASES = {
    "direct, weak": (designs.direct(3), 0.05, 400),
    "direct, strong": (designs.direct(3), 0.7, 400),
    "k-ary, none": (designs.gamma_diagonal(3, epsilon=2.0), 0.0, 1_000),
    "k-ary, some": (designs.gamma_diagonal(3, epsilon=2.0), 0.3, 1_000),
    "sets, heavy masking": (designs.minimax(4, epsilon=1.0), 0.5, 3_000),
    "everyone alike": (designs.warner(truth_prob=0.8), 1.0, 500),
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover(case: str) -> None:
    """400 surveys; between .92 and 1 in truth, at a false-alarm rate of 1e-6."""
    part, share, n = CASES[case]
    w = 0.6 ** np.arange(part.k)
    table = coupled(w / w.sum(), share)
    true, design = plain_v(table), designs.product(part, part)
    generator, covered, values = np.random.default_rng(4), 0, []
    for _ in range(400):
        found = mw.estimate(drawn(design, table, n, generator)).association()  # type: ignore[attr-defined]
        low, high = found.interval()
        covered += low - 1e-9 <= true <= high + 1e-9
        values.append(found.value)
    assert covered >= binom.ppf(ALARM, 400, 0.92)
    assert np.median(values) == pytest.approx(true, abs=0.06)


def test_another_level_and_its_refusal() -> None:
    found = mw.estimate(drawn(HEAVY, np.full((4, 4), 1 / 16), 5_000, np.random.default_rng(5))).association()  # type: ignore[attr-defined]
    assert found.interval(0.5)[1] < found.interval(0.99)[1]
    with pytest.raises(mw.EstimationError, match="level"):
        found.interval(1.0)


def test_a_table_of_too_many_cells_is_refused() -> None:
    wide = designs.product(designs.direct(70), designs.direct(70))
    x = np.random.default_rng(6).integers(0, 70, (100, 2))
    with pytest.raises(mw.EstimationError, match="4,900"):
        mw.estimate(wide.mask(x)).association()  # type: ignore[attr-defined]


def test_weighted_reports_have_an_association() -> None:
    part = designs.gamma_diagonal(3, epsilon=3.0)
    x = np.random.default_rng(7).integers(0, 3, 4_000)
    y = np.where(np.arange(4_000) % 2 == 0, x, np.random.default_rng(8).integers(0, 3, 4_000))
    reports = designs.product(part, part).mask(np.column_stack([x, y]), seed=9)
    weights = np.random.default_rng(9).uniform(0.5, 2, 4_000)
    found = mw.estimate(reports.tally(weights=weights)).association()  # type: ignore[attr-defined]
    low, high = found.interval()
    assert low < 0.5 < high
    assert high - low < 0.3
