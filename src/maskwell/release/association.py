r"""Association of two columns by Cramér's V, before and after a release.

V is :math:`\sqrt{\varphi^2 / (\min(r, c) - 1)}` with :math:`\varphi^2 = \sum_{ij} p_{ij}^2 / (p_{i+} p_{+j}) - 1`. Its
sampling error comes from the derivatives of :math:`\varphi^2` (delta method); near V = 0 it is too small.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.risk.columns import Floats

if TYPE_CHECKING:
    from maskwell.release.comparison import Compared


@dataclass(frozen=True)
class Association:
    """Cramér's V of two columns in the true file and in the released one."""

    columns: tuple[str, ...]
    before: float
    after: float
    expected: float
    """V to expect after such a release: moves weaken what they do not carry along, and their chance adds to any V."""
    sampling_error: float

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


def association(table: Compared) -> Association:
    """Cramér's V of a table of two columns."""
    before, error = _with_error(table.before, table.n)
    return Association(table.columns, before, cramers_v(table.after), _expected(table), error)


def _expected(table: Compared) -> float:
    """V from the mean of φ²: that of the expected counts, and what their variances add, margins taken as fixed."""
    rows, columns = table.expected.sum(axis=1) > 0, table.expected.sum(axis=0) > 0
    p = _occupied(table.expected)
    if min(p.shape) < 2:
        return 0.0
    noise = table.variance[rows][:, columns] / table.n**2 / np.outer(p.sum(axis=1), p.sum(axis=0))
    return float(np.sqrt(max(_phi_squared(p) + noise.sum(), 0.0) / (min(p.shape) - 1)))


def cramers_v(counts: Any) -> float:
    """0 for independent columns, 1 if one decides the other.

    >>> cramers_v([[5, 0], [0, 5]]), cramers_v([[1, 2], [2, 4]])
    (1.0, 0.0)
    """
    p = _occupied(np.asarray(counts, float))
    if min(p.shape) < 2:
        return 0.0
    return float(np.sqrt(max(_phi_squared(p), 0.0) / (min(p.shape) - 1)))


def _occupied(counts: Floats) -> Floats:
    kept: Floats = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    shares: Floats = kept / kept.sum()
    return shares


def _phi_squared(p: Floats) -> float:
    return float((p**2 / np.outer(p.sum(axis=1), p.sum(axis=0))).sum()) - 1


def _with_error(counts: Any, n: int) -> tuple[float, float]:
    p = _occupied(np.asarray(counts, float))
    value, degrees = cramers_v(counts), min(p.shape) - 1
    if not value:
        return value, 0.0
    ratio = p / np.outer(p.sum(axis=1), p.sum(axis=0))
    rows = (p * ratio).sum(axis=1) / p.sum(axis=1)
    columns = (p * ratio).sum(axis=0) / p.sum(axis=0)
    slope = 2 * ratio - rows[:, None] - columns[None, :]
    variance = float((p * slope**2).sum() - (p * slope).sum() ** 2) / n
    return value, float(np.sqrt(max(variance, 0.0)) / (2 * value * degrees))
