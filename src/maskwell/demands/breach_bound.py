"""The infimum B(h) that turns two curves of permitted beliefs into a bound on parity, from its safe side.

See ``InformationPrivacy`` for the formula and for what is assumed of the curves.
"""

import math
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DemandError

BreachCurve: TypeAlias = Callable[[float], float]
_Floats: TypeAlias = NDArray[np.float64]

_ROUNDING = 2.0**-51  # four units in the last place of a number near 1
_TOLERANCE = 1e-10
_MOST_POINTS = 100_000

# How near 0 a curve is followed, as a logarithm: 26 powers of two above the smallest number that doubles hold with all
# their bits. So a curve keeps its relative accuracy there down to a / 2^26, far below what any bound up to 200 needs.
_DEEPEST = math.ceil(math.log(sys.float_info.min * 2.0**26))  # -690

# Near 1 the nearest double is at a distance of 2^-53, and round-off hides the curve before. So g is extrapolated from
# its values at distances q, 2q, …, 64q of the end: seven, from which four powers of q can be removed while two
# differences are left to judge by. What is then left is the coefficient of q^5 times 2^(0+1+2+3+4) q^5. In units in
# which the curve's own distance from its end is 64q = 1/16 at most, that is 2^-40 of the coefficient: within the
# tolerance for coefficients up to a hundred. Where a curve never comes so near, the last seven distances must do.
_RUNGS = 7
_NEAREST = sys.float_info.mant_dig  # 53
_NEAR = 1 / 16


class BreachCurveBound:
    """One breach curve and the infimum of g, the logarithm of the ratio whose infimum is B(h).

    In the coordinate s = logit(a) for ``upper`` and -logit(a) for ``lower``, g(s) + s is non-decreasing, so
    that g >= g(s1) - (s2 - s1) on [s1, s2]: the bound (1 - p2)/p2 * h(p1)/(1 - h(p1)) of a branch and bound.
    """

    def __init__(self, function: BreachCurve, name: str) -> None:
        self.function, self.name, self.up = function, name, name == "upper"
        self.seen: list[tuple[_Floats, _Floats]] = []
        tiny = np.array([1e-300, 1e-100, 1e-30, 1e-18])
        ratio = self.values(tiny) / tiny
        # Does the curve keep its relative accuracy near 0? 1 - (1 - a)^2, for one, comes out as 0 there.
        self.fine = bool(np.all(ratio > 1 - 1e-9) if self.up else np.all((ratio > 0) & (ratio < 1 + 1e-9)))

    def values(self, a: _Floats) -> _Floats:
        """The curve at each point, refused where it is not one."""
        v = np.array([self._value(point) for point in a.tolist()])
        bad = ~((v >= a - _ROUNDING) & (v <= 1 + _ROUNDING) if self.up else (v >= 0) & (v <= a + _ROUNDING))
        if bad.any():
            where = int(np.argmax(bad))
            rule = "a <= upper(a) <= 1" if self.up else "0 <= lower(a) <= a"
            raise DemandError(
                f"InformationPrivacy needs {rule}; got {self.name}({a[where]:.10g}) = {v[where]:.10g}. "
                "No change of belief must always be allowed; correct the function there."
            )
        self.seen.append((a, v))
        return v

    def _value(self, point: float) -> float:
        try:
            return float(self.function(point))
        except Exception as error:
            raise DemandError(
                f"InformationPrivacy: {self.name}({point:.10g}) failed with {type(error).__name__} "
                f"({' '.join(str(error).split())}). It must turn one float between 0 and 1 into a number."
            ) from error

    def excess(self, a: _Floats, v: _Floats, slack: int = -1) -> _Floats:
        """g at each point: as computed (slack 0), or as low (-1) or high (1) as round-off may have hidden."""
        shift = slack * _ROUNDING * (v if self.fine else 1.0)
        with np.errstate(divide="ignore", over="ignore"):
            if self.up:
                h = np.where(v < 1, np.clip(v + shift, a, 1), 1.0)
                g: _Floats = np.log(h / a) + np.log((1 - a) / (1 - h))
            else:
                h = np.where(v > 0, np.clip(v - shift, 0, a), 0.0)
                g = np.log(a / h) + np.log((1 - h) / (1 - a))
        return g

    def infimum(self, edges: list[float]) -> float:
        """A lower bound of the infimum over 0 < a < 1, given where the curve may jump."""
        first, below = self._tail_at_zero(edges[1])
        last, above = self._ladder(1 - edges[-2], at_one=True)
        bounds = [below, above]
        for left, right in pairwise(edges):
            start = first if left == 0 else math.nextafter(left, 1)
            stop = last if right == 1 else math.nextafter(right, 0)
            if start <= stop:
                bounds.append(self._piece(start, stop, right if self.up else left))
        self._check_order()
        return max(0.0, min(bounds))

    def _piece(self, start: float, stop: float, edge: float) -> float:
        """A lower bound between two jumps; ``edge`` is where g is smallest if the curve is flat."""
        ends = _logit(np.array([start, stop]))
        deep, main = np.arange(_DEEPEST, -12, 0.5), np.arange(-12, 27, 1 / 256)
        grid = _expit(np.concatenate([deep, main, np.linspace(ends[0], ends[1], 65)]))
        a = np.unique(np.concatenate([[start, stop], grid[(start < grid) & (grid < stop)]]))
        a = a if self.up else a[::-1]
        g = self.excess(a, self.values(a))
        while True:
            s = _logit(a) if self.up else -_logit(a)
            bounds = _cell_bounds(s, g)
            active = np.flatnonzero(bounds < g.min() - _TOLERANCE)
            middle = _expit((s[active] + s[active + 1]) / 2 * (1 if self.up else -1))
            new = (middle - a[active]) * (middle - a[active + 1]) < 0
            if not new.any() or len(a) > _MOST_POINTS:
                break
            active, middle = active[new], middle[new]
            a = np.insert(a, active + 1, middle)
            g = np.insert(g, active + 1, self.excess(middle, self.values(middle)))
        # Between the last float and the jump itself only monotonicity speaks.
        gap = abs(float(_logit(np.array([edge]))[0] - _logit(a[-1:])[0])) if 0 < edge < 1 else 0.0
        return float(min(bounds.min(initial=math.inf), g[-1] - gap))

    def _tail_at_zero(self, gap: float) -> tuple[float, float]:
        if not self.fine:
            return self._ladder(gap, at_one=False)
        a = np.exp(np.array([_DEEPEST, _DEEPEST / 2]))
        g = self.excess(a, self.values(a))
        if not g[0] < math.inf:
            return float(a[0]), math.inf
        # What falls like 1/log(1/a) falls as far beyond the end as in the half before it; twice for safety.
        return float(a[0]), float(g[0] - 2 * max(0.0, g[1] - g[0]))

    def _ladder(self, gap: float, at_one: bool) -> tuple[float, float]:
        """Where to stop short of an end, and a lower bound for the rest, from distances that halve."""
        rung = max(5, math.floor(-math.log2(gap)) + 1)
        while rung < _NEAREST - _RUNGS and self._distance(rung, at_one) > _NEAR:
            rung += 1
        steps: _Floats = np.ldexp(1.0, -np.arange(_NEAREST, rung - 1, -1))
        a = 1 - steps if at_one else steps
        v = self.values(a)
        g, low, high = (self.excess(a, v, slack) for slack in (0, -1, 1))
        stop, ladder = float(a[-_RUNGS]), g[-_RUNGS:]
        if not ladder[0] < math.inf:
            return stop, math.inf
        limit = max(0.0, _limit(ladder[np.isfinite(ladder)], float(ladder[0] - low[-_RUNGS])))
        # Nearer the end round-off hides the curve, but not a fall that exceeds it.
        fallen = high[:-_RUNGS] < limit
        return stop, float(low[:-_RUNGS][fallen].min(initial=limit))

    def _distance(self, rung: int, at_one: bool) -> float:
        """How far the curve is from the end of its range, 2^-rung before the end of its domain."""
        step = 2.0**-rung
        return float(1 - self.values(np.array([1 - step]))[0] if at_one else self.values(np.array([step]))[0])

    def _check_order(self) -> None:
        a, v = (np.concatenate(parts) for parts in zip(*self.seen, strict=True))
        a, first = np.unique(a, return_index=True)
        v = v[first]
        falls = v[1:] < v[:-1] - 8 * _ROUNDING * (v[:-1] if self.fine else 1.0)
        if falls.any():
            where = int(np.argmax(falls))
            raise DemandError(
                f"InformationPrivacy: h must be non-decreasing, but {self.name} falls by "
                f"{v[where] - v[where + 1]:.3g} between {a[where]:.10g} and {a[where + 1]:.10g}. "
                "Correct the function there: a stronger belief must not be held to a lower limit."
            )


