"""The picture of an estimate for each group: a panel for each category, in which groups can be compared."""

from __future__ import annotations

from typing import Any

from maskwell.errors import EstimationError
from maskwell.inference.domains import GroupEstimates
from maskwell.results.numbers import decimals_for, number, percent
from maskwell.tables.labels import text_of
from maskwell.views.charts import style
from maskwell.views.wording import level_words, privacy_words, simulation_words

_MOST_LINES = 200


def group_chart(
    groups: GroupEstimates,
    level: float = 0.95,
    *,
    method: str | None = None,
    simultaneous: bool = False,
    title: str = "Estimated proportions by group",
) -> Any:
    """An Altair chart with a panel for each category: a dot for each group, and a bar for its interval.

    All panels share one scale. ``method`` and ``simultaneous`` are those of ``Estimate.interval``.
    """
    from maskwell.views.charts.altair_extra import alt

    lines = len(groups) * groups.design.k
    if lines > _MOST_LINES:
        raise EstimationError(
            f"a picture of {len(groups)} groups with {groups.design.k} categories would have {lines:,} lines; "
            f"draw groups[label].plot() of one group, or up to {_MOST_LINES} lines."
        )
    rows = _rows(groups, level, method, simultaneous)
    values = [row[end] for row in rows for end in ("lower", "upper")]
    scale = alt.Scale(domain=[min(0.0, *values), max(values)], nice=True)
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=6, title="share of the group")
    names, categories = (list(dict.fromkeys(row[name] for row in rows)) for name in ("group", "category"))
    base = alt.Chart().encode(
        y=alt.Y("group:N", sort=names, title=None, axis=alt.Axis(labelFontSize=12)),
        tooltip=["group:N", "category:N", "reports:Q", *(alt.Tooltip(f"{k}:Q", format=".3%") for k in _SHARES)],
    )
    layers = [
        base.mark_rule(color=style.ESTIMATE, strokeWidth=3, opacity=0.55).encode(
            x=alt.X("lower:Q", scale=scale, axis=axis), x2="upper:Q"
        ),
        base.mark_point(color=style.ESTIMATE, filled=True, size=60, opacity=1).encode(x="estimate:Q"),
        base.mark_text(align="left", dx=12).encode(x=alt.value("width"), text="label:N"),
    ]
    header = alt.Header(labelAnchor="start", labelPadding=2, labelFontWeight="bold")
    whole = (
        alt.layer(*layers, data=alt.InlineData(values=rows))
        .properties(width=400, height=alt.Step(24))
        .facet(
            alt.Facet("category:N", sort=categories, title=None, header=header),
            columns=1,
            spacing=14,
        )
    )
    heading = alt.TitleParams(
        title,
        subtitle=[
            f"With {level_words(level, simultaneous)}s; {groups.n:,} reports of {len(groups)} groups",
            f"Privacy: {privacy_words(groups.design)}",
            *sorted({line for found in groups.values() for line in simulation_words(found)}),
        ],
    )
    return whole.properties(title=heading, config=style.config())


_SHARES = ("estimate", "lower", "upper")


def _rows(groups: GroupEstimates, level: float, method: str | None, simultaneous: bool) -> list[dict[str, Any]]:
    rows = []
    for label, found in groups.items():
        limits = found.interval(level, method, simultaneous)
        decimals = decimals_for(limits)
        for category, share, (low, high) in zip(
            found.design.categories, found.proportions.tolist(), limits.tolist(), strict=True
        ):
            shown = f"{number(100 * low, decimals)} to {number(100 * high, decimals)}"
            row = {"group": "missing" if label is None else text_of(label), "category": text_of(category)}
            figures = {"reports": found.n, "estimate": share, "lower": low, "upper": high}
            rows.append({**row, **figures, "label": f"{percent(share, decimals)}  ({shown})"})
    return rows
