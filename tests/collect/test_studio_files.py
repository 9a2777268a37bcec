"""A file in the studio: the administrator's alone, worked on and forgotten, and released as the library does it."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from maskwell.microdata import read, write
from maskwell.release import limit_identification
from maskwell.release.rows import random_order
from maskwell.tables.encoded import encoded
from tests.collect.servers import Server
from tests.collect.studio import visitor
from tests.collect.surveys import published

SECRET = "Quetzaltenango-77"
KEYS = ["sex", "age", "region"]
JOBS = ("columns", "risk", "release")


def table(hostile: str = "region") -> pa.Table:
    """People, one of whom lives where nobody else does."""
    rng = np.random.default_rng(1)
    levels: dict[str, list[Any]] = {"sex": ["f", "m"], "age": list(range(18, 60)), hostile: ["north", "south"]}
    columns = {name: rng.choice(own, 300).tolist() for name, own in levels.items()}
    columns[hostile][7] = SECRET
    return pa.table({**columns, "ill": rng.choice(["no", "yes"], 300).tolist()})


def stored(folder: Path, suffix: str, hostile: str = "region") -> bytes:
    """The file of a format."""
    write(table(hostile), folder / f"people{suffix}")
    return (folder / f"people{suffix}").read_bytes()


def asked(client: httpx.Client, job: str, content: bytes, name: str = "people.csv", **options: Any) -> httpx.Response:
    """A question about a file, as the page puts it."""
    said = json.dumps({"name": name, **options}).encode()
    body = len(said).to_bytes(4, "big") + said + content
    return client.post(f"/studio/files/{job}", content=body, headers={"Content-Type": "application/octet-stream"})


def test_only_the_administrator_gets_in(sqlite_service: Server, tmp_path: Path) -> None:
    content, survey = stored(tmp_path, ".csv"), published(sqlite_service)
    for tokens, status in (((), 401), ((survey.owner_token,), 403)):
        with visitor(sqlite_service, *tokens) as client:
            assert client.get("/studio/files").status_code == status
            assert [asked(client, job, content, keys=KEYS, xi="0.5").status_code for job in JOBS] == [status] * 3
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        assert "forgotten at once" in client.get("/studio/files").text
        elsewhere = {"Sec-Fetch-Site": "cross-site"}
        assert client.post("/studio/files/columns", content=content, headers=elsewhere).status_code == 403


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".dta", ".sav"])
def test_the_release_is_the_library_s(sqlite_service: Server, tmp_path: Path, suffix: str) -> None:
    content = stored(tmp_path, suffix)
    options: dict[str, Any] = {"keys": KEYS, "xi": "1/2", "within": {"sex": "", "age": "30, 45"}, "seed": 7}
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        found = asked(client, "columns", content, f"people{suffix}").json()
        answer = asked(client, "release", content, f"PEOPLE{suffix.upper()}", **options).json()
    assert (found["records"], [name for name, _ in found["columns"]]) == (300, table().column_names)
    file = read(tmp_path / f"people{suffix}")
    own = limit_identification(encoded(file), keys=KEYS, xi=0.5, within={"sex": None, "age": [30, 45]}, seed=7)
    order = random_order(300, None, None, 7)
    write(file.with_table(own.table.take(order)), tmp_path / f"released{suffix}")
    files = {name: base64.b64decode(text) for name, text in answer["files"].items()}
    assert set(files) == {f"released{suffix}", "plan.json", "internal.html", "external.html"}
    assert files[f"released{suffix}"] == (tmp_path / f"released{suffix}").read_bytes()
    assert files["plan.json"].decode() == own.plan.to_json()
    assert files["internal.html"].startswith(b"<!DOCTYPE html>")
    before, after = answer["figures"][1][1:]
    assert after < before


def test_the_risk_is_the_library_s(sqlite_service: Server, tmp_path: Path) -> None:
    from maskwell.risk import assess

    report = assess(table().select(KEYS), KEYS, population_size=9000)
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        answer = asked(client, "risk", stored(tmp_path, ".csv"), keys=KEYS, population=9000).json()
    assert answer["figures"][0][1] == report.sample_uniques
    assert answer["figures"][-1][1] == report.tau2
    assert b"Disclosure risk" in base64.b64decode(answer["files"]["risk.html"])


def test_a_column_that_decides_a_key_stops_the_release_until_something_is_done(
    sqlite_service: Server, tmp_path: Path
) -> None:
    people = table()
    people = people.append_column("born", pa.array([2020 - age for age in people["age"].to_pylist()]))
    write(people, tmp_path / "born.csv")
    content = (tmp_path / "born.csv").read_bytes()
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        stopped = asked(client, "release", content, keys=KEYS, xi="0.5").json()
        assert (stopped["stops"], stopped["files"]) == (["born"], {})
        assert "'born'" in stopped["why"]
        for remedy in ("drop", "along", "accept"):
            went = asked(client, "release", content, keys=KEYS, xi="0.5", **{remedy: ["born"]}).json()
            assert went["stops"] == []
            header = base64.b64decode(went["files"]["released.csv"]).splitlines()[0]
            assert (b"born" in header) == (remedy != "drop")


def test_bad_requests_get_one_clear_line(sqlite_service: Server, tmp_path: Path) -> None:
    content = stored(tmp_path, ".csv")
    wrong: list[tuple[str, bytes, str, dict[str, Any], str]] = [
        ("columns", content, "people.exe", {}, "must end in"),
        ("columns", content, "people.csv.gz", {}, "must end in"),
        ("columns", b"", "people.csv", {}, "empty"),
        ("columns", content, "people.parquet", {}, "cannot be read"),
        ("columns", content[:500], "people.dta", {}, "cannot be read"),
        ("risk", content, "people.csv", {"keys": []}, "choose the columns"),
        ("risk", content, "people.csv", {"keys": ["nobody"]}, "no such column"),
        ("risk", content, "people.csv", {"keys": "sex"}, "list of columns"),
        ("risk", content, "people.csv", {"keys": KEYS, "population": 3}, "population"),
        ("release", content, "people.csv", {"keys": KEYS, "xi": "all"}, "such as 0.5"),
        ("release", content, "people.csv", {"keys": KEYS, "xi": "0.5", "within": {"age": "x"}}, "cut points"),
        ("release", content, "people.csv", {"keys": KEYS, "xi": "0.5", "seed": "x"}, "seed"),
    ]
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        for job, body, name, options, words in wrong:
            answer = asked(client, job, body, name, **options)
            assert answer.status_code == 422, (name, options, answer.text)
            detail = answer.json()["detail"]
            assert words in detail
            assert "\n" not in detail
            assert SECRET not in detail
        for body in (b"", b"\x00", b"\xff\xff\xff\xff{}", b"\x00\x00\x00\x02[]", b"\x00\x00\x00\x02{}"):
            assert client.post("/studio/files/columns", content=body).status_code == 422
        assert _status_of_a_large_file(sqlite_service, client.cookies["maskwell_session"]) == 413


def test_nothing_of_a_file_stays(sqlite_service: Server, tmp_path: Path) -> None:
    def left() -> set[str]:
        return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("maskwell-")}

    before = left()
    content = stored(tmp_path, ".csv")
    with visitor(sqlite_service, sqlite_service.administrator_token) as client:
        for job in JOBS:
            answer = asked(client, job, content, f"{SECRET}.csv", keys=KEYS, xi="0.5")
            assert answer.status_code == 200
            assert answer.headers["cache-control"] == "no-store"
    assert left() == before
    assert SECRET not in sqlite_service.log.read_text()
    database = Path(sqlite_service.database.removeprefix("sqlite:///"))
    for file in database.parent.glob(f"{database.name}*"):
        assert SECRET.encode() not in file.read_bytes()


def _status_of_a_large_file(server: Server, session: str) -> int:
    """The answer to a request that announces more than may be sent, before it sends anything."""
    url = httpx.URL(server.url)
    connection = HTTPConnection(url.host, url.port, timeout=30)
    connection.putrequest("POST", "/studio/files/columns")
    for name, value in {"Content-Length": str(1 << 40), "Cookie": f"maskwell_session={session}"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status
