"""Named explicit matrices: any matrix, categories collapsed into groups, and average security."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.demands import AverageSecurity, Demand
from maskwell.designs.channels.table import refuse_many_weights
from maskwell.designs.kinds.matrix import MatrixDesign
from maskwell.designs.registry import named
from maskwell.designs.rounding import integer_matrix, refuse_long_denominator
from maskwell.errors import DesignError
from maskwell.exact import fraction, given_fraction, written_fraction
from maskwell.sampling.samplers import TOTAL
from maskwell.tables.labels import as_labels, shown

_WITHHELD = "(withheld)"


def build(
    labels: tuple[Any, ...],
    matrix: Any,
    reports: Sequence[Any],
    *,
    name: str,
    parameters: dict[str, Any] | None = None,
    demand: Demand | None = None,
) -> MatrixDesign:
    """A design from exact probabilities by row."""
    weights, total = integer_matrix(np.array(matrix, dtype=object))
    rows = tuple(tuple(int(w) for w in row) for row in weights)
    return MatrixDesign(labels, rows, total, tuple(reports), name=name, parameters=parameters or {}, demand=demand)


@named(
    "chai-nayak-2018",
    examples=(
        {"P": [[0.6, 0.2, 0.1], [0.3, 0.7, 0.2], [0.1, 0.1, 0.7]]},
        {"P": [["1/2", "0", "1/4"], ["0", "1/2", "1/4"], ["1/2", "1/2", "1/2"]]},
        {"P": [[0.5, 0.1], [0.2, 0.2], [0.3, 0.7]]},
    ),
    recognise=lambda design, parameters: isinstance(design, MatrixDesign) and not parameters,
)
def from_matrix(P: Any, categories: Any = None, *, reports: Sequence[Any] | None = None) -> MatrixDesign:
    """Use a matrix of your own, ``P[report, truth]`` with columns that sum to 1.

    Fractions (also as text, "1/3") are taken as they are, floats at their binary value. The two arguments may come in
    either order.

    >>> from_matrix([["2/3", "1/3"], ["1/3", "2/3"]]).exact_parity()
    Fraction(2, 1)
    """
    if categories is not None and np.ndim(P) < 2:
        P, categories = categories, P
    try:
        shape = np.shape(P)
    except ValueError:
        shape = ()
    if len(shape) != 2 or 0 in shape:
        raise DesignError("P must be a table with one row per report and one column per true category.")
    refuse_many_weights(*shape)
    labels = as_labels(shape[1] if categories is None else categories)
    if len(labels) != shape[1]:
        raise DesignError(f"P has {shape[1]} columns but categories names {len(labels)} labels; they must match.")
    entries = [[given_fraction(p, f"P[{i}, {j}]", DesignError) for j, p in enumerate(row)] for i, row in enumerate(P)]
    refuse_long_denominator((entry for row in entries for entry in row), "P")
    if reports is None:
        reports = labels if shape[0] == shape[1] else range(shape[0])
    plain = [r.item() if isinstance(r, np.generic) else r for r in reports]
    return build(labels, entries, plain, name="from_matrix")


@named(
    "nayak-2020",
    examples=({"k": 4, "groups": [[0, 1], [2, 3]]}, {"k": 3, "groups": {"low": [0], "rest": [1, 2]}}),
)
def collapse(
    categories: Iterable[Any] | int, *, groups: Mapping[str, Iterable[Any]] | Iterable[Iterable[Any]]
) -> MatrixDesign:
    """Report only which group of categories the truth is in; group totals are then known, single categories are not."""
    labels = as_labels(categories)
    parts = {str(g): list(m) for g, m in groups.items()} if isinstance(groups, Mapping) else {}
    if not isinstance(groups, Mapping):
        parts = {" or ".join(str(c) for c in members): members for members in map(list, groups)}
    refuse_many_weights(len(parts), len(labels))
    listed = [c for members in parts.values() for c in members]
    if sorted(map(repr, listed)) != sorted(map(repr, labels)):
        odd = tuple(set(labels) ^ set(listed)) or tuple(c for c, times in Counter(listed).items() if times > 1)
        raise DesignError(f"groups must hold each category exactly once; look at {shown(odd)}.", parameter="groups")
    group = {c: position for position, members in enumerate(parts.values()) for c in members}
    rows = tuple(tuple(int(group[c] == position) for c in labels) for position in range(len(parts)))
    return MatrixDesign(labels, rows, 1, tuple(parts), name="collapse", parameters={"groups": parts})


@named("nayak-zhai-2019", examples=({"k": 3, "phi": 1.5}, {"k": 2, "phi": 1.25}))
def average_secure(categories: Iterable[Any] | int, *, phi: float | Fraction | str) -> MatrixDesign:
    """Report the truth with chance φ - 1, else nothing: the optimum for average security, and why not to ask for it."""
    labels = as_labels(categories)
    phi = written_fraction(phi, "phi", DesignError) if isinstance(phi, str) else phi
    demand = AverageSecurity(phi)
    refuse_many_weights(len(labels) + 1, len(labels))
    share = fraction(phi, "phi") - 1
    reports = (*map(str, labels), _WITHHELD)
    about: dict[str, Any] = {"name": "average_secure", "parameters": {"phi": phi}, "demand": demand}
    kept, total = share.numerator, share.denominator
    if total > TOTAL:
        matrix = [[share if i == j else Fraction(0) for j in range(len(labels))] for i in range(len(labels))]
        return build(labels, [*matrix, [1 - share] * len(labels)], reports, **about)
    rows = tuple(tuple(kept if i == j else 0 for j in range(len(labels))) for i in range(len(labels)))
    return MatrixDesign(labels, (*rows, (total - kept,) * len(labels)), total, reports, **about)
