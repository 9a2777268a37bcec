"""Every row comes out as recorded, is counted as what it is, and the check that says so can fail."""

import json
import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

import numpy as np
import pytest

from maskwell import published
from maskwell.designs import SubsetDesign
from maskwell.designs.registry import REFERENCES
from maskwell.published import Comparison, Explanation, Row, Simulated
from maskwell.published import wang_ding_2021_table_4 as table_4
from maskwell.published.model import Value, agree

COMPARISONS = published.compare()
COMPARED = [c for c in COMPARISONS if c.verdict in ("agrees", "explained")]
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
    *("ONE, p=8, n=100", "ONE, p=8, n=500"),  # wang-ding-2021: held to the simplex
    "its standard error",  # heck-moshagen-2018: over n - 1
    "standard error of the share that tells the truth",
}
# Values that no paper prints, as they were computed once, by enumeration or by a linear program.
UNPRINTED = {
    "RAPPOR, k=5, ε=1: added variance": {
        "RAPPOR, moments": "19.5885",
        "RAPPOR, linear": "15.2205",
        "trimmed RAPPOR, linear": "14.1099",
        "minimax": "11.4298",
    },
    "Section 5: what the example's figures imply": {
        "sensitive cells": "18439",
        "records in them": "23216",
        "records expected to move: θ for each sensitive cell": "14734",
        "share of all records, percent": "24.96",
        "mean size of the 25,406 - 18,439 other cells": "5.14",
        "h(0.8)": "0.394737",
        "θ": "0.79905",
        "largest chance of a match, block of 124 doubletons": "0.39473",
        "largest chance of a match, block of 1480 doubletons": "0.39498",
        "largest chance of a match, block of 124 singletons": "0.23820",
        "the same at ξ=0.5": "0.49874",
    },
    "Race example, exactly": {
        "size leakage, not masked": "0.25983",
        "size leakage, uniform design": "0.15590",
        "mutual information, not masked, bits": "0.79874",
        "mutual information, uniform design, bits": "0.40900",
        "prediction leakage, uniform design": "0.92237",
        "n × squared error, sample": "0.25983",
        "n × squared error, likelihood": "0.86403",
        "n × squared error, moments": "2.8003",
    },
}


def named(comparison: Comparison) -> str:
    return f"{comparison.row.where}, {comparison.row.what}"


def is_number(text: str) -> bool:
    return text.removesuffix("%").removeprefix("-").replace(".", "", 1).isdigit()


def is_simulated(comparison: Comparison) -> bool:
    return comparison.row.standard_error > 0 or isinstance(comparison.ours, Simulated)


def moved(row: Row, units: int) -> Row:
    """The row with its printed number so many units of its last digit away, a formula by millionths, or other words."""
    if row.formula is not None:
        value = row.formula()
        assert isinstance(value, float)
        return replace(row, formula=lambda: value * (1 + 1e-6 * units) + 1e-9 * units)
    if not is_number(row.printed):
        return replace(row, printed=f"not {row.printed}")
    number = Decimal(row.printed.removesuffix("%"))
    changed = number + units * Decimal(1).scaleb(number.as_tuple().exponent)  # type: ignore[arg-type]
    return replace(row, printed=f"{changed}{'%' if row.printed.endswith('%') else ''}")


def scaled(row: Row, factor: float) -> Row:
    """The row as our code would compute it if it were wrong by this factor."""

    def times(value: Value) -> Value:
        if isinstance(value, Simulated):
            return Simulated(value.mean * factor, value.standard_error)
        return value * factor if isinstance(value, float) else value

    why = row.explanation
    if why is not None and why.leads_to is not None:
        leads_to = why.leads_to
        why = replace(why, leads_to=lambda: times(leads_to()))
    return replace(row, compute=lambda: times(row.compute()), explanation=why)


def verdict_of(row: Row) -> str:
    (comparison,) = published.compare([row])
    return comparison.verdict


@pytest.mark.parametrize("comparison", COMPARISONS, ids=named)
def test_every_row_comes_out_as_recorded(comparison: Comparison) -> None:
    assert comparison.verdict != "wrong", published.report([comparison])


@pytest.mark.parametrize("comparison", [c for c in COMPARED if not is_simulated(c)], ids=named)
def test_no_row_survives_another_last_digit(comparison: Comparison) -> None:
    """One or two units, up or down. Rows that say that they tell nothing are not among these."""
    for units in (-2, -1, 1, 2):
        assert verdict_of(moved(comparison.row, units)) == "wrong", units
    report = published.report(published.compare([moved(comparison.row, 2)]))
    assert "WRONG" in report
    assert "1 NOT as recorded" in report


