"""Forged files read one after the other: what was refused, what passed, and whether what passed is true."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import maskwell as mw
from maskwell.release.identification.plan import IdentificationPlan
from maskwell.release.plan import ReleasePlan
from tests.adversarial.drawn import false_claims
from tests.adversarial.forgery import forged, kind_of
from tests.adversarial.honest import KINDS
from tests.adversarial.other_files import forged_plan, people, spoiled_file, write_reports

_SHOWN = 2000


@dataclass
class Trial:
    """Counts by kind of file; failures as sentences with the file that shows them."""

    read: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    false_certificates: list[str] = field(default_factory=list)
    other_errors: list[str] = field(default_factory=list)
    slowest: dict[str, float] = field(default_factory=dict)

    def one(self, kind: str, read: Callable[[], Any], judge: Callable[[Any], list[str]], shown: str) -> None:
        """Read one file, and judge what came of it; only the reading is timed, in time of the processor."""
        self.read[kind] += 1
        start = time.process_time()
        found = None
        try:
            found = read()
        except mw.MaskwellError as error:
            if not str(error).isprintable():
                self.other_errors.append(f"a message that is no plain line: {shown[:_SHOWN]}")
        except Exception as error:
            self.other_errors.append(f"{type(error).__name__}: {shown[:_SHOWN]}")
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), time.process_time() - start)
        if found is None:
            return
        self.passed[kind] += 1
        try:
            lies = judge(found)
        except Exception as error:
            lies = [f"it loads but cannot be judged ({type(error).__name__}: {error})"]
        if lies:
            self.false_certificates.append(f"{'; '.join(lies)}: {shown[:_SHOWN]}")


def try_designs(count: int, seed: int) -> Trial:
    """Forged designs of all kinds in turn."""
    mw.Design.from_json(mw.designs.block(7, l=3).to_json())  # whatever is set up once is not timed
    trial = Trial()
    for number in range(count):
        kind = kind_of(number)
        text = forged(np.random.default_rng([seed, number]), kind)
        trial.one(kind, partial(mw.Design.from_json, text), false_claims, text)
    assert set(trial.read) == set(KINDS[:count])
    return trial


def try_plans(count: int, seed: int) -> Trial:
    """Forged plans of releases; one that is carried out must keep its limit."""
    trial = Trial()
    for number in range(count):
        text = forged_plan(np.random.default_rng([seed, number]))
        trial.one("plan", partial(ReleasePlan.from_json, text), _lies_of_plan, text)
    return trial


def _lies_of_plan(plan: Any) -> list[str]:
    if not repr(plan).isprintable():
        return ["it shows more than a line"]
    try:
        done = plan.apply(people())
    except mw.MaskwellError:
        return []
    if not isinstance(plan, IdentificationPlan):
        return []
    return [] if done.audit.risk <= plan.xi else [f"a risk of {done.audit.risk} where {plan.xi} is promised"]


def try_report_files(count: int, seed: int, folder: Path) -> Trial:
    """Files of reports with changed bytes or metadata: what is read is what was written, or it is an error."""
    written = write_reports(folder)
    paths, trial = list(written), Trial()
    for number in range(count):
        path = paths[number % len(paths)]
        target = folder / f"spoiled{path.suffix}"
        spoiled_file(np.random.default_rng([seed, number]), path, target)
        judge = partial(_lies_of_reports, written[path])
        trial.one(f"reports {path.suffix}", partial(mw.Reports.read, target), judge, f"{path.name} {number}")
    return trial


def _lies_of_reports(written: mw.Reports, read: mw.Reports) -> list[str]:
    return [] if read == written else ["it is read as other reports"]
