"""A comparison of designs as one web page."""

from __future__ import annotations

import math

from maskwell.designs.base import Design
from maskwell.ordering import Domination
from maskwell.results.numbers import figure
from maskwell.views.charts.breach_regions import parity_chart
from maskwell.views.charts.matrix import has_matrix_chart, matrix_chart
from maskwell.views.charts.plans.frontier import frontier_chart, has_frontier_chart
from maskwell.views.comparison import Comparison, listed, proof_table
from maskwell.views.pages.audit import made_by
from maskwell.views.pages.layout import Beside, Block, Figure, Section, Table, Text, page
from maskwell.views.terminal.compare import MATCHED_HEADER, matched, side_by_side

_MOST_ROWS = 12
_MOST_PROOF = 40


def compare_page(comparison: Comparison) -> str:
    """The page as text."""
    names = comparison.names
    designs = {name: audit.design for name, audit in comparison.audits.items()}
    k = next(iter(designs.values())).k
    sections = [
        Section("Verdicts", [Text(words) for words in comparison.verdicts()]),
        Section("Side by side", list(_tables(comparison))),
        Section("Privacy against precision", [*_frontier(designs), *_regions(comparison)]),
        *_matrices(comparison),
        _order(comparison),
        *_matches(comparison),
    ]
    lead = f"{listed(names)}: the same question, {k:,} categories, {len(names)} designs."
    return page("Designs compared", sections, lead=lead, footer=made_by("compare"))


def _frontier(designs: dict[str, Design]) -> list[Block]:
    k = next(iter(designs.values())).k
    return [Figure(frontier_chart(k, highlight=designs))] if has_frontier_chart(k) else []


def _tables(comparison: Comparison) -> list[Table]:
    align = "<" + ">" * len(comparison.names)
    rows = [[name, *values] for group in side_by_side(comparison).values() for name, values in group]
    return [Table("Privacy, leakage and precision", ["figure", *comparison.names], rows, align)]


def _regions(comparison: Comparison) -> list[Block]:
    parities = {name: audit.parity for name, audit in comparison.audits.items()}
    bounded = {name: parity for name, parity in parities.items() if math.isfinite(parity)}
    unbounded = [name for name in parities if name not in bounded]
    if not bounded:
        return []
    note = [f"{listed(unbounded)} {'rules' if len(unbounded) == 1 else 'rule'} nothing out."] if unbounded else []
    title = "Changes of belief that each design rules out"
    return [Figure(parity_chart(bounded, title, ["Shaded: no report leads there, whatever else is known.", *note]))]


def _matrices(comparison: Comparison) -> list[Section]:
    blocks: list[Block] = []
    for name, audit in comparison.audits.items():
        if has_matrix_chart(audit.design) and audit.design.report_count() <= _MOST_ROWS:
            title = f"{name}: what people with each true answer report, in percent"
            blocks.append(Figure(matrix_chart(audit.design, title)))
    return [Section("The matrices", [Beside(blocks)])] if blocks else []


def _order(comparison: Comparison) -> Section:
    rows: list[list[str]] = []
    proofs: list[Block] = []
    for (better, worse), found in comparison.order.items():
        verdict = "not decided" if isinstance(found, str) else "yes" if found.holds else "no"
        rows.append([f"{better} as good as {worse}?", verdict, comparison.reason(better, worse)])
        if not isinstance(found, str):
            proofs += _proof(better, worse, found)
    header = ["for every analysis, is", "verdict", "because"]
    return Section(
        "Which one serves every analysis better",
        [
            Text(
                "One design is at least as good as another for every analysis exactly if the other's reports can be "
                "drawn from its own without a look at the truth. Each verdict has a proof that can be checked by hand."
            ),
            Table("Each against each", header, rows, "<<="),
            *proofs,
        ],
    )


def _proof(better: str, worse: str, found: Domination) -> list[Block]:
    table = proof_table(found)
    if table is None or max(table.shape) > _MOST_PROOF:
        return []
    if found.holds:
        caption = f"Proof: how to draw a report of {worse} (down) from one of {better} (across)"
    else:
        caption = (
            f"Proof: a bet that {worse} wins and {better} cannot (payoff by report of {worse}, down, and truth, across)"
        )
    header = ["", *(str(j + 1) for j in range(table.shape[1]))]
    rows = [[str(i + 1), *(figure(value) for value in line)] for i, line in enumerate(table.tolist())]
    return [Table(caption, header, rows, "<" + ">" * table.shape[1], folded=True)]


def _matches(comparison: Comparison) -> list[Section]:
    if not comparison.matches:
        return []
    table = Table("The minimax design with the same added variance", MATCHED_HEADER, matched(comparison), "<>>>>>")
    note = Text(
        "At equal added variance two designs estimate every population equally well in total, so that privacy is all "
        "that differs. Right guesses: by somebody without prior knowledge.",
        "note",
    )
    return [Section("What the same precision could buy", [table, note])]
