"""Coverage with sampling weights, from masked values, where weights do and do not go with the answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import maskwell as mw
from maskwell.designs import Design
from tests.evidence.cases import Floats
from tests.evidence.limits import FALSE_ALARM, LEVEL, covers, within
from tests.evidence.record import Result, Size, Table

SEED = 92
SURVEYS: dict[Size, int] = {"reduced": 2_500, "full": 5_000}
RESPONDENTS = 1_000
# Ratio estimates from unequal weights are a little short even where the normal law is good.
BAND = (0.925, 0.97)
KINDS = ("wald", "wilson")


@dataclass(frozen=True)
class Sampling:
    """Two strata: the share of respondents from the first, their weights, and the shares of categories in each."""

    label: str
    first: float
    weights: tuple[float, float]
    strata: tuple[tuple[float, ...], tuple[float, ...]]

    @property
    def truth(self) -> Floats:
        """Shares in the population, to which each respondent counts as the weight says."""
        parts = np.array([self.first, 1 - self.first]) * self.weights
        return np.asarray(parts @ np.array(self.strata) / parts.sum())


SAMPLINGS = (
    Sampling("weights 3 to 1, answers alike", 0.3, (3, 1), ((0.2, 0.3, 0.5), (0.2, 0.3, 0.5))),
    Sampling("weights 10 to 1, answers alike", 0.1, (10, 1), ((0.2, 0.3, 0.5), (0.2, 0.3, 0.5))),
    Sampling(
        "weights 10 to 1, the first answer in the heavy stratum", 0.1, (10, 1), ((0.5, 0.3, 0.2), (0.0, 0.5, 0.5))
    ),
    Sampling(
        "weights 10 to 1, the first answer in the light stratum", 0.1, (10, 1), ((0.05, 0.45, 0.5), (0.6, 0.2, 0.2))
    ),
)
DESIGNS: dict[Size, dict[str, Design]] = {
    "reduced": {"direct": mw.designs.direct(3), "minimax epsilon=1": mw.designs.minimax(3, epsilon=1)},
    "full": {
        "direct": mw.designs.direct(3),
        "gamma_diagonal epsilon=4": mw.designs.gamma_diagonal(3, epsilon=4),
        "minimax epsilon=1": mw.designs.minimax(3, epsilon=1),
        "rappor epsilon=2": mw.designs.rappor(3, epsilon=2),
    },
}


def run(size: Size) -> Result:
    """Draw, mask, tally with weights and estimate."""
    surveys = SURVEYS[size]
    rows, failures = [], []
    for i, sampling in enumerate(SAMPLINGS):
        for j, (label, design) in enumerate(DESIGNS[size].items()):
            covered = measure(design, sampling, surveys, SEED + 100 * i + j)
            row = [label, sampling.label]
            for kind in KINDS:
                row += [f"{covered[kind].min() / surveys:.3f}", f"{covered[kind].max() / surveys:.3f}"]
                failures += [
                    f"{label}, {sampling.label}, {kind}: share {share:.3f} covered in {count / surveys:.4f}, "
                    f"promised {BAND}"
                    for share, count in zip(sampling.truth, covered[kind], strict=True)
                    if not within(int(count), surveys, *BAND)
                ]
            rows.append(row)
    values = [float(row[column]) for row in rows for column in (2, 4)]
    return Result(
        name="weights",
        title="Interval coverage with sampling weights",
        question=f"How often do 95 % intervals cover when respondents carry sampling weights? {RESPONDENTS:,} "
        "respondents from two strata that are sampled at different rates; in half of the rows the strata answer "
        "differently, so that weights and answers go together.",
        criterion=f"Binomial limits around {BAND[0]} to {BAND[1]} for each category; false alarm {FALSE_ALARM:g} "
        "over all comparisons.",
        sizes={"surveys per row": surveys, "respondents": RESPONDENTS, "seed": SEED},
        findings=[
            f"{len(rows)} combinations over {surveys:,} surveys each: least coverage {min(values):.3f}, "
            f"{len(failures)} outside the limits."
        ],
        tables=[
            Table(
                "Least and greatest coverage over the categories:",
                ("design", "sampling", *(f"{kind} {what}" for kind in KINDS for what in ("least", "greatest"))),
                rows,
            )
        ],
        failures=failures,
    )


def measure(design: Design, sampling: Sampling, surveys: int, seed: int) -> dict[str, np.ndarray]:
    """By kind of interval, in how many surveys each category was covered."""
    rng = np.random.default_rng(seed)
    total = surveys * RESPONDENTS
    light = rng.random(total) >= sampling.first
    cumulated = np.cumsum(sampling.strata, axis=1)[:, :-1]
    codes = (rng.random(total)[:, None] >= cumulated[light.astype(int)]).sum(axis=1)
    reports = design.mask(codes, seed=seed)
    weights = np.array(sampling.weights)[light.astype(int)].astype(float)
    covered = {kind: np.zeros(design.k, int) for kind in KINDS}
    for start in range(0, total, RESPONDENTS):
        part = slice(start, start + RESPONDENTS)
        estimate = mw.estimate(mw.Reports(design, reports.packed[part]).tally(weights=weights[part]))
        for kind in KINDS:
            covered[kind] += covers(estimate.interval(LEVEL, kind), sampling.truth)
    return covered
