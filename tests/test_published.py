"""Every printed value agrees with ours or is explained, and the check that says so can fail."""

import json
import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest

from maskwell import published
from maskwell.designs.registry import REFERENCES
from maskwell.published import Comparison, Explanation, Row, Simulated
from maskwell.published import wang_ding_2021_table_4 as table_4

COMPARISONS = published.compare()
EXPLAINED = {
    "γ=5, k=10",
    "γ=30, k=20",
    "l=5, k=10: q",
    "k=20, l=5: ε",
    "k=50, l=10: ε",
    "k=50, l=10: p",
    "k=50, l=10: 1-p",
    "size leakage, not masked",
    "size leakage, uniform design",
    *("α=0.5", "α=1", "α=1.5", "α=2"),  # ayed-2020: a local solver's answers beside the global optimum
    *("American Indian, perturbed", "other race, original"),  # nayak-2020: cut off
    *("Pacific Islander, original", "other race, perturbed"),  # nayak-2020: rounded up
    *("ONE, p=4, n=100", "ONE, p=8, n=100", "ONE, p=8, n=500"),  # wang-ding-2021: held to the simplex
}


def named(comparison: Comparison) -> str:
    return f"{comparison.row.where}, {comparison.row.what}"


def is_number(text: str) -> bool:
    return text.removesuffix("%").replace(".", "", 1).isdigit()


def altered(comparison: Comparison) -> Row:
    """The row six tolerances higher, which is 3 in the last digit of what is not simulated; a text in other words."""
    row = comparison.row
    if not is_number(row.printed):
        return replace(row, printed=f"not {row.printed}")
    number = Decimal(row.printed.removesuffix("%"))
    unit = Decimal(1).scaleb(number.as_tuple().exponent)  # type: ignore[arg-type]
    tolerance = unit / 2 if comparison.tolerance is None else Decimal(comparison.tolerance)
    changed = number + (6 * tolerance).quantize(unit)
    return replace(row, printed=f"{changed}{'%' if row.printed.endswith('%') else ''}")


@pytest.mark.parametrize("comparison", COMPARISONS, ids=named)
def test_a_printed_value_agrees_or_is_explained(comparison: Comparison) -> None:
    assert comparison.agrees != comparison.explained, published.report([comparison])


@pytest.mark.parametrize("comparison", COMPARISONS, ids=named)
def test_an_altered_value_is_flagged(comparison: Comparison) -> None:
    (comparison,) = published.compare([altered(comparison)])
    assert comparison.verdict == "unexplained"
    assert "UNEXPLAINED" in published.report([comparison])
    assert "1 differ unexplained" in published.report([comparison])


def test_every_value_of_the_sources_is_there() -> None:
    count = Counter((row.key, row.where.split(":")[0]) for row in published.rows())
    assert count == {
        ("nayak-zhai-2019", "Section 3.1"): 5,
        ("nayak-zhai-2019", "Table 1"): 11 * 9,
        ("nayak-zhai-2019", "Section 3.2"): 9,
        ("nayak-zhai-2019", "Table 2"): 2 * 30 + 12,
        ("nayak-zhai-2019", "Section 4"): 5,
        ("nayak-zhai-2019", "Section 4.3"): 14,
        ("nayak-zhai-2019", "Statements that need a correction"): 3,
        ("chai-nayak-2018", "Sections 1 to 3"): 9,
        ("chai-nayak-2018", "Section 4"): 7,
        ("chai-nayak-2018", "Statements that need a correction"): 2,
        ("chai-nayak-2018", "RAPPOR, k=5, ε=1"): 4,
        ("nayak-2020", "Sections 2 to 4"): 11,
        ("nayak-2020", "Section 5"): 11 + 11,
        ("nayak-2020", "Table 1"): 5 * 3,
        ("nayak-2020", "Table 2"): 9 * 3,
        ("nayak-2020", "Tables 1 and 2"): 2,
        ("nayak-2020", "Statements that need a correction"): 2,
        ("wang-ding-2021", "Example 2"): 3,
        ("wang-ding-2021", "Table II"): 5,
        ("wang-ding-2021", "Section V-A"): 1,
        ("wang-ding-2021", "Section V-B"): 10,
        ("wang-ding-2021", "Race example, exactly"): 8,
        ("wang-ding-2021", "Table III"): 1,
        ("wang-ding-2021", "Section V-C"): 1,
        ("wang-ding-2021", "Section IV-B"): 1,
        ("wang-ding-2021", "Table IV"): 6 * 6,
        ("wang-ding-2021", "Statements that need a correction"): 10,
        ("ayed-2020", "Table 1"): 4,
        ("ayed-2020", "Table 2"): 4,
        ("ayed-2020", "Table 3"): 4,
        ("ayed-2020", "Table 4"): 4,
        ("ayed-2020", "All scenarios"): 20,
        ("ayed-2020", "Sections 3 and 4.2, and the appendix"): 6,
        ("ayed-2020", "Statements that need a correction"): 6,
    }
    assert sum(row.printed == "NA" for row in published.rows()) == 12


