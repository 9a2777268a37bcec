"""What a reader of reports knows beforehand: how common each category is."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from maskwell.designs.base import Design, Vector
from maskwell.errors import DesignError

_SUM_TOLERANCE = 1e-6


def read_prior(prior: Any, design: Design) -> Vector | None:
    """Prior weights as a vector that sums to 1: one per category, or a mapping from label to weight."""
    if prior is None:
        return None
    if isinstance(prior, Mapping):
        if set(prior) != set(design.categories):
            raise DesignError(
                f"prior must name each of the {design.k} categories once; others or too few are named.",
                parameter="prior",
            )
        prior = [prior[label] for label in design.categories]
    try:
        weights = np.asarray([float(w) for w in prior])
    except (TypeError, ValueError):
        raise DesignError(
            "prior must be numbers, one per category, or a mapping from label to number.", parameter="prior"
        ) from None
    if weights.shape != (design.k,):
        raise DesignError(
            f"prior must have {design.k} entries, one per category; got {len(weights)}.", parameter="prior"
        )
    total = math.fsum(weights)
    if not (weights >= 0).all() or not abs(total - 1) <= _SUM_TOLERANCE:
        raise DesignError(
            f"prior must be non-negative and sum to 1; its least entry is {weights.min():.6g} and its sum {total:.9g}. "
            "Divide counts by their sum.",
            parameter="prior",
        )
    return weights / total
