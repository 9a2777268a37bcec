"""The picture of a design's matrix: the chance of every report for every true answer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from maskwell.designs.base import Design
from maskwell.designs.channels.rows import row_parity
from maskwell.errors import DesignError
from maskwell.results.numbers import limit
from maskwell.tables.labels import report_text
from maskwell.views.charts import style

MOST_ROWS, MOST_COLUMNS = 40, 20
# Up to so many letters the names of up to eight columns stand upright; longer ones lean, and so many pixels are shown.
_SHORT, _LONGEST = 12, 180


def has_matrix_chart(design: Design) -> bool:
    """Whether the matrix is small enough to be read as a picture."""
    return design.k <= MOST_COLUMNS and design.report_count() <= MOST_ROWS


def matrix_chart(design: Design, title: str = "What people with each true answer report, in percent") -> Any:
    """The matrix as a heat map: reports down, true answers across, and how far each report can shift odds."""
    from maskwell.views.charts.altair_extra import alt

    if not has_matrix_chart(design):
        raise DesignError(
            f"the matrix of {design.title} has {design.report_count()} rows and {design.k} columns; a picture holds at "
            f"most {MOST_ROWS} and {MOST_COLUMNS}."
        )
    exact, names = design.matrix(exact=True), [report_text(r, design.categories) for r in design.report_labels()]
    answers = [str(c) for c in design.categories]
    cells: list[dict[str, Any]] = [
        {"report": name, "answer": answer, "chance": float(p), "text": _cell(p)}
        for name, row in zip(names, exact, strict=True)
        for answer, p in zip(answers, row, strict=True)
    ]
    shifts = [{"report": n, "shift": _shift(row_parity(row))} for n, row in zip(names, exact, strict=True) if any(row)]
    y = alt.Y("report:N", sort=names, title="report", axis=alt.Axis(labelFontSize=12, labelOverlap=False))
    upright = design.k <= 8 and max(map(len, answers)) <= _SHORT
    axis = alt.Axis(
        orient="top",
        labelAngle=0 if upright else -60,
        labelFontSize=12,
        labelOverlap=False,
        labelLimit=_LONGEST,
        domain=False,
        ticks=False,
    )
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
    wide = max(46, min(90, 9 * max(map(len, answers)))) if upright else 34
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
    return "< 0.01" if share < 0.01 else f"{share:#.3g}".rstrip(".")


def _shift(parity: Fraction | float) -> str:
    if parity == 1:
        return "tells nothing"
    return "no limit" if math.isinf(parity) else f"× {limit(parity)}"
