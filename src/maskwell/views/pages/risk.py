"""The assessment of a file as one web page, for those who hold the file."""

from __future__ import annotations

from maskwell.results.numbers import figure, number, percent
from maskwell.risk import RiskReport
from maskwell.risk.frequencies import SIZES
from maskwell.risk.modelled import Modelled
from maskwell.risk.summary import TWO_ESTIMATES, VERDICTS, model_words
from maskwell.views.charts.risk import drivers_chart, fit_chart, individual_chart, sizes_chart, steps_chart
from maskwell.views.pages.audit import made_by
from maskwell.views.pages.layout import Beside, Block, Facts, Figure, Section, Table, Text, page


def risk_page(report: RiskReport) -> str:
    """The page as text."""
    sections = [
        Section("", [_headline(report)]),
        _cells(report),
        _individuals(report),
        *([_population(report, report.modelled)] if report.modelled is not None else []),
        _keys(report),
        *([_diversity(report)] if report.diversity else []),
    ]
    lead = f"{report.n:,} records by {', '.join(report.keys)}: who could be recognised by what others may know."
    return page(
        "Disclosure risk",
        sections,
        lead=lead,
        footer=made_by("risk", "Every figure is about the file as it was given."),
    )


def _headline(report: RiskReport) -> Facts:
    n = report.n
    items = [
        (f"{report.sample_uniques:,}", f"records alone with their keys, {percent(report.sample_uniques / n, 1)}"),
        (f"{report.k}", "records in the smallest cell: the k of k-anonymity"),
        (f"{report.individual_matches:,.1f}", "correct matches expected among all records, by the individual risks"),
    ]
    if report.tau1 is not None and report.tau2 is not None:
        items[2:] = [
            (f"{report.tau1:,.1f}", "of them unique in the population (tau1)"),
            (f"{report.tau2:,.1f}", "correct matches with them (tau2)"),
        ]
    return Facts(items)


def _cells(report: RiskReport) -> Section:
    rows = [
        [f"fewer than {k}", f"{report.records_below(k):,}", percent(report.records_below(k) / report.n, 1)]
        for k in SIZES
    ]
    words = f"{len(report.cells):,} of {report.cells.possible:,} possible combinations of the keys occur."
    if report.cells.wild:
        words = (
            f"The records show {len(report.cells):,} different patterns of keys, missing ones among them. Two records "
            "match if they agree on the keys that neither misses, so that a record is counted with all that match it."
        )
    missing = [f"{key} {count:,}" for key, count in report.missing.items() if count]
    if missing:
        how = "match any value" if report.cells.wild else "are a category of their own"
        words += f" Missing values {how}: {', '.join(missing)}."
    table = Table("Records in small cells", ["cell", "records", "share"], rows, "<>>")
    return Section(
        "Cells of the keys",
        [
            Text(words),
            Beside([Figure(sizes_chart(report)), table]),
        ],
    )


def _individuals(report: RiskReport) -> Section:
    largest = figure(report.largest_risk)
    words = f"The risk of a record is the chance that a match with it is right; the largest is {largest}. "
    if report.cells.population is not None:
        words += "It comes from the sampling weights of its cell."
    elif report.population_size is not None:
        words += f"Every record is taken to stand for {figure(report.population_size / report.n)} people."
    else:
        words += "Without weights or the size of the population it is one over the size of the cell."
    return Section("Record by record", [Text(words), Figure(individual_chart(report))])


def _population(report: RiskReport, found: Modelled) -> Section:
    fit, uniques = found.misfit, max(report.sample_uniques, 1)
    rows = [
        ["unique in the population as well (tau1)", f"{found.tau1:,.1f}", percent(found.tau1 / uniques, 1)],
        ["correct matches with sample uniques (tau2)", f"{found.tau2:,.1f}", percent(found.tau2 / uniques, 1)],
        ["correct matches with all records, by the model", f"{found.expected_matches:,.1f}", ""],
        ["the same by the individual risks", f"{report.individual_matches:,.1f}", ""],
    ]
    quality = [
        ["tau1", number(fit.b1, 1), number(fit.z1, 1)],
        ["tau2", number(fit.b2, 1), number(fit.z2, 1)],
    ]
    blocks: list[Block] = [
        Text(
            f"In a population of {report.population_size:,.0f}, of which the file holds {percent(found.fraction, 2)}, "
            f"by a log-linear model: {model_words(found)}. Verdict: {VERDICTS[fit.verdict]}."
        ),
        Table("Expected in the population", ["", "number", "of the sample uniques"], rows, "<>>"),
        Text(f"The last two are {TWO_ESTIMATES}."),
        Beside([Figure(fit_chart(found)), *([Figure(steps_chart(found))] if len(found.steps) > 1 else [])]),
        Table("Fit statistics", ["of", "B", "B / its standard error"], quality, "<>>"),
        Text(
            "B above 0 means that the model is too simple and that the expected numbers are probably too high; B below "
            "0, that it follows single records and that they are too low. Within 2 standard errors nothing is amiss.",
            "note",
        ),
    ]
    return Section("In the population", blocks)


def _keys(report: RiskReport) -> Section:
    modelled = report.modelled is not None
    header = ["without", "categories", "uniques left", *(["tau1 left", "tau2 left"] if modelled else []), "risk gone"]
    rows = []
    for driver in report.by_key:
        left = [f"{driver.tau1_without:,.1f}", f"{driver.tau2_without:,.1f}"] if modelled else []
        gone = percent(driver.contribution, 0)
        rows.append([driver.key, f"{driver.categories:,}", f"{driver.uniques_without:,}", *left, gone])
    return Section(
        "Which keys it comes from",
        [
            Beside(
                [
                    Figure(drivers_chart(report)),
                    Table(
                        "What remains if an intruder does not know a key", header, rows, "<" + ">" * (len(header) - 1)
                    ),
                ]
            ),
        ],
    )


def _diversity(report: RiskReport) -> Section:
    rows = [
        [name, str(found.l_distinct), figure(found.l_entropy), f"{found.revealed:,}"]
        for name, found in report.diversity.items()
    ]
    header = ["column", "distinct values in every cell", "entropy l", "records whose cell reveals it"]
    return Section("What a cell reveals", [Table("Diversity of sensitive columns", header, rows, "<>>>")])
