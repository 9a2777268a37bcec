"""Files that appear whole or not at all: written under another name and moved into place when complete."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def complete_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path that replaces ``path`` once the block has ended without an error."""
    with complete_files([path]) as (temporary,):
        yield temporary


@contextmanager
def complete_files(
    paths: Sequence[str | os.PathLike[str]], private: Sequence[str | os.PathLike[str]] = ()
) -> Iterator[list[Path]]:
    """Temporary paths that replace ``paths`` together once the block has ended without an error.

    Those that are ``private`` can be read by their owner alone. If one cannot be moved into place, those that were are
    taken back, and what they had replaced is put back.
    """
    targets = [Path(path) for path in paths]
    temporaries = [_beside(target, "part") for target in targets]
    kept = [_beside(target, "kept") for target in targets]
    secret = {Path(path) for path in private}
    try:
        for target, temporary in zip(targets, temporaries, strict=True):
            if target in secret:
                temporary.touch(mode=0o600)
        yield temporaries
        for temporary in temporaries:
            with open(temporary, "rb") as finished:
                os.fsync(finished.fileno())
        _move(temporaries, targets, kept)
    finally:
        for path in (*temporaries, *kept):
            path.unlink(missing_ok=True)


def _move(temporaries: Sequence[Path], targets: Sequence[Path], kept: Sequence[Path]) -> None:
    moved = 0
    try:
        for temporary, target, old in zip(temporaries, targets, kept, strict=True):
            if len(targets) > 1 and target.exists():
                shutil.copy2(target, old)
            os.replace(temporary, target)
            moved += 1
    except BaseException:
        for target, old in list(zip(targets, kept, strict=True))[:moved]:
            with contextlib.suppress(OSError):
                if old.exists():
                    os.replace(old, target)
                else:
                    target.unlink()
        raise


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.{ending}")
