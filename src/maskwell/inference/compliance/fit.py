"""How many people do not follow the design, by maximum likelihood over the shares of truths and behaviours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maskwell.advice import Advice, Setting
from maskwell.errors import EstimationError
from maskwell.inference.compliance.groups import Classes, Groups, read_groups
from maskwell.inference.compliance.result import Compliance
from maskwell.inference.compliance.sampled import SampledCompliance, read_sampled
from maskwell.inference.likelihood.maximum import Maximum, maximise, tolerance
from maskwell.inference.regression.frame.arms import Arms
from maskwell.inference.sample.sample import Sample
from maskwell.reports import Reports
from maskwell.reports.tally import Tally
from maskwell.tables.labels import shown

_MOST_TOLD = 3


def compliance(
    groups: Sequence[Tally | Reports] | Mapping[Any, Tally | Reports] | Tally | Reports | Arms,
    behaviours: Mapping[str, Any],
    *,
    sample: Sample | None = None,
) -> Compliance:
    """Estimate how many people do not follow the design, from groups that were asked by different ones.

    ``groups`` are tallies or reports, one for each group, in a list or by name as in ``mw.arms``; people were assigned
    to groups at random, so that truths and behaviours are equally common in all. ``behaviours`` says by name what
    people may do instead: the label of a report that they always give, chances by report, ``"random"``, or a
    :class:`Behaviour`, which can also say whose it is. An EstimationError names what the reports cannot tell apart;
    ``compliance_bounds`` then says what still follows.

    With ``sample`` people count by their weights, and errors are those of its strata, clusters or replicates. Its
    records are those of the first group, then those of the second, and so on; or, where ``groups`` are :func:`arms`, in
    their order.

    Cheating detection (Clark and Desharnais 1998): a die forces a yes in one of six cases in one group and in five of
    six in the other, and some people say no whatever the die shows.

    >>> import maskwell as mw
    >>> rare, often = (mw.designs.forced_response(yes_prob=p, no_prob=0) for p in ("1/6", "5/6"))
    >>> groups = [mw.Tally.from_counts(rare, [320, 680]), mw.Tally.from_counts(often, [780, 220])]
    >>> found = mw.compliance(groups, {"always no": "no"})
    >>> found.shares.round(3), found.standard_errors.round(3)
    (array([0.105]), array([0.017]))
    >>> print(found.test())
    likelihood ratio of full compliance: statistic 48.1802, p < 0.0001 (1/2 chi-square 0 + 1/2 chi-square 1)
    """
    if sample is not None:
        drawn, records = read_sampled(groups, behaviours, sample)
        _require_told(drawn.classes)
        return SampledCompliance(drawn, _maximum(drawn), records)
    if isinstance(groups, Arms):
        groups = list(groups.reports)
    read = read_groups(groups, behaviours)
    _require_told(read.classes)
    return fit_groups(read)


def fit_groups(groups: Groups) -> Compliance:
    """The estimate from groups that were read."""
    return Compliance(groups, _maximum(groups))


def _maximum(groups: Groups) -> Maximum:
    k = len(groups.classes.names)
    best = maximise(groups.rows, groups.weights, np.full(k, 1 / k))
    if best.gap > tolerance(groups.n):
        raise EstimationError(f"the likelihood was not maximised: the gap is {best.gap:.3g} after {best.turns} turns.")
    return best


def _require_told(classes: Classes) -> None:
    """An error unless the reports determine how common each behaviour is."""
    units = np.eye(len(classes.names))
    hidden = [name for at, name in enumerate(classes.behaviours, start=classes.k) if not classes.tells(units[at])]
    if hidden:
        confused = "; ".join(classes.confusions()[:_MOST_TOLD])
        raise EstimationError(
            Advice(
                f"these designs do not tell how common {shown(tuple(hidden))} is: {confused}. Ask another group by a "
                "design with other chances, or use ",
                Setting("compliance_bounds"),
                ".",
            ),
            parameter="behaviours",
        )
