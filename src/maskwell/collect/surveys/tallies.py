"""What was counted of the reports of each survey, kept so that no question about them reads a report twice.

Submissions come in batches, each of as many as the survey's least batch, in order of arrival. Only whole batches are
counted and shown: between two looks at a tally lies a batch at least, so what one report adds cannot be read off.
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
from maskwell.collect.store.tables import tallies as tallies_table
from maskwell.collect.surveys.submissions import RANDOMNESS
from maskwell.designs.base import Design
from maskwell.designs.kinds.product import product
from maskwell.errors import MaskwellError
from maskwell.reports import Reports
from maskwell.reports.joint import side_by_side
from maskwell.reports.tally import Patterns, Tally

_KEPT_EVERY = 10_000  # submissions, after which what was counted is written down
_MOST_REMEMBERED = 1000  # sets of questions; the one that was longest not asked for is read again when it is


class TooFew(MaskwellError):
    """Nothing is shown before a whole batch of submissions is there."""

    def __init__(self, least: int) -> None:
        super().__init__(f"nothing is shown before {least} submissions are there.")


@dataclass
class Counted:
    """The tallies of some questions over the first batches of a survey."""

    batches: int
    tallies: dict[str, Tally]
    kept: int = 0


class Tallies:
    """The tallies of all surveys, each brought up to date when it is asked for."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._counted: dict[tuple[str, tuple[str, ...]], Counted] = {}
        self._locks: defaultdict[tuple[str, tuple[str, ...]], threading.Lock] = defaultdict(threading.Lock)

    def by_question(self, published: Published) -> dict[str, Tally]:
        """The tally of each question, over all whole batches."""
        return self._up_to_date(published, ()).tallies

    def catch_up(self) -> None:
        """Count what came in to the busy surveys, so that the next look at them finds it done."""
        for survey in self._service.writer.much_arrived(_KEPT_EVERY):
            published = self._service.published(survey)
            if published is not None:
                self.by_question(published)

    def joint(self, published: Published, names: Sequence[str]) -> Tally:
        """The joint tally of some questions, of those who answered all of them."""
        (tally,) = self._up_to_date(published, tuple(names)).tallies.values()
        return tally

    def _up_to_date(self, published: Published, names: tuple[str, ...]) -> Counted:
        """``names`` are questions to count together; () for each question by itself."""
        key = (published.id, names)
        with self._locks[key]:
            before = self._counted.get(key) or self._restored(published, names)
            whole = self._service.batches(published)
            # A copy: if the database goes away in between, nothing is counted, rather than some of it twice.
            tallies = dict(before.tallies)
            for page in self._service.database.packed_reports(published.id, before.batches, whole):
                columns = published.layout.unpack(page, names or None)
                for name, reports in _grouped(columns, names).items():
                    tallies[name] = Tally.merge([tallies[name], reports.tally()])
            counted = Counted(whole, tallies, before.kept)
            self._remember(key, counted)
            self._keep(published, names, counted)
            return counted

    def _remember(self, key: tuple[str, tuple[str, ...]], counted: Counted) -> None:
        self._counted.pop(key, None)
        while len(self._counted) >= _MOST_REMEMBERED:
            self._counted.pop(next(iter(self._counted)), None)
        self._counted[key] = counted

    def _restored(self, published: Published, names: tuple[str, ...]) -> Counted:
        designs = _designs(published, names)
        kept = self._service.database.counted(published.id, _stored_names(names))
        if kept is None:
            return Counted(0, {name: nothing(design) for name, design in designs.items()})
        batches, content = kept
        return Counted(batches, _read(content, designs), batches)

    def _keep(self, published: Published, names: tuple[str, ...], counted: Counted) -> None:
        if (counted.batches - counted.kept) * published.survey.least_batch < _KEPT_EVERY:
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

        self._service.writer.change(keep)
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
