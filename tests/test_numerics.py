"""Laws of chance, roots and linear programs against SciPy, which a bare install does without."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from maskwell.inference.regression import kernels
from maskwell.numerics import beta, chi_square, normal, roots, saddle, sparse
from maskwell.numerics.linear_programs import minimise


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a bare install computes, although SciPy is there."""
    monkeypatch.setattr(beta, "_SCIPY", False)


def test_quantiles_are_those_of_scipy_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    own = beta.beta_quantile([3, 40], [9, 2], 0.025)
    monkeypatch.setattr(beta, "_SCIPY", True)
    assert off(beta.beta_quantile([3, 40], [9, 2], 0.025), own) < 1e-12


def off(found: Any, expected: Any) -> float:
    """The largest relative error."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    return float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1e-290)))


def test_normal_and_logistic_laws() -> None:
    x = np.linspace(-37, 8, 901)
    assert off(normal.normal_cdf(x), special.ndtr(x)) < 1e-12
    table = np.array([[-math.inf, -38.5, -1e-300], [0.0, 0.67448975, math.inf]])
    assert off(normal.normal_cdf(table), special.ndtr(table)) < 1e-15
    assert math.isnan(normal.normal_cdf(math.nan))
    assert normal.normal_cdf(1.0).shape == ()
    x = np.linspace(-300, 8, 3001)
    assert off(normal.log_normal_cdf(x), special.log_ndtr(x)) < 1e-13
    below, above = normal.log_normal_tails(x)
    assert off(below, special.log_ndtr(x)) < 1e-13
    assert off(above, special.log_ndtr(-x)) < 1e-12  # there it is the chance itself, to so many digits
    p = np.concatenate([[0, 1], np.geomspace(1e-300, 0.5, 200), 1 - np.geomspace(1e-15, 0.5, 200)])
    assert np.allclose(normal.normal_quantile(p), special.ndtri(p), rtol=1e-14, atol=1e-14)
    x = np.linspace(-800, 800, 999)
    assert off(normal.logistic(x), special.expit(x)) < 1e-15
    assert off(normal.log_logistic(x), special.log_expit(x)) < 1e-15


def test_chi_square_laws() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        df = math.exp(rng.uniform(math.log(0.5), math.log(1e6)))
        x = df * math.exp(3 * rng.normal() / math.sqrt(df))
        tail = special.chdtrc(df, x)
        assert chi_square.chi_square_tail(df, x) == pytest.approx(tail, rel=1e-11, abs=1e-290)
    for _ in range(100):
        df, shift = (math.exp(rng.uniform(math.log(0.5), math.log(1e4))) for _ in range(2))
        x = max(0.01, df + shift + 2 * rng.normal() * math.sqrt(2 * df + 4 * shift))
        found = chi_square.noncentral_chi_square_cdf(x, df, shift)
        # SciPy 1.13 is itself off by 3e-12, where SciPy 1.17 agrees within 1e-13.
        assert found == pytest.approx(special.chndtr(x, df, shift), abs=1e-11)
    assert chi_square.chi_square_tail(3, 0) == 1
    assert chi_square.chi_square_tail(3, math.inf) == 0
    assert chi_square.noncentral_chi_square_cdf(4, 2, 0) == pytest.approx(special.chdtr(2, 4), rel=1e-13)


def test_beta_law_and_its_quantiles() -> None:
    rng = np.random.default_rng(2)
    a, b = np.exp(rng.uniform(math.log(0.5), math.log(1e5), (2, 200)))
    p = rng.uniform(0.001, 0.999, 200)
    x = special.betaincinv(a, b, p)
    known = (x > 1e-290) & (x < 1 - 1e-12)
    assert off(beta.beta_cdf(a, b, x)[known], p[known]) < 1e-9
    assert off(beta.beta_quantile(a, b, p)[known], x[known]) < 1e-10
    n = 10**6
    count = np.unique(np.geomspace(1, n - 1, 60).astype(int))
    for tail in (1e-9, 1e-6, 0.025, 0.975):
        assert (
            off(beta.beta_quantile(count, n - count + 1, tail), special.betaincinv(count, n - count + 1, tail)) < 1e-10
        )


def test_student_and_f_laws() -> None:
    for df in (1, 1.5, 2, 3, 10, 100, 1e4):
        t = np.linspace(-8, 8, 33)
        assert off(beta.t_cdf(df, t), special.stdtr(df, t)) < 1e-10
        for p in (1e-6, 0.01, 0.3, 0.49, 0.5, 0.6, 0.975, 0.999999):
            assert beta.t_quantile(df, p) == pytest.approx(special.stdtrit(df, p), rel=1e-10, abs=1e-14)
    for df in (1e6, 1e12, math.inf):
        assert beta.t_quantile(df, 0.975) == pytest.approx(special.ndtri(0.975), rel=1e-5)
    assert beta.t_cdf(math.inf, 1.5) == pytest.approx(special.ndtr(1.5))
    for df in (1, 2, 7, 50):
        for below in (1, 3, 20, 1e4):
            for x in (0.0, 0.01, 0.5, 1, 3, 8):
                assert beta.f_tail(df, below, x) == pytest.approx(special.fdtrc(df, below, x), rel=1e-11)


def test_chances_of_counts() -> None:
    count = np.arange(-1, 1002)
    for p in (0.0, 0.003, 0.5, 1.0):
        assert off(saddle.binomial_chances(count, 1000, p), stats.binom.pmf(count, 1000, p)) < 1e-11
    assert off(saddle.poisson_chance(np.arange(1.0, 300), 77.7), stats.poisson.pmf(np.arange(1, 300), 77.7)) < 1e-12
    assert off(saddle.log_gamma([0.5, 3, 1e6]), special.gammaln([0.5, 3, 1e6])) < 1e-14
    rng = np.random.default_rng(3)
    total = rng.integers(1, 5000, 200)
    marked, drawn = ((total * rng.uniform(size=200)).astype(int) for _ in range(2))
    least = (marked * drawn / total + 3 * rng.normal(size=200)).astype(int)
    found, expected = (
        beta.hypergeometric_tail(least, total, marked, drawn),
        stats.hypergeom.sf(least, total, marked, drawn),
    )
    assert np.max(np.abs(found - expected)) < 1e-13
    assert off(found[expected > 1e-200], expected[expected > 1e-200]) < 1e-10


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: x**2 - 2, 0.0, 2.0),
        (lambda x: math.exp(x) - 1e-3, -20.0, 5.0),
        (lambda x: x - 1, 1.0, 2.0),
    ],
)
def test_roots(function: Any, low: float, high: float) -> None:
    found = roots.root_between(function, low, high, 1e-12)
    assert found == pytest.approx(
        optimize.brentq(function, low, high, xtol=1e-12), abs=2e-2 if low == 0 and high == 1 else 1e-10
    )
    assert roots.root_between(function, high, low, 1e-12) == pytest.approx(found, abs=2e-2)


def test_a_root_is_found_beside_infinite_values_and_none_is_invented() -> None:
    found = roots.root_between(lambda x: math.inf if x > 0.7 else x - 0.25, 0.0, 1.0, 1e-12)
    assert found == pytest.approx(0.25)
    with pytest.raises(ValueError, match="different signs"):
        roots.root_between(lambda x: x + 1, 0.0, 1.0, 1e-12)


def test_linear_programs_and_the_prices_of_their_limits() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        costs, limited = rng.uniform(0.1, 1, 6), rng.uniform(0, 1, (3, 6))
        limits, fixed, totals = np.full(3, 2.0), np.ones((1, 6)), np.array([1.5])
        found = minimise(costs, limited=limited, limits=limits, fixed=fixed, totals=totals, most=1.0)
        expected = optimize.linprog(costs, limited, limits, fixed, totals, (0, 1))
        assert found.failure == ""
        assert costs @ found.x == pytest.approx(expected.fun, rel=1e-9)
        assert found.limit_prices == pytest.approx(expected.ineqlin.marginals, abs=1e-9)
        assert found.equation_prices == pytest.approx(expected.eqlin.marginals, abs=1e-9)
    assert minimise([1.0], fixed=[[1.0]], totals=[-1.0]).failure == "Infeasible"
    assert minimise([-1.0]).failure == "Unbounded"


def test_sparse_matrices_are_put_together_like_dense_ones() -> None:
    def dense(matrix: sparse.Sparse) -> Any:
        whole = np.zeros(matrix.shape)
        whole[matrix.rows, matrix.columns] = matrix.values
        return whole

    a, b = np.array([[1.0, 0], [2, 3]]), np.array([[0, 4.0], [5, 0]])
    parts = [sparse.Sparse.of(a), sparse.Sparse.of(b)]
    assert (dense(sparse.stacked(parts)) == np.vstack([a, b])).all()
    assert (dense(sparse.beside(parts)) == np.hstack([a, b])).all()
    assert (dense(sparse.repeated(3, a)) == np.kron(np.eye(3), a)).all()
    assert (dense(-sparse.Sparse.diagonal([1, 2])) == -np.diag([1, 2])).all()
    starts, rows, values = sparse.stacked(parts).by_column()
    assert starts.tolist() == [0, 3, 5]
    assert rows.tolist() == [0, 1, 3, 1, 2]
    assert values.tolist() == [1, 2, 5, 3, 4]


def test_loops_over_records_of_regressions_agree_with_their_compiled_ones() -> None:
    rng = np.random.default_rng(5)
    rows, logs = rng.uniform(size=(50, 4)), rng.normal(size=(50, 4)) * 30
    rows[3], rows[4, 1], logs[5, 2], logs[6] = 0, 0, np.nan, -np.inf
    for given in (rows, rows[:1]):
        for compiled, plain in zip(
            kernels.posteriors(given, logs), kernels._posteriors_at_once(given, logs), strict=True
        ):
            np.testing.assert_allclose(plain, compiled, rtol=1e-12)
    eta, x, weight = rng.normal(size=(50, 2)), rng.normal(size=(50, 3)), rng.uniform(size=50)
    np.testing.assert_allclose(kernels._log_softmax_at_once(eta), kernels.log_softmax(eta), rtol=1e-12)
    curvature = rng.normal(size=(50, 2, 2))
    np.testing.assert_allclose(
        kernels._products_at_once(x, curvature, weight), kernels.products(x, curvature, weight), rtol=1e-9, atol=1e-12
    )
