"""Every answer of the API, on SQLite and on PostgreSQL."""

from __future__ import annotations

import datetime
import json
import uuid
from typing import Any

import httpx
import pytest

from maskwell import Design, plan
from maskwell.demands import LDP
from tests.collect.servers import Server, server
from tests.collect.surveys import DRUGS, INCOME, Survey, bearer, document, published, submission

JSON = {"Content-Type": "application/json"}
UUID = "123e4567-e89b-42d3-a456-426614174000"


def test_a_survey_is_published_with_its_designs(survey: Survey) -> None:
    shown = httpx.get(survey.address).json()
    assert (shown["id"], shown["state"], shown["title"], shown["least_batch"]) == (survey.id, "open", "A survey", 10)
    design = Design.from_json(json.dumps(shown["questions"][0]["design"]))
    assert design == plan(DRUGS, LDP(1.5))
    assert shown["questions"][1]["categories"] == INCOME
    assert shown["questions"][1]["optional"] is True
    assert shown["questions"][0]["explanation"]["sentences"]
    assert survey.owner_token not in httpx.get(survey.address).text


def test_a_submission_is_stored_once_whatever_happens(survey: Survey) -> None:
    content = submission(1, [0, 3])
    assert survey.submit(content).status_code == 201
    assert survey.submit(content).status_code == 200
    shouted = {**content, "submission": content["submission"].upper()}
    assert survey.submit(shouted).status_code == 200
    assert survey.submit({**content, "reports": {"drugs": 2, "income": [0, 3]}}).status_code == 409
    assert survey.submit({**content, "reports": {"drugs": 1, "income": None}}).status_code == 409
    assert survey.received == 1


def test_a_report_that_is_left_out_is_the_same_as_none_where_none_is_allowed(survey: Survey) -> None:
    content = submission(1, None)
    assert survey.submit(content).status_code == 201
    assert survey.submit({**content, "reports": {"drugs": 1}}).status_code == 200


@pytest.mark.parametrize(
    "reports",
    [
        {"drugs": 3},
        {"drugs": -1},
        {"drugs": 2**64},
        {"drugs": 10**39},
        {"drugs": True},
        {"drugs": 1.0},
        {"drugs": "once"},
        {"drugs": [1]},
        {"drugs": None},
        {"drugs": {"a": 1}},
        {},
        {"drugs": 1, "wrong": 1},
        {"drugs": 1, "income": [3, 0]},
        {"drugs": 1, "income": [0, 0]},
        {"drugs": 1, "income": [0, 8]},
        {"drugs": 1, "income": [-1, 0]},
        {"drugs": 1, "income": [0]},
        {"drugs": 1, "income": [0, 1, 2]},
        {"drugs": 1, "income": [False, True]},
        {"drugs": 1, "income": [0, [1]]},
        {"drugs": 1, "income": 3},
        [1, 2],
        "drugs",
        None,
    ],
)
def test_an_impossible_report_is_422_and_not_stored(survey: Survey, reports: Any) -> None:
    answer = survey.submit({"submission": str(uuid.uuid4()), "reports": reports})
    assert answer.status_code == 422
    assert survey.received == 0


@pytest.mark.parametrize("identity", ["", "x", 7, None, UUID[:-1], UUID.replace("-", ""), "é" * 36])
def test_a_wrong_id_is_422(survey: Survey, identity: Any) -> None:
    assert survey.submit({**submission(), "submission": identity}).status_code == 422


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"\xff\xfe", 400),
        (b"", 400),
        (b"{", 400),
        (b"\xef\xbb\xbf{}", 400),
        ("{}".encode("utf-16"), 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, 400),
        (b'{"submission": NaN, "reports": {}}', 422),
        (b'{"reports": {"drugs": NaN}}', 422),
        (b'{"reports": {"drugs": Infinity}}', 422),
        (b'{"reports": {"drugs": 1e999}}', 422),
        (b'{"reports": {}, "reports": {}}', 422),
        (b'{"reports": {"drugs": 1, "drugs": 1}}', 422),
        (b'{"reports": {"drugs": ' + b"1" * 5000 + b"}}", 422),
        (b'{"submission": "\\ud800", "reports": {}}', 400),
        (b'{"submission": "\\u0000", "reports": {"\\u0000": 1}}', 422),
        (b"null", 422),
        (b"[]", 422),
        (b"7", 422),
        (b'"text"', 422),
        (b"{}", 422),
    ],
)
def test_a_body_that_is_no_submission(survey: Survey, body: bytes, status: int) -> None:
    answer = httpx.post(f"{survey.address}/submissions", content=body, headers=JSON)
    assert answer.status_code == status
    assert set(answer.json()) == {"detail"}
    # Publishing reads in the same way.
    headers = {**JSON, **bearer(survey.server.administrator_token)}
    assert httpx.post(f"{survey.server.url}/api/surveys", content=body, headers=headers).status_code == status


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data", "é"])
def test_another_content_type_is_refused(survey: Survey, kind: str) -> None:
    body = json.dumps(submission()).encode()
    headers = [(b"Content-Type", kind.encode())]
    assert httpx.post(f"{survey.address}/submissions", content=body, headers=headers).status_code == 415


