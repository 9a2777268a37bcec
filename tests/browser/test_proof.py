"""No byte that leaves the respondent's browser, and nothing that is kept anywhere, depends on more than the report.

Two respondents give different answers to every kind of question. Their random words are chosen so that their reports
coincide. Then everything must coincide: each request with its address, headers and body, cookies, storage, history, the
page itself, the service's log and its database. Leaks that are planted into the page's scripts must show.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.browser.harness import MASK_JS, SHIPPED, browser, node
from tests.browser.recording import Traces, Wire, fix_chance, forget_submissions, traces, wire
from tests.browser.respondents import (
    DESKTOP,
    PHONE,
    QUESTIONS,
    Collecting,
    answer,
    collecting,
    invited,
    open_page,
    send,
    sent_body,
)

Answers = dict[str, Any]


@dataclass
class Pair:
    """A survey, and two people's words and answers to it that have the same reports."""

    document: dict[str, Any]
    words: list[list[int]]
    answers: tuple[Answers, Answers]
    reports: Answers


def pair(questions: list[dict[str, Any]]) -> Pair:
    drawn = [question for question in questions if question.get("form") != "subset"]
    found = node("try_coincide.mjs", MASK_JS, given=json.dumps([json.dumps(q["design"]) for q in drawn]))
    answers: tuple[Answers, Answers] = ({}, {})
    for question, outcome in zip(drawn, found, strict=True):
        for person, truth in zip(answers, outcome["truths"], strict=True):
            person[question["name"]] = _labels(question["design"], truth)
        assert all(a[question["name"]] != b[question["name"]] for a, b in [answers])
    words = [[word for outcome in found for word in outcome["words"][person]] for person in (0, 1)]
    reports = {question["name"]: outcome["report"] for question, outcome in zip(drawn, found, strict=True)}
    return Pair({"title": "A survey", "questions": questions}, words, answers, reports)


def _labels(design: dict[str, Any], truth: Any) -> Any:
    if design["kind"] == "product":
        parts = design["weights"]["parts"]
        return [part["categories"][code] for part, code in zip(parts, truth, strict=True)]
    return design["categories"][truth]


@dataclass
class World:
    """A service, and a browser that reaches it through a wire that is listened to."""

    running: Collecting
    wire: Wire
    chromium: Any


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with (
        collecting(tmp_path_factory.mktemp("collecting")) as running,
        wire(running.url) as listened,
        browser(f"http://127.0.0.1:{listened.server_address[1]}") as chromium,
    ):
        yield World(running, listened, chromium)


Change = tuple[str, str, str]  # a script of the page, and what is replaced in it by what


def session(
    world: World,
    published: dict[str, str],
    given: Pair,
    person: int,
    size: dict[str, int] = PHONE,
    leaks: Sequence[Change] = (),
    fragment: str = "",
) -> Traces:
    """One person answers, and everything is written down."""
    forget_submissions(world.running.database)
    world.wire.requests()
    before = len(world.running.log)
    context = world.chromium.new_context(viewport=size)
    fix_chance(context, given.words[person])
    for script in {name for name, _, _ in leaks}:
        context.route(f"**/{script}", _changed(script, leaks))
    page = open_page(context, published, world.running, fragment)
    page.wait_for_load_state("networkidle")
    loading = world.wire.requests()
    answer(page, {**given.answers[person], **_asked_about(page, given.document["questions"], person)})
    send(page)
    body = json.loads(sent_body(page))
    page.wait_for_load_state("networkidle")
    sent = world.wire.requests()
    assert given.reports.items() <= body["reports"].items(), "the page drew from other words than were given"
    found = traces(page, world.running, loading, sent, world.running.log[before:])
    context.close()
    return found


def _asked_about(page: Any, questions: list[dict[str, Any]], person: int) -> Answers:
    """Where a list is asked about, the two people have different answers on the same side of it."""
    found = {}
    for card, question in zip(page.locator("section.question").all(), questions, strict=True):
        if question.get("form") == "subset":
            listed = card.locator("fieldset:not(details fieldset) .labels li").all_inner_texts()
            found[question["name"]] = listed[person]
    return found


def _changed(script: str, leaks: Sequence[Change]) -> Callable[[Any], None]:
    source = (SHIPPED.parent / "respond" / "assets" / script).read_text("utf-8")
    for name, old, new in leaks:
        if name == script:
            assert source.count(old) == 1, f"{script} has changed; plant the leak elsewhere"
            source = source.replace(old, new)
    return lambda route: route.fulfill(body=source, content_type="text/javascript")


