"""The picture of a power curve: the chance to find a difference against the number of respondents."""

from __future__ import annotations

from typing import Any

from maskwell.planning.power_curve import PowerCurve
from maskwell.views.charts import style
from maskwell.views.charts.plans.precision import count_axis

_HEIGHT = 260
_WANTED = 0.8


def power_chart(curve: PowerCurve) -> Any:
    """Two lines, masked and asked directly; the numbers that a power of .8 needs stand out."""
    from maskwell.views.charts.altair_extra import alt

    series = (("masked", curve.masked, curve.needed), ("asked directly", curve.direct, curve.needed_directly))
    rows = [
        {"question": name, "n": n, "power": float(power)}
        for name, powers, _ in series
        for n, power in zip(curve.n, powers, strict=True)
    ]
    axis = count_axis(curve.n[0], curve.n[-1])
    title = "respondents in each group" if curve.two_groups else "respondents"
    x = alt.X("n:Q", title=title, scale=alt.Scale(type="log", nice=False), axis=axis)
    y = alt.Y(
        "power:Q",
        title="chance to find the difference",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(grid=True, labelExpr=style.PERCENT_LABELS, values=[0, 0.2, 0.4, 0.6, _WANTED, 1]),
    )
    colour = alt.Color(
        "question:N",
        scale=alt.Scale(domain=[name for name, _, _ in series], range=[style.ESTIMATE, style.OTHER]),
        legend=None,
    )
    tooltip: list[Any] = ["question:N", alt.Tooltip("n:Q", format=","), alt.Tooltip("power:Q", format=".1%")]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=colour, tooltip=tooltip)
    layers = [base.mark_line(strokeWidth=2.5)]
    for name, _, needed in series:
        if not curve.n[0] <= needed <= curve.n[-1]:
            continue
        at = {"question": name, "n": needed, "power": _WANTED, "text": f"{name.removeprefix('asked ')}: {needed:,}"}
        point = alt.Chart(alt.InlineData(values=[at])).encode(x=x, y=y, color=colour)
        layers.append(point.mark_point(filled=True, size=70, opacity=1))
        # The direct question needs fewer people: its name stands on the left of its line, the other on the right.
        left = name != "masked"
        align: Any = "right" if left else "left"
        text = point.mark_text(align=align, dx=-10 if left else 10, dy=4 if left else 12, fontSize=12)
        layers.append(text.encode(text="text:N"))
    lines = [f"A power of 80 % needs {curve.needed:,} respondents, {curve.needed_directly:,} if asked directly."]
    shown = alt.TitleParams(f"Power to find a difference of {100 * curve.difference:g} points", subtitle=lines)
    return alt.layer(*layers).properties(width=420, height=_HEIGHT, title=shown, config=style.config())
