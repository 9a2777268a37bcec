"""Pictures and the page of an assessment: they show the report's own numbers."""

from typing import Any

import numpy as np
import pytest

from maskwell.risk import RiskReport, assess
from maskwell.views.charts.risk import drivers_chart, fit_chart, individual_chart, sizes_chart, steps_chart
from maskwell.views.pages.risk import risk_page
from tests.persons import population
from tests.test_views import PageReader, assert_needs_no_network, rows_of

KEYS = ["sex", "age", "race", "marital"]


@pytest.fixture(scope="module")
def report() -> RiskReport:
    return assess(population(20_000), KEYS, population_size=400_000, sensitive="area")


@pytest.fixture(scope="module")
def counted() -> RiskReport:
    return assess(population(5_000), KEYS)


def rows(chart: Any) -> list[dict[str, Any]]:
    return rows_of(chart.to_dict())


@pytest.mark.parametrize("name", ["report", "counted"])
def test_every_record_is_in_one_bar(name: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(name)
    for chart in (sizes_chart(found), individual_chart(found)):
        bars = {row["name"]: row["records"] for row in rows(chart)}
        assert sum(bars.values()) == found.n
    sizes = {row["name"]: row["records"] for row in rows(sizes_chart(found))}
    assert sizes["1"] == found.sample_uniques
    assert sizes["2"] == found.sample_doubles
    assert sum(sizes[k] for k in ("1", "2", "3", "4", "5 to 9")) == found.records_below(10)


def test_bars_of_risk_count_the_records_in_them(report: RiskReport) -> None:
    bars = {row["name"]: row["records"] for row in rows(individual_chart(report))}
    assert bars["10 % to 20 %"] == int(((report.records > 0.1) & (report.records <= 0.2)).sum())


def test_keys_are_drawn_in_the_order_of_what_they_drive(report: RiskReport) -> None:
    drawn = rows(drivers_chart(report))
    names = list(dict.fromkeys(row["name"] for row in drawn))
    assert names == [driver.key for driver in report.by_key]
    assert f"{names[0]} drives" in drivers_chart(report).to_dict()["title"]["text"]
    alone = assess({"a": [1, 1, 2, 2]}, "a")
    assert "No single key" in drivers_chart(alone).to_dict()["title"]["text"]


def test_expected_cells_are_sums_over_all_possible_ones() -> None:
    """For independent keys the means are products of the margins, which a sum over the whole table needs."""
    table = population(5_000)
    found = assess(table, ["sex", "race", "marital"], population_size=50_000, model="independence").modelled
    assert found is not None
    means = np.ones(1) * 5_000
    for key in ("sex", "race", "marital"):
        shares = table[key].value_counts().to_numpy() / 5_000
        means = np.multiply.outer(means, shares[shares > 0]).ravel()
    drawn = {row["size"]: (row["seen"], row["fitted"]) for row in rows(fit_chart(found))}
    assert drawn["1"][1] == pytest.approx(float((means * np.exp(-means)).sum()))
    assert drawn["3"][1] == pytest.approx(float((means**3 * np.exp(-means) / 6).sum()))
    assert drawn["1"][0] == int((found.cells.counts == 1).sum())


def test_the_steps_end_with_the_model_that_was_chosen(report: RiskReport) -> None:
    assert report.modelled is not None
    drawn = [row for row in rows(steps_chart(report.modelled)) if "z" in row]
    last = [row["z"] for row in drawn[-2:]]
    assert last == [report.modelled.misfit.z1, report.modelled.misfit.z2]
    assert len(drawn) >= 2 * len(report.modelled.steps)


def test_the_page_has_the_figures_and_needs_no_network(report: RiskReport) -> None:
    page = risk_page(report)
    assert_needs_no_network(page)
    words = " ".join(PageReader(page).words)
    assert report.tau1 is not None
    assert report.tau2 is not None
    for figure in (f"{report.sample_uniques:,}", f"{report.tau1:,.1f}", f"{report.tau2:,.1f}", "area"):
        assert figure in words


def test_without_a_population_nothing_is_said_of_it(counted: RiskReport) -> None:
    page = risk_page(counted)
    assert "In the population" not in page
    assert "one over the size of the cell" in page


def test_text_counts_one_as_one_and_has_no_negative_zero() -> None:
    text = assess({"a": [1, 1, 2], "b": [None, 1, 1]}, ["a", "b"], population_size=3).summary()
    assert "3 records over 2 keys" in text
    assert "b is missing in 1 record;" in text
    assert "-0.0" not in text
    single = assess({"a": [1, 1, 2]}, "a").summary()
    assert "1 sample unique (" in single
    assert "over 1 key:" in single
