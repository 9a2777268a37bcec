"""Power against the number of respondents, masked and asked directly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import direct
from maskwell.designs.base import Design, Vector
from maskwell.designs.storage import about
from maskwell.errors import DesignError
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.plain_json import jsonable
from maskwell.planning.power import power, sample_size_for_power
from maskwell.results.result import Result

_POINTS = 33
_USUAL = 0.8
_NEARLY = 0.99


@dataclass(frozen=True, eq=False)
class PowerCurve(Result):
    """The chance to find a difference by the number of respondents, in each group if there are two."""

    design: Design
    difference: float
    two_groups: bool
    n: tuple[int, ...]
    masked: Vector
    direct: Vector
    needed: int
    """How many masked respondents give a power of .8."""
    needed_directly: int
    """How many open answers do."""

    @property
    def where(self) -> str:
        """Who is counted."""
        return "in each of two groups" if self.two_groups else "in all"

    def _title(self) -> str:
        return f"power to find a difference of {self.difference:g} with a {self.design.title} design"

    def _figures(self) -> dict[str, Any]:
        times = self.needed / self.needed_directly
        return {
            f"respondents for a power of .8, {self.where}": self.needed,
            "if asked directly": self.needed_directly,
            "masking costs": f"{times:.3g} times as many respondents",
        }

    def _columns(self) -> dict[str, Any]:
        return {"n": list(self.n), "power": self.masked, "power asked directly": self.direct}

    def to_dict(self) -> dict[str, Any]:
        """The curve as plain values."""
        return {
            "design": jsonable(about(self.design)),
            "difference": self.difference,
            "two_groups": self.two_groups,
            "n": list(self.n),
            "power": self.masked.tolist(),
            "power_asked_directly": self.direct.tolist(),
            "needed": self.needed,
            "needed_directly": self.needed_directly,
        }


def power_curve(design: Design, difference: float, *, n: tuple[int, int] | None = None, **options: Any) -> PowerCurve:
    """The power for numbers of respondents in a range, by default from hardly any chance to near certainty.

    The options are those of ``power``: a baseline or a reference, level, category, alternative, design_effect and
    weight_effect.

    >>> from maskwell import designs
    >>> curve = power_curve(designs.minimax(2, epsilon=1), 0.1, baseline=0.2)
    >>> curve.needed, curve.needed_directly
    (1736, 291)
    """
    if "power" in options:
        raise DesignError("power_curve shows all powers, and which n has .8; leave power out.", parameter="power")
    unmasked = direct(design.categories)
    needed, openly = (sample_size_for_power(of, difference, **options) for of in (design, unmasked))
    if n is None:
        n = max(openly // 8, 2), sample_size_for_power(design, difference, power=_NEARLY, **options)
    low, high = n
    counts = sorted({round(count) for count in np.geomspace(low, high, _POINTS).tolist()} | {needed, openly})
    counts = [count for count in counts if low <= count <= high]
    return PowerCurve(
        design,
        float(difference),
        options.get("reference") is None,
        tuple(counts),
        np.array([power(design, count, difference, **options) for count in counts]),
        np.array([power(unmasked, count, difference, **options) for count in counts]),
        needed,
        openly,
    )


def error_of_power(power: float, surveys: int) -> float:
    """The standard error that so few surveys leave a power with; not 0, if all of them or none rejected."""
    return math.sqrt(max(power * (1 - power), 1 / surveys) / surveys)


@dataclass(frozen=True)
class SimulatedPower(Result):
    """The share of simulated surveys in which a test rejects, with its standard error."""

    test: str
    n: int
    power: float
    surveys: int
    level: float

    @property
    def standard_error(self) -> float:
        """That so few surveys leave the power with."""
        return error_of_power(self.power, self.surveys)

    def _title(self) -> str:
        return f"power of a test of {self.test} with {self.n:,} respondents, simulated"

    def _figures(self) -> dict[str, Any]:
        return {
            "power": self.power,
            "standard error": self.standard_error,
            "surveys": self.surveys,
            "level": self.level,
        }


@dataclass(frozen=True, eq=False)
class SimulatedCurve(Result):
    """Simulated power by the number of respondents."""

    n: tuple[int, ...]
    powers: Vector
    standard_errors: Vector

    @property
    def needed(self) -> int | None:
        """The least of these numbers that has a power of .8, and so have all greater ones; None if none has."""
        short = [at for at, power in enumerate(self.powers) if power < _USUAL]
        first = short[-1] + 1 if short else 0
        return self.n[first] if first < len(self.n) else None

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Limits of each power, as the number of simulated surveys leaves them."""
        margin = normal_quantile(level) * self.standard_errors
        return np.clip(np.column_stack([self.powers - margin, self.powers + margin]), 0.0, 1.0)

    def _title(self) -> str:
        return "simulated power by the number of respondents"

    def _figures(self) -> dict[str, Any]:
        return {"respondents for a power of .8, of these": "none" if self.needed is None else self.needed}

    def _columns(self) -> dict[str, Any]:
        return {"n": list(self.n), "power": self.powers, "standard error": self.standard_errors}


def simulated_curve(simulate: Callable[[int], Any], n: Iterable[int]) -> SimulatedCurve:
    """The power at several numbers of respondents, of any test that is planned by simulation.

    ``simulate`` gives what ``power_of_independence``, ``power_of_homogeneity``, ``power_of_fit`` or the ``simulate`` of
    a regression's plan gives for a number.

    >>> import maskwell as mw
    >>> design = mw.designs.gamma_diagonal(2, epsilon=2)
    >>> table = [[0.4, 0.1], [0.1, 0.4]]
    >>> curve = simulated_curve(
    ...     lambda n: mw.planning.power_of_independence(design, design, table, n, surveys=200), [50, 100, 200, 400]
    ... )
    >>> curve.n, curve.needed
    ((50, 100, 200, 400), 100)
    """
    counts = sorted({int(count) for count in n})
    if not counts:
        raise DesignError("n must hold some numbers of respondents.", parameter="n")
    found = [simulate(count) for count in counts]
    return SimulatedCurve(
        tuple(counts),
        np.array([each.power for each in found]),
        np.array([each.standard_error for each in found]),
    )
