"""Replicate weights: the estimate is made again with each set of weights, and its spread over them is the variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.errors import DataError, EstimationError
from maskwell.inference.draws import derived_seed, draw_counts
from maskwell.inference.sample.stages import Lonely, Stage

Method = Literal["jk1", "jkn", "brr", "fay", "bootstrap"]
METHODS = get_args(Method)


@dataclass(frozen=True, eq=False)
class Replicates:
    """Weights of every replicate, one column each, and the factor of its squared difference."""

    weights: Matrix
    factors: Vector
    method: Method
    degrees_of_freedom: int
    """The rank of the weights less one, before any calibration, which adds none."""
    lack_masks: bool = False
    """Whether some strata are a single cluster that was bound to be drawn: no replicate shows what masks add there."""

    @staticmethod
    def of(weights: Matrix, factors: Vector, method: Method, *, lack_masks: bool = False) -> Replicates:
        """Replicates with the degrees of freedom that their weights have."""
        scaled = weights / np.maximum(np.abs(weights).max(axis=0), 1e-300)
        values = np.linalg.eigvalsh(scaled.T @ scaled)
        return Replicates(weights, factors, method, int((values > 1e-9 * values[-1]).sum()) - 1, lack_masks)


def given(weights: Matrix, method: str | None, fay: float | None, scales: Any) -> Replicates:
    """Replicate weights that came with the data."""
    if method not in METHODS:
        raise DataError(
            f"replicate_method must be one of {', '.join(METHODS)}; got {method!r}.", parameter="replicate_method"
        )
    count = weights.shape[1]
    if count < 2:
        raise DataError(f"a variance needs 2 columns of replicate_weights or more; got {count}.", "replicate_weights")
    if scales is not None:
        return Replicates.of(weights, _factors(scales, count), method)  # type: ignore[arg-type]
    if method == "jkn":
        raise DataError(
            "jkn needs replicate_scales: (n-1)/n of the stratum of the cluster that each replicate leaves out.",
            parameter="replicate_scales",
        )
    one = {
        "jk1": (count - 1) / count,
        "brr": 1 / count,
        "fay": 1 / (count * (1 - _fay(fay, method)) ** 2),
        "bootstrap": 1 / (count - 1),
    }[str(method)]
    return Replicates.of(weights, np.full(count, one), method)  # type: ignore[arg-type]


def _factors(scales: Any, count: int) -> Vector:
    """The factor of each replicate's squared difference, as it came with the data."""
    try:
        factors = np.asarray(scales, float)
    except (TypeError, ValueError):
        factors = np.zeros(0)
    if factors.shape != (count,) or not ((factors >= 0) & (factors < np.inf)).all():
        raise DataError(f"replicate_scales must be {count} finite numbers >= 0, one per replicate.", "replicate_scales")
    return factors


def _fay(fay: float | None, method: str | None) -> float:
    if method != "fay":
        return 0.0
    if fay is None or not 0 <= fay < 1:
        raise DataError(f"fay must be a number from 0 to below 1, such as 0.3; got {fay!r}.", parameter="fay")
    return fay


def made(
    stage: Stage,
    weights: Vector,
    method: Method,
    fay: float | None,
    replicates: int,
    seed: int | None,
    lonely: Lonely = "refuse",
) -> Replicates:
    """Replicate weights from the strata and clusters of the first stage, which is taken as drawn with replacement.

    A stratum with a single cluster has the same weights in every replicate; the rule ``lonely`` says what it adds.
    """
    stratum = stage.stratum_of_cluster
    size = np.bincount(stratum)
    alone = (size == 1) & (stage.fractions < 1)
    _check_lonely(alone, lonely, method)
    if (size < 2).all():
        raise EstimationError("replicates need a stratum with two clusters or more; join strata.")
    if method == "jk1" and len(size) > 1:
        raise EstimationError("jk1 is for a sample without strata; use jkn.")
    if method in ("jk1", "jkn"):
        multipliers, factors = _jackknife(stratum, size, alone if lonely == "adjust" else np.zeros_like(alone))
    elif method in ("brr", "fay"):
        multipliers, factors = _balanced(stratum, size, _fay(fay, method))
    else:
        multipliers, factors = _bootstrap(stratum, size, replicates, seed)
    if lonely == "average":
        factors = factors * len(size) / (len(size) - alone.sum())
    certain = (size == 1) & ((stage.fractions == 1) | (lonely == "certainty"))
    made = weights[:, None] * multipliers[stage.clusters]
    return Replicates.of(made, factors, method, lack_masks=bool(certain.any()))


