"""The precision that each design gives at each level of privacy, once for each number of categories."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from maskwell.collect.studio.planning.figures import title_of
from maskwell.planning import frontier
from maskwell.views.audit_figures import cost

_DESIGNS = ("minimax", "gamma_diagonal", "rappor", "trimmed_rappor", "optimized_unary", "local_diversity")
_LARGE = 100
_MOST_LS = 12


@lru_cache(maxsize=100)
def curves(k: int) -> list[dict[str, Any]]:
    """For each design its points: ε (None if unbounded), the chance of a right guess, and the cost.

    Cost is how many times the respondents of a direct question give the same error, categories equally common.

    >>> [curve["title"] for curve in curves(4)]
    ['minimax subsets', 'k-ary response', 'RAPPOR', 'trimmed RAPPOR', 'optimized unary', 'local l-diversity']
    """
    step = 0.25 if k <= _LARGE else 0.5
    epsilons = [step * i for i in range(1, round(6 / step) + 1)]
    ls = list(range(2, k)) if k <= _MOST_LS else sorted({round(2 * (k / 4) ** (i / _MOST_LS)) for i in range(_MOST_LS)})
    found: dict[str, list[list[float | None]]] = {}
    for point in frontier(k, epsilons, ls, _DESIGNS):
        if math.isfinite(point.added_variance):
            epsilon = point.epsilon if math.isfinite(point.epsilon) else None
            row = [epsilon, point.guess_probability, cost(point.added_variance, k)]
            found.setdefault(point.name, []).append(row)
    return [{"name": name, "title": title_of(name), "points": points} for name, points in found.items()]
