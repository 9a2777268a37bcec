r"""The mean of every proportion over several rounds in which the same people may take part.

With :math:`L_1, \dots, L_T` one person's scores, the mean over rounds is the mean over people of
:math:`\bar L = (L_1 + \dots + L_T) / T`, and reports row by row about the same people show its variance themselves,
whatever noise their rounds share. From tallies alone the shared noise is not known, but whatever it is, and whoever was
in which round,

.. math:: \mathrm{se}(\bar p) \le (\mathrm{se}(\hat p_1) + \dots + \mathrm{se}(\hat p_T)) / T

with equality where everybody sends the same report in every round. Counted together as if people differed, T rounds of
kept reports would claim :math:`\sqrt T` times less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maskwell.designs.base import Vector
from maskwell.errors import EstimationError
from maskwell.inference.linear import LinearEstimate
from maskwell.inference.methods import as_tally, estimate
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.rounds.figures import SCORES_AT_ONCE, RoundsEstimate, check_rounds, covariance_of_mean, sums_over

# Beyond so many scores (half a minute a round), variances are bounded by those of the rounds.
_MOST_SCORES = 1 << 27


@dataclass(frozen=True, eq=False)
class Mean(RoundsEstimate):
    """Estimated proportions, the mean of ``rounds`` rounds; ``figures`` under their usual name too."""

    rounds: int = 1

    word: ClassVar[str] = "mean"

    @property
    def proportions(self) -> Vector:
        """The means by category, unbiased and therefore not clipped."""
        return self.figures

    def _title(self) -> str:
        return f"mean over {self.rounds:,} rounds of {self.n:,} reports, {self.basis}"


def mean(rounds: Iterable[Reports | Tally]) -> Mean:
    """The mean of every proportion over rounds, with limits that hold though people or devices come again.

    Give the reports of all rounds, row by row about the same people, where they are known: who misses a round is left
    out. From tallies, one a round, standard errors are the largest that there can be, whoever was in which round: the
    mean of those of the rounds. Rounds may then differ in size, and each counts the same.

    >>> from maskwell.designs import minimax
    >>> design = minimax(["wifi", "cable", "mobile"], epsilon=1)
    >>> kept = design.mask(["wifi", "wifi", "cable"] * 1000, key=bytes(32), ids=range(3000), question="network")
    >>> week = mean([kept.tally()] * 7)
    >>> bool(abs(week.standard_errors[0] - mean([kept.tally()]).standard_errors[0]) < 1e-12)
    True
    """
    if not isinstance(rounds, Iterable):
        raise EstimationError(
            f"rounds must be a list, the reports or the tally of each; got {type(rounds).__name__}.", parameter="rounds"
        )
    given = list(rounds)
    if not given:
        raise EstimationError("there are no rounds; give the reports or the tally of each.", parameter="rounds")
    check_rounds(given, "rounds")
    design = given[0].design
    reports = [part for part in given if isinstance(part, Reports)]
    if len(reports) == len(given) and len(reports) * len(reports[0]) * design.k <= _MOST_SCORES:
        return _of_people(reports)
    return _of_tallies([as_tally(part) for part in given])


def _of_tallies(tallies: Sequence[Tally]) -> Mean:
    parts = [estimate(tally) for tally in tallies]
    assert all(isinstance(part, LinearEstimate) for part in parts)
    errors = np.mean([part.standard_errors for part in parts], axis=0)
    proportions = np.mean([part.proportions for part in parts], axis=0)
    n, basis = min(int(part.n) for part in parts), "errors at most, whoever came again"
    return Mean(tallies[0].design.categories, proportions, errors**2, None, basis, n, rounds=len(parts))


def _of_people(rounds: Sequence[Reports]) -> Mean:
    size = len(rounds[0])
    if any(len(reports) != size for reports in rounds):
        raise EstimationError(
            "reports must be row by row about the same people, so all rounds have as many rows; got "
            f"{', '.join(f'{len(reports):,}' for reports in rounds[:5])}. Give tallies where people cannot be told."
        )
    present = np.ones(size, np.bool_)
    for reports in rounds:
        if reports.missing is not None:
            present &= ~reports.missing
    n = int(present.sum())
    if n < 2:
        raise EstimationError("a mean over rounds needs the reports of two people or more in every round.")
    design, scores = rounds[0].design, rounds[0].design.scores("linear")
    k, packed = design.k, [reports.packed[present] for reports in rounds]
    step = max(1, SCORES_AT_ONCE // k)
    own = (np.mean([scores.rows(part[start : start + step]) for part in packed], axis=0) for start in range(0, n, step))
    sums, squares, products = sums_over(own, k)
    means = sums / n
    variances = np.maximum((squares - n * means**2) / (n - 1) / n, 0.0)
    covariance = covariance_of_mean(products, means, n)
    basis = "of the same people, row by row"
    return Mean(design.categories, means, variances, covariance, basis, n, rounds=len(rounds))