def _check_lonely(alone: NDArray[np.bool_], lonely: Lonely, method: Method) -> None:
    if not alone.any() or (lonely == "adjust" and method == "jkn") or lonely in ("average", "certainty"):
        return
    have = f"{int(alone.sum())} of {len(alone)} strata have a single cluster"
    if lonely == "adjust":
        raise EstimationError(
            f"{have}, which {method} cannot compare with all clusters: use jkn, or lonely='average' or 'certainty'."
        )
    raise EstimationError(
        f"{have}, of which no replicate shows how clusters vary; join strata, or choose a rule: Sample(..., "
        "lonely='adjust') with jkn, 'average' or 'certainty'."
    )


def _jackknife(
    stratum: NDArray[np.int64], size: NDArray[np.int64], compared: NDArray[np.bool_]
) -> tuple[Matrix, Vector]:
    """Each cluster is left out once, and the others of its stratum stand in for it; for one that is alone in a stratum
    to be ``compared``, all clusters do.
    """
    clusters = len(stratum)
    left_out = np.flatnonzero((size > 1)[stratum] | compared[stratum])
    alone = compared[stratum[left_out]]
    here = size[stratum[left_out]].astype(float)
    raised = np.where(alone, 1.0, here / np.maximum(here - 1, 1))
    multipliers = np.where(stratum[:, None] == stratum[left_out][None, :], raised, 1.0)
    multipliers[left_out, np.arange(len(left_out))] = 0.0
    multipliers[:, alone] += 1 / clusters
    return multipliers, np.where(alone, 1.0, (here - 1) / here)


def _balanced(stratum: NDArray[np.int64], size: NDArray[np.int64], fay: float) -> tuple[Matrix, Vector]:
    """One cluster of each pair is raised and the other lowered, by the columns of a Hadamard matrix."""
    if (size > 2).any():
        raise EstimationError("balanced repeated replication needs two clusters in every stratum; use jkn.")
    signs = hadamard(len(size) + 1)[:, 1 : len(size) + 1] * (size == 2)  # the first column is all ones
    first = np.zeros(len(stratum), np.bool_)
    first[np.unique(stratum, return_index=True)[1]] = True
    sign = np.where(first, 1.0, -1.0)[:, None] * signs.T[stratum]
    count = signs.shape[0]
    return 1 + (1 - fay) * sign, np.full(count, 1 / (count * (1 - fay) ** 2))


def _bootstrap(
    stratum: NDArray[np.int64], size: NDArray[np.int64], replicates: int, seed: int | None
) -> tuple[Matrix, Vector]:
    """Rao and Wu (1988): one cluster fewer than there are is drawn in each stratum, with replacement."""
    if replicates < 2:
        raise DataError(f"replicates must be 2 or more; got {replicates}.", parameter="replicates")
    multipliers = np.empty((len(stratum), replicates))
    for h, n in enumerate(size):
        here = np.flatnonzero(stratum == h)
        if n == 1:
            multipliers[here] = 1.0
            continue
        drawn = draw_counts(np.full(n, 1 / n), int(n) - 1, replicates, derived_seed(seed, "replicates", h)).T
        multipliers[here] = drawn * (n / (n - 1.0))
    return multipliers, np.full(replicates, 1 / (replicates - 1))


def hadamard(least: int) -> Matrix:
    """A Hadamard matrix of at least this order, first row and column of ones: Sylvester's, or Paley's where smaller.

    >>> h = hadamard(5)
    >>> h.shape, bool((h @ h.T == 8 * np.eye(8)).all()), hadamard(12).shape
    ((8, 8), True, (12, 12))
    """
    order = 1
    while order < least:
        order *= 2
    best = order
    for q in range(max(least - 1, 3), order - 1):
        if q % 4 == 3 and all(q % d for d in range(2, int(q**0.5) + 1)):
            best = q + 1
            break
    if best == order:
        matrix = np.ones((1, 1))
        while len(matrix) < order:
            matrix = np.block([[matrix, matrix], [matrix, -matrix]])
        return matrix
    q = best - 1
    squares = {(i * i) % q for i in range(1, q)}
    character = np.array([0.0] + [1.0 if i in squares else -1.0 for i in range(1, q)])
    core = character[(np.arange(q)[None, :] - np.arange(q)[:, None]) % q] - np.eye(q)
    wide = np.ones((best, best))
    wide[1:, 1:] = core
    return wide
