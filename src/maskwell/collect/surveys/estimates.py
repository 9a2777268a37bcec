"""What the owner of a survey is shown: for each question what ``maskwell estimate --json`` prints."""

from __future__ import annotations

from typing import Any

from maskwell.collect.service import Published
from maskwell.collect.surveys.tallies import Tallies, TooFew, nothing
from maskwell.demands import LDP
from maskwell.errors import EstimationError
from maskwell.inference import estimate
from maskwell.inference.documents import estimate_document
from maskwell.planning import plan
from maskwell.reports.tally import Tally

LEVEL = 0.95


def estimates(tallies: Tallies, published: Published) -> dict[str, dict[str, Any]]:
    """The estimates of all questions; refused before there is a whole batch."""
    by_question = tallies.by_question(published)
    least = published.survey.least_batch
    require_batch(by_question, least)
    return {name: question_estimate(tally, least) for name, tally in by_question.items()}


def question_estimate(tally: Tally, least: int) -> dict[str, Any]:
    """The estimate from one tally, or why there is none."""
    if tally.n < least:
        return {"n": None, "withheld": f"fewer than {least} reports to this question."}
    try:
        result = estimate(tally)
        kind = result.default_interval
        limits = result.interval(LEVEL, kind)
    except EstimationError as error:
        return {"n": tally.n, "withheld": str(error)}
    asked = {"level": LEVEL, "interval": kind, "simultaneous": False}
    return estimate_document(result, limits, [tally.randomness], asked)


def warm_up() -> None:
    """Load what the first estimate needs, so that nobody waits for it."""
    design = plan(2, LDP(1))
    question_estimate(Tally.added([Tally.from_counts(design, [1] * design.report_count()), nothing(design)]), 1)


def require_batch(by_question: dict[str, Tally], least: int) -> None:
    """An error before there is a whole batch of submissions."""
    if not any(tally.n + tally.missing for tally in by_question.values()):
        raise TooFew(least)
