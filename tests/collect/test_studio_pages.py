"""The pages of a survey: for its owner alone, with stored text shown as text, and only whole batches counted."""

from __future__ import annotations

import html
import re
from typing import Any

import httpx
import pytest

from tests.collect.servers import Server
from tests.collect.studio import visitor
from tests.collect.surveys import Survey, bearer, document, published, submission

OWNER_PAGES = (
    "",
    "/figures",
    "/questions/1",
    "/questions/2/audit.html",
    "/joint",
    "/joint/figures?first=1&second=2",
    "/invitations",
    "/work",
    "/work.py",
    "/work.sh",
)
ADMINISTRATOR_PAGES = ("/studio/draft", "/studio/texts.json")
SESSION_PAGES = ("/studio/", "/studio/plan", "/studio/plan/frontier?k=3")

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}"


@pytest.fixture(scope="module")
def answered(sqlite_service: Server) -> Survey:
    """A survey with 25 submissions, of which 20 are counted."""
    survey = published(sqlite_service)
    for i in range(25):
        survey.submit(submission(i % 3, [i % 8, 7] if i % 8 < 7 else None))
    assert survey.received == 25
    return survey


def test_every_owner_page_opens_with_its_token_and_with_no_other(sqlite_service: Server, answered: Survey) -> None:
    other = published(sqlite_service)
    with visitor(sqlite_service, answered.owner_token) as owner:
        for page in OWNER_PAGES:
            assert owner.get(f"/studio/surveys/{answered.id}{page}").status_code == 200, page
            assert owner.get(f"/studio/surveys/{other.id}{page}").status_code == 403, page
        for page in ADMINISTRATOR_PAGES:
            assert owner.get(page).status_code == 403, page
    strangers = [(), (other.owner_token,), (sqlite_service.administrator_token,)]
    for tokens in strangers:
        with visitor(sqlite_service, *tokens) as stranger:
            for page in OWNER_PAGES:
                address = f"/studio/surveys/{answered.id}{page}"
                assert stranger.get(address).status_code == (403 if tokens else 401), page
                # A token opens nothing in an address, and pages take none in a header.
                with_token = "&" if "?" in page else "?"
                assert stranger.get(f"{address}{with_token}token={answered.owner_token}").status_code in (401, 403)
                assert stranger.get(address, headers=bearer(answered.owner_token)).status_code in (401, 403)
            closing = stranger.post(f"/studio/surveys/{answered.id}/close", data={"sure": "yes"})
            assert closing.status_code in (401, 403)
    with visitor(sqlite_service) as stranger:
        for page in (*ADMINISTRATOR_PAGES, *SESSION_PAGES):
            assert stranger.get(page).status_code == 401, page
        for page in ("/studio/plan/figures", "/studio/previews"):
            assert stranger.post(page, json={}).status_code == 401, page
    assert httpx.get(answered.address).json()["state"] == "open"


def test_there_is_no_page_for_what_does_not_exist(sqlite_service: Server, answered: Survey) -> None:
    with visitor(sqlite_service, answered.owner_token) as owner:
        assert owner.get("/studio/surveys/aaaaaaaaaaaaaaaa").status_code == 404
        for page in ("/questions/3", "/questions/0", "/questions/x", "/nothing"):
            assert owner.get(f"/studio/surveys/{answered.id}{page}").status_code == 404, page
        for pair in ("first=1&second=1", "first=1&second=3", "first=0&second=2"):
            assert owner.get(f"/studio/surveys/{answered.id}/joint/figures?{pair}").status_code == 422, pair


def test_only_whole_batches_are_shown_and_privacy_is_told_from_sampling(
    sqlite_service: Server, answered: Survey
) -> None:
    with visitor(sqlite_service, answered.owner_token) as owner:
        figures = owner.get(f"/studio/surveys/{answered.id}/figures").json()
        assert (figures["received"], figures["shown"]) == (25, 20)
        estimates = answered.get("estimates").json()
        for question in figures["questions"]:
            api = estimates[question["name"]]
            assert question["answered"] == api["n"]
            assert [row["estimate"] for row in question["rows"]] == api["estimates"]
            assert [[row["low"], row["high"]] for row in question["rows"]] == api["intervals"]
            for row in question["rows"]:
                assert row["sampling"] < (row["high"] - row["low"]) / 2
        before = figures["questions"]
        for i in range(4):
            answered.submit(submission(i % 3, None))
        figures = owner.get(f"/studio/surveys/{answered.id}/figures").json()
        assert (figures["received"], figures["shown"], figures["questions"]) == (29, 20, before)


