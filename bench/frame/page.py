"""The page and the pictures of all parts: ``docs/performance.md`` beside its JSON and SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.frame.results import PartResult, as_json
from bench.frame.rows import Row
from maskwell.whole_files import complete_files

_COLUMNS = ("what", "figure", "beside", "goal")
_INTRODUCTION = """# Performance

Speed and memory beside other programs and beside what the machine can do at all. `make bench` measures everything
again and writes this page; `make bench ONLY=masking` measures one part. Each work runs in a process of its own; a
program and its peer take turns, and a ratio is formed within each turn, so that it says more than the rates beside it.
A figure is the median over the rounds, with the least and the greatest in brackets; M/s is millions of records a
second. How a part is measured is in `bench/`."""


def write(parts: dict[str, PartResult], folder: Path) -> None:
    """The page, its data, and the picture of the ratios, all or none."""
    names = ("performance.md", "performance.json", "performance.svg")
    with complete_files([folder / name for name in names]) as (page, data, picture):
        page.write(as_page(parts).encode())
        data.write(as_json(parts).encode())
        picture.write(as_picture(parts).encode())


def as_page(parts: dict[str, PartResult]) -> str:
    """Markdown: the ratios as a picture, then a table for each part."""
    sections = [_INTRODUCTION, "![How many times as fast as each peer](performance.svg)"]
    for part in parts.values():
        versions = ", ".join(f"{name} {number}" for name, number in part.versions.items())
        sections += [
            f"## {part.title}",
            part.about,
            _table([row.cells() for row in part.rows]),
            f"`make bench ONLY={part.name}`, {part.date}, {part.seconds} s. {part.machine}; {versions}.",
        ]
    return "\n\n".join(sections) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [_COLUMNS, ["---"] * len(_COLUMNS), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_picture(parts: dict[str, PartResult]) -> str:
    """Every ratio to a peer that has a goal, with its spread and the goal, on a logarithmic axis."""
    import altair as alt
    import vl_convert

    shown = [_mark(row) for part in parts.values() for row in part.rows if _drawn(row)]
    base = alt.Chart(alt.Data(values=shown)).encode(
        alt.Y("what:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, ticks=False, domain=False))
    )
    marks = alt.Axis(format=",", values=[10**power for power in range(8)])
    x = alt.X("middle:Q", title="times as fast", axis=marks).scale(type="log")
    layers = (
        base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=alt.X("low:Q").scale(type="log"), x2="high:Q"),
        base.mark_tick(color="#b3460f", thickness=3, size=14).encode(x=alt.X("goal:Q").scale(type="log")),
        base.mark_circle(size=70, opacity=1).encode(x=x),
    )
    chart = alt.layer(*layers).properties(
        width=360,
        title=alt.TitleParams(
            "How many times as fast as each peer",
            subtitle="dot: median of the rounds; bar: least to greatest; orange stroke: the goal",
            anchor="start",
        ),
    )
    return vl_convert.vegalite_to_svg(chart.configure_view(stroke=None).to_json())


def _drawn(row: Row) -> bool:
    return row.ratio is not None and row.goal is not None and row.goal.at_least is not None


def _mark(row: Row) -> dict[str, Any]:
    assert row.ratio is not None
    assert row.goal is not None
    ratio = row.ratio._asdict()
    return {"what": f"{row.what} beside {row.beside}", "goal": row.goal.at_least, **ratio}
