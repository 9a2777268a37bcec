"""An audit as text: what a report can do to a belief, what it leaks and costs, and what figures alone would hide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from maskwell.designs.choice import why_taken
from maskwell.plain_text import visible_lines

if TYPE_CHECKING:
    from maskwell.auditing.audit import Audit


def summarize(audit: Audit) -> str:
    """The lines of ``Audit.summary``."""
    design, exposed = audit.design, float(audit.exposure)
    demand = "none stated"
    if design.demand is not None:
        demand = f"{design.demand.describe()}, which {'holds' if audit.demand_holds else 'does NOT hold'}"
    privacy = f"no finite epsilon; every report leaves at least {max(audit.diversity, 1)} equally plausible"
    if math.isfinite(audit.parity):
        privacy = f"epsilon {audit.epsilon:.6g}, parity {audit.parity:.6g}: no report shifts anyone's odds by more"
    exposure = f"{exposed:.4g} of reports prove the answer, in the worst category"
    blind = max(audit.prior) if audit.prior else 1 / design.k
    precision = f"masking adds {audit.added_variance:.6g} to n times the total variance"
    if math.isinf(audit.added_variance):
        precision = f"some proportions cannot be estimated (rank {audit.rank} of {design.k})"
    lines = [
        f"audit of a {design.title} design for {design.k:,} categories, fingerprint {design.fingerprint[:12]}",
        "",
        f"demand    {demand}",
        f"privacy   {privacy}",
        f"exposure  {exposure if exposed else 'no report proves the answer'}",
        f"guessing  {audit.guess_probability:.4g} of guesses from a report are right, {blind:.4g} without one",
        f"leakage   {audit.mutual_information:.4g} bits of information on average, {audit.capacity:.4g} at most",
        f"precision {precision}",
        f"order     {'admissible' if audit.admissible else f'not admissible: {audit.why_not}'}",
    ]
    if reason := why_taken(design):
        lines.append(f"choice    {reason}")
    if audit.warnings:
        lines += ["", *(f"warning: {words}" for words in audit.warnings)]
    return visible_lines(lines)
