"""Questions with very many answers; what no page could load or send is refused when it is published."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from maskwell import Design, designs
from maskwell.collect.surveys.document import Question, Survey, SurveyError, read_survey
from maskwell.collect.surveys.sizes import refuse_unsendable
from tests.browser.harness import browser
from tests.browser.respondents import EVERY_KIND, PHONE, Collecting, asked, collecting, open_page, send, sent_body


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    with collecting(tmp_path_factory.mktemp("collecting")) as service:
        yield service


def places(k: int) -> list[str]:
    return [f"Place {i}" for i in range(k)]


MANY = {
    "300 in a list": designs.minimax(places(300), gamma=3),
    "301 by search": designs.gamma_diagonal(places(301), gamma=9),
    "10,000, sets": designs.minimax(places(10_000), gamma=3),
    "20,000, hyperplanes": designs.projective(places(20_000), gamma=3),
}


def test_they_are_answered_on_a_phone(running: Collecting) -> None:
    with browser() as chromium:
        for design in MANY.values():
            published = running.publish({"title": "Places", "questions": [asked("place", "Where?", design)]})
            page = open_page(chromium.new_context(viewport=PHONE), published, running)
            group = page.locator("fieldset:not(details fieldset)")
            last = str(design.categories[-1])
            if group.locator("select").count():
                group.locator("select").select_option(label=last)
            else:
                group.get_by_role("searchbox").fill(last.lower())
                group.get_by_label(last, exact=True).check()
            assert page.locator("input, option").count() < 1000
            send(page)
            body = sent_body(page)
            assert last not in json.loads(body)
            assert running.stored(published) == 1
            page.context.close()


def test_a_survey_that_is_too_large_is_refused_in_a_line(running: Collecting) -> None:
    document = {
        "title": "Places",
        "questions": [asked("place", "Where?", designs.projective(places(400_000), gamma=3))],
    }
    headers = {"Authorization": f"Bearer {running.token}"}
    answer = httpx.post(f"{running.url}/api/surveys", json=document, headers=headers, timeout=60)
    assert answer.status_code == 413
    assert answer.json()["detail"] == (
        "the body is larger than 4,194,304 bytes; labels travel to every respondent: take fewer or shorter ones, "
        "or raise survey_bytes."
    )


def test_reports_that_could_not_be_sent_are_refused_in_a_line(running: Collecting) -> None:
    sets = designs.minimax(places(60_000), gamma=1.5)
    document = {"title": "Places", "questions": [asked(name, "Where?", sets) for name in ("now", "then")]}
    headers = {"Authorization": f"Bearer {running.token}"}
    answer = httpx.post(f"{running.url}/api/surveys", json=document, headers=headers, timeout=60)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("reports of this survey can take ")
    assert "projective" in answer.json()["detail"]


def largest(survey: Survey) -> int:
    """The least limit under which a survey is accepted."""
    low, high = 0, 1 << 20
    while low < high:
        middle = (low + high) // 2
        try:
            refuse_unsendable(survey, middle)
            high = middle
        except SurveyError:
            low = middle + 1
    return low


@pytest.mark.parametrize(
    ("design", "report"),
    [
        (designs.minimax(7, gamma=2), [5, 6]),
        (designs.rappor(4, gamma=9), [0, 1, 2, 3]),
        (designs.block(7, gamma=1.5), 6),
        (designs.projective(30, gamma=3), 30),
        (designs.warner(truth_prob=0.8), None),
        (designs.product(designs.direct(12), designs.minimax(4, gamma=1.5)), [11, [2, 3]]),
    ],
    ids=["sets", "sizes", "blocks", "hyperplanes", "no answer", "product"],
)
def test_the_largest_submission_is_known_to_the_byte(design: Design, report: Any) -> None:
    uuid = "123e4567-e89b-42d3-a456-426614174000"
    body: dict[str, Any] = {"submission": uuid, "reports": {"Größe": report, "b": report}}
    questions = tuple(Question(name, "?", design, optional=report is None) for name in body["reports"])
    sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    assert largest(Survey("x", questions)) == len(sent)
    assert largest(read_survey(EVERY_KIND)) < 1000
