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
from maskwell.results.numbers import figure
from maskwell.views.audit_figures import cost
from maskwell.views.charts import style

# Fewer where designs are large.
_EPSILONS = {False: tuple(np.linspace(0.25, 5, 20).tolist()), True: (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)}
_LARGE = 500
_MOST_PICTURED = 5000
_MOST_LS = 12
# A block design has the privacy and the added variance of the subset design that it abbreviates, or is worse; to find
# one for each of many settings would take minutes.
_LEFT_OUT = ("block",)
_WIDTH, _HEIGHT = 270, 300
_LINE_HEIGHT = 14
_LINE = 12
_ROOM = 1.25
# The part of a panel's height that two names and a gap take.
_NAMES_BELOW = 3 * _LINE_HEIGHT / _HEIGHT
_MOST_TICKS = 8
_SAME = 1e-6
# How wide a letter is, about, and how far from the frame a name stays.
_LETTER = 6.2
_ENDS = 4

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
    from maskwell.views.charts.altair_extra import alt

    names = [name for name in DESIGNS if name not in _LEFT_OUT]
    at = _EPSILONS[k > _LARGE] if epsilons is None else list(epsilons)
    points = frontier(k, at, _some_ls(k) if ls is None else list(ls), names)
    rows = [_row(point, k) for point in points if math.isfinite(point.added_variance)]
    marked = [_marked(name, design, k) for name, design in (highlight or {}).items()]
    marked = [row for row in marked if row["cost"] is not None]
    costs = [row["cost"] for row in [*rows, *marked]]
    # Below the cheapest designs there is room for their names.
    below = max(_ROOM, (max(costs) * _ROOM / min(costs)) ** (_NAMES_BELOW / (1 - _NAMES_BELOW)))
    vertical = Log(min(costs) / below, max(costs) * _ROOM, _HEIGHT)
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
        "setting": ", ".join(f"{key} = {figure(value)}" for key, value in settings.items()),
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
    from maskwell.views.charts.altair_extra import alt

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
    lines = [row["design"].count("\n") + 1 for row in names]
    heights = _apart([vertical.pixel(row["cost"]) for row in names], lines)
    # A text of several lines hangs from the middle of its first.
    firsts = [height - _LINE * (count - 1) / 2 for height, count in zip(heights, lines, strict=True)]
    placed = [
        {**row, "from": (row["epsilon"], row["cost"]), "epsilon": 1.05 * most, "cost": vertical.value(first)}
        for row, first in zip(names, firsts, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=shown)).encode(x=x, y=y, tooltip=_tooltip())
    layers = [
        base.mark_line(color=style.OTHER, strokeWidth=1).encode(detail="design:N"),
        base.mark_point(filled=True, opacity=1).encode(**_emphasis()),
        *_leaders(placed, "epsilon", x, y),
        alt.Chart(alt.InlineData(values=placed))
        .mark_text(align="left", dx=4, baseline="middle", lineBreak="\n", lineHeight=_LINE)
        .encode(x=x, y=y, text="design:N"),
        *_pointed_out(ours, "epsilon", lambda pixels: 1.05 * most * (1 - pixels / _WIDTH), vertical, x, y),
    ]
    return _titled(layers, "Against anybody, whatever they know: ε")


def _against_strangers(rows: Sequence[Row], marked: Sequence[Row], vertical: Log) -> Any:
    """Cost against the chance of a right guess: all designs as dots, those that nothing beats by name."""
    from maskwell.views.charts.altair_extra import alt

    shown = [{**row, "best": row["on_guess"]} for row in rows]
    across = Log(min(row["guess"] for row in [*shown, *marked]) / 1.1, 1.05, _WIDTH)
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, values=across.ticks(), grid=True)
    scale = alt.Scale(type="log", domain=[across.low, across.high], nice=False)
    x, y = alt.X("guess:Q", title="chance of a right guess", axis=axis, scale=scale), _cost_axis(vertical, None)
    labels = _below_the_frontier([row for row in shown if row["best"]], across, vertical)
    base = alt.Chart(alt.InlineData(values=shown)).encode(x=x, y=y, tooltip=_tooltip())
    layers = [
        base.mark_point(filled=True, opacity=1).encode(**_emphasis()),
        *_leaders(labels, "guess", x, y),
        alt.Chart(alt.InlineData(values=labels))
        .mark_text(align="left", color=style.ESTIMATE)
        .encode(x=x, y=y, text="design:N"),
        *_pointed_out(marked, "guess", across.value, vertical, x, y),
    ]
    return _titled(layers, "Against somebody who knows nothing")


def _titled(layers: Sequence[Any], title: str) -> Any:
    from maskwell.views.charts.altair_extra import alt

    heading = alt.TitleParams(title, fontSize=12, fontWeight="normal", offset=6)
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=heading)


