"""The demonstration as a web page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from maskwell.demo.persons import FILES, PERSONS, XI
from maskwell.results.numbers import decimals_for, number, percent
from maskwell.views.charts.compared_estimates import compare
from maskwell.views.charts.estimate import chart
from maskwell.views.pages.layout import Facts, Figure, Section, Table, Text, page
from maskwell.views.terminal.demo import (
    TOP,
    coverage,
    privacy_and_precision,
    rate,
    release_sentences,
    status_counts,
    verdict,
)
from maskwell.views.wording import report_words

if TYPE_CHECKING:
    from maskwell.demo.persons import Released
    from maskwell.demo.run import DemoResult
    from maskwell.demo.survey import Trial

_SAMPLES = 5


@dataclass(frozen=True)
class Figures:
    """The charts of the demonstration."""

    published: Any
    race: Any
    codes: Any


def figures(result: DemoResult) -> Figures:
    """Draw them."""
    planned, codes = result.planned, result.codes
    people, patients = planned.population, codes.population
    return Figures(
        published=chart(planned.estimate, people.shares, title=f"Race of {people.n:,} persons"),
        race=compare(
            {name: trial.estimate for name, trial in result.race.items()},
            people.shares,
            title="The same privacy, three designs",
            subtitle=f"Race of {people.n:,} persons. Demand: {result.demand.describe()}. {verdict(result.race)}",
        ),
        codes=chart(codes.estimate, patients.shares, title=f"Diagnosis of {patients.n:,} persons (invented)"),
    )


def demo_page(result: DemoResult, pictures: Figures) -> str:
    """The page as text."""
    lead = (
        "Two sensitive variables, each taken from a privacy demand to an estimate. Every person's answer was masked "
        "before it was collected; only masked reports were counted, and the population was estimated from the counts. "
        "Last, a file of persons is released: matches by what neighbours know are right with a limited chance, and "
        "what the file tells beyond them is measured."
    )
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    footer = (
        f"Made by maskwell demo on {made}. Masking draws fresh cryptographic randomness, so another run gives other "
        "reports and slightly other estimates. This page loads nothing from any network."
    )
    return page(
        "Maskwell demonstration",
        [_race(result, pictures), _codes(result, pictures), _release(result.released), _reading()],
        lead=lead,
        footer=footer,
    )


def _race(result: DemoResult, pictures: Figures) -> Section:
    planned, demand = result.planned, result.demand
    return Section(
        f"1. Race of {planned.population.n:,} persons: one demand, three designs",
        [
            Text(
                f"The demand is {demand.describe()}: whatever a person reports, nobody's odds of belonging to a group "
                f"may shift by more than e^{demand.epsilon} = {demand.parity_bound:.3f}. The plan answers it with the "
                f"{planned.design.title} design, which has the least worst-case error at this privacy. RAPPOR and its "
                f"trimmed form are shown beside it. {verdict(result.race)}"
            ),
            _side_by_side(result.race),
            Text(
                "ε, odds shift and added variance are computed from the integers that the sampler uses. Margin: mean "
                "half-width of the intervals, in percentage points. Worth: what one masked report tells, in answers "
                "given openly. Persons needed: for the error of the planned design.",
                "note",
            ),
            Figure(pictures.published),
            Figure(pictures.race),
            _truth_against_estimates(result.race),
            _arrivals(result.race),
        ],
    )


def _side_by_side(trials: dict[str, Trial]) -> Table:
    best = next(iter(trials.values())).worth
    rows = [
        [*privacy_and_precision(name, trial), f"× {best / trial.worth:.2f}", coverage(trial)]
        for name, trial in trials.items()
    ]
    header = [
        "design",
        "a report names",
        "ε, exact",
        "odds shift ≤",
        "added variance",
        "95 % margin, points",
        "worth",
        "persons needed",
        "truths in intervals",
    ]
    return Table("Privacy and precision side by side", header, rows, "<<>>>>>>>")


def _truth_against_estimates(trials: dict[str, Trial]) -> Table:
    population = next(iter(trials.values())).population
    header = ["category", "truth", *trials]
    rows = []
    for j, category in enumerate(population.categories):
        cells = [estimate_cell(trial, j) for trial in trials.values()]
        rows.append([category, percent(population.shares[j], 2), *cells])
    return Table("Truth against estimate (95 % interval)", header, rows, "<>" + ">" * len(trials))


def estimate_cell(trial: Trial, j: int) -> str:
    """An estimate with its limits, as the tables print it."""
    decimals = decimals_for(trial.limits)
    low, high = trial.limits[j].tolist()
    limits = f"{number(100 * low, decimals)} to {number(100 * high, decimals)}"
    return f"{percent(float(trial.estimate.proportions[j]), decimals)} ({limits})"


def _arrivals(trials: dict[str, Trial]) -> Table:
    """The first reports of each design, the way the collector sees them."""
    rows = []
    for name, trial in trials.items():
        arrived = trial.design.decode(trial.reports.packed[:_SAMPLES])
        rows += [[name, str(i + 1), _shown(report)] for i, report in enumerate(arrived)]
    caption = f"What arrives: the reports of the first {_SAMPLES} persons under each design"
    return Table(caption, ["design", "person", "report"], rows, "<><", folded=True)


def _shown(report: Any) -> str:
    if not isinstance(report, frozenset):
        return str(report)
    return "{ " + ", ".join(sorted(report)) + " }" if report else "{ }, no category"


def _codes(result: DemoResult, pictures: Figures) -> Section:
    trial = result.codes
    k, n, shares = trial.design.k, trial.population.n, trial.population.shares
    order = np.argsort(-trial.estimate.proportions, kind="stable").tolist()
    decimals = decimals_for(trial.limits)
    rows = [[trial.population.categories[j], percent(shares[j], decimals), estimate_cell(trial, j)] for j in order]
    header = ["code", "truth", "estimate (95 % interval)"]
    return Section(
        f"2. Diagnosis of {n:,} persons: {k} codes, the same demand",
        [
            Text(
                f"An invented population with a few common codes and many rare ones. With {k} categories the plan "
                f"chooses reports that name {report_words(trial.design)}; a set is {trial.audit.parity:.3f} times as "
                "likely if it holds the true code as if it does not."
            ),
            Facts(
                [
                    (
                        f"{trial.covered} of {k}",
                        f"truths lie in their 95 % intervals; about {0.95 * k:.0f} are expected to",
                    ),
                    (
                        f"{rate(n, trial.masking_seconds)} / s",
                        f"answers masked: {n:,} in {trial.masking_seconds:.2f} s",
                    ),
                    (f"{1000 * trial.counting_seconds:.0f} ms", "to count all reports"),
                    (f"±{100 * trial.margin:.2f} points", "is the mean 95 % margin of a share"),
                ]
            ),
            Table(f"The {TOP} largest estimates", header, rows[:TOP], "<>>"),
            Figure(pictures.codes),
            Table(f"All {k} codes as a table", header, rows, "<>>", folded=True),
        ],
    )


def _release(released: Released) -> Section:
    """This part of the page."""
    release, matches = released.release, released.comparison.matches
    header, *rows = status_counts(released)
    return Section(
        f"3. A file of {PERSONS:,} persons: released with a limit on matches",
        [
            *map(Text, release_sentences(released)),
            Facts(
                [
                    (f"{matches.before.sample_uniques:,}", "persons were alone with their combination of keys"),
                    (
                        f"≤ {release.audit.risk_in_digits(4)}",
                        f"is the exact chance that a match by the keys is right; the limit is {XI:g}",
                    ),
                    (
                        f"{matches.correct_before:,.0f} → {matches.correct_after:,.0f}",
                        "correct matches when every record is matched",
                    ),
                    (percent(release.changed, 2), "of the records changed"),
                ]
            ),
            Table("Persons by status, with standard errors", header, rows, "<>>>>"),
            Text(f"The reports are beside this page: {', '.join(FILES)}.", "note"),
        ],
    )


def _reading() -> Section:
    return Section(
        "How to read this",
        [
            Text(
                "Estimates are unbiased and therefore not clipped: the share of a rare category may come out below "
                "zero. Its interval says what is compatible with the reports."
            ),
            Text(
                "The intervals allow for the noise of masking and for the sampling of persons. Here the truth is "
                "the share among the persons who were asked, so they hold it slightly more often than 95 times in 100."
            ),
            Text(
                "Sorted by estimate, the largest of many estimates tend to lie above their truths and the smallest "
                "below: that is what sorting does, not a bias of any single estimate."
            ),
        ],
    )