def test_rows_are_told_apart_and_cite_a_known_source() -> None:
    rows = published.rows()
    assert len({(row.key, row.where, row.what) for row in rows}) == len(rows)
    assert {row.key for row in rows} <= set(REFERENCES)


def test_only_the_known_differences_need_an_explanation() -> None:
    statements = {c.row.what for c in COMPARISONS if c.row.where.startswith("Statements")}
    assert {c.row.what for c in COMPARISONS if c.explained} == EXPLAINED | statements


@pytest.mark.parametrize(
    ("printed", "tolerance"),
    [("220", 0.5), ("21.70", 0.005), ("0.0410", 0.00005), ("153.49%", 0.005), ("1.0", 0.05), ("NA", None)],
)
def test_the_tolerance_comes_from_the_printed_digits(printed: str, tolerance: float | None) -> None:
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", printed, lambda: 0.0)])
    assert comparison.tolerance == tolerance


@pytest.mark.parametrize(
    ("error", "ours", "tolerance"),
    [(0.0, 2.0, 0.005), (0.1, 2.0, 0.305), (0.0, Simulated(2.0, 0.2), 0.605), (0.3, Simulated(2.0, 0.4), 1.505)],
)
def test_what_was_simulated_may_be_three_standard_errors_away(
    error: float, ours: float | Simulated, tolerance: float
) -> None:
    def verdict(printed: float) -> str:
        row = Row("wang-ding-2021", "here", "this", f"{printed:.2f}", lambda: ours, standard_error=error)
        (comparison,) = published.compare([row])
        assert comparison.tolerance == pytest.approx(tolerance)
        return comparison.verdict

    assert verdict(2 + tolerance - 0.005) == verdict(2 - tolerance + 0.005) == "agrees"
    assert verdict(2 + tolerance + 0.01) == verdict(2 - tolerance - 0.01) == "unexplained"


def test_both_standard_errors_are_shown() -> None:
    row = Row("wang-ding-2021", "here", "this", "2.24", lambda: Simulated(2.25, 0.05), standard_error=0.07)
    assert "2.24 ± 0.07  2.2500 ± 0.05  agrees" in published.report(published.compare([row]))
    (record,) = published.to_records(published.compare([row]))
    assert (record["ours"], record["standard_error"], record["printed_standard_error"]) == (2.25, 0.05, 0.07)


@pytest.mark.parametrize(
    ("printed", "ours", "agrees"),
    [
        ("0.25", 0.2549, True),
        ("0.25", 0.2551, False),
        ("0.25", 0.2449, False),
        ("3", 3.5, True),  # half a unit away, exactly
        ("3", 3.5000001, False),
        ("64.4%", 64.386, True),
        ("NA", "NA", True),
        ("NA", 3.0, False),
        ("3.00", "NA", False),
        ("3", float("nan"), False),
        ("3", float("inf"), False),
    ],
)
def test_agreement_is_half_a_unit_of_the_last_digit(printed: str, ours: float | str, agrees: bool) -> None:
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", printed, lambda: ours)])
    assert comparison.agrees is agrees


@pytest.mark.parametrize(
    ("printed", "explained"),
    [("9.3515", True), ("9.3514", False), ("9.3517", False), ("9.35", False), ("9.36", False)],
)
def test_truncation_explains_only_the_digits_it_leaves(printed: str, explained: bool) -> None:
    cut = Explanation("cut off", truncated=True)
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", printed, lambda: 9.3515625, cut)])
    assert comparison.explained is explained


def test_an_explanation_that_predicts_something_else_explains_nothing() -> None:
    wrong = Explanation("another value", lambda: 2.5)
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", "2.00", lambda: 3.0, wrong)])
    assert comparison.verdict == "unexplained"
    assert comparison.explanation == ""


def test_the_report_shows_both_values_and_why_they_differ() -> None:
    text = published.report(COMPARISONS)
    assert text.endswith(published.totals(COMPARISONS))
    assert published.totals(COMPARISONS) == (
        "432 values: 381 agree, 51 differ and are explained, 0 differ unexplained."
    )
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("k=50, l=10: ε"))
    assert lines[at].split()[-3:] == ["2.8915", "2.891659", "explained"]
    assert "18.02: 2.891482" in lines[at + 1]
    assert max(map(len, lines)) <= 120


