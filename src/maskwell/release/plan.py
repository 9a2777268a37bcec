"""Release plans as JSON: what was asked, what came of it, and enough to do it again.

A plan is for the custodian. It holds the sensitive cells and the exact chances, which would help an intruder.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import json
from abc import ABC, abstractmethod
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Self

from maskwell.errors import DataError, MaskwellError, ReportError
from maskwell.limits import MOST_PLAN_CHARACTERS
from maskwell.results.result import Result
from maskwell.strict_json import read_json

FORMATS = (1, 2, 3)
"""What this version reads. Format 2 holds small blocks, format 3 a θ for each block, and what was recoded before."""


class ReleasePlan(Result, ABC):
    """How a file was released: JSON in and out, a fingerprint, and ``apply`` to do it again."""

    method: ClassVar[str]
    methods: ClassVar[dict[str, type[ReleasePlan]]] = {}

    def __init_subclass__(cls) -> None:
        ReleasePlan.methods[cls.method] = cls

    @property
    def version(self) -> int:
        """The format that the plan is written in."""
        return FORMATS[0]

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """What decides the chances of every change, ready for JSON."""

    @abstractmethod
    def draws(self) -> Any:
        """Where the randomness came from, ready for JSON; a key is never stored."""

    @classmethod
    @abstractmethod
    def from_content(cls, content: dict[str, Any], draws: Any) -> Self:
        """The inverse of ``content`` and ``draws``."""

    def keeps_its_promise(self) -> bool:
        """Whether the chances give what the plan promises; a plan that promises nothing keeps it."""
        return True

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the content."""
        return _hash_of(self.content())

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values: what ``to_json`` writes."""
        return dict(json.loads(self.to_json()))

    def _figures(self) -> dict[str, Any]:
        return {"method": self.method, "fingerprint": self.fingerprint[:12]}

    def to_json(self) -> str:
        """The plan as text, complete and versioned. Keep it where you keep the original file."""
        head = {"maskwell": "release plan", "version": self.version, "method": self.method}
        fingerprint = self.fingerprint  # first, so that a large content is not held twice
        rest = {"content": self.content(), "draws": self.draws(), "fingerprint": fingerprint}
        return json.dumps(head | rest, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes) -> ReleasePlan:
        """Read a plan back; anything but the same plan is an error."""
        document = read_json(text, "plan", ReportError, MOST_PLAN_CHARACTERS, finite=False)
        if not isinstance(document, dict) or document.get("maskwell") != "release plan":
            raise ReportError('plan JSON must be an object with "maskwell": "release plan"; this is another file.')
        if type(document.get("version")) is not int or document["version"] not in FORMATS:
            known = f"{', '.join(map(str, FORMATS[:-1]))} and {FORMATS[-1]}"
            raise ReportError(f"plan format {document.get('version')!r} is not supported; this version reads {known}.")
        kind = ReleasePlan.methods.get(str(document.get("method")))
        if kind is None:
            known = ", ".join(ReleasePlan.methods)
            raise ReportError(f"plan method {document.get('method')!r} is unknown; known: {known}.")
        try:
            plan = kind.from_content(document["content"], document["draws"])
            # Of the plan that was read, and of its content as it is spelled: one way to write each thing.
            found = {plan.fingerprint, _hash_of(document["content"])}
        except MaskwellError as error:
            raise ReportError(f"plan JSON is incomplete or malformed: {error}") from None
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError) as error:
            raise ReportError(f"plan JSON is incomplete or malformed ({type(error).__name__}).") from None
        if found != {str(document.get("fingerprint"))}:
            raise ReportError("plan JSON was changed: its content does not match its fingerprint.")
        if not plan.keeps_its_promise():
            raise ReportError("plan JSON promises a limit that its chances do not give.")
        return plan

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReleasePlan) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _hash_of(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def key_check(key: bytes, fingerprint: str) -> str:
    """What a plan remembers of its key: enough to tell another key, and nothing that would help to find it."""
    return hmac.digest(key, f"maskwell plan {fingerprint}".encode(), "sha256")[:8].hex()


def refuse_other_key(key: Any, fingerprint: str, stored: str) -> None:
    """An error if a plan was drawn with another key: the file would differ from the first and betray both."""
    if isinstance(key, bytes) and key_check(key, fingerprint) != stored:
        raise DataError(
            "key is not the one that the plan was drawn with; a second file with other draws, beside the first, would "
            "show which records moved. Use the same key, or do not give this file away as well.",
            parameter="key",
        )


def stored_label(label: Any) -> Any:
    """A category's label for JSON: text, numbers, booleans and None as they are, dates and decimals marked."""
    if label is None or isinstance(label, (str, bool, int, float)):
        return label
    for kind in (datetime.datetime, datetime.date, datetime.time):
        # A timestamp of pandas is a datetime of a kind that may hold nanoseconds as well.
        if isinstance(label, kind) and not getattr(label, "nanosecond", 0):
            return {kind.__name__: label.isoformat()}
    if isinstance(label, Decimal):
        return {"decimal": str(label)}
    if isinstance(label, (tuple, list)):
        return {"cell": [stored_label(part) for part in label]}
    what = "with nanoseconds" if getattr(label, "nanosecond", 0) else f"of type {type(label).__name__}"
    raise ReportError(f"categories {what} cannot be stored in a plan; cast the column to text.")


_READERS = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "decimal": Decimal,
}


def read_label(stored: Any) -> Any:
    """The inverse of ``stored_label``."""
    if stored is None or isinstance(stored, (str, bool, int, float)):
        return stored
    ((kind, value),) = stored.items()
    return tuple(map(read_label, value)) if kind == "cell" else _READERS[kind](value)


# What else a plan stores; anything but that is a TypeError, which ``from_json`` turns into a line.


def read_texts(stored: Any) -> tuple[str, ...]:
    """A list of names."""
    return tuple(_of_type(item, str) for item in _of_type(stored, list))


def read_whole(stored: Any) -> int:
    """A whole number that counts something, or a position."""
    if _of_type(stored, int) < 0:
        raise TypeError("a count must not be negative")
    return int(stored)


def read_wholes(stored: Any) -> tuple[int, ...]:
    """A list of them."""
    return tuple(read_whole(item) for item in _of_type(stored, list))


def read_draws(stored: Any) -> tuple[str, int | None, str | None]:
    """Where the randomness came from: its kind, the seed and the check of the key."""
    seed, check = stored["seed"], stored.get("key_check")
    return (
        _of_type(stored["randomness"], str),
        None if seed is None else _of_type(seed, int),
        None if check is None else _of_type(check, str),
    )


def _of_type(stored: Any, kind: type) -> Any:
    if type(stored) is not kind:
        raise TypeError(f"{kind.__name__} expected")
    return stored
