"""Keyed and seeded releases are frozen: stored plans give the files of ``tests/vectors/release.json`` again."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from maskwell.release import ReleasePlan
from tests.vectors.write_release import drawn, moves_of, rows_of

FILE = Path(__file__).parent / "vectors" / "release.json"
# Another digest means another format: no stored plan would give its file again.
DIGEST = "6e7cd0458982582c4e26ed2eee81e2a8a7a64e088682465c2153aee11d6d114e"
CASES = json.loads(FILE.read_bytes())["cases"]


def cases(*kinds: str) -> list[Any]:
    return [pytest.param(case, id=f"{case['kind']}-{i}") for i, case in enumerate(CASES) if case["kind"] in kinds]


def test_the_vectors_are_those_that_were_frozen() -> None:
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == DIGEST


@pytest.mark.parametrize("case", cases("moves", "rows"))
def test_words_become_the_same_reports(case: dict[str, Any]) -> None:
    plan = moves_of(case) if case["kind"] == "moves" else rows_of(case)
    assert drawn(plan, case["truths"], case["words"]) == case["reports"]


@pytest.mark.parametrize("case", cases("release"))
def test_a_stored_plan_gives_its_file_again(case: dict[str, Any]) -> None:
    plan: Any = ReleasePlan.from_json(case["plan"])
    assert plan.to_json() == case["plan"]
    secret = {} if case["key"] is None else {"key": bytes.fromhex(case["key"]), "ids": case["ids"]}
    again = plan.apply(case["table"], **secret)
    released = again if plan.method == "pram" else again.table
    assert released == case["released"] != case["table"]
