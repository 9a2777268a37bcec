"""What was counted of the reports of each survey, kept so that no question about them reads a report twice.

Submissions come in batches, each of as many as the survey's least batch, in order of arrival. Only whole batches are
counted and shown: between two looks at a tally lies a batch at least, so what one report adds cannot be read off.

A look counts what is new if that is little, and is answered at once either way: much is counted in the background, in
steps that are kept, so that a restart goes on where the last step ended.
"""

from __future__ import annotations

import io
import json
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, insert

from maskwell.collect.service import Published, Service
from maskwell.collect.store import NotStored
from maskwell.collect.store.tables import tallies as tallies_table
from maskwell.collect.surveys.submissions import RANDOMNESS
from maskwell.designs.base import Design
from maskwell.designs.kinds.product import product
from maskwell.errors import MaskwellError
from maskwell.reports import Reports
from maskwell.reports.joint import side_by_side
from maskwell.reports.tally import Patterns, Tally

_AT_ONCE = 5_000  # submissions that are counted while somebody waits
_STEP = 20_000  # submissions that the background counts at a time
_KEPT_EVERY = 10_000  # submissions, after which what was counted is written down; after a twentieth if that is more
_MOST_REMEMBERED = 1000  # sets of questions; the one that was longest not asked for is read again when it is

Key = tuple[str, tuple[str, ...]]


class TooFew(MaskwellError):
    """Nothing is shown before a whole batch of submissions is there."""

    def __init__(self, least: int) -> None:
        super().__init__(f"nothing is shown before {least} submissions are there.")


class Counting(MaskwellError):
    """So much is not counted yet that what is counted would mislead."""

    def __init__(self, counted: int, stored: int) -> None:
        super().__init__(f"{counted:,} of {stored:,} submissions are counted so far; ask again in a few seconds.")
        self.counted, self.stored = counted, stored


@dataclass
class Counted:
    """The tallies of some questions over the first batches of a survey."""

    batches: int
    tallies: dict[str, Tally]
    kept: int = 0


