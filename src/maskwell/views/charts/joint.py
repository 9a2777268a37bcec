"""The picture of two variables together: how one is distributed among those who hold each category of the other."""

from __future__ import annotations

from typing import Any, TypeGuard

from maskwell.designs.base import Design
from maskwell.errors import EstimationError
from maskwell.inference import Estimate
from maskwell.inference.joint import JointTable
from maskwell.views.charts import style
from maskwell.views.wording import level_words, privacy_words, simulation_words

_MOST = 12
"""Categories of either variable that can still be told apart in one picture."""


def has_joint_chart(estimate: Estimate) -> TypeGuard[JointTable]:
    """Whether an estimate is of two variables with few enough categories."""
    parts = list(estimate.design.variables.values())
    return isinstance(estimate, JointTable) and len(parts) == 2 and max(part.k for part in parts) <= _MOST


def joint_chart(estimate: JointTable, level: float = 0.95) -> Any:
    """An Altair chart with a panel for each category of the first variable.

    A panel shows the shares of the second variable among those people, with intervals by the delta method.
    """
    import altair as alt

    design = estimate.design
    if not has_joint_chart(estimate):
        raise EstimationError(f"a joint chart needs two variables of at most {_MOST} categories each.")
    rows, left_out = _rows(estimate, design, level)
    (given, first), (shown, second) = design.variables.items()
    order = [str(label) for label in second.categories]
    ends = [row[end] for row in rows for end in ("lower", "upper")]
    scale = alt.Scale(domain=[min(0.0, *ends), max(ends)], nice=True)
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=5, title=f"share among people with this {given}")
    base = alt.Chart().encode(
        y=alt.Y("shown:N", sort=order, title=None),
        tooltip=["given:N", "shown:N", *(alt.Tooltip(f"{key}:Q", format=".3%") for key in ("share", "lower", "upper"))],
    )
    bar = base.mark_rule(color=style.ESTIMATE, strokeWidth=3, opacity=0.55).encode(
        x=alt.X("lower:Q", scale=scale, axis=axis), x2="upper:Q"
    )
    dot = base.mark_point(color=style.ESTIMATE, filled=True, size=60, opacity=1).encode(x="share:Q")
    panels = (
        alt.layer(bar, dot, data=alt.InlineData(values=rows))
        .properties(width=200, height=alt.Step(24))
        .facet(
            alt.Facet("given:N", sort=[str(label) for label in first.categories], title=None),
            columns=min(3, len({row["given"] for row in rows})),
        )
    )
    lines = [
        f"Shares of {shown} among those with each {given}, with {level_words(level)}s; {estimate.n:,} reports",
        f"Privacy of both answers together: {privacy_words(design)}",
        *simulation_words(estimate),
    ]
    if left_out:
        lines.append(f"Not shown, because estimated at or below 0: {', '.join(left_out)}.")
    heading = alt.TitleParams(f"{shown} by {given}", subtitle=lines)
    return panels.properties(title=heading, config=style.config())


def _rows(estimate: JointTable, design: Design, level: float) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each dot, and the categories among whose holders nothing can be said."""
    (given, first), (shown, second) = design.variables.items()
    rows: list[dict[str, Any]] = []
    left_out = []
    for a in first.categories:
        try:
            shares = [estimate.conditional({shown: b}, {given: a}) for b in second.categories]
        except EstimationError:
            left_out.append(str(a))
            continue
        for b, share in zip(second.categories, shares, strict=True):
            lower, upper = share.interval(level)
            rows.append({"given": str(a), "shown": str(b), "share": share.value, "lower": lower, "upper": upper})
    if not rows:
        raise EstimationError(f"no category of {given!r} is estimated above 0; nothing can be drawn.")
    return rows, left_out
