"""Regression on a masked outcome: how long a fit takes as records grow, beside a fit of the answers themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bench.frame import Bench, Goal, Ratio, Row, Work
from bench.frame.stages import Stage

TITLE = "Regression with a masked outcome"
ABOUT = (
    "A multinomial logit of an outcome with five categories, masked by `minimax` at ε = 2, on ten terms (a constant, "
    "seven numbers and a factor of three levels), by likelihood; beside statsmodels' `MNLogit` of the answers before "
    "they were masked, on the same model matrix."
)
LIMIT = 300.0
CATEGORIES = ["1", "2", "3", "4", "5"]
NUMBERS = [f"x{i}" for i in range(7)]
FORMULA = f"y ~ {' + '.join(NUMBERS)} + g"


def people(n: int) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Predictors by name, their model matrix, and the position of each answer."""
    generator = np.random.Generator(np.random.PCG64(1))
    numbers, group = generator.normal(size=(n, len(NUMBERS))), generator.integers(0, 3, n)
    matrix = np.column_stack([np.ones(n), group == 1, group == 2, numbers])
    effects = 0.3 * generator.normal(size=(matrix.shape[1], len(CATEGORIES) - 1))
    odds = np.exp(np.column_stack([np.zeros(n), matrix @ effects]))
    below = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    answers = (below < generator.random((n, 1))).sum(axis=1)
    columns = dict(zip(NUMBERS, numbers.T, strict=True))
    return {**columns, "g": np.array(["a", "b", "c"])[group]}, matrix, answers


def masked(n: int) -> Iterator[Stage]:
    """From reports and predictors to estimates, standard errors and tests."""
    import maskwell as mw

    table, _, answers = people(n)
    reports = mw.designs.minimax(CATEGORIES, epsilon=2).mask(np.array(CATEGORIES)[answers], seed=1)

    def fit() -> None:
        found = mw.regress(FORMULA, table, masked={"y": reports}, family="multinomial")
        _ = found.params, found.bse, found.pvalues

    yield Stage("fit", n, fit, warm=n <= 100_000)


def open_answers(n: int) -> Iterator[Stage]:
    """The same from the answers themselves."""
    from statsmodels.discrete.discrete_model import MNLogit

    _, matrix, answers = people(n)

    def fit() -> None:
        found = MNLogit(answers, matrix).fit(disp=0)
        _ = found.params, found.bse, found.pvalues

    yield Stage("fit", n, fit, warm=False)


def measure(bench: Bench) -> Iterator[Row]:
    """A tenth of the records, all of them, and all of them unmasked."""
    sizes = (10_000, 100_000) if bench.quick else (100_000, 1_000_000)
    works = {f"masked {n}": Work("bench.regression:masked", {"n": n}) for n in sizes}
    works["open"] = Work("bench.regression:open_answers", {"n": sizes[-1]})
    found = bench.alternate(works, rounds=3)
    few, many = (found[f"masked {n}"]["fit"] for n in sizes)
    beside = found["open"]["fit"]
    yield few.time_row(f"masked outcome, n = {sizes[0]:,}", a_record=False)
    yield many.time_row(
        f"masked outcome, n = {sizes[1]:,}",
        Ratio.of([a / b for a, b in zip(many.seconds, beside.seconds, strict=True)]),
        "the time of the answers themselves",
        a_record=False,
    )
    yield Row("  the same", Ratio.of(many.seconds), "s", goal=Goal(at_most=10))
    yield Row(
        "  a record, beside a tenth of the records",
        Ratio.of([a / b * few.records / many.records for a, b in zip(many.seconds, few.seconds, strict=True)]),
        "×",
        goal=Goal(at_most=1.25),
    )
    yield beside.time_row(f"the answers themselves by statsmodels, n = {sizes[1]:,}", a_record=False)
