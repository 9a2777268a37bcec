"""What an analyst needs beside the reports: the matrix and the scores, as tables of numbers."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwell.designs.base import Design
from maskwell.errors import DesignError
from maskwell.tables.labels import report_text, text_of

MOST_CELLS = 1_000_000


def require_listable(design: Design, name: str) -> None:
    """An error for a design with more reports than anybody would list."""
    if design.variables or design.report_count() * design.k > MOST_CELLS:
        raise DesignError(
            f"the matrix of {name!r} has more than {MOST_CELLS:,} cells, or is of several variables; hand over "
            "design.to_json() and codebook(design) instead, or each variable by itself."
        )
    alike = [text for text, count in Counter(report_texts(design)).items() if count > 1]
    if alike:
        raise DesignError(
            f"two reports of {name!r} would both be written {alike[0]!r}, as a category has a comma in its name; plan "
            "with other names."
        )


def report_texts(design: Design) -> list[str]:
    """Every report as text; of a set its members, separated by commas."""
    return [str(report_text(label, design.categories)) for label in design.report_labels()]


def matrix_csv(design: Design) -> str:
    """P[report, truth]: a line for each report, a column for each true answer, floats that read back exactly."""
    return _csv(design, design.matrix())


def scores_csv(design: Design) -> str:
    """The scores of the linear estimator: the mean of a column over all reports estimates the share of its answer."""
    return _csv(design, score_table(design))


def score_table(design: Design) -> Any:
    """The scores of every report, in the order of ``design.report_labels()``."""
    return design.scores("linear").rows(design.pack_rows(np.arange(design.report_count())))


def _csv(design: Design, rows: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["report", *(str(text_of(category)) for category in design.categories)])
    lines: Sequence[Sequence[float]] = np.asarray(rows, float).tolist()
    for label, row in zip(report_texts(design), lines, strict=True):
        writer.writerow([label, *(repr(value) for value in row)])
    return text.getvalue()
