"""The picture of a planned regression: the chance to find an effect, by the number of people."""

from __future__ import annotations

from typing import Any

from maskwell.planning import RegressionPlan
from maskwell.views.charts import style

_GOAL = 0.8


def regression_power_chart(plan: RegressionPlan, term: str | None = None, level: float = 0.95) -> Any:
    """Power for a term, masked and if everybody answered openly; the last coefficient that is not 0 unless named."""
    from maskwell.views.charts.altair_extra import alt

    asked = term or [name for name, value in zip(plan.names, plan.coefficients, strict=True) if value][-1]
    curve, needed = plan.curve(asked, level=level), plan.sample_size(asked, power=_GOAL, level=level)
    rows: list[dict[str, Any]] = [
        {"answers": name, "n": int(n), "power": float(power)}
        for name, column in (("masked", "power"), ("open", "power_open"))
        for n, power in zip(curve["n"], curve[column], strict=True)
    ]
    x = alt.X("n:Q", title="people", axis=alt.Axis(grid=True, format=",d", tickCount=6))
    y = alt.Y(
        "power:Q",
        title="power",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(grid=True, labelExpr=style.PERCENT_LABELS),
    )
    colour = alt.Color(
        "answers:N",
        title=None,
        scale=alt.Scale(domain=["masked", "open"], range=[style.ESTIMATE, style.OTHER]),
        legend=alt.Legend(orient="bottom-right"),
    )
    tooltip: list[Any] = ["answers:N", alt.Tooltip("n:Q", format=","), alt.Tooltip("power:Q", format=".1%")]
    line = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=y, color=colour, tooltip=tooltip)
    )
    dot = alt.Chart(alt.InlineData(values=[{"n": needed, "power": _GOAL}]))
    layers = [line, dot.mark_point(filled=True, size=70, color=style.TRUTH, opacity=1).encode(x=x, y=y)]
    heading = alt.TitleParams(
        f"{needed:,} people find {asked} with a chance of 80 %", subtitle=[plan.formula, "Wald's test, large samples"]
    )
    return alt.layer(*layers).properties(width=420, height=260, title=heading, config=style.config())
