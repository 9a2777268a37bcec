"""The picture of what a single report does to a belief."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.auditing import Audit
from maskwell.designs.base import Design
from maskwell.designs.channels.rows import Shift
from maskwell.errors import DesignError
from maskwell.results.numbers import limit, percent
from maskwell.tables.labels import report_text
from maskwell.views.charts import style
from maskwell.views.charts.breach_regions import (
    EXAMPLE,
    Align,
    across,
    curve_rows,
    diagonal,
    label,
    region_layers,
    square,
    up,
)

_MOST_CURVES = 6
_MOST_LETTERS = 30
# A longer name would reach the axis on a phone.
_LINE_LETTERS = 16
# Close to the ends a report that is proof takes any belief to certainty.
_PRIORS = sorted([*np.linspace(0, 1, 101).tolist(), 1e-9, 1 - 1e-9])
# Up to this factor a curve leaves the corner of the square free for its name.
_FLAT = 16
_SAME = 1e-9


@dataclass(frozen=True)
class Evidence:
    """What kind of report multiplies the odds of one category by ``factor``, the other categories being alike."""

    reports: str
    factor: Fraction | float

    def posterior(self, prior: float) -> float:
        """The belief in the category after such a report; who is sure stays sure."""
        if prior in (0, 1) or math.isinf(self.factor):
            return float(prior > 0)
        return prior * float(self.factor) / (1 - prior + prior * float(self.factor))


def evidence(design: Design, category: Any = None) -> tuple[Any, list[Evidence]]:
    """The category (by default the one that reports tell most about) and all kinds of reports, the strongest first."""
    if category is not None and category not in design.categories:
        raise DesignError(f"category must be one of the design's; got {category!r}.", parameter="category")
    first = 0 if category is None else design.categories.index(category)
    one_will_do = category is not None or design.channel.truths_alike
    truths = range(first, first + 1 if one_will_do else design.k)
    shifts = {truth: design.channel.shifts(truth) for truth in truths}
    chosen = max(shifts, key=lambda truth: max(shift.factor for shift in shifts[truth]))
    named = zip(_names(design, shifts[chosen]), shifts[chosen], strict=True)
    found = [Evidence(name, shift.factor) for name, shift in named]
    return design.categories[chosen], _merged(sorted(found, key=lambda item: -item.factor))


def _names(design: Design, shifts: list[Shift]) -> list[str]:
    """What reports are called beside a curve."""
    labels = design.class_labels(shift.at for shift in shifts)
    if not design.channel.classes_are_sizes:
        return [f"report {_short(report_text(label, design.categories))}" for label in labels]
    words = ("report is another", "report is it") if set(labels) == {1} else ("report lacks it", "report holds it")
    sizes = [f" ({size} of {design.k})" if len(set(labels)) > 1 else "" for size in labels]
    of_none_or_all = [f"report with {size} of {design.k}" for size in labels]
    return [
        whole if shift.holds is None else words[shift.holds] + size
        for shift, size, whole in zip(shifts, sizes, of_none_or_all, strict=True)
    ]


def _merged(found: list[Evidence]) -> list[Evidence]:
    """Reports that say the same about the category, under one name."""
    groups: list[list[Evidence]] = []
    for item in found:
        if groups and (item.factor == groups[-1][0].factor or item.factor > groups[-1][0].factor * (1 - _SAME)):
            groups[-1].append(item)
        else:
            groups.append([item])
    return [Evidence(_together([item.reports for item in group]), group[0].factor) for group in groups]


def _together(names: list[str]) -> str:
    joined = ", ".join(names)
    return joined if len(names) == 1 or len(joined) <= _MOST_LETTERS else f"{len(names)} reports"


def belief_chart(audit: Audit, category: Any = None) -> Any:
    """From prior to posterior, one curve for each kind of report; grey is what no reader can be brought to."""
    from maskwell.views.charts.altair_extra import alt

    chosen, kinds = evidence(audit.design, category)
    shown = kinds if len(kinds) <= _MOST_CURVES else [kinds[0], kinds[-1]]
    layers = [diagonal()]
    if math.isfinite(audit.parity):
        region = audit.breach_region
        layers += region_layers(curve_rows(region.lower, region.upper), style.OTHER, opacity=0.15)
    for kind in shown:
        rows = [{"prior": p, "after": kind.posterior(p), "report": kind.reports} for p in _PRIORS]
        colour = style.ESTIMATE if kind.factor >= 1 else style.TRUTH
        curve = alt.Chart(alt.InlineData(values=rows)).mark_line(color=colour, strokeWidth=2.5)
        layers.append(curve.encode(x=across(), y=up("after:Q"), tooltip=["report:N"]))
        layers.append(_named(kind, colour, len(shown)))
    some = "" if len(shown) == len(kinds) else f" The two strongest of {len(kinds)} kinds of reports."
    lines = [f"For a reader who holds the other answers equally likely.{some}"]
    if math.isfinite(audit.parity):
        lines.append("Grey: ruled out for every reader, whatever they know.")
    return square(layers, _finding(chosen, kinds[0]), lines)


def _finding(category: Any, strongest: Evidence) -> str:
    after, name = strongest.posterior(EXAMPLE), _short(str(category))
    if strongest.factor <= 1:
        return f"No report makes “{name}” any likelier"
    if after == 1:
        return f"“{name}”: one report can be proof"
    return f"“{name}”: one report can lift a belief of {percent(EXAMPLE, 0)} to {percent(after, 1)}"


def _named(kind: Evidence, colour: str, curves: int) -> Any:
    """The name of a curve: in the corner on its side if that is free, else where it crosses the falling diagonal."""
    rises = kind.factor >= 1
    align: Align = "left" if rises else "right"
    away = 6 if rises else -6
    text = f"{kind.reports}: {factor_words(kind.factor)}"
    if curves == 2 and 1 / _FLAT < kind.factor < _FLAT:
        return label(0.02 if rises else 0.98, 0.95 if rises else 0.05, text, colour, align=align)
    if len(text) > _LINE_LETTERS:
        text = text.replace(": ", ":\n")
    crossing = 0.0 if math.isinf(kind.factor) else 1 / (1 + math.sqrt(kind.factor))
    return label(crossing, 1 - crossing, text, colour, align=align, dx=away, dy=1.5 * away)


def factor_words(factor: Fraction | float) -> str:
    """What a report does to odds."""
    if factor in (0, 1):
        return "tells nothing" if factor else "ruled out"
    if math.isinf(factor):
        return "proof"
    return f"odds × {limit(factor)}" if factor > 1 else f"odds ÷ {limit(1 / factor)}"


def _short(text: str, most: int = 18) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
