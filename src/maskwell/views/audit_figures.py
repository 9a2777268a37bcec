"""The figures of an audit, each with the words that say what it means: what the table and the page both show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from maskwell.auditing import Audit
from maskwell.designs import BlockDesign
from maskwell.designs.base import Design
from maskwell.errors import DesignError
from maskwell.ordering import improve
from maskwell.results.numbers import figure, limit, percent, share
from maskwell.views.charts.breach_regions import EXAMPLE, at_most

_DIGITS_OF_A_FRACTION = 41
_SAME_BITS = 1e-9


@dataclass(frozen=True)
class Finding:
    """One figure: its name, its value as text and what it means."""

    name: str
    value: str
    meaning: str


def findings(audit: Audit) -> dict[str, list[Finding]]:
    """All figures of an audit in three groups: against anybody, what a report gives away, what the analyst gets."""
    return {
        "Against anybody, whatever they know": _bounds(audit),
        "What a report gives away": _leakage(audit),
        "What the analyst gets": _precision(audit),
    }


def fraction_words(value: Fraction | float) -> str:
    """An exact fraction, cut where it is long."""
    if not isinstance(value, Fraction):
        return "unbounded"
    text = str(value)
    return text if len(text) <= _DIGITS_OF_A_FRACTION else f"{text[: _DIGITS_OF_A_FRACTION - 1]}…"


def cost(added_variance: float, k: int) -> float:
    """How many times the respondents of a direct question this added variance costs, categories equally common."""
    return 1 + added_variance / (1 - 1 / k)


def demand_words(audit: Audit) -> str:
    """The demand that the design names."""
    return audit.design.demand.describe() if audit.design.demand else "none stated"


def _bounds(audit: Audit) -> list[Finding]:
    verdict = {None: "", True: "it holds, exactly", False: "IT DOES NOT HOLD"}[audit.demand_holds]
    high = audit.breach_region.upper(EXAMPLE)
    return [
        Finding("parity", limit(audit.exact_parity), "no report multiplies anybody's odds by more than this"),
        Finding("epsilon", limit(audit.epsilon), "its logarithm, rounded up: local differential privacy"),
        Finding(
            "exact parity",
            fraction_words(audit.exact_parity),
            "from the integers that the sampler uses (all digits in JSON)",
        ),
        Finding("demand", demand_words(audit), verdict),
        Finding(
            f"a belief of {percent(EXAMPLE, 0)}",
            f"at most {at_most(high)}" if high < 1 else "no limit",
            "what it can become after a report, whatever else is known",
        ),
    ]


def _leakage(audit: Audit) -> list[Finding]:
    blind = max(audit.prior) if audit.prior else 1 / audit.design.k
    who = "who knows the prior that was given" if audit.prior else "who knows nothing"
    bounds = audit.mutual_information_bounds
    doubt = (
        ""
        if bounds.upper - bounds.lower <= _SAME_BITS
        else f", between {figure(bounds.lower)} and {figure(bounds.upper)}"
    )
    diversity = str(audit.diversity) if audit.diversity else "none"
    return [
        Finding("proof of the truth", figure(float(audit.exposure)), "chance of a report that proves the true answer"),
        Finding(
            "right guesses", figure(audit.guess_probability), f"by somebody {who}; without the report {figure(blind)}"
        ),
        Finding("largest posterior", figure(audit.largest_posterior), "the most that any report makes of any answer"),
        Finding(
            "information",
            f"{figure(audit.mutual_information)} bits",
            f"of {figure(_entropy(audit))} in the answer{doubt}",
        ),
        Finding("capacity", f"{figure(audit.capacity)} bits", "the same for the population that it tells most about"),
        Finding("ruled out", figure(audit.size_leakage), "average share of the answers that a report rules out"),
        Finding("diversity", diversity, "answers that every report leaves possible and equally likely to a stranger"),
        Finding("L1 distance", figure(audit.l1), "between the two most different columns, 2 at most"),
        Finding("average security", figure(audit.average_security), "the least φ that holds; no protection by itself"),
    ]


def _precision(audit: Audit) -> list[Finding]:
    value = audit.design.worth
    times = (
        f"ask {figure(1 / value)} times as many people as directly" if value else "single categories are not estimable"
    )
    admissible = "yes" if audit.admissible else "NO"
    why = audit.why_not or "no design of the same parity serves every analysis better"
    rows = [
        Finding("added variance", figure(audit.added_variance), "what masking adds to n times the total variance"),
        Finding("worth of a report", figure(value), f"in direct answers, categories equally common: {times}"),
        Finding(
            "one false report", figure(audit.report_influence), "respondents that it can add to a category's estimate"
        ),
        Finding("admissible", admissible, why),
        Finding("rank", f"{audit.rank} of {audit.design.k}", "all proportions can be estimated if it is full"),
        Finding("condition number", figure(audit.condition_number), "largest over smallest singular value"),
        Finding("reports to merge", f"{audit.proportional_rows:,}", "they repeat what other reports say"),
    ]
    rows += _price_of_blocks(audit.design)
    improved = _improved(audit)
    if improved is not None:
        rows.insert(
            4, Finding("improved", figure(improved), "added variance of the better design that improve() makes of it")
        )
    if audit.trace is not None:
        rows.append(Finding("trace", figure(audit.trace), "sum of the chances to report the truth as it is"))
    return rows


def _price_of_blocks(design: Design) -> list[Finding]:
    """What a block design adds beside the best symmetric one, if anything."""
    # The one kind that a page names: only blocks may have to take points that stand for nothing.
    price = design.embedding if isinstance(design, BlockDesign) else None
    if price is None:
        return []
    points = f"{price.points} points for {design.k} categories, " if price.points > design.k else ""
    return [
        Finding(
            "price of blocks",
            share(price.ratio - 1),
            f"more added variance than sets of the best size, {price.best_size}: {points}blocks of {price.block_size}",
        )
    ]


def _improved(audit: Audit) -> float | None:
    """What a design would add that is better for every analysis at the same parity; None if there is none."""
    if audit.admissible or math.isinf(audit.parity):
        return None
    try:
        return improve(audit.design).added_variance
    except DesignError:
        return None


def _entropy(audit: Audit) -> float:
    if audit.prior is None:
        return math.log2(audit.design.k)
    return -math.fsum(p * math.log2(p) for p in audit.prior if p)
