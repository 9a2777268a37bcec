"""Two variables on the command line: ``estimate --joint`` gives what the library gives, and a picture of shares."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from tests.cli.runs import Run, assert_refused


@pytest.fixture
def two(tmp_path: Path) -> mw.Reports:
    """Reports of two variables of the same people as files of their own; together they are what is returned."""
    sex = mw.designs.gamma_diagonal(["f", "m"], epsilon=2)
    income = mw.designs.minimax(["low", "middle", "high"], epsilon=2)
    n = 2000
    first = sex.mask(np.array(["f", "m"])[np.arange(n) % 2], seed=1, question="sex")
    second = income.mask(np.array(["low", "middle", "high"])[np.arange(n) % 7 % 3], seed=2, question="income")
    first.write(tmp_path / "sex.parquet")
    second.write(tmp_path / "income.parquet")
    first.design.mask(["f"] * 5, seed=1).write(tmp_path / "few.parquet")
    return mw.side_by_side({"sex": first, "income": second})


@pytest.mark.parametrize("method", ["linear", "moments", "likelihood", "one-step"])
def test_joint_files_are_estimated_as_a_product(run: Run, two: mw.Reports, method: str) -> None:
    ran = run("estimate", "sex.parquet", "income.parquet", "--joint", "--method", method, "--json")
    expected = mw.estimate(two, method)  # type: ignore[arg-type]
    np.testing.assert_allclose(ran.json["estimates"], expected.proportions, atol=1e-12)
    assert ran.json["randomness"] == ["seeded"]
    assert ran.json["design"]["fingerprint"] == two.design.fingerprint


def test_joint_tables_have_a_column_per_variable(run: Run, two: mw.Reports) -> None:
    rows = list(
        csv.DictReader(io.StringIO(run("estimate", "sex.parquet", "income.parquet", "--joint", "--csv", "-").text))
    )
    assert [(row["sex"], row["income"]) for row in rows] == list(two.design.categories)
    text = run("estimate", "sex.parquet", "income.parquet", "--joint").text
    assert "f, middle" in text
    assert "association of sex and income: Cramér's V" in text
    assert "simulation" in text


def test_the_association_is_given_with_its_interval(run: Run, two: mw.Reports) -> None:
    options = ["estimate", "sex.parquet", "income.parquet", "--joint", "--level", "0.9", "--json"]
    found = run(*options).json["association"]
    expected = mw.estimate(two).association()  # type: ignore[attr-defined]
    assert found["cramers_v"] == expected.value
    assert found["interval"] == list(expected.interval(0.9))
    assert (found["level"], found["uncorrected"]) == (0.9, expected.uncorrected)
    assert 0 <= found["interval"][0] <= found["cramers_v"] <= found["interval"][1] <= 1
    assert "association" not in run("estimate", "sex.parquet", "--json").json


def test_frames_of_joint_tables_have_a_column_per_variable(two: mw.Reports) -> None:
    frame = mw.estimate(two).to_frame()
    assert list(frame.columns) == ["sex", "income", "estimate", "standard_error", "lower", "upper"]
    assert list(zip(frame["sex"], frame["income"], strict=True)) == list(two.design.categories)


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_joint_pictures_show_shares_of_one_variable_by_the_other(run: Run, two: mw.Reports, suffix: str) -> None:
    assert run("estimate", "sex.parquet", "income.parquet", "--joint", "--plot", f"joint.{suffix}").code == 0
    assert "income by sex" in Path(f"joint.{suffix}").read_text()


def test_the_picture_holds_the_conditional_shares(two: mw.Reports) -> None:
    from maskwell.views.charts.joint import has_joint_chart, joint_chart

    estimate = mw.estimate(two)
    assert has_joint_chart(estimate)
    drawn = next(iter(joint_chart(estimate, level=0.9).to_dict()["datasets"].values()))
    assert len(drawn) == 6
    for row in drawn:
        share = estimate.conditional({"income": row["shown"]}, {"sex": row["given"]})
        assert row["share"] == share.value
        assert (row["lower"], row["upper"]) == share.interval(0.9)


@pytest.mark.parametrize(
    ("seed", "said"),
    [(1, "too few hold it to tell any share: other"), (3, "An arrow: the interval goes on")],
    ids=["nothing to tell", "wide intervals"],
)
def test_a_nearly_empty_group_does_not_stretch_the_axis(seed: int, said: str) -> None:
    from maskwell.views.charts.joint import joint_chart

    rng = np.random.default_rng(1)
    groups = mw.designs.minimax(["single", "married", "widowed", "other"], epsilon=1.5)
    statuses = rng.choice(groups.categories, 3000, p=[0.5, 0.4, 0.094, 0.006])
    table = {"status": statuses, "income": rng.integers(0, 3, 3000)}
    design = mw.designs.product(groups, mw.designs.minimax(3, epsilon=1.5), names=list(table))
    estimate: Any = mw.estimate(design.mask(table, seed=seed))
    assert estimate.conditional({"income": 2}, {"status": "other"}).interval()[1] > 1.7
    chart = joint_chart(estimate).to_dict()
    low, high = chart["spec"]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert -0.1 <= low <= high <= 1.1
    assert said in " ".join(chart["title"]["subtitle"])


def test_joint_refuses_what_is_not_row_by_row_the_same_people(run: Run, two: mw.Reports) -> None:
    assert_refused(run("estimate", "sex.parquet", "--joint"), "--joint", "two files")
    assert_refused(run("estimate", "sex.parquet", "few.parquet", "--joint"), "same people", "'few' has 5")
