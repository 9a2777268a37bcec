"""A whole survey: planned, published, answered over HTTP, estimated, exported, and estimated again from the files."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm
from typer.testing import CliRunner

from maskwell import LDP, Design, designs
from maskwell.cli.program import app
from maskwell.collect import Client
from tests.collect.load import prepared, send_all
from tests.collect.servers import Server

# A question for every form that a report can have: planned, sets, blocks, a matrix, several variables.
SHARES = (0.4, 0.3, 0.2, 0.1)
LABELS = ["never", "seldom", "often", "always"]
QUESTIONS: dict[str, Design | LDP] = {
    "planned": LDP(1.5),
    "sets": designs.local_diversity(LABELS, l=2),
    "blocks": designs.block([*LABELS, "daily", "hourly", "no answer"], epsilon=1),
    "matrix": designs.crosswise(innocuous_prob=0.25),
    "two": designs.product(designs.warner(truth_prob=0.8), designs.minimax(LABELS, epsilon=2), names=["a", "bb"]),
}


@dataclass
class Loop:
    """What came of a survey."""

    acknowledged: int
    failures: list[str]
    cells: int
    alike: dict[str, bool]  # by exported file: whether it gives the estimate that was shown
    covered: int = 0
    farthest: float = 0.0


def document() -> dict[str, Any]:
    """The survey document: one question planned by the service, the others with their designs."""
    questions: list[dict[str, Any]] = []
    for name, asked in QUESTIONS.items():
        if isinstance(asked, LDP):
            how: dict[str, Any] = {"categories": LABELS, "demand": {"kind": "ldp", "epsilon": asked.epsilon}}
        else:
            how = {"design": json.loads(asked.to_json())}
        questions.append({"name": name, "text": f"{name}?", **how})
    return {"title": "A whole survey", "questions": questions, "least_batch": 50}


def run(server: Server, folder: Path, people: int, seed: int, false_alarm: float) -> Loop:
    """Go through it all; each estimate is held against the population, at this false-alarm rate in all."""
    with Client(server.url, server.administrator_token) as client:
        made = client.create_survey(document())
        shown = client.survey(made["id"])
    asked = {q["name"]: Design.from_json(json.dumps(q["design"])) for q in shown["questions"]}
    truths = {name: _answers(design, people, seed + at) for at, (name, design) in enumerate(asked.items())}
    bodies = list(prepared(asked, truths, seed))
    sent = asyncio.run(send_all(server.url, made["id"], bodies))
    failures = [] if len(sent.acknowledged) == people else [f"{people - len(sent.acknowledged)} not acknowledged"]
    with Client(server.url, made["owner_token"]) as owner:
        estimates = owner.estimates(made["id"])
        alike = _compare_files(owner, made["id"], folder, estimates)
        if owner.close(made["id"])["state"] != "closed":
            failures.append("closing did not close it")
    cells = sum(design.k for design in asked.values())
    limit = float(norm.isf(false_alarm / cells / 2))
    loop = Loop(len(sent.acknowledged), failures, cells, alike)
    failures += [f"{name}: not the estimate that was shown" for name, same in alike.items() if not same]
    for name, design in asked.items():
        away = np.abs(_away(design, estimates[name]))
        loop.farthest = max(loop.farthest, float(away.max()))
        limits = np.array(estimates[name]["intervals"])
        shares = _shares(design)
        loop.covered += int(((limits[:, 0] <= shares) & (shares <= limits[:, 1])).sum())
        if away.max() > limit:
            failures.append(f"{name}: an estimate is {away.max():.1f} standard errors away, more than {limit:.1f}")
    return loop


def _answers(design: Design, people: int, seed: int) -> Any:
    chance = np.random.default_rng(seed)
    if design.variables:
        return {
            name: _answers(part, people, seed + 100 + at) for at, (name, part) in enumerate(design.variables.items())
        }
    return chance.choice(list(design.categories), people, p=_shares(design))


def _shares(design: Design) -> Any:
    """The population that people are drawn from."""
    if design.variables:
        shares = np.ones(1)
        for part in design.variables.values():
            shares = np.outer(shares, _shares(part)).ravel()
        return shares
    shares = np.resize(SHARES, design.k)
    return shares / shares.sum()


def _away(design: Design, found: dict[str, Any]) -> Any:
    """How many standard errors each estimate is from the population's share."""
    return (np.array(found["estimates"]) - _shares(design)) / np.array(found["standard_errors"])


def _compare_files(owner: Client, survey: str, folder: Path, estimates: dict[str, Any]) -> dict[str, bool]:
    alike = {}
    for kind in ("parquet", "csv"):
        with zipfile.ZipFile(io.BytesIO(owner.export(survey, format=kind))) as archive:
            archive.extractall(folder / kind)
        for path in sorted((folder / kind / "reports").glob(f"*.{kind}")):
            alike[path.name] = printed_estimate(path) == estimates[path.stem[3:]]
    return alike


def printed_estimate(path: Path) -> Any:
    """What ``maskwell estimate --json`` prints for a file, but for the files that it wrote: none."""
    result = CliRunner().invoke(app, ["estimate", str(path), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found.pop("output") == []
    return found
