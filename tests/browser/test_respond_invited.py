"""A survey by invitation: the page redeems it for a pass that nothing links to it, and spends that with the reports."""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.harness import browser
from tests.browser.respondents import SHORT, Collecting, answer, collecting, heading, invited, kept, open_page, send

ROOT = Path(__file__).resolve().parents[2]
VECTOR = json.loads((ROOT / "tests" / "collect" / "rfc9474.json").read_text("utf-8"))
THANKS = "Thank you. Your reports have arrived."
_SCRIPT = """
const { blindWith, finish } = await import(process.argv[1]);
const { key, message, salt, factor, signed } = JSON.parse(process.argv[2]);
const bytes = (digits) => Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
const ticket = await blindWith(key, bytes(message), bytes(salt), BigInt(`0x${factor}`));
console.log(JSON.stringify({ ticket, spent: await finish(key, ticket, signed) }));
"""


def text(digits: str) -> str:
    return base64.urlsafe_b64encode(bytes.fromhex(digits)).decode().rstrip("=")


def test_the_vector_of_the_rfc() -> None:
    n, inverse = int(VECTOR["n"], 16), int(VECTOR["inv"], 16)
    given = {
        "key": {"kty": "RSA", "alg": "PS384", "n": text(VECTOR["n"]), "e": text(VECTOR["e"])},
        "message": VECTOR["msg"],
        "salt": VECTOR["salt"],
        "factor": f"{pow(inverse, -1, n):x}",
        "signed": text(VECTOR["blind_sig"]),
    }
    module = ROOT / "src" / "maskwell" / "collect" / "respond" / "assets" / "invitation.js"
    command = ["node", "--input-type=module", "--eval", _SCRIPT, str(module), json.dumps(given)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["ticket"]["blinded"] == text(VECTOR["blinded_msg"])
    assert found["ticket"]["inverse"] == text(VECTOR["inv"])
    assert found["spent"] == f"{text(VECTOR['msg'])}.{text(VECTOR['sig'])}"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collecting]:
    with collecting(tmp_path_factory.mktemp("collecting")) as service:
        yield service


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as program:
        yield program


def test_an_invitation_is_spent_by_a_pass_that_nothing_links_to_it(chromium: Any, running: Collecting) -> None:
    published = running.publish({**SHORT, "invitations": True})
    fragment = invited(running, published)
    context = chromium.new_context()
    posts: list[Any] = []
    context.on("request", lambda request: posts.append(request) if request.method == "POST" else None)
    page = open_page(context, published, running, fragment)
    answer(page, {"one": "Sometimes"})
    send(page)
    page.get_by_role("heading", name=THANKS).wait_for()
    redemption, submission = posts
    assert redemption.url.endswith("/invitations/redemptions")
    assert "authorization" not in redemption.headers
    asked = json.loads(redemption.post_data)
    assert asked.keys() == {"invitation", "blinded"}
    spent = submission.headers["authorization"].removeprefix("Invitation ")
    # Nothing of the first request is in the second, nor in what the browser keeps.
    for part in (asked["invitation"], asked["blinded"]):
        assert part not in f"{submission.url} {submission.headers} {submission.post_data}"
    assert not any(part in asked["blinded"] for part in spent.split("."))
    assert all("ticket" not in record and "spent" not in record for record in kept(page).values())
    assert running.stored(published) == 1
    context.close()

    # Another device with the same invitation.
    other = chromium.new_context()
    page = open_page(other, published, running, fragment)
    answer(page, {"one": "Sometimes"})
    send(page)
    page.get_by_text("This invitation is not valid, or was used before.").wait_for()
    assert running.stored(published) == 1
    other.close()


def test_a_lost_connection_after_redeeming_spends_the_same_pass(chromium: Any, running: Collecting) -> None:
    published = running.publish({**SHORT, "invitations": True})
    fragment = invited(running, published)
    context = chromium.new_context()
    context.route("**/submissions", lambda route: route.abort())
    page = open_page(context, published, running, fragment)
    answer(page, {"one": "Never"})
    send(page)
    page.get_by_role("heading", name="Your reports have not arrived yet").wait_for()
    context.unroute("**/submissions")
    page.reload()
    page.get_by_role("heading", name=THANKS).wait_for()
    assert heading(page) == THANKS
    assert running.stored(published) == 1
    context.close()


def test_without_an_invitation_the_page_asks_nothing(chromium: Any, running: Collecting) -> None:
    published = running.publish({**SHORT, "invitations": True})
    context = chromium.new_context()
    page = open_page(context, published, running)
    assert "by invitation" in page.locator(".notice").inner_text()
    context.close()
