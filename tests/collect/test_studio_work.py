"""The work of the studio as a program and as commands: both run on the exported archive and give the same estimates."""

from __future__ import annotations

import csv
import os
import runpy
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest

from maskwell.collect import Client
from tests.collect.servers import Server
from tests.collect.studio import visitor
from tests.collect.surveys import DRUGS, INCOME, Survey, document, published

HOSTILE = "x\"\n'''$(touch stolen)`id` \\ # {0}"


@pytest.fixture(scope="module")
def answered(sqlite_service: Server) -> Survey:
    """A survey with names that no program may take for anything but names."""
    content = document(title=HOSTILE)
    content["questions"][0] |= {"name": HOSTILE, "categories": [*DRUGS, HOSTILE]}
    survey = published(sqlite_service, content)
    with httpx.Client() as http:
        client = Client(sqlite_service.url, http=http)
        asked = client.survey(survey.id)
        for i in range(40):
            answers = {HOSTILE: [*DRUGS, HOSTILE][i % 4], "income": INCOME[i % 8] if i % 5 else None}
            client.submit_reports(survey.id, client.mask(asked, answers))
    return survey


def fetched(server: Server, survey: Survey, folder: Path, kind: str) -> None:
    """Download the program, the commands and the export, as a browser would."""
    with visitor(server, survey.owner_token) as owner:
        for name, address in (
            ("work.py", f"/studio/surveys/{survey.id}/work.py"),
            ("work.sh", f"/studio/surveys/{survey.id}/work.sh"),
            ("export.zip", f"/api/surveys/{survey.id}/export?format={kind}"),
        ):
            answer = owner.get(address)
            assert answer.status_code == 200
            assert answer.headers["content-disposition"].startswith("attachment")
            (folder / name).write_bytes(answer.content)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_program_gives_the_estimates_of_the_service(
    sqlite_service: Server, answered: Survey, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(sqlite_service, answered, tmp_path, kind)
    monkeypatch.setattr(sys, "argv", ["work.py", str(tmp_path / "export.zip")])
    monkeypatch.chdir(tmp_path)
    made = runpy.run_path(str(tmp_path / "work.py"))
    for name, shown in answered.get("estimates").json().items():
        assert made["estimates"][name].n == shown["n"]
        assert np.allclose(made["estimates"][name].proportions, shown["estimates"], rtol=0, atol=1e-12)
        assert np.allclose(made["estimates"][name].interval(), shown["intervals"], rtol=0, atol=1e-12)
    assert made["joint"].table.shape == (4, 8)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export.zip", "work.py", "work.sh"]


def test_the_commands_give_the_estimates_of_the_service(
    sqlite_service: Server, answered: Survey, tmp_path: Path
) -> None:
    fetched(sqlite_service, answered, tmp_path, "csv")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "maskwell").write_text(f'#!/bin/sh\nexec {sys.executable} -m maskwell "$@"\n')
    (programs / "maskwell").chmod(0o755)
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "work.sh", "export.zip", "csv"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert not list(tmp_path.rglob("stolen"))
    shown = answered.get("estimates").json()
    for stem, name in (("01_x_touch_stolen_id_0", HOSTILE), ("02_income", "income")):
        with (tmp_path / answered.id / f"{stem}_estimates.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert np.allclose([float(row["estimate"]) for row in rows], shown[name]["estimates"], rtol=0, atol=1e-12)
    assert "score: statistic" in done.stdout
