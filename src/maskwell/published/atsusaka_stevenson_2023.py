"""Atsusaka & Stevenson (2023): the example of the R package cWise that came with their article, on made-up people.

Who does not attend answers at random. A second, "anchor" question, whose sensitive answer is known to be no, tells how
many these are: it is a group whose design has the same chances whatever the truth is. The example prints no counts. The
crosswise estimate without attention to attention, .1950, and the share that attends, .7729, leave one possible count
of "same" each among its 2,000 people, so that these two numbers test nothing and are no rows.
"""

from functools import cache

from maskwell import designs
from maskwell.designs.base import Design
from maskwell.inference import estimate
from maskwell.inference.compliance.fit import compliance
from maskwell.inference.compliance.result import Compliance
from maskwell.published.model import Row
from maskwell.reports.tally import Tally

KEY = "atsusaka-stevenson-2023"
_WHERE = "cWise, example of bc.est"
_ASKED, _SAME, _SAME_TO_ANCHOR = 2_000, 1_427, 1_541


def _tally(design: Design, same: int) -> Tally:
    return Tally.from_counts(design, [same, _ASKED - same])


@cache
def _asked() -> Tally:
    return _tally(designs.crosswise(innocuous_prob="0.15"), _SAME)


@cache
def _found() -> Compliance:
    reports = ["same", "different"]
    anchor = designs.from_matrix([["0.85", "0.85"], ["0.15", "0.15"]], ["yes", "no"], reports=reports)
    return compliance([_asked(), _tally(anchor, _SAME_TO_ANCHOR)], {"inattentive": "random"})


def _error() -> float:
    return float(estimate(_asked()).standard_errors[0])


def _limit(which: int) -> float:
    return float(estimate(_asked()).interval(method="wald")[0, which])


ROWS = (
    Row(
        KEY, _WHERE, "share without the anchor: standard error", "0.0144", lambda: estimate(_asked()).standard_errors[0]
    ),
    Row(KEY, _WHERE, "share without the anchor: lower limit", "0.1667", lambda: _limit(0)),
    Row(KEY, _WHERE, "share without the anchor: upper limit", "0.2233", lambda: _limit(1)),
    Row(KEY, _WHERE, "share corrected by the anchor", "0.1054", lambda: float(_found().proportions[0])),
    Row(
        KEY,
        _WHERE,
        "share corrected by the anchor: standard error",
        "0.0077",
        lambda: float(_found().proportion_errors[0]),
        differs="its printed limits, .0227 and .0504, leave out the estimate; such surveys vary by .023",
    ),
)
