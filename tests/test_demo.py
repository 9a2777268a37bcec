"""The demonstration, run once as a user would: its files, its page and its release."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import maskwell as mw
import maskwell.demo.run as demo_run
from maskwell.cli.commands.demo import figures
from maskwell.demo.persons import XI
from maskwell.demo.persons import persons as demo_persons
from maskwell.demo.run import DemoResult, run
from maskwell.demo.survey import Population, Trial, diagnoses
from maskwell.plain_json import VOCABULARY, json_text
from maskwell.release import ReleasePlan
from maskwell.views.pages.demo import estimate_cell
from tests.cli.schema import assert_fits
from tests.page_reader import PageReader, assert_needs_no_network, rows_of


@pytest.fixture(scope="module")
def told() -> list[str]:
    return []


@pytest.fixture(scope="module")
def demo(told: list[str], tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    return run(tmp_path_factory.mktemp("demo") / "deeper" / "folder", told.append)


@pytest.fixture(scope="module")
def demo_page(demo: DemoResult) -> PageReader:
    return PageReader((demo.folder / "index.html").read_text(encoding="utf-8"))


def trials(demo: DemoResult) -> list[Trial]:
    return [*demo.race.values(), demo.codes]


def test_the_demo_meets_one_demand_with_every_design(demo: DemoResult) -> None:
    assert list(demo.race) == ["minimax", "rappor", "trimmed_rappor"]
    assert all(trial.audit.demand_holds for trial in trials(demo))
    assert [len(trial.reports) for trial in trials(demo)] == [32_561, 32_561, 32_561, 1_000_000]
    assert {trial.reports.randomness for trial in trials(demo)} == {"secure"}
    assert demo.codes.design.k == 200


def test_the_intervals_of_the_demo_hold_their_truths(demo: DemoResult) -> None:
    # 95 % intervals for 200 nearly independent estimates: fewer than 165 successes have probability below 1e-9.
    assert demo.codes.covered >= 165
    inside = [
        low <= true <= high for true, (low, high) in zip(demo.codes.population.shares, demo.codes.limits, strict=True)
    ]
    assert demo.codes.covered == sum(inside)


def test_the_demo_leaves_the_files_that_it_names(demo: DemoResult, told: list[str]) -> None:
    assert {path.name for path in demo.folder.iterdir()} == set(demo.files)
    said = "\n".join(told)
    assert str(demo.folder) in said
    assert all(name in said for name in demo.files)
    for name in ("race.png", "codes.png"):
        assert (demo.folder / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_the_demo_tells_programs_in_the_words_of_every_command(demo: DemoResult) -> None:
    assert_fits("demo", json.loads(json_text({"vocabulary": VOCABULARY, **figures(demo.to_dict())})))


def test_the_demo_fits_a_terminal_and_tells_what_it_found(demo: DemoResult, told: list[str]) -> None:
    assert max(len(line) for line in told if str(demo.folder) not in line) <= 80
    said = "\n".join(told)
    assert f"{demo.codes.covered} of 200 truths lie in their 95 % intervals" in said
    for trial in demo.race.values():
        line = next(line for line in told if line.split()[:1] == [trial.design.name])
        assert line.endswith(f"{trial.covered} of 5")
        assert f"{trial.audit.added_variance:.3f}" in line


def test_the_tables_of_the_page_hold_the_estimates(demo: DemoResult, demo_page: PageReader) -> None:
    rows = {row[0]: row for row in demo_page.rows if len(row) == 2 + len(demo.race)}
    for j, category in enumerate(demo.planned.population.categories):
        assert rows[category][2:] == [estimate_cell(trial, j) for trial in demo.race.values()]
    codes = {row[0]: row[2] for row in demo_page.rows if row[0].startswith("D")}
    assert codes == {label: estimate_cell(demo.codes, j) for j, label in enumerate(demo.codes.population.categories)}


def test_an_estimate_cell_prints_the_estimate(demo: DemoResult) -> None:
    numbers = [float(text) for text in re.findall(r"[−\d.]+", estimate_cell(demo.planned, 4).replace("−", "-"))]
    expected = [demo.planned.estimate.proportions[4], *demo.planned.estimate.interval()[4]]
    np.testing.assert_allclose(numbers, 100 * np.array(expected), atol=0.005 + 1e-9)


def test_the_charts_of_the_page_hold_the_estimates_and_can_be_drawn(demo: DemoResult, demo_page: PageReader) -> None:
    import vl_convert

    published, compared, codes = demo_page.charts
    assert [row["estimate"] for row in rows_of(published)] == demo.planned.estimate.proportions.tolist()
    assert len(rows_of(compared)) == 15
    drawn = {row["category"]: row["estimate"] for row in rows_of(codes)}
    assert drawn == dict(zip(demo.codes.population.categories, demo.codes.estimate.proportions.tolist(), strict=True))
    for spec in demo_page.charts:
        assert vl_convert.vegalite_to_svg(spec).startswith("<svg")


def test_the_page_of_the_demo_needs_no_network(demo: DemoResult) -> None:
    assert_needs_no_network((demo.folder / "index.html").read_text(encoding="utf-8"))


def test_the_files_of_the_demo_lead_back_to_the_estimate(demo: DemoResult) -> None:
    design = mw.Design.from_json((demo.folder / "race-design.json").read_text(encoding="utf-8"))
    reports = mw.Reports.read(demo.folder / "race-reports.parquet")
    assert reports.design == design == demo.planned.design
    assert mw.estimate(reports) == demo.planned.estimate
    for name, expected in (("race", list(demo.race.values())), ("codes", [demo.codes])):
        with open(demo.folder / f"{name}-estimates.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [float(row["estimate"]) for row in rows] == [p for trial in expected for p in trial.estimate.proportions]
        assert [float(row["upper"]) for row in rows] == [p for trial in expected for p in trial.limits[:, 1]]


def test_the_result_of_the_demo_is_json(demo: DemoResult) -> None:
    numbers = json.loads(json.dumps(demo.to_dict()))
    assert numbers["codes"]["estimate"] == demo.codes.estimate.proportions.tolist()
    assert numbers["race"]["rappor"]["truths_covered"] == demo.race["rappor"].covered


def test_the_demo_releases_a_file_that_keeps_its_limit(demo: DemoResult, told: list[str]) -> None:
    release = demo.released.release
    assert release.audit.holds
    assert release.audit.risk <= XI
    assert release.plan.randomness == "secure"
    assert f"{demo.released.comparison.matches.before.sample_uniques:,} persons are the only ones" in " ".join(
        " ".join(told).split()
    )
    with open(demo.folder / "persons-released.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    before = demo_persons().to_pylist()
    assert len(rows) == len(before)
    # What the partition keeps is kept in every record, what is no key too, and other counts as their error says.
    assert all(
        new["sex"] == old["sex"] and new["illness"] == old["illness"] for new, old in zip(rows, before, strict=True)
    )
    table = demo.released.comparison.frequencies["status"]
    assert (abs(table.difference) < 6 * table.added_error).all()
    assert ReleasePlan.from_json((demo.folder / "persons-plan.json").read_text(encoding="utf-8")) == release.plan


def test_without_charts_the_rest_is_left_and_the_lack_is_told(
    demo: DemoResult, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lacking = "Pictures and pages need altair; run: pip install 'maskwell[charts]'."
    monkeypatch.setattr(demo_run, "_lacking", lambda: lacking)
    monkeypatch.setattr(demo_run, "diagnoses", lambda: diagnoses(20_000))
    monkeypatch.setattr(demo_run, "release_persons", lambda: demo.released)
    told: list[str] = []
    found = run(tmp_path, told.append)
    assert {path.name for path in tmp_path.iterdir()} == set(found.files) == set(demo.files) - demo_run.DRAWN
    assert " ".join(" ".join(told[-2:]).split()) == lacking
    assert not [line for line in told if ".png" in line or ".html" in line]


def test_the_pages_of_the_released_file_need_no_network(demo: DemoResult) -> None:
    for name in ("persons-external.html", "persons-internal.html"):
        assert_needs_no_network((demo.folder / name).read_text(encoding="utf-8"))


def test_rows_of_the_demo_are_not_sorted_by_truth() -> None:
    people = Population(("a", "b", "c"), np.array([500, 300, 200]))
    values = people.values().to_pylist()
    assert {label: values.count(label) for label in "abc"} == {"a": 500, "b": 300, "c": 200}
    assert set(values[:10]) == {"a", "b", "c"}


def test_the_invented_population_is_always_the_same_and_skewed() -> None:
    first, second = diagnoses(), diagnoses()
    assert first.n == 1_000_000
    assert len(set(first.categories)) == 200
    assert (first.counts == second.counts).all()
    assert first.shares.max() > 30 * first.shares.min() > 0


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(mw.MaskwellError, match="cannot be written") as caught:
        run(tmp_path / "taken", lambda line: None)
    assert "\n" not in str(caught.value)
