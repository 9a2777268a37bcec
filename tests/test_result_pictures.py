"""Pictures of tests, samples, codebooks and recodings: what they draw is what the result says."""

from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.numerics.chi_square import chi_square_tail
from maskwell.release import groups, intervals
from tests.page_reader import rows_of


def rows_with(chart: Any, field: str) -> list[dict[str, Any]]:
    """The rows of a chart that have a field."""
    return [row for row in rows_of(chart.to_dict()) if field in row]


def test_a_test_with_a_law_shows_its_tail() -> None:
    found = HypothesisTest("pearson", 9.0, 4.0, chi_square_tail(4, 9.0 / 1.2), mean=1.2)
    *curve, seen = rows_with(found.plot(), "statistic")
    assert seen == {"statistic": 9.0, "chance": found.p_value}
    drawn = {row["statistic"]: row["chance"] for row in curve}
    assert drawn[0.0] == 1
    assert drawn[9.0] == pytest.approx(found.p_value)
    assert sorted(drawn.values(), reverse=True) == [drawn[x] for x in sorted(drawn)]


@pytest.mark.parametrize(
    ("found", "low", "high"),
    [
        (HypothesisTest("shuffles", 2.0, 3.0, 0.2, permutations=99, p_error=0.04), 0.12, 0.28),
        (HypothesisTest("exact", 2.0, None, 0.03), 0.03, 0.03),
        (HypothesisTest("a law of its own", 70.0, 3.0, 1e-13, law="weighted sum"), 1e-6, 1e-6),
        (HypothesisTest("sure", 0.0, None, 1.0, draws=99, p_error=0.01), 0.98, 1.0),
    ],
)
def test_a_test_without_one_shows_its_p_value(found: HypothesisTest, low: float, high: float) -> None:
    ends = rows_with(found.plot(), "low")[0]
    assert (ends["low"], ends["high"]) == pytest.approx((low, high))
    said = " ".join(found.plot().to_dict()["title"]["subtitle"])
    assert found.reference in said
    assert ("two standard errors" in said) == (found.p_error > 0)
    assert ("are drawn there" in said) == (found.p_value < 1e-6)


def test_a_sample_shows_its_weights() -> None:
    few = mw.Sample(weights=[1, 1, 1, 4])
    assert [(row["name"], row["count"]) for row in rows_with(few.plot(), "count")] == [("1", 3), ("4", 1)]
    assert few.plot().to_dict()["title"]["text"] == "4 records are worth 3 of equal weight"
    many = mw.Sample(weights=np.linspace(1, 25, 500))
    rows = rows_with(many.plot(), "count")
    assert (len(rows), sum(row["count"] for row in rows)) == (12, 500)
    assert (rows[0]["name"], rows[-1]["name"]) == ("1 to 3", "23 to 25")


def test_a_codebook_shows_its_design() -> None:
    design = mw.designs.minimax(["a", "b", "c"], epsilon=1)
    assert mw.codebook(design, "x").plot().to_dict() == design.plot().to_dict()


def test_a_recoding_shows_what_every_step_leaves() -> None:
    random = np.random.default_rng(5)
    age = random.integers(20, 80, 600)
    table = {"age": age, "area": np.where(age > 50, "old town", random.choice(["north", "south"], 600))}
    recoding = {"age": intervals(10), "area": groups({"elsewhere": ["north", "south"]})}
    made = mw.release.recode(table, ["age", "area"], recoding, k=5)
    rows = rows_of(made.plot().to_dict())
    frame = made.to_frame()
    assert list(dict.fromkeys(row["step"] for row in rows)) == list(frame["recoding"])[1:]
    matches = [row for row in rows if row["measure"] == "matches"]
    assert [row["label"] for row in matches] == [f"{count:,}" for count in frame["matches"][1:]]
    assert [row["share"] for row in matches] == pytest.approx(list(frame["matches"][1:] / frame["matches"][0]))
    kept = [row["share"] for row in rows if row["measure"] == "entropy"]
    assert kept == pytest.approx(list(frame["entropy kept"][1:]))
    found = mw.release.search_recoding(table, ["age", "area"], {"age": [intervals(10)]}, k=5)
    assert found.plot().to_dict()["title"] == found.recoded.plot().to_dict()["title"]


def test_a_recoding_that_changes_nothing_has_a_picture() -> None:
    found = mw.release.search_recoding({"a": ["x", "y"] * 9}, ["a"], {}, k=3)
    assert {row["share"] for row in rows_of(found.plot().to_dict()) if row["measure"] != "below 3"} == {1.0}
