"""The picture of a test: how often chance alone would give a statistic as large as the one that was found."""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.numerics.chi_square import chi_square_tail
from maskwell.results.numbers import figure
from maskwell.views.charts import style

LEVEL = 0.05
"""The customary level, drawn for comparison."""
_LEAST = 1e-6
"""A smaller chance is drawn as this one.."""


def tail_chart(found: HypothesisTest) -> Any:
    """The tail of the law where the statistic has one, else the p-value on a scale of chances."""
    lines = [f"{found.method}: statistic {figure(found.statistic)}", f"Compared with {found.reference}."]
    title = f"Chance alone gives this or more with p = {figure(found.p_value)}"
    if _has_tail(found):
        return _tail(found, title, lines)
    return _scale(found, title, lines)


def _has_tail(found: HypothesisTest) -> bool:
    return found.df is not None and not (found.law or found.permutations or found.draws)


def _tail(found: HypothesisTest, title: str, lines: list[str]) -> Any:
    from maskwell.views.charts.altair_extra import alt

    assert found.df is not None
    df, mean, statistic = float(found.df), found.mean, max(found.statistic, 0.0)
    # Four standard deviations of the law: its mean is its degrees of freedom, its variance twice as much.
    end = max(1.15 * statistic, mean * (df + 4 * np.sqrt(2 * df)))
    curve = [
        {"statistic": x, "chance": chi_square_tail(df, x / mean)}
        for x in sorted({*np.linspace(0, end, 121).tolist(), statistic})
    ]
    x = alt.X(
        "statistic:Q", title="statistic", axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=[0, end], nice=False)
    )
    y = alt.Y(
        "chance:Q",
        title="chance of this or more",
        axis=alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=5, grid=True),
        scale=alt.Scale(domain=[0, 1]),
    )
    law = alt.Chart(alt.InlineData(values=curve))
    seen = alt.Chart(alt.InlineData(values=[{"statistic": statistic, "chance": found.p_value}]))
    level = alt.Chart(alt.InlineData(values=[{"chance": LEVEL}]))
    layers = [
        level.mark_rule(color=style.OTHER, strokeDash=[3, 3]).encode(y="chance:Q"),
        law.mark_line(color=style.ESTIMATE, strokeWidth=2).encode(x=x, y=y),
        seen.mark_point(color=style.TRUTH, filled=True, size=80, opacity=1).encode(x="statistic:Q", y="chance:Q"),
    ]
    lines.append("Line: the law if the hypothesis holds. Orange: what was found. Dashed: 5 %.")
    heading = alt.TitleParams(title, subtitle=lines)
    return alt.layer(*layers).properties(width=380, height=220, title=heading, config=style.config())


def _scale(found: HypothesisTest, title: str, lines: list[str]) -> Any:
    from maskwell.views.charts.altair_extra import alt

    low, high = (found.p_value + sign * 2 * found.p_error for sign in (-1, 1))
    row: dict[str, Any] = {
        "name": "p-value",
        "p": float(np.clip(found.p_value, _LEAST, 1)),
        "low": float(np.clip(low, _LEAST, 1)),
        "high": float(np.clip(high, _LEAST, 1)),
    }
    scale = alt.Scale(type="log", domain=[min(1e-3, row["low"]), 1.0], nice=False)
    axis = alt.Axis(format="~g", values=[10.0**power for power in range(-6, 1)])
    base = alt.Chart(alt.InlineData(values=[row])).encode(y=alt.Y("name:N", title=None))
    level = alt.Chart(alt.InlineData(values=[{"p": LEVEL}]))
    layers = [
        level.mark_rule(color=style.OTHER, strokeDash=[3, 3]).encode(x="p:Q"),
        base.mark_rule(color=style.TRUTH, strokeWidth=3, opacity=style.BAR).encode(
            x=alt.X("low:Q", title="chance of this or more, if the hypothesis holds", scale=scale, axis=axis),
            x2="high:Q",
        ),
        base.mark_point(color=style.TRUTH, filled=True, size=80, opacity=1).encode(x="p:Q"),
    ]
    lines.append("Dashed: 5 %." + (" Bar: two standard errors of p." if found.p_error else ""))
    if found.p_value < _LEAST:
        lines.append(f"Chances below {_LEAST:.0e} are drawn there.")
    heading = alt.TitleParams(title, subtitle=lines)
    return alt.layer(*layers).properties(width=380, height=alt.Step(40), title=heading, config=style.config())
