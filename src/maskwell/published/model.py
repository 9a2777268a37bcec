"""A printed value beside ours: what is recorded of it, and when the two agree.

A printed number agrees with ours if it lies within half a unit of its last printed digit. Where the paper's number or
ours was simulated, three standard errors of their difference are added. Where they do not agree, a row may explain why;
an explanation is itself computed and has to give back what was printed: a wrong one explains nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple


class Simulated(NamedTuple):
    """A number that we simulated, and the standard error of the simulation."""

    mean: float
    standard_error: float


Value = float | str | Simulated
Verdict = Literal["agrees", "explained", "unexplained"]

# Of means that are normal and agree, one in 370 differs by more.
STANDARD_ERRORS = 3


@dataclass(frozen=True)
class Explanation:
    """Why a printed value is not the one that its own definition gives.

    ``leads_to`` computes the value that was printed, if the explanation is right; without it, that is our own value.
    ``truncated`` says that further digits were cut off instead of rounded.
    """

    why: str
    leads_to: Callable[[], Value] | None = None
    truncated: bool = False

    def predicts(self, ours: Value) -> Value:
        """The value that was printed, if the explanation is right, before it was cut to the printed digits."""
        return self.leads_to() if self.leads_to else ours

    def accounts_for(self, row: "Row", ours: Value) -> bool:
        """Whether the prediction comes out as the printed text."""
        predicted = self.predicts(ours)
        if not self.truncated:
            return agree(row.printed, predicted, row.standard_error)
        number, unit = _number(row.printed), _last_unit(row.printed)
        if number is None or unit is None or not isinstance(predicted, float) or not math.isfinite(predicted):
            return False
        return 0 <= Decimal(predicted) - number < unit


@dataclass(frozen=True)
class Row:
    """One printed value: its source, the place in it, what it is, the text as printed, and how we compute it.

    ``standard_error`` is that of a number which the paper simulated.
    """

    key: str
    where: str
    what: str
    printed: str
    compute: Callable[[], Value]
    explanation: Explanation | None = None
    note: str = ""
    standard_error: float = 0.0

    @property
    def printed_shown(self) -> str:
        """The printed value, with its standard error if it has one."""
        return f"{self.printed} ± {self.standard_error:g}" if self.standard_error else self.printed


@dataclass(frozen=True)
class Comparison:
    """A row with our value. A row that does not agree is explained or not."""

    row: Row
    ours: Value
    agrees: bool
    explained: bool

    @property
    def verdict(self) -> Verdict:
        """The comparison in one word."""
        if self.agrees:
            return "agrees"
        return "explained" if self.explained else "unexplained"

    @property
    def tolerance(self) -> float | None:
        """How far our number may be from the printed one; None for a text, which has to be equal."""
        return None if isinstance(self.ours, str) else tolerance(self.row.printed, self.ours, self.row.standard_error)

    @property
    def ours_shown(self) -> str:
        """Our value, with two more decimals than the printed one."""
        return shown(self.ours, self.row.printed)

    @property
    def explanation(self) -> str:
        """Why the printed value differs, with the value that shows it; empty where it agrees or nothing is known."""
        reason = self.row.explanation
        if self.agrees or not self.explained or reason is None:
            return ""
        predicted = reason.predicts(self.ours)
        return reason.why if isinstance(predicted, str) else f"{reason.why}: {shown(predicted, self.row.printed)}"

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON can hold it."""
        return {
            "source": self.row.key,
            "where": self.row.where,
            "what": self.row.what,
            "printed": self.row.printed,
            "printed_standard_error": self.row.standard_error,
            "ours": self.ours.mean if isinstance(self.ours, Simulated) else self.ours,
            "standard_error": self.ours.standard_error if isinstance(self.ours, Simulated) else 0.0,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "explanation": self.explanation,
            "note": self.row.note,
        }


def compare_row(row: Row) -> Comparison:
    """Compute our value of one row and judge it."""
    ours = row.compute()
    agrees = agree(row.printed, ours, row.standard_error)
    explained = not agrees and row.explanation is not None and row.explanation.accounts_for(row, ours)
    return Comparison(row, ours, agrees, explained)


def agree(printed: str, ours: Value, standard_error: float = 0.0) -> bool:
    """Texts have to be equal; a number may be half a unit of the last printed digit away, and what was simulated more.

    >>> agree("0.644", 0.64392), agree("0.643", 0.64392), agree("153.49%", 153.4868)
    (True, False, True)
    >>> agree("2.51", 2.6), agree("2.51", 2.6, standard_error=0.03), agree("2.51", Simulated(2.6, 0.03))
    (False, True, True)
    """
    if isinstance(ours, str):
        return printed == ours
    number, allowed = _number(printed), tolerance(printed, ours, standard_error)
    center = ours.mean if isinstance(ours, Simulated) else ours
    if number is None or allowed is None or not math.isfinite(center):
        return False
    return abs(Decimal(center) - number) <= Decimal(allowed)


def tolerance(printed: str, ours: Value, standard_error: float) -> float | None:
    """Half a unit of the last printed digit and three standard errors; None where no number is printed."""
    unit = _last_unit(printed)
    if unit is None:
        return None
    own = ours.standard_error if isinstance(ours, Simulated) else 0.0
    return float(unit) / 2 + STANDARD_ERRORS * math.hypot(own, standard_error)


def shown(value: Value, printed: str) -> str:
    """A value to two more decimals than a printed one, in the same unit."""
    number = _number(printed)
    if isinstance(value, Simulated):
        return f"{shown(value.mean, printed)} ± {value.standard_error:.2g}"
    if isinstance(value, str) or number is None:
        return str(value)
    return f"{value:.{_decimals(number) + 2}f}" + ("%" if printed.endswith("%") else "")


def _number(printed: str) -> Decimal | None:
    try:
        number = Decimal(printed.removesuffix("%"))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)


def _last_unit(printed: str) -> Decimal | None:
    number = _number(printed)
    return None if number is None else Decimal(1).scaleb(-_decimals(number))
