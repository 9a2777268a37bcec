r"""A log-linear model at work: the risk it gives every occupied cell, and how well it suits.

With weights the model is fitted twice. Fitted to the weighted records, which is the pseudo-likelihood of Skinner and
Shlomo (2008), it gives the mean number λ of people in each cell, whoever was drawn with which chance. Fitted to the
records as they are, it gives their mean number μ. The people who are not in the sample are then λ − μ in the mean, and
μ / λ is the cell's own sampling fraction. (The weights of its records alone would tell that fraction badly: a record
that is alone in its cell is more often one that was drawn with a large chance.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from maskwell.errors import EstimationError
from maskwell.risk.frequencies import Cells
from maskwell.risk.loglinear import Fit, Interaction, fit
from maskwell.risk.misfit import Misfit, misfit
from maskwell.risk.poisson import match_chance, uniqueness, unsampled
from maskwell.risk.stepwise import Step, choose
from maskwell.risk.structural_zeros import Zero
from maskwell.tables.codes import Floats
from maskwell.tables.frames import names_of

MODELS = ("stepwise", "independence", "two-way")


@dataclass(frozen=True, eq=False)
class Modelled:
    """A fitted model for a sampling fraction; ``name`` is how it was asked for."""

    name: str
    cells: Cells
    fraction: float
    fit: Fit
    """The model of the records."""
    weighted: Fit
    """The model of the weighted records, in units of records: the same where there are no weights."""
    steps: tuple[Step, ...] = ()
    """The models on the way, if the model was chosen stepwise."""

    @cached_property
    def _others(self) -> Floats:
        codes = self.cells.codes
        if self.weighted is self.fit:
            return unsampled(self.fit.means(codes), self.fraction)
        # Where weights are below 1, more would be in the sample than there are.
        return np.maximum(self.weighted.means(codes) / self.fraction - self.fit.means(codes), 0.0)

    @cached_property
    def uniqueness(self) -> Floats:
        """For every occupied cell, the chance that its only record is unique in the population; 0 in larger cells."""
        return np.where(self.cells.counts == 1, uniqueness(self._others), 0.0)

    @cached_property
    def match_chances(self) -> Floats:
        """For every occupied cell, the chance that a match with one of its records is right, E[1/F | f]."""
        return match_chance(self.cells.counts, self._others)

    @cached_property
    def tau1(self) -> float:
        """The expected number of sample uniques that are unique in the population."""
        return float(self.uniqueness.sum())

    @cached_property
    def tau2(self) -> float:
        """The expected number of correct matches among the sample uniques."""
        single = self.cells.counts == 1
        return float(match_chance(self.cells.counts[single], self._others[single]).sum())

    @cached_property
    def expected_matches(self) -> float:
        """The expected number of correct matches among all records."""
        return float(self.match_chances @ self.cells.counts)

    @cached_property
    def misfit(self) -> Misfit:
        """The fit statistics B1 and B2."""
        return self.steps[-1].misfit if self.steps else misfit(self.cells, self.weighted, self.fraction)

    @property
    def interactions(self) -> tuple[tuple[str, ...], ...]:
        """The interactions of the model, by key names."""
        return tuple(tuple(self.cells.keys[i] for i in one) for one in self.fit.interactions)

    def without(self, key: str) -> Modelled:
        """The same model of the remaining keys."""
        gone = self.cells.keys.index(key)

        def moved(keys: Sequence[int]) -> Interaction:
            return tuple(i - (i > gone) for i in keys if i != gone)

        interactions = dict.fromkeys(moved(one) for one in self.fit.interactions)
        zeros = [Zero(moved(zero.keys), zero.codes) for zero in self.fit.zeros if gone not in zero.keys]
        cells = self.cells.without(key)
        return _modelled(self.name, cells, self.fraction, [i for i in interactions if len(i) > 1], zeros)

    def to_dict(self) -> dict[str, Any]:
        """The file's figures."""
        found = self.misfit
        return {
            "name": self.name,
            "interactions": [list(one) for one in self.interactions],
            "converged": self.fit.converged and self.weighted.converged,
            "tau1": self.tau1,
            "tau2": self.tau2,
            "expected_matches": self.expected_matches,
            "b1": found.b1,
            "b2": found.b2,
            "z1": found.z1,
            "z2": found.z2,
            "verdict": found.verdict,
        }


def model_risk(cells: Cells, model: Any, fraction: float, zeros: Sequence[Zero] = ()) -> Modelled:
    """Fit the model that was asked for: by its name, or by a list of interactions."""
    if model == "stepwise":
        chosen, steps = choose(cells, fraction, zeros)
        return Modelled(model, cells, fraction, _of_records(cells, chosen), chosen, steps)
    if isinstance(model, str):
        if model not in MODELS:
            raise EstimationError(
                f"model must be one of {', '.join(MODELS)} or a list of interactions such as [('sex', 'age')]; "
                f"got {model!r}.",
                parameter="model",
            )
        interactions = list(combinations(range(len(cells.keys)), 2)) if model == "two-way" else []
        return _modelled(model, cells, fraction, interactions, zeros)
    if not isinstance(model, Sequence):
        raise EstimationError(
            f"model must be a name or a list of interactions; got {type(model).__name__}.", parameter="model"
        )
    return _modelled("given", cells, fraction, [_interaction(one, cells) for one in model], zeros)


def _modelled(
    name: str, cells: Cells, fraction: float, interactions: Sequence[Interaction], zeros: Sequence[Zero]
) -> Modelled:
    weighted = fit(cells, interactions, zeros, cells.weighted)
    return Modelled(name, cells, fraction, _of_records(cells, weighted), weighted)


def _of_records(cells: Cells, weighted: Fit) -> Fit:
    """The same model of the records as they are."""
    return weighted if cells.population is None else fit(cells, weighted.interactions, weighted.zeros)


def _interaction(declared: Any, cells: Cells) -> Interaction:
    if isinstance(declared, str):
        raise EstimationError(
            f"an interaction is a tuple of two keys or more, such as ('sex', 'age'); got {declared!r}."
        )
    names = names_of(declared, "an interaction in model")
    unknown = [name for name in names if name not in cells.keys]
    if unknown or len(names) < 2:
        wrong = f"names {unknown[0]!r}, which is not a key" if unknown else f"{names!r} has fewer than two keys"
        raise EstimationError(f"an interaction in model {wrong}; keys: {', '.join(cells.keys)}.")
    return tuple(sorted(cells.keys.index(name) for name in names))
