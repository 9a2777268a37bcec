"""Before and after a release: the comparison counts what it says, and its standard errors are those of the draws.

Statistical tests use fixed seeds and a false-alarm rate of 1e-6 in all, from exact variances.
"""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from maskwell.errors import DataError
from maskwell.inference import cramers_v
from maskwell.inference.cramers_v import plain_v
from maskwell.release import PramRelease, Release, limit_identification, pram
from maskwell.release.evaluation.association import Association
from maskwell.release.evaluation.comparison import Comparison
from tests.persons import KEYS, WITHIN, population, small

FALSE_ALARM = 1e-6


@pytest.fixture(scope="module")
def persons() -> pd.DataFrame:
    table = population(20_000)
    return table.assign(region=np.where(table["area"] < 20, "north", "south"))


@pytest.fixture(scope="module")
def release(persons: pd.DataFrame) -> Release:
    return limit_identification(persons, KEYS, 0.395, WITHIN, blocks="whole", seed=5)


@pytest.fixture(scope="module")
def compared(release: Release) -> Comparison:
    return release.comparison()


@pytest.fixture(scope="module")
def steps(persons: pd.DataFrame) -> PramRelease:
    first = pram(persons, ["marital", "race"], diagonal=0.9, strata="sex", seed=1)
    return pram(first, "area", diagonal=0.8, seed=2)


def test_counts_are_those_of_the_two_files(persons: pd.DataFrame, release: Release, compared: Comparison) -> None:
    for name in KEYS:
        table = compared.frequencies[name]
        for counts, frame in ((table.before, persons), (table.after, release.table)):
            found = frame[name].astype(str).value_counts()
            assert [int(found.get(level, 0)) for level in table.levels[0]] == counts.tolist()
    table = compared.tables["race", "region"]
    for counts, frame in ((table.before, persons), (table.after, release.table)):
        found = pd.crosstab(frame["race"].astype(str), frame["region"])
        found = found.reindex(index=table.levels[0], columns=table.levels[1], fill_value=0)
        assert (found.to_numpy() == counts).all()


def test_changes_are_those_of_the_release(release: Release, compared: Comparison) -> None:
    assert compared.changed_records == release.changed_records
    assert compared.changed_by_column == release.changed_by_key


def test_errors_are_the_exact_ones(release: Release, compared: Comparison) -> None:
    for of in ("marital", ["race", "region"]):
        added = release.added_variance(of)
        table = compared.frequencies[of] if isinstance(of, str) else compared.tables[of[0], of[1]]
        place = {label: i for i, label in enumerate(added.labels)}
        for index, variance in np.ndenumerate(table.variance):
            at = place.get(tuple(own[i] for own, i in zip(table.levels, index, strict=True)))
            expected = (added.variance[at], added.expected[at]) if at is not None else (0, 0)
            assert (variance, table.expected[index]) == pytest.approx(expected)


def test_numbers_are_cut_in_tenths_and_names_left_out(persons: pd.DataFrame, compared: Comparison) -> None:
    income = compared.frequencies["income"]
    assert income.before.tolist() == pytest.approx([len(persons) / 10] * 10, abs=2)
    assert compared.left_out == {"person": "another value in every row"}


def test_the_columns_can_be_chosen(release: Release) -> None:
    chosen = release.comparison(["region"])
    assert list(chosen.frequencies) == [*KEYS, "region"]
    with pytest.raises(DataError, match="no column"):
        release.comparison(["absent"])


def test_missing_values_are_compared_as_a_category() -> None:
    table = {"area": [None if i % 9 == 0 else f"a{i}" for i in range(60)], "score": [None, 1.5] * 30}
    found = limit_identification(table, "area", 0.5, seed=1).comparison()
    assert found.frequencies["area"].levels[0][-1] == "(missing)"
    assert found.frequencies["score"].levels[0] == ("1.5", "(missing)")


def test_a_lazy_frame_is_compared() -> None:
    made = limit_identification(pl.LazyFrame(small()), ["area"], 0.395, within="set", seed=1)
    eager = limit_identification(small(), ["area"], 0.395, within="set", seed=1)
    assert made.comparison().to_dict() == eager.comparison().to_dict()


# Matches.


