"""A running survey in figures: how many answered on which day, and each question's estimates with their noise.

All of it is counted from whole batches, most of which were counted before: nothing here reads a report twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maskwell.collect.service import Published, Service
from maskwell.collect.surveys.document import Question
from maskwell.collect.surveys.estimates import LEVEL, question_estimate
from maskwell.collect.surveys.tallies import Counting, Tallies
from maskwell.inference.intervals.closed_form import normal_quantile
from maskwell.reports.tally import Tally
from maskwell.tables.labels import text_of

MOST_SHOWN = 30


def watched(service: Service, tallies: Tallies, published: Published) -> dict[str, Any]:
    """Everything that the page of a running survey shows."""
    progress = service.progress(published)
    least = published.survey.least_batch
    if not progress["shown"]:
        return {**progress, "counting": None, "questions": []}
    try:
        counted = tallies.by_question(published)
    except Counting as reason:
        return {**progress, "shown": 0, "counting": str(reason), "questions": []}
    first = next(iter(counted.values()))
    shown = [question_figures(question, counted[question.name], least) for question in published.survey.questions]
    return {**progress, "shown": first.n + first.missing, "counting": None, "questions": shown}


def question_figures(question: Question, tally: Tally, least: int) -> dict[str, Any]:
    """One question: its estimates and intervals, and how wide they would be if everybody had been asked openly."""
    found = question_estimate(tally, least)
    about = {"name": question.name, "text": question.text, "answered": found["n"]}
    if "withheld" in found:
        return {**about, "withheld": found["withheld"]}
    p, limits = np.asarray(found["estimates"]), np.asarray(found["intervals"])
    order = np.arange(len(p)) if len(p) <= MOST_SHOWN else np.argsort(-p, kind="stable")[:MOST_SHOWN]
    inside = np.clip(p, 0, 1)
    sampling = normal_quantile(LEVEL) * np.sqrt(inside * (1 - inside) / found["n"])
    rows = [
        {
            "label": label_of(found["categories"][j]),
            "estimate": float(p[j]),
            "low": float(limits[j, 0]),
            "high": float(limits[j, 1]),
            "sampling": float(sampling[j]),
        }
        for j in order.tolist()
    ]
    return {**about, "missing": found["missing"], "left_out": len(p) - len(rows), "rows": rows, "noise": found["noise"]}


def label_of(category: Any) -> str:
    """A category as text; of several variables all labels."""
    return ", ".join(map(text_of, category)) if isinstance(category, tuple) else text_of(category)
