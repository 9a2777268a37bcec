"""What the words of a survey procedure are made from: the exact chances of a design, and its labels as they are."""

from fractions import Fraction
from typing import NamedTuple

from maskwell.designs.base import Design
from maskwell.words.sentences import quoted

Rows = tuple[tuple[Fraction, ...], ...]


class Asked(NamedTuple):
    """A design, its matrix with a row for each report, and labels: yes and no, and the first and second report."""

    design: Design
    matrix: Rows
    labels: dict[str, str]

    @staticmethod
    def by(design: Design) -> "Asked":
        """What is asked by this design."""
        matrix = tuple(tuple(row) for row in design.matrix(exact=True))
        names = ("yes", "no", "first", "second")
        shown = (*design.categories[:2], *design.report_labels()[:2])
        return Asked(design, matrix, {name: quoted(label) for name, label in zip(names, shown, strict=True)})