def test_matches_are_counted_record_by_record(persons: pd.DataFrame, release: Release, compared: Comparison) -> None:
    true = list(map(tuple, persons[KEYS].astype(str).to_numpy()))
    seen = list(map(tuple, release.table[KEYS].astype(str).to_numpy()))
    sizes, released = pd.Series(true).value_counts(), pd.Series(seen).value_counts()
    found = compared.matches
    assert found.correct_before == pytest.approx(sum(1 / sizes[cell] for cell in true))
    assert found.correct_after == pytest.approx(sum(1 / released[a] for a, b in zip(seen, true, strict=True) if a == b))
    kept = [a == b and sizes[b] == 1 and released[a] == 1 for a, b in zip(seen, true, strict=True)]
    assert found.uniques_kept == sum(kept)
    assert found.before.sample_uniques == int((sizes == 1).sum())
    assert found.correct_after < 0.6 * found.correct_before


# Associations.


def test_association_is_cramers_v(persons: pd.DataFrame, compared: Comparison) -> None:
    table = pd.crosstab(persons["race"], persons["area"]).to_numpy()
    found = next(one for one in compared.associations if one.columns == ("race", "area"))
    assert found.before == pytest.approx(stats.contingency.association(table[table.sum(axis=1) > 0], method="cramer"))


