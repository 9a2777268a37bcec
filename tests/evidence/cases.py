"""The designs and populations that the topics share: every named design, small and rare shares included."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import DESIGNS, Design
from maskwell.designs.base import Method
from tests.conformance.members import build

Floats = NDArray[np.float64]
METHODS: tuple[Method, ...] = ("linear", "moments")

# Where an example of the registry would not be hard enough; designs without an entry are tried with their examples.
_CHOSEN: dict[str, tuple[dict[str, object], ...]] = {
    "direct": ({"k": 6},),
    "gamma_diagonal": ({"k": 6, "epsilon": 1}, {"k": 6, "epsilon": 4}),
    "minimax": ({"k": 6, "epsilon": 1},),
    "rappor": ({"k": 6, "epsilon": 1}, {"k": 6, "epsilon": 4}),
    "trimmed_rappor": ({"k": 6, "epsilon": 1},),
    "optimized_unary": ({"k": 6, "epsilon": 1}, {"k": 6, "epsilon": 4}),
    "local_diversity": ({"k": 6, "l": 3},),
    "uniform_subsets": ({"k": 6},),
    "average_secure": ({"k": 6, "phi": 1.5},),
    "warner": ({"truth_prob": 0.8},),
    "crosswise": ({"innocuous_prob": 0.25},),
    "mangat": ({"truth_prob": 0.7},),
    "mangat_singh": ({"direct_prob": 0.3, "truth_prob": 0.7},),
    "triangular": ({"innocuous_prob": 0.25},),
    "singh_joarder": ({"truth_prob": 0.7},),
    "christofides": ({"card_probs": [0.2, 0.3, 0.5]},),
    "eriksson": ({"k": 5, "truth_prob": 0.5},),
}


@dataclass(frozen=True)
class Case:
    """A design under a short name."""

    name: str
    label: str
    design: Design

    @property
    def seed(self) -> int:
        """A seed of its own, so that no two designs share their randomness and a new design changes no other's."""
        return zlib.crc32(self.label.encode())

    @property
    def populations(self) -> dict[str, Floats]:
        """One population with an empty and rare categories where there is room for them, and one with even shares."""
        k = self.design.k
        return {"rare": rare_population(k), "even": np.full(k, 1 / k)}


def rare_population(k: int) -> Floats:
    """Shares of 0, .005 and .02 and the rest doubling; a yes/no question has a share of .005."""
    if k == 2:
        return np.array([0.005, 0.995])
    if k == 3:
        return np.array([0, 0.02, 0.98])
    rest = 2.0 ** np.arange(k - 3)
    return np.array([0, 0.005, 0.02, *0.975 * rest / rest.sum()])


def _cases() -> tuple[Case, ...]:
    found = []
    for name, entry in DESIGNS.items():
        for position, parameters in enumerate(_CHOSEN.get(name, entry.examples)):
            design = build(entry, parameters)
            if not math.isfinite(design.added_variance):
                continue  # It tells sums only: see the topic `sums`.
            shown = [f"{k}={v}" for k, v in parameters.items() if k != "k" and isinstance(v, (int, float))]
            label = (
                " ".join([name, *shown]) if shown or parameters.keys() <= {"k"} else f"{name} (example {position + 1})"
            )
            if any(case.label == label for case in found):
                label += f" k={design.k}"
            found.append(Case(name, label, design))
    return tuple(found)


CASES = _cases()


def signal_probabilities(design: Design, population: Floats) -> Floats:
    """By category, how probable a telling report is: a set that holds it, or the row most in its favour."""
    matrix, reports = design.matrix(), design.report_labels()
    if isinstance(reports[0], frozenset):
        holds = np.array([[category in report for category in design.categories] for report in reports])
        return np.asarray((matrix @ population) @ holds)
    telling = np.argmax(matrix / matrix.mean(axis=1, keepdims=True), axis=0)
    return np.asarray((matrix @ population)[telling])


def expected_counts(design: Design, population: Floats, n: int) -> Floats:
    """By category, the expected number of telling reports or of all others, whichever is smaller."""
    chance = signal_probabilities(design, population)
    return np.asarray(n * np.minimum(chance, 1 - chance))