def _cost_axis(vertical: Log, title: str | None) -> Any:
    from maskwell.views.charts.altair_extra import alt

    axis = alt.Axis(grid=True, labelExpr="'× ' + format(datum.value, ',~r')", values=vertical.ticks())
    scale = alt.Scale(type="log", domain=[vertical.low, vertical.high], nice=False)
    return alt.Y("cost:Q", title=title, scale=scale, axis=axis)


def _tooltip() -> list[Any]:
    from maskwell.views.charts.altair_extra import alt

    numbers = ("epsilon", "guess", "added_variance", "cost")
    return ["design:N", "setting:N", *(alt.Tooltip(f"{name}:Q", format=".4g") for name in numbers)]


def _emphasis() -> dict[str, Any]:
    from maskwell.views.charts.altair_extra import alt

    return {
        "color": alt.condition("datum.best", alt.value(style.ESTIMATE), alt.value(style.OTHER)),
        "size": alt.condition("datum.best", alt.value(26), alt.value(12)),
    }


def _merged(ends: Sequence[Row]) -> list[Row]:
    """Designs that end in the same place with their names under each other, the costliest first."""
    merged: list[Row] = []
    for row in sorted(ends, key=lambda row: -row["cost"]):
        if merged and abs(merged[-1]["cost"] / row["cost"] - 1) < _SAME:
            merged[-1] = {**row, "design": f"{merged[-1]['design']}\n{row['design']}"}
        else:
            merged.append(row)
    return merged


def _apart(heights: Sequence[float], lines: Sequence[int] = ()) -> list[float]:
    """The middles of names from the top down, so that none is on another and all are within the panel.

    ``lines`` says how many lines each name has; without it, one.
    """
    reach = [_LINE_HEIGHT * count / 2 for count in lines or [1] * len(heights)]
    placed: list[float] = []
    for i, height in enumerate(heights):
        placed.append(max(height, placed[-1] + reach[i - 1] + reach[i]) if placed else height)
    floor = _HEIGHT + _LINE_HEIGHT / 2
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], floor - reach[i])
        floor = placed[i] - reach[i]
    return placed


def _below_the_frontier(best: Sequence[Row], across: Log, vertical: Log) -> list[Row]:
    """Names of designs that nothing beats, where nothing is: below all that nothing beats, from their left to them."""
    named = []
    for name in ("local_diversity", "uniform_subsets", "minimax", "direct"):
        own = sorted((row for row in best if row["design"] == name), key=lambda row: float(row["guess"]))
        if own:
            named.append(own[len(own) // 2])
    named.sort(key=lambda row: -row["cost"])
    starts, heights = [], []
    for row in named:
        right = max(_WIDTH - across.pixel(row["guess"]), _ENDS + _LETTER * len(row["design"]))
        starts.append(right - _LETTER * len(row["design"]))
        above = [r for r in best if _WIDTH - across.pixel(r["guess"]) <= right + _ENDS]
        heights.append(vertical.pixel(min(r["cost"] for r in above)) + _LINE_HEIGHT)
    return [
        {**row, "from": (row["guess"], row["cost"]), "guess": across.value(_WIDTH - start), "cost": vertical.value(h)}
        for row, start, h in zip(named, starts, _apart(heights), strict=True)
    ]


def _leaders(labels: Sequence[Row], field: str, x: Any, y: Any) -> list[Any]:
    """Thin lines from names to what they name."""
    from maskwell.views.charts.altair_extra import alt

    ends = [
        {field: at, "cost": cost, "leader": i}
        for i, row in enumerate(labels)
        for at, cost in (row["from"], (row[field], row["cost"]))
    ]
    line = alt.Chart(alt.InlineData(values=ends)).mark_line(color=style.OTHER, strokeWidth=0.7, strokeDash=[2, 2])
    return [line.encode(x=x, y=y, detail="leader:N")]


def _pointed_out(
    ours: Sequence[Row], field: str, from_right: Callable[[float], float], vertical: Log, x: Any, y: Any
) -> list[Any]:
    """Rings, and their names in the upper right, where few designs are; ``from_right`` turns pixels into values."""
    from maskwell.views.charts.altair_extra import alt

    rings = alt.Chart(alt.InlineData(values=list(ours))).mark_point(
        color=style.TRUTH, size=110, strokeWidth=2.5, opacity=1
    )
    order = sorted(ours, key=lambda row: -row["cost"])
    heights = _apart([float(_LINE_HEIGHT)] * len(order))
    starts, names = [], []
    for row, height in zip(order, heights, strict=True):
        place = {**row, "from": (row[field], row["cost"]), "cost": vertical.value(height)}
        names.append({**place, field: from_right(_ENDS)})
        starts.append({**place, field: from_right(2 * _ENDS + 1.1 * _LETTER * len(row["design"]))})
    text = alt.Chart(alt.InlineData(values=names)).mark_text(color=style.TRUTH, align="right", fontSize=12)
    return [*_leaders(starts, field, x, y), rings.encode(x=x, y=y), text.encode(x=x, y=y, text="design:N")]
