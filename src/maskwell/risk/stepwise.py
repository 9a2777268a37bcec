"""Forward choice of a log-linear model: interactions are added while B1 and B2 say that the model is too simple.

Risks fall as a model grows, and a model that follows every record calls nobody at risk. So the search starts from
independence and stops at the first model whose misfit is within chance. It adds pairs of keys and, where no pair helps
any more, triples whose pairs it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from maskwell.risk.frequencies import Cells
from maskwell.risk.loglinear import MOST_CELLS, Fit, Interaction, extended, fit, stepped
from maskwell.risk.misfit import Misfit, misfit
from maskwell.risk.structural_zeros import Zero


@dataclass(frozen=True)
class Step:
    """A model on the way: the interaction that was added last, by key names, and the misfit that remains."""

    added: tuple[str, ...]
    misfit: Misfit


def choose(cells: Cells, fraction: float, zeros: Sequence[Zero] = ()) -> tuple[Fit, tuple[Step, ...]]:
    """The model of the weighted records that the search ends with, and its steps."""
    model = fit(cells, (), zeros, cells.weighted)
    steps = [Step((), misfit(cells, model, fraction))]
    for order in (2, 3):
        while steps[-1].misfit.verdict == "too simple":
            larger = _best(cells, model, order, fraction)
            if larger is None:
                break
            then = misfit(cells, larger, fraction)
            if then.worst >= steps[-1].misfit.worst:
                break
            model = larger
            steps.append(Step(tuple(cells.keys[i] for i in model.interactions[-1]), then))
    return model, tuple(steps)


def _best(cells: Cells, model: Fit, order: int, fraction: float) -> Fit | None:
    """The model with the most helpful further interaction of ``order`` keys; None if there is none to add."""
    candidates = _candidates(model, order, len(cells.keys))
    if not candidates:
        return None
    # One scaling step ranks the candidates almost as fitting each of them would.
    best = min(candidates, key=lambda one: misfit(cells, stepped(model, cells, one), fraction).worst)
    return extended(model, cells, best)


def _candidates(model: Fit, order: int, keys: int) -> list[Interaction]:
    """Interactions that the model lacks but whose parts it has, unless they need too large a table."""

    def held(some: Interaction) -> bool:
        return len(some) == 1 or any(set(some) <= set(one) for one in model.interactions)

    return [
        one
        for one in combinations(range(keys), order)
        if not held(one)
        and all(held(part) for part in combinations(one, order - 1))
        and model.linked_size(one) <= MOST_CELLS
    ]
