"""The picture of two variables together: how one is distributed among those who hold each category of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

from maskwell.designs.base import Design
from maskwell.errors import EstimationError
from maskwell.inference import Estimate
from maskwell.inference.joint import JointTable
from maskwell.tables.labels import text_of
from maskwell.views.charts import style
from maskwell.views.wording import level_words, privacy_words, simulation_words

_MOST = 12
"""Categories of either variable that can still be told apart in one picture."""
_BEYOND = 0.1
"""How far the axis may reach below 0 and above 1, where no share can be."""


def has_joint_chart(estimate: Estimate) -> TypeGuard[JointTable]:
    """Whether an estimate is of two variables with few enough categories."""
    parts = list(estimate.design.variables.values())
    return isinstance(estimate, JointTable) and len(parts) == 2 and max(part.k for part in parts) <= _MOST


def joint_chart(estimate: JointTable, level: float = 0.95) -> Any:
    """An Altair chart with a panel for each category of the first variable.

    A panel shows the shares of the second variable among those people, with intervals by the delta method.
    """
    from maskwell.views.charts.altair_extra import alt

    design = estimate.design
    if not has_joint_chart(estimate):
        raise EstimationError(f"a joint chart needs two variables of at most {_MOST} categories each.")
    panels = _panels(estimate, design, level)
    (given, first), (shown, second) = design.variables.items()
    order = [text_of(label) for label in second.categories]
    ends = [row[end] for row in panels.rows for end in ("from", "to")]
    scale = alt.Scale(domain=[min(0.0, *ends), max(ends)], nice=True)
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=4, title="share", labelFlush=True)
    base = alt.Chart().encode(
        y=alt.Y("shown:N", sort=order, title=None),
        tooltip=["given:N", "shown:N", *(alt.Tooltip(f"{key}:Q", format=".3%") for key in ("share", "lower", "upper"))],
    )
    bar = base.mark_rule(color=style.ESTIMATE, strokeWidth=3, opacity=style.BAR).encode(
        x=alt.X("from:Q", scale=scale, axis=axis), x2="to:Q"
    )
    dot = base.mark_point(color=style.ESTIMATE, filled=True, size=60, opacity=1).transform_filter(
        "datum.share == datum.dot"
    )
    layers = [bar, dot.encode(x="dot:Q")]
    for end, arrow in (("from", "triangle-left"), ("to", "triangle-right")):
        side = "lower" if end == "from" else "upper"
        cut = base.transform_filter(f"datum.{end} != datum.{side}")
        layers.append(cut.mark_point(color=style.ESTIMATE, filled=True, shape=arrow, size=70).encode(x=f"{end}:Q"))
    whole = (
        alt.layer(*layers, data=alt.InlineData(values=panels.rows))
        .properties(width=200, height=alt.Step(24))
        .facet(
            alt.Facet("given:N", sort=[text_of(label) for label in first.categories], title=None),
            columns=2 if len({row["given"] for row in panels.rows}) in (2, 4) else 3,
            spacing=28,
        )
    )
    lines = [
        f"Shares of {shown} among those with each {given}, with {level_words(level)}s; {estimate.n:,} reports",
        f"Privacy of both answers together: {privacy_words(design)}",
        *simulation_words(estimate),
        *panels.remarks(),
    ]
    heading = alt.TitleParams(f"{shown} by {given}", subtitle=lines)
    return whole.properties(title=heading, config=style.config())


@dataclass(frozen=True)
class _Panels:
    """A row for each dot, and the groups of which there is nothing to draw."""

    rows: list[dict[str, Any]]
    empty: list[str]
    vague: list[str]

    def remarks(self) -> list[str]:
        """What the picture leaves out, and what its arrows mean."""
        remarks = []
        if self.empty:
            remarks.append(f"Not shown, because estimated at or below 0: {', '.join(self.empty)}.")
        if self.vague:
            remarks.append(f"Not shown, because too few hold it to tell any share: {', '.join(self.vague)}.")
        if any((row["from"], row["to"]) != (row["lower"], row["upper"]) for row in self.rows):
            remarks.append("An arrow: the interval goes on beyond what a share can be.")
        return remarks


def _panels(estimate: JointTable, design: Design, level: float) -> _Panels:
    """The shares within each group; a group in which every interval holds all that a share can be is left out."""
    (given, first), (shown, second) = design.variables.items()
    found = _Panels([], [], [])
    for a in first.categories:
        try:
            shares = [estimate.conditional({shown: b}, {given: a}) for b in second.categories]
        except EstimationError:
            found.empty.append(text_of(a))
            continue
        limits = [share.interval(level) for share in shares]
        if all(low <= 0 and high >= 1 for low, high in limits):
            found.vague.append(text_of(a))
            continue
        for b, share, (low, high) in zip(second.categories, shares, limits, strict=True):
            place = {"from": _on_the_axis(low), "to": _on_the_axis(high), "dot": _on_the_axis(share.value)}
            row = {"given": text_of(a), "shown": text_of(b), "share": share.value, "lower": low, "upper": high}
            found.rows.append({**row, **place})
    if not found.rows:
        raise EstimationError(
            f"no share of {shown!r} can be told within any category of {given!r}; more reports are needed."
        )
    return found


def _on_the_axis(share: float) -> float:
    return min(max(share, -_BEYOND), 1 + _BEYOND)
