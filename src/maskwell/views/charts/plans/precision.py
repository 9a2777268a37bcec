"""The picture of a plan: how wide intervals are for a number of respondents, masked and asked directly."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.designs import direct
from maskwell.designs.base import Design
from maskwell.planning import half_width
from maskwell.results.numbers import number
from maskwell.views.charts import style
from maskwell.views.charts.breach_regions import Align
from maskwell.views.charts.plans.frontier import Log

_POINTS = 25
_HEIGHT = 260
_SHARE = 0.1
_LEAST, _MOST = 100, 1_000_000


def precision_chart(design: Design, n: int | None = None, share: float = _SHARE) -> Any:
    """The 95 % margin of a category with this share against the number of respondents; ``n`` is pointed out."""
    from maskwell.views.charts.altair_extra import alt

    low, high = (_LEAST, 100_000) if n is None else (max(n // 30, 10), min(30 * n, _MOST * 100))
    counts = sorted({round(count) for count in np.geomspace(low, high, _POINTS).tolist()} | ({n} if n else set()))
    unmasked = direct(design.k)
    rows: list[dict[str, Any]] = [
        {"question": name, "n": count, "margin": half_width(of, count, proportion=share)}
        for name, of in (("masked", design), ("asked directly", unmasked))
        for count in counts
    ]
    x = alt.X("n:Q", title="respondents", scale=alt.Scale(type="log", nice=False), axis=count_axis(low, high))
    margins = [row["margin"] for row in rows]
    vertical = Log(min(margins) / 1.3, max(margins) * 1.3, _HEIGHT)
    y = alt.Y(
        "margin:Q",
        title="95 % interval: plus or minus",
        scale=alt.Scale(type="log", nice=False, domain=[vertical.low, vertical.high]),
        axis=alt.Axis(grid=True, labelExpr=style.PERCENT_LABELS, values=vertical.ticks()),
    )
    colour = alt.Color(
        "question:N",
        scale=alt.Scale(domain=["masked", "asked directly"], range=[style.ESTIMATE, style.OTHER]),
        legend=None,
    )
    tooltip: list[Any] = ["question:N", alt.Tooltip("n:Q", format=","), alt.Tooltip("margin:Q", format=".3%")]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour, tooltip=tooltip)
    layers = [base.mark_line(strokeWidth=2.5)]
    # Names stand above the upper line and below the lower one, where nothing is in their way.
    for row in (row for row in rows if row["n"] == counts[3 * len(counts) // 4]):
        layers.append(_beside(row, row["question"], x, y).encode(color=colour))
    for row in (row for row in rows if row["n"] == n):
        layers.append(_beside(row, f"{n:,}: ± {number(100 * row['margin'], 2)} points", x, y, color=style.TRUTH))
        dot = alt.Chart(alt.InlineData(values=[row])).mark_point(filled=True, size=70, color=style.TRUTH, opacity=1)
        layers.append(dot.encode(x=x, y=y))
    return alt.layer(*layers).properties(
        width=420, height=_HEIGHT, title=_title(design, n, share), config=style.config()
    )


def _beside(row: dict[str, Any], text: str, x: Any, y: Any, **look: Any) -> Any:
    from maskwell.views.charts.altair_extra import alt

    above = row["question"] == "masked"
    align: Align = "left" if above else "right"
    away = 8 if above else -8
    mark = alt.Chart(alt.InlineData(values=[{**row, "text": text}]))
    return mark.mark_text(align=align, dx=away, dy=-away, fontSize=12, **look).encode(x=x, y=y, text="text:N")


def count_axis(low: float, high: float) -> Any:
    """A logarithmic axis of numbers of people, with marks at round numbers."""
    from maskwell.views.charts.altair_extra import alt

    return alt.Axis(grid=True, format=",", values=Log(low, high, 1).ticks())


def _title(design: Design, n: int | None, share: float) -> Any:
    from maskwell.views.charts.altair_extra import alt

    count = n or 1000
    masked, plain = (half_width(of, count, proportion=share) for of in (design, direct(design.k)))
    margins = [number(100 * margin, 2) for margin in (masked, plain)]
    finding = f"With {count:,} respondents: ± {margins[0]} points, against ± {margins[1]} if asked directly"
    return alt.TitleParams(
        finding, subtitle=[f"For a category that {100 * share:g} % of people hold, in the population that fares worst."]
    )
