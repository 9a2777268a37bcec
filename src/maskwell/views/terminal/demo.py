"""What the demonstration says in a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from maskwell.demands import LDP
from maskwell.demo.persons import KEYS, PERSONS, XI
from maskwell.numerics.compiled import FAST
from maskwell.results.numbers import decimals_for, number, percent
from maskwell.views.terminal.intervals import columns, whisker
from maskwell.views.wording import report_words

if TYPE_CHECKING:
    from maskwell.demo.persons import Released
    from maskwell.demo.run import DemoResult
    from maskwell.demo.survey import Population, Trial

TOP = 10
_PACE = (
    ("(A first run also compiles", "the samplers, which takes some seconds.)")
    if FAST
    else ("(Nothing is compiled here;", "with pip install 'maskwell[fast]' it is many times as fast.)")
)


def opening(demand: LDP, people: Population) -> list[str]:
    """What is about to happen."""
    return [
        "Maskwell: ask a sensitive question without learning anyone's answer.",
        "",
        f"1  RACE OF {people.n:,} PERSONS: ONE DEMAND, THREE DESIGNS",
        "",
        f"   Demand: {demand.describe()}. Whatever a person reports, nobody's odds of",
        f"   belonging to a group may shift by more than e^{demand.epsilon} = {demand.parity_bound:.3f}.",
        "   Each answer is masked before it leaves the person. " + _PACE[0],
        "   " + _PACE[1],
        "",
    ]


def race(trials: dict[str, Trial]) -> list[str]:
    """Privacy and precision side by side, then each estimate around its truth."""
    planned = next(iter(trials))
    rows = [
        ["", "a report", "ε", "odds", "added", "95 %", "", "truths"],
        ["design", "names", "exact", "shift ≤", "var.", "margin", "worth", "covered"],
    ]
    rows += [[*privacy_and_precision(name, trial), coverage(trial)] for name, trial in trials.items()]
    remarks = (
        f"{verdict(trials)} The plan chose {planned}: the least worst-case error at this privacy. Margin: mean "
        "half-width in percentage points. Worth: what a report tells, in answers given openly."
    )
    return [
        *_indented(columns(rows, "<<>>>>>>")),
        "",
        *_indented(wrap(remarks, 76)),
        "",
        *_around_the_truth(trials),
        "",
    ]


def privacy_and_precision(name: str, trial: Trial) -> list[str]:
    """A design, what its reports name, ε, odds shift, added variance, margin and worth."""
    return [
        name,
        report_words(trial.design).removesuffix(" categories"),
        f"{trial.audit.epsilon:.4f}",
        f"{trial.audit.parity:.3f}",
        f"{trial.audit.added_variance:.3f}",
        f"±{100 * trial.margin:.2f}",
        f"{trial.worth:.3f}",
    ]


def coverage(trial: Trial) -> str:
    """How many truths lie in their intervals."""
    return f"{trial.covered} of {trial.design.k}"


def verdict(trials: dict[str, Trial]) -> str:
    """Whether the designs meet the demand, as the audit found."""
    met = sum(trial.audit.demand_holds is True for trial in trials.values())
    return "All three meet the demand." if met == len(trials) else f"{met} of {len(trials)} meet the demand."


def _around_the_truth(trials: dict[str, Trial]) -> list[str]:
    """Every interval on one scale, shifted so that the truths form a line."""
    population = next(iter(trials.values())).population
    reach = max(_reach(trial, range(trial.design.k)) for trial in trials.values())
    width = 45
    lines = [_key(reach, width), ""]
    for j, category in enumerate(population.categories):
        lines.append(f"{category}, truth {percent(population.shares[j], 2)}")
        for name, trial in trials.items():
            share = percent(trial.estimate.proportions[j], 2)
            lines.append(f"  {name:<15} {_picture(trial, j, reach, width)} {share:>8}")
    return _indented(lines)


def _key(reach: float, width: int) -> str:
    return f"├──●──┤ estimate with 95 % interval, │ truth; {200 * reach / (width - 1):.2f} points a character"


def _reach(trial: Trial, which: Iterable[int]) -> float:
    """How far the intervals of these categories reach from the truth."""
    chosen = list(which)
    return float(np.abs(trial.limits[chosen] - trial.population.shares[chosen, None]).max())


def _picture(trial: Trial, j: int, reach: float, width: int) -> str:
    (low, high), truth = trial.limits[j].tolist(), float(trial.population.shares[j])
    middle = float(trial.estimate.proportions[j])
    return whisker(low, middle, high, truth, (truth - reach, truth + reach), width)


def codes(trial: Trial) -> list[str]:
    """The plan, the speed, the coverage and the largest estimates."""
    k, n = trial.design.k, trial.population.n
    decimals, width = decimals_for(trial.limits), 33
    top = np.argsort(-trial.estimate.proportions, kind="stable")[:TOP].tolist()
    reach = _reach(trial, top)
    rows = [["code", "truth", "estimate", "95 % interval", ""]]
    for j in top:
        low, high = trial.limits[j].tolist()
        rows.append(
            [
                trial.population.categories[j],
                percent(trial.population.shares[j], decimals),
                percent(trial.estimate.proportions[j], decimals),
                f"{number(100 * low, decimals)} to {number(100 * high, decimals)}",
                _picture(trial, j, reach, width),
            ]
        )
    return [
        f"2  DIAGNOSIS OF {n:,} PERSONS (INVENTED): {k} CODES, THE SAME DEMAND",
        "",
        f"   Planned   {trial.design.title}: a report names {report_words(trial.design)};"
        f" ε = {trial.audit.epsilon:.4f}.",
        f"   Masked    {n:,} answers in {trial.masking_seconds:.2f} s ({rate(n, trial.masking_seconds)} a second),",
        f"             counted in {trial.counting_seconds:.3f} s.",
        f"   Checked   {trial.covered} of {k} truths lie in their 95 % intervals (about {0.95 * k:.0f} expected).",
        "",
        f"   The {TOP} largest estimates; {200 * reach / (width - 1):.2f} points a character:",
        "",
        *_indented(columns(rows, "<>>><")),
        "",
    ]


def release_sentences(released: Released) -> list[str]:
    """What was asked for and what came of it."""
    release, matches = released.release, released.comparison.matches
    alone, before, after = matches.before.sample_uniques, matches.correct_before, matches.correct_after
    verdict = "so the limit holds" if release.audit.holds else "SO THE LIMIT FAILS"
    return [
        f"A neighbour may know {', '.join(KEYS[:-1])} and {KEYS[-1]}. {alone:,} persons are the only ones with their "
        "combination: whoever knows it finds their illness in the file.",
        f"Demand: no match by what the neighbour knows may be right with a chance above {XI:g}. Exact audit of the "
        f"release: {release.audit.risk_in_digits(4)} at most, {verdict}; a match was certain before. Tried on the "
        f"release: {release.attack().sentence()}.",
        f"If every record is matched, {before:,.0f} matches are right before and {after:,.0f} after. "
        f"{percent(release.changed, 2)} of the records changed, none left its sex or its age group (below 18, 65 and "
        "above), and no combination appears that nobody had.",
    ]


def status_counts(released: Released) -> list[list[str]]:
    """Persons by status, before and after, with the standard errors of the release and of a sample."""
    table = released.comparison.frequencies["status"]
    lines = [["status", "before", "after", "± release", "± sampling"]]
    errors = table.added_error.tolist(), table.sampling_error.tolist()
    for level, *counts, added, sampling in zip(table.levels[0], table.before, table.after, *errors, strict=True):
        lines.append([level, *(f"{int(count):,}" for count in counts), f"{added:.1f}", f"{sampling:.1f}"])
    return lines


def release(released: Released) -> list[str]:
    """This part in a terminal."""
    lines = [line for sentence in release_sentences(released) for line in wrap(sentence, 76)]
    return [
        f"3  A FILE OF {PERSONS:,} PERSONS (INVENTED): RELEASED WITH A LIMIT ON MATCHES",
        "",
        *_indented(lines),
        "",
        *_indented(columns(status_counts(released), "<>>>>")),
        "",
    ]


def closing(result: DemoResult, lacking: str = "") -> list[str]:
    """Where everything is, and what to install for more."""
    rows = [[name, about] for name, about in result.files.items()]
    return [
        f"Done in {result.seconds:.1f} s. In {result.folder}:",
        "",
        *_indented(columns(rows, "<<")),
        *([] if not lacking else ["", *wrap(lacking, 79)]),
    ]


def rate(n: int, seconds: float) -> str:
    """Records per second, rounded for reading."""
    per_second = n / max(seconds, 1e-9)
    return f"{per_second / 1e6:.1f} million" if per_second >= 1e6 else f"{per_second:,.0f}"


def _indented(lines: list[str]) -> list[str]:
    return [f"   {line}".rstrip() for line in lines]
