"""Category labels: text, whole numbers or booleans, and how they are listed in a message."""

from collections.abc import Iterable, Sequence, Sized
from itertools import islice
from typing import Any

import numpy as np

from maskwell.errors import DesignError
from maskwell.limits import MOST_CATEGORIES, MOST_LABEL_CHARACTERS
from maskwell.plain_text import visible

Label = str | int | bool

KINDS = {str: "text", int: "whole numbers", bool: "true/false"}
_MAX_SHOWN = 12
_MAX_LETTERS = 200
_BEYOND = 1 << 53  # a browser reads a larger number in a design as another one


class CheckedLabels(tuple[Label, ...]):
    """Labels that were checked: a million need most of a second, and a plan asks several times."""

    __slots__ = ()


def as_labels(categories: Iterable[Any] | int) -> CheckedLabels:
    """The labels of a design: a list of text, of whole numbers or of booleans; a count k means 0 .. k-1."""
    if isinstance(categories, CheckedLabels):
        return categories
    if isinstance(categories, (int, np.integer)) and not isinstance(categories, bool):
        _refuse_many(int(categories))
        labels: tuple[Label, ...] = tuple(range(int(categories)))
    elif isinstance(categories, (str, bytes)) or not isinstance(categories, Iterable):
        raise DesignError(
            f"categories must be a list of labels or a count; got {type(categories).__name__}.", parameter="categories"
        )
    else:
        if isinstance(categories, Sized):
            _refuse_many(len(categories))
        labels = tuple(islice(categories, MOST_CATEGORIES + 1))
        _refuse_many(len(labels))
        if not set(map(type, labels)) <= KINDS.keys():  # a million plain ones are passed in milliseconds
            labels = tuple(c.item() if isinstance(c, np.generic) else c for c in labels)
    if len(labels) < 2:
        raise DesignError(
            f"categories must name at least 2 categories; got {len(labels)}. With one category there is nothing to "
            "ask.",
            parameter="categories",
        )
    types = set(map(type, labels))
    if len(types) != 1 or not types <= set(KINDS):
        names = ", ".join(sorted(t.__name__ for t in types))
        raise DesignError(
            f"categories must be all text, all whole numbers or all booleans; got {names}.", parameter="categories"
        )
    if isinstance(labels[0], str) and max(len(str(label)) for label in labels) > MOST_LABEL_CHARACTERS:
        raise DesignError(
            f"categories must be labels of at most {MOST_LABEL_CHARACTERS:,} characters each.", parameter="categories"
        )
    _refuse_unstorable(labels)
    if len(set(labels)) < len(labels):
        seen: set[Label] = set()
        twice = next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise DesignError(f"categories must differ; {twice!r} is listed more than once.", parameter="categories")
    return CheckedLabels(labels)


def _refuse_many(count: int) -> None:
    if count > MOST_CATEGORIES:
        raise DesignError(
            f"categories may be {MOST_CATEGORIES:,} at most; got {_counted(count)}. Group them, or ask in two steps.",
            parameter="categories",
        )


def _counted(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"a number of {count.bit_length()} bits"


def _refuse_unstorable(labels: tuple[Any, ...]) -> None:
    """Labels that no file, or no column of values, could hold."""
    if isinstance(labels[0], str):
        try:
            "".join(labels).encode()
        except UnicodeEncodeError:
            raise DesignError("a label holds half of a character (a lone surrogate); give whole text.") from None
    elif not -_BEYOND < min(labels) <= max(labels) < _BEYOND:
        raise DesignError("labels that are whole numbers must lie within 2^53, as in a browser; give others as text.")


def check_reports(reports: object) -> None:
    """An error unless these can be the labels of reports: a tuple of text, whole numbers or booleans, all different."""
    if not isinstance(reports, tuple) or any(type(label) not in KINDS for label in reports):
        raise DesignError("report labels must be text, whole numbers or booleans.")
    for kind in (str, int):
        same = tuple(label for label in reports if type(label) is kind)
        if same:
            _refuse_unstorable(same)
    if len(set(reports)) < len(reports):
        raise DesignError("report labels must differ.")


def shown(labels: tuple[Any, ...]) -> str:
    """Labels for a message, shortened."""
    text = ", ".join(_short(repr(label)) for label in labels[:_MAX_SHOWN])
    return text if len(labels) <= _MAX_SHOWN else f"{text}, … ({len(labels)} in all)"


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}…"


def text_of(label: Any) -> str:
    r"""A label as a reader sees it; that of several variables is a tuple. What is not printed is escaped.

    >>> text_of("yes"), text_of(("f", "high")), text_of("a\tb")
    ('yes', 'f, high', 'a\\tb')
    """
    return visible(", ".join(map(str, label)) if isinstance(label, tuple) else label)


def report_text(report: Any, categories: Sequence[Any]) -> str:
    """A report as words; a set in the order of the categories.

    >>> report_text(frozenset(["b", "a"]), ["a", "b", "c"]), report_text(("x", frozenset()), []), report_text(None, [])
    ('{a, b}', 'x / {}', 'missing')
    """
    if report is None:
        return "missing"
    if isinstance(report, frozenset):
        return "{" + ", ".join(str(c) for c in categories if c in report) + "}"
    if isinstance(report, tuple):
        return " / ".join(
            report_text(part, sorted(part, key=str) if isinstance(part, frozenset) else ()) for part in report
        )
    return str(report)
