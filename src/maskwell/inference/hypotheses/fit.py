"""Did respondents follow the design?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import EstimationError
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest, chi_square_tail, pool
from maskwell.inference.likelihood.maximum import most_likely
from maskwell.inference.sample.fit import sampled_fit
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.scores import require_reports
from maskwell.reports import Reports
from maskwell.reports.tally import Tally

_MOST_ROWS = 100_000


def goodness_of_fit(tally: Tally | Reports, *, sample: Sample | None = None) -> HypothesisTest:
    """Test whether the reports can come from the design, whatever the population is.

    With patterns at hand and few enough possible reports, observed counts are compared with those that the best-fitting
    population gives: m cells leave m - k degrees of freedom, one more for each share that is estimated as 0 and so not
    fitted, and m - 1 if rare reports had to be pooled (see ``independence``: the larger number keeps the level).
    Otherwise, for sets of several sizes, the sizes are
    compared with the design's, which do not depend on the population.

    With ``sample`` weighted shares are compared, and the statistic with what strata and clusters make of it (Rao and
    Scott 1984).
    """
    if sample is not None:
        require_reports(tally)
        assert isinstance(tally, Reports)
        return sampled_fit(tally, sample, _MOST_ROWS)
    counted = tally.tally(patterns=True) if isinstance(tally, Reports) else tally
    if not isinstance(counted, Tally):
        raise EstimationError(f"goodness_of_fit needs a Tally or Reports; got {type(tally).__name__}.")
    design, patterns = counted.design, counted.patterns
    if counted.n == 0 or counted.squares is not None:
        raise EstimationError("goodness_of_fit needs unweighted reports.")
    if patterns is not None and design.report_count() <= _MOST_ROWS:
        observed = counts_by_row(counted)
        shares = most_likely(design.relative_rows(patterns.packed), patterns.counts)
        free = int(np.count_nonzero(shares)) - 1
        return _compare("reports", observed, counted.n * (design.matrix() @ shares), free)
    chances = design.channel.class_chances()
    if chances is not None and len(chances) > 1:
        return _compare("set sizes", counted.counts[:, -1], counted.n * chances, 0)
    remedy = "has too many possible reports, of one size, for this test"
    if design.report_count() <= _MOST_ROWS:
        remedy = "needs each distinct report for this test; use reports.tally(patterns=True)"
    raise EstimationError(f"{design.title} with k={design.k} {remedy}.")


def counts_by_row(tally: Tally) -> NDArray[np.float64]:
    """Counts of all possible reports, in the order of the matrix, of a tally that keeps its distinct reports."""
    design = tally.design
    if tally.counts.ndim == 1 and not design.keeps_patterns:
        return tally.counts.astype(float)
    assert tally.patterns is not None
    where = {report: row for row, report in enumerate(design.report_labels())}
    observed = np.zeros(design.report_count())
    observed[[where[report] for report in design.decode(tally.patterns.packed)]] = tally.patterns.counts
    return observed


def _compare(what: str, observed: NDArray[np.float64], expected: NDArray[np.float64], fitted: int) -> HypothesisTest:
    pools = pool(expected)
    cells = int(pools.max()) + 1
    if len(expected) - 1 <= fitted:
        raise EstimationError(
            f"{len(expected)} reports with {fitted} fitted proportions leave nothing to test: a design with as many "
            "reports as categories fits nearly any counts."
        )
    df = cells - 1 - (fitted if cells == len(expected) else 0)
    if df < 1:
        raise EstimationError("there are too few reports to compare with the design; at least 10 are needed.")
    seen, due = np.bincount(pools, observed), np.bincount(pools, expected)
    statistic = float(((seen - due) ** 2 / due).sum())
    return HypothesisTest(f"goodness of fit of {what}", statistic, df, chi_square_tail(statistic, df))
