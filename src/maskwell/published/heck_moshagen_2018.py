"""Heck & Moshagen (2018): the stochastic lie detector of their Section 4.1, a survey on a ban of minarets.

The article prints the sizes of both groups and the estimates; how many said yes follows from the data set ``minarets``
that is published with it, in the R package RRreg. Its standard errors divide by n - 1 in each group, ours by n.
"""

from functools import cache
from math import sqrt

from maskwell import designs
from maskwell.inference.compliance.behaviours import Behaviour
from maskwell.inference.compliance.fit import compliance
from maskwell.inference.compliance.result import Compliance
from maskwell.published.model import Explanation, Row
from maskwell.reports.tally import Tally

KEY = "heck-moshagen-2018"
_WHERE = "Section 4.1: stochastic lie detector"
_CHANCES = (2 / 12, 10 / 12)
_YES, _ASKED = (373, 398), (564, 692)


@cache
def _found() -> Compliance:
    asked = [designs.mangat(truth_prob=chance) for chance in ("1/6", "5/6")]
    groups = [Tally.from_counts(design, [yes, n - yes]) for design, yes, n in zip(asked, _YES, _ASKED, strict=True)]
    return compliance(groups, {"lies": Behaviour("no", of="yes")})


def _truthful() -> float:
    """Of those who would say yes, the share that does."""
    return 1 - float(_found().shares[0] / _found().proportions[0])


def _truthful_error() -> float:
    """By the delta method: the error of the share that lies less what it would be, over the share of carriers."""
    t = _truthful()
    return _found().contrast({"yes": 1 - t, "lies": -t}).standard_error / float(_found().proportions[0])


def _over_n_less_one(slopes: tuple[float, float]) -> float:
    """The error of a function of both shares of yes, with these derivatives."""
    shares = [yes / n for yes, n in zip(_YES, _ASKED, strict=True)]
    return sqrt(sum(d * d * x * (1 - x) / (n - 1) for d, x, n in zip(slopes, shares, _ASKED, strict=True)))


def _share_over_n_less_one() -> float:
    """The share is ``1 + (y2 - y1) / (p2 - p1)``."""
    gap = _CHANCES[1] - _CHANCES[0]
    return _over_n_less_one((1 / gap, 1 / gap))


def _truthful_over_n_less_one() -> float:
    """The share is ``(y2 (1 - p1) - y1 (1 - p2)) / (y2 - y1 + p2 - p1)``."""
    (p1, p2), (y1, y2) = _CHANCES, (yes / n for yes, n in zip(_YES, _ASKED, strict=True))
    below = y2 - y1 + p2 - p1
    t = (y2 * (1 - p1) - y1 * (1 - p2)) / below
    return _over_n_less_one(((t - (1 - p2)) / below, (1 - p1 - t) / below))


_WHY = "variances are divided by n - 1 in each group"
ROWS = (
    Row(KEY, _WHERE, "share in favour of a ban", "0.870695", lambda: float(_found().proportions[0])),
    Row(
        KEY,
        _WHERE,
        "its standard error",
        "0.041118",
        lambda: float(_found().proportion_errors[0]),
        Explanation(_WHY, _share_over_n_less_one),
    ),
    Row(KEY, _WHERE, "share of these that tell the truth", "0.635806", _truthful),
    Row(
        KEY,
        _WHERE,
        "standard error of the share that tells the truth",
        "0.017344",
        _truthful_error,
        Explanation(_WHY, _truthful_over_n_less_one),
    ),
)
