"""Malformed and hostile requests: all are refused, and nothing of them is stored."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.collect.described import Described, try_described
from tests.collect.hostile import Attack, attack
from tests.collect.servers import postgres, server
from tests.collect.surveys import published
from tests.evidence.record import Result, Size, Table

BY_HAND: dict[Size, int] = {"reduced": 1_000, "full": 48_000}
DESCRIBED: dict[Size, int] = {"reduced": 5, "full": 250}
LEAST = 100_000
SEED = 13


def run(size: Size) -> Result:
    """Attack a service on each database."""
    rows, failures, total, stored, mistakes = [], [], 0, 0, 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        databases = {"SQLite": f"sqlite:///{folder}/a.db", "PostgreSQL": stack.enter_context(postgres()).url}
        for name, database in databases.items():
            running = stack.enter_context(server(database, folder, "--burst", "0"))
            survey = published(running)
            by_hand = Attack(survey, random.Random(SEED))
            asyncio.run(attack(by_hand, BY_HAND[size]))
            drawn = try_described(survey, DESCRIBED[size])
            failures += [f"{name}: {failure}" for failure in problems(by_hand, drawn)]
            for how, statuses, unanswered in (
                ("by hand", by_hand.statuses, by_hand.unanswered),
                ("from the description", drawn.statuses, 0),
            ):
                total += sum(statuses.values()) + unanswered
                mistakes += sum(count for status, count in statuses.items() if status >= 500)
                rows.append((name, how, sum(statuses.values()), unanswered, _shown(statuses)))
            if survey.received:
                failures.append(f"{name}: {survey.received} stored")
                stored += survey.received
            if "Traceback" in running.log.read_text():
                failures.append(f"{name}: an error in the log")
    if size == "full" and total < LEAST:
        failures.append(f"{total:,} requests, fewer than {LEAST:,}")
    return Result(
        name="collect_hostile",
        title="Malformed and hostile requests",
        question="What does the service do with requests that no page of its own sends: broken JSON, impossible "
        "reports, forged surveys, wrong tokens, other sites, odd methods and paths, broken HTTP, and whatever "
        "schemathesis draws from the API description, within its schemas and outside of them?",
        criterion="None is stored, none is answered with status 500, and none that is hostile by construction with a "
        "status below 400 other than a redirect; what is drawn from the description is answered as the description "
        "says. No traceback in the log.",
        sizes={
            "by hand, on each database": BY_HAND[size],
            "examples an operation": DESCRIBED[size],
            "seed": SEED,
        },
        findings=[f"{total:,} requests on SQLite and PostgreSQL: {stored} stored, {mistakes} answers of status 500."],
        tables=[Table("Answers by status.", ("database", "requests", "answered", "unanswered", "statuses"), rows)],
        failures=failures,
    )


def problems(by_hand: Attack, drawn: Described) -> list[str]:
    """What must not be."""
    taken = sum(count for status, count in by_hand.statuses.items() if 200 <= status < 300)
    wrong = {
        "hostile requests were taken": taken,
        "answers of status 500": sum(c for s, c in (by_hand.statuses + drawn.statuses).items() if s >= 500),
    }
    return [f"{count} {what}" for what, count in wrong.items() if count] + drawn.failures


def _shown(statuses: Counter[int]) -> str:
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items()))
