"""Pictures of a release: the proof of its limit, what changed, and how little of it a table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwell.release.evaluation.comparison import Compared, Comparison
from maskwell.release.evaluation.public_view import PublicTable
from maskwell.release.identification.audit import BlockAudit, IdentificationAudit, match_risk
from maskwell.release.optimum.risk_target import RiskTarget
from maskwell.results.numbers import figure, number, percent, share
from maskwell.views.charts import style

FEW = 24
"""Rows of a picture; a table beside it has the others."""
_MOST_BLOCKS = 40
_MOST_MATCHES = 6
_TWO_SIDED = 1.96


def proof_chart(audit: IdentificationAudit) -> Any:
    """The chance that a match is right by the number of records found, for the riskiest blocks, against the limit."""
    from maskwell.views.charts.altair_extra import alt

    rows = [row for block in riskiest(audit, _MOST_BLOCKS) for row in _risk_rows(block)]
    x = alt.X("matches:O", title="released records found with a person's true keys", axis=alt.Axis(labelAngle=0))
    y = alt.Y(
        "risk:Q",
        title="chance that the pick is right",
        scale=alt.Scale(domain=[0, 1.05 * max(float(audit.xi), *(row["risk"] for row in rows))], nice=False),
        axis=alt.Axis(labelExpr=style.PERCENT_LABELS, grid=True, tickCount=5),
    )
    kinds = sorted({row["keys held by"] for row in rows})
    colour = alt.Color("keys held by:N", scale=alt.Scale(domain=kinds, range=[style.ESTIMATE, style.OTHER]))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=x, y=y, color=colour, tooltip=["block:N", "keys held by:N", "matches:O", alt.Tooltip("risk:Q", format=".5f")]
    )
    limit = [{"limit": float(audit.xi), "text": f"limit {share(audit.xi)}"}]
    line = alt.Chart(alt.InlineData(values=limit)).encode(y="limit:Q")
    layers = [
        line.mark_rule(color=style.TRUTH, strokeWidth=2),
        line.mark_text(align="right", dy=-8, color=style.TRUTH).encode(x=alt.value("width"), text="text:N"),
        base.mark_line(strokeWidth=1.2, opacity=style.BAR).encode(detail="block:N"),
        base.mark_point(filled=True, size=28, opacity=0.8),
    ]
    verdict = "stays below" if audit.holds else "EXCEEDS"
    drawn = len({row["block"] for row in rows})
    some = f"The {drawn} riskiest of {len(audit.blocks)} blocks" if drawn < len(audit.blocks) else "Every block"
    lines = [f"{some}, exactly computed; a line for each frequency that cells of the block have."]
    return _finished(layers, f"A match is right with a chance that {verdict} the limit", lines, 420, 240)


def riskiest(audit: IdentificationAudit, most: int) -> list[tuple[int, BlockAudit]]:
    """Blocks with their numbers, the largest risk first, one for each composition."""
    order = sorted(enumerate(audit.blocks, start=1), key=lambda item: -item[1].risk)
    seen: dict[tuple[tuple[int, int], ...], tuple[int, BlockAudit]] = {}
    for i, block in order:
        seen.setdefault(tuple(sorted(block.sizes.items())), (i, block))
    return list(seen.values())[:most]


def _risk_rows(item: tuple[int, BlockAudit]) -> list[dict[str, Any]]:
    i, block = item
    return [
        {
            "block": f"block {i}: {block.cells} cells",
            "keys held by": f"{size} record{'s' * (size > 1)} in truth",
            "matches": a,
            "risk": float(match_risk(block.sizes, block.theta, size, a)),
        }
        for size in block.sizes
        for a in range(1, min(_MOST_MATCHES, block.records) + 1)
    ]


def changed_chart(comparison: Comparison) -> Any:
    """The share of records with another value, by column."""
    from maskwell.views.charts.altair_extra import alt

    rows = [
        {"column": name, "share": count / comparison.n, "label": f"{percent(count / comparison.n, 2)}  ({count:,})"}
        for name, count in comparison.changed_by_column.items()
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=_names([row["column"] for row in rows], "column"))
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=5, title="share of records with another value")
    layers = [
        base.mark_bar(color=style.ESTIMATE, height=12).encode(x=alt.X("share:Q", axis=axis)),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    title = f"{percent(comparison.changed, 2)} of the records changed in some column"
    return _finished(layers, title, [], 380, alt.Step(24))


def difference_chart(table: Compared) -> Any:
    """Released minus true counts of one column, beside what the release and what sampling do to them."""
    from maskwell.views.charts.altair_extra import alt

    order = np.sort(np.argsort(-table.before, kind="stable")[:FEW])
    rows = [
        {
            "level": table.levels[0][i],
            "difference": int(table.difference[i]),
            "release": _TWO_SIDED * float(table.added_error[i]),
            "sampling": _TWO_SIDED * float(table.sampling_error[i]),
            "label": f"{number(int(table.difference[i]), 0)} of {int(table.before[i]):,}",
        }
        for i in order.tolist()
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=_names([row["level"] for row in rows], "level"))

    def band(field: str, colour: str, name: str, thick: int, opacity: float) -> Any:
        made = base.transform_calculate(low=f"-datum.{field}", what=f"'{name}'")
        mark = made.mark_bar(height=thick, opacity=opacity)
        return mark.encode(
            x=alt.X("low:Q", title="records", axis=alt.Axis(tickCount=6)),
            x2=f"{field}:Q",
            color=alt.Color("what:N", scale=colours, title=None),
        )

    names = ["sampling, 95 %", "release, 95 %", "what happened"]
    colours = alt.Scale(domain=names, range=[style.OTHER, style.ESTIMATE, style.TRUTH])
    dots = base.transform_calculate(what=f"'{names[2]}'").mark_point(filled=True, size=45, opacity=1)
    layers = [
        band("sampling", style.OTHER, names[0], 13, 0.45),
        band("release", style.ESTIMATE, names[1], 7, 0.55),
        dots.encode(x="difference:Q", color=alt.Color("what:N", scale=colours, title=None)),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    some = f"The {FEW} most frequent of {len(table.before)} categories." if len(table.before) > FEW else ""
    return _finished(layers, f"{table.columns[0]}: released minus true counts", [some], 360, alt.Step(22))


def association_chart(comparison: Comparison) -> Any:
    """Cramér's V before and after, with its sampling error."""
    from maskwell.views.charts.altair_extra import alt

    found = sorted(comparison.associations, key=lambda one: -one.before)[:FEW]
    names = ["before, with its sampling error", "after"]
    rows = [
        {
            "pair": " × ".join(one.columns),
            "before": one.before,
            "after": one.after,
            "low": max(one.before - _TWO_SIDED * one.sampling_error, 0.0),
            "high": min(one.before + _TWO_SIDED * one.sampling_error, 1.0),
            "label": f"{one.before:.3f} → {one.after:.3f}",
        }
        for one in found
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=_names([row["pair"] for row in rows], "pair"))
    colour = alt.Scale(domain=names, range=[style.TRUTH, style.ESTIMATE])
    shape = alt.Scale(domain=names, range=[style.UPRIGHT, "circle"])

    def points(field: str, name: str, **look: Any) -> Any:
        made = base.transform_calculate(what=f"'{name}'").mark_point(opacity=1, **look)
        return made.encode(
            x=f"{field}:Q",
            color=alt.Color("what:N", scale=colour, title=None),
            shape=alt.Shape("what:N", scale=shape, title=None),
        )

    layers = [
        base.mark_rule(color=style.TRUTH, strokeWidth=6, opacity=0.5).encode(
            x=alt.X("low:Q", title="Cramér's V", scale=alt.Scale(zero=True)), x2="high:Q"
        ),
        points("before", names[0], filled=False, size=150, strokeWidth=2.5),
        points("after", names[1], filled=True, size=45),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    every = len(comparison.associations)
    some = f"The {len(found)} strongest of {every} pairs." if len(found) < every else ""
    return _finished(layers, "Associations before and after", [some], 340, alt.Step(22))


def cross_chart(table: Compared) -> Any:
    """Released minus true counts of two columns, in standard errors of sampling."""
    from maskwell.views.charts.altair_extra import alt

    rows = []
    error = np.maximum(table.sampling_error, 1.0)
    for i, first in enumerate(table.levels[0]):
        for j, second in enumerate(table.levels[1]):
            shift = float(table.difference[i, j] / error[i, j])
            counts = f"{int(table.before[i, j]):,} → {int(table.after[i, j]):,}"
            rows.append({"first": first, "second": second, "shift": shift, "counts": counts})
    y = _names(list(table.levels[0]), "first", title=table.columns[0])
    axis = alt.Axis(orient="top", labelAngle=-60, domain=False, ticks=False, labelOverlap=False)
    x = alt.X("second:N", sort=list(table.levels[1]), title=table.columns[1], axis=axis)
    # Clear in the middle, so that no difference is pale on paper and dark on a dark screen; each side in its own hue.
    ends = [style.TRUTH, _clear(style.TRUTH), _clear(style.ESTIMATE), style.ESTIMATE]
    scale = alt.Scale(domain=[-3, -1e-9, 1e-9, 3], range=ends, clamp=True, interpolate="rgb")
    rect = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect()
        .encode(
            x=x,
            y=y,
            color=alt.Color("shift:Q", scale=scale, legend=alt.Legend(format="+.0f", gradientLength=160)),
            tooltip=["first:N", "second:N", "counts:N", alt.Tooltip("shift:Q", format="+.2f")],
        )
    )
    lines = ["Released minus true count of every cell, in standard errors of sampling (1 record where that is less)."]
    title = " × ".join(table.columns)
    return _finished([rect], title, lines, alt.Step(26), alt.Step(20))


