"""How all charts look: colours that hold on white paper and on a dark screen, fonts and quiet axes."""

from typing import Any

ESTIMATE = "#2878c8"
TRUTH = "#e8590c"
OTHER = "#868e96"
INK = "#212529"

# A point of this shape is an upright stroke: it marks a spot without hiding what lies behind it.
UPRIGHT = "M0,-1L0,1"
# Percentages with the space that the text has, too.
PERCENT_LABELS = "format(100 * datum.value, '~g') + ' %'"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"


def config(ink: str = INK) -> dict[str, Any]:
    """The configuration of a chart whose text has this colour; a web page passes ``currentColor`` and decides later."""
    faint = {"gridColor": ink, "gridOpacity": 0.12, "domainColor": ink, "domainOpacity": 0.4, "tickColor": ink}
    return {
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            **faint,
            "tickOpacity": 0.4,
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 11,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "labelLimit": 260,
        },
        "axisX": {"labelOverlap": "greedy", "labelSeparation": 8, "labelFlush": False},
        "axisY": {"grid": False, "domain": False, "ticks": False, "labelPadding": 8},
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "labelFontWeight": "bold"},
        "legend": {
            "orient": "top",
            "direction": "horizontal",
            "title": None,
            "labelColor": ink,
            "labelFontSize": 12,
            "labelLimit": 400,
            "symbolOpacity": 1,
            "symbolSize": 120,
        },
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": ink,
            "fontSize": 16,
            "offset": 14,
            "subtitleColor": ink,
            "subtitleFontSize": 12,
            "subtitlePadding": 6,
            "subtitleLineHeight": 16,
        },
        "text": {"color": ink, "fontSize": 11},
    }


def vega_lite_version() -> str:
    """The version of Vega-Lite that the installed Altair writes, as vl-convert names it."""
    from maskwell.views.charts.altair_extra import alt

    return ".".join(str(alt.SCHEMA_VERSION).removeprefix("v").split(".")[:2])
