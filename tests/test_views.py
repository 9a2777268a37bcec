"""Pictures and pages: they render, need no network, and show the estimate's own numbers."""

import errno
import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.results.numbers import decimals_for, limit
from maskwell.views import chart, compare, save_chart
from maskwell.views.charts import style
from maskwell.views.pages.layout import Facts, Figure, Section, Table, Text, page
from maskwell.views.terminal.intervals import whisker
from maskwell.views.wording import privacy_words
from tests.page_reader import PageReader, assert_needs_no_network, rows_of

FEW = ["red", "green", "blue"]


def estimate_of(design: mw.Design, n: int = 5_000) -> mw.Estimate:
    """An estimate from a population in which each category is half as common as the one before, to some floor."""
    weights = 0.5 ** np.minimum(np.arange(design.k), 8)
    counts = np.round(n * weights / weights.sum()).astype(int)
    values = [design.categories[j] for j in np.repeat(np.arange(design.k), counts)]
    return mw.estimate(design.mask(values, seed=1))


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


def contrast(one: str, other: str, strength: float = 1) -> float:
    """The contrast of a colour, laid over a ground with this strength, to the ground, as WCAG 2 defines it."""

    def channels(colour: str) -> list[float]:
        return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]

    def luminance(parts: list[float]) -> float:
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    ground = channels(other)
    laid = [strength * a + (1 - strength) * b for a, b in zip(channels(one), ground, strict=True)]
    dark, light = sorted([luminance(laid), luminance(ground)])
    return (light + 0.05) / (dark + 0.05)


def test_words_and_lines_of_charts_stand_out_on_paper_and_on_a_dark_screen() -> None:
    styles = files("maskwell.views.pages").joinpath("assets", "page.css").read_text("utf-8")
    paper, dark = re.findall(r"--paper: (#\w{6})", styles)[:2]
    for colour in (style.ESTIMATE, style.TRUTH, style.OTHER, style.INK):
        assert contrast(colour, paper) > 4.5
        assert contrast(colour, paper, style.BAR) > 3
        if colour != style.INK:
            assert contrast(style.ON_DARK[colour], dark) > 4.5
            assert contrast(style.ON_DARK[colour], dark, style.BAR) > 3
            # Cells and bars keep their colour; light words stand on them.
            assert contrast(colour, dark) > 3
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_a_chart_of_seeded_reports_says_so() -> None:
    design = mw.designs.minimax(FEW, epsilon=1)
    for options, said in (({"seed": 1}, True), ({}, False)):
        spec = chart(mw.estimate(design.mask(design.categories * 50, **options))).to_dict()
        assert ("Drawn from a seed: a simulation, not a survey." in spec["title"]["subtitle"]) is said


def test_a_chart_draws_the_kind_of_interval_that_is_asked_for(few: mw.Estimate) -> None:
    spec = chart(few, level=0.9, method="wald", simultaneous=True).to_dict()
    limits = few.interval(0.9, "wald", simultaneous=True)
    assert [[row["lower"], row["upper"]] for row in rows_of(spec)] == limits.tolist()
    assert "estimate with 90 % simultaneous interval" in json.dumps(spec)


def test_the_heading_says_design_privacy_and_number_of_reports(few: mw.Estimate) -> None:
    title = chart(few).to_dict()["title"]
    said = " ".join([title["text"], *title["subtitle"]])
    for words in ("minimax", "3 categories", f"{few.n:,} reports", "ε = 1", limit(few.design.exact_parity())):
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

    def break_off(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", break_off)
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
    modules = "maskwell.demo.run, maskwell.views.pages.layout"
    script = f"import sys, {modules}; print({{'altair', 'vl_convert'}} & set(sys.modules))"
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
