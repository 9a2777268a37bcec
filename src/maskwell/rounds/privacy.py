"""What repeated collection tells about one person, exactly: in one round, in all, and if the answer changes."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from maskwell.designs.base import Design, require_design
from maskwell.designs.layered.base import RoundsParity, require_layers
from maskwell.designs.storage import about
from maskwell.errors import DesignError
from maskwell.exact import fraction, log_above
from maskwell.limits import MOST_RESPONDENTS
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.results.numbers import limit
from maskwell.results.result import Result

_LONG = 4096
"""Bits of a denominator up to which a parity is multiplied as it is."""


@dataclass(frozen=True)
class RoundsPrivacy(Result):
    """Of ``rounds`` rounds in which a person gives up to ``values`` different answers.

    Answers of one person that change, and come back, at the same rounds are compared. *That* an answer changed or came
    back is protected by the instantaneous layer alone: whether a permanent report is a new one or an old one shows the
    more, the more rounds there are of it. A design without layers stands for a report that is kept for each answer and
    sent as it is.
    """

    design: Design
    rounds: int
    values: int

    @property
    def layered(self) -> bool:
        """Whether a kept report is masked once more in each round, and not sent as it is."""
        return self.design.has_permanent_layer

    @cached_property
    def of_one_answer(self) -> RoundsParity:
        """The parity of all rounds together while the answer stays the same."""
        return self._parity_of(self.rounds)

    def _parity_of(self, rounds: int) -> RoundsParity:
        if self.layered:
            return require_layers(self.design).parity_of_rounds(rounds)
        return RoundsParity(Fraction(self.design.exact_parity()), True)

    def _longitudinal_parity(self) -> Fraction:
        if self.layered:
            return require_layers(self.design).longitudinal_parity()
        return Fraction(self.design.exact_parity())

    def exact_parity(self) -> Fraction:
        """The parity of all rounds together: a permanent report for each answer, masked apart, so they multiply.

        Exact for one answer; for several it is that of the most rounds that each can have, a bound.
        """
        longest = self._longest_answer().value
        return longest if self.values == 1 else _shortened(longest) ** self.values

    def _longest_answer(self) -> RoundsParity:
        most = self.rounds - self.values + 1  # every other answer takes one round at least
        return self._parity_of(most)

    @cached_property
    def epsilon(self) -> float:
        """The logarithm of the parity, rounded up."""
        return log_above(self._longest_answer().value, self.values)

    @property
    def limit(self) -> float:
        """The ε that no number of rounds exceeds with so many answers."""
        return log_above(self._longitudinal_parity(), self.values)

    @property
    def without_memory(self) -> float:
        """The ε if each round were masked afresh, with no permanent report."""
        return log_above(Fraction(self.design.exact_parity()), self.rounds)

    def _title(self) -> str:
        return f"privacy of {self.rounds:,} rounds of {self.design.title}, {self._answers()}"

    def _answers(self) -> str:
        return "one answer" if self.values == 1 else f"up to {self.values:,} different answers"

    def _figures(self) -> dict[str, Any]:
        return {
            "ε of one round": limit(self.design.epsilon),
            "ε of all rounds": limit(self.epsilon),
            "ε however many": limit(self.limit),
            "ε without memory": limit(self.without_memory),
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        names = ("rounds", "values", "epsilon", "limit", "without_memory")
        return {"design": jsonable(about(self.design)), **{name: getattr(self, name) for name in names}}

    def summary(self) -> str:
        """The figures in plain text."""
        answers = self._answers()
        return visible_lines(
            [
                f"{self.rounds:,} rounds of {self.design.title} with {answers}",
                f"one round          epsilon {self.design.epsilon:.6g}",
                f"all rounds         epsilon {self.epsilon:.6g}",
                f"however many       epsilon {self.limit:.6g}",
                f"without memory     epsilon {self.without_memory:.6g}",
                "that an answer changed or came back can show: only answers that do so at the same rounds are compared"
                if self.layered
                else "a new report only for a new answer: that an answer changed or came back shows where reports can "
                "be linked",
            ]
        )


def _whole(value: object, name: str) -> int:
    count = fraction(value, name, DesignError)
    if count.denominator != 1 or not 1 <= count <= MOST_RESPONDENTS:
        raise DesignError(f"{name} must be a whole number from 1 to 10^18; got {value}.", parameter=name)
    return int(count)


def _shortened(parity: Fraction) -> Fraction:
    """A parity of thousands of digits, rounded up: many answers multiply it."""
    if parity.denominator.bit_length() <= _LONG:
        return parity
    return Fraction(-((-parity.numerator << _LONG) // parity.denominator), 1 << _LONG)


def privacy(design: Design, rounds: int, values: int | None = None) -> RoundsPrivacy:
    """What ``rounds`` rounds tell; ``values`` is how many different answers a person gives, by default as many as can
    be.

    A design without layers is one whose report is kept for each answer and sent as it is (masked with a key): a new
    report only for a new answer, so that parities multiply over different answers and not over rounds.

    >>> from maskwell.rounds import rappor
    >>> found = privacy(rappor(8, f=0.5, p=0.5, q=0.75), rounds=1000, values=1)
    >>> round(found.epsilon, 4), round(found.without_memory)
    (2.1972, 537)
    >>> from maskwell.designs import minimax
    >>> round(privacy(minimax(20_000, epsilon=1), rounds=365, values=3).epsilon, 6)
    3.0
    """
    require_design(design)
    if isinstance(design.exact_parity(), float):
        raise DesignError(f"{design.title} has no finite parity: one report may give the answer away.")
    count = _whole(rounds, "rounds")
    most = min(design.k, count)
    given = most if values is None else _whole(values, "values")
    if given > most:
        raise DesignError(
            f"values must be at most {most:,}: a person gives one answer a round, of {design.k:,}; got {values}.",
            parameter="values",
        )
    return RoundsPrivacy(design, count, given)
