"""Complex samples of masked answers: stated over found variance and coverage, for estimators by sample designs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
SURVEYS: dict[Size, int] = {"reduced": 40, "full": 10_000}
FITTED: dict[Size, int] = {"reduced": 10, "full": 1_500}
"""Surveys with regressions, and with likelihoods that are maximised again with every replicate weight."""
BATCH = 500
"""Surveys that are held at once; some have a hundred weights for every person."""
TOLERANCE = 0.03
BAND = (0.94, 0.96)
# Standard errors by which what is pooled may leave TOLERANCE and BAND: of so many estimators by sample designs, some
# that are right lie two of them off. Regressions and refits, of which there are fewer, have three.
ROOM: dict[Size, float] = {"reduced": 5.0, "full": 2.0}
ROOM_OF_FITS: dict[Size, float] = {"reduced": 5.0, "full": 3.0}
MOST_REFUSED = 0.02
FALSE_ALARM = 1e-6
COMPARISONS = 1_000
X, Y = ("never", "once", "often"), ("yes", "no")
LABELS = {"habit": X, "insured": Y}
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


def clusters_alone(p: Population, rng: np.random.Generator) -> Drawn:
    """Sixty clusters of all, whatever their stratum, with replacement."""
    many = int(p.cluster.max()) + 1
    chosen = rng.integers(many, size=60)
    people = np.concatenate([np.flatnonzero(p.cluster == cluster) for cluster in chosen])
    number = np.repeat(np.arange(60), np.bincount(p.cluster)[chosen])
    return Drawn(people, mw.Sample(weights=np.full(len(people), many / 60), clusters=number))


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


def jackknifed(p: Population, rng: np.random.Generator) -> Drawn:
    """Clusters without strata, each left out in turn."""
    drawn = clusters_alone(p, rng)
    return Drawn(drawn.people, drawn.sample.with_replicates("jk1"))


def raked_replicates(p: Population, rng: np.random.Generator) -> Drawn:
    """Clusters, with replicate weights that meet the totals of regions and of sexes, each by itself."""
    drawn = clustered(p, rng)
    sample = drawn.sample.with_replicates("jkn")
    return Drawn(drawn.people, sample.calibrate(p.totals, region=p.region[drawn.people], sex=p.sex[drawn.people]))


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
    "jackknife (jk1)": ("few", jackknifed),
    "jackknife (jkn)": ("few", replicated("jkn")),
    "jackknife (jkn), raked": ("few", raked_replicates),
    "bootstrap": ("few", replicated("bootstrap", replicates=120)),
    "balanced half-samples": ("pairs", halved("brr")),
    "Fay .5": ("pairs", halved("fay", fay=0.5)),
}

Measured = tuple[Any, Any, Any]
"""Values, variances, and lower and upper limits."""
NUMBERS = {"habit": {"never": 0, "once": 1, "often": 2}}
REGRESSIONS: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "logit, outcome masked, likelihood": ("insured ~ sex + region", ("insured",), "likelihood"),
    "logit, both masked, corrected": ("insured ~ sex + habit", ("habit", "insured"), "corrected"),
}


def measures(reports: mw.Reports, drawn: Drawn, p: Population, fits: bool) -> dict[str, Measured]:
    """Every estimator on one survey; a regression that is refused is left out."""
    sample, sex = drawn.sample, p.sex[drawn.people]
    joint: Any = mw.estimate(reports, sample=sample)
    habit = joint.part_of("habit")
    found: dict[str, Measured] = {}

    def shares(name: str, estimate: Any) -> None:
        found[name] = estimate.proportions, estimate.variances, estimate.interval()

    def totals(name: str, made: Any) -> None:
        found[name] = made.values, made.standard_errors**2, made.interval()

    def single(name: str, number: Any) -> None:
        found[name] = [number.value], [number.standard_error**2], [number.interval()]

    shares("joint shares", joint)
    shares("shares, linear", joint.marginal("habit"))
    shares("shares of women", mw.estimate_by(habit, sex, sample=sample)["f"])
    totals("totals", mw.estimate_totals(habit, sample=sample))
    totals("totals of women", mw.estimate_totals(habit, sample=sample, domain=sex == "f"))
    single("contrast of shares", mw.estimate_contrast(habit, {"often": 1, "never": -1}, sample=sample))
    single("difference of groups", mw.compare_groups(habit, sex, {"never": 1}, sample=sample))
    single("ratio of shares", mw.ratio(habit, {"often": 1}, {"never": 1}, sample=sample))
    share = joint.conditional({"habit": "never"}, {"insured": "yes"})
    limits = joint.conditional_interval({"habit": "never"}, {"insured": "yes"})
    found["conditional share"] = [share.value], [share.standard_error**2], [limits]
    single("correlation", mw.correlations(reports, NUMBERS, sample=sample).of("habit", "insured"))
    sums = mw.sum_score(reports, NUMBERS, sample=sample)
    single("mean of the sum", sums.mean)
    single("variance of the sum", sums.variance)
    found["distribution of the sum"] = sums.proportions, np.diagonal(sums.covariance), sums.interval()
    if sample.replicates is None or fits:
        for method in ("likelihood", "one-step"):
            shares(f"shares, {method}", mw.estimate(habit, method, sample=sample))
    if fits:
        data = {"sex": sex, "region": p.region[drawn.people]}
        for name, (formula, masked, method) in REGRESSIONS.items():
            parts = {variable: joint.part_of(variable) for variable in masked}
            try:
                fit = mw.regress(formula, data, masked=parts, method=method, sample=sample)
            except mw.EstimationError:
                continue
            found[name] = fit.estimates, np.diagonal(fit.covariance), fit.interval()
    return found


def truths(p: Population) -> dict[str, Floats]:
    """What every estimator estimates."""
    habit, insured = p.codes.T
    table = np.bincount(2 * habit + insured, minlength=6).reshape(3, 2) / len(habit)
    shares = table.sum(axis=1)
    counts = {s: np.bincount(habit[p.sex == s], minlength=3) for s in "fm"}
    women, men = (counts[s] / counts[s].sum() for s in "fm")
    total = habit + (insured == 0)
    everybody = {"sex": p.sex, "region": p.region}
    answers = {"habit": np.array(X)[habit], "insured": np.array(Y)[insured]}
    openly = {
        name: mw.regress(
            formula, everybody, masked={v: mw.designs.direct(LABELS[v]).mask(answers[v]) for v in masked}
        ).estimates
        for name, (formula, masked, _) in REGRESSIONS.items()
    }
    return {
        "joint shares": table.reshape(-1),
        "shares, linear": shares,
        "shares, likelihood": shares,
        "shares, one-step": shares,
        "shares of women": women,
        "totals": shares * len(habit),
        "totals of women": counts["f"].astype(float),
        "contrast of shares": shares[2:] - shares[:1],
        "difference of groups": women[:1] - men[:1],
        "ratio of shares": shares[2:] / shares[:1],
        "conditional share": table[:1, 0] / table[:, 0].sum(),
        "correlation": np.corrcoef(habit, insured == 0)[:1, 1],
        "mean of the sum": np.array([total.mean()]),
        "variance of the sum": np.array([total.var()]),
        "distribution of the sum": np.bincount(total, minlength=4) / len(total),
        **openly,
    }


@dataclass(frozen=True)
class Cell:
    """One estimator with one sample design, over many surveys."""

    sample: str
    estimator: str
    asked: int
    fitted: bool
    """Whether it is of some of the surveys only."""
    ratios: Floats
    """Mean stated over found variance, of each number."""
    excess: Floats
    """By survey, what it adds to the mean of ``ratios``, around 0."""
    rates: Floats
    """Coverage of each number."""
    held: Floats
    """By survey, the share of the numbers that were covered."""

    @property
    def surveys(self) -> int:
        """The surveys that have an estimate."""
        return len(self.held)

    @property
    def label(self) -> str:
        return f"{self.sample}, {self.estimator}"

    @property
    def coverage(self) -> tuple[float, float]:
        """Pooled over the numbers, which go together within a survey, with its standard error.

        Of few surveys, all of which cover, the spread says nothing: one that does not is always possible.
        """
        return float(self.held.mean()), max(error_of(self.held), 1 / self.surveys)


def error_of(values: Floats) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


@dataclass(frozen=True)
class Pooled:
    """Stated over found variance, over the cells of an estimator or of a sample design, with its standard error."""

    label: str
    ratio: float
    error: float
    whole: bool
    """Whether all its cells are of every survey."""

    @staticmethod
    def of_estimator(name: str, cells: list[Cell]) -> Pooled:
        """Over sample designs, whose surveys are independent."""
        error = np.sqrt(sum(error_of(cell.excess) ** 2 for cell in cells)) / len(cells)
        return Pooled(
            name,
            float(np.mean([cell.ratios.mean() for cell in cells])),
            float(error),
            not any(cell.fitted for cell in cells),
        )

    @staticmethod
    def of_sample(name: str, cells: list[Cell]) -> Pooled:
        """Over the estimators that every survey has; they go together."""
        every = [cell for cell in cells if not cell.fitted]
        excess = np.mean([cell.excess for cell in every], axis=0)
        return Pooled(name, float(np.mean([cell.ratios.mean() for cell in every])), error_of(excess), True)


def run(size: Size) -> Result:
    """Draw, mask, estimate, again and again."""
    cells = [cell for part in measured(partial(measure, size=size), SAMPLES, size) for cell in part]
    estimators = list(dict.fromkeys(cell.estimator for cell in cells))
    pooled = [
        *(Pooled.of_estimator(name, [c for c in cells if c.estimator == name]) for name in estimators),
        *(Pooled.of_sample(name, [c for c in cells if c.sample == name]) for name in SAMPLES),
    ]
    failures = [failure for cell in cells for failure in violations(cell, size)]
    for each in pooled:
        room = TOLERANCE + (ROOM if each.whole else ROOM_OF_FITS)[size] * each.error
        if abs(each.ratio - 1) > room:
            failures.append(f"{each.label}: stated over found variance {each.ratio:.3f} ({each.error:.3f})")
    ratios = np.concatenate([cell.ratios for cell in cells])
    rates = [cell.coverage[0] for cell in cells]
    refused = sum(cell.asked - cell.surveys for cell in cells)
    return Result(
        name="complex_samples",
        title="Estimates from complex samples of masked answers",
        question="Is the variance that goes with an estimate from a complex sample the one that repeated surveys show, "
        "and do 95 % intervals cover? Some hundred people of a made-up population, in clusters in strata, are drawn "
        "anew, masked (minimax at ε = 3, Warner .9) and estimated, for every estimator and sample design; the truth is "
        "that of the population, for regressions their fit to all of its people.",
        criterion=f"Coverage pooled over the numbers of an estimator within {BAND[0]} to {BAND[1]}, for every "
        f"estimator and sample design. Mean stated over found variance within {TOLERANCE:.0%}, pooled for every "
        "estimator over the sample designs and for every sample design over the estimators. Both give or take "
        f"{ROOM[size]:g} standard errors, {ROOM_OF_FITS[size]:g} where estimators were fitted to {FITTED[size]:,} "
        "surveys. Each number by itself compatible with the same limits (chi-square and binomial), false alarm "
        f"{FALSE_ALARM:g} over at most {COMPARISONS:,} comparisons of each kind. At most {MOST_REFUSED:.0%} of fits "
        "refused.",
        sizes={"surveys": SURVEYS[size], "surveys with fits": FITTED[size], "seed": SEED},
        findings=[
            f"{len(ratios)} numbers in {len(cells)} estimators by sample designs: coverage pooled over the numbers of "
            f"an estimator {min(rates):.4f} to {max(rates):.4f}; stated over found variance, of estimators and of "
            f"sample designs, {min(each.ratio for each in pooled):.3f} to {max(each.ratio for each in pooled):.3f}, of "
            f"single numbers {ratios.min():.3f} to {ratios.max():.3f}; {refused} fits refused, {len(failures)} outside "
            "the limits.",
        ],
        tables=[
            Table(
                "Stated over found variance, pooled:",
                ("over", "ratio", "standard error"),
                [(each.label, f"{each.ratio:.4f}", f"{each.error:.4f}") for each in pooled],
            ),
            Table(
                "Stated over found variance, least and greatest over the numbers of an estimator, and coverage of 95 % "
                "intervals, pooled over them with its standard error:",
                ("sample design", "estimator", "surveys", "variance least", "greatest", "coverage", "standard error"),
                [
                    (
                        cell.sample,
                        cell.estimator,
                        cell.surveys,
                        f"{cell.ratios.min():.3f}",
                        f"{cell.ratios.max():.3f}",
                        *(f"{figure:.4f}" for figure in cell.coverage),
                    )
                    for cell in cells
                ],
            ),
        ],
        failures=failures,
    )


def violations(cell: Cell, size: Size) -> Iterator[str]:
    """What one estimator with one sample design is held to by itself."""
    low, high = variance_limits(cell.surveys)
    if (cell.ratios < low).any() or (cell.ratios > high).any():
        yield f"{cell.label}: stated over found variance {cell.ratios.round(3)}"
    least, most = coverage_limits(cell.surveys)
    if (cell.rates < least).any() or (cell.rates > most).any():
        yield f"{cell.label}: coverage {cell.rates.round(3)}"
    pooled, error = cell.coverage
    room = (ROOM_OF_FITS if cell.fitted else ROOM)[size] * error
    if not BAND[0] - room <= pooled <= BAND[1] + room:
        yield f"{cell.label}: coverage {pooled:.4f}, with standard error {error:.4f}"
    if cell.asked - cell.surveys > MOST_REFUSED * cell.asked:
        yield f"{cell.label}: {cell.asked - cell.surveys} of {cell.asked} fits refused"


def variance_limits(surveys: int) -> tuple[float, float]:
    """For the mean stated over the found variance; estimates of variances and ratios have longer tails than normal."""
    tail = FALSE_ALARM / COMPARISONS / 2
    # A kurtosis of 4 widens the spread of a variance by half again as much.
    df = (surveys - 1) / 1.5
    low, high = chi2.ppf([tail, 1 - tail], df) / df
    return (1 - TOLERANCE) / float(high), (1 + TOLERANCE) / float(low)


def coverage_limits(surveys: int) -> tuple[float, float]:
    """The least and the greatest share of surveys that may be covered."""
    tail = FALSE_ALARM / COMPARISONS / 2
    return float(binom.ppf(tail, surveys, BAND[0])) / surveys, float(binom.isf(tail, surveys, BAND[1])) / surveys


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
            for estimator, numbers in measures(part, each, p, survey < FITTED[size]).items():
                kept.setdefault(estimator, []).append(numbers)
    return [cell_of(name, estimator, found, truth[estimator], size) for estimator, found in kept.items()]


def cell_of(sample: str, estimator: str, found: list[Measured], truth: Floats, size: Size) -> Cell:
    """What one estimator did."""
    values, variances, limits = (np.array([one[i] for one in found]) for i in range(3))
    covered = (limits[:, :, 0] <= truth) & (truth <= limits[:, :, 1])
    stated, spread = variances.mean(axis=0), values.var(axis=0, ddof=1)
    ratios = stated / spread
    # The delta method: a ratio moves with its numerator, and against its denominator.
    excess = ratios * (variances / stated - (values - values.mean(axis=0)) ** 2 / spread)
    fitted = estimator in REGRESSIONS or len(found) == FITTED[size]
    return Cell(
        sample,
        estimator,
        FITTED[size] if fitted else SURVEYS[size],
        fitted,
        ratios,
        excess.mean(axis=1),
        covered.mean(axis=0),
        covered.mean(axis=1),
    )