def test_records_are_plain_and_complete() -> None:
    records = json.loads(json.dumps(published.to_records(COMPARISONS)))
    assert len(records) == len(COMPARISONS)
    cell = next(r for r in records if r["what"] == "γ=5, k=10")
    assert cell["source"] == "nayak-zhai-2019"
    assert cell["printed"] == "9.3515"
    assert cell["ours"] == pytest.approx(9.3515625, abs=1e-12)
    assert cell["tolerance"] == 0.00005
    assert cell["verdict"] == "explained"
    assert "cut off" in cell["explanation"]
    assert all(r["tolerance"] is None for r in records if isinstance(r["ours"], str))


def test_the_exact_limits_of_table_iv_are_the_means_over_designs() -> None:
    """At p = 4 the limits are sums over three questions, whose means are known or within 5 standard errors.

    A mean of limits themselves would not do: 1/m has no variance, because some questions are hardly ever asked.
    """
    rng = np.random.Generator(np.random.PCG64(4))
    sets = (rng.random((4000, 6)), rng.random((4000, 4)))
    asked, population = (x / x.sum(axis=1, keepdims=True) for x in sets)
    members = np.array([[j in s for j in range(4)] for s in table_4.question_sets(4)], float)
    both = asked + asked[:, ::-1]
    halves = population @ members[:3].T
    by_formula = np.stack(
        [
            (halves * (1 - halves) / both[:, :3]).sum(axis=1),
            ((1 / both[:, :3] - (2 * halves - 1) ** 2) / 4).sum(axis=1),
        ],
        axis=1,
    )
    for case in range(200):
        assert table_4.limits(members, both[case], population[case]) == pytest.approx(by_formula[case], rel=1e-9)
    # The mean of s(1-s) has a variance, and that of 1/m does not: its integral is elementary.
    products = (halves * (1 - halves)).mean(axis=1)
    likelihood, moments = table_4.exact_limits_of_four()
    assert moments == pytest.approx(3 * math.log(2) + 3 * products.mean(), abs=15 * products.std() / math.sqrt(4000))
    assert likelihood == pytest.approx((moments - 3 * math.log(2)) * (1 + 4 * math.log(2)), rel=1e-12)


def enumerated_added_variance(matrix: np.ndarray, *, by_inclusion: np.ndarray | None = None) -> float:
    """From the whole matrix: weighted least squares at uniform proportions, or the inverted inclusion counts."""
    k = matrix.shape[1]
    uniform = np.full(k, 1 / k)
    if by_inclusion is None:
        weights = np.diag(1 / (matrix @ uniform))
        estimator = np.linalg.inv(matrix.T @ weights @ matrix) @ matrix.T @ weights
    else:
        inside = by_inclusion @ matrix
        a, b = inside[0, 0], inside[0, 1]
        estimator = (by_inclusion - b) / (a - b)
    np.testing.assert_allclose(estimator @ matrix @ uniform, uniform, atol=1e-12)
    risk = np.trace(estimator @ np.diag(matrix @ uniform) @ estimator.T) - 1 / k
    return float(risk - (1 - 1 / k))


def test_the_rappor_references_follow_from_enumerating_every_report() -> None:
    k, gamma = 5, np.e
    flip = 1 / (np.sqrt(gamma) + 1)
    bits = np.array([[z >> j & 1 for z in range(2**k)] for j in range(k)])
    chances = np.where(bits[:, :, None] == np.eye(k)[:, None, :], 1 - flip, flip)
    rappor = chances.prod(axis=0)
    inner = (bits.sum(axis=0) > 0) & (bits.sum(axis=0) < k)
    trimmed = rappor[inner] / rappor[inner].sum(axis=0)

    def subset_selection(q: int) -> np.ndarray:
        sets = np.array([[gamma if j in z else 1.0 for j in range(k)] for z in combinations(range(k), q)])
        return sets / sets.sum(axis=0)

    values = {
        "RAPPOR, moments": enumerated_added_variance(rappor, by_inclusion=bits),
        "RAPPOR, linear": enumerated_added_variance(rappor),
        "trimmed RAPPOR, linear": enumerated_added_variance(trimmed),
        "minimax": min(enumerated_added_variance(subset_selection(q)) for q in range(1, k)),
    }
    ours = {c.row.what: c for c in COMPARISONS if c.row.where.startswith("RAPPOR")}
    assert values.keys() == ours.keys()
    for what, value in values.items():
        assert ours[what].ours == pytest.approx(value, rel=1e-12)
        assert f"{value:.4f}" == ours[what].row.printed
