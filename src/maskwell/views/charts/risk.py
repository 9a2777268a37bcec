"""Pictures of an assessment: who shares a cell with how many, whom a match would hit, and what it comes from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from maskwell.results.numbers import percent
from maskwell.risk import RiskReport
from maskwell.risk.misfit import LIMIT
from maskwell.risk.modelled import Modelled
from maskwell.views.charts import style

_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)
_RISKS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
_FITTED = 5


def sizes_chart(report: RiskReport) -> Any:
    """Records by the number of records that share their keys."""
    cells = report.cells
    rows = []
    for low, high in pairwise((*_SIZES, math.inf)):
        inside = cells.counts[(cells.matches >= low) & (cells.matches < high)]
        name = f"{low}" if high == low + 1 else f"{low} or more" if high == math.inf else f"{low} to {high - 1:.0f}"
        rows.append(_bar(name, int(inside.sum()), report.n))
    lines = ["The smaller the cell, the fewer others a person hides among."]
    title = f"{percent(report.sample_uniques / report.n, 1)} of the records are alone with their keys"
    return _bars(rows, "records in the cell", title, lines)


def individual_chart(report: RiskReport) -> Any:
    """Records by the chance that a match with them is right."""
    risks, counts = report.cell_risks, report.cells.counts
    rows = []
    for low, high in pairwise(_RISKS):
        inside = int(counts[(risks > low) & (risks <= high)].sum())
        rows.append(_bar(f"{_short(low)} to {_short(high)}", inside, report.n))
    whole = "" if report.population_size is not None else "The file is taken as the whole population."
    title = (
        f"{report.individual_matches:,.0f} correct matches expected by the individual risks, if all records are matched"
    )
    return _bars(rows, "chance that a match is right", title, [whole])


def _short(share: float) -> str:
    return f"{100 * share:g} %"


def _bar(name: str, count: int, n: int) -> dict[str, Any]:
    return {"name": name, "records": count, "label": f"{count:,}  ({percent(count / n, 1)})"}


def drivers_chart(report: RiskReport) -> Any:
    """What part of the risk would go if an intruder did not know a key."""
    what = "sample uniques" if report.modelled is None else "correct matches with sample uniques (tau2)"
    rows = [
        {
            "name": driver.key,
            "records": driver.contribution,
            "label": f"{percent(driver.contribution, 0)}  ({driver.uniques_without:,} uniques left)",
        }
        for driver in report.by_key
    ]
    lines = [f"The part of the {what} that goes without it. Parts overlap, and do not add up."]
    most = report.by_key[0]
    title = f"{most.key} drives the risk most" if most.contribution > 0 else "No single key drives the risk"
    return _bars(rows, "", title, lines, share=True)


def fit_chart(found: Modelled) -> Any:
    """How many cells of each size the model expects beside how many there are."""
    from maskwell.views.charts.altair_extra import alt

    sizes = np.arange(1, _FITTED + 1)
    factorials = np.array([math.factorial(s) for s in sizes.tolist()], float)

    def chances(means: Any) -> Any:
        larger = [means**s * np.exp(-means) / f for s, f in zip(sizes[1:], factorials[1:], strict=True)]
        # All records but those in cells of two or more: sums need terms that vanish like a square.
        return np.stack([means * -np.expm1(-means), *larger])

    expected = found.fit.total(chances)
    expected[0] = found.cells.n - expected[0]
    names = ["cells in the file", "cells that the model expects"]
    rows = []
    for size, fitted in zip(sizes.tolist(), expected, strict=True):
        seen = int((found.cells.counts == size).sum())
        text = f"{seen:,} / {fitted:,.0f}"
        rows.append({"size": str(size), "seen": seen, "fitted": float(fitted), "label": text})
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=_axis([row["size"] for row in rows], "size", "records"))
    colour = alt.Scale(domain=names, range=[style.TRUTH, style.ESTIMATE])
    shape = alt.Scale(domain=names, range=[style.UPRIGHT, "circle"])

    def points(field: str, name: str, **look: Any) -> Any:
        marked = base.transform_calculate(what=f"'{name}'").mark_point(opacity=1, **look)
        return marked.encode(
            x=alt.X(f"{field}:Q", title="cells", axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=True)),
            color=alt.Color("what:N", scale=colour, title=None),
            shape=alt.Shape("what:N", scale=shape, title=None),
        )

    layers = [
        points("seen", names[0], filled=False, size=200, strokeWidth=2.5),
        points("fitted", names[1], filled=True, size=50),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    return _finished(layers, "Does the model suit? Cells of each size, seen and expected", [])


def steps_chart(found: Modelled) -> Any:
    """The standardised fit statistics of the models on the way to the chosen one."""
    from maskwell.views.charts.altair_extra import alt

    names = ["independence"] + ["+ " + " × ".join(step.added) for step in found.steps[1:]]
    rows = [
        {"model": name, "what": what, "z": z}
        for name, step in zip(names, found.steps, strict=True)
        for what, z in (("B1 / its standard error", step.misfit.z1), ("B2 / its standard error", step.misfit.z2))
    ]
    band = alt.Chart(alt.InlineData(values=[{"low": -LIMIT, "high": LIMIT}]))
    layers = [
        band.mark_rect(color=style.OTHER, opacity=0.25).encode(x="low:Q", x2="high:Q"),
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=55, opacity=0.9)
        .encode(
            y=_axis(names, "model", None),
            x=alt.X("z:Q", axis=alt.Axis(tickCount=6), title="too rich   ←   within chance   →   too simple"),
            color=alt.Color("what:N", scale=alt.Scale(range=[style.ESTIMATE, style.TRUTH]), title=None),
            tooltip=["model:N", "what:N", alt.Tooltip("z:Q", format=".2f")],
        ),
    ]
    lines = ["Interactions are added, from top to bottom, until the misfit is within chance (grey)."]
    return _finished(layers, "How the model was chosen", lines)


def _bars(rows: list[dict[str, Any]], heading: str, title: str, lines: list[str], *, share: bool = False) -> Any:
    from maskwell.views.charts.altair_extra import alt

    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=_axis([row["name"] for row in rows], "name", heading or None)
    )
    axis = alt.Axis(tickCount=5, title="part of the risk" if share else "records")
    if share:
        axis.labelExpr = style.PERCENT_LABELS
    layers = [
        base.mark_bar(color=style.ESTIMATE, height=13).encode(x=alt.X("records:Q", axis=axis)),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    return _finished(layers, title, lines)


def _axis(order: Sequence[Any], field: str, title: str | None) -> Any:
    from maskwell.views.charts.altair_extra import alt

    return alt.Y(f"{field}:N", sort=list(order), title=title, axis=alt.Axis(labelFontSize=12, labelOverlap=False))


def _finished(layers: list[Any], title: str, lines: list[str]) -> Any:
    from maskwell.views.charts.altair_extra import alt

    heading = alt.TitleParams(title, subtitle=[line for line in lines if line])
    whole = alt.layer(*layers).properties(width=380, height=alt.Step(24), title=heading, config=style.config())
    return whole
