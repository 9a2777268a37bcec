"""The power of the tests of independence beside the test of the unmasked table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import maskwell as mw
from maskwell.designs import ProductDesign
from tests.evidence.cases import Floats
from tests.evidence.record import Result, Size, Table

SEED = 5203
SURVEYS: dict[Size, int] = {"reduced": 150, "full": 500}
RESPONDENTS: dict[Size, tuple[int, ...]] = {"reduced": (1_000,), "full": (250, 500, 1_000, 2_000, 4_000, 8_000)}
LEVEL = 0.05
TESTS = ("lrt", "lrt-moments", "pearson", "bonferroni")
PERMUTATIONS = 99
# Who wins in Figure 5 of wang-ding-2021.
ORDER = [(better, worse) for better in ("lrt", "lrt-moments") for worse in ("pearson", "bonferroni")]
FALSE_ALARM = 1e-3
COMPARISONS = 40
GENDER_INCOME = np.array([[9592, 1179], [15128, 6662]]) / 32561


@dataclass(frozen=True)
class Case:
    """A joint population, how it is masked, and what its test is compared with: tables that are not masked."""

    label: str
    design: ProductDesign
    population: Floats
    unmasked: dict[str, Floats]


def _gender_and_income() -> Case:
    """Each yes/no value is split into two categories at random, so that four can be hidden in pairs."""
    half = Fraction(1, 2)
    split = np.array([[half, 0], [half, 0], [0, half], [0, half]], dtype=object)
    part = mw.designs.from_matrix(mw.designs.uniform_subsets(4).matrix(exact=True) @ split, reports=range(6))
    design = mw.designs.product(part, part, names=["gender", "income"])
    four = np.kron(GENDER_INCOME, np.full((2, 2), 0.25))
    return Case("gender and income", design, GENDER_INCOME, {"unmasked": GENDER_INCOME, "split, unmasked": four})


def _diagonal(share: float) -> Case:
    """Margins of normalised uniforms, and a multiple of the identity added to their product."""
    first, second = np.random.default_rng(SEED).random((2, 4))
    table = np.outer(first / first.sum(), second / second.sum()) + share * np.eye(4)
    table /= table.sum()
    design = mw.designs.product(mw.designs.uniform_subsets(4), mw.designs.uniform_subsets(4))
    return Case(f"diagonal, rho={share:g}", design, table, {"unmasked": table})


def cases(size: Size) -> list[Case]:
    """The first is the published one."""
    shares = (0.01, 0.03, 0.1) if size == "full" else (0.1,)
    return [_gender_and_income(), *(_diagonal(share) for share in shares)]


def run(size: Size) -> Result:
    """The same masked surveys for all four tests; unmasked surveys of the same populations beside them."""
    surveys = SURVEYS[size]
    rows, failures = [], []
    for i, case in enumerate(cases(size)):
        found = {n: rejected(case, n, surveys, [SEED, i, n]) for n in RESPONDENTS[size]}
        direct = {n: rejected_unmasked(case, n, surveys, [SEED + 1, i, n]) for n in found}
        for n in found:
            powers = [*(direct[n].get(name) for name in ("unmasked", "split, unmasked")), *found[n].mean(axis=0)]
            rows.append((case.label, n, *("" if power is None else f"{power:.3f}" for power in powers)))
        if i == 0:
            failures += misordered(found, direct, surveys)
    return Result(
        name="independence_power",
        title="The power of the tests of independence",
        question="How often is an association found in masked reports, and how often in open answers? Gender and "
        "income as in Figure 5 of wang-ding-2021, and tables w v' + rho I masked by uniform subsets.",
        criterion="The order of Figure 5 on gender and income: lrt and lrt-moments reject more often than pearson and "
        "bonferroni over all sizes together, and at no size significantly less often (sign test of the surveys where "
        "they disagree); the unmasked table beats the split one, and that beats every masked one. False alarm "
        f"{FALSE_ALARM:g} over all comparisons (at most {COMPARISONS}).",
        sizes={"surveys per row": surveys, "permutations": PERMUTATIONS, "seed": SEED},
        findings=[
            f"{len(rows)} combinations of population and n, {surveys:,} surveys each: {len(failures)} comparisons "
            "against the order of Figure 5.",
            "lrt-moments by permutation, the others by their own distributions; pearson spends its degrees of freedom "
            "on pairs of reports that tell nothing about the pair of categories.",
        ],
        tables=[
            Table(
                f"Share of surveys in which independence is rejected at level {LEVEL}; the unmasked tables by Pearson:",
                ("population", "n", "unmasked", "split, unmasked", *TESTS),
                rows,
            )
        ],
        failures=failures,
    )


def rejected(case: Case, n: int, surveys: int, seed: list[int]) -> NDArray[np.bool_]:
    """Survey by test, whether it rejected."""
    chances = case.design.matrix() @ case.population.ravel()
    rng = np.random.default_rng(seed)
    found = np.zeros((surveys, len(TESTS)), bool)
    for i in range(surveys):
        tally = mw.Tally.from_counts(case.design, rng.multinomial(n, chances / chances.sum()))
        for j, test in enumerate(TESTS):
            repeats = PERMUTATIONS if test == "lrt-moments" else 0
            found[i, j] = mw.independence_test(tally, test, repeats, seed=i).p_value <= LEVEL  # type: ignore[arg-type]
    return found


def rejected_unmasked(case: Case, n: int, surveys: int, seed: list[int]) -> dict[str, float]:
    """How often Pearson's test of the open answers rejects."""
    rng = np.random.default_rng(seed)
    powers = {}
    for name, table in case.unmasked.items():
        design = mw.designs.product(*(mw.designs.direct(k) for k in table.shape))
        drawn = (mw.Tally.from_counts(design, rng.multinomial(n, table.ravel())) for _ in range(surveys))
        powers[name] = float(np.mean([mw.independence_test(t, "pearson").p_value <= LEVEL for t in drawn]))
    return powers


def misordered(found: dict[int, NDArray[np.bool_]], direct: dict[int, dict[str, float]], surveys: int) -> list[str]:
    """Where the order does not hold."""
    failures = []
    columns = {test: j for j, test in enumerate(TESTS)}
    tail = FALSE_ALARM / COMPARISONS
    for better, worse in ORDER:
        won = {n: int((f[:, columns[better]] & ~f[:, columns[worse]]).sum()) for n, f in found.items()}
        lost = {n: int((f[:, columns[worse]] & ~f[:, columns[better]]).sum()) for n, f in found.items()}
        failures += [
            f"{worse} beats {better} at n={n}" for n in found if binom.cdf(won[n], won[n] + lost[n], 0.5) < tail
        ]
        if sum(won.values()) <= sum(lost.values()):
            failures.append(f"{worse} rejects as often as {better} over all sizes")
    # Hoeffding: two independent shares differ by more than this with at most the chance of the tail.
    slack = float(np.sqrt(np.log(1 / tail) / surveys))
    for n, powers in direct.items():
        best = found[n].mean(axis=0).max()
        if powers["unmasked"] < powers["split, unmasked"] - slack:
            failures.append(f"n={n}: the split table beats the original one")
        if powers["split, unmasked"] < best - slack:
            failures.append(f"n={n}: a masked table beats the split one")
    return failures
