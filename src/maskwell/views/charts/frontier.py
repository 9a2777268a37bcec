"""Privacy against precision over all designs, as a picture: what each one gives and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.auditing import audit
from maskwell.designs import DESIGNS
from maskwell.designs.base import Design
from maskwell.errors import DesignError
from maskwell.planning import FrontierPoint, frontier
from maskwell.views.audit_figures import cost
from maskwell.views.charts import style
from maskwell.views.charts.breach_regions import Align

# Fewer where designs are large.
_EPSILONS = {False: tuple(np.linspace(0.25, 5, 20).tolist()), True: (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)}
_LARGE = 500
_MOST_PICTURED = 5000
_MOST_LS = 12
# A block design has the privacy and the added variance of the subset design that it abbreviates, or is worse; to find
# one for each of many settings would take minutes.
_LEFT_OUT = ("block",)
_WIDTH, _HEIGHT = 270, 300
_LINE_HEIGHT = 13
_ROOM = 1.25
_MOST_TICKS = 8
_SAME = 1e-6
# A point so far to the right has its name on its left.
_RIGHT_PART = 0.65

Row = dict[str, Any]


def has_frontier_chart(k: int) -> bool:
    """Whether all designs are small enough to be built at many settings while somebody waits."""
    return k <= _MOST_PICTURED


def frontier_chart(
    k: int,
    epsilons: Iterable[float] | None = None,
    ls: Iterable[int] | None = None,
    highlight: Mapping[str, Design] | None = None,
) -> Any:
    """Two panels over the same designs: cost against ε, and against the chance of a right guess by a stranger.

    Cost is how many times the respondents of a direct question are needed for the same error when all categories are
    equally common. Blue is what no design beats. ``highlight`` names designs to point out.
    """
    import altair as alt

    names = [name for name in DESIGNS if name not in _LEFT_OUT]
    at = _EPSILONS[k > _LARGE] if epsilons is None else list(epsilons)
    points = frontier(k, at, _some_ls(k) if ls is None else list(ls), names)
    rows = [_row(point, k) for point in points if math.isfinite(point.added_variance)]
    marked = [_marked(name, design, k) for name, design in (highlight or {}).items()]
    marked = [row for row in marked if row["cost"] is not None]
    costs = [row["cost"] for row in [*rows, *marked]]
    vertical = Log(min(costs) / _ROOM, max(costs) * _ROOM, _HEIGHT)
    whole = alt.concat(_against_anybody(rows, marked, vertical), _against_strangers(rows, marked, vertical), columns=2)
    heading = alt.TitleParams(_finding(points), subtitle=_reading(k, marked))
    return whole.properties(spacing=40, title=heading, config=style.config())


@dataclass(frozen=True)
class Log:
    """A logarithmic axis, from pixels to values and back; pixels count from the top."""

    low: float
    high: float
    length: float

    def pixel(self, value: float) -> float:
        return self.length * math.log(self.high / value) / math.log(self.high / self.low)

    def value(self, pixel: float) -> float:
        return self.high * math.exp(pixel / self.length * math.log(self.low / self.high))

    def ticks(self) -> list[float]:
        """Round numbers, as many as there is room for."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for leading in ((1, 2, 3, 5, 7), (1, 2, 5), (1,)):
            inside = [m * 10.0**e for e in powers for m in leading if self.low <= m * 10.0**e <= self.high]
            if len(inside) <= _MOST_TICKS:
                break
        return inside


def _some_ls(k: int) -> list[int]:
    """All l for few categories, and a dozen spread evenly in proportion for many."""
    if k - 2 <= _MOST_LS:
        return list(range(2, k))
    return sorted({round(l) for l in np.geomspace(2, k - 1, _MOST_LS).tolist()})


def _row(point: FrontierPoint, k: int) -> Row:
    settings = {key: value for key, value in point.parameters.items() if key in ("epsilon", "l")}
    return {
        "design": point.name,
        "setting": ", ".join(f"{key} = {value:.4g}" for key, value in settings.items()),
        "epsilon": point.epsilon if math.isfinite(point.epsilon) else None,
        "guess": point.guess_probability,
        "added_variance": point.added_variance,
        "cost": cost(point.added_variance, k),
        "on_epsilon": point.on_epsilon_frontier,
        "on_guess": point.on_guess_frontier,
    }


