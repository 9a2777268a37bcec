"""A service with surveys, and respondents in Chromium who answer them."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from maskwell import Design, designs, rounds
from maskwell.collect import create_app
from tests.browser.harness import npm_part
from tests.collect.servers import free_port

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}


def asked(name: str, text: str, design: Design, **more: Any) -> dict[str, Any]:
    """A question of a survey document, with its design."""
    return {"name": name, "text": text, "design": json.loads(design.to_json()), **more}


INCOMES = ["under 1,000", "1,000 to 2,000", "2,000 to 4,000", "over 4,000"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
HALVES = {(INCOMES[0], other): weight for other, weight in zip(INCOMES[1:], (0.3, 0.3, 0.4), strict=True)}

# Every kind of design that a question can have, and every form of a question.
QUESTIONS = [
    asked("one", "How often do you smoke?", designs.gamma_diagonal(["Never", "Sometimes", "Every day"], gamma=4)),
    asked("set", "Which day do you dread?", designs.minimax(DAYS, gamma=2)),
    asked("sizes", "Which day do you like?", designs.rappor(DAYS[:4], gamma=9)),
    asked("matrix", "Have you ever stolen anything?", designs.crosswise(innocuous_prob=0.25)),
    asked("blocks", "Which day do you sleep?", designs.block(DAYS, gamma=1.5)),
    asked(
        "conditional",
        "Which colour do you see?",
        designs.conditional(
            ["red", "green", "blue"],
            subset_probs={("red", "green"): "1/2", ("green", "blue"): "1/2", ("red", "blue"): "1/2"},
        ),
    ),
    asked("asked", "What do you earn?", designs.independent(INCOMES, question_probs=HALVES), form="subset"),
    asked("halves", "What do you spend?", designs.uniform_subsets(INCOMES), form="subset", optional=True),
    asked(
        "product",
        "About your health",
        designs.product(
            designs.gamma_diagonal(["yes", "no"], gamma=5),
            designs.minimax(["good", "fair", "poor", "bad"], gamma=1.5),
            names=["Are you ill?", "How do you feel?"],
        ),
        optional=True,
    ),
    asked("optional", "Did you ever lie?", designs.warner(truth_prob=0.8), optional=True),
    asked("many", "Where do you live?", designs.minimax([f"Place {i}" for i in range(40)], gamma=9)),
    asked("spaces", "Where were you born?", designs.projective([f"Town {i}" for i in range(30)], gamma=3)),
    asked("searched", "What is your work?", designs.projective([f"Job {i}" for i in range(400)], gamma=3)),
    asked("bits", "Which place do you avoid?", rounds.rappor(["park", "bus", "bar"], f=0.5, p=0.25, q=0.75)),
    asked(
        "tables", "Do you owe a friend money?", rounds.kary(["a lot", "a little", "none"], longitudinal=3, per_round=1)
    ),
]
EVERY_KIND = {"title": "Every kind of question", "questions": QUESTIONS}
SHORT = {"title": "One question", "questions": QUESTIONS[:1]}


@dataclass
class Collecting:
    """A running service with its database and its log."""

    url: str
    token: str
    database: Path
    log: list[str] = field(default_factory=list)

    def publish(self, document: dict[str, Any]) -> dict[str, str]:
        """Publish a survey; gives its id, the owner's token and the address of the page."""
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = httpx.post(f"{self.url}/api/surveys", json=document, headers=headers, timeout=60)
        assert answer.status_code == 201, answer.text
        published: dict[str, str] = answer.json()
        return published

    def close(self, published: dict[str, str]) -> None:
        """Close a survey, as its owner."""
        headers = {"Authorization": f"Bearer {published['owner_token']}"}
        assert (
            httpx.post(f"{self.url}/api/surveys/{published['id']}/close", headers=headers, timeout=60).status_code
            == 200
        )

    def stored(self, published: dict[str, str]) -> int:
        """How many submissions of a survey are in the database."""
        with closing(sqlite3.connect(self.database)) as connection:
            query = "select count(*) from submissions where survey = ?"
            return int(connection.execute(query, [published["id"]]).fetchone()[0])


