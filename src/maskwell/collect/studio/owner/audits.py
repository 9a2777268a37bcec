"""The audit of a question as its page shows it."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Any, get_args

from maskwell.auditing import audit
from maskwell.collect.studio.planning.demands import Asked
from maskwell.collect.surveys.document import Question
from maskwell.designs.base import Design
from maskwell.errors import DesignError
from maskwell.results.numbers import percent
from maskwell.views.audit_figures import findings
from maskwell.views.threats import threats
from maskwell.views.wording import privacy_words, report_words
from maskwell.words.explanation import Audience, explain

_MOST_ROWS, _MOST_COLUMNS = 40, 12


def audited(question: Question) -> dict[str, Any]:
    """Everything that the page shows of a question's design."""
    design = question.design
    result = audit(design)
    demand = design.demand
    curves = None if demand is None else Asked(demand, "").curves()
    return {
        "design": design,
        "privacy": privacy_words(design),
        "reports": report_words(design),
        "demand": demand.describe() if demand else "none stated",
        "holds": result.demand_holds,
        "findings": findings(result),
        "warnings": result.warnings,
        "words": {who: [s.text for s in explain(design, who).sentences] for who in get_args(Audience)},
        "threats": threats(result),
        "breach": json.dumps({"parity": design.parity if math.isfinite(design.parity) else None, "curves": curves}),
        "matrix": _matrix(design),
        "source": _source(design),
    }


@lru_cache(maxsize=16)
def audit_file_of(design: Design) -> str:
    """The audit as one page to keep; its charts take a second or two, and a published design never changes."""
    from maskwell.views.pages.audit import audit_page

    return audit_page(audit(design))


def _matrix(design: Design) -> dict[str, Any] | None:
    """The chance of each report for each true answer, where it can be read."""
    if design.variables or design.k > _MOST_COLUMNS or design.report_count() > _MOST_ROWS:
        return None
    rows = [
        {"report": _report_words(report), "chances": [percent(float(value), 1) for value in row]}
        for report, row in zip(design.report_labels(), design.matrix().tolist(), strict=True)
    ]
    return {"truths": [str(label) for label in design.categories], "rows": rows}


def _report_words(report: Any) -> str:
    if isinstance(report, tuple | frozenset | set | list):
        return "{" + ", ".join(map(str, report)) + "}"
    return str(report)


def _source(design: Design) -> list[str]:
    try:
        return design.citation().splitlines()
    except DesignError:
        return ["a matrix of your own"]