def test_a_body_that_is_too_large_is_413_however_it_comes(survey: Survey) -> None:
    large = b" " * (1 << 18) + json.dumps(submission()).encode()
    assert httpx.post(f"{survey.address}/submissions", content=large, headers=JSON).status_code == 413
    pieces = (large[at : at + 4096] for at in range(0, len(large), 4096))
    assert httpx.post(f"{survey.address}/submissions", content=pieces, headers=JSON).status_code == 413
    assert survey.received == 0


def test_a_closed_survey_takes_nothing_more_and_never_opens_again(survey: Survey) -> None:
    before = submission()
    assert survey.submit(before).status_code == 201
    assert survey.close().json()["state"] == "closed"
    assert survey.submit().status_code == 410
    # Whose acknowledgement was lost still learns that the report is stored.
    assert survey.submit(before).status_code == 200
    assert survey.submit({**before, "reports": {"drugs": 2}}).status_code == 409
    assert survey.close().status_code == 200
    assert httpx.get(survey.address).json()["state"] == "closed"
    assert survey.received == 1


def test_dates_open_and_close_a_survey(service: Server) -> None:
    today = datetime.datetime.now(datetime.UTC).date()
    day = datetime.timedelta(days=1)
    early = published(service, document(opens=str(today + 2 * day)))
    assert httpx.get(early.address).json()["state"] == "waiting"
    assert early.submit().status_code == 403
    late = published(service, document(closes=str(today - 2 * day)))
    assert httpx.get(late.address).json()["state"] == "closed"
    assert late.submit().status_code == 410
    now = published(service, document(opens=str(today - day), closes=str(today + day)))
    assert now.submit().status_code == 201


def test_too_many_requests_are_429(tmp_path: Any) -> None:
    with server(f"sqlite:///{tmp_path}/a.db", tmp_path, "--burst", "20", "--rate", "0.001") as running:
        survey = published(running)
        statuses = [survey.submit().status_code for _ in range(25)]
        assert statuses == [201] * 19 + [429] * 6
        assert httpx.get(f"{running.url}/healthz").status_code == 200
        # An address that another server passes on counts by itself.
        assert survey.submit(headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 201


@pytest.mark.parametrize("path", ["aaaaaaaaaaaaaaaa", "AAAAAAAAAAAAAAAA", "x", "%00", "..%2f..", "a" * 3000, "é"])
def test_what_is_not_there_is_404(service: Server, path: str) -> None:
    assert httpx.get(f"{service.url}/api/surveys/{path}").status_code == 404
    assert httpx.post(f"{service.url}/api/surveys/{path}/submissions", json=submission()).status_code == 404
    assert httpx.get(f"{service.url}/api/surveys/{path}/estimates", headers=bearer("x")).status_code == 404


def test_nothing_is_shown_before_the_least_batch_and_then_only_whole_batches(service: Server) -> None:
    survey = published(service, document(least_batch=5))
    for n in range(1, 12):
        assert survey.submit(submission(n % 3, [0, n % 7 + 1])).status_code == 201
        estimates, export = survey.get("estimates"), survey.get("export")
        assert estimates.status_code == export.status_code == (409 if n < 5 else 200)
        if n >= 5:
            assert {question["n"] for question in estimates.json().values()} == {n - n % 5}
    assert survey.get("progress").json()["received"] == 11
    assert survey.get("progress").json()["shown"] == 10


def test_a_question_with_few_answers_is_withheld(service: Server) -> None:
    survey = published(service, document(least_batch=5))
    for n in range(5):
        survey.submit(submission(1, [0, 1] if n == 0 else None))
    shown = survey.get("estimates").json()
    assert shown["drugs"]["n"] == 5
    assert "withheld" in shown["income"]


def test_the_database_answers_for_its_health(service: Server) -> None:
    assert httpx.get(f"{service.url}/healthz").json() == {"status": "ok"}
    text = httpx.get(f"{service.url}/metrics").text
    assert 'maskwell_requests_total{method="GET",route="/healthz",status="200"}' in text
    assert "maskwell_stored_submissions" in text