def _logit(a: _Floats) -> _Floats:
    t: _Floats = np.log(a) - np.log1p(-a)
    return t


def _expit(t: _Floats) -> _Floats:
    odds = np.exp(-np.abs(t))
    small: _Floats = odds / (1 + odds)
    return np.where(t < 0, small, 1 - small)


def _cell_bounds(s: _Floats, g: _Floats) -> _Floats:
    """A lower bound of g on each cell of a grid: by monotonicity, or by the chord and neighbouring lines."""
    if len(s) < 2:
        return np.empty(0)
    width = np.diff(s)
    trend = np.minimum(g[:-1], g[1:])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        slope = np.diff(g) / width
        trend[1:] = np.minimum(trend[1:], g[1:-1] + slope[:-1] * width[1:])
        trend[:-1] = np.minimum(trend[:-1], g[1:-1] - slope[1:] * width[:-1])
    # Three cells are the fewest that show a trend; where g is infinite there is none.
    regular = ~np.isnan(trend) & (len(s) > 3)
    return np.maximum(g[:-1] - width, np.where(regular, trend, -math.inf))


def _limit(g: _Floats, noise: float) -> float:
    """A lower bound of lim g(q) for q to 0, from g at q, 2q, 4q, … known to within the noise."""
    falls = np.diff(g)
    if len(g) < 3 or falls[0] <= 0:
        return float(g[0]) - noise
    if falls[0] <= 2 * noise:
        return float(g[0]) - 3 * noise
    # Richardson's table: column k removes the term in q^k. How far a column still moves, and how slowly its
    # moves shrink, says how far it is from the limit whatever powers or logarithms of q are left; four times
    # that distance is held back, and the column with the least to hold back is used.
    table, limit, least = g, 0.0, math.inf
    for order in range(1, len(g) - 1):
        last, before = np.abs(np.diff(table[:3]))
        pace = min(last / before, 0.95) if before > 0 else 0.95
        held = float(last * (1 + 4 * pace / (1 - pace)))
        if held < least:
            limit, least = float(table[0]), held
        table = (2**order * table[:-1] - table[1:]) / (2**order - 1)
    return limit - least - 2 * noise