@pytest.mark.parametrize("comparison", [c for c in COMPARED if is_simulated(c)], ids=named)
def test_no_simulated_row_survives_a_quarter_more(comparison: Comparison) -> None:
    """No tolerance is above a tenth, so that a fifth more or less is noticed wherever both agree to begin with."""
    number = float(comparison.row.printed)
    assert comparison.tolerance is not None
    assert comparison.tolerance <= 0.1 * number
    for factor in (0.75, 1.25):
        assert verdict_of(replace(comparison.row, printed=f"{factor * number:.2f}")) == "wrong"


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_code_that_is_wrong_by_one_percent_is_noticed(factor: float) -> None:
    """By all rows but 29 that were simulated or printed with two digits, of 236 with a number."""
    numbers = [c for c in COMPARED if not isinstance(c.ours, str) and c.row.kind != "arithmetic" and c.ours != 0]
    fine = [c for c in numbers if c.tolerance is None or c.tolerance < 0.005 * abs(value_of(c))]
    assert (len(numbers), len(fine)) == (236, 207)
    silent = [named(c) for c in fine if verdict_of(scaled(c.row, factor)) != "wrong"]
    assert silent == []


def test_a_wrong_function_turns_the_table_it_computes_red(monkeypatch: pytest.MonkeyPatch) -> None:
    right = SubsetDesign.added_variance
    monkeypatch.setattr(SubsetDesign, "added_variance", property(lambda design: 1.01 * right.__get__(design)))
    table = [row for row in published.rows() if row.where.startswith("Table 1: added variance")]
    assert [verdict_of(row) for row in table] == ["wrong"] * 99


def value_of(comparison: Comparison) -> float:
    ours = comparison.ours
    assert not isinstance(ours, str)
    return ours.mean if isinstance(ours, Simulated) else ours


def test_only_what_is_printed_and_ours_counts_as_agreement() -> None:
    assert published.counts(COMPARISONS) == {
        "printed": {"agrees": 229, "explained": 13, "differs": 10, "coarse": 23},
        "formula": {"agrees": 38},
        "correction": {"explained": 23},
        "arithmetic": {"agrees": 53, "differs": 4},
        "unprinted": {"not compared": 47},
    }
    for comparison in COMPARISONS:
        row = comparison.row
        assert (row.formula is not None) <= (row.kind == "formula")
        assert (row.kind == "unprinted") == (comparison.verdict == "not compared")
        if comparison.verdict == "agrees" and row.kind == "printed":
            assert row.printed


def test_shares_of_printed_counts_are_the_papers_own_arithmetic() -> None:
    tables = [row for row in published.rows() if row.key == "nayak-2020" and "shares and differences" in row.where]
    assert len(tables) == 42
    assert {row.kind for row in tables} == {"arithmetic"}


@pytest.mark.parametrize("where", UNPRINTED)
def test_values_that_nobody_prints_are_still_those_computed_once(where: str) -> None:
    ours = {c.row.what: c for c in COMPARISONS if c.row.where == where}
    assert ours.keys() == UNPRINTED[where].keys()
    for what, text in UNPRINTED[where].items():
        assert ours[what].row.printed == ""
        assert agree(text, ours[what].ours), what


def test_a_tolerance_above_a_tenth_is_no_agreement() -> None:
    """Printed 2.61 with a standard error of .1, ours 3.42 ± .96: three errors are 2.9, which would accept anything."""
    row = Row("wang-ding-2021", "here", "this", "2.61", lambda: Simulated(3.42, 0.96), standard_error=0.1)
    assert verdict_of(row) == "coarse"
    assert verdict_of(Row("wang-ding-2021", "here", "this", "0", lambda: 0.4)) == "coarse"
    assert verdict_of(Row("wang-ding-2021", "here", "this", "1", lambda: 1.4)) == "coarse"
    assert verdict_of(Row("wang-ding-2021", "here", "this", "1", lambda: 1.0, unit="1e-9")) == "agrees"
    assert verdict_of(Row("wang-ding-2021", "here", "this", "1", lambda: 1.4, unit="1e-9")) == "wrong"