def test_nothing_is_shown_before_the_first_batch(sqlite_service: Server) -> None:
    survey = published(sqlite_service)
    for _ in range(9):
        survey.submit(submission(1, [1, 2]))
    with visitor(sqlite_service, survey.owner_token) as owner:
        assert owner.get(f"/studio/surveys/{survey.id}/figures").json()["questions"] == []
        assert owner.get(f"/studio/surveys/{survey.id}/joint/figures?first=1&second=2").status_code == 409


def test_closing_needs_to_be_meant_and_is_final(sqlite_service: Server) -> None:
    survey = published(sqlite_service)
    with visitor(sqlite_service, survey.owner_token) as owner:
        close = f"/studio/surveys/{survey.id}/close"
        assert owner.post(close).status_code == 422
        assert owner.post(close, data={"sure": "yes"}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert httpx.get(survey.address).json()["state"] == "open"
        assert owner.post(close, data={"sure": "yes"}).status_code == 303
        assert httpx.get(survey.address).json()["state"] == "closed"
        assert survey.submit().status_code == 410
        page = owner.get(f"/studio/surveys/{survey.id}/work").text
        assert "This survey is closed" in page
        assert "<form method" not in page.partition("<main")[2]


def hostile_document() -> dict[str, Any]:
    changed = document(title=HOSTILE)
    for number, question in enumerate(changed["questions"]):
        question |= {"name": f"{number}{HOSTILE}", "text": HOSTILE, "categories": [HOSTILE, "</script>", "b"]}
    return changed


def test_stored_text_is_shown_as_text(sqlite_service: Server) -> None:
    survey = published(sqlite_service, hostile_document())
    tokens = (sqlite_service.administrator_token, survey.owner_token)
    with visitor(sqlite_service, *tokens) as owner:
        pages = [
            "/studio/",
            *(f"/studio/surveys/{survey.id}{page}" for page in ("", "/questions/1", "/joint", "/work")),
        ]
        for page in pages:
            text = owner.get(page).text
            assert html.unescape(text).count(HOSTILE) >= 1, page
            assert re.search(r"<img|<script(?! type=\"module\" src=)|onerror=(?!alert\(2\)&gt;)", text) is None, page
            assert "49" not in re.findall(r"<h1[^>]*>(.*?)</h1>", text)[0]
        trial = owner.post("/studio/previews", json=hostile_document()).json()["id"]
        assert "<img" not in owner.get(f"/studio/previews/{trial}").text


def test_pages_allow_no_script_but_their_own(sqlite_service: Server, answered: Survey) -> None:
    with visitor(sqlite_service, sqlite_service.administrator_token, answered.owner_token) as owner:
        for page in ("/studio/plan", "/studio/draft", f"/studio/surveys/{answered.id}"):
            answer = owner.get(page)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "require-trusted-types-for 'script'" in policy
            assert answer.headers["cache-control"] == "no-store"
            assert re.search(r"\sstyle=|\son\w+=", answer.text) is None
            assert re.search(r"(src|href)=\"(https?:)?//(?!127\.0\.0\.1)", answer.text) is None


def test_a_preview_checks_what_is_sent_and_stores_nothing(sqlite_service: Server) -> None:
    with visitor(sqlite_service, sqlite_service.administrator_token) as administrator:
        assert administrator.post("/studio/previews", json={"title": "x"}).status_code == 422
        trial = administrator.post("/studio/previews", json=document(opens="2199-01-01")).json()["id"]
        stored = re.findall(r"submissions_stored\S* (\d+)", administrator.get("/metrics").text)
    # The respondent's page asks without a cookie.
    address = f"{sqlite_service.url}/studio/previews/{trial}"
    assert "texts" in httpx.get(address).text
    shown = httpx.get(f"{address}/survey").json()
    assert (shown["state"], shown["title"]) == ("open", "Preview: A survey")
    assert httpx.post(f"{address}/survey/submissions", json=submission(1, [1, 2])).status_code == 201
    assert httpx.post(f"{address}/survey/submissions", json=submission(9)).status_code == 422
    assert httpx.get(f"{sqlite_service.url}/api/surveys/{trial}").status_code == 404
    assert httpx.get(f"{sqlite_service.url}/studio/previews/aaaaaaaaaaaaaaaa").status_code == 404
    assert re.findall(r"submissions_stored\S* (\d+)", httpx.get(f"{sqlite_service.url}/metrics").text) == stored
