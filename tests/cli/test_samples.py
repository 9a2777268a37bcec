"""Samples on the command line: the columns that were kept beside the reports give what the library gives."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from maskwell.engines import Masking, mask_file
from tests.cli.runs import Run, assert_refused
from tests.oracles.people import people

DESIGN = ["--weights", "weight", "--strata", "stratum", "--clusters", "cluster"]
HABIT = mw.designs.minimax(["never", "once", "often"], epsilon=3)
SEX = mw.designs.warner(["f", "m"], truth_prob=0.9)


@pytest.fixture
def survey(tmp_path: Path) -> tuple[pd.DataFrame, mw.Reports]:
    """A file of two masked columns with the sample beside them, its data, and the reports of the first."""
    data = people()
    replicates = (
        mw.Sample(data, weights="weight", strata="stratum", clusters="cluster").with_replicates("jkn").replicates
    )
    assert replicates is not None
    given = [f"rw{at}" for at in range(replicates.weights.shape[1])]
    data = data.assign(**dict(zip(given, replicates.weights.T, strict=True)), habit=data["answer"], known=data["sex"])
    data.to_parquet(tmp_path / "people.parquet")
    kept = ["stratum", "cluster", "weight", "clusters", "region", "known", *given]
    masking = Masking({"habit": HABIT, "sex": SEX}, keep=kept)
    mask_file(tmp_path / "people.parquet", tmp_path / "reports.parquet", masking)
    (tmp_path / "scales.txt").write_text(",".join(map(str, replicates.factors)))
    HABIT.mask(["never", "once"], seed=1).write(tmp_path / "alone.parquet")
    return data, mw.Reports.read(tmp_path / "reports.parquet", "habit")


def same(found: Any, expected: mw.Estimate) -> None:
    np.testing.assert_allclose(found["estimates"], expected.proportions, atol=1e-12)
    np.testing.assert_allclose(found["standard_errors"], expected.standard_errors, rtol=1e-9)


@pytest.mark.parametrize("method", ["linear", "likelihood"])
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (DESIGN, {"strata": "stratum", "clusters": "cluster"}),
        ([*DESIGN, "--fpc", "clusters"], {"strata": "stratum", "clusters": "cluster", "fpc": "clusters"}),
        (["--weights", "weight"], {}),
    ],
)
def test_columns_beside_the_reports_are_the_sample(
    run: Run, survey: tuple[pd.DataFrame, mw.Reports], method: Any, options: list[str], arguments: dict[str, Any]
) -> None:
    data, reports = survey
    ran = run("estimate", "reports.parquet", "-c", "habit", "--method", method, *options, "--json")
    same(ran.json, mw.estimate(reports, method, sample=mw.Sample(data, weights="weight", **arguments)))


def test_a_number_is_a_population_size_too(run: Run, survey: tuple[pd.DataFrame, mw.Reports]) -> None:
    data, reports = survey
    ran = run("estimate", "reports.parquet", "-c", "habit", "--fpc", "400", "--json")
    same(ran.json, mw.estimate(reports, sample=mw.Sample(fpc=np.full(len(data), 400))))


def test_replicates_come_with_the_data_or_are_made(
    run: Run, survey: tuple[pd.DataFrame, mw.Reports], tmp_path: Path
) -> None:
    data, reports = survey
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    expected = mw.estimate(reports, sample=sample.with_replicates("jkn"))
    scales = (tmp_path / "scales.txt").read_text()
    given = ["--replicate-weights", "rw*", "--replicate-method", "jkn", "--replicate-scales", scales]
    options = ["-c", "habit", "--weights", "weight", *given, "--json"]
    same(run("estimate", "reports.parquet", *options).json, expected)
    made = run("estimate", "reports.parquet", "-c", "habit", *DESIGN, "--replicate-method", "jkn", "--json")
    same(made.json, expected)
    drawn = ["--replicate-method", "bootstrap", "--replicates", "50", "--seed", "4", "--json"]
    again = mw.estimate(reports, sample=sample.with_replicates("bootstrap", replicates=50, seed=4))
    same(run("estimate", "reports.parquet", "-c", "habit", *DESIGN, *drawn).json, again)


def test_margins_calibrate(run: Run, survey: tuple[pd.DataFrame, mw.Reports], tmp_path: Path) -> None:
    data, reports = survey
    margins = {"known": {"f": 1300, "m": 1200}, "region": {"north": 1100, "south": 1400}}
    (tmp_path / "margins.json").write_text(json.dumps(margins))
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster").calibrate(margins)
    options = ["-c", "habit", *DESIGN, "--margins", "margins.json"]
    same(run("estimate", "reports.parquet", *options, "--json").json, mw.estimate(reports, sample=sample))
    totals = run("estimate", "reports.parquet", *options, "--totals", "--json").json
    expected = mw.estimate_totals(reports, sample=sample)
    np.testing.assert_allclose(totals["standard_errors"], expected.standard_errors, rtol=1e-9)
    assert "totals by category" in run("estimate", "reports.parquet", *options, "--totals").text


def test_groups_are_domains(run: Run, survey: tuple[pd.DataFrame, mw.Reports]) -> None:
    data, reports = survey
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    expected = mw.estimate_by(reports, data["region"], sample=sample)
    ran = run("estimate", "reports.parquet", "-c", "habit", "--by", "region", *DESIGN, "--json").json
    assert [group["group"] for group in ran["groups"]] == ["north", "south"]
    for group in ran["groups"]:
        same(group, expected[group["group"]])
    plain = run("estimate", "reports.parquet", "-c", "habit", "--by", "region", "--csv", "-").text
    rows = list(csv.DictReader(io.StringIO(plain)))
    alone = mw.estimate_by(reports, data["region"])
    assert [float(row["estimate"]) for row in rows if row["region"] == "south"] == alone["south"].proportions.tolist()
    assert {row["reports"] for row in rows if row["region"] == "south"} == {str(alone["south"].n)}
    text = run("estimate", "reports.parquet", "-c", "habit", "--by", "region", *DESIGN, "--plot", "by.svg").text
    assert "wrote by.svg" in text
    assert "south" in Path("by.svg").read_text(encoding="utf-8")
    assert text.count("design effect") == 2
    assert "region: north" in text


def test_masked_columns_of_one_file_are_joined(run: Run, survey: tuple[pd.DataFrame, mw.Reports]) -> None:
    data, _ = survey
    folder_reports = run("estimate", "reports.parquet", "--joint", *DESIGN, "--json").json
    assert len(folder_reports["estimates"]) == 6
    assert 0 <= folder_reports["association"]["cramers_v"] <= 1
    assert len(run("estimate", "reports.parquet", "--joint", "--json").json["estimates"]) == 6
    assert len(data) == 120


def test_tests_take_the_same_options(run: Run, survey: tuple[pd.DataFrame, mw.Reports], tmp_path: Path) -> None:
    data, reports = survey
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    other = mw.Reports.read(tmp_path / "reports.parquet", "sex")
    both = mw.side_by_side({"habit": reports, "sex": other})
    found = run("test", "independence", "reports.parquet", *DESIGN, "--json").json
    assert found["p_value"] == pytest.approx(mw.independence_test(both, sample=sample).p_value)
    alone = run("test", "independence", "reports.parquet", "--json").json
    assert alone["p_value"] == pytest.approx(mw.independence_test(both).p_value)
    wald = run("test", "independence", "reports.parquet", *DESIGN, "--method", "wald", "--json").json
    assert wald["p_value"] == pytest.approx(mw.independence_test(both, "wald", sample=sample).p_value)
    groups = ["test", "groups", "reports.parquet", "-c", "habit", "--by", "region", *DESIGN, "--json"]
    expected = mw.homogeneity_test(reports, data["region"], sample=sample)
    assert run(*groups).json["p_value"] == pytest.approx(expected.p_value)
    less = run(*groups, "--category", "once", "--alternative", "less").json
    difference = mw.compare_groups(reports, data["region"], {"once": 1}, sample=sample)
    assert less["p_value"] == pytest.approx(difference.test(alternative="less").p_value)
    assert (
        run(*groups[:-1], "--category", "once")
        .text.rstrip()
        .split("\n")[-1]
        .startswith(("The groups differ (", "No dif"))
    )
    turned = run(*groups, "--category", "once", "--between", "south,north", "--alternative", "greater").json
    assert turned["p_value"] == pytest.approx(less["p_value"])
    assert_refused(run(*groups, "--category", "once", "--between", "south,west"), "--between 'west' is not a group")
    assert_refused(run(*groups, "--category", "once", "--between", "south"), "--between takes two groups")
    low, high = difference.interval()
    assert less["difference"] == pytest.approx(
        {
            "value": difference.value,
            "standard_error": difference.standard_error,
            "degrees_of_freedom": difference.degrees_of_freedom,
            "level": 0.95,
            "interval": pytest.approx([low, high]),
        }
    )
    told = run(*groups[:-1], "--category", "once").text
    assert f"difference of north and south: {difference.value:.4f}, standard error" in told
    assert f"95 % limits {low:.4f} to {high:.4f}" in told
    several = run(*groups, "--category", "once,often").json
    together = mw.compare_groups(reports, data["region"], {"once": 1, "often": 1}, sample=sample)
    assert several["difference"]["value"] == pytest.approx(together.value)
    assert_refused(run(*groups, "--category", "once,offen"), "--category 'offen'", "nearest is 'often'")
    assert_refused(run(*groups, "--category", "once", "--between", "south,north,west"), "--between takes two groups,")
    many = ["test", "groups", "reports.parquet", "-c", "habit", "--by", "stratum", "--category", "once"]
    assert_refused(run(*many), "name the two to compare with --between")
    alone = run("test", "groups", "reports.parquet", "-c", "habit", "--by", "region", "--json").json
    parts = [reports.part((data["region"] == name).to_numpy()) for name in ("north", "south")]
    assert alone["p_value"] == pytest.approx(mw.homogeneity_test(parts).p_value)
    layers = ["test", "groups", "reports.parquet", "-c", "habit", "--by", "stratum", "--json"]
    names = sorted(set(data["stratum"]))
    three = run(*layers, "--between", ",".join(map(str, names[:2]))).json
    some = [reports.part((data["stratum"] == name).to_numpy()) for name in names[:2]]
    assert three["p_value"] == pytest.approx(mw.homogeneity_test(some).p_value)
    assert "difference" not in three
    share = ["test", "proportion", "reports.parquet", "-c", "habit", "--category", "once", "--value", "0.5"]
    expected = mw.estimate(reports, sample=sample).test("once", 0.5, "less")
    assert run(*share, "--alternative", "less", *DESIGN, "--json").json["p_value"] == pytest.approx(expected.p_value)
    assert "share of once, different from 0.5 (exact)" in run(*share).text


def test_what_is_refused(run: Run, survey: tuple[pd.DataFrame, mw.Reports], tmp_path: Path) -> None:
    file = "reports.parquet"
    assert_refused(run("estimate", file, "-c", "habit", "--weights", "wait"), "no column 'wait'", "nearest is 'weight'")
    assert_refused(run("estimate", file, "--weights", "weight"), "several columns: habit, sex", "--column")
    assert_refused(run("estimate", "alone.parquet", "--weights", "weight"), "--keep", "reports and nothing else")
    assert_refused(run("estimate", file), "several masked columns: habit, sex", "--column")
    assert_refused(run("estimate", file, "-c", "habit", "--totals"), "--totals need --weights")
    assert_refused(run("estimate", file, "-c", "habit", "--by", "region", "--top", "2", "--plot", "x.svg"), "--plot")
    assert_refused(run("estimate", file, "-c", "habit", *DESIGN, "--fay", "0.3"), "--fay goes with")
    refused = run("estimate", file, "-c", "habit", "--weights", "weight", "--replicate-weights", "x*")
    assert_refused(refused, "--replicate-weights 'x*' matches no column")
    assert_refused(run("estimate", file, "-c", "habit", *DESIGN, "--lonely", "ignore"), "--lonely must be one of")
    (tmp_path / "margins.json").write_text("[1]")
    assert_refused(run("estimate", file, "-c", "habit", *DESIGN, "--margins", "margins.json"), "--margins must hold")
    assert_refused(run("test", "fit", file, "--by", "region"), "--by divides")
    assert_refused(run("test", "proportion", file, "--category", "once"), "--value")
    assert_refused(run("test", "fit", file, "--alternative", "less"), "--alternative is for")
    assert_refused(
        run("test", "proportion", file, "-c", "habit", "--category", "x", "--value", "0.1"), "--category 'x'"
    )


def test_the_sample_is_told_as_it_was_read(run: Run, survey: tuple[pd.DataFrame, mw.Reports]) -> None:
    data, _ = survey
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    least, most = sample.records_per_cluster
    assert (
        f"{least} to {most} records in a cluster" in sample.described or f"{most} records in each" in sample.described
    )
    file = ["reports.parquet", "-c", "habit", *DESIGN]
    assert f"sample    {sample.described}\n" in run("estimate", *file).text
    assert f"sample of {sample.described}\n" in run("estimate", *file, "--totals").text
    assert f"sample of {sample.described}\n" in run("test", "groups", *file, "--by", "region").text
    assert run("estimate", *file, "--json").json["sample"] == {**sample.to_dict(), "records_per_cluster": [least, most]}
    assert run("test", "groups", *file, "--by", "region", "--json").json["sample"]["clusters"] == 24
    text = run("estimate", *file).text
    assert text.count("open answers") == 1  # the design effect's line has them, and no other figure stands beside it
    assert "worth" not in text


def test_records_without_a_group_stay_in_the_sample(run: Run, tmp_path: Path) -> None:
    data = people()
    data["part"] = [None if at % 5 == 0 else region for at, region in enumerate(data["region"])]
    data["habit"] = data["answer"]
    data.to_parquet(tmp_path / "gaps.parquet")
    mask_file(
        tmp_path / "gaps.parquet",
        tmp_path / "gaps-masked.parquet",
        Masking({"habit": HABIT}, keep=["stratum", "cluster", "weight", "part"]),
    )
    reports = mw.Reports.read(tmp_path / "gaps-masked.parquet", "habit")
    sample = mw.Sample(data, weights="weight", strata="stratum", clusters="cluster")
    ask = ["test", "groups", "gaps-masked.parquet", "--by", "part", *DESIGN]
    refused = run(*ask)
    assert_refused(refused, "missing in 24 of 120 rows", "--missing keep", "--missing outside")
    assert "leave" not in refused.err
    found = run(*ask, "--missing", "outside", "--json").json
    expected = mw.homogeneity_test(reports, data["part"], sample=sample, missing="outside")
    assert found["p_value"] == pytest.approx(expected.p_value)
    whole = run("estimate", "gaps-masked.parquet", "--by", "part", *DESIGN, "--missing", "outside", "--json").json
    assert [group["group"] for group in whole["groups"]] == ["north", "south"]
    assert {group["sample"]["n"] for group in whole["groups"]} == {120}


def test_a_lonely_stratum_and_missing_weights_are_named(run: Run, tmp_path: Path) -> None:
    data = people()
    data["layer"] = ["far north" if cluster == data["cluster"][0] else "rest" for cluster in data["cluster"]]
    data["typed"] = ["" if at == 3 else f"{weight:.2f}" for at, weight in enumerate(data["weight"])]
    data["habit"] = data["answer"]
    data.to_parquet(tmp_path / "lonely.parquet")
    mask_file(
        tmp_path / "lonely.parquet",
        tmp_path / "lonely-masked.parquet",
        Masking({"habit": HABIT}, keep=["layer", "cluster", "weight", "typed"]),
    )
    ask = ["estimate", "lonely-masked.parquet", "--strata", "layer", "--clusters", "cluster"]
    assert_refused(run(*ask, "--weights", "weight"), "1 of 2 strata (far north) has a single", "--lonely adjust")
    assert_refused(run(*ask, "--weights", "typed"), "weights are missing in 1 of 120 rows, first in data row 4")
