"""All figures of a planned question: the design, why it, what it gives, what it costs, and what else there would be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from maskwell import designs
from maskwell.auditing import audit
from maskwell.collect.studio.planning.demands import Asked, read_demand
from maskwell.collect.studio.work.planning import command_plan, python_plan
from maskwell.collect.surveys.document import can_be_asked
from maskwell.demands import LDP, AverageSecurity, Demand, LocalDiversity
from maskwell.designs.base import Design
from maskwell.designs.storage import to_document
from maskwell.errors import DesignError, MaskwellError
from maskwell.planning import half_width, match_added_variance, plan, sample_size
from maskwell.views.audit_figures import cost
from maskwell.views.wording import privacy_words, report_words
from maskwell.words import explain

MOST_CATEGORIES = 1000
# Average security has no closed form: its matrix is worked through entry by entry.
_MOST_AVERAGED = 100
_MOST_LABEL = 1000
# Beside the design that planning chooses, at the same bound on parity.
_RIVALS = ("gamma_diagonal", "rappor", "trimmed_rappor", "optimized_unary")
_TITLES = {
    "minimax": "minimax subsets",
    "gamma_diagonal": "k-ary response",
    "rappor": "RAPPOR",
    "trimmed_rappor": "trimmed RAPPOR",
    "optimized_unary": "optimized unary",
    "local_diversity": "local l-diversity",
    "uniform_subsets": "uniform subsets",
    "average_secure": "average security",
}
AS_PRECISE = "minimax, as precise"


@dataclass(frozen=True)
class Asking:
    """What a form asks for: labels, demand, people, the wanted half-width, and a design other than the planned one."""

    labels: list[str]
    asked: Asked
    n: int
    width: float
    use: str | None


def title_of(name: str) -> str:
    """A named design in a few words."""
    return _TITLES.get(name, name.replace("_", " "))


def figures(document: object) -> dict[str, Any]:
    """Everything about the question that a form describes."""
    asking = _read(document)
    planned = plan(asking.labels, asking.asked.demand, n=asking.n)
    offered = dict(_offered(asking, planned))
    if asking.use is not None and asking.use not in offered:
        raise DesignError(f"there is no design {asking.use!r} for this demand.", parameter="use")
    name = asking.use or planned.name
    chosen = offered[name]
    result = audit(chosen)
    unmasked = designs.direct(len(asking.labels))
    bounded = math.isfinite(chosen.parity)
    return {
        "name": name,
        "title": title_of(name),
        "design": to_document(chosen),
        "reason": _reason(asking.asked, name, planned),
        "demand": asking.asked.words,
        "privacy": privacy_words(chosen),
        "reports": report_words(chosen),
        "sentences": [sentence.text for sentence in explain(chosen, "respondent").sentences],
        "warnings": list(result.warnings),
        "parity": chosen.parity if bounded else None,
        "curves": asking.asked.curves(),
        "half_width": _finite(_half_width(chosen, asking.n)),
        "direct_half_width": half_width(unmasked, asking.n),
        "needed": _needed(chosen, asking.width),
        "direct_needed": sample_size(unmasked, asking.width),
        "can_be_asked": can_be_asked(chosen),
        "python": python_plan(chosen),
        "command": command_plan(chosen),
        "compared": [_compared(key, design, asking, key == name) for key, design in offered.items()],
    }


def _read(document: object) -> Asking:
    if not isinstance(document, Mapping) or document.keys() - {"categories", "demand", "n", "width", "use"}:
        raise MaskwellError("send categories, demand, n, width and, for another design, use.")
    labels = document.get("categories")
    if not isinstance(labels, list) or not 2 <= len(labels) <= MOST_CATEGORIES:
        raise DesignError(f"Write 2 to {MOST_CATEGORIES:,} answers, one on each line.", parameter="categories")
    if any(not isinstance(label, str) or not 1 <= len(label) <= _MOST_LABEL for label in labels):
        raise DesignError(f"An answer has 1 to {_MOST_LABEL:,} characters.", parameter="categories")
    if len(set(labels)) < len(labels):
        raise DesignError("Two answers are the same.", parameter="categories")
    n, width, use = document.get("n"), document.get("width"), document.get("use")
    if type(n) is not int or not 1 <= n <= 10**12:
        raise DesignError("The number of people must be a whole number from 1 on.", parameter="n")
    if not isinstance(width, int | float) or isinstance(width, bool) or not 0.0001 <= width <= 0.5:
        raise DesignError("The wanted precision must be 0.01 to 50 points.", parameter="width")
    if use is not None and not isinstance(use, str):
        raise DesignError("use must be the name of a design.", parameter="use")
    asked = read_demand(document.get("demand"))
    if isinstance(asked.demand, AverageSecurity) and len(labels) > _MOST_AVERAGED:
        raise DesignError(f"Average security is planned for at most {_MOST_AVERAGED} answers.", parameter="categories")
    return Asking(labels, asked, n, float(width), use)


def _offered(asking: Asking, planned: Design) -> Iterator[tuple[str, Design]]:
    """The planned design and its rivals, by name; those that do not exist here are left out."""
    yield planned.name, planned
    demand = asking.asked.demand
    bound = demand.exact_bound()
    if isinstance(bound, Fraction):
        stated = {"epsilon": demand.epsilon} if isinstance(demand, LDP) else {"gamma": bound}
        for name in _RIVALS:
            try:
                rival = designs.DESIGNS[name].function(asking.labels, **stated)
            except DesignError:
                continue
            yield name, rival.answering(demand)
        return
    try:
        subsets = designs.uniform_subsets(asking.labels)
        if demand.holds_for(subsets):
            yield subsets.name, subsets
    except DesignError:
        pass
    if 0 < planned.added_variance < math.inf:
        match = match_added_variance(len(asking.labels), planned.added_variance)
        yield AS_PRECISE, designs.minimax(asking.labels, gamma=Fraction(match.gamma))


def _reason(asked: Asked, name: str, planned: Design) -> str:
    """Why this design."""
    if name != planned.name:
        return f"You chose it; planning would take {title_of(planned.name)}."
    demand: Demand = asked.demand
    if isinstance(demand, LocalDiversity):
        return f"Every report leaves {demand.l} answers equally plausible, which is what this demand asks for."
    if isinstance(demand, AverageSecurity):
        return "It is the most precise design for this demand. See the warning: the demand itself protects little."
    return (
        f"Your demand limits the parity to {demand.parity_bound:.4g}. Of all designs within that limit, its largest "
        "error over all populations is the least."
    )


def _compared(name: str, design: Design, asking: Asking, chosen: bool) -> dict[str, Any]:
    finite = math.isfinite(design.added_variance)
    return {
        "name": name,
        "title": title_of(name),
        "chosen": chosen,
        "meets": asking.asked.demand.holds_for(design),
        "epsilon": _finite(design.epsilon),
        "guess": audit(design).guess_probability,
        "cost": cost(design.added_variance, design.k) if finite else None,
        "half_width": _finite(_half_width(design, asking.n)),
        "needed": _needed(design, asking.width),
        "reports": report_words(design),
    }


def _half_width(design: Design, n: int) -> float:
    return half_width(design, n) if math.isfinite(design.added_variance) else math.inf


def _needed(design: Design, width: float) -> int | None:
    return sample_size(design, width) if math.isfinite(design.added_variance) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
