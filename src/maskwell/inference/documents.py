"""An estimate as a document: what ``maskwell estimate --json`` prints, and the service answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from maskwell.designs.storage import about
from maskwell.plain_json import VOCABULARY

if TYPE_CHECKING:
    from maskwell.inference.estimates import Estimate
    from maskwell.inference.top import Top


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
        "vocabulary": VOCABULARY,
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
        **result.associated(asked["level"]),
        **result.described_sample(),
        "noise": {
            "added_variance": noise.added,
            "sampling_variance": noise.sampling,
            "privacy_share": noise.privacy_share,
            "equivalent_direct_n": noise.equivalent_n,
            "worth": noise.worth,
        },
    }
