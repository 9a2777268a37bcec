"""Forged files read one after the other: what was refused, what passed, and whether what passed is true."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import maskwell as mw
from tests.adversarial.drawn import false_claims
from tests.adversarial.forgery import forged, kind_of
from tests.adversarial.honest import KINDS


@dataclass
class Trial:
    """Counts by kind; failures as sentences with the file that shows them."""

    read: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    claiming: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    false_certificates: list[str] = field(default_factory=list)
    other_errors: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slowest_file: str = ""

    def one(self, kind: str, text: str) -> None:
        """Read one file and judge it."""
        self.read[kind] += 1
        start = time.perf_counter()
        try:
            design = mw.Design.from_json(text)
        except mw.MaskwellError as error:
            self.reasons[type(error).__name__] += 1
            design = None
        except Exception as error:
            self.other_errors.append(f"{type(error).__name__}: {text[:2000]}")
            design = None
        seconds = time.perf_counter() - start
        if seconds > self.slowest:
            self.slowest, self.slowest_file = seconds, text[:2000]
        if design is not None:
            self.passed[kind] += 1
            self.claiming[kind] += design.demand is not None
            self._judge(design, text)

    def _judge(self, design: mw.Design, text: str) -> None:
        try:
            found = false_claims(design)
        except Exception as error:
            found = [f"it loads but cannot be enumerated ({type(error).__name__}: {error})"]
        if found:
            self.false_certificates.append(f"{'; '.join(found)}: {text[:2000]}")


def try_files(count: int, seed: int) -> Trial:
    """Forged files of all kinds in turn."""
    mw.Design.from_json(mw.designs.block(7, l=3).to_json())  # whatever is set up once is not timed
    trial = Trial()
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        kind = kind_of(number)
        trial.one(kind, forged(rng, kind))
    assert set(trial.read) == set(KINDS[:count])
    return trial
