"""Several designs on the same population: how far each estimate lies from the truth, and how far it might have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maskwell.inference import Estimate
from maskwell.results.numbers import decimals_for, percent
from maskwell.views.charts import style
from maskwell.views.charts.estimate import Truth, true_proportions
from maskwell.views.wording import level_words


def compare(
    estimates: Mapping[str, Estimate],
    truth: Truth,
    level: float = 0.95,
    *,
    title: str = "Designs compared",
    subtitle: str | None = None,
) -> Any:
    """An Altair chart of estimate minus truth, by category and design, with intervals.

    The first design stands out in colour. All panels share one scale, so that widths can be compared.
    """
    from maskwell.views.charts.altair_extra import alt

    names = list(estimates)
    rows, categories = _rows(estimates, truth, level), []
    for row in rows:
        if row["category"] not in categories:
            categories.append(row["category"])
    y = alt.Y("design:N", sort=names, title=None, axis=alt.Axis(labelFontSize=12))
    x_axis = alt.Axis(
        title="estimate minus truth, in percentage points",
        labelExpr="datum.value ? format(datum.value, '+~g') : '0'",
        tickCount=5,
        grid=True,
    )
    reach = max(abs(row[end]) for row in rows for end in ("lower", "upper"))
    x = alt.X("lower:Q", axis=x_axis, scale=alt.Scale(domain=[-reach, reach], nice=True))
    colour = alt.Color(
        "design:N",
        scale=alt.Scale(domain=names, range=[style.ESTIMATE, *[style.OTHER] * (len(names) - 1)]),
        legend=None,
    )
    tooltip = [alt.Tooltip(f"{key}:N") for key in ("category", "design", "estimate", "interval", "truth")]
    base = alt.Chart().encode(y=y, color=colour, tooltip=tooltip)
    bars = base.mark_rule(strokeWidth=4, opacity=style.BAR).encode(x=x, x2="upper:Q")
    dots = base.mark_point(filled=True, size=65, opacity=1).encode(x="difference:Q")
    labels = base.mark_text(align="left", dx=10).encode(
        x=alt.value("width"), text="estimate:N", color=alt.value(style.INK)
    )
    zero = alt.Chart().mark_rule(color=style.TRUTH, strokeWidth=2).encode(x=alt.datum(0))
    panels = alt.layer(zero, bars, dots, labels, data=alt.InlineData(values=rows)).properties(
        width=420, height=alt.Step(20)
    )
    faceted = panels.facet(
        facet=alt.Facet(
            "category:N", sort=categories, title=None, header=alt.Header(labelAnchor="start", labelPadding=2)
        ),
        columns=1,
        spacing=10,
    )
    key = f"Dot: estimate. Bar: {level_words(level)}. Orange line: the truth."
    heading = alt.TitleParams(title, subtitle=[*([subtitle] if subtitle else []), key])
    return faceted.properties(title=heading, config=style.config())


def _rows(estimates: Mapping[str, Estimate], truth: Truth, level: float) -> list[dict[str, Any]]:
    rows = []
    for name, estimate in estimates.items():
        known, limits = true_proportions(estimate, truth), estimate.interval(level)
        decimals = decimals_for(limits)
        for j, label in enumerate(estimate.design.categories):
            share, (low, high), true = float(estimate.proportions[j]), limits[j].tolist(), float(known[j])
            rows.append(
                {
                    "category": f"{label}: truth {percent(true, decimals)}",
                    "design": name,
                    "difference": 100 * (share - true),
                    "lower": 100 * (low - true),
                    "upper": 100 * (high - true),
                    "estimate": percent(share, decimals),
                    "interval": f"{percent(low, decimals)} to {percent(high, decimals)}",
                    "truth": percent(true, decimals),
                }
            )
    return rows
