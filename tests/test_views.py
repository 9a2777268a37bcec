"""Pictures, pages and the demonstration: they render, need no network, and show the estimate's own numbers."""

import csv
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.views import chart, compare, save_chart
from maskwell.views.demo import DemoResult, Population, Trial, diagnoses, run
from maskwell.views.demo_page import estimate_cell
from maskwell.views.page import Facts, Figure, Section, Table, Text, page
from maskwell.views.whiskers import whisker
from maskwell.views.wording import decimals_for, privacy_words

FEW = ["red", "green", "blue"]


def estimate_of(design: mw.Design, n: int = 5_000) -> mw.Estimate:
    """An estimate from a population in which each category is half as common as the one before, to some floor."""
    weights = 0.5 ** np.minimum(np.arange(design.k), 8)
    counts = np.round(n * weights / weights.sum()).astype(int)
    values = [design.categories[j] for j in np.repeat(np.arange(design.k), counts)]
    return mw.estimate(design.mask(values, seed=1))


def rows_of(node: Any) -> list[dict[str, Any]]:
    """Every row of data in a chart's specification, in reading order, layers counted once."""
    if isinstance(node, dict):
        if "datasets" in node:
            return [row for rows in node["datasets"].values() for row in rows]
        if "values" in node and isinstance(node["values"], list):
            return list(node["values"])
        return [row for value in node.values() for row in rows_of(value)]
    if isinstance(node, list):
        return [row for item in node for row in rows_of(item)]
    return []


def sort_orders(node: Any) -> list[str]:
    """The categories of a chart from top to bottom, column by column."""
    if isinstance(node, dict):
        if "y" in node and isinstance(node["y"], dict) and isinstance(node["y"].get("sort"), list):
            return list(node["y"]["sort"])
        if "layer" in node:
            return sort_orders(node["layer"][0])
        return [label for value in node.values() for label in sort_orders(value)]
    if isinstance(node, list):
        return [label for item in node for label in sort_orders(item)]
    return []


