"""An audit as text: what a report can do to a belief, what it leaks and costs, and what figures alone would hide."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from maskwell.designs.choice import why_taken
from maskwell.plain_text import visible_lines
from maskwell.results.numbers import figure, limit

if TYPE_CHECKING:
    from maskwell.auditing.audit import Audit


def about(audit: Audit) -> str:
    """What was audited, in a line."""
    design = audit.design
    return f"audit of a {design.title} design for {design.k:,} categories, fingerprint {design.fingerprint[:12]}"


def figures(audit: Audit) -> dict[str, str]:
    """What was found, in words by name."""
    design, exposed = audit.design, float(audit.exposure)
    demand = "none stated"
    if design.demand is not None:
        demand = f"{design.demand.describe()}, which {'holds' if audit.demand_holds else 'does NOT hold'}"
    privacy = f"no finite epsilon; every report leaves at least {max(audit.diversity, 1)} equally plausible"
    if math.isfinite(audit.parity):
        bounds = f"epsilon {limit(audit.epsilon)}, parity {limit(audit.exact_parity)}"
        privacy = f"{bounds}: no report shifts anyone's odds by more"
    exposure = f"{figure(exposed)} of reports prove the answer, in the worst category"
    blind = max(audit.prior) if audit.prior else 1 / design.k
    precision = f"masking adds {figure(audit.added_variance)} to n times the total variance"
    if math.isinf(audit.added_variance):
        precision = f"some proportions cannot be estimated (rank {audit.rank} of {design.k})"
    right, most = figure(audit.guess_probability), figure(audit.capacity)
    return {
        "demand": demand,
        "privacy": privacy,
        "exposure": exposure if exposed else "no report proves the answer",
        "guessing": f"{right} of guesses from a report are right, {figure(blind)} without one",
        "leakage": f"{figure(audit.mutual_information)} bits of information on average, {most} at most",
        "precision": precision,
        "order": "admissible" if audit.admissible else f"not admissible: {audit.why_not}",
    }


def summarize(audit: Audit) -> str:
    """The lines of ``Audit.summary``."""
    lines = [about(audit), "", *(f"{name:9} {words}" for name, words in figures(audit).items())]
    if reason := why_taken(audit.design):
        lines.append(f"choice    {reason}")
    if audit.warnings:
        lines += ["", *(f"warning: {words}" for words in audit.warnings)]
    return visible_lines(lines)
