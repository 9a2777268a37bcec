"""The audit of a design as one web page."""

from __future__ import annotations

import math
from datetime import datetime
from typing import get_args

from maskwell.auditing import Audit
from maskwell.designs.base import Design
from maskwell.designs.claims import checked_parameters
from maskwell.errors import DesignError
from maskwell.results.numbers import figure, limit, share
from maskwell.tables.labels import shown
from maskwell.views.audit_figures import findings
from maskwell.views.charts.beliefs import belief_chart
from maskwell.views.charts.breach_regions import breach_chart
from maskwell.views.charts.matrix import has_matrix_chart, matrix_chart
from maskwell.views.pages.layout import Beside, Block, Facts, Figure, Section, Table, Text, page
from maskwell.views.threats import GUIDE, threats
from maskwell.views.wording import privacy_words
from maskwell.words.explanation import Audience, explain

_MOST_REPORTS = 2_000
_PROOF = {False: "does a report prove the true answer", True: "of reports prove the true answer"}


def audit_page(audit: Audit) -> str:
    """The page as text."""
    design = audit.design
    sections = [
        Section("", [headline(audit)]),
        *([warnings(audit)] if audit.warnings else []),
        plain_words(design),
        pictures(audit),
        Section("All figures", list(figure_tables(audit))),
        outside(audit),
        origin(design),
    ]
    what = f"The {design.title} design for {design.k:,} categories: {shown(design.categories)}."
    lead = f"{what} {sentence(privacy_words(design))}"
    return page(f"Audit: {design.title}", sections, lead=lead, footer=made_by("audit"))


def sentence(words: str) -> str:
    """Words as a sentence of their own."""
    return f"{words[0].upper() if words[0] != 'ε' else words[0]}{words[1:]}."


def made_by(command: str, source: str = "Every figure comes from the exact integers that the sampler uses.") -> str:
    """When the page was made and from what, and that it is complete in itself."""
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return f"Made by maskwell {command} on {made}. {source} This page loads nothing from any network."


def headline(audit: Audit) -> Facts:
    """The four numbers that matter most."""
    blind = max(audit.prior) if audit.prior else 1 / audit.design.k
    value = audit.design.worth
    bounded = math.isfinite(audit.parity)
    exposed = float(audit.exposure)
    return Facts(
        [
            (
                f"× {limit(audit.exact_parity)}" if bounded else "no limit",
                "the most that a report can multiply anybody's odds by",
            ),
            (share(exposed) if exposed else "never", _PROOF[bool(exposed)]),
            (share(audit.guess_probability), f"of guesses from a report are right; {share(blind)} without one"),
            (
                f"× {figure(1 / value)}" if value else "not estimable",
                "the respondents of a direct question, categories equally common"
                if value
                else "are some single categories",
            ),
        ]
    )


def warnings(audit: Audit) -> Section:
    """What a figure alone would hide."""
    return Section("Warnings", [Text(words) for words in audit.warnings])


def plain_words(design: Design) -> Section:
    """The design for those whom it concerns."""
    blocks: list[Block] = []
    for who in get_args(Audience):
        blocks += [Text(f"For the {who}:", "note"), Text(str(explain(design, who)).replace("\n", " "))]
    return Section("In plain words", blocks)


def pictures(audit: Audit) -> Section:
    """What a report does to a belief, and the matrix where it can be read."""
    squares = [Figure(breach_chart(audit))]
    if _has_beliefs(audit.design):
        squares.append(Figure(belief_chart(audit)))
    blocks: list[Block] = [Beside(squares)] if len(squares) > 1 else [*squares]
    if has_matrix_chart(audit.design):
        blocks.append(Figure(matrix_chart(audit.design)))
    return Section("What a report can do to a belief", blocks)


def _has_beliefs(design: Design) -> bool:
    return design.channel.truths_alike or design.report_count() <= _MOST_REPORTS


def figure_tables(audit: Audit) -> list[Table]:
    """Every figure with its meaning."""
    return [
        Table(group, ["figure", "value", "what it means"], [[r.name, r.value, r.meaning] for r in rows], "<>=")
        for group, rows in findings(audit).items()
    ]


def outside(audit: Audit) -> Section:
    """What no design can do."""
    return Section(
        "Outside the matrix",
        [
            Table(
                "What to keep in mind when this design is used",
                ["threat", "for this design"],
                [[threat.section, threat.words] for threat in threats(audit)],
                "<=",
            ),
            Text(f"Each has a section in {GUIDE}.", "note"),
        ],
    )


def origin(design: Design) -> Section:
    """Where the design comes from, and how to recognise it."""
    rows = [
        ["fingerprint", design.fingerprint],
        ["kind", design.kind],
        ["parameters", ", ".join(f"{key} = {value}" for key, value in checked_parameters(design).items()) or "none"],
        ["added variance", figure(design.added_variance)],
    ]
    try:
        rows += [["source", line] for line in design.citation().splitlines()]
    except DesignError:
        rows.append(["source", "a matrix of your own"])
    return Section("The design", [Table("How to recognise it", ["", ""], rows, "<=")])
