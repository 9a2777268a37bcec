"""An assessment as text: what is in the file, what that means beyond it, and which keys it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from maskwell.advice import Advice, Setting
from maskwell.plain_text import visible_lines
from maskwell.risk.frequencies import SIZES
from maskwell.risk.modelled import Modelled

if TYPE_CHECKING:
    from maskwell.risk.report import RiskReport


def summarize(report: RiskReport) -> str:
    """The text of ``RiskReport.summary``."""
    return visible_lines(summary_lines(report))


def summary_lines(report: RiskReport) -> list[str]:
    """Its lines, one of which may be advice."""
    return [*_file(report), "", *_population(report), *_diversity(report), "", *_keys(report)]


def _file(report: RiskReport) -> Iterator[str]:
    cells, n = report.cells, report.n
    yield f"{_counted(n, 'record')} over {_counted(len(report.keys), 'key')}: {', '.join(report.keys)}"
    if cells.wild:
        yield f"{len(cells):,} different patterns of keys, missing ones among them, of which several match each other"
    else:
        yield f"{len(cells):,} of {cells.possible:,} possible cells are occupied"
    uniques = report.sample_uniques
    yield f"{_counted(uniques, 'sample unique')} ({_percent(uniques, n)}), {report.sample_doubles:,} records in pairs"
    below = ", ".join(f"{report.records_below(k):,} below {k}" for k in SIZES)
    yield f"records in cells by size: {below}; the file is {report.k}-anonymous"
    for key, count in report.missing.items():
        if count:
            how = "matches any value" if cells.wild else "is treated as a category of its own"
            yield f"{key} is missing in {_counted(count, 'record')}; missing {how}"


def _population(report: RiskReport) -> Iterator[str]:
    found = report.modelled
    if report.cells.wild and report.population_size is not None:
        yield "no tau1 and tau2: in their model missing is a category, and here it matches any value"
        yield (
            f"correct matches to expect when every record is matched: {report.individual_matches:,.1f} by the "
            f"individual risks (at most {report.largest_risk:.4g} each)"
        )
        return
    if found is None or report.population_size is None:
        yield Advice(
            "tau1 and tau2 need ",
            Setting("weights", blank=True),
            " or ",
            Setting("population_size", blank=True),
            ": how many people the file was drawn from is not known",
        )
        return
    uniques = report.sample_uniques
    yield f"in a population of {report.population_size:,.0f} (sampling fraction {found.fraction:.4g}), by the model:"
    yield f"  tau1 = {_decimal(found.tau1)} sample uniques are unique there ({_percent(found.tau1, uniques)} of them)"
    yield f"  tau2 = {_decimal(found.tau2)} matches with sample uniques are right ({_percent(found.tau2, uniques)})"
    yield f"correct matches to expect when every record is matched: {found.expected_matches:,.1f} by the model"
    yield f"  {report.individual_matches:,.1f} by the individual risks (at most {report.largest_risk:.4g} each)"
    yield f"  {TWO_ESTIMATES}"
    yield f"model: {model_words(found)}"
    if report.cells.population is not None:
        yield "  fitted to the weighted records and to the records: each cell has a sampling fraction of its own"
    fit = found.misfit
    b1, z1, b2, z2 = map(_decimal, (fit.b1, fit.z1, fit.b2, fit.z2))
    yield f"  B1 = {b1} (z = {z1}), B2 = {b2} (z = {z2}): {VERDICTS[fit.verdict]}"
    gap = max(found.fit.gap, found.weighted.gap)
    if not (found.fit.converged and found.weighted.converged):
        yield f"  the fit stopped before it converged; its margins are off by up to {gap:.2g} records"


VERDICTS = {
    "fits": "no sign of misfit",
    "too simple": "the model is too simple, and tau1 and tau2 are probably too high; add interactions",
    "too rich": "the model follows single records, and tau1 and tau2 are probably too low; leave out interactions",
}


TWO_ESTIMATES = (
    "two estimates of one number: the individual risks know a cell by its own records and weights alone, the model by "
    "all cells; where it fits, trust the model"
)
"""How the two numbers of correct matches relate."""


def model_words(found: Modelled) -> str:
    """The model by name, with its interactions."""
    if not found.interactions:
        return f"{found.name}: keys independent" if found.name != "independence" else "independence"
    if found.name == "two-way":
        return "all two-way interactions"
    return f"{found.name}, with {', '.join(' x '.join(one) for one in found.interactions)}"


def _diversity(report: RiskReport) -> Iterator[str]:
    for name, column in report.diversity.items():
        yield (
            f"{name}: {column.l_distinct}-diverse (entropy {column.l_entropy:.3g}); "
            f"{_counted(column.revealed, 'record')} with it revealed although others share the cell"
        )


def _keys(report: RiskReport) -> Iterator[str]:
    width = max(len(key) for key in report.keys)
    modelled = report.modelled is not None
    yield f"{'without':{width}}  categories   uniques" + ("      tau1      tau2" if modelled else "") + "   risk gone"
    for driver in report.by_key:
        tau = f"{driver.tau1_without:10,.1f}{driver.tau2_without:10,.1f}" if modelled else ""
        gone = round(100 * driver.contribution)
        yield f"{driver.key:{width}}{driver.categories:12,}{driver.uniques_without:10,}{tau}{gone:10d}%"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _decimal(value: float) -> str:
    """One decimal, and never a negative zero."""
    text = f"{value:,.1f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"
