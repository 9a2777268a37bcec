"""An estimate as text: what was asked, what privacy it gave, what came out, and how sure it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.reports.randomness import EXTERNAL, is_external
from maskwell.results.numbers import counted, limit
from maskwell.tables.labels import text_of

if TYPE_CHECKING:
    from maskwell.inference.estimates import Estimate, Noise

_ROWS = 20


def summary_lines(estimate: Estimate, level: float, kind: str | None = None, simultaneous: bool = False) -> list[str]:
    """The lines of ``Estimate.summary``, some of which are advice; with limits of another kind, if one is named."""
    return [
        *heading(estimate),
        "",
        *_table(estimate, level, kind or estimate.default_interval, simultaneous),
        "",
        *noise_lines(estimate),
        *estimate.remarks(),
    ]


def heading(estimate: Estimate) -> list[str]:
    """How many reports there are, of which design, and what privacy it gives."""
    design, tally = estimate.design, estimate.tally
    return [
        f"{estimate.method} estimate from {estimate.n:,.0f} reports"
        + (f" ({tally.missing:,} missing)" if tally.missing else "")
        + _weighted(estimate),
        "",
        f"design    {design.title}, {design.k} categories, fingerprint {design.fingerprint[:12]}",
        f"demand    {design.demand.describe() if design.demand else 'none stated'}",
        f"privacy   {_privacy(estimate)}",
        *_simulated(estimate),
        *estimate.drawing(),
    ]


def _weighted(estimate: Estimate) -> str:
    """What weights alone cost; in a sample the design effect says what weights, strata and clusters cost together."""
    if estimate.tally.squares is None or estimate.tally.from_sample:
        return ""
    return f", weighted: as precise as {estimate.tally.effective_n:,.0f} unweighted ones"


def _simulated(estimate: Estimate) -> list[str]:
    if is_external(estimate.tally.randomness):
        some = "" if estimate.tally.randomness == EXTERNAL else f" in part ({estimate.tally.randomness})"
        return [f"drawn     elsewhere{some}: that people followed the design is assumed, not seen"]
    if not estimate.tally.simulated:
        return []
    some = "" if estimate.tally.randomness == "seeded" else f" in part ({estimate.tally.randomness})"
    return [f"drawn     from a seed{some}: for simulation only, such reports protect nobody"]


def _privacy(estimate: Estimate) -> str:
    design = estimate.design
    if math.isfinite(design.epsilon):
        bound = f"epsilon {limit(design.epsilon)}, parity {limit(design.parity)}"
        return f"{bound} (no report shifts anyone's odds by more than this factor)"
    if design.diversity() > 1:
        return f"no finite epsilon; every report leaves at least {design.diversity()} categories equally plausible"
    return "no finite epsilon: some reports rule categories out"


def _table(estimate: Estimate, level: float, kind: Any, simultaneous: bool) -> list[str]:
    k, p, errors = estimate.design.k, estimate.proportions, estimate.standard_errors
    limits = estimate.interval(level, kind, simultaneous)
    shown = range(k) if k <= _ROWS else np.argsort(-p, kind="stable")[:_ROWS]
    labels = [text_of(estimate.design.categories[j]) for j in shown]
    width = max(8, *map(len, labels))
    name = "-".join(part.capitalize() for part in kind.split("-"))  # Clopper-Pearson are two people
    words = f"{name}{', for all together' if simultaneous else ''}"
    lines = [f"{'category':{width}}  estimate  std.error  {100 * level:g} % interval ({words})"]
    for label, j in zip(labels, shown, strict=True):
        low, high = limits[j]
        lines.append(f"{label:{width}}  {p[j]:8.4f}  {errors[j]:9.4f}  [{low:8.4f}, {high:8.4f}]")
    if k > _ROWS:
        lines.append(
            f"… and {k - _ROWS:,} smaller ones; to_frame() has them all."
            + ("" if simultaneous else " Each interval is for a category that")
        )
        if not simultaneous:
            lines.append("was named beforehand; top(n) gives limits for the largest, whichever they are")
    return lines


def noise_lines(estimate: Estimate) -> list[str]:
    """Where the uncertainty comes from, and what it is worth."""
    noise = estimate.noise
    if not math.isfinite(noise.added):
        return []
    share = 100 * noise.privacy_share
    parts = (
        f"of the total variance {share:.0f} % is privacy noise, {100 - share:.0f} % sampling "
        f"(n x variance: {noise.added:.4g} added to {noise.sampling:.4g})"
    )
    if estimate.tally.from_sample:
        return [parts]  # the line about the design effect says how many open answers would be as precise
    return [
        parts,
        _worth(noise),
    ]


def _worth(noise: Noise) -> str:
    """What masked reports are worth beside open answers, which vary unless they are all the same."""
    if not noise.sampling:
        return "open answers with such shares would all be the same: what a masked one is worth beside them is open"
    people = noise.equivalent_n
    if people < 1:
        told = "a direct question to one person would be more precise"
    else:
        told = f"a direct question to {counted(round(people), 'person', 'people')} would be as precise"
    return f"{told}: each masked report is worth {noise.worth:.3g} of an open answer"
