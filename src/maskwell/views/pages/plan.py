"""A plan as one web page: the design, what it gives and costs, and what else there would be."""

from __future__ import annotations

import math

from maskwell import designs
from maskwell.auditing import audit
from maskwell.designs.base import Design
from maskwell.planning import half_width, sample_size, why_taken
from maskwell.results.numbers import counted, number
from maskwell.tables.labels import shown
from maskwell.views.charts.breach_regions import breach_chart
from maskwell.views.charts.plans.frontier import frontier_chart, has_frontier_chart
from maskwell.views.charts.plans.precision import precision_chart
from maskwell.views.pages.audit import headline, made_by, origin, outside, sentence, warnings
from maskwell.views.pages.layout import Beside, Block, Figure, Section, Table, Text, page
from maskwell.views.wording import privacy_words
from maskwell.words import explain

_USUAL = 1000
_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5)
_WIDTHS = (0.01, 0.02, 0.05)


def plan_page(design: Design, n: int | None = None) -> str:
    """The page as text; ``n`` is the number of respondents to expect."""
    result = audit(design)
    estimable = math.isfinite(design.added_variance)
    demand = f"The demand: {design.demand.describe()}. " if design.demand else ""
    lead = f"{demand}The answer: the {design.title} design for {design.k:,} categories, {shown(design.categories)}."
    sections = [
        Section("", [headline(result), Text(sentence(privacy_words(design)))]),
        *([warnings(result)] if result.warnings else []),
        Section("What respondents can be told", [Text(str(explain(design, "respondent")).replace("\n", " "))]),
        *([_precision(design, n)] if estimable else []),
        Section("What it protects from", [Figure(breach_chart(result))]),
        _among_all(design),
        outside(result),
        origin(design),
    ]
    return page(f"Plan: {design.title}", sections, lead=lead, footer=made_by("plan"))


def _among_all(design: Design) -> Section:
    reason = why_taken(design)
    blocks: list[Block] = [Text(reason)] if reason else []
    if has_frontier_chart(design.k):
        blocks.append(Figure(frontier_chart(design.k, highlight={"this design": design})))
    return Section("Among all designs", blocks)


def _precision(design: Design, n: int | None) -> Section:
    unmasked = designs.direct(design.k)
    needed = [
        [
            f"± {counted(round(100 * width), 'point', 'points')}",
            *(f"{sample_size(of, width, proportion=share):,}" for share in (0.1, 0.5) for of in (design, unmasked)),
        ]
        for width in _WIDTHS
    ]
    header = ["95 % interval", "share 10 %, masked", "directly", "share 50 %, masked", "directly"]
    blocks: list[Block] = [
        Beside([Figure(precision_chart(design, n)), _expected(design, unmasked, n or _USUAL)]),
        Table("Respondents that a wanted precision needs", header, needed, "<>>>>"),
        Text(
            "For the category and the population that fare worst; half-widths are planned on the safe side, and hold "
            "if people answer as the design asks them to.",
            "note",
        ),
    ]
    return Section("What it costs", blocks)


def _expected(design: Design, unmasked: Design, n: int) -> Table:
    rows = [
        [
            f"{100 * share:g} %",
            *(f"± {number(100 * half_width(of, n, proportion=share), 2)}" for of in (design, unmasked)),
        ]
        for share in _SHARES
    ]
    header = ["a category held by", "masked, points", "asked directly"]
    return Table(f"With {n:,} respondents: half-widths of 95 % intervals", header, rows, "<>>")
