"""Tests in complex samples: statistics of a simple random sample, compared with what the sample makes of them.

A statistic ``X^2 = e' A^-1 e`` with ``A`` the covariance that a simple random sample would give is a weighted sum of
chi-squares with the eigenvalues of ``A^-1 V`` as weights, ``V`` the covariance in this sample (Rao and Scott 1984).
It is compared with Satterthwaite's F of as many degrees of freedom as the sample has. ``wald`` takes ``V`` itself in
the place of ``A``, which is sharper and needs many more clusters than categories.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import Mean, SampledScores, masking, require_reports
from maskwell.inference.simplex import project
from maskwell.reports import Reports

Kind = Literal["rao-scott", "wald"]
_ROUND_OFF = 1e-12
_FLAT = 1e-10


def sampled_independence(reports: Any, sample: Sample, method: str = "rao-scott") -> HypothesisTest:
    """Whether two masked variables are independent in the population."""
    require_reports(reports)
    design = reports.design
    if len(design.variables) != 2:
        raise EstimationError("independence_test needs reports of two variables; take a product of two.")
    parts = zip(design.variables.values(), design.codec.split(reports.packed), strict=True)
    sides = []
    for part, packed in parts:
        alone = Reports(part, packed, reports.missing, reports.randomness)
        sides.append(SampledScores.of(alone, sample, "linear"))
    x, y = (side.mean(side.present) for side in sides)
    weights, total = x.weights, x.total_weight
    # Under independence the residual of the table is the mean of products of centred scores.
    left = (x.of.values - x.value)[:, :-1] * x.domain[:, None]
    right = (y.of.values - y.value)[:, :-1] * x.domain[:, None]
    products = (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)
    residual = weights @ products / total
    # Its total is tested, which is 0 whatever the size of the population is: products need no centring.
    # The product of centred scores is unbiased for that of centred truths, whose square is one of the two joint cells.
    spread = covariance_of_total(sample, products, x.domain, lambda a: _masked_products(x, y, products, a))
    n = int(x.domain.sum())
    plain = np.kron(_simple(x)[:-1, :-1], _simple(y)[:-1, :-1]) / n
    return compared("independence", residual, plain, spread, sample.degrees_of_freedom, method)


def _masked_products(x: Mean, y: Mean, products: Matrix, weights: Vector) -> Matrix:
    """What masking adds to the weighted sum over records of products of centred scores of two variables."""
    joint = (x.of.values * weights[:, None]).T @ y.of.values  # weighted counts of true pairs, without bias
    one, other = (np.eye(len(side.value))[:, :-1] - side.value[:-1] for side in (x, y))
    truths = np.einsum("sa,tb->stab", one, other).reshape(*joint.shape, -1)
    both: Matrix = (products * weights[:, None]).T @ products
    known: Matrix = np.einsum("st,stc,std->cd", joint, truths, truths)
    return both - known


def covariance_of_total(
    sample: Sample, values: Matrix, used: NDArray[np.bool_], masked: Callable[[Vector], Matrix]
) -> Matrix:
    """The covariance of the weighted total of values that are 0 outside a domain, over the size of the domain.

    ``masked`` gives the sum over records of a weight times the part of the covariance that masking adds.
    """
    total = float(np.where(used, sample.weights, 0.0).sum())
    if sample.replicates is not None:
        again = sample.replicates.weights.T @ values
        rows = np.sqrt(sample.replicates.factors)[:, None] * (again - sample.weights @ values) / total
        return np.asarray(rows.T @ rows)
    rows, lacking = sample.spread(values / total)
    found: Matrix = rows.T @ rows
    if (lacking * used).any():
        found = found + masked(np.where(used, lacking * (sample.weights / total) ** 2, 0.0))
    return found


def sampled_homogeneity(
    reports: Reports, labels: list[Any], codes: Any, sample: Sample, method: str = "rao-scott"
) -> HypothesisTest:
    """Whether groups of the sample have the same proportions."""
    scores = SampledScores.of(reports, sample, "linear")
    means = [scores.mean(codes == code) for code in range(len(labels))]
    pooled = scores.mean(codes >= 0)
    reference = means[-1]
    off = np.concatenate([(mean.value - reference.value)[:-1] for mean in means[:-1]])
    rows = np.concatenate([(mean.rows - reference.rows)[:, :-1] for mean in means[:-1]], axis=1)
    spread = rows.T @ rows + _lacking(means)
    one = _simple(pooled)[:-1, :-1]
    sizes = np.array([int(mean.domain.sum()) for mean in means])
    plain = np.kron(np.diag(1 / sizes[:-1]) + 1 / sizes[-1], one)
    return compared("homogeneity", off, plain, spread, sample.degrees_of_freedom, method)


def _lacking(means: list[Mean]) -> Matrix:
    """The masking variance that a population correction removed, of differences to the last group."""
    k = len(means[0].value) - 1
    pieces = [np.zeros((k, k)) if m.lacking is None else masking(m.of.scores, m.lacking)[:k, :k] for m in means]
    groups = len(means) - 1
    whole = np.asarray(np.kron(np.ones((groups, groups)), pieces[-1]), np.float64)
    for at, piece in enumerate(pieces[:-1]):
        whole[at * k : (at + 1) * k, at * k : (at + 1) * k] += piece
    return whole


def _simple(mean: Mean) -> Matrix:
    """The covariance of one report's scores in a simple random sample."""
    p = project(mean.value)
    found: Matrix = mean.of.scores.second_moment(p) - np.outer(p, p)
    return found


