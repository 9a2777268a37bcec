"""Designs as JSON: labels, parameters, demand, exact integers and a fingerprint.

Reading is the one gate for every kind. What is read is built again from its parts, must be spelled as it would be
written, and everything that it says about itself is recomputed from the integers that the sampler will use.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.demands import Demand, demand_from_dict
from maskwell.designs.claims import checked_parameters, refuse_false_claims
from maskwell.designs.registry import KINDS
from maskwell.errors import DesignError, MaskwellError
from maskwell.exact import stored_fraction
from maskwell.plain_json import jsonable
from maskwell.strict_json import read_json

if TYPE_CHECKING:
    from maskwell.designs.base import Design

FORMAT = 1

_MEMBERS = frozenset(
    ("maskwell", "version", "kind", "name", "categories", "parameters", "demand", "weights", "fingerprint")
)
# What `maskwell plan --json` says of a design beside it; what it says of privacy is held against the integers.
_FIGURES = frozenset(("k", "epsilon", "parity", "exact_parity", "added_variance", "worth", "reason", "precision"))
# What every document of the command line says, which is not about the design.
_OF_COMMANDS = frozenset(("vocabulary", "output"))
# What the design beside a CSV file of reports says of that file.
_OF_REPORTS = frozenset(("report_file", "randomness", "question", "reports", "digest"))
_DECIMAL = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000})?(E[+-][0-9]{1,3})?")


def to_document(design: Design) -> dict[str, Any]:
    """A design as plain lists and numbers."""
    return {
        "maskwell": "design",
        "version": FORMAT,
        "kind": design.kind,
        "name": design.name,
        "categories": design.stored_labels(),
        "parameters": {key: stored_value(value) for key, value in design.parameters.items()},
        "demand": design.demand.to_dict() if design.demand else None,
        "weights": design.stored_weights(),
        "fingerprint": design.fingerprint,
    }


def about(design: Design) -> dict[str, Any]:
    """A design in short, for programs."""
    return {
        "name": design.name,
        "kind": design.kind,
        "k": design.k,
        "parameters": jsonable(checked_parameters(design)),
        "demand": jsonable(design.demand.to_dict()) if design.demand else None,
        "fingerprint": design.fingerprint,
    }


def read_design(text: str | bytes) -> Design:
    """The design that a text holds; anything but the same design is an error."""
    return from_document(read_json(text, "design", DesignError))


def from_document(document: object) -> Design:
    """The design of a document, if it is whole, unchanged, and true in all that it claims."""
    if not isinstance(document, dict) or document.get("maskwell") != "design":
        raise DesignError('design JSON must be an object with "maskwell": "design"; this is another kind of file.')
    version = document.get("version")
    if type(version) is not int or version != FORMAT:
        raise DesignError(f"design format {_brief(version)} is not supported; this version reads {FORMAT}.")
    kind = KINDS.get(str(document.get("kind")))
    if kind is None:
        raise DesignError(f"design kind {_brief(document.get('kind'))} is unknown; known: {', '.join(KINDS)}.")
    known = _MEMBERS | (_OF_REPORTS if "report_file" in document else _FIGURES | _OF_COMMANDS)
    if not document.keys() <= known:
        raise DesignError("design JSON has a member that no design has, which nothing could hold against its integers.")
    try:
        design = _build(kind, document)
        stated = document["fingerprint"]
        as_spelled = kind.fingerprint_of(document["categories"], document["weights"])
    except MaskwellError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
        raise DesignError(f"design JSON is incomplete or malformed ({type(error).__name__}).") from None
    if design.fingerprint != stated or as_spelled != stated:
        raise DesignError("design JSON was changed: its labels or integers do not match its fingerprint.")
    refuse_false_claims(design)
    _refuse_false_figures(design, document)
    return design


def _refuse_false_figures(design: Design, document: dict[str, Any]) -> None:
    exact = design.exact_parity()
    bounded = not isinstance(exact, float)
    figures = {
        "k": design.k,
        "epsilon": design.epsilon if bounded else None,
        "parity": design.parity if bounded else None,
        "exact_parity": str(exact) if bounded else None,
    }
    # By their spelling, so that true is not taken for 1.
    if any(key in document and repr(document[key]) != repr(figure) for key, figure in figures.items()):
        raise DesignError("design JSON states a privacy that its integers do not give.")


def _build(kind: type[Design], document: dict[str, Any]) -> Design:
    name, labels, parameters = (document[key] for key in ("name", "categories", "parameters"))
    if not isinstance(name, str) or not isinstance(labels, list) or not isinstance(parameters, dict):
        raise DesignError("design JSON must give a name as text, categories as a list and parameters as an object.")
    return kind.from_weights(
        labels,
        document["weights"],
        name=name,
        parameters={key: _stored_parameter(value) for key, value in parameters.items()},
        demand=_stored_demand(document["demand"]),
    )


def _stored_demand(stored: object) -> Demand | None:
    if stored is None:
        return None
    demand = demand_from_dict(stored)
    # What functions demanded comes back as the factor that they amount to.
    if demand.to_dict() != stored and not (isinstance(stored, dict) and stored.get("kind") == "information"):
        raise DesignError(f"design JSON does not store {demand.describe()} as it is written.")
    return demand


def _stored_parameter(value: Any) -> Any:
    restored = _restored(value)
    if json.dumps(stored_value(restored)) != json.dumps(value):
        raise DesignError("a parameter in design JSON is not stored as it is written.")
    return restored


def _brief(value: object) -> str:
    """What stands in a file where something else was expected, cut short."""
    return repr(value)[:80]


def stored_value(value: Any) -> Any:
    """A parameter for JSON: exact numbers marked as such, containers by their elements."""
    if isinstance(value, Fraction):
        return {"fraction": str(value)}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, dict):
        return {str(key): stored_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [stored_value(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _restored(value: Any) -> Any:
    """The inverse of ``_plain``, up to lists for tuples."""
    if isinstance(value, dict):
        if value.keys() == {"fraction"}:
            return stored_fraction(value["fraction"], "a parameter", DesignError)
        if value.keys() == {"decimal"}:
            if not isinstance(value["decimal"], str) or not _DECIMAL.fullmatch(value["decimal"]):
                raise DesignError("a decimal parameter in design JSON is not a plain decimal number.")
            return Decimal(value["decimal"])
        return {key: _restored(item) for key, item in value.items()}
    return [_restored(item) for item in value] if isinstance(value, list) else value
