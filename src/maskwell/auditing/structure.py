"""The matrix as a linear map: what it lets an analyst recover, and how far one false report can mislead.

Symmetric designs need no matrix: ``P'P`` has one eigenvalue for the vector of ones and one for all contrasts.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from maskwell.designs.base import Design, Method, Vector
from maskwell.designs.product import ProductDesign
from maskwell.designs.rows import RowScores
from maskwell.designs.subsets import SubsetDesign, SubsetScores
from maskwell.sampling.plans import TOTAL

_CLEARLY_POSITIVE = 1e-9


class Influence(NamedTuple):
    """What one chosen report can do to the estimated number of respondents in a category.

    ``adds``: above what a truthful respondent of another category would contribute on average, which is 0.
    ``removes``: below what a truthful respondent of the category would, which is 1.
    """

    adds: float
    removes: float


def influence(design: Design, method: Method = "linear") -> Influence:
    """The largest and the smallest score of any report in any category.

    With A and B the chances that a report holds the truth and another category, ``adds`` is (1-B)/(A-B) and
    ``removes`` A/(A-B) for the moment estimator of a symmetric design, and for the linear one where all sets have one
    size. A direct question has 1 and 1.
    """
    if isinstance(design, ProductDesign):
        # A joint score is a product of scores, so its extremes are products of the parts' extremes.
        low = high = 1.0
        for part in design.parts:
            adds, removes = influence(part, method)
            products = [a * b for a in (low, high) for b in (1 - removes, adds)]
            low, high = min(products), max(products)
        return Influence(high, 1 - low)
    scores = design.scores(method)
    if isinstance(scores, SubsetScores):
        sizes = np.array(scores.design.sizes)
        values = np.concatenate([(scores.base + scores.slope)[sizes > 0], scores.base[sizes < design.k]])
    elif isinstance(scores, RowScores):
        values = scores.estimator[:, design.matrix().any(axis=1)]
    else:
        rows = np.arange(design.report_count())
        values = np.array([scores.mean(design.count(design.pack_rows(rows[z : z + 1]))) for z in rows])
    return Influence(float(values.max()), 1 - float(values.min()))


def rank(design: Design) -> int:
    """The number of independent facts about the proportions that the reports show; k if all can be estimated."""
    if isinstance(design, SubsetDesign):
        return design.k if any(_contrasts(design)) else 1
    values = np.linalg.svd(design.matrix(), compute_uv=False)
    clear = int((values > _CLEARLY_POSITIVE * values[0]).sum())
    return clear if clear == design.k else _exact_rank(design.matrix(exact=True).tolist())


def _contrasts(design: SubsetDesign) -> list[int]:
    """Per size, the difference between members and others in the chance of a set, as an integer."""
    rows = zip(design.sizes, design.inside, design.outside, strict=True)
    return [i * (design.k - s) - o * s if 0 < s < design.k else 0 for s, i, o in rows]


def _exact_rank(rows: list[list[Fraction]]) -> int:
    """By elimination over the rationals: round-off cannot decide whether a row is new."""
    found = 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        head = rows[found]
        for r in range(found + 1, len(rows)):
            if rows[r][column]:
                factor = rows[r][column] / head[column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], head, strict=True)]
        found += 1
    return found


def condition_number(design: Design) -> float:
    """The largest over the smallest singular value of P: how much inverting it may amplify errors."""
    if not isinstance(design, SubsetDesign):
        values = np.linalg.svd(design.matrix(), compute_uv=False)
        smallest = values[-1] if rank(design) == design.k else 0.0
        return float(values[0] / smallest) if smallest > 0 else math.inf
    k = design.k
    sizes = np.array(design.sizes, float)
    fewer_sets = _inverse_set_counts(design)
    shares = np.array([(i + o) / TOTAL for i, o in zip(design.inside, design.outside, strict=True)])
    contrasts = np.array([c / TOTAL for c in _contrasts(design)])
    products = np.where((sizes > 0) & (sizes < k), sizes * (k - sizes), 1.0)
    of_ones = k * float(shares**2 @ fewer_sets)
    of_contrasts = k / (k - 1) * float(contrasts**2 / products @ fewer_sets)
    low, high = sorted((of_ones, of_contrasts))
    return math.sqrt(high / low) if low > 0 else math.inf


def _inverse_set_counts(design: SubsetDesign) -> Vector:
    """1 over the number of sets of each size, up to a common factor."""
    k = design.k
    logs = np.array([math.lgamma(s + 1) + math.lgamma(k - s + 1) for s in design.sizes])
    inverse: Vector = np.exp(logs - logs.max())
    return inverse


def trace(design: Design) -> Fraction | None:
    """The sum over categories of the chance to report the truth as it is; None where reports are not categories."""
    if isinstance(design, SubsetDesign):
        return Fraction(design.k * design.inside[0], TOTAL) if design.sizes == (1,) else None
    labels = design.report_labels()
    if len(labels) != design.k or set(labels) != set(design.categories):
        return None
    matrix = design.matrix(exact=True)
    return sum((matrix[labels.index(c), j] for j, c in enumerate(design.categories)), Fraction(0))
