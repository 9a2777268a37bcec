"""Did the respondents of a complex sample follow the design? Pearson's statistic, compared with what the sample allows.

Weighted shares of the reports are compared with those that the best-fitting population gives. What the fit takes up is
taken off each record's contribution, so that the statistic's law, a weighted sum of chi-squares, needs no count of
fitted numbers and stays right where rare reports are pooled or a share is estimated as 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest, pool
from maskwell.inference.likelihood.information import invert
from maskwell.inference.likelihood.maximum import most_likely
from maskwell.inference.sample.hypotheses import compared, covariance_of_total
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import present, require_sample
from maskwell.reports import Reports

_MOST_CELLS = 1 << 27
_MOST_POOLS = 1_000


def sampled_fit(reports: Reports, sample: Sample, most_rows: int) -> HypothesisTest:
    """The test over all records of a sample."""
    require_sample(reports, sample)
    used = present(reports) & (sample.weights > 0)
    if not used.any():
        raise EstimationError("there are no reports to test.")
    if reports.design.report_count() <= most_rows:
        return _of_reports(reports, sample, used)
    return _of_sizes(reports, sample, used)


def _of_reports(reports: Reports, sample: Sample, used: NDArray[np.bool_]) -> HypothesisTest:
    design, packed = reports.design, reports.packed[used]
    distinct, at = np.unique(packed, axis=0, return_inverse=True)
    at = at.ravel()
    weights = sample.weights[used] / sample.weights[used].sum()
    rows = design.relative_rows(distinct)
    shares = most_likely(rows, len(packed) * np.bincount(at, weights))
    fitted = np.flatnonzero(shares)
    if design.report_count() - 1 <= len(fitted) - 1:
        raise EstimationError(
            f"{design.report_count()} reports with {len(fitted) - 1} fitted proportions leave nothing to test: a "
            "design with as many reports as categories fits nearly any shares."
        )
    matrix = design.matrix()
    expected = matrix @ shares
    pools = pool(len(packed) * expected)
    due = np.bincount(pools, expected).astype(float)
    _require_cells(len(due), len(packed))
    # Each record's part in observed less expected shares: its own cell, less what it does to the fitted shares.
    scores = (rows / (rows @ shares)[:, None])[:, fitted]
    information = (scores[at] * weights[:, None]).T @ scores[at]
    moved = matrix[:, fitted] @ invert(information).matrix
    pooled = np.zeros((len(due), len(fitted)))
    np.add.at(pooled, pools, moved)
    cells = np.eye(len(due))[pools[_rows_of(reports, distinct)]]
    return _compared(
        "goodness of fit of reports", (cells - scores @ pooled.T)[at], due, weights, cells[at], sample, used
    )


def _rows_of(reports: Reports, distinct: NDArray[np.generic]) -> NDArray[np.int64]:
    """The row of the matrix that each distinct report is."""
    where = {report: row for row, report in enumerate(reports.design.report_labels())}
    return np.array([where[report] for report in reports.design.decode(distinct)])


def _of_sizes(reports: Reports, sample: Sample, used: NDArray[np.bool_]) -> HypothesisTest:
    design = reports.design
    chances = design.channel.class_chances()
    if chances is None or len(chances) < 2:
        raise EstimationError(
            f"{design.title} with k={design.k} has too many possible reports, of one size, for this test."
        )
    packed = reports.packed[used]
    seen, at = np.unique(np.bitwise_count(packed).sum(axis=1), return_inverse=True)
    classes = np.flatnonzero(reports.part(used).tally().counts[:, -1])  # in rising order of size, as ``seen`` is
    assert len(classes) == len(seen)
    pools = pool(len(packed) * chances)
    due = np.bincount(pools, chances).astype(float)
    _require_cells(len(due), len(packed))
    cells = np.eye(len(due))[pools[classes[at]]]
    weights = sample.weights[used] / sample.weights[used].sum()
    return _compared("goodness of fit of set sizes", cells, due, weights, cells, sample, used)


def _require_cells(pools: int, n: int) -> None:
    if pools < 2:
        raise EstimationError("there are too few reports to compare with the design; at least 10 are needed.")
    if pools > _MOST_POOLS or pools * n > _MOST_CELLS:
        raise EstimationError(f"{pools:,} different reports of {n:,} people are too many for this test in a sample.")


def _compared(
    what: str,
    parts: Matrix,
    due: Vector,
    weights: Vector,
    cells: Matrix,
    sample: Sample,
    used: NDArray[np.bool_],
) -> HypothesisTest:
    off = weights @ cells - due
    everyone = np.zeros((len(used), len(due)))
    everyone[used] = parts - weights @ parts
    # Given the truth a record's part is 0 on average, so that all of it varies by the masks, whoever was drawn.
    spread = covariance_of_total(sample, everyone, used, lambda a: (everyone * a[:, None]).T @ everyone)
    return compared(what, off, np.diag(due / used.sum()), spread, sample.degrees_of_freedom, "rao-scott")
