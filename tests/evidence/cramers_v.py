"""Cramér's V of masked variables: what the correction for noise leaves, and how often the limits cover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

import maskwell as mw
from maskwell.designs import Design
from maskwell.inference.cramers_v import plain_v
from tests.evidence.cases import Floats
from tests.evidence.record import Result, Size, Table

SEED = 7417
SURVEYS: dict[Size, int] = {"reduced": 60, "full": 300}
RESPONDENTS = (300, 3_000)
TRUE = (0.0, 0.1, 0.3, 0.7, 1.0)
# Set before these draws: what limits of a quadratic form by a two-moment law are held to at every point.
LEAST_COVERAGE = 0.90
FALSE_ALARM = 1e-3


@dataclass(frozen=True)
class Found:
    """What came out at a point."""

    label: str
    margins: str
    n: int
    true: float
    uncorrected: float
    values: Floats
    limits: Floats

    @property
    def covered(self) -> int:
        """Surveys whose limits hold the true V, up to round-off."""
        return int(((self.limits[:, 0] <= self.true + 1e-9) & (self.true - 1e-9 <= self.limits[:, 1])).sum())


def designs(size: Size) -> dict[str, Design]:
    """Each is used for both variables."""
    d = mw.designs
    every: dict[str, Design] = {
        "direct 4": d.direct(4),
        "warner .75": d.warner(truth_prob=0.75),
        "k-ary epsilon=2, 4": d.gamma_diagonal(4, epsilon=2),
        "k-ary epsilon=1, 3": d.gamma_diagonal(3, epsilon=1),
        "minimax epsilon=1, 5": d.minimax(5, epsilon=1),
        "uniform subsets 4": d.uniform_subsets(4),
    }
    return every if size == "full" else {name: every[name] for name in ("direct 4", "minimax epsilon=1, 5")}


def run(size: Size) -> Result:
    """Surveys of populations in which a share of the people has the same answer to both questions."""
    surveys = SURVEYS[size]
    grid = [
        (label, part, margins, n, true)
        for label, part in designs(size).items()
        for margins in ("even", "skewed")
        for n in RESPONDENTS
        for true in TRUE
    ]
    found = [measure(*point, surveys, i) for i, point in enumerate(grid)]
    least = int(binom.ppf(FALSE_ALARM / len(found), surveys, LEAST_COVERAGE))
    failures = [
        f"{f.label}, {f.margins}, n={f.n:,}, V={f.true}: covers {f.covered / surveys:.3f}"
        for f in found
        if f.covered < least
    ]
    failures += [
        f"{f.label}, {f.margins}, n={f.n:,}, V={f.true}: limits or values outside [0, 1]"
        for f in found
        if f.limits.min() < 0 or f.limits.max() > 1 or f.values.min() < 0 or f.values.max() > 1
    ]
    none = [f for f in found if f.true == 0]
    return Result(
        name="cramers_v",
        title="Cramér's V of masked variables",
        question="Noise adds to Cramér's V whatever its direction. Is V without it near the truth, and do its 95 % "
        "limits cover? Two variables with the same design; a share of the people has the same answer to both.",
        criterion=f"Values and limits inside [0, 1]. No point covers less than {LEAST_COVERAGE} in truth (binomial, "
        f"false alarm {FALSE_ALARM:g} over all points): at least {least / surveys:.3f} of its surveys. Set before "
        "these draws.",
        sizes={"points": len(found), "surveys per point": surveys, "seed": SEED},
        findings=[
            f"{len(found)} points, {surveys} surveys each: limits cover "
            f"{np.mean([f.covered for f in found]) / surveys:.4f} in all, "
            f"{min(f.covered for f in found) / surveys:.3f} "
            f"to {max(f.covered for f in found) / surveys:.3f} by point.",
            f"Of independent variables V is {np.mean([f.uncorrected for f in none]):.2f} on average over all points "
            f"as the tables stand (at most {max(f.uncorrected for f in none):.2f} at a point), and "
            f"{np.mean([f.values.mean() for f in none]):.2f} without the noise; its median is at most "
            f"{max(np.median(f.values) for f in none):.2f}.",
            "Where the limits are nearly [0, 1] the reports say nothing about V, and no correction makes them: the "
            "mean of values that cannot be below 0 then lies above 0.",
        ],
        tables=[_table(found, surveys)],
        failures=failures,
    )


def measure(label: str, part: Design, margins: str, n: int, true: float, surveys: int, position: int) -> Found:
    """V and its limits in each of many surveys."""
    shares = np.full(part.k, 1.0) if margins == "even" else 0.6 ** np.arange(part.k)
    shares /= shares.sum()

    def table(share: float) -> Floats:
        return (1 - share) * np.outer(shares, shares) + share * np.diag(shares)

    share = true if true in (0, 1) else float(brentq(lambda s: plain_v(table(s)) - true, 0, 1))
    design = mw.designs.product(part, part)
    chances = design.matrix() @ table(share).ravel()
    rng = np.random.default_rng([SEED, position])
    values, limits, raw = [], [], []
    for counts in rng.multinomial(n, chances / chances.sum(), size=surveys):
        one = mw.estimate(mw.Tally.from_counts(design, counts)).association()  # type: ignore[attr-defined]
        values.append(one.value)
        limits.append(one.interval())
        raw.append(one.uncorrected)
    return Found(label, margins, n, true, float(np.mean(raw)), np.array(values), np.array(limits))


def _table(found: list[Found], surveys: int) -> Table:
    rows = [
        (
            f.label,
            f.margins,
            f.n,
            f"{f.true:g}",
            f"{f.uncorrected:.3f}",
            f"{f.values.mean():.3f}",
            f"{np.median(f.values):.3f}",
            f"{f.covered / surveys:.3f}",
            f"{(f.limits[:, 1] - f.limits[:, 0]).mean():.2f}",
        )
        for f in found
    ]
    header = ("design", "margins", "n", "V", "as it stands", "corrected", "its median", "limits cover", "their width")
    return Table("V on average over the surveys, and its 95 % limits:", header, rows)
