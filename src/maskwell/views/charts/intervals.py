"""Values with their intervals by name, and counts by name: the pictures of results that are a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwell.views.charts import style

MOST = 40
"""Lines of a picture; the frame of the result has the others."""


def interval_chart(
    names: Sequence[Any],
    values: Any,
    limits: Any,
    title: str,
    axis: str,
    lines: Sequence[str] = (),
    *,
    labels: str | None = None,
) -> Any:
    """A dot for each value, a bar for its interval; the largest ones, by size, where there are many.

    ``labels`` is how the axis writes its numbers, such as ``style.PERCENT_LABELS``.
    """
    from maskwell.views.charts.altair_extra import alt

    values, limits = np.asarray(values, float), np.asarray(limits, float)
    shown = _largest(values)
    rows: list[dict[str, Any]] = [
        {"name": str(names[i]), "value": float(values[i]), "lower": float(limits[i, 0]), "upper": float(limits[i, 1])}
        for i in shown
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=_names([row["name"] for row in rows]),
        tooltip=["name:N", *(alt.Tooltip(f"{key}:Q", format=",.4~g") for key in ("value", "lower", "upper"))],
    )
    ticks = alt.Axis(tickCount=6) if labels is None else alt.Axis(tickCount=6, labelExpr=labels)
    x = alt.X("lower:Q", title=axis, scale=alt.Scale(zero=True), axis=ticks)
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=style.OTHER, strokeDash=[3, 3])
    layers = [
        zero.encode(x="zero:Q"),
        base.mark_rule(color=style.ESTIMATE, strokeWidth=3, opacity=style.BAR).encode(x=x, x2="upper:Q"),
        base.mark_point(color=style.ESTIMATE, filled=True, size=60, opacity=1).encode(x="value:Q"),
    ]
    return _finished(alt.layer(*layers), title, [*lines, _left_out(len(values), len(shown))])


def count_chart(names: Sequence[Any], counts: Any, title: str, axis: str, lines: Sequence[str] = ()) -> Any:
    """A bar for each count, the largest ones where there are many."""
    from maskwell.views.charts.altair_extra import alt

    counts = np.asarray(counts, float)
    shown = _largest(counts)
    rows: list[dict[str, Any]] = [
        {"name": str(names[i]), "count": float(counts[i]), "label": f"{counts[i]:,.0f}"} for i in shown
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=_names([row["name"] for row in rows]))
    x = alt.X("count:Q", title=axis, axis=alt.Axis(tickCount=5))
    bars = base.mark_bar(color=style.ESTIMATE, height=13).encode(x=x)
    labels = base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N")
    return _finished(alt.layer(bars, labels), title, [*lines, _left_out(len(counts), len(shown))])


def _largest(values: Any) -> list[int]:
    """Positions: all in their order, or the largest, the largest first."""
    if len(values) <= MOST:
        return list(range(len(values)))
    return [int(i) for i in np.argsort(-np.abs(values), kind="stable")[:MOST]]


def _left_out(count: int, shown: int) -> str:
    return f"The {shown} largest of {count:,}." if shown < count else ""


def _names(names: Sequence[str]) -> Any:
    from maskwell.views.charts.altair_extra import alt

    return alt.Y("name:N", sort=list(names), title=None, axis=alt.Axis(labelFontSize=12, labelOverlap=False))


def _finished(chart: Any, title: str, lines: Sequence[str]) -> Any:
    from maskwell.views.charts.altair_extra import alt

    heading = alt.TitleParams(title, subtitle=[line for line in lines if line])
    return chart.properties(width=400, height=alt.Step(24), title=heading, config=style.config())
