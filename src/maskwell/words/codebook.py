"""A codebook for a masked column: that its values are not the truth, and all that is needed to estimate from them.

It is meant for people who have the file and not this package. Everything in it is a number or a formula: the exact
probabilities, the scores of the linear estimator, whose mean is the estimate, and its variance.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from maskwell.designs.base import Design, require_design
from maskwell.designs.channels import SizeRow
from maskwell.designs.claims import checked_parameters
from maskwell.designs.storage import stored_value
from maskwell.errors import DesignError, EstimationError
from maskwell.results.numbers import limit
from maskwell.results.result import Result
from maskwell.words.explanation import explain

FORMAT = 1
NOTICE = (
    "The values of this column are randomised reports, not true answers. Do not tabulate them as if they were, do not "
    "link or correct them person by person, and do not conclude anything about a single person from them."
)
_MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class Codebook(Result):
    """What ``codebook`` found out about one masked column; ``content`` is what the JSON holds."""

    content: dict[str, Any]
    design: Design = field(repr=False)
    """The design that masked the column."""

    def to_json(self) -> str:
        """The codebook as text for programs."""
        return json.dumps(self.content, indent=1, ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """The codebook as plain values: what ``to_json`` writes."""
        return self.content

    def summary(self) -> str:
        """The codebook as text for people: its Markdown."""
        return self.to_markdown()

    def _title(self) -> str:
        return f"codebook of the randomised variable {self.content['variable']}"

    def _figures(self) -> dict[str, Any]:
        design, privacy = self.content["design"], self.content["privacy"]
        about = {
            "design": design["name"] or design["kind"],
            "categories": design["k"],
            "fingerprint": design["fingerprint"],
        }
        return {**about, "ε": "unbounded" if privacy["epsilon"] is None else limit(privacy["epsilon"])}

    def _remarks(self) -> list[str]:
        return [self.content["notice"], *self.content["design"]["explanation"]]

    def to_markdown(self) -> str:
        """The codebook as text for people."""
        from maskwell.words.codebook_markdown import to_markdown

        return to_markdown(self.content)

    def __str__(self) -> str:
        return self.to_markdown()


def codebook(design: Design, variable: str = "report") -> Codebook:
    """The codebook of a column of reports that has the name ``variable``.

    >>> from maskwell.designs import warner
    >>> book = codebook(warner(truth_prob=Fraction(4, 5)), "evaded_tax")
    >>> book.content["randomised"], book.content["probabilities"]["rows"]
    (True, [['4/5', '1/5'], ['1/5', '4/5']])
    """
    require_design(design)
    content = {
        "codebook": "randomised variable",
        "version": FORMAT,
        "variable": str(variable),
        "randomised": True,
        "notice": NOTICE,
        "design": _about(design),
        "privacy": _privacy(design),
    }
    if design.variables:
        parts = [codebook(part, name).content for name, part in design.variables.items()]
        return Codebook({**content, "variables": parts, **_JOINT}, design)
    return Codebook({**content, "categories": list(design.categories), **_estimation(design)}, design)


_JOINT = {
    "estimator": {
        "formula": "The variables are masked independently. The joint score of a report is the product of the scores "
        "of its variables: score(i, j, ...) = score_1(i) * score_2(j) * .... The estimated joint proportions are "
        "the means of the joint scores over all reports; n times their covariance is the covariance of the joint "
        "scores in the file."
    }
}


def _about(design: Design) -> dict[str, Any]:
    try:
        citation = design.citation().splitlines()
    except DesignError:
        citation = []
    sentences = explain(design, "methodologist").sentences
    if design.variables:
        sentences = sentences[-1:]  # its variables have codebooks of their own
    return {
        "name": design.name,
        "kind": design.kind,
        "k": design.k,
        "parameters": {name: stored_value(value) for name, value in checked_parameters(design).items()},
        "demand": None if design.demand is None else design.demand.describe(),
        "fingerprint": design.fingerprint,
        "citation": citation,
        "explanation": [sentence.text for sentence in sentences],
    }


def _privacy(design: Design) -> dict[str, Any]:
    parity = design.exact_parity()
    finite = isinstance(parity, Fraction)
    return {
        "parity": str(parity) if finite else None,
        "epsilon": design.epsilon if finite else None,
        "meaning": "parity is the largest ratio between the probabilities of one report under two true answers; "
        "epsilon is its natural logarithm, rounded up; null means that some report rules an answer out",
    }


def _estimation(design: Design) -> dict[str, Any]:
    # A symmetric design has a handful of numbers by size, however many reports; of others every report is listed.
    return _of_sizes(design, design.channel.sizes) if design.channel.sizes else _of_rows(design)


# Symmetric subset designs: a handful of numbers, however many categories there are.


def _of_sizes(design: Design, rows: tuple[SizeRow, ...]) -> dict[str, Any]:
    sizes = [row.size for row in rows]
    single = sizes == [1]
    facts = design.set_facts()
    assert facts is not None
    assert facts.other_inside is not None
    reading = {
        "form": "category" if single else "set",
        "how_to_read": "a report is one category: in text files its label, in Parquet and Arrow files its place among "
        "categories, from 0; an empty value is a missing report"
        if single
        else "a report is a set of categories: in text files one character per category, 1 for a member and 0 for the "
        "rest; in Parquet and Arrow files one bit per category, the lowest bit of the first byte first; an empty value "
        "is a missing report",
    }
    probabilities = {
        "out_of": str(1 << 64),
        "sizes": sizes,
        "inside": [str(row.inside) for row in rows],
        "outside": [str(row.outside) for row in rows],
        "meaning": "for each size of a reported set: the chances, out of out_of, of a set of that size that holds the "
        "truth and of one that does not; the set is drawn uniformly from all such sets",
        "A": float(facts.truth_inside),
        "B": float(facts.other_inside),
        "A_and_B": "the chances that a report holds the true category, and that it holds a given other one",
    }
    if math.isinf(design.added_variance):
        return {"reports": reading, "probabilities": probabilities, "estimator": _nothing("Reports ignore the truth.")}
    scores = design.scores("linear")
    by_size = scores.by_size()
    assert by_size is not None
    member, other = (values.tolist() for values in by_size)
    intercept, slope = (float(line[0]) for line in scores.variance_lines(np.full(design.k, 1 / design.k)))
    pair_slope = (1 - slope) / (design.k - 2) if design.k > 2 else 0.0
    pair_intercept = -(intercept + pair_slope) / (design.k - 1)
    return {
        "reports": reading,
        "probabilities": probabilities,
        "estimator": {
            "formula": "estimate[j] = mean over reports of score(j), where a report of size sizes[i] has score(j) = "
            "member[i] if it holds category j and other[i] if not; unbiased, sums to 1, may leave [0, 1]",
            "sizes": sizes,
            "member": member,
            "other": other,
            "alpha": (design.k - 1) / (design.added_variance + 1 - 1 / design.k),
            "alpha_meaning": "the information about a category in one report: added_variance = (k-1)/alpha + 1/k - 1",
        },
        "variance": {
            "formula": "n * variance of estimate[j] = d0 + d1 * p[j] - p[j]^2, and n * covariance of estimate[i] and "
            "estimate[j] = e0 + e1 * (p[i] + p[j]) - p[i] * p[j], at p = estimate",
            "d0": intercept,
            "d1": slope,
            "e0": pair_intercept,
            "e1": pair_slope,
            "added_variance": design.added_variance,
        },
    }


# Designs whose reports hold categories by a rule: every report that holds the truth is as likely, and every other.


def _of_rule(design: Design, rule: str) -> dict[str, Any]:
    row = set(design.channel.exact_row(0))
    facts, line = design.set_facts(), design.scores("linear").common_line()
    assert facts is not None
    assert facts.other_inside is not None
    assert line is not None
    a, b = float(facts.truth_inside), float(facts.other_inside)
    return {
        "reports": {
            "form": "number",
            "how_to_read": f"{rule}. In text files a report is h and its number, in Parquet and Arrow files its "
            "number; an empty value is a missing report",
        },
        "probabilities": {
            "holding": str(max(row) if a > b else min(row)),
            "other": str(min(row) if a > b else max(row)),
            "meaning": "the exact chance of each report that holds the true category, and of each that does not",
            "A": a,
            "B": b,
            "A_and_B": "the chances that a report holds the true category, and that it holds a given other one",
        },
        "estimator": {
            "formula": "estimate[j] = (c[j] / n - B) / (A - B), where c[j] counts the reports that hold category j; "
            "unbiased, may leave [0, 1]",
        },
        "variance": {
            "formula": "n * variance of estimate[j] = d0 + d1 * p[j] - p[j]^2, at p = estimate",
            "d0": line[0],
            "d1": line[1],
            "added_variance": design.added_variance,
        },
    }


# All other designs: the matrix and the scores, row by row.


def _of_rows(design: Design) -> dict[str, Any]:
    if design.report_count() * design.k > _MOST_CELLS:
        if (rule := design.membership_rule()) is not None:
            return _of_rule(design, rule)
        raise DesignError(
            f"the codebook of {design.title} would list {design.report_count()} reports for {design.k} categories "
            f"(limit {_MOST_CELLS} cells); publish design.to_json() instead."
        )
    matrix, labels = design.matrix(exact=True), design.report_labels()
    sets = any(isinstance(label, frozenset) for label in labels)
    reading = {
        "form": "set" if sets else "label",
        "labels": [_label(label, design.categories) for label in labels],
        "how_to_read": f"a report is one of labels{', each a set of categories' if sets else ''}: in Parquet and Arrow "
        "files its place among labels, from 0; an empty value is a missing report",
    }
    probabilities = {
        "rows": [[str(p) for p in row] for row in matrix],
        "meaning": "entry rows[i][j] is the exact chance of report labels[i] given the true category categories[j]; "
        "each column sums to 1",
    }
    try:
        scores = design.scores("linear")
    except EstimationError as error:
        return {"reports": reading, "probabilities": probabilities, "estimator": _nothing(str(error))}
    table = scores.rows(design.pack_rows(np.arange(len(labels))))
    return {
        "reports": reading,
        "probabilities": probabilities,
        "estimator": {
            "formula": "estimate[j] = mean over reports of scores[i][j], where i is the row of the report; unbiased, "
            "may leave [0, 1]",
            "scores": [[float(x) for x in row] for row in table],
        },
        "variance": {
            "formula": "n * covariance of estimate[i] and estimate[j] = sum over rows z of chance[z] * scores[z][i] * "
            "scores[z][j] - p[i] * p[j], where chance[z] = sum over j of rows[z][j] * p[j], at p = estimate, or at the "
            "nearest proportions >= 0 that sum to 1 where no population gives such chances",
            "added_variance": design.added_variance,
        },
    }


def _label(label: Any, categories: Iterable[Any]) -> Any:
    return [c for c in categories if c in label] if isinstance(label, frozenset) else label


def _nothing(why: str) -> dict[str, Any]:
    return {"formula": None, "why_not": why}
