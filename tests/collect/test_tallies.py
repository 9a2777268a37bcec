"""Tallies that are kept and extended: the same counts as from all reports at once, whatever happens in between."""

from __future__ import annotations

import asyncio
import tempfile
import uuid
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from scipy.stats import chisquare

import maskwell as mw
from maskwell.collect.service import Published, Service
from maskwell.collect.settings import Settings
from maskwell.collect.store import Database, NotStored, StoreError
from maskwell.collect.studio.owner.joint import joined
from maskwell.collect.studio.owner.watched import watched
from maskwell.collect.surveys import tallies
from maskwell.collect.surveys.estimates import estimates
from maskwell.collect.surveys.export import _shuffled, export
from maskwell.collect.surveys.submissions import Layout, Submission
from maskwell.collect.surveys.tallies import Counting, Tallies
from maskwell.designs.storage import to_document
from maskwell.reports import Reports
from maskwell.reports.joint import side_by_side
from tests.collect.servers import new_database

d = mw.designs
WARNER = d.warner(truth_prob=0.8)
QUESTIONS = {
    "one": d.gamma_diagonal(4, epsilon=1.0),
    "sets": d.minimax(9, epsilon=0.5),
    "left out": d.minimax(5, epsilon=1.0),
    "both": d.product(WARNER, d.gamma_diagonal(3, epsilon=1.0), names=["a", "b"]),
}
LEAST = 7


@pytest.fixture(params=["sqlite", "postgresql"])
def service(request: Any, tmp_path: Path) -> Iterator[Service]:
    if request.param == "sqlite":
        database = f"sqlite:///{tmp_path}/a.db"
    else:
        database = new_database(request.getfixturevalue("postgresql"))
    running = Service(Database(database), Settings())
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "_AT_ONCE", 25)
    monkeypatch.setattr(tallies, "_STEP", 50)
    monkeypatch.setattr(tallies, "_KEPT_EVERY", 30)


@pytest.fixture
def survey(service: Service) -> Published:
    asked = [
        {"name": name, "text": "?", "design": to_document(design), "optional": name == "left out"}
        for name, design in QUESTIONS.items()
    ]
    return service.publish({"title": "?", "questions": asked, "least_batch": LEAST})[0]


