"""What people do who do not follow the design: another column of chances, beside those of the truths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from maskwell.designs.base import Design
from maskwell.errors import EstimationError
from maskwell.exact import given_fraction
from maskwell.tables.labels import shown, text_of

RANDOM = "random"
Column = list[Fraction]


@dataclass(frozen=True)
class Behaviour:
    """One way not to follow the design.

    ``does`` is the report that is always given; a mapping from reports to chances; ``"random"`` for any report with
    the same chance (unless that is itself the label of a report); or, with ``answers_as``, nothing. ``answers_as`` is
    the truth whose procedure is followed instead of one's own. ``of`` names the truth of those who behave so, where
    that is assumed: they then count among the people with that truth.

    >>> Behaviour("no", of="yes")
    Behaviour(does='no', of='yes', answers_as=None)
    """

    does: Any = None
    of: Any = None
    answers_as: Any = None

    def column(self, name: str, design: Design) -> Column:
        """The chance of each report, in the order of the design's."""
        if self.answers_as is not None:
            if self.does is not None:
                raise _refused(f"behaviour {name!r} gives does and answers_as; give one of them.")
            at = _place(design.categories, self.answers_as, f"behaviour {name!r} answers as")
            return list(design.matrix(exact=True)[:, at])
        labels = design.report_labels()
        if isinstance(self.does, Mapping):
            return _distribution(self.does, labels, name, design)
        if isinstance(self.does, str) and self.does == RANDOM and RANDOM not in labels:
            return [Fraction(1, len(labels))] * len(labels)
        at = _place(labels, _as_report(self.does), f"behaviour {name!r} reports", design)
        return [Fraction(int(row == at)) for row in range(len(labels))]


def read_behaviours(given: Any, designs: list[Design]) -> dict[str, Behaviour]:
    """Behaviours by name, from what may stand for one: a report, chances by report, "random", or a Behaviour."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise _refused(
            "behaviours must be a mapping from names to what people do, such as {'always no': 'no'}; got "
            f"{type(given).__name__}."
        )
    found = {name: does if isinstance(does, Behaviour) else Behaviour(does) for name, does in given.items()}
    labels = set(map(text_of, designs[0].categories))
    for name, behaviour in found.items():
        if name in labels:
            raise _refused(
                f"behaviour {name!r} has the name of a category; call it something else, such as 'always {name}'."
            )
        if behaviour.does is None and behaviour.answers_as is None:
            raise _refused(f"behaviour {name!r} does not say what people do; give a report, for example.")
        if behaviour.of is not None:
            _place(designs[0].categories, behaviour.of, f"behaviour {name!r} is of")
    return found


def _as_report(does: Any) -> Any:
    """What a report is called: a set of categories may be given as a list of them."""
    try:
        return frozenset(does) if isinstance(does, (set, list)) else does
    except TypeError:
        raise _refused("a behaviour that is a list names the categories of a report that is a set.") from None


def _place(labels: Any, wanted: Any, what: str, design: Design | None = None) -> int:
    try:
        return list(labels).index(wanted)
    except ValueError:
        known = "categories" if design is None else f"reports of {design.title}"
        raise _refused(f"{what} {wanted!r}, which is none of the {known}: {shown(tuple(labels))}.") from None


def _distribution(chances: Mapping[Any, Any], labels: list[Any], name: str, design: Design) -> Column:
    column = [Fraction(0)] * len(labels)
    for report, chance in chances.items():
        at = _place(labels, report, f"behaviour {name!r} reports", design)
        column[at] = given_fraction(chance, f"the chance of {report!r} in behaviour {name!r}", EstimationError)
    total = sum(column, Fraction(0))
    if min(column) < 0 or abs(total - 1) > Fraction(1, 10**9):
        raise _refused(
            f"the chances of behaviour {name!r} must be probabilities that sum to 1; they sum to {float(total):.6g}."
        )
    return [chance / total for chance in column]


def _refused(message: str) -> EstimationError:
    return EstimationError(message, parameter="behaviours")
