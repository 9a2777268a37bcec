"""Breach regions as pictures: which changes of belief a demand forbids and which ones a design rules out.

A point of the square is a change of belief: to the right what somebody held before the report, upwards what they hold
after it. The four figures of chai-nayak-2018 are drawn from the library's own demands and regions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from maskwell.auditing import Audit, BreachRegion, demand_curves
from maskwell.demands import BetaFactor, Demand, InformationPrivacy, RhoPrivacy
from maskwell.demands.breach_bound import BreachCurve
from maskwell.results.numbers import limit, percent
from maskwell.views.charts import style

Align = Literal["left", "center", "right"]

SIDE = 340
LEAST_SIDE = 240
"""How small a phone may draw the square."""
EXAMPLE = 0.1
_STEPS = 200
_LINE = 15
_COLOURS = (style.ESTIMATE, style.TRUTH, style.OTHER)
# Where a curve is this close to 1, "above 100.0 %" would be nonsense.
_NEARLY_SURE = 0.9995
_WORTH_A_LETTER = 0.02


def breach_chart(audit: Audit) -> Any:
    """The changes of belief that a design rules out, those that its demand forbids, and what may become of 10 %."""
    region, demand = audit.breach_region, audit.design.demand
    low, high = region.lower(EXAMPLE), region.upper(EXAMPLE)
    bounded = math.isfinite(audit.parity)
    layers = [diagonal()]
    if bounded:
        layers = [*region_layers(curve_rows(region.lower, region.upper), style.ESTIMATE), diagonal()]
        layers += _inside("ruled out")
    layers += _example(low, high)
    became = "anything" if high - low > _NEARLY_SURE else f"{at_least(low)} to {at_most(high)}"
    subtitle = [
        "Each point is a change of belief about a respondent: before the report (across), after it (up).",
        f"Upright line: what can become of a belief of {percent(EXAMPLE, 0)}: {became}.",
    ]
    if demand is not None and math.isfinite(demand.parity_bound):
        lower, upper, jumps = demand_curves(demand)
        layers += _outline(curve_rows(lower, upper, jumps))
        verdict = "All of it is ruled out" if audit.demand_holds else "NOT all of it is ruled out"
        subtitle.append(f"Dashed: what the demand forbids, {demand.describe()}. {verdict}.")
    return square(layers, _finding(high, bounded), subtitle)


def _finding(high: float, bounded: bool) -> str:
    if not bounded:
        return "No change of belief is ruled out: a report can be proof"
    if high >= _NEARLY_SURE:
        return f"A report can turn a belief of {percent(EXAMPLE, 0)} into near certainty"
    return f"No report lifts a belief of {percent(EXAMPLE, 0)} above {at_most(high)}"


def demand_chart(demands: Mapping[str, Demand], title: str | None = None, subtitle: Sequence[str] = ()) -> Any:
    """The changes of belief that up to three demands forbid, and which of them asks for most (figures 1 and 2)."""
    bounds = {name: demand.parity_bound for name, demand in demands.items()}
    layers, edge = [diagonal()], 0.0
    for demand, colour in zip(demands.values(), _COLOURS, strict=False):
        lower, upper, jumps = demand_curves(demand)
        rows = curve_rows(lower, upper, jumps)
        layers += region_layers(rows, colour)
        edge = max([edge, *(row["prior"] for row in rows if row["upper"] < 1 and row["prior"] < 1)])
    if len(demands) == 1:
        layers += _inside("forbidden")
    else:
        named = zip(demands, _COLOURS, (0.96, 0.89, 0.82), strict=False)
        layers += [label(edge, height, name, colour, dx=6) for name, colour, height in named]
    strictest = min(bounds, key=lambda name: bounds[name])
    if title is None:
        title = f"{strictest} asks for the most privacy" if len(bounds) > 1 else f"What {strictest} forbids"
    stated = "; ".join(f"{limit(bound)} under {name}" for name, bound in bounds.items())
    return square(layers, title, [*subtitle, f"Largest parity that is allowed: {stated}."])


def canonical_chart(demand: Demand, title: str, subtitle: Sequence[str] = ()) -> Any:
    """What a demand forbids, and what no design that meets it allows either (figure 3).

    A belief that an answer is in some group rises exactly when the belief that it is not falls, so each of the two
    curves limits both directions.
    """
    from maskwell.views.charts.altair_extra import alt

    lower, upper, jumps = demand_curves(demand)
    rows = curve_rows(lower, upper, (*jumps, *(1 - jump for jump in jumps)))
    for row in rows:
        p = row["prior"]
        row["implied_upper"] = min(float(upper(p)), 1 - float(lower(1 - p)))
        row["implied_lower"] = max(float(lower(p)), 1 - float(upper(1 - p)))
    base = alt.Chart(alt.InlineData(values=rows)).mark_area(color=style.TRUTH, opacity=0.3, clip=True)
    layers = [
        *region_layers(rows, style.ESTIMATE),
        base.encode(x=across(), y=up("implied_upper:Q"), y2="upper:Q"),
        base.encode(x=across(), y=up("lower:Q"), y2="implied_lower:Q"),
        *_boundaries(rows, style.TRUTH, "implied_lower", "implied_upper", dash=[5, 3]),
        diagonal(),
    ]
    for name, outer, inner in (("A", "upper", "implied_upper"), ("B", "implied_lower", "lower")):
        widths = np.array([row[outer] - row[inner] for row in rows])
        if widths.max() > _WORTH_A_LETTER:
            centre = rows[int(np.searchsorted(np.cumsum(widths), widths.sum() / 2))]
            layers.append(label(centre["prior"], (centre[outer] + centre[inner]) / 2, name, align="center", size=14))
    return square(layers, title, subtitle)


def parity_chart(parities: Mapping[str, float], title: str, subtitle: Sequence[str] = ()) -> Any:
    """The limits of belief at several parities, one pair of curves each (figure 4)."""
    layers, labels, place = [diagonal()], [], 0.0
    for gamma in sorted({gamma for gamma in parities.values() if math.isfinite(gamma)}, reverse=True):
        region = BreachRegion(gamma)
        layers += region_layers(curve_rows(region.lower, region.upper), style.ESTIMATE, opacity=0.12)
        # Every curve crosses the falling diagonal once, each at its own place.
        crossing = 1 / (1 + math.sqrt(gamma))
        own = [name for name, parity in parities.items() if parity == gamma]
        # Its names stand there, or as far down the diagonal as those of a larger parity need.
        place = max(crossing, place)
        labels.append(label(place, 1 - place, "\n".join(own), dx=4, dy=4))
        place += _LINE * len(own) / LEAST_SIDE
    return square([*layers, *labels], title, subtitle)


def published_figures() -> dict[str, Any]:
    """Figures 1 to 4 of chai-nayak-2018 by name; the paper leaves the parameters open, these are ours."""
    overlap: dict[str, Demand] = {"β-factor, β = 3": BetaFactor(3), "0.2-to-0.5": RhoPrivacy(0.2, 0.5)}
    words = "no belief may rise by more than 30 points or fall below a quarter of itself"
    both = InformationPrivacy(_quarter, _thirty_more, breakpoints=(0.7,))
    return {
        "figure-1": demand_chart(
            overlap,
            "Two demands that overlap: β = 3 asks for more than 0.2-to-0.5",
            ["Shaded: changes of belief that a demand forbids. Neither region holds the other."],
        ),
        "figure-2": demand_chart(
            {"these curves": both},
            f"Any two curves make a demand; this one allows parity {both.parity_bound:.3f}",
            [f"Here {words}."],
        ),
        "figure-3": canonical_chart(
            both,
            "A limit on rises is a limit on falls too",
            [
                f"Blue: what the demand forbids: {words}.",
                "A and B: what no design that meets it allows either, because a belief falls where its opposite rises.",
            ],
        ),
        "figure-4": parity_chart(
            {f"γ = {gamma}": gamma for gamma in (2, 5, 20, 100)},
            "The larger the parity γ, the fewer changes of belief are ruled out",
            ["Shaded: what a design of parity γ rules out. About 20 is the usual ceiling."],
        ),
    }


def _thirty_more(p: float) -> float:
    return min(1.0, p + 0.3)


def _quarter(p: float) -> float:
    return p / 4


def at_most(share: float) -> str:
    """A limit as a percentage, rounded up to the next tenth."""
    return percent(math.ceil(1000 * share - 1e-9) / 1000, 1)


def at_least(share: float) -> str:
    """A limit as a percentage, rounded down to the next tenth."""
    return percent(math.floor(1000 * share + 1e-9) / 1000, 1)


def curve_rows(lower: BreachCurve, upper: BreachCurve, jumps: Sequence[float] = ()) -> list[dict[str, float]]:
    """Two curves on a grid that has the two sides of every jump."""
    sides = [math.nextafter(jump, end) for jump in jumps for end in (0, 1)]
    grid = np.unique(np.concatenate([np.linspace(0, 1, _STEPS + 1), jumps, sides]))
    return [{"prior": p, "lower": float(lower(p)), "upper": float(upper(p))} for p in grid.tolist()]


def region_layers(rows: list[dict[str, float]], colour: str, opacity: float = 0.25) -> list[Any]:
    """A region with its two boundaries."""
    from maskwell.views.charts.altair_extra import alt

    shade = alt.Chart(alt.InlineData(values=rows)).mark_area(color=colour, opacity=opacity, clip=True)
    return [
        shade.encode(x=across(), y=up("upper:Q"), y2=alt.Y2Datum(1)),
        shade.encode(x=across(), y=up("lower:Q"), y2=alt.Y2Datum(0)),
        *_boundaries(rows, colour, "lower", "upper"),
    ]


def _boundaries(rows: list[dict[str, float]], colour: str, *fields: str, dash: Sequence[int] = (1, 0)) -> list[Any]:
    from maskwell.views.charts.altair_extra import alt

    tooltip = [alt.Tooltip(f"{field}:Q", format=".1%") for field in ("prior", "lower", "upper")]
    lines = []
    for field in fields:
        line = alt.Chart(alt.InlineData(values=_off_the_frame(rows, field)))
        drawn = line.mark_line(color=colour, strokeWidth=1.5, strokeDash=list(dash))
        lines.append(drawn.encode(x=across(), y=up(f"{field}:Q"), tooltip=tooltip))
    return lines


def _off_the_frame(rows: list[dict[str, float]], field: str) -> list[dict[str, float]]:
    """A curve without the stretches that run along the top or the bottom of the square, where nothing is forbidden."""
    edge = [row[field] in (0, 1) for row in rows]
    beside = [all(edge[max(i - 1, 0) : i + 2]) for i in range(len(rows))]
    return [row for row, hidden in zip(rows, beside, strict=True) if not hidden]


def _inside(text: str) -> list[Any]:
    """Words in both parts of a region."""
    return [label(0.22, 0.965, text), label(0.78, 0.035, text, align="right")]


def _outline(rows: list[dict[str, float]]) -> list[Any]:
    return _boundaries(rows, style.TRUTH, "lower", "upper", dash=[6, 4])


def _example(low: float, high: float) -> list[Any]:
    from maskwell.views.charts.altair_extra import alt

    rows = [{"prior": EXAMPLE, "lower": low, "upper": high}]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=across())
    ends = [
        base.mark_point(filled=True, color=style.INK, size=30, opacity=1).encode(y=up(f))
        for f in ("lower:Q", "upper:Q")
    ]
    rule = base.mark_rule(color=style.INK, strokeWidth=2).encode(y=up("lower:Q"), y2="upper:Q")
    return [rule, *ends]


# The square that all pictures of beliefs share.


def square(layers: Sequence[Any], title: str, subtitle: Sequence[str] = ()) -> Any:
    """Layers over the unit square. It stays square: concatenated, a page does not stretch it."""
    from maskwell.views.charts.altair_extra import alt

    heading = alt.TitleParams(title, subtitle=list(subtitle))
    plot = alt.layer(*layers).properties(width=SIDE, height=SIDE)
    return alt.hconcat(plot).properties(title=heading, config=style.config())


def across() -> Any:
    """The belief before the report."""
    from maskwell.views.charts.altair_extra import alt

    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, values=[0, 0.25, 0.5, 0.75, 1], grid=True)
    return alt.X("prior:Q", scale=alt.Scale(domain=[0, 1]), axis=axis, title="belief before the report")


def up(field: str) -> Any:
    """The belief after the report."""
    from maskwell.views.charts.altair_extra import alt

    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, values=[0, 0.25, 0.5, 0.75, 1], grid=True)
    return alt.Y(field, scale=alt.Scale(domain=[0, 1]), axis=axis, title="belief after the report")


def diagonal() -> Any:
    """Where a report changes nothing."""
    from maskwell.views.charts.altair_extra import alt

    rows = [{"prior": 0, "after": 0}, {"prior": 1, "after": 1}]
    line = alt.Chart(alt.InlineData(values=rows)).mark_line(color=style.OTHER, strokeWidth=1, strokeDash=[2, 2])
    return line.encode(x=across(), y=up("after:Q"))


def label(
    x: float,
    y: float,
    text: str,
    colour: str = style.INK,
    *,
    align: Align = "left",
    dx: float = 0,
    dy: float = 0,
    size: int = 12,
) -> Any:
    """Words at a place of the square."""
    from maskwell.views.charts.altair_extra import alt

    rows = [{"prior": x, "after": y, "text": text}]
    mark = alt.Chart(alt.InlineData(values=rows)).mark_text(
        align=align, baseline="middle", dx=dx, dy=dy, color=colour, fontSize=size, lineBreak="\n"
    )
    return mark.encode(x=across(), y=up("after:Q"), text="text:N")
