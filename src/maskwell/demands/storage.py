"""Demands as JSON holds them, read back."""

from collections.abc import Mapping
from dataclasses import fields

from maskwell.demands.information import InformationPrivacy
from maskwell.demands.kinds import LDP, AverageSecurity, BetaFactor, Demand, LocalDiversity, Number, RhoPrivacy
from maskwell.errors import DemandError
from maskwell.exact import stored_fraction

_KINDS: dict[str, type[Demand]] = {
    demand.kind: demand for demand in (LDP, BetaFactor, RhoPrivacy, AverageSecurity, LocalDiversity)
}


def demand_from_dict(stored: object) -> Demand:
    """The demand that ``to_dict`` stored.

    An ``InformationPrivacy`` comes back as the ``BetaFactor`` with its bound: the same demand on designs.
    (With a bound of 1, or none, there is no such factor: it comes back with the plainest curves that fit.)

    >>> from fractions import Fraction
    >>> demand_from_dict(RhoPrivacy(Fraction(1, 10), 0.5).to_dict())
    RhoPrivacy(rho1=Fraction(1, 10), rho2=0.5)
    """
    parameters = dict(stored) if isinstance(stored, Mapping) else {}
    kind = parameters.pop("kind", None)
    if kind == InformationPrivacy.kind and set(parameters) == {"parity_bound"}:
        bound = parameters["parity_bound"]
        if bound is None:
            return InformationPrivacy(lambda a: 0.0, lambda a: 1.0)
        if type(bound) in (int, float) and bound == 1:
            return InformationPrivacy(lambda a: a, lambda a: a)
        return BetaFactor(_restored(bound))
    demand = _KINDS.get(kind) if isinstance(kind, str) else None
    if demand is None or set(parameters) != {item.name for item in fields(demand)}:  # type: ignore[arg-type]
        raise DemandError(
            f"kind {kind!r} with parameters {sorted(parameters)} is not a stored demand; use what to_dict() "
            f"returned, of kind {', '.join([*_KINDS, InformationPrivacy.kind])}."
        )
    return demand(**{name: _restored(value) for name, value in parameters.items()})


def _restored(value: object) -> Number:
    if isinstance(value, str):
        return stored_fraction(value, "a stored demand", DemandError)
    if type(value) not in (int, float):
        raise DemandError(f"a stored demand holds a {type(value).__name__} instead of a number.")
    return value  # type: ignore[return-value]
