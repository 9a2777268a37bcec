"""A row of ``maskwell reproduce``: what a paper prints, what our code computes, and what the two prove together.

Rows are of five kinds, counted apart, because only some of them test anything:

- ``printed``: a number or finding that a paper prints and our code computes. It agrees within half a unit of the last
  printed digit; where either side was simulated, three standard errors of their difference are added. A tolerance of
  more than a tenth of the number would accept too much: such a row is ``coarse``, whatever the two numbers are.
- ``formula``: the paper prints a formula or a general claim. We evaluate it as printed, and compare what our code does.
- ``correction``: what is printed does not hold, and why is computed: the reason has to give back what was printed.
- ``arithmetic``: sums and shares of the paper's own counts. They test nothing of ours.
- ``unprinted``: our value of something that the paper describes and nobody prints. It is shown and not compared.

Where a printed value is known to be another one than ours, the row records it: with an explanation, which is itself
computed and has to give back the printed text, or as a difference that nothing explains. A row that does not come out
as recorded is ``wrong``, also one that agrees although a difference is recorded.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal, NamedTuple


class Simulated(NamedTuple):
    """A number that we simulated, and the standard error of the simulation."""

    mean: float
    standard_error: float


Value = float | str | Simulated
Kind = Literal["printed", "formula", "correction", "arithmetic", "unprinted"]
Verdict = Literal["agrees", "explained", "differs", "coarse", "not compared", "wrong"]

# Of means that are normal and agree, one in 370 differs by more.
STANDARD_ERRORS = 3
COARSE = 0.1
"""A tolerance above this part of the printed number tells too little."""
EXACT = "1e-9"
"""The last digit of whole numbers, and of decimals that are meant exactly."""


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

    def accounts_for(self, row: "Row", predicted: Value) -> bool:
        """Whether what is predicted comes out as the printed text."""
        if not self.truncated:
            return agree(row.printed, predicted, row.standard_error, row.unit)
        number, unit = _number(row.printed), _last_unit(row.printed, row.unit)
        if number is None or unit is None or not isinstance(predicted, float) or not math.isfinite(predicted):
            return False
        return 0 <= Decimal(predicted) - number < unit


@dataclass(frozen=True)
class Row:
    """One value: its source, the place in it, what it is, the text as printed, and how we compute it.

    ``formula`` evaluates what is printed, where that is a formula. ``standard_error`` is that of a number which the
    paper simulated. ``unit`` is the last digit that the text stands for if it leaves out zeros: 4 for 4.0000.
    ``differs`` says that the printed value is not ours, for a reason that could not be computed.
    """

    key: str
    where: str
    what: str
    printed: str
    compute: Callable[[], Value]
    explanation: Explanation | None = None
    note: str = ""
    standard_error: float = 0.0
    kind: Kind = "printed"
    formula: Callable[[], Value] | None = None
    unit: str | None = None
    differs: str = ""


@dataclass(frozen=True)
class Comparison:
    """A row with our value, and with the formula's if there is one."""

    row: Row
    ours: Value
    stated: Value | None = None

    @cached_property
    def verdict(self) -> Verdict:
        """The comparison in one word."""
        row = self.row
        if row.kind == "unprinted":
            return "not compared"
        agrees = self._agrees
        if row.explanation is not None:
            explained = row.explanation.accounts_for(row, self._predicted)
            return "wrong" if agrees or not explained else "coarse" if self.is_coarse else "explained"
        if row.differs:
            return "wrong" if agrees else "differs"
        return "wrong" if not agrees else "coarse" if self.is_coarse else "agrees"

    @property
    def _agrees(self) -> bool:
        if self.row.formula is not None:
            return close(self.stated, self.ours)
        return agree(self.row.printed, self.ours, self.row.standard_error, self.row.unit)

    @property
    def tolerance(self) -> float | None:
        """How far our number may be from the printed one; None for a text, which has to be equal."""
        if isinstance(self.ours, str) or self.row.formula is not None:
            return None
        return tolerance(self.row.printed, self._predicted, self.row.standard_error, self.row.unit)

    @cached_property
    def _predicted(self) -> Value:
        """What should have been printed: our value, or what an explanation computes in its place."""
        reason = self.row.explanation
        return self.ours if reason is None else reason.predicts(self.ours)

    @property
    def is_coarse(self) -> bool:
        """Whether the tolerance is so wide that agreement would mean little."""
        number = _number(self.row.printed)
        if self.row.kind == "arithmetic":
            return False
        return self.tolerance is not None and number is not None and self.tolerance > COARSE * abs(float(number))

    @property
    def printed_shown(self) -> str:
        """What is printed, with its standard error, or with the value that a formula has."""
        if self.stated is not None:
            return f"{self.row.printed} = {shown(self.stated, '')}"
        error = self.row.standard_error
        return f"{self.row.printed} ± {error:g}" if error else self.row.printed or "—"

    @property
    def ours_shown(self) -> str:
        """Our value, with two more decimals than the printed one."""
        return shown(self.ours, self.row.printed)

    @property
    def explanation(self) -> str:
        """Why the printed value differs, with the value that shows it; empty where it agrees or nothing is known."""
        if self.verdict == "differs":
            return self.row.differs
        reason = self.row.explanation
        if self.verdict not in ("explained", "coarse") or reason is None:
            return ""
        value = self._predicted
        return reason.why if isinstance(value, str) else f"{reason.why}: {shown(value, self.row.printed)}"

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON can hold it."""
        return {
            "source": self.row.key,
            "where": self.row.where,
            "what": self.row.what,
            "kind": self.row.kind,
            "printed": self.row.printed,
            "printed_standard_error": self.row.standard_error,
            "formula_value": self.stated,
            "ours": self.ours.mean if isinstance(self.ours, Simulated) else self.ours,
            "standard_error": self.ours.standard_error if isinstance(self.ours, Simulated) else 0.0,
            "tolerance": self.tolerance,
            "verdict": self.verdict,
            "explanation": self.explanation,
            "note": self.row.note,
        }


def compare_row(row: Row) -> Comparison:
    """Compute our value of one row, and the formula's."""
    return Comparison(row, row.compute(), None if row.formula is None else row.formula())


