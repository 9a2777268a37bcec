"""What no figure of an audit covers: ways to learn an answer, or to spoil an estimate, that lie outside the matrix.

Each has a section of its own name in ``docs/threat_model.md``; the numbers are those of the design at hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from maskwell.auditing import Audit
from maskwell.planning import repeat
from maskwell.results.numbers import figure, limit

GUIDE = "the page Threat model of the documentation"


@dataclass(frozen=True)
class Threat:
    """The section that tells more, and one sentence."""

    section: str
    words: str


def threats(audit: Audit) -> list[Threat]:
    """What to keep in mind when this design is used, the most common first."""
    return [
        Threat("Repeated answers", _repeated(audit)),
        Threat("Several questions, several collectors", _pooled(audit)),
        Threat("False reports", _false_report(audit)),
        Threat("Side information", _side_information(audit)),
        Threat("The key of keyed masking", "Whoever holds the key of keyed masking can recover true answers."),
        Threat("Seeds", "Reports made with seed= protect nobody: who knows the seed can undo them."),
        Threat("Visible non-response", 'With missing="keep" everybody sees who gave no answer.'),
        Threat("Timing and other traces", "How long an answer took, and where it came from, is not masked."),
        Threat("The respondent's device", "What happens before masking, on a phone or on paper, is not protected."),
    ]


def _limited(limit: float, words: Callable[[], str], unlimited: str) -> str:
    """What can be said in numbers where there is a limit, and what holds where there is none."""
    return words() if math.isfinite(limit) else unlimited


def _repeated(audit: Audit) -> str:
    return _limited(
        audit.parity,
        lambda: (
            f"A second fresh report of the same answer raises the parity from {limit(audit.exact_parity)} to "
            f"{limit(repeat(audit.design, 2).exact_parity)}; keep and repeat the first report instead."
        ),
        "A second fresh report of the same answer can rule out what the first left possible; repeat the first one.",
    )


def _pooled(audit: Audit) -> str:
    return _limited(
        audit.epsilon,
        lambda: (
            f"Whoever pools a person's reports adds their ε: this question takes {limit(audit.epsilon)} of the "
            "total, and related questions tell about this one."
        ),
        "Whoever pools a person's reports can rule out more than each of them does; there is no total to state.",
    )


def _false_report(audit: Audit) -> str:
    return _limited(
        audit.report_influence,
        lambda: (
            f"One invented report can add up to {figure(audit.report_influence)} respondents to a category; a few "
            "false reports can move an estimate."
        ),
        "Invented reports cannot be told from honest ones.",
    )


def _side_information(audit: Audit) -> str:
    return _limited(
        audit.parity,
        lambda: (
            f"Who knows much already stays nearly as sure as before: the factor {limit(audit.exact_parity)} "
            "limits what the report adds, not what is known from elsewhere."
        ),
        "Who can rule some answers out from elsewhere may learn the truth from one report: the limit is infinite.",
    )
