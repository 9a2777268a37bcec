r"""What a report is worth to a reader who guesses for a gain (Alvim, Chatzikokolakis, Palamidessi and Smith, 2012).

A reader picks a guess w and gets g(w, x) if the truth is x. With prior weights the best guess is worth
:math:`\max_w \sum_x \pi_x g(w, x)` without a report and :math:`\sum_y \max_w \sum_x \pi_x P_{yx} g(w, x)` with one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from maskwell.designs.channels.base import Channel
from maskwell.designs.channels.numbers import Exact
from maskwell.errors import DesignError
from maskwell.limits import MOST_STEPS

_MOST_SUMS = 1 << 26
"""Reports times guesses of channels whose sums over truths are fast: some ten seconds."""

Gains = Sequence[Mapping[int, Fraction]]
"""For each guess the gain by truth; truths that it leaves out gain nothing."""


def worth_by_guess(prior: Sequence[Fraction], gains: Gains) -> list[Fraction]:
    """What each guess gains on average without a report."""
    return [sum((prior[x] * gain for x, gain in guess.items()), Fraction(0)) for guess in gains]


def worth_of_reports(channel: Channel, prior: Sequence[Fraction], gains: Gains) -> Fraction | float:
    """What the best guess from a report gains on average: exact where all reports can be listed."""
    if channel.report_count() * channel.k * len(gains) <= MOST_STEPS:
        return by_listing(channel, prior, gains)
    if all(len(guess) <= 1 for guess in gains):
        return by_prediction(channel, prior, gains)
    if channel.report_count() * len(gains) <= _MOST_SUMS and channel.over_truths(np.zeros(channel.k)) is not None:
        return by_sums(channel, prior, gains)
    raise DesignError(
        f"gain is weighed for each report, category and guess of {channel.name} with k={channel.k:,}, which are more "
        f"than {MOST_STEPS:,} together; merge guesses or categories, or let each guess gain for one category only.",
        parameter="gain",
    )


def by_listing(channel: Channel, prior: Sequence[Fraction], gains: Gains) -> Fraction:
    """From every row, in whole numbers."""
    worth = np.zeros((channel.k, len(gains)), dtype=object)
    for w, guess in enumerate(gains):
        for x, gain in guess.items():
            worth[x, w] = prior[x] * gain
    rows, row_unit = _whole(channel.table("gain_leakage()"))
    worth, unit = _whole(worth)
    return Fraction(int((rows @ worth).max(axis=1).sum()), row_unit * unit)


def by_sums(channel: Channel, prior: Sequence[Fraction], gains: Gains) -> float:
    """Guess by guess, by a channel that sums over truths for all reports at once, without a table of them."""
    best = np.zeros(channel.report_count())
    for guess in gains:
        worth = np.zeros(channel.k)
        for x, gain in guess.items():
            worth[x] = float(prior[x] * gain)
        sums = channel.over_truths(worth)
        assert sums is not None
        np.maximum(best, sums, out=best)
    return math.fsum(best)


def by_prediction(channel: Channel, prior: Sequence[Fraction], gains: Gains) -> Fraction | float:
    """Where each guess gains for one truth only: as a right guess under the prior times the best gain for each truth.

    Channels that know the chance of a right guess in closed form need no list of reports for it.
    """
    best = [Fraction(0)] * channel.k
    for guess in gains:
        for x, gain in guess.items():
            best[x] = max(best[x], gain)
    weights = [p * gain for p, gain in zip(prior, best, strict=True)]
    total = sum(weights, Fraction(0))
    if not total:
        return total
    if len(set(weights)) == 1:
        return total * Fraction(channel.leakage(None).prediction())
    shares = np.array([float(weight / total) for weight in weights])
    return float(total) * float(channel.leakage(shares).prediction())


def _whole(values: Exact) -> tuple[Exact, int]:
    """The numbers as multiples of one unit, and how many units make 1."""
    units = math.lcm(*{Fraction(value).denominator for value in values.flat})
    return np.array([[int(value * units) for value in row] for row in values], dtype=object), units
