"""What an operator relies on: a token shown once, a stop that loses nothing, back-up and restore, a quiet log."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import uuid
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest

from maskwell.collect import Client
from tests.collect.faults import submissions
from tests.collect.load import send_all
from tests.collect.servers import Server, new_database, server, start_server
from tests.collect.surveys import Survey, bearer, document, published, submission


def maskwell(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "maskwell", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def another(database: str, folder: Path) -> str:
    """The address of another new database of the same kind."""
    if database.startswith("sqlite"):
        return f"sqlite:///{folder}/{uuid.uuid4().hex}.db"
    return new_database(database)


def test_a_copy_taken_under_load_is_a_whole_database(service: Server, tmp_path: Path) -> None:
    survey = published(service)
    before = list(islice(submissions(1), 300))
    asyncio.run(send_all(service.url, survey.id, before))
    copy = tmp_path / "copy"

    async def copy_under_load() -> Any:
        sending = asyncio.create_task(send_all(service.url, survey.id, islice(submissions(2), 1500)))
        await asyncio.sleep(0.1)
        done = await asyncio.to_thread(maskwell, "serve", "--database", service.database, "--backup", str(copy))
        await sending
        return done

    done = asyncio.run(copy_under_load())
    assert done.returncode == 0, done.stderr
    assert copy.stat().st_mode & 0o77 == 0
    place = another(service.database, tmp_path)
    done = maskwell("serve", "--database", place, "--restore", str(copy))
    assert done.returncode == 0, done.stderr
    with server(place, tmp_path, "--burst", "0", token=service.administrator_token) as running:
        restored = Survey(running, survey.id, survey.owner_token)
        progress = restored.get("progress").json()
        assert 300 <= progress["received"] == sum(progress["by_day"].values())
        assert restored.get("estimates").json()["drugs"]["n"] == progress["shown"]
        # Whatever was acknowledged before the copy is in it, and is still known by its id.
        content = json.loads(before[0].body)
        assert restored.submit(content).status_code == 200
        assert restored.submit().status_code == 201
        # The administrator's token is the same; no new one is shown.
        assert published(running).id != survey.id
    # What is there is never overwritten.
    for wrong in (("--backup", str(copy)), ("--restore", str(copy))):
        refused = maskwell("serve", "--database", place, *wrong)
        assert refused.returncode == 2
        assert len(refused.stderr.strip().splitlines()) == 1


def test_a_wrong_copy_is_refused_in_one_line(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database")
    for arguments in (
        ("--database", f"sqlite:///{tmp_path}/new.db", "--restore", str(text)),
        ("--database", f"sqlite:///{tmp_path}/new.db", "--restore", str(tmp_path / "missing")),
        ("--database", f"sqlite:///{tmp_path}/missing.db", "--backup", str(tmp_path / "copy")),
        ("--database", f"sqlite:///{text}", "--backup", str(tmp_path / "copy")),
        ("--database", f"sqlite:///{text}", "--backup", str(tmp_path / "a"), "--restore", str(text)),
        ("--database", "mysql://a/b", "--backup", str(tmp_path / "copy")),
    ):
        done = maskwell("serve", *arguments)
        assert done.returncode == 2, arguments
        assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text"]


def test_a_stop_answers_what_is_under_way_and_stores_it(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/a.db"
    running = start_server(database, tmp_path, "--burst", "0")
    survey = published(running)

    async def stop_under_load() -> Any:
        first = asyncio.Event()
        load = send_all(running.url, survey.id, islice(submissions(3), 4000), heard=lambda *_: first.set())
        sending = asyncio.create_task(load)
        await asyncio.wait_for(first.wait(), 120)
        code = await asyncio.to_thread(running.stop)
        return code, await sending

    code, sent = asyncio.run(stop_under_load())
    assert code == 0
    assert "Stopped" in next(tmp_path.glob("*.out")).read_text()
    assert sent.acknowledged
    with server(database, tmp_path, "--burst", "0") as again:
        assert Survey(again, survey.id, survey.owner_token).received == len(sent.acknowledged)


def test_the_administrators_token_is_shown_once(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/a.db"
    shown = []
    for options in ((), (), ("--new-token",)):
        running = start_server(database, tmp_path, *options)
        shown.append(running.administrator_token)
        running.stop()
        next(tmp_path.glob("*.out")).unlink()
    assert shown[0].startswith("mw_")
    assert shown[1] == ""
    assert shown[2].startswith("mw_")
    assert shown[2] != shown[0]
    with server(database, tmp_path) as running:
        for token, status in ((shown[0], 403), (shown[2], 201)):
            answer = httpx.post(f"{running.url}/api/surveys", json=document(), headers=bearer(token), timeout=60)
            assert answer.status_code == status


def test_a_second_service_on_the_same_database_is_refused(service: Server) -> None:
    done = maskwell("serve", "--database", service.database, "--port", "0")
    assert done.returncode == 2
    assert "another service" in done.stderr


def test_a_second_service_is_refused_before_the_first_has_written_anything(postgresql: str, tmp_path: Path) -> None:
    database = new_database(postgresql)
    start_server(database, tmp_path).stop()
    # With its administrator's token there already, a service writes nothing when it starts.
    with server(database, tmp_path) as first:
        done = maskwell("serve", "--database", database, "--port", "0")
        assert done.returncode == 2
        assert "another service is writing to this database; stop it first" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
        assert httpx.get(f"{first.url}/healthz").status_code == 200


def test_the_client_has_every_call(service: Server) -> None:
    with Client(service.url, service.administrator_token) as administrator:
        assert administrator.healthy()
        assert "maskwell_stored_submissions" in administrator.metrics()
        made = administrator.create_survey(document(least_batch=2))
        for drugs in ("never", "often"):
            sent = administrator.submit(made["id"], {"drugs": drugs, "income": "c"})
            assert sent["reports"].keys() == {"drugs", "income"}
            # The same reports again are the same submission.
            administrator.submit_reports(made["id"], sent["reports"], submission=sent["submission"])
    with Client(service.url, made["owner_token"]) as owner:
        assert owner.progress(made["id"])["received"] == 2
        assert owner.estimates(made["id"])["drugs"]["n"] == 2
        assert owner.export(made["id"], format="csv").startswith(b"PK")
        assert owner.close(made["id"])["state"] == "closed"
    with Client("http://127.0.0.1:9") as nobody:
        assert not nobody.healthy()


def test_the_documentation_is_a_page_of_its_own(sqlite_service: Server) -> None:
    page = httpx.get(f"{sqlite_service.url}/docs")
    assert page.status_code == 200
    description = httpx.get(f"{sqlite_service.url}/openapi.json").json()
    for path in description["paths"]:
        assert path in page.text
    assert "http://" not in page.text.replace(sqlite_service.url, "")
    assert "https://" not in page.text
    assert "<script" not in page.text
    assert httpx.get(f"{sqlite_service.url}/docs.css").headers["content-type"].startswith("text/css")


def test_the_log_has_a_line_a_request_and_nothing_about_anyone(sqlite_service: Server) -> None:
    survey = published(sqlite_service)
    content = submission(1, [2, 5])
    headers = {"User-Agent": "Somebody/1.0", "X-Forwarded-For": "203.0.113.9", "Referer": "https://where.example/"}
    assert survey.submit(content, headers=headers).status_code == 201
    survey.submit(content={"submission": content["submission"], "reports": {"drugs": "the truth"}}, headers=headers)
    httpx.get(f"{survey.address}/estimates?token={survey.owner_token}", headers=headers)
    log = sqlite_service.log.read_text()
    lines = [json.loads(line) for line in log.strip().splitlines()]
    assert all(line.keys() == {"day", "method", "route", "status", "milliseconds"} for line in lines)
    database = Path(sqlite_service.database.removeprefix("sqlite:///"))
    kept = b"".join(path.read_bytes() for path in database.parent.glob(f"{database.name}*"))
    for secret in ("Somebody", "203.0.113.9", "where.example", "the truth", survey.owner_token):
        assert secret not in log
        assert secret.encode() not in kept
    for private in (survey.id, content["submission"]):
        assert private not in log


@pytest.mark.parametrize("change", ["PUT", "PATCH", "DELETE"])
def test_a_published_survey_cannot_be_changed(service: Server, change: str) -> None:
    survey = published(service)
    before = httpx.get(survey.address).text
    answer = httpx.request(change, survey.address, json=document(title="Other"), headers=bearer(survey.owner_token))
    assert answer.status_code == 405
    assert httpx.get(survey.address).text == before
