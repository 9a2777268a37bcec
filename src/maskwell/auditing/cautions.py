"""What a reader of an audit must be told in words, because a single figure would hide it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from maskwell.errors import EstimationError
from maskwell.results.numbers import figure, limit
from maskwell.tables.labels import shown

if TYPE_CHECKING:
    from maskwell.auditing.audit import Audit

USUAL_CEILING = 20
_SURE_BITS = 1e-6


def cautions(audit: Audit) -> Iterator[str]:
    """Plain sentences, the gravest first; none if there is nothing to add to the figures."""
    design, unlimited = audit.design, math.isinf(audit.parity)
    if design.demand is not None and not audit.demand_holds:
        yield f"The design does not meet the demand that it names, {design.demand.describe()}."
    if audit.exposure:
        yield (
            f"The respondent is exposed: with chance {figure(audit.exposure)} the report proves the true answer to "
            f"anyone who sees it ({'every report' if audit.exposure == 1 else shown(audit.exposing_reports)})."
        )
    if unlimited:
        yield (
            "Parity is infinite: some report rules an answer out for certain, so there is no finite ε, and no limit to "
            "what somebody learns who already knows something about the respondent."
        )
    elif audit.parity > USUAL_CEILING:
        yield (
            f"Parity is {limit(audit.exact_parity)}: a report can multiply somebody's odds about the respondent by "
            f"that much; about {USUAL_CEILING} is the usual ceiling."
        )
    if audit.average_security_warning:
        yield audit.average_security_warning
    if unlimited and audit.diversity >= 2:
        yield (
            f"Each report leaves at least {audit.diversity} answers possible, equally likely to a stranger only: who "
            "can rule out all but one of them learns the truth."
        )
    if math.isinf(audit.added_variance):
        yield _not_estimable(audit)
    low, high = audit.mutual_information_bounds
    if high - low > 2 * _SURE_BITS:
        yield (
            f"Mutual information is known to lie between {figure(low)} and {figure(high)} bits: there are too many "
            "sets to list."
        )


def average_security_caution(audit: Audit) -> str:
    """Where average security looks like protection but is not (nayak-zhai-2019, section 3.1)."""
    if audit.average_security >= 2 or math.isfinite(audit.parity):
        return ""
    about = f"Average security φ = {figure(audit.average_security)} misleads here: it averages over reports, and "
    if audit.exposure:
        return (
            about + f"with chance {figure(audit.exposure)} the report is one that proves the true answer. A design "
            "with the same φ and finite parity would expose nobody."
        )
    return about + "some of them rule answers out for certain."


def _not_estimable(audit: Audit) -> str:
    try:
        audit.design.scores("linear")
    except EstimationError as error:
        return f"Not everything can be estimated: {error}"
    return "Not everything can be estimated from this design's reports."
