"""Reports and stored tallies by column, from files, patterns and folders."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from maskwell.cli.shared.output import CommandError
from maskwell.reports.tally_storage import SUFFIX

if TYPE_CHECKING:
    from maskwell.designs import Design
    from maskwell.engines.contract import Tallies

STORED = f".tally{SUFFIX}"


def is_stored(path: Path) -> bool:
    """Whether this is a stored tally, by its name."""
    return path.name.lower().endswith(STORED)


def stored_in(names: Sequence[str]) -> list[Path]:
    """The stored tallies among files and folders; empty if there are none."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        found += (
            sorted(p for p in path.iterdir() if is_stored(p)) if path.is_dir() else [path] if is_stored(path) else []
        )
    return found


def column_of(path: Path) -> str:
    """The column that a stored tally is of, by the name of its file."""
    return path.name[: -len(STORED)]


def count_reports(
    names: Sequence[str],
    designs: "dict[str, Design] | None" = None,
    patterns: bool | None = None,
    show: Callable[[float], None] = lambda done: None,
    only: str | None = None,
) -> "Tallies":
    """The tallies of all files by column; of one column if ``only`` names it. Designs come from sealed files."""
    from maskwell.engines import paths
    from maskwell.engines.contract import Counting

    paths.refuse_unfinished(list(names))
    files = paths.expand(list(names))
    found = designs or paths.designs_in(files)
    if only is not None:
        if only not in found:
            raise CommandError(f"--column {only!r} is not among the masked columns: {', '.join(found)}.")
        found = {only: found[only]}
    counting = Counting(found, patterns)

    def each() -> "Iterator[Tallies]":
        for number, path in enumerate(files):
            yield paths.tally_file(path, counting)
            show((number + 1) / len(files))

    return counting.total(each())


def merge_stored(files: Sequence[Path], *, different_people: bool = False) -> "Tallies":
    """Stored tallies, merged by the column that their names say."""
    from maskwell.reports.tally import Tally

    by_column: dict[str, list[Tally]] = {}
    for path in files:
        by_column.setdefault(column_of(path), []).append(Tally.read(path))
    return {column: Tally.merge(tallies, different_people=different_people) for column, tallies in by_column.items()}


def store(tallies: "Tallies", folder: str) -> list[Path]:
    """Write each tally into a folder under the name of its column."""
    target = Path(folder)
    if not target.resolve().parent.is_dir():
        raise CommandError(f"there is no folder to make {folder!r} in; create it first.")
    for column in tallies:
        if "/" in column or column.startswith("."):
            raise CommandError(f"column {column!r} cannot be the name of a file; rename it first.")
    target.mkdir(exist_ok=True)
    written = []
    for column, tally in tallies.items():
        written.append(target / f"{column}{STORED}")
        tally.write(written[-1])
    return written
