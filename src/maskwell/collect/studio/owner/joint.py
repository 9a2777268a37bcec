"""Two questions together: how the answers to one are shared among those who gave each answer to the other."""

from __future__ import annotations

import math
from typing import Any

from maskwell.collect.http.answers import Refusal
from maskwell.collect.service import Published
from maskwell.collect.studio.owner.watched import label_of
from maskwell.collect.surveys.document import Question
from maskwell.collect.surveys.estimates import LEVEL
from maskwell.collect.surveys.tallies import Counting, Tallies
from maskwell.demands import LDP
from maskwell.errors import EstimationError
from maskwell.inference import estimate, independence_test
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.inference.joint import JointEstimate
from maskwell.planning import plan
from maskwell.reports.joint import side_by_side
from maskwell.reports.tally import Tally

_MOST_CELLS = 400


def can_be_joined(published: Published) -> list[tuple[int, Question]]:
    """The questions of one variable, with their numbers."""
    return [
        (number, question)
        for number, question in enumerate(published.survey.questions, start=1)
        if not question.design.variables
    ]


def joined(tallies: Tallies, published: Published, first: int, second: int) -> dict[str, Any]:
    """The joint table of two questions by their numbers, their association, and the test of independence."""
    questions = dict(can_be_joined(published))
    if first == second or first not in questions or second not in questions:
        raise Refusal(422, "choose two different questions.")
    given, shown = questions[first], questions[second]
    if given.design.k * shown.design.k > _MOST_CELLS:
        raise Refusal(422, f"together they have more than {_MOST_CELLS} pairs of answers; use the export.")
    try:
        tally = tallies.joint(published, [given.name, shown.name])
    except Counting as reason:
        return {"counting": str(reason)}
    if tally.n < published.survey.least_batch:
        raise Refusal(409, f"nothing is shown before {published.survey.least_batch} people have answered both.")
    return joint_figures(tally, given, shown)


def warm_up() -> None:
    """Load what the first joint table needs, so that nobody waits for it."""
    designs = {name: plan(2, LDP(1)) for name in ("a", "b")}
    reports = side_by_side({name: design.mask([0, 1] * 50) for name, design in designs.items()})
    joint_figures(reports.tally(), *(Question(name, "", design) for name, design in designs.items()))


def joint_figures(tally: Tally, given: Question, shown: Question) -> dict[str, Any]:
    """What the page shows of the joint tally of two questions."""
    table = estimate(tally)
    assert isinstance(table, JointEstimate)
    groups, unclear = _groups(table, given, shown)
    return {
        "n": tally.n,
        "given": given.name,
        "shown": shown.name,
        "groups": groups,
        "unclear": unclear,
        "first_labels": [label_of(label) for label in given.design.categories],
        "second_labels": [label_of(label) for label in shown.design.categories],
        "cells": _cells(table, given, shown),
        "association": _association(table),
        "test": independence_test(tally).to_dict(),
    }


def _groups(table: JointEstimate, given: Question, shown: Question) -> tuple[list[dict[str, Any]], list[str]]:
    """The shares of the second question in each group of the first, and the groups that are too small to be seen."""
    alone = table.marginal(given.name)
    lows = alone.interval(LEVEL, "wald")[:, 0].tolist()
    groups, unclear = [], []
    for label, share, low in zip(given.design.categories, alone.proportions.tolist(), lows, strict=True):
        if low <= 0:
            unclear.append(label_of(label))
            continue
        rows = []
        for other in shown.design.categories:
            among = table.conditional({shown.name: other}, {given.name: label})
            low, high = among.interval(LEVEL)
            rows.append({"label": label_of(other), "estimate": among.value, "low": low, "high": high})
        groups.append({"label": label_of(label), "share": share, "rows": rows})
    return groups, unclear


def _cells(table: JointEstimate, given: Question, shown: Question) -> list[list[dict[str, float]]]:
    """The share of each pair among all, with half the width of its interval."""
    z, columns = normal_quantile(LEVEL), shown.design.k
    cells = [
        {"estimate": value, "margin": z * error}
        for value, error in zip(table.proportions.tolist(), table.standard_errors.tolist(), strict=True)
    ]
    return [cells[i * columns : (i + 1) * columns] for i in range(given.design.k)]


def _association(table: JointEstimate) -> dict[str, Any] | None:
    try:
        found = table.association().to_dict(LEVEL)
    except EstimationError:
        return None
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in found.items()}