@contextmanager
def collecting(folder: Path, port: int | None = None, **settings: Any) -> Iterator[Collecting]:
    """The service over real HTTP, on a database in this folder; its log is kept to the last line."""
    port = port or free_port()
    database = folder / "collect.db"
    app = create_app(f"sqlite:///{database}", administrator_token="mw_" + "t" * 43, **settings)
    running = Collecting(f"http://localhost:{port}", "mw_" + "t" * 43, database)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, access_log=False))
    listener = _Listener(running.log)
    loggers = [logging.getLogger(name) for name in ("maskwell", "uvicorn")]
    for logger in loggers:
        logger.addHandler(listener)
        logger.setLevel(logging.DEBUG)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield running
    finally:
        server.should_exit = True
        thread.join()
        for logger in loggers:
            logger.removeHandler(listener)
            logger.setLevel(logging.NOTSET)


class _Listener(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(f"{record.name} {record.getMessage()}")


def invited(running: Collecting, published: dict[str, str]) -> str:
    """A new invitation: what stands behind the address."""
    headers = {"Authorization": f"Bearer {published['owner_token']}"}
    made = httpx.post(f"{running.url}/api/surveys/{published['id']}/invitations", json={"count": 1}, headers=headers)
    return "#" + str(made.json()["invitations"][0]).partition("#")[2]


def open_page(context: Any, published: dict[str, str], running: Collecting, fragment: str = "") -> Any:
    """The page of a survey in a new tab, when its questions or its state are shown."""
    page = context.new_page()
    page.goto(f"{running.url}/respond/{published['id']}{fragment}")
    page.locator("main section").first.wait_for()
    return page


def answer(page: Any, choices: dict[str, Any]) -> None:
    """Answer question by question: the label of an answer, None for no answer, or a list of labels for a product."""
    for card, question in zip(page.locator("section.question").all(), QUESTIONS, strict=False):
        wanted = choices[question["name"]]
        if wanted is None and question["design"]["kind"] == "product":
            card.get_by_role("checkbox").check()
            continue
        labels = wanted if isinstance(wanted, list) else [wanted]
        groups = card.locator("fieldset:not(details fieldset)").all()
        assert len(groups) == len(labels)
        for group, label in zip(groups, labels, strict=True):
            _choose(group, question, label)


def _choose(group: Any, question: dict[str, Any], label: str | None) -> None:
    if label is None:
        group.get_by_label("I prefer not to answer").check()
    elif question.get("form") == "subset":
        on_list = label in group.locator(".labels li").all_inner_texts()
        group.get_by_label("Yes" if on_list else "No", exact=True).check()
    elif group.locator("input[type=search]").count():
        group.locator("input[type=search]").fill(label)
        group.get_by_label(label, exact=True).check()
    elif group.locator("select").count():
        group.locator("select").select_option(label=label)
    else:
        group.get_by_label(label, exact=True).check()


def send(page: Any) -> None:
    """Press the button."""
    page.get_by_role("button", name="Draw my reports and send them").click()


_KEPT = """async () => {
  const opened = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const found = {};
  for (const { name } of await indexedDB.databases()) {
    const database = await opened(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const records = database.transaction(store).objectStore(store);
      const keys = await opened(records.getAllKeys());
      const values = await opened(records.getAll());
      keys.forEach((key, i) => { found[`${name}/${store}/${key}`] = values[i]; });
    }
    database.close();
  }
  return found;
}"""


def kept(page: Any) -> dict[str, str]:
    """Everything in the databases of the browser, by database, store and key."""
    found: dict[str, str] = page.evaluate(_KEPT)
    return found


def heading(page: Any) -> str:
    """The heading of the state that is shown, which has the focus."""
    return str(page.locator("section.state h2").inner_text())


def sent_body(page: Any) -> str:
    """The bytes that the receipt shows."""
    page.locator("#sent-bytes").wait_for()
    return str(page.locator("#sent-bytes").text_content())


def axe(page: Any) -> list[str]:
    """What axe finds wrong with the page as it is, by rule and element."""
    if not page.evaluate("() => 'axe' in window"):
        # By the debugging interface, since the page's own policy lets no such script in.
        page.evaluate(npm_part("axe-core/axe.min.js").read_text("utf-8"))
    result = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    assert result["passes"], "axe looked at nothing"
    return [f"{found['id']}: {node['html'][:200]}" for found in result["violations"] for node in found["nodes"]]
