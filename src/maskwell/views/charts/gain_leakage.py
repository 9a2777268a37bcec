"""What guesses are worth to a reader with an aim of his own: without a report, and the best one with a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maskwell.results.numbers import figure, limit
from maskwell.tables.labels import text_of
from maskwell.views.charts import style
from maskwell.views.charts.intervals import MOST

if TYPE_CHECKING:
    from maskwell.auditing.gain_leakage import GainLeakage

_WITHOUT, _WITH = "a guess without a report", "the best guess from a report"


def gain_chart(leakage: GainLeakage) -> Any:
    """A bar for what each guess gains without a report, and a line at what the best one gains with a report."""
    from maskwell.views.charts.altair_extra import alt

    order = leakage._order()[:MOST]
    names = [text_of(leakage.names[at]) for at in order]
    bars = [
        {"guess": name, "gain": float(leakage.exact_worths[at]), "what": _WITHOUT}
        for name, at in zip(names, order, strict=True)
    ]
    after = [{"gain": leakage.posterior_vulnerability, "what": _WITH}]
    colour = alt.Color("what:N", scale=alt.Scale(domain=[_WITHOUT, _WITH], range=[style.ESTIMATE, style.TRUTH]))
    x = alt.X("gain:Q", title="average gain of the reader", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6))
    y = alt.Y("guess:N", sort=names, title=None, axis=alt.Axis(labelFontSize=12, labelOverlap=False))
    shown = alt.Chart(alt.InlineData(values=bars)).mark_bar(opacity=style.BAR, height=13).encode(x=x, y=y, color=colour)
    best = alt.Chart(alt.InlineData(values=after)).mark_rule(strokeWidth=2.5).encode(x=x, color=colour)
    lines = [
        f"A report multiplies the best average gain by {figure(leakage.multiplicative)}; for no aim and prior by more "
        f"than {limit(leakage.exact_bound)}.",
        f"The {len(order)} largest of {leakage.guesses:,} guesses." if len(order) < leakage.guesses else "",
    ]
    heading = alt.TitleParams("What a report is worth to a reader", subtitle=[line for line in lines if line])
    return alt.layer(shown, best).properties(width=400, height=alt.Step(24), title=heading, config=style.config())
