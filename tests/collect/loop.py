"""A whole survey: planned, published, answered over HTTP, estimated, exported, and estimated again from the files."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2

from maskwell import LDP, Design, designs
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
    "two": designs.product(designs.warner(truth_prob=0.8), designs.gamma_diagonal(LABELS, epsilon=2), names=["a", "b"]),
}


@dataclass
class Loop:
    """What came of a survey."""

    acknowledged: int
    failures: list[str]
    statistics: dict[str, float]


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
    """Go through it all; each estimate is held against the answers that were drawn, at this false-alarm rate in all."""
    client = Client(server.url, server.administrator_token)
    made = client.create_survey(document())
    owner = Client(server.url, made["owner_token"])
    asked = {q["name"]: Design.from_json(json.dumps(q["design"])) for q in client.survey(made["id"])["questions"]}
    truths = {name: _answers(design, people, seed + at) for at, (name, design) in enumerate(asked.items())}
    bodies = list(prepared(asked, truths, seed))
    sent = asyncio.run(send_all(server.url, made["id"], bodies))
    failures = [] if len(sent.acknowledged) == people else [f"{people - len(sent.acknowledged)} not acknowledged"]
    estimates = owner.estimates(made["id"])
    statistics = {}
    for name, design in asked.items():
        statistic, limit = _distance(design, truths[name], estimates[name], false_alarm / len(asked))
        statistics[name] = statistic
        if statistic > limit:
            failures.append(f"{name}: the estimate is {statistic:.1f} from the truth, more than {limit:.1f}")
    failures += _compare_files(owner, made["id"], folder, estimates)
    closed = owner.close(made["id"])
    if closed["state"] != "closed":
        failures.append("closing did not close it")
    return Loop(len(sent.acknowledged), failures, statistics)


def _answers(design: Design, people: int, seed: int) -> Any:
    chance = np.random.default_rng(seed)
    if design.variables:
        return {name: _answers(part, people, seed + 100) for name, part in design.variables.items()}
    shares = np.resize(SHARES, design.k)
    return chance.choice(list(design.categories), people, p=shares / shares.sum())


def _distance(design: Design, truth: Any, found: dict[str, Any], false_alarm: float) -> tuple[float, float]:
    """How far an estimate is from the shares among the people themselves, by its own covariance: χ², and its limit.

    The covariance counts the drawing of people as well, so the limit is kept more often than stated.
    """
    cells = list(zip(*truth.values(), strict=True)) if isinstance(truth, dict) else list(truth)
    shares = np.array([_share(cells, category) for category in design.categories])
    away = np.array(found["proportions"]) - shares
    covariance = np.array(found["covariance"])
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * values.max()
    statistic = float(((vectors[:, kept].T @ away) ** 2 / values[kept]).sum())
    return statistic, float(chi2.isf(false_alarm, kept.sum()))


def _share(cells: list[Any], category: Any) -> float:
    return sum(1 for cell in cells if cell == category) / len(cells)


def _compare_files(owner: Client, survey: str, folder: Path, estimates: dict[str, Any]) -> Iterator[str]:
    for kind in ("parquet", "csv"):
        with zipfile.ZipFile(io.BytesIO(owner.export(survey, format=kind))) as archive:
            archive.extractall(folder / kind)
        for path in sorted((folder / kind / "reports").iterdir()):
            name = path.stem[3:]
            if printed_estimate(path) != estimates[name]:
                yield f"{name}: the estimate from {path.name} is not the one that was shown"


def printed_estimate(path: Path) -> Any:
    """What ``maskwell estimate --json`` prints for a file."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "maskwell", "estimate", str(path), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