def _clear(colour: str) -> str:
    """A colour that hardly shows."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.06)"


def released_chart(table: PublicTable) -> Any:
    """The counts of a released file with 95 % bars for sampling and release together."""
    from maskwell.views.charts.altair_extra import alt

    added = table.added_error
    total = None if added is None else np.sqrt(table.sampling_error**2 + added**2)
    order = np.sort(np.argsort(-table.counts, kind="stable")[:FEW])
    rows = []
    for i in order.tolist():
        count = int(table.counts[i])
        reach = 0.0 if total is None else _TWO_SIDED * float(total[i])
        rows.append(
            {
                "level": ", ".join(table.labels[i]),
                "count": count,
                "lower": max(count - reach, 0.0),
                "upper": count + reach,
                "label": f"{count:,}" + (f" ± {reach:,.0f}" if total is not None else ""),
            }
        )
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=_names([row["level"] for row in rows], "level"))
    axis = alt.Axis(title="records in the released file", tickCount=5)
    layers = [
        base.mark_rule(color=style.ESTIMATE, strokeWidth=4, opacity=style.BAR).encode(
            x=alt.X("lower:Q", axis=axis, scale=alt.Scale(zero=True)), x2="upper:Q"
        ),
        base.mark_point(filled=True, size=45, color=style.ESTIMATE, opacity=1).encode(x="count:Q"),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    some = f"The {FEW} most frequent of {len(table.counts)} categories." if len(table.counts) > FEW else ""
    bars = "" if total is None else "Bars: 95 % intervals, sampling and release together."
    return _finished(layers, " × ".join(table.columns), [bars, some], 380, alt.Step(22))


def transition_chart(labels: Sequence[str], matrix: Any, title: str) -> Any:
    """A transition matrix as a heat map: released values down, true ones across, in percent."""
    from maskwell.views.charts.altair_extra import alt

    rows = [
        {"released": labels[i], "true": labels[j], "chance": float(matrix[i, j]), "text": _percent(float(matrix[i, j]))}
        for i in range(len(labels))
        for j in range(len(labels))
    ]
    short = max(map(len, labels)) <= 6
    axis = alt.Axis(orient="top", labelAngle=0 if short else -60, domain=False, ticks=False, labelOverlap=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("true:N", sort=list(labels), title="true value", axis=axis),
        y=_names(list(labels), "released", title="released value"),
        tooltip=["released:N", "true:N", alt.Tooltip("chance:Q", format=".4%")],
    )
    shade = alt.Opacity("chance:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.85])).legend(None)
    layers = [
        base.mark_rect(color=style.ESTIMATE, stroke=style.OTHER, strokeWidth=0.3).encode(opacity=shade),
        base.transform_filter("datum.chance > 0").mark_text(fontSize=10).encode(text="text:N"),
    ]
    return _finished(layers, title, ["In percent; every column sums to 100."], alt.Step(44), alt.Step(22))


def target_chart(found: RiskTarget) -> Any:
    """The risk that remains by ε, the target, and the ε that was chosen."""
    from maskwell.views.charts.altair_extra import alt

    x, y = alt.X("epsilon:Q", title="ε"), alt.Y("risk:Q", title=f"{found.measure}: correct matches to expect")
    curve = alt.Chart(alt.InlineData(values=[{"epsilon": at, "risk": risk} for at, risk in found.curve]))
    target = alt.Chart(alt.InlineData(values=[{"risk": found.target}]))
    chosen = alt.Chart(alt.InlineData(values=[{"epsilon": found.epsilon, "risk": found.after}]))
    layers = [
        curve.mark_line(color=style.ESTIMATE, strokeWidth=2.5).encode(x=x, y=y),
        target.mark_rule(color=style.TRUTH, strokeDash=[5, 3]).encode(y=y),
        chosen.mark_point(color=style.TRUTH, filled=True, size=80, opacity=1).encode(x=x, y=y),
    ]
    title = f"ε = {figure(found.epsilon)} leaves {figure(found.after)} of {figure(found.before)} correct matches"
    lines = [f"{' × '.join(found.columns)}, post-randomized as informatively as can be. Dashed: the target."]
    return _finished(layers, title, lines, 420, 260)


def _percent(chance: float) -> str:
    return "< 0.1" if 0 < chance < 0.001 else f"{100 * chance:#.3g}".rstrip(".")


def _names(order: Sequence[Any], field: str, title: str | None = None) -> Any:
    from maskwell.views.charts.altair_extra import alt

    axis = alt.Axis(labelFontSize=12, labelOverlap=False)
    return alt.Y(f"{field}:N", sort=list(order), title=title, axis=axis)


def _finished(layers: list[Any], title: str, lines: Sequence[str], width: Any, height: Any) -> Any:
    from maskwell.views.charts.altair_extra import alt

    heading = alt.TitleParams(title, subtitle=[line for line in lines if line])
    return alt.layer(*layers).properties(width=width, height=height, title=heading, config=style.config())
