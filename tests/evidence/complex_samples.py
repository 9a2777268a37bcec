"""Complex samples of masked answers: stated over found variance and coverage, for estimators by sample designs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, chi2

import maskwell as mw
from tests.evidence.cases import Floats
from tests.evidence.record import Result, Size, Table
from tests.evidence.workers import measured

SEED = 8123
SURVEYS: dict[Size, int] = {"reduced": 40, "full": 20_000}
REFITTED: dict[Size, int] = {"reduced": 0, "full": 4_000}
"""Surveys in which a likelihood is maximised again with every replicate weight."""
BATCH = 500
"""Surveys that are held at once; some have a hundred weights for every person."""
TOLERANCE = 0.03
# Student's limits of estimates that are not quite normal: shares of .1 to .5, ratios, variances.
BAND = (0.93, 0.97)
FALSE_ALARM = 1e-6
COMPARISONS = 1_000
X, Y = ("never", "once", "often"), ("yes", "no")
MASK = mw.designs.product(
    mw.designs.minimax(X, epsilon=3), mw.designs.warner(Y, truth_prob=0.9), names=["habit", "insured"]
)


@dataclass(frozen=True)
class Population:
    """People in clusters in strata, with two sensitive answers and two columns that anybody may know."""

    stratum: NDArray[np.int64]
    cluster: NDArray[np.int64]
    codes: NDArray[np.int64]
    region: NDArray[np.str_]
    sex: NDArray[np.str_]

    @staticmethod
    def made_up(strata: int, clusters: int, people: int) -> Population:
        """Clusters differ in their habits; the region goes with the habit, and so does being insured."""
        rng = np.random.default_rng([SEED, strata])
        sizes = clusters + 4 * (np.arange(strata) % 3)  # clusters by stratum, so that weights differ
        of_cluster = np.repeat(np.arange(strata), sizes)
        stratum, cluster = np.repeat(of_cluster, people), np.repeat(np.arange(len(of_cluster)), people)
        shift = 0.12 * rng.standard_normal(len(of_cluster)) + 0.1 * (of_cluster % 3 - 1)
        u, v, w = rng.random((3, len(cluster)))
        habit = (u > 0.4 + shift[cluster]).astype(int) + (u > 0.75 + shift[cluster] / 2)
        insured = (v > np.array([0.35, 0.5, 0.65])[habit]).astype(int)
        region = np.where(w < np.array([0.3, 0.5, 0.7])[habit], "north", "south")
        sex = np.where(rng.random(len(cluster)) < 0.5, "f", "m")
        return Population(stratum, cluster, np.column_stack([habit, insured]), region, sex)

    @property
    def totals(self) -> dict[str, dict[str, float]]:
        """Known totals of the open columns."""
        named = {"region": self.region, "sex": self.sex}
        return {name: {str(c): float((x == c).sum()) for c in np.unique(x)} for name, x in named.items()}


@dataclass(frozen=True)
class Drawn:
    """Who was drawn, and the sample that says how."""

    people: NDArray[np.int64]
    sample: mw.Sample


@cache
def populations() -> dict[str, Population]:
    """Few strata of many clusters, and many strata of which two clusters each are drawn."""
    return {"few": Population.made_up(5, 20, 8), "pairs": Population.made_up(30, 8, 8)}


def of_clusters(p: Population, per: int, rng: np.random.Generator, *, replace: bool, people: int = 0) -> Any:
    """People, their columns of weights, strata and clusters, and the sizes that a population correction needs."""
    rows, columns = [], []
    of_cluster = p.stratum[np.unique(p.cluster, return_index=True)[1]]
    for h in range(int(p.stratum.max()) + 1):
        clusters = np.flatnonzero(of_cluster == h)
        for number, cluster in enumerate(rng.choice(clusters, per, replace=replace)):
            inside = np.flatnonzero(p.cluster == cluster)
            asked = rng.choice(inside, people, replace=False) if people else inside
            weight = len(clusters) / per * len(inside) / len(asked)
            rows.append(asked)
            columns.append([[weight, h, number, len(clusters), len(inside)]] * len(asked))
    return np.concatenate(rows), np.concatenate(columns).T


def unequal(p: Population, rng: np.random.Generator) -> Drawn:
    """People with chances that go with their habit, with replacement."""
    chances = np.array([1.0, 1.5, 2.0])[p.codes[:, 0]] * np.random.default_rng(SEED).uniform(0.6, 1.4, len(p.codes))
    chances /= chances.sum()
    people = rng.choice(len(chances), 480, p=chances)
    return Drawn(people, mw.Sample(weights=1 / (480 * chances[people])))


def clustered(p: Population, rng: np.random.Generator) -> Drawn:
    """Twelve clusters of each stratum, with replacement."""
    people, (weight, h, number, *_) = of_clusters(p, 12, rng, replace=True)
    return Drawn(people, mw.Sample(weights=weight, strata=h.astype(int), clusters=number.astype(int)))


def corrected(p: Population, rng: np.random.Generator) -> Drawn:
    """Twelve of the clusters of each stratum, without replacement."""
    people, (weight, h, number, many, _) = of_clusters(p, 12, rng, replace=False)
    return Drawn(people, mw.Sample(weights=weight, strata=h.astype(int), clusters=number.astype(int), fpc=many))


def two_stages(p: Population, rng: np.random.Generator) -> Drawn:
    """Twelve of the clusters of each stratum, and five of the eight people of each."""
    people, (weight, h, number, many, size) = of_clusters(p, 12, rng, replace=False, people=5)
    clusters = [number.astype(int), np.arange(len(people))]
    return Drawn(people, mw.Sample(weights=weight, strata=h.astype(int), clusters=clusters, fpc=[many, size]))


def poststratified(p: Population, rng: np.random.Generator) -> Drawn:
    """Clusters, with weights that meet the total of each region."""
    drawn = clustered(p, rng)
    margins = {"region": p.totals["region"]}
    return Drawn(drawn.people, drawn.sample.calibrate(margins, region=p.region[drawn.people]))


def raked(p: Population, rng: np.random.Generator) -> Drawn:
    """Clusters, with weights that meet the totals of regions and of sexes."""
    drawn = clustered(p, rng)
    made = drawn.sample.calibrate(p.totals, region=p.region[drawn.people], sex=p.sex[drawn.people])
    return Drawn(drawn.people, made)


def replicated(method: Any, **options: Any) -> Callable[[Population, np.random.Generator], Drawn]:
    """Clusters with replicate weights."""

    def draw(p: Population, rng: np.random.Generator) -> Drawn:
        drawn = clustered(p, rng)
        more = {"seed": int(rng.integers(2**31))} if method == "bootstrap" else {}
        return Drawn(drawn.people, drawn.sample.with_replicates(method, **options, **more))

    return draw


def halved(method: Any, **options: Any) -> Callable[[Population, np.random.Generator], Drawn]:
    """Two clusters of each of many strata, with balanced half-samples."""

    def draw(p: Population, rng: np.random.Generator) -> Drawn:
        people, (weight, h, number, *_) = of_clusters(p, 2, rng, replace=True)
        sample = mw.Sample(weights=weight, strata=h.astype(int), clusters=number.astype(int))
        return Drawn(people, sample.with_replicates(method, **options))

    return draw


SAMPLES: dict[str, tuple[str, Callable[[Population, np.random.Generator], Drawn]]] = {
    "unequal chances": ("few", unequal),
    "strata and clusters": ("few", clustered),
    "population correction": ("few", corrected),
    "two stages, corrected": ("few", two_stages),
    "post-stratified": ("few", poststratified),
    "raked": ("few", raked),
    "jackknife (jkn)": ("few", replicated("jkn")),
    "bootstrap": ("few", replicated("bootstrap", replicates=120)),
    "balanced half-samples": ("pairs", halved("brr")),
    "Fay .5": ("pairs", halved("fay", fay=0.5)),
}

Measured = tuple[Any, Any, Any]
"""Values, variances, and lower and upper limits."""


def measures(reports: mw.Reports, drawn: Drawn, p: Population, refit: bool) -> dict[str, Measured]:
    """Every estimator on one survey."""
    sample, sex = drawn.sample, p.sex[drawn.people]
    joint: Any = mw.estimate(reports, sample=sample)
    habit = joint.part_of("habit")
    found: dict[str, Measured] = {}

    def shares(name: str, estimate: Any) -> None:
        found[name] = estimate.proportions, estimate.variances, estimate.interval()

    def single(name: str, number: Any) -> None:
        found[name] = [number.value], [number.standard_error**2], [number.interval()]

    shares("joint shares", joint)
    shares("shares, linear", joint.marginal("habit"))
    shares("shares of women", mw.estimate_by(habit, sex, sample=sample)["f"])
    totals = mw.estimate_totals(habit, sample=sample)
    found["totals"] = totals.values, totals.standard_errors**2, totals.interval()
    single("difference of groups", mw.compare_groups(habit, sex, {"never": 1}, sample=sample))
    single("ratio of shares", mw.ratio(habit, {"often": 1}, {"never": 1}, sample=sample))
    share = joint.conditional({"habit": "never"}, {"insured": "yes"})
    limits = joint.conditional_interval({"habit": "never"}, {"insured": "yes"})
    found["conditional share"] = [share.value], [share.standard_error**2], [limits]
    numbers = {"habit": {"never": 0, "once": 1, "often": 2}}
    single("correlation", mw.correlations(reports, numbers, sample=sample).of("habit", "insured"))
    sums = mw.sum_score(reports, numbers, sample=sample)
    single("mean of the sum", sums.mean)
    single("variance of the sum", sums.variance)
    found["distribution of the sum"] = sums.proportions, np.diagonal(sums.covariance), sums.interval()
    if sample.replicates is None or refit:
        for method in ("likelihood", "one-step"):
            shares(f"shares, {method}", mw.estimate(habit, method, sample=sample))
    return found


def truths(p: Population) -> dict[str, Floats]:
    """What every estimator estimates."""
    habit, insured = p.codes.T
    table = np.bincount(2 * habit + insured, minlength=6).reshape(3, 2) / len(habit)
    shares = table.sum(axis=1)
    women, men = (np.bincount(habit[p.sex == s], minlength=3) / (p.sex == s).sum() for s in "fm")
    total = habit + (insured == 0)
    return {
        "joint shares": table.reshape(-1),
        "shares, linear": shares,
        "shares, likelihood": shares,
        "shares, one-step": shares,
        "shares of women": women,
        "totals": shares * len(habit),
        "difference of groups": women[:1] - men[:1],
        "ratio of shares": shares[2:] / shares[:1],
        "conditional share": table[:1, 0] / table[:, 0].sum(),
        "correlation": np.corrcoef(habit, insured == 0)[:1, 1],
        "mean of the sum": np.array([total.mean()]),
        "variance of the sum": np.array([total.var()]),
        "distribution of the sum": np.bincount(total, minlength=4) / len(total),
    }


@dataclass(frozen=True)
class Cell:
    """One estimator with one sample design, over many surveys."""

    sample: str
    estimator: str
    surveys: int
    ratios: Floats
    covered: NDArray[np.int64]


def run(size: Size) -> Result:
    """Draw, mask, estimate, again and again."""
    cells = [cell for part in measured(partial(measure, size=size), SAMPLES, size) for cell in part]
    failures = []
    for cell in cells:
        low, high = variance_limits(cell.surveys)
        if (cell.ratios < low).any() or (cell.ratios > high).any():
            failures.append(f"{cell.sample}, {cell.estimator}: stated over found variance {cell.ratios.round(3)}")
        least, most = coverage_limits(cell.surveys)
        if (cell.covered < least).any() or (cell.covered > most).any():
            failures.append(f"{cell.sample}, {cell.estimator}: coverage {(cell.covered / cell.surveys).round(3)}")
    ratios = np.concatenate([cell.ratios for cell in cells])
    rates = np.concatenate([cell.covered / cell.surveys for cell in cells])
    inside = float(((rates >= 0.94) & (rates <= 0.96)).mean())
    return Result(
        name="complex_samples",
        title="Estimates from complex samples of masked answers",
        question="Is the variance that goes with an estimate from a complex sample the one that repeated surveys show, "
        "and do 95 % intervals cover? Some hundred people of a made-up population, in clusters in strata, are drawn "
        "anew, masked (minimax at ε = 3, Warner .9) and estimated, for every estimator and sample design; the truth is "
        "that of the population.",
        criterion=f"Mean stated over found variance within chi-square limits widened by {TOLERANCE:.0%} for what "
        f"linearisation leaves out, and coverage within binomial limits around {BAND[0]} to {BAND[1]}, for each number "
        f"by itself; false alarm {FALSE_ALARM:g} over at most {COMPARISONS:,} comparisons of each kind.",
        sizes={"surveys": SURVEYS[size], "surveys with refits": REFITTED[size], "seed": SEED},
        findings=[
            f"{len(ratios)} numbers in {len(cells)} estimators by sample designs: stated over found variance "
            f"{ratios.mean():.3f} on average ({ratios.min():.3f} to {ratios.max():.3f}), coverage {rates.mean():.3f} "
            f"on average ({rates.min():.3f} to {rates.max():.3f}; {inside:.0%} from .94 to .96); {len(failures)} "
            "outside the limits.",
            *by_sample(cells),
        ],
        tables=[
            Table(
                "Stated over found variance and coverage of 95 % intervals, least and greatest over the numbers of an "
                "estimator:",
                ("sample design", "estimator", "surveys", "variance least", "greatest", "coverage least", "greatest"),
                [
                    (
                        cell.sample,
                        cell.estimator,
                        cell.surveys,
                        f"{cell.ratios.min():.3f}",
                        f"{cell.ratios.max():.3f}",
                        f"{cell.covered.min() / cell.surveys:.3f}",
                        f"{cell.covered.max() / cell.surveys:.3f}",
                    )
                    for cell in cells
                ],
            )
        ],
        failures=failures,
    )


def by_sample(cells: list[Cell]) -> list[str]:
    """The averages over all estimators of each sample design."""
    lines = []
    for name in SAMPLES:
        own = [cell for cell in cells if cell.sample == name]
        ratio = np.concatenate([cell.ratios for cell in own]).mean()
        rate = np.concatenate([cell.covered / cell.surveys for cell in own]).mean()
        lines.append(f"{name}: stated over found variance {ratio:.3f}, coverage {rate:.3f} over all numbers.")
    return lines


def variance_limits(surveys: int) -> tuple[float, float]:
    """For the mean stated over the found variance; estimates of variances and ratios have longer tails than normal."""
    tail = FALSE_ALARM / COMPARISONS / 2
    # A kurtosis of 4 widens the spread of a variance by half again as much.
    df = (surveys - 1) / 1.5
    low, high = chi2.ppf([tail, 1 - tail], df) / df
    return (1 - TOLERANCE) / float(high), (1 + TOLERANCE) / float(low)


def coverage_limits(surveys: int) -> tuple[float, float]:
    """The fewest and the most surveys that may be covered."""
    tail = FALSE_ALARM / COMPARISONS / 2
    return float(binom.ppf(tail, surveys, BAND[0])), float(binom.isf(tail, surveys, BAND[1]))


def masked(p: Population, drawn: list[Drawn], seed: int) -> mw.Reports:
    """The reports of the people of all surveys, one survey after the other."""
    people = np.concatenate([each.people for each in drawn])
    labels = {
        "habit": np.array(X, object)[p.codes[people, 0]],
        "insured": np.array(Y, object)[p.codes[people, 1]],
    }
    return MASK.mask(labels, seed=seed)


def measure(name: str, size: Size) -> list[Cell]:
    """All estimators with one sample design."""
    number = list(SAMPLES).index(name)
    which, draw = SAMPLES[name]
    p = populations()[which]
    rng = np.random.default_rng([SEED, number])
    truth = truths(p)
    kept: dict[str, list[Measured]] = {}
    for first in range(0, SURVEYS[size], BATCH):
        drawn = [draw(p, rng) for _ in range(min(BATCH, SURVEYS[size] - first))]
        reports = masked(p, drawn, seed=SEED + first * len(SAMPLES) + number)
        start = 0
        for survey, each in enumerate(drawn, start=first):
            part = reports.part(slice(start, start + len(each.people)))
            start += len(each.people)
            for estimator, numbers in measures(part, each, p, survey < REFITTED[size]).items():
                kept.setdefault(estimator, []).append(numbers)
    cells = []
    for estimator, found in kept.items():
        values, variances, limits = (np.array([one[i] for one in found]) for i in range(3))
        covered = (limits[:, :, 0] <= truth[estimator]) & (truth[estimator] <= limits[:, :, 1])
        ratios = variances.mean(axis=0) / values.var(axis=0, ddof=1)
        cells.append(Cell(name, estimator, len(found), ratios, covered.sum(axis=0)))
    return cells