def _marked(name: str, design: Design, k: int) -> Row:
    if design.k != k:
        raise DesignError(
            f"highlight must hold designs for {k} categories; {name!r} has {design.k}.", parameter="highlight"
        )
    finite = math.isfinite(design.added_variance)
    return {
        "design": name,
        "epsilon": design.epsilon if math.isfinite(design.epsilon) else None,
        "guess": audit(design).guess_probability,
        "added_variance": design.added_variance if finite else None,
        "cost": cost(design.added_variance, k) if finite else None,
    }


def _finding(points: Sequence[FrontierPoint]) -> str:
    finite = [point for point in points if math.isfinite(point.epsilon) and math.isfinite(point.added_variance)]
    names = {point.name for point in finite}
    if "minimax" in names and all(p.on_epsilon_frontier for p in finite if p.name == "minimax"):
        return "At every ε the minimax design needs the fewest respondents"
    return "Privacy against precision"


def _reading(k: int, marked: Sequence[Row]) -> list[str]:
    ours = {0: "", 1: " Orange: the design in question."}.get(len(marked), " Orange: the designs compared.")
    return [
        f"All named designs for {k:,} categories. Blue: no design is as private and cheaper.{ours}",
        "Cost: how many times the respondents of a direct question give the same error, categories equally common.",
    ]


def _against_anybody(rows: Sequence[Row], marked: Sequence[Row], vertical: Log) -> Any:
    """Cost against ε: one line for each design, with its name at the end."""
    import altair as alt

    shown = [{**row, "best": row["on_epsilon"]} for row in rows if row["epsilon"] is not None]
    ours = [row for row in marked if row["epsilon"] is not None]
    most = max((row["epsilon"] for row in [*shown, *ours]), default=1.0)
    x = alt.X("epsilon:Q", title="ε", axis=alt.Axis(grid=True), scale=alt.Scale(domain=[0, 1.05 * most], nice=False))
    y = _cost_axis(vertical, "cost")
    ends: dict[str, Row] = {}
    for row in shown:
        if row["design"] not in ends or row["epsilon"] > ends[row["design"]]["epsilon"]:
            ends[row["design"]] = row
    names = _merged(list(ends.values()))
    heights = _apart([vertical.pixel(row["cost"]) for row in names])
    placed = [{**row, "epsilon": 1.05 * most, "cost": vertical.value(h)} for row, h in zip(names, heights, strict=True)]
    leaders = [{**end, "leader": i} for i, pair in enumerate(zip(names, placed, strict=True)) for end in pair]
    base = alt.Chart(alt.InlineData(values=shown)).encode(x=x, y=y, tooltip=_tooltip())
    layers = [
        base.mark_line(color=style.OTHER, strokeWidth=1).encode(detail="design:N"),
        base.mark_point(filled=True, opacity=1).encode(**_emphasis()),
        alt.Chart(alt.InlineData(values=leaders))
        .mark_line(color=style.OTHER, strokeWidth=0.7, strokeDash=[2, 2])
        .encode(x=x, y=y, detail="leader:N"),
        alt.Chart(alt.InlineData(values=placed)).mark_text(align="left", dx=4).encode(x=x, y=y, text="design:N"),
        *_pointed_out(ours, lambda row: row["epsilon"] > _RIGHT_PART * most, vertical, x, y),
    ]
    return _titled(layers, "Against anybody, whatever they know: ε")


