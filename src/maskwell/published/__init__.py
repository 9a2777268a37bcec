"""What papers print, as data beside the library's own values: `maskwell reproduce` and the tests read it.

A new source is a module with a tuple ``ROWS``, entered in ``_SOURCES``.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from maskwell.published import (
    atsusaka_stevenson_2023,
    ayed_2020,
    chai_nayak_2018,
    heck_moshagen_2018,
    nayak_2020,
    nayak_zhai_2019,
    rappor,
    wang_ding_2021,
)
from maskwell.published.model import Comparison, Explanation, Row, Simulated, compare_row
from maskwell.published.text import counts, report, totals

_SOURCES = (
    nayak_zhai_2019.ROWS,
    chai_nayak_2018.ROWS,
    rappor.ROWS,
    nayak_2020.ROWS,
    wang_ding_2021.ROWS,
    ayed_2020.ROWS,
    heck_moshagen_2018.ROWS,
    atsusaka_stevenson_2023.ROWS,
)

__all__ = [
    "Comparison",
    "Explanation",
    "Row",
    "Simulated",
    "compare",
    "counts",
    "report",
    "rows",
    "to_records",
    "totals",
]


def rows() -> list[Row]:
    """Every printed value, by source and place."""
    return [row for source in _SOURCES for row in source]


def compare(selected: Iterable[Row] | None = None) -> list[Comparison]:
    """Compute our value of each row, all rows by default, and judge whether the printed one agrees."""
    return [compare_row(row) for row in (rows() if selected is None else selected)]


def to_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """One dictionary per comparison, ready for JSON."""
    return [comparison.to_dict() for comparison in comparisons]
