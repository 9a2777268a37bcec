"""Which chart draws which result: what ``result.plot()`` finds."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from maskwell.auditing import Audit, audit
from maskwell.auditing.gain_leakage import GainLeakage
from maskwell.designs.base import Design
from maskwell.errors import MaskwellError
from maskwell.inference import Estimate, Top
from maskwell.inference.compliance.bounds import ComplianceBounds
from maskwell.inference.compliance.result import Compliance
from maskwell.inference.domains import GroupEstimates
from maskwell.inference.hypotheses.hypothesis_test import HypothesisTest
from maskwell.inference.items.correlations import Correlations
from maskwell.inference.items.sums import SumScore
from maskwell.inference.regression.effects import Effects
from maskwell.inference.regression.regression import Regression
from maskwell.inference.sample.sample import Sample
from maskwell.inference.sample.totals import Totals
from maskwell.planning import RegressionPlan
from maskwell.planning.groups.compliance import CompliancePlan
from maskwell.planning.power_curve import PowerCurve, SimulatedCurve
from maskwell.release.base import BaseRelease
from maskwell.release.evaluation.comparison import Comparison as FileComparison
from maskwell.release.identification.audit import IdentificationAudit
from maskwell.release.optimum.information import Optimum
from maskwell.release.optimum.risk_target import RiskTarget
from maskwell.release.recoding.recode import Recoded
from maskwell.release.recoding.search import RecodingSearch
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.risk import RiskReport
from maskwell.rounds.changes import Change
from maskwell.tables.labels import text_of
from maskwell.views.charts import style
from maskwell.views.charts.breach_regions import breach_chart
from maskwell.views.charts.estimate import chart, top_chart
from maskwell.views.charts.gain_leakage import gain_chart
from maskwell.views.charts.group_estimates import group_chart
from maskwell.views.charts.intervals import count_chart, interval_chart
from maskwell.views.charts.joint import has_joint_chart, joint_chart
from maskwell.views.charts.matrix import has_matrix_chart, matrix_chart
from maskwell.views.charts.plans.frontier import frontier_chart
from maskwell.views.charts.plans.power import power_chart
from maskwell.views.charts.plans.regression_power import regression_power_chart
from maskwell.views.charts.recoding import recoding_chart
from maskwell.views.charts.release import changed_chart, proof_chart, target_chart
from maskwell.views.charts.risk import drivers_chart, individual_chart, sizes_chart
from maskwell.views.charts.surveys.compliance import bounds_chart, compliance_power_chart
from maskwell.views.charts.surveys.hypotheses import tail_chart
from maskwell.views.charts.surveys.weights import weights_chart
from maskwell.views.comparison import Comparison
from maskwell.views.wording import level_words, privacy_words
from maskwell.words.codebook import Codebook

_POINTS = "difference of shares, in percentage points"
_OF_RISK = {"cells": sizes_chart, "records": individual_chart, "keys": drivers_chart}


@singledispatch
def picture(result: Any, **options: Any) -> Any:
    """The chart of a result; which options it takes depends on the result."""
    raise MaskwellError(f"{type(result).__name__} has no picture; its summary() and to_frame() say all.")


@picture.register
def _(result: Design) -> Any:
    """The matrix where it can be read, else the changes of belief that the design rules out."""
    return matrix_chart(result) if has_matrix_chart(result) else breach_chart(audit(result))


@picture.register
def _(result: Reports) -> Any:
    return picture(result.tally())


@picture.register
def _(result: Tally) -> Any:
    names = [text_of(category) for category in result.design.categories]
    lines = [f"{result.n:,} masked reports of a {result.design.title} design: these are not the true shares."]
    return count_chart(names, result.inclusions, "Reports that hold each category", "reports", lines)


@picture.register
def _(result: Estimate, **options: Any) -> Any:
    """Two variables side by side where they are few enough, else every proportion with its interval."""
    if has_joint_chart(result) and options.keys() <= {"level"}:
        return joint_chart(result, **options)
    return chart(result, **options)


@picture.register
def _(result: GroupEstimates, **options: Any) -> Any:
    """A panel for each category, with a line for each group."""
    return group_chart(result, **options)


@picture.register
def _(result: Top) -> Any:
    return top_chart(result)


@picture.register
def _(result: Totals, level: float = 0.95) -> Any:
    names = [text_of(category) for category in result.design.categories]
    lines = [f"With {level_words(level)}s. Privacy: {privacy_words(result.design)}"]
    return interval_chart(names, result.values, result.interval(level), "Estimated totals", "people", lines)


@picture.register
def _(result: Correlations, level: float = 0.95) -> Any:
    names = [f"{one} and {other}" for one, other in result.pairs]
    limits = np.array([pair.interval(level) for pair in result.pairs.values()])
    values, lines = np.array([pair.value for pair in result.pairs.values()]), [f"With {level_words(level)}s"]
    return interval_chart(names, values, limits, "Correlations of masked items", "correlation", lines)


@picture.register
def _(result: SumScore, level: float = 0.95) -> Any:
    names, limits, lines = (
        [f"{value:g}" for value in result.values],
        result.interval(level),
        [f"With {level_words(level)}s"],
    )
    return interval_chart(
        names, result.proportions, limits, "Sum of masked items", "share of people", lines, labels=style.PERCENT_LABELS
    )


@picture.register
def _(result: PowerCurve) -> Any:
    return power_chart(result)


@picture.register
def _(result: SimulatedCurve, level: float = 0.95) -> Any:
    names, lines = [f"{n:,}" for n in result.n], [f"By simulation; with {level_words(level)}s of what was simulated"]
    return interval_chart(
        names, result.powers, result.interval(level), "Power by respondents", "share of surveys that reject", lines,
        labels=style.PERCENT_LABELS,
    )  # fmt: skip


@picture.register
def _(result: Change, level: float = 0.95) -> Any:
    names, lines = [text_of(c) for c in result.categories], [f"{result.basis}; with {level_words(level)}s"]
    title = "Change between two rounds"
    return interval_chart(
        names, result.differences, result.interval(level), title, _POINTS, lines, labels=style.POINT_LABELS
    )


@picture.register
def _(result: Compliance, level: float = 0.95) -> Any:
    """Behaviours among all people, then categories among those whom the result names."""
    frame = result.to_frame(level, backend="pyarrow").to_pydict()
    limits = np.column_stack([frame["lower"], frame["upper"]])
    names = [text_of(name) for name in frame["what"]]
    lines = [f"Behaviours: of all people. Categories: of {result.among}.", f"With {level_words(level)}s."]
    return interval_chart(
        names, frame["estimate"], limits, "Who follows the design", "share", lines, labels=style.PERCENT_LABELS
    )


@picture.register
def _(result: ComplianceBounds) -> Any:
    return bounds_chart(result)


@picture.register
def _(result: CompliancePlan) -> Any:
    return compliance_power_chart(result)


@picture.register
def _(result: Regression, level: float = 0.95) -> Any:
    names, limits, lines = list(result.names), result.interval(level), [f"With {level_words(level)}s"]
    title = f"Coefficients of {result.formula}"
    return interval_chart(names, result.estimates, limits, title, "coefficient", lines)


@picture.register
def _(result: RegressionPlan, term: str | None = None, level: float = 0.95) -> Any:
    return regression_power_chart(result, term, level)


@picture.register
def _(result: Effects, level: float = 0.95) -> Any:
    parts = zip(result.predictors, result.changes, result.categories, strict=True)
    names = [", ".join(part for part in row if part) for row in parts]
    lines = [f"With {level_words(level)}s"]
    limits, title = result.interval(level), "Average marginal effects"
    axis = "change of the chance, in percentage points"
    return interval_chart(names, result.estimates, limits, title, axis, lines, labels=style.POINT_LABELS)


@picture.register
def _(result: Audit) -> Any:
    return breach_chart(result)


@picture.register
def _(result: GainLeakage) -> Any:
    return gain_chart(result)


@picture.register
def _(result: Comparison) -> Any:
    designs = {name: found.design for name, found in result.audits.items()}
    return frontier_chart(next(iter(designs.values())).k, highlight=designs)


@picture.register
def _(result: RiskReport, of: str = "cells") -> Any:
    """Records by the size of their ``cells``, by the chance of a right match (``records``), or what ``keys`` add."""
    if of not in _OF_RISK:
        raise MaskwellError(f"of must be one of {', '.join(_OF_RISK)}; got {of!r}.", parameter="of")
    return _OF_RISK[of](result)


@picture.register
def _(result: BaseRelease) -> Any:
    return changed_chart(result.comparison())


@picture.register
def _(result: FileComparison) -> Any:
    return changed_chart(result)


@picture.register
def _(result: IdentificationAudit) -> Any:
    return proof_chart(result)


@picture.register
def _(result: Optimum) -> Any:
    return picture(result.design)


@picture.register
def _(result: RiskTarget) -> Any:
    return target_chart(result)


@picture.register
def _(result: HypothesisTest) -> Any:
    return tail_chart(result)


@picture.register
def _(result: Codebook) -> Any:
    return picture(result.design)


@picture.register
def _(result: Sample) -> Any:
    return weights_chart(result)


@picture.register
def _(result: Recoded) -> Any:
    return recoding_chart(result)


@picture.register
def _(result: RecodingSearch) -> Any:
    return recoding_chart(result.recoded)
