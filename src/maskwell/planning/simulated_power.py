"""Power of tests that have no simple formula: surveys are drawn at the population one has in mind, and tested.

Counts of reports are drawn from the design's own matrix, so that thousands of respondents cost as little as ten. A
complex sample counts as one of n / design_effect independent people, which is on the safe side: masking noise does not
grow with clusters. With ``weight_effect``, the part of the design effect that unequal weights have, the masks' part of
the variance grows by that alone; the sample then counts as one of as many people as its total variance over all
categories is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from maskwell.designs.base import Design
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.designs.kinds.product import product
from maskwell.errors import DesignError
from maskwell.inference.draws import derived_seed, draw_counts
from maskwell.inference.hypotheses.fit import goodness_of_fit
from maskwell.inference.hypotheses.homogeneity import homogeneity_test
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.hypotheses.independence import independence_test
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.planning.inflation import Inflation
from maskwell.planning.power_curve import SimulatedPower
from maskwell.planning.variance_lines import respondents
from maskwell.reports.tally import Tally

_TOLERANCE = 1e-9
_MOST_ROWS = 1 << 16


def power_of_independence(
    one: Design,
    other: Design,
    table: Any,
    n: int,
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
    weight_effect: float | None = None,
    surveys: int = 500,
    seed: int = 1,
) -> SimulatedPower:
    """The power of ``independence_test`` where the joint shares of two variables are those of ``table``.

    >>> from maskwell import designs
    >>> design = designs.gamma_diagonal(2, epsilon=2)
    >>> found = power_of_independence(design, design, [[0.4, 0.1], [0.1, 0.4]], 400, surveys=200)
    >>> found.power > 0.9
    True
    """
    shares = _shares(table, (one.k, other.k), "table")
    chances = one.matrix() @ shares @ other.matrix().T
    both = product(one, other)
    size = _worth(n, both, shares.reshape(-1), design_effect, weight_effect)
    rows = _counts(chances.reshape(-1), size, surveys, seed, "independence")
    return _simulated("independence", n, level, [(both, rows)], lambda t: independence_test(t[0], permutations=0))


def power_of_homogeneity(
    designs: Design | Sequence[Design],
    shares: Any,
    sizes: Sequence[int],
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
    weight_effect: float | None = None,
    surveys: int = 500,
    seed: int = 1,
) -> SimulatedPower:
    """The power of ``homogeneity_test`` between groups of these sizes; ``shares`` has a row of proportions per group.

    ``designs`` is one for all groups, or one for each.
    """
    asked = list(designs) if isinstance(designs, Sequence) else [designs] * len(sizes)
    if len(asked) != len(sizes) or len(sizes) < 2:
        raise DesignError("two groups or more are needed, with a size for each, and one design or one for each.")
    if any(design.categories != asked[0].categories for design in asked):
        raise DesignError("groups are compared by the same categories; the designs have different ones.", "designs")
    populations = _rows(shares, len(sizes), asked[0].k)
    drawn = []
    for at, (design, p, size) in enumerate(zip(asked, populations, sizes, strict=True)):
        worth = _worth(size, design, p, design_effect, weight_effect)
        drawn.append((design, _counts(design.matrix() @ p, worth, surveys, seed, "groups", at)))
    return _simulated("homogeneity", sum(sizes), level, drawn, lambda t: homogeneity_test(t, seed=seed))


def power_of_fit(
    design: Design,
    shares: Any,
    behaviour: Any,
    share: float,
    n: int,
    *,
    level: float = 0.95,
    design_effect: float = 1.0,
    weight_effect: float | None = None,
    surveys: int = 500,
    seed: int = 1,
) -> SimulatedPower:
    """The power of ``goodness_of_fit`` to notice that a ``share`` of people report as ``behaviour`` and not by design.

    ``behaviour`` has the chance of each report, in the order of ``design.report_labels()``.
    """
    population = _shares(shares, (design.k,), "shares")
    instead = _shares(behaviour, (design.report_count(),), "behaviour")
    if not 0 < share < 1:
        raise DesignError(f"share must lie between 0 and 1; got {share}.", parameter="share")
    chances = (1 - share) * (design.matrix() @ population) + share * instead
    size = _worth(n, design, population, design_effect, weight_effect)
    rows = _counts(chances, size, surveys, seed, "fit")
    return _simulated("fit to the design", n, level, [(design, rows)], lambda t: goodness_of_fit(t[0]))


def _shares(given: Any, shape: tuple[int, ...], name: str) -> Matrix:
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError):
        raise DesignError(f"{name} must be numbers.", parameter=name) from None
    if found.shape != shape or not (found >= 0).all() or abs(found.sum() - 1) > _TOLERANCE:
        size = " by ".join(map(str, shape))
        raise DesignError(f"{name} must be {size} shares >= 0 that sum to 1; got shape {found.shape}.", parameter=name)
    return found


def _rows(given: Any, rows: int, k: int) -> Matrix:
    if not isinstance(given, (list, tuple, np.ndarray)) or len(given) != rows:
        raise DesignError(f"shares must have a row of {k} proportions for each of {rows} groups.", parameter="shares")
    return np.array([_shares(row, (k,), "shares") for row in given])


def _worth(n: int, design: Design, proportions: Vector, design_effect: float, weight_effect: float | None) -> int:
    """How many independent people a sample of n is worth."""
    effect = Inflation.of(design_effect, max(design_effect, 1.0) if weight_effect is None else weight_effect)
    return max(round(respondents(n) / effect.of_population(design, proportions)), 1)


def _counts(chances: Vector, n: int, surveys: int, seed: int, *purpose: object) -> Matrix:
    if len(chances) > _MOST_ROWS:
        raise DesignError(
            f"{len(chances):,} possible reports are too many to simulate; plan with a coarser design, or for the "
            "variables one by one."
        )
    if type(surveys) is not int or surveys < 2:
        raise DesignError(f"surveys must be a whole number, 2 or more; got {surveys!r}.", parameter="surveys")
    return draw_counts(chances / chances.sum(), n, surveys, derived_seed(seed, "power", *purpose)).astype(float)


def _simulated(
    test: str,
    n: int,
    level: float,
    drawn: Sequence[tuple[Design, Matrix]],
    of: Callable[[list[Tally]], HypothesisTest],
) -> SimulatedPower:
    """How often a test of groups, each with a design and a row of counts per survey, rejects."""
    normal_quantile(level)
    groups = [map(partial(Tally.from_counts, design), rows) for design, rows in drawn]
    p_values = np.array([of(list(survey)).p_value for survey in zip(*groups, strict=True)])
    return SimulatedPower(test, n, float(np.mean(p_values <= 1 - level)), len(p_values), level)
