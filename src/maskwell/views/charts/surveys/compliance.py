"""Pictures of compliance: what remains possible where some do not follow the design, and the power to find them."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.inference.compliance.bounds import ComplianceBounds
from maskwell.planning.groups.compliance import CompliancePlan
from maskwell.results.numbers import percent
from maskwell.tables.labels import text_of
from maskwell.views.charts import style
from maskwell.views.charts.plans.precision import count_axis
from maskwell.views.wording import level_words

MOST = 12
_POINTS = 40


def bounds_chart(bounds: ComplianceBounds) -> Any:
    """A panel for each category, the most common ones where there are many: bounds, and limits around them."""
    from maskwell.views.charts.altair_extra import alt

    kept = sorted(np.argsort(-np.nan_to_num(bounds.upper).max(axis=0), kind="stable")[:MOST].tolist())
    rows = [
        {
            "category": text_of(bounds.categories[j]),
            "c": float(c),
            "lower": _number(bounds.lower[i, j]),
            "upper": _number(bounds.upper[i, j]),
            "from": _number(bounds.limits[i, j, 0]),
            "to": _number(bounds.limits[i, j, 1]),
            "plausible": bool(bounds.plausible[i]),
        }
        for j in kept
        for i, c in enumerate(bounds.shares)
    ]
    y = alt.Y("from:Q", title="share", axis=alt.Axis(labelExpr=style.PERCENT_LABELS, grid=True))
    parts = [alt.Tooltip(f"{name}:Q", format=".1%") for name in ("from", "lower", "upper", "to")]
    base = alt.Chart().encode(
        x=alt.X(
            "c:Q", title="do not follow", axis=alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=4, labelFlush=True)
        ),
        tooltip=["category:N", alt.Tooltip("c:Q", title="do not follow", format=".1%"), *parts],
    )
    layers = [
        base.mark_area(color=style.ESTIMATE, opacity=0.18).encode(y=y, y2="to:Q"),
        base.mark_area(color=style.ESTIMATE, opacity=0.45).encode(y="lower:Q", y2="upper:Q"),
        base.mark_line(color=style.ESTIMATE, strokeWidth=2).encode(y="lower:Q"),
        base.mark_line(color=style.ESTIMATE, strokeWidth=2).encode(y="upper:Q"),
    ]
    if not bounds.plausible.all():
        crosses = base.transform_filter("!datum.plausible").mark_point(shape="cross", color=style.TRUTH, size=40)
        layers.append(crosses.encode(y="upper:Q"))
    names = [text_of(bounds.categories[j]) for j in kept]
    panels = alt.layer(*layers).properties(width=200, height=150)
    facet = alt.Facet("category:N", title=None, sort=names)
    return panels.facet(data=alt.InlineData(values=rows), facet=facet, columns=3).properties(
        spacing=32, title=alt.TitleParams("What remains possible", subtitle=_lines(bounds)), config=style.config()
    )


def _lines(bounds: ComplianceBounds) -> list[str]:
    whom = "all people" if bounds.among == "all" else "those who follow the design"
    crosses = [] if bounds.plausible.all() else ["Crosses: so many would fit the reports significantly worse."]
    return [
        f"Of {whom}, if others behave so: {'; '.join(bounds.groups.classes.behaviours)}.",
        f"Strong: what the reports leave possible; pale: with {level_words(bounds.level)}s.",
        *crosses,
    ]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def compliance_power_chart(plan: CompliancePlan) -> Any:
    """The power of the test of full compliance, or the standard error, against the number of people."""
    from maskwell.views.charts.altair_extra import alt

    counts = sorted({round(n) for n in np.geomspace(max(plan.n / 20, 20), 8 * plan.n, _POINTS).tolist()} | {plan.n})
    if plan.power is None:
        title, form = "standard error of the share that does not follow", ".2%"
        values: list[float | None] = [plan.at(n).total_error for n in counts]
    else:
        title, form = f"chance to find it, at a level of {percent(1 - plan.level, 0)}", ".1%"
        values = [plan.at(n).power for n in counts]
    rows = [{"n": n, "value": value} for n, value in zip(counts, values, strict=True)]
    scale = alt.Scale(type="log", nice=False)
    x = alt.X("n:Q", title="respondents in all groups", scale=scale, axis=count_axis(counts[0], counts[-1]))
    y = alt.Y("value:Q", title=title, axis=alt.Axis(labelExpr=style.PERCENT_LABELS, grid=True))
    shown = [alt.Tooltip("n:Q", format=","), alt.Tooltip("value:Q", title=title, format=form)]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, tooltip=shown)
    here = alt.Chart(alt.InlineData(values=[row for row in rows if row["n"] == plan.n])).encode(x=x, y=y)
    assumed = ", ".join(f"{name} {percent(c, 1)}" for name, c in plan.assumed.items())
    heading = alt.TitleParams(
        "Finding people who do not follow the design",
        subtitle=[f"Marked: {plan.n:,} respondents. Assumed: {assumed} of all people."],
    )
    return alt.layer(
        base.mark_line(color=style.ESTIMATE, strokeWidth=2.5),
        here.mark_point(filled=True, size=70, color=style.TRUTH, opacity=1),
    ).properties(width=420, height=260, title=heading, config=style.config())
