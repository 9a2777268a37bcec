"""`maskwell serve --demo`: a sample survey that simulated respondents answer over HTTP."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import httpx

from maskwell.collect.sample import DOCTOR, DRUGS, INCOMES, people
from tests.cli.schema import assert_fits
from tests.collect.servers import free_port, server
from tests.collect.surveys import bearer


def test_the_people_are_a_thousand_whose_answers_go_together() -> None:
    everybody = people()
    assert len(everybody) == 1000
    assert Counter(person["income"] for person in everybody) == dict(zip(INCOMES, (240, 380, 270, 110), strict=True))
    avoided = Counter(person["income"] for person in everybody if person["doctor"] == DOCTOR[0])
    assert avoided[INCOMES[0]] / 240 > 4 * avoided[INCOMES[3]] / 110
    assert set(Counter(person["drugs"] for person in everybody)) == set(DRUGS)
    assert len({number * 619 % 1000 for number in range(1000)}) == 1000


def test_a_sample_survey_is_served_and_answered(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "maskwell", "serve", "--demo", "--port", str(port)]
    out = tmp_path / "out"
    with out.open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, cwd=tmp_path)
    try:
        survey, token = _told(out)
        url = f"http://127.0.0.1:{port}"
        progress: dict[str, int] = {}
        end = time.monotonic() + 60
        while progress.get("shown", 0) < 20 and time.monotonic() < end:
            time.sleep(0.2)
            progress = httpx.get(f"{url}/api/surveys/{survey}/progress", headers=bearer(token)).json()
        assert progress["shown"] >= 20
        estimates = httpx.get(f"{url}/api/surveys/{survey}/estimates", headers=bearer(token)).json()
        assert list(estimates) == ["income", "doctor", "drugs"]
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0
    assert "the sample is gone" in out.read_text()
    # Nothing is left behind, and each token was said once.
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert out.read_text().count(token) == 1


def _told(out: Path) -> tuple[str, str]:
    """The survey and its owner's token, when they have been said."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = re.search(r"/respond/([a-z2-7]{16})\n.*owner's token, shown this once: (mw_\S+)\n", out.read_text())
        if found:
            return found.group(1), found.group(2)
        time.sleep(0.1)
    raise AssertionError(out.read_text())


def test_a_sample_in_a_database_of_ones_own_stays(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/kept.db"
    with server(database, tmp_path, "--demo", "--json") as running:
        assert running.stop() == 0
    (told,) = next(tmp_path.glob("*.out")).read_text().splitlines()
    assert_fits("serve", json.loads(told))
    with closing(sqlite3.connect(tmp_path / "kept.db")) as kept:
        assert kept.execute("select count(*) from surveys").fetchone() == (1,)
