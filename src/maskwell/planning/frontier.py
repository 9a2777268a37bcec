"""Privacy against precision over all designs: what each one gives and costs, and which ones nothing beats.

Privacy is measured in two ways, and a design can be best in one and not in the other. ε bounds what a report can tell
anybody, whatever they know. The guess probability is how often somebody who knows nothing names the truth from a
report; it is all that the designs without a finite ε can be judged by here.
"""

import inspect
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from maskwell.auditing import audit
from maskwell.designs import DESIGNS
from maskwell.designs.base import Design
from maskwell.errors import DesignError

# Equal designs under two names differ by round-off; they share their place.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class FrontierPoint:
    """A named design at one setting. On a frontier, no design with as much privacy adds less variance."""

    name: str
    parameters: dict[str, Any]
    epsilon: float
    parity: float
    added_variance: float
    guess_probability: float
    on_epsilon_frontier: bool = False
    on_guess_frontier: bool = False


def frontier(
    k: int,
    epsilons: Iterable[float],
    ls: Iterable[int] | None = None,
    names: Iterable[str] | None = None,
) -> list[FrontierPoint]:
    """Every named design for ``k`` categories: at each ε or l where it takes one, once where it takes neither.

    ``ls`` are all from 2 to k - 1 unless given; ``names`` restricts the designs. A design that does not exist at a
    setting is left out.

    >>> points = frontier(5, [1.0], ls=[], names=["minimax", "rappor"])
    >>> [(p.name, round(p.added_variance, 4), p.on_epsilon_frontier) for p in points]
    [('minimax', 11.4298, True), ('rappor', 15.2205, False)]
    """
    # A block design has the figures of the symmetric one of its set size, and is slow to find: only where named.
    chosen = [name for name in DESIGNS if name != "block"] if names is None else list(names)
    unknown = [name for name in chosen if name not in DESIGNS]
    if unknown:
        raise DesignError(
            f"names must be named designs; {unknown[0]!r} is not one of {', '.join(DESIGNS)}.", parameter="names"
        )
    settings: dict[str, list[Any]] = {"epsilon": list(epsilons), "l": list(range(2, k) if ls is None else ls)}
    points = [_point(design) for name in chosen for design in _designs(name, k, settings)]
    return [
        replace(
            point,
            on_epsilon_frontier=math.isfinite(point.epsilon) and not any(_beaten(point, p, "epsilon") for p in points),
            on_guess_frontier=not any(_beaten(point, p, "guess_probability") for p in points),
        )
        for point in points
    ]


def _designs(name: str, k: int, settings: dict[str, list[Any]]) -> Iterator[Design]:
    """The named design at all settings that it takes; none if it needs others."""
    function = DESIGNS[name].function
    parameters = inspect.signature(function).parameters
    if "categories" not in parameters or parameters["categories"].default is not inspect.Parameter.empty:
        return
    choices = [{key: value} for key, values in settings.items() if key in parameters for value in values]
    needed = [p for p in parameters.values() if p.default is p.empty and p.name != "categories"]
    if not needed and not settings.keys() & parameters.keys():
        choices = [{}]
    elif any(p.name not in settings for p in needed):
        return
    for choice in choices:
        try:
            yield function(k, **choice)
        except DesignError:
            continue


def _point(design: Design) -> FrontierPoint:
    return FrontierPoint(
        name=design.name,
        parameters=design.parameters,
        epsilon=design.epsilon,
        parity=design.parity,
        added_variance=design.added_variance,
        guess_probability=audit(design).guess_probability,
    )


def _beaten(point: FrontierPoint, other: FrontierPoint, privacy: str) -> bool:
    """Whether the other is as private and more precise, or more private and as precise."""
    mine, theirs = getattr(point, privacy), getattr(other, privacy)
    variance = point.added_variance + _TOLERANCE * (1 + abs(point.added_variance))
    clearly_less = other.added_variance < point.added_variance - _TOLERANCE * (1 + abs(point.added_variance))
    return (theirs <= mine * (1 + _TOLERANCE) and clearly_less) or (
        theirs < mine * (1 - _TOLERANCE) and other.added_variance <= variance
    )
