"""Files that appear whole or not at all: written under another name and moved into place when complete.

Others may write in the folder as well. What is not complete therefore stands in a folder of its own, with a random name
and open to its owner alone, and is reached through that folder's handle: nobody can put a file or a link of theirs in
its place. A target that is a link is refused, never followed, and so is anything but a plain file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PUBLIC, _PRIVATE = 0o666, 0o600
_KEPT = ".kept"


@contextmanager
def complete_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[BinaryIO]:
    """An open binary file that becomes ``path`` once the block has ended without an error."""
    with complete_files([path], [path] if private else []) as (file,):
        yield file


@contextmanager
def complete_files(
    paths: Sequence[str | os.PathLike[str]], private: Sequence[str | os.PathLike[str]] = ()
) -> Iterator[list[BinaryIO]]:
    """Open binary files that become ``paths`` together once the block has ended without an error.

    Those that are ``private`` can be read by their owner alone, from their first byte on; the others have the mode that
    the process gives its files, and no more than the file that they replace. If one cannot be moved into place, those
    that were are taken back, and what they had replaced is put back.
    """
    secret = {Path(path) for path in private}
    for path in paths:
        check_target(path)
    with ExitStack() as stack:
        folders: dict[Path, _Workshop] = {}
        drafts: list[_Draft] = []
        files: list[BinaryIO] = []
        for number, target in enumerate(map(Path, paths)):
            with _errors_about(target.name):
                if target.parent not in folders:
                    folders[target.parent] = stack.enter_context(_workshop(target.parent))
                drafts.append(_Draft(folders[target.parent], str(number), target.name, target in secret))
                files.append(stack.enter_context(drafts[-1].opened()))
        yield files
        for draft, file in zip(drafts, files, strict=True):
            with _errors_about(draft.target):
                draft.finish(file)
        _move(drafts)
        for workshop in folders.values():
            # Some file systems cannot; the files are whole all the same.
            with contextlib.suppress(OSError):
                os.fsync(workshop.folder)


def check_target(path: str | os.PathLike[str]) -> None:
    """An OSError if a target cannot be replaced by a file, or should not be."""
    target = Path(path)
    with _errors_about(target.name):
        try:
            mode = os.lstat(target).st_mode
        except FileNotFoundError:
            return
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, "it is a link, and links are not followed; name the file that it points to")
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a device, pipe or socket, which a file would replace; name a file")


def system_path(file: BinaryIO) -> str:
    """A path to an open file, for packages that open it themselves."""
    file.flush()
    return f"/dev/fd/{file.fileno()}"


@dataclass(frozen=True)
class _Workshop:
    """Handles of a target's folder and of the hidden one inside it where its files are made."""

    folder: int
    hidden: int


@contextmanager
def _workshop(folder: Path) -> Iterator[_Workshop]:
    with ExitStack() as stack:
        handle = os.open(folder, _OPEN_FOLDER)
        stack.callback(os.close, handle)
        # The name first, then what removes it, then the folder: an interrupt may come between any two of them. Making a
        # folder is exclusive, so a name that somebody guessed is refused.
        name = Path(tempfile.mktemp(prefix=".maskwell-", dir=folder)).name
        stack.callback(_clear_away, name, handle)
        os.mkdir(name, 0o700, dir_fd=handle)
        hidden = os.open(name, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=handle)
        stack.callback(os.close, hidden)
        status = os.fstat(hidden)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise OSError(errno.EPERM, "somebody else changes its folder meanwhile; write to another")
        yield _Workshop(handle, hidden)


@contextmanager
def _errors_about(target: str) -> Iterator[None]:
    """The system's errors by the name that the caller knows."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, target) from None


def _clear_away(name: str, folder: int) -> None:
    """Remove a hidden folder and the drafts in it; one that still keeps somebody's file stays."""
    with contextlib.suppress(OSError), ExitStack() as stack:
        hidden = os.open(name, _OPEN_FOLDER | os.O_NOFOLLOW, dir_fd=folder)
        stack.callback(os.close, hidden)
        for draft in os.listdir(hidden):
            if not draft.endswith(_KEPT):
                os.unlink(draft, dir_fd=hidden)
        os.rmdir(name, dir_fd=folder)


@dataclass(frozen=True)
class _Draft:
    """One file that is being made, and what it is to replace."""

    workshop: _Workshop
    name: str
    target: str
    private: bool

    @property
    def kept(self) -> str:
        """Where what it replaces is kept until all files are in place."""
        return f"{self.name}{_KEPT}"

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        hidden = self.workshop.hidden
        handle = os.open(self.name, _CREATE, _PRIVATE if self.private else _PUBLIC, dir_fd=hidden)
        file = os.fdopen(handle, "w+b")
        try:
            yield file
        finally:
            # A disk that is full has been complained about; what is in the buffer cannot be written now either.
            with contextlib.suppress(OSError):
                file.close()
            for name in (self.name, self.kept):
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=hidden)

    def finish(self, file: BinaryIO) -> None:
        """Everything on the disk, with no more rights than the file that was there before."""
        file.flush()
        with contextlib.suppress(FileNotFoundError):
            before = os.stat(self.target, dir_fd=self.workshop.folder, follow_symlinks=False).st_mode
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if stat.S_ISREG(before) and mode & ~(before | 0o600):
                os.fchmod(file.fileno(), mode & (before | 0o600))
        os.fsync(file.fileno())

    def keep_replaced(self) -> None:
        """Set aside what stands in the target's place: the file itself and no copy, so that its mode stays."""
        folder, hidden = self.workshop.folder, self.workshop.hidden
        with contextlib.suppress(FileNotFoundError):
            try:
                os.link(self.target, self.kept, src_dir_fd=folder, dst_dir_fd=hidden, follow_symlinks=False)
            except FileNotFoundError:
                raise
            except OSError:  # where a file cannot have two names
                if not stat.S_ISREG(os.stat(self.target, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise
                os.rename(self.target, self.kept, src_dir_fd=folder, dst_dir_fd=hidden)

    def move(self) -> None:
        os.replace(self.name, self.target, src_dir_fd=self.workshop.hidden, dst_dir_fd=self.workshop.folder)

    def take_back(self) -> None:
        folder, hidden = self.workshop.folder, self.workshop.hidden
        with contextlib.suppress(OSError):
            try:
                os.replace(self.kept, self.target, src_dir_fd=hidden, dst_dir_fd=folder)
            except FileNotFoundError:
                if not _exists(self.name, hidden):  # it was moved
                    os.unlink(self.target, dir_fd=folder)


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _move(drafts: Sequence[_Draft]) -> None:
    begun: list[_Draft] = []
    try:
        for draft in drafts:
            begun.append(draft)
            with _errors_about(draft.target):
                if len(drafts) > 1:
                    draft.keep_replaced()
                draft.move()
    except BaseException:
        for draft in begun:
            draft.take_back()
        raise