class PageReader(HTMLParser):
    """The tables, embedded charts, and everything in a page that could reach for a network."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.charts: list[dict[str, Any]] = []
        self.scripts: list[str] = []
        self.references: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self._tag = ""
        self._kind: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag, self._kind = tag, dict(attrs).get("type")
        self.references += [
            (tag, value) for name, value in attrs if name in {"src", "href", "srcset", "action", "data"}
        ]
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag in {"td", "th"}:
            self.rows[-1][-1] += data
        if self._tag == "script":
            if self._kind == "application/json":
                self.charts.append(json.loads(data))
            else:
                self.scripts.append(data)
        elif self._tag != "style":
            self.words.append(data)


def assert_needs_no_network(text: str) -> None:
    """Nothing is loaded, nothing may be, and outside the drawing script no address is even named."""
    reader = PageReader(text)
    assert reader.references == []
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert "url(" not in text.split("<script>")[0]
    bundle = max(reader.scripts, key=len, default="")
    rest = text.replace(bundle, "") if bundle else text
    assert not re.search(r"(?i)https?:|//[a-z0-9-]+\.[a-z]", rest)


@pytest.fixture(scope="module")
def few() -> mw.Estimate:
    return estimate_of(mw.designs.minimax(FEW, epsilon=1))


@pytest.fixture(scope="module")
def many() -> mw.Estimate:
    return estimate_of(mw.designs.minimax(200, epsilon=2))


@pytest.mark.parametrize("with_truth", [False, True])
@pytest.mark.parametrize("size", ["few", "many"])
def test_a_chart_is_saved_in_every_format(
    size: str, with_truth: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    estimate = request.getfixturevalue(size)
    k = estimate.design.k
    picture = chart(estimate, np.full(k, 1 / k) if with_truth else None)
    for suffix in (".png", ".svg", ".html"):
        save_chart(picture, tmp_path / f"picture{suffix}")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8").startswith("<svg")
    assert_needs_no_network((tmp_path / "picture.html").read_text(encoding="utf-8"))
    assert len(list(tmp_path.iterdir())) == 3


def test_a_chart_shows_the_numbers_of_the_estimate(few: mw.Estimate) -> None:
    truth = {"red": 0.5, "green": 0.3, "blue": 0.2}
    rows = rows_of(chart(few, truth, level=0.9).to_dict())
    limits = few.interval(0.9)
    assert [row["category"] for row in rows] == FEW
    assert [row["estimate"] for row in rows] == few.proportions.tolist()
    assert [[row["lower"], row["upper"]] for row in rows] == limits.tolist()
    assert [row["truth"] for row in rows] == list(truth.values())


def test_a_chart_draws_the_kind_of_interval_that_is_asked_for(few: mw.Estimate) -> None:
    spec = chart(few, level=0.9, method="wald", simultaneous=True).to_dict()
    limits = few.interval(0.9, "wald", simultaneous=True)
    assert [[row["lower"], row["upper"]] for row in rows_of(spec)] == limits.tolist()
    assert "estimate with 90 % simultaneous interval" in json.dumps(spec)


def test_the_heading_says_design_privacy_and_number_of_reports(few: mw.Estimate) -> None:
    title = chart(few).to_dict()["title"]
    said = " ".join([title["text"], *title["subtitle"]])
    for words in ("minimax", "3 categories", f"{few.n:,} reports", "ε = 1", f"{few.design.parity:.4g}"):
        assert words in said
    diverse = estimate_of(mw.designs.local_diversity(5, l=3))
    assert "l = 3" in " ".join(chart(diverse).to_dict()["title"]["subtitle"])


def test_privacy_words_of_a_design_that_gives_truths_away() -> None:
    assert "no finite ε" in privacy_words(mw.designs.direct(3))


def test_few_categories_keep_their_order_and_many_are_sorted(few: mw.Estimate, many: mw.Estimate) -> None:
    assert sort_orders(chart(few).to_dict()) == FEW
    spec = chart(many).to_dict()
    assert len(spec["concat"]) == 4
    assert sort_orders(spec) == [str(j) for j in np.argsort(-many.proportions, kind="stable")]


def test_a_thousand_categories_show_the_largest_and_say_so() -> None:
    estimate = estimate_of(mw.designs.minimax(1_000, epsilon=3))
    spec = chart(estimate).to_dict()
    assert "the 200 largest of 1000 categories" in spec["title"]["subtitle"][0]
    shown = {row["category"]: row["estimate"] for row in rows_of(spec)}
    assert sorted(shown.values(), reverse=True) == np.sort(estimate.proportions)[::-1][:200].tolist()


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([0.5, 0.5], "3 proportions"),
        ([300, 150, 50], "between 0 and 1"),
        ([0.5, 0.5, float("nan")], "between 0 and 1"),
        ({"red": 0.5, "green": 0.5}, "one proportion for each category"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(few: mw.Estimate, truth: Any, message: str) -> None:
    with pytest.raises(mw.EstimationError, match=message):
        chart(few, truth)


def test_a_comparison_shows_every_design_around_the_truth(few: mw.Estimate) -> None:
    truth = np.array([0.5, 0.3, 0.2])
    other = estimate_of(mw.designs.rappor(FEW, epsilon=1))
    rows = rows_of(compare({"minimax": few, "rappor": other}, truth).to_dict())
    for name, estimate in (("minimax", few), ("rappor", other)):
        mine = [row for row in rows if row["design"] == name]
        np.testing.assert_allclose(
            [row["difference"] for row in mine], 100 * (estimate.proportions - truth), rtol=1e-12
        )
        ends = np.array([[row["lower"], row["upper"]] for row in mine])
        np.testing.assert_allclose(ends, 100 * (estimate.interval() - truth[:, None]), rtol=1e-12)


def test_an_unknown_suffix_is_refused(few: mw.Estimate, tmp_path: Path) -> None:
    with pytest.raises(mw.MaskwellError, match=r"'picture\.gif'"):
        save_chart(chart(few), tmp_path / "picture.gif")


def test_an_interrupted_write_leaves_the_old_picture(
    few: mw.Estimate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "picture.svg"
    target.write_text("old")

    def break_off(path: Path, data: bytes) -> int:
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", break_off)
    with pytest.raises(mw.MaskwellError, match=r"'picture\.svg' could not be written"):
        save_chart(chart(few), target)
    assert [path.name for path in tmp_path.iterdir()] == ["picture.svg"]
    assert target.read_text() == "old"


def test_a_page_escapes_what_it_is_given() -> None:
    hostile = '</script><script src="http://a.example/x.js">&'
    estimate = estimate_of(mw.designs.minimax([hostile, "b"], epsilon=1))
    blocks = [
        Text(hostile),
        Facts([(hostile, hostile)]),
        Table(hostile, [hostile], [[hostile]], "<"),
        Figure(chart(estimate)),
    ]
    reader = PageReader(page(hostile, [Section(hostile, blocks)], lead=hostile, footer=hostile))
    assert reader.references == []
    assert reader.rows == [[hostile], [hostile]]
    assert [row["category"] for row in rows_of(reader.charts)] == [hostile, "b"]


def test_a_page_carries_the_drawing_script_once_and_only_if_needed(few: mw.Estimate) -> None:
    two = page("Two", [Section("", [Figure(chart(few)), Figure(chart(few))])])
    assert sum(len(script) > 100_000 for script in PageReader(two).scripts) == 1
    assert PageReader(page("None", [Section("", [Text("words")])])).scripts == []


def test_importing_the_views_loads_no_plotting_package() -> None:
    script = "import sys, maskwell.views.demo, maskwell.views.page; print({'altair', 'vl_convert'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(("truth", "mark"), [(5, "┼"), (9, "│")])
def test_a_whisker_tells_a_truth_inside_from_one_outside(truth: int, mark: str) -> None:
    drawn = whisker(2, 4, 6, truth, (0, 10), 11)
    assert drawn[truth] == mark
    assert (drawn[2], drawn[4], drawn[6]) == ("├", "●", "┤")


@pytest.mark.parametrize(("half_width", "decimals"), [(0.2, 0), (0.03, 1), (0.006, 2), (0.0002, 3), (0.0, 2)])
def test_decimals_follow_the_width_of_the_intervals(half_width: float, decimals: int) -> None:
    assert decimals_for(np.array([[0.5 - half_width, 0.5 + half_width]])) == decimals


# The demonstration, run once as a user would.


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
    numbers = json.loads(json.dumps(demo.as_dict()))
    assert numbers["codes"]["estimate"] == demo.codes.estimate.proportions.tolist()
    assert numbers["race"]["rappor"]["truths_covered"] == demo.race["rappor"].covered


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