def test_a_recorded_difference_that_is_none_is_wrong() -> None:
    cut = Explanation("cut off", truncated=True)
    assert verdict_of(Row("nayak-zhai-2019", "here", "this", "9.3516", lambda: 9.3515625, cut)) == "wrong"
    assert verdict_of(Row("nayak-zhai-2019", "here", "this", "2.00", lambda: 2.0, differs="it does")) == "wrong"
    assert verdict_of(Row("nayak-zhai-2019", "here", "this", "2.00", lambda: 3.0, differs="it does")) == "differs"


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
        ("ayed-2020", "Sections 3 and 4.2, and the appendix"): 5,
        ("ayed-2020", "Statements that need a correction"): 6,
        ("heck-moshagen-2018", "Section 4.1"): 4,
        ("atsusaka-stevenson-2023", "cWise, example of bc.est"): 5,
    }
    assert sum(row.printed == "NA" for row in published.rows()) == 12


def test_rows_are_told_apart_and_cite_a_known_source() -> None:
    rows = published.rows()
    assert len({(row.key, row.where, row.what) for row in rows}) == len(rows)
    assert {row.key for row in rows} <= set(REFERENCES)


def test_only_the_known_differences_need_an_explanation() -> None:
    statements = {c.row.what for c in COMPARISONS if c.row.where.startswith("Statements")}
    assert statements == {c.row.what for c in COMPARISONS if c.row.kind == "correction"}
    assert {c.row.what for c in COMPARISONS if c.verdict == "explained"} == EXPLAINED | statements


@pytest.mark.parametrize(
    ("printed", "tolerance"),
    [("220", 0.5), ("21.70", 0.005), ("0.0410", 0.00005), ("153.49%", 0.005), ("1.0", 0.05), ("NA", None)],
)
def test_the_tolerance_comes_from_the_printed_digits(printed: str, tolerance: float | None) -> None:
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", printed, lambda: 0.0)])
    assert comparison.tolerance == tolerance


@pytest.mark.parametrize(
    ("error", "ours", "tolerance"),
    [(0.0, 20.0, 0.005), (0.1, 20.0, 0.305), (0.0, Simulated(20.0, 0.2), 0.605), (0.3, Simulated(20.0, 0.4), 1.505)],
)
def test_what_was_simulated_may_be_three_standard_errors_away(
    error: float, ours: float | Simulated, tolerance: float
) -> None:
    def verdict(printed: float) -> str:
        row = Row("wang-ding-2021", "here", "this", f"{printed:.2f}", lambda: ours, standard_error=error)
        (comparison,) = published.compare([row])
        assert comparison.tolerance == pytest.approx(tolerance)
        return comparison.verdict

    assert verdict(20 + tolerance - 0.005) == verdict(20 - tolerance + 0.005) == "agrees"
    assert verdict(20 + tolerance + 0.01) == verdict(20 - tolerance - 0.01) == "wrong"


def test_both_standard_errors_are_shown() -> None:
    row = Row("wang-ding-2021", "here", "this", "8.24", lambda: Simulated(8.25, 0.05), standard_error=0.07)
    assert "8.24 ± 0.07  8.2500 ± 0.05  agrees" in published.report(published.compare([row]))
    (record,) = published.to_records(published.compare([row]))
    assert (record["ours"], record["standard_error"], record["printed_standard_error"]) == (8.25, 0.05, 0.07)


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
    assert agree(printed, ours) is agrees
    assert (verdict_of(Row("nayak-zhai-2019", "here", "this", printed, lambda: ours)) != "wrong") is agrees


@pytest.mark.parametrize(
    ("printed", "explained"),
    [("9.3515", True), ("9.3514", False), ("9.3517", False), ("9.35", False), ("9.36", False)],
)
def test_truncation_explains_only_the_digits_it_leaves(printed: str, explained: bool) -> None:
    cut = Explanation("cut off", truncated=True)
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", printed, lambda: 9.3515625, cut)])
    assert (comparison.verdict == "explained") is explained


def test_an_explanation_that_predicts_something_else_explains_nothing() -> None:
    wrong = Explanation("another value", lambda: 2.5)
    (comparison,) = published.compare([Row("nayak-zhai-2019", "here", "this", "2.00", lambda: 3.0, wrong)])
    assert comparison.verdict == "wrong"
    assert comparison.explanation == ""


def test_the_report_shows_both_values_and_why_they_differ() -> None:
    text = published.report(COMPARISONS)
    assert text.endswith(published.totals(COMPARISONS))
    assert "57 the papers' own arithmetic, which tests nothing of ours: 53 add up" in published.totals(COMPARISONS)
    assert "47 our values of what nobody prints: 47 not compared" in published.totals(COMPARISONS)
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
    assert cell["kind"] == "printed"
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