def test_the_sampling_error_of_an_association_is_that_of_samples(compared: Comparison) -> None:
    """By numerical differentiation of V squared and the covariance of a multinomial sample, for every pair of columns.

    It grows with the V that is left when the noise is taken off; to it comes the variance of the degrees of freedom,
    which is all there is at V = 0.
    """
    tried = 0
    for one in compared.associations:
        counts = compared.tables[one.columns[0], one.columns[1]].before
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        shape, n = counts.shape, counts.sum()
        if not 0.03 < one.before < 0.9 or counts.size > 1_000:
            continue
        p, step, most = (counts / n).ravel(), 1e-8, min(shape) - 1
        slope = np.array([plain_v((p + step * e).reshape(shape)) ** 2 - one.before**2 for e in np.eye(len(p))]) / step
        df = (shape[0] - 1) * (shape[1] - 1)
        left = max(1 - df / n / most / one.before**2, 0)
        first, second = (p @ slope**2 - (p @ slope) ** 2) / n, 2 * df / n**2 / most**2
        # At V > 0 the noise is not quite that of the degrees of freedom: so much of what is left is uncertain.
        allowed = 0.02 + (1 - left) / 2
        assert one.sampling_error == pytest.approx(np.sqrt(left * first + second) / (2 * one.before), rel=allowed)
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize("p", [[[0.3, 0.1, 0.1], [0.05, 0.15, 0.3]], [[0.2, 0.1, 0.1], [0.3, 0.15, 0.15]]])
def test_the_error_of_v_in_a_sample_is_the_spread_of_samples(p: Any) -> None:
    """With an association and without; that of a standard deviation from 4,000 samples is 1.1 %, and 1e-6 is 5 of it.

    At independence V has the law of the length of normal variables, of which the delta method knows only the variance
    of the square: 15 % are allowed for that.
    """
    random, shares, n = np.random.default_rng(1), np.array(p), 4_000
    drawn = [plain_v(random.multinomial(n, shares.ravel()).reshape(shares.shape)) for _ in range(4_000)]
    errors = [cramers_v.sampled_v(random.multinomial(n, shares.ravel()).reshape(shares.shape)) for _ in range(200)]
    found = np.sqrt(np.mean([one.form.error**2 for one in errors if one is not None]))
    assert found == pytest.approx(np.std(drawn), rel=0.1 if plain_v(shares) > 0.1 else 0.2)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_another_sampling_error_is_noticed(
    persons: pd.DataFrame, release: Release, monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    """Mutants of the error of V before a release."""
    honest = cramers_v.Quadratic.error.fget  # type: ignore[attr-defined]
    monkeypatch.setattr(cramers_v.Quadratic, "error", property(lambda form: factor * honest(form)))
    with pytest.raises(AssertionError):
        test_the_sampling_error_of_an_association_is_that_of_samples(release.comparison(["income"]))


def test_columns_that_stay_lose_association_and_keys_do_not(compared: Comparison) -> None:
    found = {one.columns: one for one in compared.associations}
    assert found["age", "marital"].after == pytest.approx(found["age", "marital"].before, abs=0.02)
    decided = found["area", "region"]
    assert decided.before == pytest.approx(1)
    assert decided.after < 0.9
    assert decided.after == pytest.approx(decided.expected, abs=0.02)


def test_impossible_combinations_are_counted(persons: pd.DataFrame, release: Release, compared: Comparison) -> None:
    """A region that stays while its area moves shows the records that moved across."""
    crossed = (release.table["area"] < 20) != (persons["region"] == "north")
    assert 0 < compared.impossible["area", "region"] <= int(crossed.sum())
    assert compared.impossible["sex", "race"] == 0


# Post-randomization.


def test_the_added_variance_of_steps_is_that_of_their_matrices(steps: PramRelease) -> None:
    added = steps.added_variance("area")
    np.testing.assert_allclose(added.variance, np.diag(steps.plan.steps[1].added_variance()))
    np.testing.assert_allclose(added.bias, 0, atol=1e-6)
    folded = steps.added_variance("marital")
    step = steps.plan.steps[0]
    fold = np.array([[label[0] == level for label in step.labels] for (level,) in folded.labels], float)
    np.testing.assert_allclose(folded.variance, np.diag(fold @ step.added_variance() @ fold.T))


@pytest.fixture(scope="module")
def repeated(persons: pd.DataFrame) -> list[PramRelease]:
    """The same two steps, drawn 150 times."""
    table = persons.iloc[:3_000]
    first = [pram(table, ["marital", "race"], diagonal=0.9, strata="sex", seed=seed) for seed in range(150)]
    return [pram(made, "area", diagonal=0.8, seed=1_000 + seed) for seed, made in enumerate(first)]


@pytest.mark.parametrize("of", ["marital", ["race", "area"], ["area", "region"], {"area": [10, 30], "sex": None}])
def test_released_tables_vary_as_their_moments_say(repeated: list[PramRelease], of: Any) -> None:
    """Means within normal limits, variances within those of a sample variance."""
    runs = []
    for made in repeated:
        names = [of] if isinstance(of, str) else list(of)
        columns = {name: made.table[name].astype(str) for name in names}
        if isinstance(of, dict):
            area = made.table["area"]
            columns["area"] = np.select([area < 10, area < 30], ["below 10", "10 to below 30"], "30 and above")
        runs.append(pd.Series(list(zip(*columns.values(), strict=True))).value_counts())
    added = repeated[0].added_variance(of)
    counts = np.array([[int(run.get(label, 0)) for label in added.labels] for run in runs])
    moved = added.variance > 1
    limit = stats.norm.isf(FALSE_ALARM / 2 / len(added.counts))
    z = (counts.mean(axis=0) - added.expected)[moved] / np.sqrt(added.variance[moved] / len(runs))
    assert np.abs(z).max() < limit
    # The excess kurtosis of such counts is below 1/variance < 1, so that a sample variance has an error of at most
    # sqrt(3/runs); the rest of the factor is for its skewness.
    ratio = counts.var(axis=0, ddof=1)[moved] / added.variance[moved]
    assert np.abs(ratio - 1).max() < 2 * limit * np.sqrt(2 / len(runs))


PAIRS = [("race", "area"), ("area", "region"), ("marital", "sex"), ("marital", "race")]


@pytest.fixture(scope="module")
def comparisons(repeated: list[PramRelease]) -> list[Comparison]:
    return [made.comparison(["region", "sex"]) for made in repeated]


def associations_of(comparisons: list[Comparison], pair: tuple[str, str]) -> list[Association]:
    return [one for found in comparisons for one in found.associations if one.columns == pair]


@pytest.mark.parametrize("pair", PAIRS)
def test_v_after_a_release_varies_as_its_error_says(comparisons: list[Comparison], pair: tuple[str, str]) -> None:
    """A standard deviation from 150 releases is off by 6 % (1e-6: 29 %); the delta method may be off by as much."""
    found = associations_of(comparisons, pair)
    after = np.array([one.after for one in found])
    assert after.std() == pytest.approx(found[0].release_error, rel=0.35)
    # The mean of V squared within 5 of its standard errors, and the terms of higher order, 2 % of V.
    slack = 5 * (after**2).std() / np.sqrt(len(after)) / after.mean() + 0.02 * after.mean()
    assert np.sqrt((after**2).mean()) == pytest.approx(found[0].expected, abs=slack)


@pytest.mark.parametrize("pair", PAIRS)
def test_without_the_noise_of_the_release_v_is_that_of_the_expected_counts(
    comparisons: list[Comparison], pair: tuple[str, str]
) -> None:
    true = plain_v(comparisons[0].tables[pair].expected)
    found = associations_of(comparisons, pair)
    corrected = np.array([one.corrected for one in found])
    assert np.median(corrected) == pytest.approx(true, abs=2.5 * corrected.std() / np.sqrt(len(corrected)) * 2 + 0.002)
    covered = sum(one.interval[0] <= true <= one.interval[1] for one in found)
    assert covered >= stats.binom.ppf(FALSE_ALARM / len(PAIRS), len(found), 0.92)
    assert all(0 <= low <= high <= 1 for one in found for low, high in (one.interval, one.sampling_interval))


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_another_error_of_the_release_is_noticed(comparisons: list[Comparison], factor: float) -> None:
    """Mutants of the variance of sums that gives the error of V after a release; that of the first one is looked at."""
    fresh = replace(comparisons[0], tables=dict(comparisons[0].tables))
    table = fresh.tables["area", "region"]
    wrong = replace(table, variance_of_sum=lambda w, right=table.variance_of_sum: factor**2 * right(w))
    fresh.tables["area", "region"] = wrong  # type: ignore[index]
    with pytest.raises(AssertionError):
        test_v_after_a_release_varies_as_its_error_says([fresh, *comparisons[1:]], ("area", "region"))


def _made(kind: str, persons: pd.DataFrame) -> Comparison:
    table = persons.iloc[:1_500].assign(house=np.arange(1_500) // 3)
    if kind == "steps":
        first = pram(table, ["marital", "race"], diagonal=0.9, strata="sex", seed=1)
        return pram(first, "area", diagonal=0.8, seed=2).comparison(["region", "sex"])
    together = "house" if kind == "households" else None
    if together:  # keys that move as one describe the household; sex differs within it
        shared = [table[name].groupby(table["house"]).transform("first") for name in ("area", "race", "region")]
        table = table.assign(area=shared[0], race=shared[1], region=shared[2])
    along = "marital" if kind == "along" else ()
    made = limit_identification(table, ["area", "race"], 0.45, together=together, along=along, seed=1)
    return made.comparison(["region", "sex"])


@pytest.mark.parametrize("kind", ["records", "along", "households", "steps"])
def test_the_variance_of_a_weighted_sum_is_exact(kind: str, persons: pd.DataFrame) -> None:
    """Of single cells, of whole rows and columns as in their own tables, and none of all records together."""
    compared = _made(kind, persons)
    random, moved = np.random.default_rng(1), 0
    for pair, table in compared.tables.items():
        shape = table.before.shape
        assert table.variance_of_sum(np.ones(shape)) == pytest.approx(0, abs=1e-6)
        for i, j in zip(random.integers(0, shape[0], 5), random.integers(0, shape[1], 5), strict=True):
            for at, expected in (
                ((i, j), table.variance[i, j]),
                ((i, slice(None)), compared.frequencies[pair[0]].variance[i]),
                ((slice(None), j), compared.frequencies[pair[1]].variance[j]),
            ):
                weights = np.zeros(shape)
                weights[at] = -2
                assert table.variance_of_sum(weights) == pytest.approx(4 * expected, rel=1e-6, abs=1e-6)
                moved += expected > 1
    assert moved > 10


def test_steps_are_compared_with_the_first_table(persons: pd.DataFrame, steps: PramRelease) -> None:
    assert steps.original is persons
    found = steps.comparison()
    assert found.moving == ("marital", "race", "area")
    different = (steps.table[list(found.moving)].astype(str) != persons[list(found.moving)].astype(str)).any(axis=1)
    assert found.changed_records == int(different.sum())
    assert found.matches.keys == ("marital", "race", "area", "sex")


@pytest.mark.parametrize("made", ["release", "steps"])
def test_a_comparison_can_be_told_and_stored(made: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(made).comparison()
    text = found.summary()
    assert f"{found.changed_records:,}" in text
    assert "correct matches" in text
    assert json.loads(json.dumps(found.to_dict()))["records"] == found.n