def _against_strangers(rows: Sequence[Row], marked: Sequence[Row], vertical: Log) -> Any:
    """Cost against the chance of a right guess: all designs as dots, those that nothing beats by name."""
    import altair as alt

    shown = [{**row, "best": row["on_guess"]} for row in rows]
    across = Log(min(row["guess"] for row in [*shown, *marked]) / 1.1, 1.05, _WIDTH)
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, values=across.ticks(), grid=True)
    scale = alt.Scale(type="log", domain=[across.low, across.high], nice=False)
    x, y = alt.X("guess:Q", title="chance of a right guess", axis=axis, scale=scale), _cost_axis(vertical, None)
    # Below the frontier there is nothing, so that is where the names go.
    named = []
    for name in ("local_diversity", "uniform_subsets", "minimax", "direct"):
        best = [row for row in shown if row["design"] == name and row["best"]]
        if best:
            named.append(sorted(best, key=lambda row: row["guess"])[len(best) // 2])
    named.sort(key=lambda row: -row["cost"])
    heights = _apart([vertical.pixel(row["cost"]) + 10 for row in named])
    labels = [{**row, "cost": vertical.value(h)} for row, h in zip(named, heights, strict=True)]
    base = alt.Chart(alt.InlineData(values=shown)).encode(x=x, y=y, tooltip=_tooltip())
    layers = [
        base.mark_point(filled=True, opacity=1).encode(**_emphasis()),
        alt.Chart(alt.InlineData(values=labels))
        .mark_text(align="right", dx=-5, color=style.ESTIMATE)
        .encode(x=x, y=y, text="design:N"),
        *_pointed_out(marked, lambda row: across.pixel(row["guess"]) < (1 - _RIGHT_PART) * _WIDTH, vertical, x, y),
    ]
    return _titled(layers, "Against somebody who knows nothing")


def _titled(layers: Sequence[Any], title: str) -> Any:
    import altair as alt

    heading = alt.TitleParams(title, fontSize=12, fontWeight="normal", offset=6)
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=heading)


def _cost_axis(vertical: Log, title: str | None) -> Any:
    import altair as alt

    axis = alt.Axis(grid=True, labelExpr="'× ' + format(datum.value, ',~r')", values=vertical.ticks())
    scale = alt.Scale(type="log", domain=[vertical.low, vertical.high], nice=False)
    return alt.Y("cost:Q", title=title, scale=scale, axis=axis)


def _tooltip() -> list[Any]:
    import altair as alt

    numbers = ("epsilon", "guess", "added_variance", "cost")
    return ["design:N", "setting:N", *(alt.Tooltip(f"{name}:Q", format=".4g") for name in numbers)]


def _emphasis() -> dict[str, Any]:
    import altair as alt

    return {
        "color": alt.condition("datum.best", alt.value(style.ESTIMATE), alt.value(style.OTHER)),
        "size": alt.condition("datum.best", alt.value(26), alt.value(12)),
    }


def _merged(ends: Sequence[Row]) -> list[Row]:
    """Designs that end in the same place under one name, the costliest first."""
    merged: list[Row] = []
    for row in sorted(ends, key=lambda row: -row["cost"]):
        if merged and abs(merged[-1]["cost"] / row["cost"] - 1) < _SAME:
            merged[-1] = {**row, "design": f"{merged[-1]['design']}, {row['design']}"}
        else:
            merged.append(row)
    return merged


def _apart(heights: Sequence[float]) -> list[float]:
    """Heights from the top down, at least a line apart and within the panel."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _LINE_HEIGHT) if placed else height)
    floor = float(_HEIGHT)
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], floor)
        floor = placed[i] - _LINE_HEIGHT
    return placed


def _pointed_out(ours: Sequence[Row], on_the_right: Callable[[Row], bool], vertical: Log, x: Any, y: Any) -> list[Any]:
    import altair as alt

    ring = alt.Chart(alt.InlineData(values=list(ours))).mark_point(
        color=style.TRUTH, size=110, strokeWidth=2.5, opacity=1
    )
    layers = [ring.encode(x=x, y=y)]
    for right in (False, True):
        part = sorted((row for row in ours if on_the_right(row) == right), key=lambda row: -row["cost"])
        heights = _apart([vertical.pixel(row["cost"]) - _LINE_HEIGHT for row in part])
        labels = [{**row, "cost": vertical.value(h)} for row, h in zip(part, heights, strict=True)]
        align: Align = "right" if right else "left"
        text = alt.Chart(alt.InlineData(values=labels)).mark_text(
            color=style.TRUTH, align=align, dx=-9 if right else 9, fontSize=12
        )
        layers.append(text.encode(x=x, y=y, text="design:N"))
    return layers
