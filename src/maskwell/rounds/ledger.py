"""What one respondent has spent over questions and rounds, in exact rationals, and a limit that is never overspent.

Parities of reports that are drawn independently multiply, so their ε add. Each ε is the logarithm of an exact parity,
rounded up to a float, and floats are rationals: their sum is exact, and never below the true total.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, Protocol

from maskwell.errors import DemandError
from maskwell.exact import fraction, stored_fraction
from maskwell.plain_text import visible_lines
from maskwell.strict_json import read_json

FORMAT = 1
_MOST_ENTRIES = 100_000
_LONGEST = 1000
_MOST_EPSILON = 10**300
_LEAST_SHOWN = Fraction(sys.float_info.min)


class HasEpsilon(Protocol):
    """A design, or what ``rounds.privacy`` says of one: ε is the logarithm of an exact parity, rounded up."""

    @property
    def epsilon(self) -> float: ...


@dataclass(frozen=True)
class Entry:
    """What was asked, and the ε that it takes."""

    question: str
    epsilon: Fraction


class Ledger:
    """The account of one respondent.

    >>> from maskwell.designs import warner
    >>> ledger = Ledger(limit=2)
    >>> ledger.spend("smoking", warner(truth_prob=0.75))
    >>> ledger.spend("smoking", warner(truth_prob=0.75))
    Traceback (most recent call last):
    maskwell.errors.DemandError: 'smoking' takes ε 1.09862, but of the limit 2 only 0.901387 is left; ask less, or ...
    """

    def __init__(self, limit: float | Fraction) -> None:
        self.limit = fraction(limit, "limit", DemandError)
        if not 0 < self.limit <= _MOST_EPSILON:
            shown = "one of hundreds of digits" if self.limit > 0 else limit
            raise DemandError(f"limit must be an ε above 0 and at most 1e300; got {shown}.", parameter="limit")
        self._entries: list[Entry] = []

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that was spent, in order."""
        return tuple(self._entries)

    @property
    def spent(self) -> Fraction:
        """The sum of all ε, exactly."""
        return sum((entry.epsilon for entry in self._entries), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.limit - self.spent

    def spend(self, question: str, on: HasEpsilon) -> None:
        """Enter a report of a design, or all rounds of one (``rounds.privacy``); refused if it would overspend.

        Enter it before the report is drawn. A question that is asked again, and masked afresh, is entered again.
        """
        _check_question(question)
        if getattr(on, "has_permanent_layer", False):
            raise DemandError(
                "rounds that share a permanent report do not add up: enter all of them at once, as "
                "mw.rounds.privacy(design, rounds, values) says.",
                parameter="on",
            )
        told = getattr(on, "epsilon", None)
        if isinstance(told, float) and not math.isfinite(told):
            raise DemandError("what has no finite parity cannot be entered: it would spend everything.")
        epsilon = fraction(told, "epsilon", DemandError)
        if not 0 <= epsilon <= _MOST_EPSILON:
            raise DemandError("epsilon must be from 0 to 1e300; enter a design, or what rounds.privacy says of one.")
        if epsilon > self.left:
            raise DemandError(
                f"{question!r} takes ε {_up(epsilon)}, but of the limit {float(self.limit):g} only {_down(self.left)} "
                "is left; ask less, or ask with more privacy."
            )
        if len(self._entries) >= _MOST_ENTRIES:
            raise DemandError(f"a ledger holds {_MOST_ENTRIES:,} entries at most; enter rounds together.")
        self._entries.append(Entry(question, epsilon))

    def holds(self, question: str) -> bool:
        """Whether something was entered under this name: a report that is kept, and sent again, is entered once."""
        return any(entry.question == question for entry in self._entries)

    def summary(self) -> str:
        """The account in plain text."""
        lines = [f"{entry.question}: ε {_up(entry.epsilon)}" for entry in self._entries]
        total = f"{_up(self.spent)} of {float(self.limit):g} spent, {_down(self.left)} left"
        return visible_lines([*lines, total])

    def to_json(self) -> str:
        """The ledger as text, sealed: a text that was changed or cut is refused."""
        content = self._content()
        return json.dumps({**content, "seal": _seal(content)}, indent=1, ensure_ascii=False)

    def _content(self) -> dict[str, Any]:
        entries = [{"question": entry.question, "epsilon": str(entry.epsilon)} for entry in self._entries]
        return {"maskwell": "ledger", "version": FORMAT, "limit": str(self.limit), "entries": entries}

    @staticmethod
    def from_json(text: str | bytes) -> Ledger:
        """Read a ledger back; anything but the same ledger is an error."""
        document = read_json(text, "ledger", DemandError)
        if not isinstance(document, dict) or document.get("maskwell") != "ledger":
            raise DemandError('ledger JSON must be an object with "maskwell": "ledger"; this is another kind of file.')
        if document.get("version") != FORMAT or type(document["version"]) is not int:
            raise DemandError(f"ledger format is not supported; this version reads {FORMAT}.")
        if document.keys() != {"maskwell", "version", "limit", "entries", "seal"}:
            raise DemandError("ledger JSON must have limit, entries and seal, and nothing else.")
        ledger = Ledger(stored_fraction(document["limit"], "limit", DemandError))
        entries = document["entries"]
        if not isinstance(entries, list) or len(entries) > _MOST_ENTRIES:
            raise DemandError(f"entries of a ledger must be a list of at most {_MOST_ENTRIES:,}.")
        for entry in entries:
            if not isinstance(entry, dict) or entry.keys() != {"question", "epsilon"}:
                raise DemandError("an entry of a ledger has a question and its epsilon, and nothing else.")
            _check_question(entry["question"])
            epsilon = stored_fraction(entry["epsilon"], "epsilon", DemandError)
            if epsilon < 0:
                raise DemandError("an entry of a ledger spends at least 0.")
            ledger._entries.append(Entry(entry["question"], epsilon))
        if ledger.left < 0:
            raise DemandError("the ledger is overspent, which no ledger that was kept can be.")
        if document["seal"] != _seal(ledger._content()):
            raise DemandError("the ledger was changed: its entries do not match its seal.")
        return ledger

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and (self.limit, self._entries) == (other.limit, other._entries)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<ledger: ε {_up(self.spent)} of {float(self.limit):g} spent on {len(self._entries):,} entries>"


def _check_question(question: object) -> None:
    if not isinstance(question, str) or not 0 < len(question) <= _LONGEST:
        raise DemandError(f"question must be a text of 1 to {_LONGEST:,} characters.", parameter="question")


def _seal(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(canonical.encode()).hexdigest()


def _up(epsilon: Fraction) -> str:
    """Six digits, rounded up: no more privacy is shown than there is."""
    return f"{_rounded(epsilon, math.ceil):g}"


def _down(epsilon: Fraction) -> str:
    return f"{_rounded(epsilon, math.floor):g}"


def _rounded(epsilon: Fraction, way: Any) -> float:
    if epsilon == 0:
        return 0.0
    if epsilon < _LEAST_SHOWN:
        return sys.float_info.min if way is math.ceil else 0.0
    scale = Fraction(10) ** (5 - math.floor(math.log10(epsilon)))
    return float(way(epsilon * scale) / scale)