def compared(what: str, off: Vector, plain: Matrix, spread: Matrix, df: int, method: str) -> HypothesisTest:
    """Differences ``off`` with covariance ``spread``, and ``plain`` in a simple random sample, beside zero."""
    from maskwell.numerics.beta import f_tail

    if method not in ("rao-scott", "wald"):
        raise EstimationError(f"method must be rao-scott or wald in a sample; got {method!r}.", parameter="method")
    off, plain, spread = _possible(off, plain, spread)
    d = len(off)
    if method == "wald" and d:
        if df < d + 1 or np.linalg.matrix_rank(spread) < d:
            raise EstimationError(
                f"a Wald test of {d} differences needs more than {d + 1} degrees of freedom and variance in all of "
                f"them; the sample has {df}, and shows variance in {np.linalg.matrix_rank(spread)}. Use "
                "method='rao-scott'."
            )
        statistic = float(off @ np.linalg.solve(spread, off))
        below = df - d + 1
        f = statistic * below / (df * d)
        return HypothesisTest(
            f"{what} (Wald)", statistic, d, f_tail(d, below, max(f, 0.0)), law=f"F with {d} and {below} df"
        )
    statistic = float(off @ np.linalg.solve(plain, off)) if d else 0.0
    effects = np.linalg.eigvals(np.linalg.solve(plain, spread)).real.clip(0) if d else np.zeros(1)
    if effects.max() < _ROUND_OFF:
        if statistic > _ROUND_OFF:
            raise EstimationError(
                f"the sample shows no variance of what is tested ({what}): everybody was asked, or each group is one "
                "cluster or all alike. What differs, differs; there is no chance to hold it against."
            )
        return HypothesisTest(f"{what} (Rao-Scott)", 0.0, 0, 1.0, advice="the reports do not vary: nothing to test")
    nu = float(effects.sum() ** 2 / (effects**2).sum())
    df = max(df, 1)  # as limits have it: a population that is one cluster has none, and masks vary all the same
    f = statistic / float(effects.sum())
    return HypothesisTest(
        f"{what} (Rao-Scott)",
        statistic,
        nu,
        f_tail(nu, nu * df, max(f, 0.0)),
        mean=float(effects.mean()),
        law=f"F with {nu:.3g} and {nu * df:.4g} df, design effects of {effects.min():.2g} to {effects.max():.2g}",
    )


def _possible(off: Vector, plain: Matrix, spread: Matrix) -> tuple[Vector, Matrix, Matrix]:
    """The same along the directions in which reports can vary at all; a category that nobody has gives none."""
    values, vectors = np.linalg.eigh(plain)
    basis = vectors[:, values > _FLAT * max(float(values[-1]), 0.0)]
    if basis.shape[1] == len(off):
        return off, plain, spread
    return off @ basis, basis.T @ plain @ basis, basis.T @ spread @ basis