ALL = pair(QUESTIONS)


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_every_byte_is_the_same_for_two_answers_with_the_same_reports(world: World, size: dict[str, int]) -> None:
    published = world.running.publish(ALL.document)
    first, second = (session(world, published, ALL, person, size) for person in (0, 1))
    assert first.differences(second) == []
    # Something was recorded: the page's files and the survey, then one submission and nothing else.
    assert any(b"/respond/assets/respond.js" in request for request in first.loading)
    assert [request.split(b" ", 1)[0] for request in first.sent] == [b"POST"]
    assert all(request.split(b" ")[1].startswith(world.running.url.encode()) for request in first.loading)
    assert b"cookie" not in first.sent[0].lower()
    assert json.loads(first.sent[0].partition(b"\r\n\r\n")[2])["reports"].keys() == {q["name"] for q in QUESTIONS}
    assert len(first.in_the_service["database"]["submissions"]) == 1
    assert any("submissions" in line for line in first.in_the_service["log"])
    assert first.in_the_browser["controls"] == []
    assert first.context == {"cookies": [], "origins": []}


def test_an_invitation_changes_nothing_about_that(world: World) -> None:
    published = world.running.publish({**ONE.document, "invitations": True})
    # The same invitation for both, and the same pass: what differs is the answer.
    link = invited(world.running, published)
    first, second = (session(world, published, ONE, person, fragment=link) for person in (0, 1))
    assert first.differences(second) == []
    assert [request.split(b" ", 1)[0] for request in first.sent] == [b"POST", b"POST"]


def test_no_label_is_in_what_is_sent_or_logged_and_none_is_stored_with_the_reports(world: World) -> None:
    published = world.running.publish(ALL.document)
    found = session(world, published, ALL, 0)
    told = b"".join(found.sent) + "".join(found.in_the_service["log"]).encode()
    told += "".join(found.in_the_service["database"]["submissions"]).encode()
    labels = {str(label) for answers in ALL.answers for given in answers.values() for label in _flat(given)}
    assert [label for label in labels if len(label) > 3 and label.encode() in told] == []


def _flat(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


ONE = pair(QUESTIONS[:1])
DRAWN = "    const reports = Object.fromEntries(this.questions.map((question) => [question.name, question.draw()]));"
CHOSEN = 'document.querySelector("form fieldset:not(details fieldset) input:checked").value'
TRUTH = f"    globalThis.noted = {CHOSEN};\n"
HEADER = ("sending.js", '"Content-Type": "application/json"', '"Content-Type": "application/json", "X-Page": noted')


def planted(code: str) -> Change:
    """A leak at the moment when the answer becomes a report."""
    return ("respond.js", DRAWN, DRAWN + "\n" + TRUTH + "    " + code)


BODY = "JSON.stringify({ submission: crypto.randomUUID(), reports })"
TURNED = 'JSON.stringify(noted === "0" ? { submission, reports } : { reports, submission })'
KEPT_IN = {
    "in_the_browser: local": 'localStorage.setItem("kept", noted);',
    "in_the_browser: session": 'sessionStorage.setItem("kept", noted);',
    "in_the_browser: cookie": "document.cookie = `kept=${noted}`;",
    "context": "document.cookie = `kept=${noted}`;",
    "in_the_browser: history": "history.replaceState(noted, '', `#${noted}`);",
    "in_the_browser: url": "history.replaceState(noted, '', `#${noted}`);",
    "in_the_browser: title": "document.title += noted;",
    "in_the_browser: name": "window.name = noted;",
    "in_the_browser: caches": "caches.open(`kept ${noted}`);",
    "in_the_browser: globals": "globalThis[`kept${noted}`] = 1;",
    "in_the_browser: page": "document.body.dataset.kept = noted;",
}
# Where each leak must show, and what is planted.
LEAKS: dict[str, tuple[set[str], list[Change]]] = {
    "a header": ({"sent"}, [planted(""), HEADER]),
    "the order of the body": (
        {"sent"},
        [planted("const submission = crypto.randomUUID();"), ("respond.js", BODY, TURNED)],
    ),
    "spaces in the body": (
        {"sent"},
        [planted(""), ("respond.js", BODY, BODY.replace("reports }", "reports }, null, Number(noted)"))],
    ),
    "a second request": ({"sent"}, [planted("fetch(`assets/icon.svg?${noted}`);")]),
    "how many requests": ({"sent"}, [planted('if (noted === "0") fetch("assets/icon.svg?1");')]),
    "what is kept": (
        {"in_the_browser: databases"},
        [
            planted(""),
            ("respond.js", "body: this.drawBody(), ", "body: this.drawBody(), noted, "),
            ("sending.js", '{ state: "answered", body: record.body }', '{ ...record, state: "answered" }'),
        ],
    ),
    "anywhere else": (set(KEPT_IN), [planted(" ".join(dict.fromkeys(KEPT_IN.values())))]),
}


@pytest.fixture(scope="module")
def one(world: World) -> dict[str, str]:
    return world.running.publish(ONE.document)


@pytest.mark.parametrize("leak", LEAKS)
def test_planted_leaks_are_noticed(world: World, one: dict[str, str], leak: str) -> None:
    places, changes = LEAKS[leak]
    first, second = (session(world, one, ONE, person, leaks=changes) for person in (0, 1))
    assert places <= set(first.differences(second))


def test_one_question_without_a_leak_shows_none(world: World, one: dict[str, str]) -> None:
    """What the leaks are compared with."""
    first, second = (session(world, one, ONE, person) for person in (0, 1))
    assert first.differences(second) == []
