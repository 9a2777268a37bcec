"""The ε that a risk target needs: an intruder who is really sent into masked files finds as many persons as expected.

Simulations have fixed seeds; a mean is compared within 5 of its standard errors, a false alarm in 1.7 million.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskwell.errors import DataError, DemandError, DesignError
from maskwell.release import RiskTarget, epsilon_for_risk, most_informative, pram
from maskwell.release.optimum.risk_target import found_chance
from maskwell.risk import assess

KEYS = ["area", "age", "job"]
SIZE = 900
OWN = 44.05779  # tau1 of the file below


def persons(n: int = 300) -> dict[str, list[Any]]:
    """Three independent keys, of which the area has rare categories."""
    random = np.random.default_rng(3)
    return {
        "area": random.choice(["n", "s", "w", "e"], n, p=[0.5, 0.3, 0.15, 0.05]).tolist(),
        "age": random.integers(0, 6, n).tolist(),
        "job": random.integers(0, 25, n).tolist(),
    }


def found_for(columns: Any, target: float, **options: Any) -> RiskTarget:
    arguments = {"keys": KEYS, "population_size": SIZE, "model": "independence"} | options
    return epsilon_for_risk(persons(), columns, target=target, **arguments)


def matches_found(found: RiskTarget, runs: int) -> np.ndarray:
    """Correct matches of the intruder in masked files, each with a population of its own around the sample.

    People outside the sample are drawn in every possible cell from the fitted model. The intruder looks for each sample
    unique under its true keys and, where its masked columns were changed, by the other keys.
    """
    table = pd.DataFrame(persons())
    report = assess(table, KEYS, population_size=SIZE, model="independence")
    assert report.modelled is not None
    grid = pd.MultiIndex.from_product([sorted(set(table[key])) for key in KEYS], names=KEYS)
    codes = np.array([[report.cells.labels[i].index(value) for i, value in enumerate(cell)] for cell in grid])
    outside = report.modelled.fit.means(codes) * (1 / report.modelled.fraction - 1)
    others = [key for key in KEYS if key not in found.columns]
    unique = ~table.duplicated(KEYS, keep=False)
    random = np.random.default_rng(1)
    results = []
    # One release of the file many times over: its shares, and so its matrix, are those of the file.
    many = pd.concat([table] * runs, ignore_index=True)
    drawn = pram(many, found.columns, matrix=found.optimum, invariant=found.invariant, seed=1).table
    for run in range(runs):
        released = drawn.iloc[run * len(table) : (run + 1) * len(table)].reset_index(drop=True)
        unsampled = pd.Series(random.poisson(outside), index=grid)
        stays = (released[list(found.columns)] == table[list(found.columns)]).all(axis=1)
        chance = np.where(stays, right(table, unsampled, KEYS, found.measure), 0.0)
        if others:
            chance = np.where(stays, chance, right(table, unsampled.groupby(level=others).sum(), others, found.measure))
        results.append(chance[unique].sum())
    return np.array(results)


def right(table: pd.DataFrame, unsampled: pd.Series, keys: list[str], measure: str) -> np.ndarray:
    """The chance that a match by these keys is right, for records that are unique by them in the sample."""
    index = pd.MultiIndex.from_frame(table[keys]) if len(keys) > 1 else pd.Index(table[keys[0]])
    people = 1 + unsampled.reindex(index).to_numpy()
    alone = ~table.duplicated(keys, keep=False).to_numpy()
    return alone * ((people == 1) if measure == "tau1" else 1 / people)


@pytest.mark.parametrize("measure", ["tau1", "tau2"])
@pytest.mark.parametrize(
    ("columns", "share", "invariant"),
    [("job", 0.5, True), ("job", 0.5, False), (["age", "job"], 0.4, True), (KEYS, 0.3, True), (KEYS, 0.3, False)],
)
def test_an_intruder_finds_as_many_as_expected(columns: Any, share: float, invariant: bool, measure: Any) -> None:
    own = getattr(assess(persons(), KEYS, population_size=SIZE, model="independence"), measure)
    found = found_for(columns, share * own, measure=measure, invariant=invariant)
    assert found.before == pytest.approx(own)
    assert 0.99 * found.target <= found.after <= found.target
    counts = matches_found(found, 150)
    assert abs(counts.mean() - found.after) <= 5 * counts.std(ddof=1) / math.sqrt(len(counts))


@pytest.mark.parametrize("columns", ["area", ["area", "age"]])
def test_the_chance_to_be_found_is_that_of_the_release(columns: Any) -> None:
    found = found_for(columns, 0.7 * OWN)
    release = pram(persons(), found.columns, matrix=found.optimum, seed=1)
    step = release.plan.steps[0]
    assert step.labels == found.optimum.labels
    stays = found_chance(found.optimum, np.array(step.counts[0], float), invariant=True)
    assert stays == pytest.approx([float(x) for x in step.diagonals()[()].values()], rel=1e-9)
    kept = pram(persons(), found.columns, matrix=found.optimum, invariant=False, seed=1)
    largest = kept.plan.steps[0].matrix(exact=False).max(axis=0)
    assert found_chance(found.optimum, np.array(step.counts[0], float), invariant=False) == pytest.approx(largest)


def test_a_release_keeps_the_integers_of_the_design() -> None:
    """Without a second stage, to the last of 2^64: rounding again could raise the parity."""
    shares = pd.Series(persons()["area"]).value_counts(normalize=True)
    optimum = most_informative(shares, epsilon=0.9)
    for matrix in (optimum, optimum.design):
        step = pram(persons(), "area", matrix=matrix, invariant=False, seed=1).plan.steps[0]
        order = [optimum.labels.index(label) for label in step.labels]
        exact = optimum.design.matrix(exact=True)[np.ix_(order, order)]
        assert (step.matrix() == exact).all()
        assert max(x.denominator for x in exact.flat) == 2**64


def test_joint_cells_are_released_by_the_optimum_of_their_shares() -> None:
    table = pd.DataFrame(persons())
    shares = table[["area", "age"]].value_counts(normalize=True)
    optimum = most_informative(shares, epsilon=2)
    assert set(optimum.labels) == set(zip(table["area"], table["age"], strict=True))
    assert optimum.design.categories == tuple(range(len(shares)))
    release = pram(table, ["area", "age"], matrix=optimum, seed=1)
    assert release.plan.steps[0].keeps_frequencies
    assert 0 < release.changed < 1


def test_the_largest_epsilon_is_taken_where_the_curve_turns() -> None:
    """At ε near 0.8 the most informative matrix for these areas changes from one shape to another, and τ jumps."""
    table = {"area": list("nnnnswnnsw" * 10), "age": [20, 30, 40, 50, 60] * 20, "job": [i % 17 for i in range(100)]}
    found = epsilon_for_risk(table, "area", keys=KEYS, target=20, population_size=300, invariant=False)
    risks = np.array([risk for _, risk in found.curve])
    epsilons = np.array([epsilon for epsilon, _ in found.curve])
    assert (np.diff(epsilons) > 0).all()
    assert found.after < found.target - 0.3
    assert (risks[epsilons > found.epsilon] > found.target).all()
    assert risks[epsilons == found.epsilon] == found.after


def test_a_flip_hides_nobody() -> None:
    """Of a binary key, the reverse of the truth tells as much: staying seldom is no protection."""
    optimum = most_informative([0.004, 0.996], epsilon=10)
    assert optimum.q is not None
    assert found_chance(optimum, np.array([4.0, 996.0]), invariant=False) == pytest.approx([1, 1], abs=1e-3)


def test_records_with_a_missing_value_keep_their_risk() -> None:
    table = persons()
    table["job"][:40] = [None] * 40
    own = assess(table, KEYS, population_size=SIZE, model="independence")
    found = epsilon_for_risk(
        table, "job", keys=KEYS, target=0.8 * (own.tau1 or 0), population_size=SIZE, model="independence"
    )
    assert None not in found.optimum.labels
    release = pram(table, "job", matrix=found.optimum, seed=1)
    assert release.table["job"][:40] == [None] * 40


def test_the_summary_names_both_risks() -> None:
    found = found_for("job", 20)
    text = found.summary()
    assert text.startswith("Most informative post-randomization of job, 25 categories")
    assert f"tau1 before         {found.before:.4g}" in text
    assert f"{found.epsilon:.4g}" in text


@pytest.mark.parametrize(
    ("columns", "options", "error", "said"),
    [
        ("area", {"target": 0.1}, DemandError, "out of reach: masking area leaves a tau1 of"),
        ("area", {"target": 1e6}, DemandError, "need not be masked"),
        ("area", {"target": -1}, DemandError, "target must lie between 0"),
        ("area", {"target": "3"}, DemandError, "target must lie between 0"),
        ("area", {"target": 3, "measure": "tau3"}, DemandError, 'measure must be "tau1" or "tau2"'),
        ("sex", {"target": 3}, DataError, "columns must be one or more of the keys"),
        ([], {"target": 3}, DataError, "columns must be one or more of the keys"),
        ("area", {"target": 3, "population_size": None}, DataError, "give its population_size"),
    ],
)
def test_wrong_requests_are_named_in_one_line(columns: Any, options: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        found_for(columns, **options)
    assert "\n" not in str(caught.value)


def test_cells_of_different_length_are_refused() -> None:
    with pytest.raises(DesignError, match="different cells with as many entries each"):
        most_informative({("a", 1): 0.5, ("b",): 0.5}, epsilon=1)
    with pytest.raises(DesignError, match="different cells with as many entries each"):
        most_informative([0.5, 0.5], epsilon=1, categories=[("a", 1), ("a", 1)])
