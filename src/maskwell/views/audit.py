"""Pictures of what a single report tells: how it moves a belief, and the matrix of its chances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.auditing import Audit
from maskwell.designs.base import Design
from maskwell.designs.channels.rows import row_parity
from maskwell.errors import DesignError
from maskwell.views import style
from maskwell.views.breach import (
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
from maskwell.views.wording import percent

MOST_ROWS, MOST_COLUMNS = 40, 20
_MOST_CURVES = 6
_MOST_LETTERS = 30
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
    if design.channel.sizes:
        chosen = design.categories[0] if category is None else category
        found = _by_size(design)
    else:
        chosen, found = _by_row(design, category)
    if chosen not in design.categories:
        raise DesignError(f"category must be one of the design's; got {category!r}.", parameter="category")
    return chosen, _merged(sorted(found, key=lambda item: -item.factor))


def _by_size(design: Design) -> list[Evidence]:
    k, sizes, found = design.k, design.channel.sizes, []
    holds, lacks = (
        ("report is it", "report is another")
        if [row.size for row in sizes] == [1]
        else ("report holds it", "report lacks it")
    )
    for s, inside, outside in sizes:
        of_size = "" if len(sizes) == 1 else f" ({s} of {k})"
        if not 0 < s < k:
            found.append(Evidence(f"report with {s} of {k}", Fraction(1)))
            continue
        # The chances of one set with the truth inside and of one without are as mine : theirs.
        mine, theirs = inside * (k - s), outside * s
        found.append(Evidence(holds + of_size, _ratio(mine * (k - 1), (s - 1) * mine + (k - s) * theirs)))
        found.append(Evidence(lacks + of_size, _ratio(theirs * (k - 1), s * mine + (k - 1 - s) * theirs)))
    return found


def _by_row(design: Design, category: Any) -> tuple[Any, list[Evidence]]:
    matrix = design.matrix(exact=True)
    names = [f"report {_short(report_name(r, design))}" for r in design.report_labels()]
    totals = matrix.sum(axis=1)

    def about(j: int) -> list[Evidence]:
        rows = zip(names, matrix[:, j], totals - matrix[:, j], strict=True)
        return [Evidence(name, _ratio(p * (design.k - 1), rest)) for name, p, rest in rows if p + rest]

    if category is not None and category in design.categories:
        return category, about(design.categories.index(category))
    kinds = [about(j) for j in range(design.k)]
    most = max(range(design.k), key=lambda j: max(item.factor for item in kinds[j]))
    return design.categories[most] if category is None else category, kinds[most]


def _ratio(mine: Any, rest: Any) -> Fraction | float:
    return Fraction(mine) / Fraction(rest) if rest else math.inf


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
    import altair as alt

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
    crossing = 0.0 if math.isinf(kind.factor) else 1 / (1 + math.sqrt(kind.factor))
    return label(crossing, 1 - crossing, text, colour, align=align, dx=away, dy=1.5 * away)


def factor_words(factor: Fraction | float) -> str:
    """What a report does to odds."""
    if factor in (0, 1):
        return "tells nothing" if factor else "ruled out"
    if math.isinf(factor):
        return "proof"
    return f"odds × {float(factor):.3g}" if factor > 1 else f"odds ÷ {float(1 / factor):.3g}"


def _short(text: str, most: int = 18) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def report_name(report: Any, design: Design) -> str:
    """A report as words; a set in the order of the categories."""
    if isinstance(report, frozenset):
        return "{" + ", ".join(str(c) for c in design.categories if c in report) + "}"
    if isinstance(report, tuple):
        return " / ".join(report_name(part, design) for part in report)
    return str(report)


# The matrix.


def has_matrix_chart(design: Design) -> bool:
    """Whether the matrix is small enough to be read as a picture."""
    return design.k <= MOST_COLUMNS and design.report_count() <= MOST_ROWS


def matrix_chart(design: Design, title: str = "What people with each true answer report, in percent") -> Any:
    """The matrix as a heat map: reports down, true answers across, and how far each report can shift odds."""
    import altair as alt

    if not has_matrix_chart(design):
        raise DesignError(
            f"the matrix of {design.name} has {design.report_count()} rows and {design.k} columns; a picture holds at "
            f"most {MOST_ROWS} and {MOST_COLUMNS}."
        )
    exact, names = design.matrix(exact=True), [report_name(r, design) for r in design.report_labels()]
    answers = [str(c) for c in design.categories]
    cells: list[dict[str, Any]] = [
        {"report": name, "answer": answer, "chance": float(p), "text": _cell(p)}
        for name, row in zip(names, exact, strict=True)
        for answer, p in zip(answers, row, strict=True)
    ]
    shifts = [{"report": n, "shift": _shift(row_parity(row))} for n, row in zip(names, exact, strict=True) if any(row)]
    y = alt.Y("report:N", sort=names, title="report", axis=alt.Axis(labelFontSize=12, labelOverlap=False))
    axis = alt.Axis(orient="top", labelAngle=0 if design.k <= 8 else -60, labelFontSize=12, domain=False, ticks=False)
    x = alt.X("answer:N", sort=answers, title="true answer", axis=axis)
    base = alt.Chart(alt.InlineData(values=cells)).encode(x=x, y=y, tooltip=["report:N", "answer:N", "chance:Q"])
    strength = alt.Opacity("chance:Q", scale=alt.Scale(domain=[0, max(c["chance"] for c in cells)], range=[0, 0.8]))
    layers = [
        base.mark_rect(color=style.ESTIMATE, stroke=style.OTHER, strokeWidth=0.3).encode(opacity=strength.legend(None)),
        base.transform_filter("datum.chance > 0").mark_text().encode(text="text:N"),
        base.transform_filter("datum.chance == 0")
        .mark_text(color=style.TRUTH, fontWeight="bold")
        .encode(text="text:N"),
        alt.Chart(alt.InlineData(values=shifts))
        .mark_text(align="left", dx=10)
        .encode(x=alt.value("width"), y=y, text="shift:N"),
    ]
    zeros = any(c["chance"] == 0 for c in cells)
    ending = " An orange 0 is a report that rules the answer out." if zeros else ""
    wide = max(46, min(90, 9 * max(len(a) for a in answers))) if design.k <= 8 else 34
    plot = alt.layer(*layers).properties(
        width=alt.Step(wide),
        height=alt.Step(24 if len(names) <= 20 else 18),
        title=alt.TitleParams(
            title,
            subtitle=[f"Every column sums to 100. On the right: by how much the report can shift odds.{ending}"],
        ),
    )
    return plot.properties(config=style.config())


def _cell(p: Fraction) -> str:
    if p == 0:
        return "0"
    share = 100 * float(p)
    return "< 0.01" if share < 0.01 else f"{share:.3g}"


def _shift(parity: Fraction | float) -> str:
    if parity == 1:
        return "tells nothing"
    return "no limit" if math.isinf(parity) else f"× {float(parity):.3g}"
