"""An estimate as a document: what ``maskwell estimate --json`` prints, and the service answers."""

from collections.abc import Iterable
from typing import Any

from maskwell.designs.storage import about
from maskwell.errors import EstimationError
from maskwell.inference.estimates import Estimate
from maskwell.inference.joint import JointTable
from maskwell.inference.top import Top


def _association(result: Estimate, level: float) -> dict[str, Any]:
    """Cramér's V of two variables, null where it is not defined; nothing for another number of variables."""
    if not isinstance(result, JointTable) or result.table.ndim != 2:
        return {}
    try:
        return {"association": result.association().as_dict(level)}
    except EstimationError:
        return {"association": None}


def estimate_document(
    result: Estimate, limits: Any, drawn: Iterable[str], asked: dict[str, Any], top: Top | None = None
) -> dict[str, Any]:
    """An estimate for programs, or of it ``top`` alone.

    ``drawn`` says how its reports were drawn, ``asked`` which ``limits`` these are.
    """
    listed = result if top is None else top
    design = result.design
    noise = result.noise
    return {
        "design": about(design),
        "privacy": {
            "epsilon": design.epsilon,
            "parity": design.parity,
            "exact_parity": design.exact_parity(),
            "diversity": design.diversity(),
        },
        "n": result.n,
        "missing": result.tally.missing,
        "randomness": sorted(drawn),
        "method": result.method,
        "gap": result.gap,
        **asked,
        "categories": design.categories if top is None else top.categories,
        "estimates": listed.proportions,
        "standard_errors": listed.standard_errors,
        "intervals": limits,
        **_association(result, asked["level"]),
        "noise": {
            "added_variance": noise.added,
            "sampling_variance": noise.sampling,
            "privacy_share": noise.privacy_share,
            "equivalent_direct_n": noise.equivalent_n,
            "worth": noise.worth,
        },
    }
