r"""Association of two columns by Cramér's V, before and after a release, with what sampling and the release add to it.

Moves that two columns do not make together weaken their association, and the chance of the moves adds to any V. The
mean of :math:`\varphi^2` after a release is that of the expected counts and the noise

.. math:: \sum_{ij} \frac{\mathrm{Var}\, e_{ij}}{r_i c_j} - \sum_i \frac{\mathrm{Var}\, e_{i+}}{r_i}
          - \sum_j \frac{\mathrm{Var}\, e_{+j}}{c_j}

of shares e with margins r and c (to second order, where the columns are nearly independent). The variances are the
exact ones of the release. V itself, its correction and its limits are those of ``inference.cramers_v``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.inference.cramers_v import CramersV, Quadratic, phi_slope, phi_squared, plain_v, sampled_v
from maskwell.tables.codes import Floats

if TYPE_CHECKING:
    from maskwell.release.evaluation.comparison import Compared


_LEAST_EXPECTED = 5
_ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Association:
    """Cramér's V of two columns in the true file and in the released one."""

    columns: tuple[str, ...]
    before: float
    after: float
    """V of the released file as anybody would compute it."""
    expected: float
    """V to expect after such a release: moves weaken what they do not carry along, and their chance adds to any V."""
    corrected: float
    """V of the released file without what the chance of the moves added to it."""
    release_error: float
    """The standard error of V after the release, over the draws of the release."""
    interval: tuple[float, float]
    """From the released counts, 95 % limits of the V of the expected counts; inside [0, 1]."""
    sampling_error: float
    """The standard error of V before the release in a simple random sample of this size."""
    sampling_interval: tuple[float, float]
    """From the true counts, 95 % limits of V in the population that they are such a sample of; inside [0, 1]."""

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return asdict(self)


def association(table: Compared, margins: tuple[Floats, Floats]) -> Association:
    """Cramér's V of a table of two columns; ``margins`` are the exact variances of the released counts of each."""
    sampled, moved = sampled_v(table.before), _moved(table, margins)
    nothing = (0.0, 0.0)
    return Association(
        table.columns,
        before=plain_v(table.before),
        after=plain_v(table.after),
        expected=moved.v().uncorrected if moved else 0.0,
        corrected=_seen(moved, table).value if moved else 0.0,
        release_error=moved.error if moved else 0.0,
        interval=_seen(moved, table).interval() if moved else nothing,
        sampling_error=sampled.form.error if sampled else 0.0,
        sampling_interval=sampled.interval() if sampled else nothing,
    )


def _moved(table: Compared, margins: tuple[Floats, Floats]) -> Quadratic | None:
    """φ² as it is to be expected after the release, with its noise; None if a column has fewer than two categories."""
    kept = _occupied(table)
    if min(kept[0].size, kept[1].size) < 2:
        return None
    p = table.expected[kept] / table.n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    each = table.variance[kept] / table.n**2 / np.outer(rows, columns)
    by_row, by_column = (own[k.ravel()] / table.n**2 for own, k in zip(margins, kept, strict=True))
    noise = max(float(each.sum() - (by_row / rows).sum() - (by_column / columns).sum()), 0.0)
    df, true = (len(rows) - 1) * (len(columns) - 1), max(phi_squared(p), 0.0)
    # At least as uneven as the cells are, and as few degrees of freedom allow.
    squares = noise**2 * max(1 / df, float((each**2).sum() / each.sum() ** 2)) if noise > 0 else 0.0
    slope = np.zeros(table.expected.shape)
    # Levels of a person or two come and go as a whole, which a derivative knows nothing of.
    common = np.outer(rows * table.n >= _LEAST_EXPECTED, columns * table.n >= _LEAST_EXPECTED)
    slope[kept] = np.where(common, phi_slope(p, rows, columns), 0.0)
    growth = table.variance_of_sum(slope) / table.n**2 / true if true > _ROUND_OFF else 0.0
    return Quadratic(true + noise, noise, noise, squares, growth, min(p.shape) - 1)


def _seen(moved: Quadratic, table: Compared) -> CramersV:
    """V of the released counts, with the noise and the error that the release gives it."""
    counts = table.after[_occupied(table)].astype(float)
    rows, columns = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
    observed = phi_squared(counts[rows][:, columns] / table.n)
    return replace(moved, observed=max(observed, 0.0)).v()


def _occupied(table: Compared) -> tuple[Any, ...]:
    """The rows and columns that somebody may be in after the release."""
    return np.ix_(table.expected.sum(axis=1) > 0, table.expected.sum(axis=0) > 0)
