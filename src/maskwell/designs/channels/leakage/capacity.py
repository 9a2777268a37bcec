"""The largest mutual information that a matrix lets through, over all priors, with a proof on both sides.

At any prior w with report chances q = Pw, the divergence D_j of column j from q gives a lower and an upper bound at
once: mean_w D <= capacity <= max_j D_j (the certificate of Blahut and Arimoto). Their iteration is slow exactly for
private designs, whose columns are nearly alike, so the prior is found by Newton's method instead, with a logarithmic
barrier that keeps it positive; the proof does not depend on how w was found.
"""

import math

import numpy as np

from maskwell.designs.channels.numbers import Matrix, Vector

_GAP = 1e-11
_MOST_STEPS = 100
_TIGHTEN = 0.1
_TO_THE_EDGE = 0.95


def capacity(matrix: Matrix) -> tuple[float, float]:
    """Lower and upper bound in bits.

    >>> low, high = capacity(np.array([[0.5, 0.0], [0.5, 1.0]]))  # Z-channel
    >>> round(low, 9), round(high, 9)
    (0.321928095, 0.321928095)
    """
    P = matrix[matrix.any(axis=1)]
    k = P.shape[1]
    w = np.full(k, 1 / k)
    divergence = _divergences(P, w)
    low, high = float(w @ divergence), float(divergence.max())
    barrier = max(high - low, _GAP) / k
    for _ in range(_MOST_STEPS):
        if high - low <= _GAP:
            break
        step = _newton_step(P, w, divergence, barrier)
        length = min(1.0, _TO_THE_EDGE / max(-float(step.min()), 1e-300))
        w = w * (1 + length * step)
        w /= w.sum()
        divergence = _divergences(P, w)
        low, high = max(low, float(w @ divergence)), min(high, float(divergence.max()))
        # A step that was not cut short has come near the best prior for this barrier.
        if length > 0.5:
            barrier = max(barrier * _TIGHTEN, _GAP / (8 * k))
    return max(0.0, low) / math.log(2), max(0.0, high) / math.log(2)


def _divergences(P: Matrix, w: Vector) -> Vector:
    """Of each column from the reports' chances, in nats."""
    chances = P @ w
    ratio = np.where(P > 0, P, 1) / np.where(P > 0, chances[:, None], 1)
    divergences: Vector = (P * np.log(ratio)).sum(axis=0)
    return divergences


def _newton_step(P: Matrix, w: Vector, divergence: Vector, barrier: float) -> Vector:
    """The relative change of w that Newton's method asks for mutual information plus ``barrier * sum(log w)``.

    In relative terms the barrier's curvature is the identity, so the system is solvable however small w gets.
    """
    scaled = (P * w) / np.sqrt(P @ w)[:, None]
    curvature = (scaled.T @ scaled) / barrier + np.eye(len(w))
    slope = w * divergence / barrier + 1
    free, along = np.linalg.solve(curvature, np.column_stack([slope, w])).T
    # The multiple of ``along`` keeps the sum of w.
    step: Vector = free - along * (w @ free) / (w @ along)
    return step
