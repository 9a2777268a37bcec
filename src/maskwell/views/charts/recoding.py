"""The picture of a recoding: what each step leaves of the risk, beside what it leaves of the information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maskwell.release.recoding.effects import Effect
from maskwell.release.recoding.recode import Recoded
from maskwell.results.numbers import percent
from maskwell.views.charts import style

_MOST_LETTERS = 46
"""A longer name of a step would be wider than a phone."""


def recoding_chart(recoded: Recoded) -> Any:
    """A panel for each step: matches and rare records that are left, entropy and association that are kept."""
    from maskwell.views.charts.altair_extra import alt

    rows = _rows(recoded.effects, recoded.k)
    names = list(dict.fromkeys(row["measure"] for row in rows))
    steps = list(dict.fromkeys(row["step"] for row in rows))
    axis = alt.Axis(labelExpr=style.PERCENT_LABELS, tickCount=5, title="of the file as it is")
    colours = alt.Scale(domain=["risk", "information"], range=[style.TRUTH, style.ESTIMATE])
    base = alt.Chart().encode(y=alt.Y("measure:N", sort=names, title=None, axis=alt.Axis(labelFontSize=12)))
    layers = [
        base.mark_bar(height=11, opacity=style.BAR).encode(
            x=alt.X("share:Q", axis=axis, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("kind:N", scale=colours, title=None),
        ),
        base.mark_text(align="left", dx=10).encode(x=alt.value("width"), text="label:N"),
    ]
    header = alt.Header(labelAnchor="start", labelPadding=2, labelFontWeight="bold", labelLimit=380)
    whole = (
        alt.layer(*layers, data=alt.InlineData(values=rows))
        .properties(width=380, height=alt.Step(18))
        .facet(alt.Facet("step:N", sort=steps, title=None, header=header), columns=1, spacing=12)
    )
    first, last = recoded.effects[0], recoded.effects[-1]
    heading = alt.TitleParams(
        f"{_part(last.cells, first.cells)} of the matches are left, {percent(last.entropy, 0)} of the entropy",
        subtitle=[
            "Matches: right ones to expect if every record is matched.",
            f"Rare: records of combinations that fewer than {recoded.k} share.",
            "Entropy, association: what the keys keep.",
        ],
    )
    return whole.properties(title=heading, config=style.config())


def _rows(effects: Sequence[Effect], k: int) -> list[dict[str, Any]]:
    first = effects[0]
    rows = []
    for effect in effects[1:] or effects:
        step = effect.what if len(effect.what) <= _MOST_LETTERS else f"{effect.what[: _MOST_LETTERS - 1]}…"
        figures = [
            ("matches", "risk", effect.cells / first.cells, f"{effect.cells:,}"),
            (f"below {k}", "risk", effect.below_k / max(first.below_k, 1), f"{effect.below_k:,}"),
            ("entropy", "information", effect.entropy, percent(effect.entropy, 0)),
            ("association", "information", effect.association, percent(effect.association, 0)),
        ]
        rows += [
            {"step": step, "measure": measure, "kind": kind, "share": min(share, 1.0), "label": label}
            for measure, kind, share, label in figures
        ]
    return rows


def _part(left: int, before: int) -> str:
    return percent(left / before, 0)