class Sent:
    """The submissions of a survey in the order in which they were stored."""

    def __init__(self, service: Service, survey: Published) -> None:
        self.service, self.survey = service, survey
        self.packed: list[bytes] = []
        self._rng = np.random.default_rng(5)

    def more(self, people: int) -> None:
        wires = {}
        for name, design in QUESTIONS.items():
            truths: Any = self._rng.integers(0, design.k, people).tolist()
            if design.variables:
                truths = {part: self._rng.choice(of.categories, people) for part, of in design.variables.items()}
            wires[name] = design.mask(truths).positions()
        wires["left out"] = [None if at % 3 == 0 else report for at, report in enumerate(wires["left out"])]
        packed = [self.survey.layout.pack({name: wire[at] for name, wire in wires.items()}) for at in range(people)]

        async def send() -> None:
            sending = (Submission(self.survey.id, self._rng.bytes(16), reports) for reports in packed)
            await asyncio.gather(*map(self.service.writer.store, sending))

        asyncio.run(send())
        self.packed += packed

    def whole(self) -> dict[str, Reports]:
        """The reports of all whole batches."""
        return self.survey.layout.unpack(self.packed[: len(self.packed) // LEAST * LEAST])

    def are_counted_by(self, counting: Tallies) -> bool:
        """Whether these tallies are those of all whole batches, to the last count."""
        found = counting.by_question(self.survey)
        return all(found[name].to_dict() == reports.tally().to_dict() for name, reports in self.whole().items())

    def are_joined_by(self, counting: Tallies, *names: str) -> bool:
        joint = counting.joint(self.survey, names)
        whole = self.whole()
        return joint.to_dict() == side_by_side({name: whole[name] for name in names}).tally().to_dict()


@pytest.fixture
def sent(service: Service, survey: Published) -> Sent:
    return Sent(service, survey)


def test_a_look_counts_what_is_new(sent: Sent) -> None:
    counting = Tallies(sent.service)
    for people in (LEAST, 1, 12, 20, 3):
        sent.more(people)
        assert sent.are_counted_by(counting)
        assert sent.are_joined_by(counting, "one", "sets")
        assert sent.are_joined_by(counting, "left out", "one")


def test_much_is_counted_in_the_background_while_looks_are_answered(
    sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Tallies(sent.service)
    sent.more(LEAST)
    assert sent.are_counted_by(counting)
    sent.more(200)
    # Too much to wait for, and too little counted to be shown.
    with pytest.raises(Counting, match="7 of 203 submissions are counted so far"):
        estimates(counting, sent.survey)
    shown = watched(sent.service, counting, sent.survey)
    assert (shown["received"], shown["shown"], shown["questions"]) == (207, 0, [])
    assert "7 of 203" in shown["counting"]
    assert "0 of 203" in joined(counting, sent.survey, 1, 2)["counting"]
    counting.catch_up()
    assert sent.are_counted_by(counting)
    assert sent.are_joined_by(counting, "one", "sets")
    assert watched(sent.service, counting, sent.survey)["shown"] == 203
    # Where nine tenths are counted they are shown, as what they are, and the rest follows.
    with monkeypatch.context() as patch:
        patch.setattr(tallies, "_AT_ONCE", 0)
        sent.more(21)
        shown = watched(sent.service, counting, sent.survey)
    assert (shown["received"], shown["shown"]) == (228, 203)
    assert shown["questions"][0]["answered"] == 203
    counting.catch_up()
    assert sent.are_counted_by(counting)


def test_a_restart_goes_on_where_the_last_step_ended(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, int]] = []
    packed_reports = Database.packed_reports

    def noted(self: Database, survey: str, first: int, after: int, rows: int) -> Iterator[list[bytes]]:
        read.append((first, after))
        return packed_reports(self, survey, first, after, rows)

    monkeypatch.setattr(Database, "packed_reports", noted)
    for people in (300, 4, 90):
        sent.more(people)
        # Each step in a process of its own: nothing is left of the last one but what it has kept.
        for _ in range(20):
            counting = Tallies(sent.service)
            counting.begin()
            counting._count(sent.survey, (), tallies._STEP)
        assert sent.are_counted_by(Tallies(sent.service))
    again = sum(after - first for first, after in read) - len(sent.packed) // LEAST
    # Less is read twice than may be unkept, by each of the processes.
    assert again * LEAST <= 61 * tallies._AT_ONCE * 2


def test_a_step_that_fails_counts_nothing_twice(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Tallies(sent.service)
    sent.more(150)
    packed_reports = Database.packed_reports

    def broken(self: Database, *asked: Any) -> Iterator[list[bytes]]:
        with closing(packed_reports(self, *asked)) as pages:
            yield next(pages)
        raise StoreError("the database is away")

    counting.begin()
    with monkeypatch.context() as patch:
        patch.setattr(Database, "packed_reports", broken)
        with pytest.raises(StoreError):
            counting.catch_up()
    counting.catch_up()
    assert sent.are_counted_by(counting)


def test_what_cannot_be_kept_is_shown_all_the_same(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise NotStored("the disk is full")

    counting = Tallies(sent.service)
    sent.more(150)
    with monkeypatch.context() as patch:
        patch.setattr(sent.service.writer, "change", full)
        counting.begin()
        counting.catch_up()
        assert sent.are_counted_by(counting)
        assert sent.service.database.counted(sent.survey.id, "[]") is None
    sent.more(60)
    counting.begin()
    counting.catch_up()
    assert sent.are_counted_by(counting)
    assert sent.service.database.counted(sent.survey.id, "[]") is not None


def test_a_large_batch_is_shown_when_all_of_it_is_counted(service: Service) -> None:
    asked = {"name": "one", "text": "?", "design": to_document(QUESTIONS["one"])}
    survey, _ = service.publish({"title": "?", "questions": [asked], "least_batch": 60})
    counting = Tallies(service)

    async def send(people: int) -> None:
        packed = survey.layout.pack({"one": 1})
        sending = (Submission(survey.id, uuid.uuid4().bytes, packed) for _ in range(people))
        await asyncio.gather(*map(service.writer.store, sending))

    asyncio.run(send(60))
    with pytest.raises(Counting):
        counting.by_question(survey)
    counting.catch_up()
    assert counting.by_question(survey)["one"].n == 60
    asyncio.run(send(59))
    counting.catch_up()
    assert counting.by_question(survey)["one"].n == 60


def test_an_export_holds_a_part_of_the_rows_at_a_time(sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    sent.more(100)
    layout = sent.survey.layout
    layout.rows_at_once = 16
    whole = list(zip(*(reports.positions() for reports in sent.whole().values()), strict=True))
    seen: list[int] = []
    columns, table = Layout.columns, Layout.table

    def noted_columns(self: Layout, rows: Any, names: Any = None) -> Any:
        seen.append(len(rows))
        return columns(self, rows, names)

    def noted_table(self: Layout, rows: Any) -> Any:
        seen.append(len(rows))
        return table(self, rows)

    monkeypatch.setattr(Layout, "columns", noted_columns)
    monkeypatch.setattr(Layout, "table", noted_table)
    orders = []
    for _ in range(2):
        found = exported(export(sent.service, sent.survey, "parquet"))
        rows = list(zip(*(reports.positions() for reports in found.values()), strict=True))
        # The same people, with their reports side by side, in another order every time.
        assert sorted(map(str, rows)) == sorted(map(str, whole))
        orders += [rows, whole]
    assert max(seen) == 16
    assert len({str(order) for order in orders}) == 3
    assert exported(export(sent.service, sent.survey, "csv")).keys() == found.keys()


def exported(archive: IO[bytes]) -> dict[str, Reports]:
    with archive, tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(archive) as files:
        files.extractall(folder)
        paths = [path for path in sorted(Path(folder, "reports").iterdir()) if path.suffix in (".parquet", ".csv")]
        assert len(paths) == len(QUESTIONS)
        return {name: Reports.read(path) for name, path in zip(QUESTIONS, paths, strict=True)}


def test_every_order_of_an_export_is_as_likely(tmp_path: Path) -> None:
    """Six orders of three rows, in piles that hold one or several: a chi-square at a false-alarm rate of 1e-6."""
    rows = np.arange(3, dtype=np.uint8).reshape(3, 1)
    counts = Counter(_shuffled([rows[:2], rows[2:]], 3, tmp_path / "rows").read_bytes() for _ in range(300))
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-6
