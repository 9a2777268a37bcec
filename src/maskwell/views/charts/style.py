"""How all charts look: colours that hold on white paper and, lightened, on a dark screen; fonts and quiet axes."""

from typing import Any

# Words in these colours have a contrast of 4.5 to white paper, and a bar or a line with BAR of their strength one of 3.
ESTIMATE = "#2272c0"
TRUTH = "#c74308"
OTHER = "#697077"
INK = "#212529"
BAR = 0.75

# What words, lines and points of these colours become on a dark screen. Areas and cells keep theirs: light words stand
# on them.
ON_DARK = {ESTIMATE: "#6cb0f0", TRUTH: "#ff922b", OTHER: "#a3abb3"}
_LIGHTENED = ":is(.mark-text, .mark-symbol, .mark-line, .mark-rule, .role-legend)"

# A point of this shape is an upright stroke: it marks a spot without hiding what lies behind it.
UPRIGHT = "M0,-1L0,1"
# Percentages with the space that the text has, too.
PERCENT_LABELS = "format(100 * datum.value, '~g') + ' %'"
# Differences of shares, in percentage points.
POINT_LABELS = "datum.value ? format(100 * datum.value, '+~g') : '0'"
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
        "axisX": {"labelOverlap": "parity", "labelSeparation": 8, "labelFlush": False},
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


def dark_rules(within: str = "") -> str:
    """CSS that lightens charts inside the elements of a selector; a page says when it is dark."""
    return "\n".join(
        f'{within} .chart {_LIGHTENED} [{paint}="{colour}"] {{ {paint}: {light}; }}'.lstrip()
        for colour, light in ON_DARK.items()
        for paint in ("fill", "stroke")
    )


def vega_lite_version() -> str:
    """The version of Vega-Lite that the installed Altair writes, as vl-convert names it."""
    from maskwell.views.charts.altair_extra import alt

    return ".".join(str(alt.SCHEMA_VERSION).removeprefix("v").split(".")[:2])
