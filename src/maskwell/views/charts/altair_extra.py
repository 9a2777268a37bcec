"""Altair, or the line that says how to get it: charts import it from here, when they are drawn."""

from maskwell.extras import require

require("Charts need", "altair", "vl_convert")

import altair as alt  # noqa: E402

__all__ = ["alt"]
