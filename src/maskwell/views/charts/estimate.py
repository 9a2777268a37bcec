"""The picture of an estimate: each category's proportion with its interval, and the truth where it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maskwell.designs.base import Matrix, Vector
from maskwell.errors import EstimationError
from maskwell.inference import Estimate, Top
from maskwell.results.numbers import decimals_for, number, percent
from maskwell.tables.labels import text_of
from maskwell.views.charts import style
from maskwell.views.wording import level_words, privacy_words, simulation_words

Truth = Mapping[Any, float] | Sequence[float] | Vector

# Up to here categories keep the order of the design, which may mean something, and carry their numbers.
FEW = 20
_ROWS_PER_COLUMN = 50
_MOST = 200


def chart(
    estimate: Estimate,
    truth: Truth | None = None,
    level: float = 0.95,
    *,
    method: str | None = None,
    simultaneous: bool = False,
    title: str = "Estimated proportions",
) -> Any:
    """An Altair chart: a dot per estimate, a bar for its interval, an upright stroke for the truth.

    Up to 20 categories keep their order; more are sorted by estimate and set in columns, at most the 200 largest.
    ``truth`` holds true proportions, by label or in the order of the categories; ``method`` and ``simultaneous`` are
    those of ``Estimate.interval``.
    """
    from maskwell.views.charts.altair_extra import alt

    design, limits = estimate.design, estimate.interval(level, method, simultaneous)
    known = None if truth is None else true_proportions(estimate, truth)
    order = np.arange(design.k)
    if design.k > FEW:
        order = np.argsort(-estimate.proportions, kind="stable")[:_MOST]
    rows = _rows(estimate, limits[order], known, order)
    columns = -(-len(rows) // _ROWS_PER_COLUMN)
    per_column = -(-len(rows) // columns)
    named = f"estimate with {level_words(level, simultaneous)}"
    panels = [_panel(rows[i : i + per_column], named, columns) for i in range(0, len(rows), per_column)]
    if columns == 1:
        whole = panels[0]
    else:
        whole = alt.concat(*panels, columns=columns, spacing=16).resolve_scale(color="shared", shape="shared")
    which = f"the {len(rows)} largest of {design.k} categories" if len(rows) < design.k else f"{design.k} categories"
    heading = alt.TitleParams(
        title,
        subtitle=[
            f"{design.title} design, {which}, {estimate.n:,} reports",
            f"Privacy: {privacy_words(design)}",
            *simulation_words(estimate),
            *(["Sorted by estimate; each column has its own scale."] if columns > 1 else []),
        ],
    )
    return whole.properties(title=heading, config=style.config())


def top_chart(top: Top, title: str = "The most frequent categories") -> Any:
    """An Altair chart of ``estimate.top(n)``: a dot per estimate, and limits that hold for all categories together."""
    from maskwell.views.charts.altair_extra import alt

    design, named = top.design, f"estimate with {level_words(top.level, simultaneous=True)}"
    panel = _panel(_rows(top.estimate, top.limits, None, top.positions), named, 1)
    heading = alt.TitleParams(
        title,
        subtitle=[
            f"{design.title} design, the {len(top)} largest of {design.k:,} categories, {top.n:,} reports",
            f"Privacy: {privacy_words(design)}",
            *simulation_words(top.estimate),
        ],
    )
    return panel.properties(title=heading, config=style.config())


def true_proportions(estimate: Estimate, truth: Truth) -> Vector:
    """The truth as one proportion per category."""
    categories = estimate.design.categories
    if isinstance(truth, Mapping):
        if set(truth) != set(categories):
            raise EstimationError(
                "truth must give one proportion for each category of the design, and for no other label.",
                parameter="truth",
            )
        truth = [truth[label] for label in categories]
    known = np.asarray(truth, float)
    if known.shape != (len(categories),):
        raise EstimationError(
            f"truth must hold {len(categories)} proportions, one per category; got shape {known.shape}.",
            parameter="truth",
        )
    if not ((known >= 0) & (known <= 1)).all():
        raise EstimationError(
            "truth must hold proportions between 0 and 1; divide counts by their sum first.", parameter="truth"
        )
    return known


def _rows(estimate: Estimate, limits: Matrix, truth: Vector | None, order: Any) -> list[dict[str, Any]]:
    """One row for each category of ``order``, which ``limits`` follow."""
    decimals = decimals_for(limits)
    rows = []
    for j, (low, high) in zip(order.tolist(), limits.tolist(), strict=True):
        share = float(estimate.proportions[j])
        shown = f"{number(100 * low, decimals)} to {number(100 * high, decimals)}"
        row = {
            "category": text_of(estimate.design.categories[j]),
            "estimate": share,
            "lower": low,
            "upper": high,
            "label": f"{percent(share, decimals)}  ({shown})",
        }
        if truth is not None:
            row["truth"] = float(truth[j])
        rows.append(row)
    return rows


def _panel(rows: list[dict[str, Any]], named: str, columns: int) -> Any:
    """One column of the chart; ``named`` says what a dot with its bar is."""
    from maskwell.views.charts.altair_extra import alt

    few, has_truth = len(rows) <= FEW and columns == 1, "truth" in rows[0]
    names = [named, *(["truth"] if has_truth else [])]
    colour = alt.Scale(domain=names, range=[style.ESTIMATE, style.TRUTH][: len(names)])
    shape = alt.Scale(domain=names, range=["circle", style.UPRIGHT][: len(names)])
    legend = {"color": alt.Color("mark:N", scale=colour), "shape": alt.Shape("mark:N", scale=shape)}

    def points(column: str, name: str, **look: Any) -> Any:
        marked = base.transform_calculate(mark=f"'{name}'").mark_point(opacity=1, **look)
        return marked.encode(x=alt.X(f"{column}:Q"), **legend)

    y = alt.Y(
        "category:N",
        sort=[row["category"] for row in rows],
        title=None,
        axis=alt.Axis(labelFontSize=12 if few else 9, labelOverlap=False),
    )
    # One scale for all columns would leave nothing to see of the small shares.
    axis_title = "share of the population" if columns == 1 else "share, own scale"
    x_axis = alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=6 if columns == 1 else 3, title=axis_title)
    values = [row[key] for row in rows for key in ("lower", "upper", "truth") if key in row]
    scale = alt.Scale(domain=[min(0.0, *values), max(values)], nice=True)
    tooltip = [alt.Tooltip("category:N")] + [
        alt.Tooltip(f"{key}:Q", format=".3%") for key in ("estimate", "lower", "upper", "truth") if key in rows[0]
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y, tooltip=tooltip)
    thickness = 3 if few else 1.5
    layers = [
        base.mark_rule(color=style.ESTIMATE, strokeWidth=thickness, opacity=style.BAR).encode(
            x=alt.X("lower:Q", scale=scale, axis=x_axis), x2="upper:Q"
        ),
        points("estimate", named, filled=True, size=60 if few else 22),
    ]
    if has_truth:
        layers.append(points("truth", "truth", filled=False, size=300 if few else 70, strokeWidth=2.5 if few else 2))
    if few:
        layers.append(base.mark_text(align="left", dx=12).encode(x=alt.value("width"), text="label:N"))
    return alt.layer(*layers).properties(width=420 if columns == 1 else 170, height=alt.Step(28 if few else 13))
