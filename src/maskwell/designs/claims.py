"""What a design file says about itself, held against its integers: the demand, the parameters and the name.

The name of a known design and its parameters stand in audits, codebooks and explanations, and citations follow them.
So a file may use such a name only if the parameters give these integers: the design is built anew and compared. Any
other name is only a name; numbers beside it that state privacy are demands, and must hold.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from maskwell.demands import LDP, AverageSecurity, BetaFactor, Demand, LocalDiversity
from maskwell.designs.registry import DESIGNS, Entry
from maskwell.errors import DesignError, MaskwellError
from maskwell.limits import MOST_RESPONDENTS
from maskwell.tables.labels import Label

if TYPE_CHECKING:
    from maskwell.designs.base import Design

_STATES_PRIVACY: dict[str, Callable[[Any], Demand]] = {
    "epsilon": LDP,
    "gamma": BetaFactor,
    "l": LocalDiversity,
    "phi": AverageSecurity,
}
# What planning notes beside the parameters of the design's own function, and whether it can be true of a design: how
# many people are to be asked, and which of the categories are dummies.
_NOTES: dict[str, Callable[[Design, Any], bool]] = {
    "planned_n": lambda design, n: type(n) is int and 1 <= n <= MOST_RESPONDENTS,
    "dummies": lambda design, labels: isinstance(labels, list) and _are_two_of(design.categories, labels),
}


def refuse_false_claims(design: Design) -> None:
    """An error if a design from a file is not what it says it is."""
    if design.demand is not None and not design.demand.holds_for(design):
        raise DesignError(f"design JSON claims {design.demand.describe()}, which its integers do not give.")
    for demand in _stated(design.parameters):
        if not demand.holds_for(design):
            raise DesignError(f"design JSON states {demand.describe()} by a parameter, which its integers do not give.")
    for name, fits in _NOTES.items():
        if name in design.parameters and not fits(design, design.parameters[name]):
            raise DesignError(
                f"the note {name} in design JSON is not one that planning writes: a number of people, or the labels of "
                "two dummies."
            )
    entry = DESIGNS.get(design.name)
    if entry is not None and not _is_what_it_is_called(design, entry):
        raise DesignError(
            f"design JSON calls itself {design.name}, but {design.name} with its parameters has other integers; "
            "without parameters, any other name is allowed."
        )


def _are_two_of(categories: tuple[Label, ...], labels: list[Any]) -> bool:
    known = {(type(label), label) for label in categories}
    plain = all(isinstance(label, str | int) for label in labels)
    return plain and len({(type(label), label) for label in labels} & known) == len(labels) == 2


def checked_parameters(design: Design) -> dict[str, Any]:
    """The parameters that a view may show: of a known design all, of another those that state its privacy."""
    if design.name in DESIGNS:
        return design.parameters
    return {name: value for name, value in design.parameters.items() if name in _STATES_PRIVACY}


def _stated(parameters: dict[str, Any]) -> Iterator[Demand]:
    for name, demand in _STATES_PRIVACY.items():
        if name in parameters:
            try:
                # Text would be another spelling of a number that is stored as one, or as a fraction.
                stated = None if isinstance(parameters[name], str) else demand(parameters[name])
            except MaskwellError:
                stated = None
            if stated is None:
                raise DesignError(f"the parameter {name} in design JSON states no privacy.")
            yield stated


def _is_what_it_is_called(design: Design, entry: Entry) -> bool:
    given = {name: value for name, value in design.parameters.items() if name not in _NOTES}
    try:
        if entry.recognise is not None:
            return entry.recognise(design, given)
        return _rebuilt(design, entry, given) == design.fingerprint
    except (MaskwellError, TypeError, AttributeError, ValueError, ArithmeticError):
        return False


def _rebuilt(design: Design, entry: Entry, given: dict[str, Any]) -> str | None:
    """The fingerprint of the design that the parameters give; None if they are not those of the function."""
    needed = inspect.signature(entry.function).parameters.values()
    required = {p.name for p in needed if p.default is p.empty} - {"categories"}
    if not required <= given.keys() <= {p.name for p in needed} - {"categories"}:
        return None
    return entry.function(design.categories, **given).fingerprint
