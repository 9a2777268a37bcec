"""docs/in_the_browser.md is true: its examples run as they stand there, and the packed folder installs elsewhere."""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import maskwell as mw
from tests.browser.harness import HERE, ROOT, SHIPPED, browser, node_program, npm_part

PAGE = (ROOT / "docs" / "in_the_browser.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
WHERE, PLAIN, PACK, NPM, SURVEYJS, KEPT = (text for _, text in BLOCKS)
DESIGN = mw.designs.warner(truth_prob=0.8)


def run(command: list[str], folder: Path) -> str:
    """What a command prints that is run where ``python`` is the one with the package."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project elsewhere that has installed the packed folder."""
    npm_part("survey-core")
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    (folder / "design.json").write_text(DESIGN.to_json())
    offline = ["env", "npm_config_offline=true", "npm_config_fund=false", "npm_config_audit=false"]
    run([*offline, "sh", "-e", "-c", PACK], folder)
    for package in ("survey-core", "typescript"):
        (folder / "node_modules" / package).symlink_to(HERE / "node_modules" / package)
    return folder


def test_the_files_are_where_it_says() -> None:
    assert Path(run(["sh", "-c", WHERE], ROOT).strip()) == SHIPPED


def test_the_package_has_what_is_needed_and_no_more(installed: Path) -> None:
    package = installed / "node_modules" / "maskwell"
    names = sorted(str(path.relative_to(package)) for path in package.rglob("*"))
    assert names == ["README.md", "mask.d.ts", "mask.js", "package.json", "surveyjs.d.ts", "surveyjs.js"]
    assert (package / "mask.js").read_bytes() == (SHIPPED / "mask.js").read_bytes()
    about = json.loads((package / "package.json").read_bytes())
    assert about["version"] == mw.__version__
    assert "dependencies" not in about


def test_it_is_imported_from_npm(installed: Path) -> None:
    (installed / "example.js").write_text(NPM)
    drawn, refused = run([node_program(), "example.js"], installed).splitlines()
    found = json.loads(drawn)
    assert found["meaning"] == DESIGN.report_labels()[found["report"]]
    assert refused == "true an answer is given by its position, a whole number from 0 to 1."


def test_it_masks_in_surveyjs(installed: Path) -> None:
    given = f"globalThis.isSecureContext = true;\nconst designText = {json.dumps(DESIGN.to_json())};\n"
    sending = "const send = (data) => console.log(JSON.stringify(data));\n"
    answering = 'survey.setValue("drugs", "yes");\nsurvey.setValue("age", 44);\nsurvey.completeLastPage();\n'
    imports, rest = SURVEYJS.split("\n\n", 1)
    (installed / "surveyjs.js").write_text(f"{imports}\n{given}{sending}{rest}{answering}")
    sent = json.loads(run([node_program(), "surveyjs.js"], installed))
    assert sent.keys() == {"drugs_report", "age"}
    assert sent["drugs_report"] in (0, 1)


def test_a_report_a_day_is_kept_for_each_answer(tmp_path: Path) -> None:
    design = mw.plan([f"page {number}" for number in range(500)] + ["(other)"], mw.LDP(1))
    (tmp_path / "design.json").write_text(design.to_json())
    (tmp_path / "design.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        f'import {{ readDesign }} from "{SHIPPED / "mask.js"}";\n'
        "globalThis.isSecureContext = true;\n"
        "const held = new Map();\n"
        "const getItem = (name) => held.get(name) ?? null;\n"
        "const storage = { getItem, setItem: (name, text) => held.set(name, text) };\n"
        'const design = readDesign(readFileSync("design.json", "utf8"));\n'
        f"{KEPT}\n"
        'const days = ["page 7", "page 8", "page 7", "unheard of", "(other)", "page 7"];\n'
        "const sent = days.map((page) => keptReport(design, page, storage));\n"
        "console.log(JSON.stringify({ sent, held: held.size }));\n"
    )
    found = json.loads(run([node_program(), "design.mjs"], tmp_path))
    first, other, same, unheard, also, last = found["sent"]
    assert first == same == last
    assert unheard == also
    # Sets of a hundred and more out of 501 are never the same by chance.
    assert first != other
    assert found["held"] == 3
    assert len(mw.Reports.from_positions(design, found["sent"])) == 6


def test_the_types_are_those_of_the_functions(installed: Path) -> None:
    shutil.copy(HERE / "documented.ts", installed)
    compiler = installed / "node_modules" / "typescript" / "bin" / "tsc"
    options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
    run([node_program(), str(compiler), *options, "documented.ts"], installed)


class _Recorder(http.server.SimpleHTTPRequestHandler):
    bodies: list[str]

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        return None


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """The plain page with the two files next to it, and what is sent to its server."""
    (tmp_path / "index.html").write_text(PLAIN)
    (tmp_path / "design.json").write_text(DESIGN.to_json())
    shutil.copy(SHIPPED / "mask.js", tmp_path)
    bodies: list[str] = []
    handler = type("Recorder", (_Recorder,), {"bodies": bodies})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: handler(*a, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_address[1]}/", bodies
        server.shutdown()
        thread.join()


def test_the_plain_page_sends_a_report(site: tuple[str, list[str]]) -> None:
    address, bodies = site
    with browser() as chromium:
        for label in ("yes", "no", "yes"):
            page = chromium.new_page()
            page.goto(address)
            page.get_by_label(label, exact=True).check()
            page.get_by_role("button", name="Send").click()
            page.get_by_text("Thank you.").wait_for()
            assert page.locator("input").count() == 0
    assert len(bodies) == 3
    assert set(bodies) <= {'{"report":0}', '{"report":1}'}
