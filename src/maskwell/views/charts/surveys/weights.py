"""The picture of a sample: how its weights are spread, which is what makes its records worth fewer equal ones."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maskwell.inference.sample.sample import Sample
from maskwell.views.charts.intervals import count_chart

_BARS = 12


def weights_chart(sample: Sample) -> Any:
    """Records by their weight: each weight by itself where they are few, else classes of equal width."""
    names, counts = _classes(sample.weights)
    title = f"{len(sample):,} records are worth {sample.effective_n():,.0f} of equal weight"
    lines = [
        "A weight is the number of people that a record stands for.",
        f"In all {sample.weights.sum():,.0f} people.",
    ]
    return count_chart(names, counts, title, "records", lines)


def _classes(weights: Any) -> tuple[list[str], Any]:
    values, counts = np.unique(weights, return_counts=True)
    if len(values) <= _BARS:
        return [f"{value:,.4g}" for value in values], counts
    counts, edges = np.histogram(weights, bins=_BARS)
    return [f"{low:,.4g} to {high:,.4g}" for low, high in pairwise(edges)], counts
