"""Whole pipelines: many files masked into a folder, a part for each, resumed where they were left.

A part appears whole or not at all. A record of the run stands beside the parts: a second run with the same request
skips the parts that are there and makes the others, and one with another request is refused. With a key what is made
again is the same; without one it is drawn again, and what a killed run has left unfinished is removed first. A folder
is counted only when a run has come to its end.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from maskwell.advice import Setting
from maskwell.engines import arrow, paths
from maskwell.engines.contract import Masking
from maskwell.engines.part_engines import PART_ENGINES, Task, run_task
from maskwell.engines.record import UNFINISHED, WHOLE, Record, agreed
from maskwell.engines.spark import run_tasks
from maskwell.errors import DataError
from maskwell.results.result import Result
from maskwell.sampling.entropy import fresh_key
from maskwell.sampling.ids.blocks import RepeatedIdsError
from maskwell.sampling.ids.column import read_id_column
from maskwell.sampling.ids.seen import SeenIds
from maskwell.tables.partitions import folders_of, values_of

ENGINES = (*PART_ENGINES, "spark")
_LEFT_OVER = ".maskwell-*"
_EMBEDDED = ("use ", Setting("engine", "arrow"))


@dataclass(frozen=True)
class Outcome(Result):
    """What a run has done."""

    rows: int
    written: int
    skipped: int
    seconds: float

    def _title(self) -> str:
        return f"{self.rows:,} rows masked in {self.seconds:.1f} s"

    def _figures(self) -> dict[str, Any]:
        return {"parts written": self.written, "parts that were there already": self.skipped}

    def to_dict(self) -> dict[str, Any]:
        """The figures in the words of ``maskwell mask --json``."""
        parts = {"parts_written": self.written, "parts_skipped": self.skipped}
        return {"n": self.rows, **parts, "seconds": self.seconds}


def mask_files(
    source: Any,
    folder: str | os.PathLike[str],
    masking: Masking,
    *,
    engine: str = "arrow",
    show: Callable[[float], None] = lambda done: None,
    text: Mapping[str, str | None] | None = None,
) -> Outcome:
    """Mask every file of a source into a file of the folder; ``show`` is told which share is done.

    ``text`` holds delimiter and encoding of CSV files. Ids that repeat, in any of the files, are refused, and no part
    that has them stays: whole numbers before the part that repeats one is written, text at the end, when every part
    that was not checked before is removed; on other engines than "arrow" before any part is written. A file without
    rows becomes a part without rows, as partitions of an engine may be empty. A part of ``region=north/a.csv`` is
    ``region=north/a.parquet`` in the folder, so ``keep`` must name such columns, and none may be masked.
    """
    if engine not in ENGINES:
        raise DataError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.", parameter="engine")
    if engine != "arrow":
        masking.require_keyed(f"the engine {engine}", _EMBEDDED)
    found, target = paths.expand(source), Path(folder)
    tasks = [
        Task(
            path,
            target.resolve() / folders_of(path) / f"{_stem(path)}.parquet",
            masking,
            engine,
            dict(text or {}),
            True,
        )
        for path in (path.resolve() for path in found)
    ]
    _refuse_same_names(tasks)
    _refuse_told_by_folders(tasks, masking)
    target.mkdir(exist_ok=True)
    begun = time.monotonic()
    with _alone_in(target):
        record = agreed(target, masking, tasks)
        tasks = [replace(task, run=record.run) for task in tasks]
        waiting = [task for task in tasks if not task.target.exists()]
        unchecked = waiting if record.state == WHOLE else tasks
        for parent in {task.target.parent for task in waiting}:
            parent.mkdir(parents=True, exist_ok=True)
        record.write(UNFINISHED)
        try:
            rows = _run(tasks, waiting, _Progress(tasks, show, record), masking, engine)
        except RepeatedIdsError:
            # Text ids are compared when all parts are there; which of them repeat others is not known then.
            if all(task.target.exists() for task in tasks):
                for task in unchecked:
                    task.target.unlink()
            raise
        finally:
            record.complete()
            record.write(UNFINISHED)
        record.write(WHOLE)
    return Outcome(rows, len(waiting), len(tasks) - len(waiting), time.monotonic() - begun)


def mask_file(
    source: Any,
    target: str | os.PathLike[str],
    masking: Masking,
    *,
    engine: str = "arrow",
    show: Callable[[float], None] = lambda done: None,
    text: Mapping[str, str | None] | None = None,
) -> Outcome:
    """Mask one file into another, Parquet or Arrow, which appears whole or not at all."""
    found = paths.expand(source)
    with contextlib.suppress(OSError):
        if any(os.path.samefile(path, target) for path in found):
            raise DataError(
                f"{Path(target).name!r} is also the input; choose another name for the output.", parameter="output"
            )
    if len(found) > 1 or engine not in PART_ENGINES:
        what = f"{len(found):,} files" if len(found) > 1 else f"the engine {engine}"
        raise DataError(f"{what} cannot be masked into one file; name a folder.", parameter="output")
    if engine != "arrow":
        masking.require_keyed(f"the engine {engine}", _EMBEDDED)
    task = Task(found[0].resolve(), Path(target), masking, engine, dict(text or {}), run=fresh_key()[:8].hex())
    begun = time.monotonic()
    if engine != "arrow":
        _refuse_repeated_before([task], masking)
    rows = run_task(task, None, show)
    return Outcome(rows, 1, 0, time.monotonic() - begun)


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rpartition(".")[0] or path.name


def _refuse_same_names(tasks: Sequence[Task]) -> None:
    names = [task.target for task in tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"two files of the source would both become {twice.name!r}; mask them into different folders.")
    if any(task.source == task.target for task in tasks):
        raise DataError("the output folder is also the input; choose another one.")


def _refuse_told_by_folders(tasks: Sequence[Task], masking: Masking) -> None:
    """The folders of the source are those of the parts as well: what they tell must be meant to stand there."""
    told = dict.fromkeys(name for task in tasks for name in values_of(task.source))
    for name in told:
        if name in masking.designs:
            raise DataError(
                f"the folders of the source are named by {name!r}, which is masked: those of its parts would tell the "
                "true values. Write the source again without these folders.",
                parameter="source",
            )
        if name not in masking.keep:
            raise DataError(
                f"the folders of the source tell {name!r}, and so would those of its parts: name it among the columns "
                "to keep, or write the source again without these folders.",
                parameter="keep",
            )


def _run(tasks: Sequence[Task], waiting: Sequence[Task], progress: _Progress, masking: Masking, engine: str) -> int:
    if engine == "spark":
        _refuse_repeated_before(tasks, masking)
        rows = sum(run_tasks(waiting, progress.look))
        for task in waiting:
            progress.record.enter(task)
        return rows
    if engine != "arrow":
        _refuse_repeated_before(tasks, masking)
        return sum(progress.after(task, run_task(task)) for task in waiting)
    rows, seen = 0, SeenIds()
    for task in tasks:
        if task in waiting:
            rows += progress.after(task, run_task(task, seen, progress.within(task)))
        elif masking.id is not None:
            _take_in(task, masking, seen)
    arrow.refuse_repeated(seen, masking)
    return rows


def _refuse_repeated_before(tasks: Sequence[Task], masking: Masking) -> None:
    seen = SeenIds()
    for task in tasks:
        _take_in(task, masking, seen)
    arrow.refuse_repeated(seen, masking)


def _take_in(task: Task, masking: Masking, seen: SeenIds) -> None:
    """The ids of a file whose part is there already, or is made elsewhere."""
    name = str(masking.id)
    for batch in paths.read([task.source], [name], **task.text):
        seen.add(read_id_column(batch.column(name), name, masking.integer_ids, seen.count))


@dataclass
class _Progress:
    """The share of the input's bytes that is done."""

    tasks: Sequence[Task]
    show: Callable[[float], None]
    record: Record
    _sizes: dict[Path, int] = field(init=False)
    _done: float = 0

    def __post_init__(self) -> None:
        self._sizes = {task.source: max(1, task.source.stat().st_size) for task in self.tasks}
        self._done = sum(self._sizes[task.source] for task in self.tasks if task.target.exists())

    @property
    def _total(self) -> int:
        return sum(self._sizes.values())

    def within(self, task: Task) -> Callable[[float], None]:
        """Told which share of one file is done."""
        return lambda share: self.show((self._done + share * self._sizes[task.source]) / self._total)

    def after(self, task: Task, rows: int) -> int:
        """A part is there."""
        self.record.enter(task)
        self._done += self._sizes[task.source]
        self.show(self._done / self._total)
        return rows

    def look(self) -> None:
        """Which parts are there, where others make them."""
        there = sum(self._sizes[task.source] for task in self.tasks if task.target.exists())
        self.show(there / self._total)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One run at a time; what a killed one has left unfinished is removed."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"another run is writing into {folder.name!r}; wait for it, or choose another.") from None
        for left in folder.rglob(_LEFT_OVER):
            with contextlib.suppress(OSError):
                shutil.rmtree(left)
        yield
    finally:
        os.close(handle)