class Tallies:
    """The tallies of all surveys, each brought up to date when it is asked for, and in between."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._counted: dict[Key, Counted] = {}
        self._remembering = threading.Lock()
        self._counting: defaultdict[Key, threading.Lock] = defaultdict(threading.Lock)
        self._behind: dict[Key, None] = {}  # what the background is to count, one step of each in turn
        self._stopped = False

    def by_question(self, published: Published) -> dict[str, Tally]:
        """The tally of each question, over all whole batches; over nine tenths at least while many are counted."""
        return self._look(published, ()).tallies

    def joint(self, published: Published, names: Sequence[str]) -> Tally:
        """The joint tally of some questions, of those who answered all of them."""
        (tally,) = self._look(published, tuple(names)).tallies.values()
        return tally

    def begin(self) -> None:
        """See what an earlier process left uncounted."""
        for survey, received in self._service.database.received().items():
            if received > _AT_ONCE:
                self._behind[survey, ()] = None

    def catch_up(self) -> None:
        """Count what came in to the busy surveys, and what somebody waits for."""
        for survey in self._service.writer.much_arrived(_AT_ONCE // 2):
            self._behind[survey, ()] = None
        while self._behind and not self._stopped:
            survey, names = key = next(iter(list(self._behind)))
            # Last in turn from now on: if this step fails, the others are not held up.
            self._behind[key] = self._behind.pop(key)
            published = self._service.published(survey)
            if published is None or self._count(published, names, _STEP)[1]:
                self._behind.pop(key)

    def stop(self) -> None:
        """End what the background does, after the step that it is at."""
        self._stopped = True

    def _look(self, published: Published, names: tuple[str, ...]) -> Counted:
        """``names`` are questions to count together; () for each question by itself."""
        least, whole = published.survey.least_batch, self._service.batches(published)
        counted = self._so_far(published, names)
        if counted.batches >= whole:
            return counted
        if (whole - counted.batches) * least <= _AT_ONCE:
            return self._count(published, names, _AT_ONCE)[0]
        self._behind[published.id, names] = None
        if 10 * counted.batches < 9 * whole:
            raise Counting(counted.batches * least, whole * least)
        return counted

    def _count(self, published: Published, names: tuple[str, ...], most: int) -> tuple[Counted, bool]:
        """Count the next batches, about so many submissions; says whether all are counted now."""
        with self._counting[published.id, names]:
            before = self._so_far(published, names)
            whole = self._service.batches(published)
            until = min(whole, before.batches + max(1, most // published.survey.least_batch))
            if until <= before.batches:
                return before, True
            # A copy: if the database goes away in between, nothing is counted, rather than some of it twice.
            tallies = dict(before.tallies)
            rows = published.layout.rows_at_once
            for page in self._service.database.packed_reports(published.id, before.batches, until, rows):
                columns = published.layout.unpack(page, names or None)
                for name, reports in _grouped(columns, names).items():
                    tallies[name] = Tally.added([tallies[name], reports.tally()])
            counted = Counted(until, tallies, before.kept)
            self._remember((published.id, names), counted)
            self._keep(published, names, counted)
            return counted, until == whole

    def _so_far(self, published: Published, names: tuple[str, ...]) -> Counted:
        counted = self._counted.get((published.id, names))
        if counted is None:
            counted = self._restored(published, names)
            self._remember((published.id, names), counted)
        return counted

    def _remember(self, key: Key, counted: Counted) -> None:
        with self._remembering:
            self._counted.pop(key, None)
            while len(self._counted) >= _MOST_REMEMBERED:
                self._counted.pop(next(iter(self._counted)))
            self._counted[key] = counted

    def _restored(self, published: Published, names: tuple[str, ...]) -> Counted:
        designs = _designs(published, names)
        kept = self._service.database.counted(published.id, _stored_names(names))
        if kept is None:
            return Counted(0, {name: nothing(design) for name, design in designs.items()})
        batches, content = kept
        return Counted(batches, _read(content, designs), batches)

    def _keep(self, published: Published, names: tuple[str, ...], counted: Counted) -> None:
        new = (counted.batches - counted.kept) * published.survey.least_batch
        if new < _KEPT_EVERY or 20 * (counted.batches - counted.kept) < counted.batches:
            return
        row = {
            "survey": published.id,
            "questions": _stored_names(names),
            "batches": counted.batches,
            "counts": _written(counted.tallies),
        }
        same = (tallies_table.c.survey == row["survey"]) & (tallies_table.c.questions == row["questions"])

        def keep(connection: Connection) -> None:
            connection.execute(delete(tallies_table).where(same))
            connection.execute(insert(tallies_table).values(**row))

        try:
            self._service.writer.change(keep)
        except NotStored:
            return  # The disk is full, say: what was counted is shown all the same, and kept with what comes next.
        counted.kept = counted.batches


def _grouped(columns: dict[str, Reports], names: tuple[str, ...]) -> dict[str, Reports]:
    if not names:
        return columns
    return {_stored_names(names): side_by_side({name: columns[name] for name in names})}


def _designs(published: Published, names: tuple[str, ...]) -> dict[str, Design]:
    designs = {question.name: question.design for question in published.survey.questions}
    if not names:
        return designs
    return {_stored_names(names): product(*(designs[name] for name in names), names=list(names))}


def _stored_names(names: tuple[str, ...]) -> str:
    return json.dumps(names, ensure_ascii=False)


def nothing(design: Design) -> Tally:
    """The tally of no reports."""
    return Reports(design, design.sampler.empty(0), None, RANDOMNESS).tally()


def _written(tallies: Mapping[str, Tally]) -> bytes:
    """Tallies as bytes: their arrays, in order of the questions."""
    arrays: dict[str, Any] = {}
    for at, tally in enumerate(tallies.values()):
        arrays[f"counts{at}"] = tally.counts
        arrays[f"answers{at}"] = np.array([tally.n, tally.missing])
        if tally.kept_patterns is not None:
            arrays[f"patterns{at}"] = tally.kept_patterns.packed
            arrays[f"times{at}"] = tally.kept_patterns.counts
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _read(content: bytes, designs: Mapping[str, Design]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        for at, (name, design) in enumerate(designs.items()):
            n, missing = (int(count) for count in arrays[f"answers{at}"])
            kept = Patterns(arrays[f"patterns{at}"], arrays[f"times{at}"]) if f"patterns{at}" in arrays else None
            tallies[name] = Tally(design, arrays[f"counts{at}"], n, missing, None, kept, RANDOMNESS)
    return tallies