def close(stated: Value | None, ours: Value) -> bool:
    """Whether a formula and our code give the same, up to rounding: a billionth."""
    if isinstance(stated, float) and isinstance(ours, float):
        return math.isclose(stated, ours, rel_tol=1e-9, abs_tol=1e-12)
    return stated == ours


def agree(printed: str, ours: Value, standard_error: float = 0.0, unit: str | None = None) -> bool:
    """Texts have to be equal; a number may be half a unit of the last printed digit away, and what was simulated more.

    >>> agree("0.644", 0.64392), agree("0.643", 0.64392), agree("153.49%", 153.4868)
    (True, False, True)
    >>> agree("2.51", 2.6), agree("2.51", 2.6, standard_error=0.03), agree("2.51", Simulated(2.6, 0.03))
    (False, True, True)
    """
    if isinstance(ours, str):
        return printed == ours
    number, allowed = _number(printed), tolerance(printed, ours, standard_error, unit)
    center = ours.mean if isinstance(ours, Simulated) else ours
    if number is None or allowed is None or not math.isfinite(center):
        return False
    return abs(Decimal(center) - number) <= Decimal(allowed)


def tolerance(printed: str, ours: Value, standard_error: float, unit: str | None = None) -> float | None:
    """Half a unit of the last printed digit and three standard errors; None where no number is printed."""
    last = _last_unit(printed, unit)
    if last is None:
        return None
    own = ours.standard_error if isinstance(ours, Simulated) else 0.0
    return float(last) / 2 + STANDARD_ERRORS * math.hypot(own, standard_error)


def shown(value: Value, printed: str) -> str:
    """A value to two more decimals than a printed one, in the same unit."""
    number = _number(printed)
    if isinstance(value, Simulated):
        return f"{shown(value.mean, printed)} ± {value.standard_error:.2g}"
    if isinstance(value, float) and number is None:
        return f"{value:.6g}"
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


def _last_unit(printed: str, unit: str | None) -> Decimal | None:
    number = _number(printed)
    if number is None:
        return None
    return Decimal(1).scaleb(-_decimals(number)) if unit is None else Decimal(unit)
