"""An audit for a terminal: every figure with its meaning, then what the figures hide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from maskwell.auditing import Audit
from maskwell.tables.labels import shown
from maskwell.views.audit_figures import Finding, findings
from maskwell.views.threats import GUIDE, threats
from maskwell.views.wording import privacy_words

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAME_WIDTH, _VALUE_WIDTH = 18, 26


def audit_view(audit: Audit) -> RenderableType:
    """What a design really gives, and what to keep in mind."""
    from rich.console import Group

    design = audit.design
    parts: list[RenderableType] = [
        f"{design.title} design for {design.k:,} categories: {shown(design.categories)}",
        f"fingerprint {design.fingerprint[:12]}",
        f"Privacy: {privacy_words(design)}.",
        *_listed("Warnings", audit.warnings),
    ]
    for group, rows in findings(audit).items():
        parts += ["", f"{group}:", _figures(rows)]
    parts += _listed(f"Outside the matrix (see {GUIDE})", [threat.words for threat in threats(audit)])
    return Group(*parts)


def _figures(rows: Sequence[Finding]) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(width=_NAME_WIDTH, no_wrap=True)
    table.add_column(width=_VALUE_WIDTH)
    table.add_column()
    for row in rows:
        table.add_row(row.name, row.value, row.meaning)
    return table


def _listed(title: str, sentences: Iterable[str]) -> list[RenderableType]:
    from rich.table import Table

    items = list(sentences)
    if not items:
        return []
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    for sentence in items:
        table.add_row("-", sentence)
    return ["", f"{title}:", table]
