"""An audit as text: what a report can do to a belief, what it leaks and costs, and what figures alone would hide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from maskwell.plain_text import visible_lines

if TYPE_CHECKING:
    from maskwell.auditing.audit import Audit


def summarize(audit: Audit) -> str:
    """The lines of ``Audit.summary``."""
    design = audit.design
    demand = "none stated" if design.demand is None else design.demand.describe()
    if design.demand is not None:
        demand += ", which holds" if audit.demand_holds else ", which does NOT hold"
    lines = [
        f"audit of a {design.name} design for {design.k:,} categories, fingerprint {design.fingerprint[:12]}",
        "",
        f"demand    {demand}",
        f"privacy   {_privacy(audit)}",
        f"exposure  {_exposure(audit)}",
        f"guessing  {_guessing(audit)}",
        f"leakage   {audit.mutual_information:.4g} bits of information on average, {audit.capacity:.4g} at most",
        f"precision {_precision(audit)}",
        f"order     {'admissible' if audit.admissible else f'not admissible: {audit.why_not}'}",
    ]
    if audit.warnings:
        lines += ["", *(f"warning: {words}" for words in audit.warnings)]
    return visible_lines(lines)


def _privacy(audit: Audit) -> str:
    if math.isfinite(audit.parity):
        return f"epsilon {audit.epsilon:.6g}, parity {audit.parity:.6g}: no report shifts anyone's odds by more"
    return f"no finite epsilon; every report leaves at least {max(audit.diversity, 1)} equally plausible"


def _exposure(audit: Audit) -> str:
    chance = float(audit.exposure)
    return (
        f"{chance:.4g} of reports prove the answer, in the worst category" if chance else "no report proves the answer"
    )


def _guessing(audit: Audit) -> str:
    blind = max(audit.prior) if audit.prior else 1 / audit.design.k
    return f"{audit.guess_probability:.4g} of guesses from a report are right, {blind:.4g} without one"


def _precision(audit: Audit) -> str:
    if not math.isfinite(audit.added_variance):
        return f"some proportions cannot be estimated (rank {audit.rank} of {audit.design.k})"
    return f"masking adds {audit.added_variance:.6g} to n times the total variance"
