"""Designs as JSON: labels, parameters, demand, exact integers and a fingerprint that reading checks."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.demands import demand_from_dict
from maskwell.designs.base import Design
from maskwell.errors import DesignError, MaskwellError

FORMAT = 1


def to_document(design: Design) -> dict[str, Any]:
    """A design as plain lists and numbers."""
    return {
        "maskwell": "design",
        "version": FORMAT,
        "kind": design.kind,
        "name": design.name,
        "categories": design.stored_labels(),
        "parameters": {key: _plain(value) for key, value in design.parameters.items()},
        "demand": design.demand.to_dict() if design.demand else None,
        "weights": design.stored_weights(),
        "fingerprint": design.fingerprint,
    }


def from_document(document: object) -> Design:
    """The design of a document, if it is whole and unchanged."""
    if not isinstance(document, dict) or document.get("maskwell") != "design":
        raise DesignError('design JSON must be an object with "maskwell": "design"; this is another kind of file.')
    version = document.get("version")
    if isinstance(version, bool) or version != FORMAT:
        raise DesignError(f"design format {version!r} is not supported; this version reads {FORMAT}.")
    kind = Design.kinds.get(str(document.get("kind")))
    if kind is None:
        raise DesignError(f"design kind {document.get('kind')!r} is unknown; known: {', '.join(Design.kinds)}.")
    design = _build(kind, document)
    if design.fingerprint != document.get("fingerprint"):
        raise DesignError("design JSON was changed: its labels or integers do not match its fingerprint.")
    if design.demand is not None and not design.demand.holds_for(design):
        raise DesignError(f"design JSON claims {design.demand.describe()}, which its integers do not give.")
    return design


def _build(kind: type[Design], document: dict[str, Any]) -> Design:
    try:
        demand = document["demand"]
        return kind.from_weights(
            document["categories"],
            document["weights"],
            name=str(document["name"]),
            parameters={key: _restored(value) for key, value in document["parameters"].items()},
            demand=demand_from_dict(demand) if demand else None,
        )
    except MaskwellError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise DesignError(f"design JSON is incomplete or malformed ({type(error).__name__}: {error}).") from None


def _plain(value: Any) -> Any:
    """A parameter for JSON: exact numbers marked as such, containers by their elements."""
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _restored(value: Any) -> Any:
    """The inverse of ``_plain``, up to lists for tuples."""
    if isinstance(value, dict):
        if value.keys() == {"fraction"}:
            return Fraction(value["fraction"])
        if value.keys() == {"decimal"}:
            return Decimal(value["decimal"])
        return {key: _restored(item) for key, item in value.items()}
    return [_restored(item) for item in value] if isinstance(value, list) else value
