"""Works side by side: each in a fresh process, in rounds that take turns, so that a busy moment meets all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.frame.rows import Goal, Ratio, Row

ROOT = Path(__file__).resolve().parents[2]
OURS = "ours"
_PROCESS_LIMIT = 300.0
_UNITS = ((1e6, "µs"), (1e3, "ms"), (1.0, "s"))


@dataclass(frozen=True)
class Work:
    """``target``, as ``module:function``, with its arguments, in an environment: ours or a peer's."""

    target: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    environment: str = OURS

    @property
    def python(self) -> Path:
        """The interpreter of the environment; ours is the one that runs the bench."""
        return Path(sys.executable) if self.environment == OURS else ROOT / f".venv-{self.environment}" / "bin/python"


@dataclass(frozen=True)
class Measured:
    """One stage of one work: a figure for each round."""

    records: int
    seconds: list[float]
    """By round: the median of the runs in that process."""
    peak_mib: float | None
    added_mib: float | None
    facts: Mapping[str, float]
    """What the stage returned beside its time, in the last round."""

    @property
    def rates(self) -> Ratio:
        """Records a second."""
        return Ratio.of([self.records / s for s in self.seconds])

    @property
    def nanoseconds(self) -> Ratio:
        """Nanoseconds a record."""
        return Ratio.of([1e9 * s / self.records for s in self.seconds])

    def faster_than(self, other: Measured) -> Ratio:
        """How many times as many records a second, round by round."""
        pairs = zip(self.seconds, other.seconds, strict=True)
        return Ratio.of([self.records / mine / (other.records / theirs) for mine, theirs in pairs])

    def time_row(
        self,
        what: str,
        ratio: Ratio | None = None,
        beside: str = "",
        goal: Goal | None = None,
        *,
        a_record: bool = True,
    ) -> Row:
        """The time of a record in nanoseconds, or of the whole in a fitting unit."""
        if a_record:
            return Row(what, self.nanoseconds, "ns", ratio, beside, goal)
        scale, unit = next((s, u) for s, u in _UNITS if median(self.seconds) * s < 1000 or u == "s")
        return Row(what, Ratio.of([s * scale for s in self.seconds]), unit, ratio, beside, goal)

    def rate_row(self, what: str, other: Measured | None = None, beside: str = "", goal: Goal | None = None) -> Row:
        """The rate in millions a second, and how many times as fast as another."""
        rates = Ratio(*(rate / 1e6 for rate in self.rates))
        return Row(what, rates, "M/s", None if other is None else self.faster_than(other), beside, goal)


@dataclass(frozen=True)
class Bench:
    """How much to measure: ``quick`` is for a look, and a part ends soon after its ``deadline`` (monotonic seconds)."""

    quick: bool = False
    rounds: int = 5
    seconds: float = 0.5
    """What the timed runs of one stage may take in one process."""
    deadline: float = float("inf")

    def alternate(self, works: Mapping[str, Work], rounds: int | None = None) -> dict[str, dict[str, Measured]]:
        """By work and stage. Every round runs each work once, in turns from either end; one round is always whole."""
        most = min(self.rounds, rounds or self.rounds)
        done: list[dict[str, Any]] = []
        while not done or (len(done) < most and time.monotonic() < self.deadline):
            names = list(works) if len(done) % 2 == 0 else list(works)[::-1]
            done.append({name: self._run(works[name]) for name in names})
        return {
            name: {stage: _over_rounds([answers[name][stage] for answers in done]) for stage in done[0][name]}
            for name in works
        }

    def alone(self, work: Work, rounds: int | None = None) -> dict[str, Measured]:
        """By stage, for a work without a peer."""
        return self.alternate({"": work}, rounds)[""]

    def _run(self, work: Work) -> dict[str, Any]:
        request = json.dumps({"work": work.target, "arguments": dict(work.arguments), "seconds": self.seconds})
        paths = [str(ROOT / "src"), str(ROOT)] if work.environment == OURS else [str(ROOT)]
        found = subprocess.run(
            [work.python, "-m", "bench.frame.stages", request],
            capture_output=True,
            text=True,
            timeout=_PROCESS_LIMIT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "ignore"},
            cwd=ROOT,
        )
        if found.returncode:
            raise RuntimeError(f"{work.target} in {work.environment} failed:\n{found.stderr[-2000:]}")
        answer: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
        return answer


def _over_rounds(answers: list[dict[str, Any]]) -> Measured:
    memory = [[answer.get(name) for answer in answers] for name in ("peak_mib", "added_mib")]
    peak, added = (None if None in found else median(found) for found in memory)
    seconds = [median(answer["seconds"]) for answer in answers]
    return Measured(answers[0]["records"], seconds, peak, added, answers[-1]["facts"])
