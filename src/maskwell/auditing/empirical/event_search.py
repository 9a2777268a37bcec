"""The search for the event about a report that gives most away, and for the two truths that it tells apart best.

Candidates are whole reports, values of single parts (a position of a list, a member of a set, the size), and, for sets
of categories, "holds j and not l": for a symmetric design its ratio between the truths j and l is exactly the parity of
the sets. Only counts are kept, so that any number of draws can be searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maskwell.auditing.empirical.report_cells import CellReader, Cells, fingerprints
from maskwell.designs.base import Vector

Counts = NDArray[np.int64]

_MOST_COUNTS = 4_000_000  # of whole reports, by truth
_MOST_REPORTS = 5_000
_MOST_COLUMNS = 256
_MOST_VALUES = 1_000
_MOST_PAIRED = 2_000  # categories up to which "holds j and not l" is counted
# What is seen is discounted by so many standard errors: among thousands of events some look bad by chance.
_CAUTION = 4.0


class Event(NamedTuple):
    """A column that has a value, and another that is 0 if ``without`` says so; no column means the whole report."""

    column: int | None
    value: int
    without: int | None = None

    def happens(self, cells: Cells) -> NDArray[np.bool_]:
        if self.column is None:
            return np.asarray(fingerprints(cells) == np.uint64(self.value))
        there = np.asarray(cells[:, self.column] == self.value)
        return there if self.without is None else there & (cells[:, self.without] == 0)


class Candidate(NamedTuple):
    """An event that seems likelier for ``truth`` than for ``other``: by how much, on the log scale and with caution."""

    score: float
    event: Event
    truth: int
    other: int


class Search:
    """Counts of candidate events by truth; the first batch decides which values and reports are counted."""

    def __init__(self, k: int, reader: CellReader) -> None:
        self.k, self.reader = k, reader
        self.draws = np.zeros(k, np.int64)
        self._reports: NDArray[np.uint64] | None = None
        self._examples: Cells = np.zeros((0, 0), np.int64)
        self._values: list[tuple[int, NDArray[np.int64], Counts]] = []
        self._report_counts: Counts = np.zeros((0, k), np.int64)
        # [j, l]: reports that hold j and not l, of the truths j (own) and l (foreign).
        self._own: Counts | None = None
        self._foreign: Counts | None = None
        self._members: Counts | None = None

    def add(self, codes: NDArray[np.int64], cells: Cells) -> None:
        """Count a batch."""
        if self._reports is None:
            self._prepare(cells)
        assert self._reports is not None
        self.draws += np.bincount(codes, minlength=self.k)
        _count(self._reports, fingerprints(cells), codes, self._report_counts)
        for column, values, counts in self._values:
            _count(values, cells[:, column], codes, counts)
        if self._members is not None:
            members = cells[:, : self.k]
            self._members += _by_truth(codes, members, self.k)
            if self._own is not None and self._foreign is not None:
                at_truth = members[np.arange(len(codes)), codes]
                self._own += _by_truth(codes, at_truth[:, None] * (1 - members), self.k)
                self._foreign += _by_truth(codes, (1 - at_truth)[:, None] * members, self.k).T

    def _prepare(self, cells: Cells) -> None:
        marks, first, counts = np.unique(fingerprints(cells), return_index=True, return_counts=True)
        most = max(1, min(_MOST_REPORTS, _MOST_COUNTS // self.k))
        kept = np.sort(np.argsort(-counts, kind="stable")[:most])
        self._reports, self._examples = marks[kept], cells[first[kept]]
        self._report_counts = np.zeros((len(kept), self.k), np.int64)
        columns = range(min(cells.shape[1], _MOST_COLUMNS))
        if self.reader.membership:
            columns = range(self.k, cells.shape[1])
            self._members = np.zeros((self.k, self.k), np.int64) if self.k <= _MOST_PAIRED else None
            if self._members is not None:
                self._own, self._foreign = np.zeros_like(self._members), np.zeros_like(self._members)
        for column in columns:
            values = np.unique(cells[:, column])[:_MOST_VALUES]
            self._values.append((column, values, np.zeros((len(values), self.k), np.int64)))

    def _tables(self) -> list[tuple[list[Event], Counts]]:
        assert self._reports is not None
        tables = [([Event(None, int(mark)) for mark in self._reports], self._report_counts)]
        for column, values, counts in self._values:
            tables.append(([Event(column, int(value)) for value in values], counts))
        if self._members is not None:
            tables.append(([Event(j, 1) for j in range(self.k)], self._members.T))
            tables.append(([Event(j, 0) for j in range(self.k)], (self.draws[:, None] - self._members).T))
        return tables

    def worst(self, most: int) -> list[Candidate]:
        """The events that part one pair of truths best, the best first; all candidates are about the same pair."""
        tables = self._tables()
        found = [self._worst_of(events, counts) for events, counts in tables if len(events)]
        parting = self._parting_scores()
        if parting is not None:
            j, l = (int(i) for i in np.unravel_index(np.argmax(parting), parting.shape))
            found.append(Candidate(float(parting[j, l]), Event(j, 1, l), j, l))
        best = max(found, key=lambda candidate: candidate.score)
        candidates = [best]
        for j, l in ((best.truth, best.other), (best.other, best.truth)):
            if parting is not None:
                candidates.append(Candidate(float(parting[j, l]), Event(j, 1, l), j, l))
            for events, counts in tables:
                scores = _score(counts[:, j], self.draws[j], counts[:, l], self.draws[l])
                leading = np.argsort(-scores, kind="stable")[:most].tolist()
                candidates += [Candidate(float(scores[at]), events[at], j, l) for at in leading]
        ranked = sorted(set(candidates), key=lambda candidate: -candidate.score)
        return ranked[:most]

    def _parting_scores(self) -> Vector | None:
        """For "holds j and not l", by j and l."""
        if self._own is None or self._foreign is None:
            return None
        scores = _score(self._own, self.draws[:, None], self._foreign, self.draws[None, :])
        np.fill_diagonal(scores, -np.inf)
        return scores

    def _worst_of(self, events: list[Event], counts: Counts) -> Candidate:
        logs, errors = _log_rates(counts, self.draws)
        rows = np.arange(len(events))
        j, l = np.argmax(logs - _CAUTION * errors, axis=1), np.argmin(logs + _CAUTION * errors, axis=1)
        scores = _score(counts[rows, j], self.draws[j], counts[rows, l], self.draws[l])
        scores[j == l] = -np.inf
        at = int(np.argmax(scores))
        truth, other = (int(j[at]), int(l[at])) if j[at] != l[at] else (0, 1)
        return Candidate(float(scores[at]), events[at], truth, other)

    def describe(self, event: Event, labels: Sequence[Any], reports: Sequence[Any] | None) -> str:
        """The event in words."""
        if event.column is None:
            assert self._reports is not None
            row = self._examples[int(np.flatnonzero(self._reports == np.uint64(event.value))[0])]
            return f"the report is {self._shown(row, labels, reports)}"
        if self.reader.membership and event.column < self.k:
            holds = f"the report {'holds' if event.value else 'does not hold'} {labels[event.column]!r}"
            return holds if event.without is None else f"{holds} and not {labels[event.without]!r}"
        if self.reader.sized and event.column == self._examples.shape[1] - 1:
            return f"the report has {event.value} members"
        value = self.reader.shown(event.value)
        if self._examples.shape[1] > 1:
            return f"position {event.column + 1} of the report is {value!r}"
        return f"the report is {_named(value if reports is None else reports[event.value])}"

    def _shown(self, row: NDArray[np.int64], labels: Sequence[Any], reports: Sequence[Any] | None) -> str:
        if self.reader.membership:
            return "{" + ", ".join(repr(labels[j]) for j in np.flatnonzero(row[: self.k]).tolist()) + "}"
        if len(row) == 1:
            code = int(row[0])
            return _named(self.reader.shown(code) if reports is None else reports[code])
        values = row[:-1] if self.reader.sized else row
        return "(" + ", ".join(repr(self.reader.shown(int(value))) for value in values) + ")"


def _named(report: Any) -> str:
    return "{" + ", ".join(sorted(map(repr, report))) + "}" if isinstance(report, frozenset) else repr(report)


def _count(known: NDArray[Any], values: NDArray[Any], codes: NDArray[np.int64], counts: Counts) -> None:
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    there = known[at] == values
    cells = at[there] * counts.shape[1] + codes[there]
    counts += np.bincount(cells, minlength=counts.size).reshape(counts.shape)


def _by_truth(codes: NDArray[np.int64], rows: Cells, k: int) -> Counts:
    """The sum of the rows of each truth."""
    order = np.argsort(codes, kind="stable")
    present, starts = np.unique(codes[order], return_index=True)
    sums = np.zeros((k, rows.shape[1]), np.int64)
    sums[present] = np.add.reduceat(rows[order], starts, axis=0)
    return sums


def _log_rates(counts: Counts, draws: Any) -> tuple[Vector, Vector]:
    """Logarithms of the rates with their standard errors; half a count is added, so that none is zero."""
    rates = (counts + 0.5) / (draws + 1)
    return np.log(rates), np.sqrt((1 - rates) / (counts + 0.5))


def _score(counts: Any, draws: Any, other_counts: Any, other_draws: Any) -> Vector:
    logs, errors = _log_rates(counts, draws)
    other_logs, other_errors = _log_rates(other_counts, other_draws)
    return np.asarray(logs - other_logs - _CAUTION * np.hypot(errors, other_errors))
