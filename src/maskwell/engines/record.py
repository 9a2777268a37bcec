"""The record of a run, which stands beside its parts: what was asked for, of which files, and whether it has ended.

Of a file it holds the name, the time of its last change and, with a key, a check value of its content under that key.
Neither its size nor a plain hash stand there: of a short file of answers both would tell something about them. Of a
part that is there it holds the checksum that the part itself ends with, so that a folder is counted with its own parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maskwell.engines.contract import Masking
from maskwell.engines.folders import data_in, inside, outermost
from maskwell.engines.part_engines import Task
from maskwell.errors import DataError, ReportError
from maskwell.reports.table_files import checksum_of
from maskwell.sampling.entropy import fresh_key
from maskwell.whole_files import complete_file

RECORD = "_maskwell.json"
WHOLE, UNFINISHED = "whole", "unfinished"


@dataclass
class Record:
    """What a folder says of its run; ``sources`` are by part, also of parts that are still to be made."""

    folder: Path
    run: str
    request: dict[str, Any]
    state: str | None = None
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)

    def write(self, state: str) -> None:
        """Say in the folder how far the run is."""
        self.state = state
        said = {"run": self.run, "state": state, "request": self.request, "sources": self.sources}
        with complete_file(self.folder / RECORD) as file:
            file.write(json.dumps({"maskwell": "run", "version": 2, **said}, indent=1, ensure_ascii=False).encode())

    def part(self, task: Task) -> str:
        """The name of a part: its path inside the folder."""
        return task.target.relative_to(self.folder.resolve()).as_posix()

    def made(self) -> list[str]:
        """The parts that are there."""
        return [part for part in self.sources if (self.folder / part).exists()]

    def enter(self, task: Task) -> None:
        """After a part: its file must be as it was before, and its content is entered."""
        said = self.sources[self.part(task)]
        if task.source.stat().st_mtime_ns != said["modified"]:
            task.target.unlink(missing_ok=True)
            raise DataError(f"{task.source.name!r} was changed while it was being masked; run it again.")
        said["checksum"] = checksum_of(task.target)
        content = task.masking.check_value(task.source)
        if content is not None:
            said["content"] = content

    def complete(self) -> None:
        """The checksums of parts that are there without one: a run was killed, or was of an earlier version."""
        for part in self.made():
            if not self.sources[part].get("checksum"):
                self.sources[part]["checksum"] = checksum_of(self.folder / part)

    def changed(self, part: str) -> bool:
        """Whether a part that is there is not the one that was written."""
        said = self.sources[part].get("checksum")
        return bool(said) and said != checksum_of(self.folder / part)

    def agrees(self, task: Task) -> bool:
        """Whether the file of a part is the one that it was made of."""
        said = self.sources[self.part(task)]
        if said.get("file") != task.source.name:
            return False
        if "content" in said:
            return bool(said["content"] == task.masking.check_value(task.source))
        return bool(said.get("modified") == task.source.stat().st_mtime_ns)


def read_record(folder: Path) -> Record | None:
    """The record of a folder, if it has one."""
    path = folder / RECORD
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["maskwell"] != "run":
            raise ValueError
        sources = {str(part): dict(said) for part, said in found["sources"].items()}
        return Record(folder, str(found.get("run", "")), found["request"], found.get("state"), sources)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{RECORD!r} in {folder.name!r} is no record of a run; choose another folder.") from None


def agreed(folder: Path, masking: Masking, tasks: Sequence[Task]) -> Record:
    """The record of a run that begins or goes on; an error if the folder holds the parts of another request."""
    before = read_record(folder)
    own = Record(folder, fresh_key()[:8].hex(), json.loads(json.dumps(masking.request())))
    # What a run has not made binds nobody: a file that was refused may be mended, or taken away again.
    made = before.made() if before is not None else []
    by_part = {own.part(task): task for task in tasks}
    for part, task in by_part.items():
        own.sources[part] = {"file": task.source.name, "modified": task.source.stat().st_mtime_ns}
    if before is not None and made:
        own.run, own.state = before.run or own.run, before.state
        if before.request != own.request:
            raise DataError(
                f"{folder.name!r} holds the parts of another request (designs, columns, key or survey differ); choose "
                "another folder, or remove it."
            )
        for part in made:
            _refuse_another_source(before, part, by_part.get(part), masking)
            kept = ("content", "checksum")
            own.sources[part] |= {key: said for key, said in before.sources[part].items() if key in kept}
    there = [inside(file, folder) for file in data_in(folder)]
    there += [part for part, task in by_part.items() if task.target.exists()]
    foreign = next((part for part in there if part not in made), None)
    if foreign is not None:
        if any(task.source == (folder / foreign).resolve() for task in tasks):
            raise DataError("the output folder is also the input; choose another one.")
        raise DataError(
            f"{folder.name!r} holds a file {foreign!r} that no run has recorded; choose another folder, or "
            "move it elsewhere."
        )
    return own


def _refuse_another_source(before: Record, part: str, task: Task | None, masking: Masking) -> None:
    where = f"the source of {part!r} in {before.folder.name!r}"
    if task is None:
        raise DataError(
            f"{where} is not among the files any more; remove that part if its people are to be left out, or choose "
            "another folder."
        )
    if not before.agrees(task):
        known = "content" in before.sources[part]
        how = "has changed" if known else "has another modification time than when it was masked"
        copied = "" if known else " (a copy keeps its time with cp -p)"
        drawn = "" if masking.keyed else "; answers that are masked again, without a key, tell more than once"
        raise DataError(
            f"{where} {how}{copied}; remove that part to have it made again{drawn}, or choose another folder."
        )
    if before.changed(part):
        raise DataError(
            f"{part!r} in {before.folder.name!r} is not the part that was written there; remove it to have it made "
            "again, or choose another folder."
        )


def _record_or_none(folder: Path) -> Record | None:
    """The record of a folder that a run has made."""
    try:
        return read_record(folder)
    except DataError:
        return None


def recorded_parts(folder: Path) -> list[Path] | None:
    """The parts of a run that are in a folder, or in a partition of one; None if no run has made it."""
    record = _record_or_none(outermost(folder))
    if record is None:
        return None
    parts = (Path(inside(record.folder / part, folder)) for part in record.made())
    return [folder / part for part in sorted(parts, key=_place) if ".." not in part.parts]


def _place(part: Path) -> list[tuple[bool, str]]:
    """Where a part comes: files before the folders beside them."""
    return [(number + 1 < len(part.parts), name) for number, name in enumerate(part.parts)]


def require_whole(folder: Path, counted: Path | None = None) -> None:
    """An error if a run has left this folder before its end; folders that no run has made are as good as any.

    In ``counted``, which is the folder or a partition of it, every part must be there, and nothing else.
    """
    record = _record_or_none(folder)
    if record is None:
        return
    made, expected = len(record.made()), len(record.sources)
    if record.state == UNFINISHED or (counted is not None and made < expected and inside(counted, folder) == "."):
        raise ReportError(
            f"{folder.name!r} is unfinished: {made:,} of {expected:,} parts are there, and whether ids repeat between "
            "them may not have been checked. Run the same maskwell mask again, and count what it leaves."
        )
    if counted is None:
        return
    below = [part for part in record.sources if not inside(folder / part, counted).startswith("../")]
    gone = next((part for part in below if not (folder / part).exists()), None)
    if gone is not None:
        raise ReportError(f"{folder.name!r} lacks its part {gone!r}; run the same maskwell mask again to have it made.")
    _refuse_foreign(record, [*below, *(inside(file, folder) for file in data_in(counted))])


def _refuse_foreign(record: Record, names: Sequence[str]) -> None:
    """An error if some of these files are parts and others are not."""
    foreign = next((name for name in names if name not in record.sources), None)
    if foreign is not None and any(name in record.sources for name in names):
        raise ReportError(
            f"{foreign!r} in {record.folder.name!r} is no part of the run that made this folder, and might count "
            "people twice; move it elsewhere, or count it by itself."
        )


def require_recorded(folder: Path, files: Iterable[Path]) -> None:
    """An error if some of these files are parts of this folder's run, and others are not, or not as it wrote them."""
    record = _record_or_none(folder)
    if record is None:
        return
    names = [inside(file, folder) for file in files]
    _refuse_foreign(record, names)
    for part in names:
        if part in record.sources and (folder / part).exists() and record.changed(part):
            raise ReportError(
                f"{part!r} in {folder.name!r} is not the part that was written there; remove it, and run the same "
                "maskwell mask again."
            )
