"""Files that appear whole or not at all, in folders where others write too."""

import errno
import os
import resource
import stat
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import maskwell as mw
from maskwell.microdata import write
from maskwell.whole_files import complete_file, complete_files

NOBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes_of_all(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): mode(path) for path in folder.rglob("*")}


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


# Nobody else can reach what is not complete.


def test_what_is_not_complete_stands_where_nobody_else_can_reach_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    names = []
    with umask(0):
        for _ in range(2):
            with complete_files([tmp_path / "a", tmp_path / "secret"], [tmp_path / "secret"]) as (a, secret):
                (hidden,) = (path for path in tmp_path.iterdir() if path.name.startswith("."))
                assert mode(hidden) == 0o700
                assert not hidden.is_symlink()
                names.append(hidden.name)
                for file, own in ((a, 0o666), (secret, 0o600)):
                    # From the first byte on.
                    assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == own
                    file.write(b"content")
    assert names[0] != names[1]
    assert str(os.getpid()) not in names[0]
    assert modes_of_all(tmp_path) == {"a": 0o666, "secret": 0o600}


def test_files_that_lie_in_wait_are_not_touched(tmp_path: Path) -> None:
    """Whatever name a temporary file had before, or will have, a link there leads nowhere."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    shared = tmp_path / "shared"
    shared.mkdir()
    for ending in ("part", "kept"):
        (shared / f".plan.json.{os.getpid()}.{ending}").symlink_to(victim)
    (shared / "plan.json").write_text("old")
    (shared / "other").write_text("old")
    with complete_files([shared / "plan.json", shared / "other"], [shared / "plan.json"]) as files:
        for file in files:
            file.write(b"new")
    assert victim.read_text() == "mine"
    assert (shared / "plan.json").read_bytes() == b"new"
    assert not (shared / "plan.json").is_symlink()


def test_somebody_who_exchanges_the_hidden_folder_gets_nothing(tmp_path: Path) -> None:
    """In a folder that others may write to, they can rename what is there, but not reach into it."""
    with complete_files([tmp_path / "a", tmp_path / "b"]) as (a, b):
        (hidden,) = tmp_path.iterdir()
        aside = tmp_path / "aside"
        hidden.rename(aside)
        hidden.mkdir()
        for name in ("0", "1"):
            (hidden / name).write_text("false")
        a.write(b"true")
        b.write(b"true")
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() == "true"


ATTACK = """
    import os, sys
    from pathlib import Path
    if os.getuid() == 0:
        os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
    print(os.getuid(), flush=True)
    sys.stdin.readline()
    seen = b""
    for path in Path(sys.argv[1]).rglob("*"):
        try:
            seen += path.read_bytes()
        except OSError:
            pass
    print(b"public" in seen, b"secret" in seen, flush=True)
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody can reach and write to."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_another_user_cannot_read_a_private_file_while_it_is_written_or_kept(shared: Path) -> None:
    """As another user where this one may become another; else as this one, who finds it in the hidden folder."""
    plan, beside = shared / "plan.json", shared / "beside"
    beside.write_text("public")
    plan.write_text("old secret")
    plan.chmod(0o600)
    spy = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ATTACK.format(nobody=NOBODY)), str(shared)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert spy.stdin
    assert spy.stdout
    alike = int(spy.stdout.readline()) == os.getuid()
    with complete_files([plan, shared / "other"], [plan]) as (secret, _):
        secret.write(b"new secret")
        secret.flush()
        found, _ = spy.communicate("\n")
        assert found == f"True {alike}\n"
    assert mode(plan) == 0o600
    assert plan.stat().st_uid == os.getuid()


# What they replace.


def test_a_file_is_no_more_open_than_the_one_it_replaces(tmp_path: Path) -> None:
    with umask(0o022):
        for before, after in ((0o600, 0o600), (0o640, 0o640), (0o666, 0o644), (0o400, 0o600)):
            path = tmp_path / "file"
            path.write_text("old")
            path.chmod(before)
            with complete_file(path) as file:
                file.write(b"new")
            assert mode(path) == after
        with complete_file(tmp_path / "fresh") as file:
            file.write(b"new")
        assert mode(tmp_path / "fresh") == 0o644


def failing_on(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
    """Let the so-many-th file not be moved into place."""
    real, calls = os.replace, []

    def replace(*args: object, **options: object) -> None:
        calls.append(args)
        if len(calls) == number:
            raise error
        real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.parametrize("links", [True, False], ids=["two names", "one name"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_all_are_replaced_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException, links: bool
) -> None:
    """What was there is put back as it was: the same file, with its mode; also where a file cannot have two names."""
    paths = [tmp_path / name for name in "abc"]
    for path in paths[:2]:
        path.write_text(f"old {path.name}")
        path.chmod(0o640)
    numbers = [path.stat().st_ino for path in paths[:2]]

    def no_link(*args: object, **options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", no_link)
    failing_on(monkeypatch, number, error)
    with pytest.raises(type(error)), complete_files(paths) as files:  # noqa: PT012
        for file in files:
            file.write(b"new")
    assert sorted(tmp_path.iterdir()) == paths[:2]
    assert [path.read_text() for path in paths[:2]] == ["old a", "old b"]
    assert [path.stat().st_ino for path in paths[:2]] == numbers
    assert set(modes_of_all(tmp_path).values()) == {0o640}


@pytest.mark.parametrize("links", [True, False], ids=["two names", "one name"])
def test_what_is_kept_meanwhile_is_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    secret, other = tmp_path / "secret", tmp_path / "other"
    secret.write_text("old")
    secret.chmod(0o600)
    number, seen = secret.stat().st_ino, []
    real = os.replace

    def look(*args: object, **options: object) -> None:
        seen.extend((path.stat().st_ino, mode(path)) for path in tmp_path.rglob("*.kept"))
        real(*args, **options)  # type: ignore[arg-type]

    def no_link(*args: object, **options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(os, "replace", look)
    with complete_files([secret, other]):
        pass
    assert set(seen) == {(number, 0o600)}


# Targets that are no plain files.


def targets(folder: Path) -> dict[str, Path]:
    """No real device: where the refusal fails, it would be replaced for everybody on this machine."""
    (folder / "file").write_text("mine")
    (folder / "link").symlink_to(folder / "file")
    (folder / "dangling").symlink_to(folder / "nothing")
    (folder / "output").symlink_to("/dev/stdout")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    return {name: folder / name for name in ("link", "dangling", "output", "folder", "pipe")}


@pytest.mark.parametrize("kind", ["link", "dangling", "output", "folder", "pipe"])
def test_only_plain_files_are_replaced(tmp_path: Path, kind: str) -> None:
    target = targets(tmp_path)[kind]
    before, there = target.lstat(), sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match=r"it is a (link|folder|device)"), complete_file(target):
        pass
    assert (target.lstat().st_ino, target.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == there


WRITERS: dict[str, Callable[[Path], None]] = {
    ".parquet": lambda path: mw.designs.minimax(9, epsilon=1).mask([1, 2]).write(path),
    ".arrow": lambda path: mw.designs.minimax(9, epsilon=1).mask([1, 2]).write(path),
    ".csv": lambda path: mw.designs.minimax(9, epsilon=1).mask([1, 2]).write(path),
    ".sav": lambda path: write({"a": [1, 2]}, path),
    ".dta": lambda path: write({"a": [1, 2]}, path),
    ".feather": lambda path: write({"a": [1, 2]}, path),
    ".csv.gz": lambda path: write({"a": [1, 2]}, path),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_every_writer_refuses_in_one_line_and_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "file").write_text("mine")
    wrong = [tmp_path / f"link{suffix}", tmp_path / f"folder{suffix}", tmp_path / f"{'x' * 300}{suffix}"]
    wrong[0].symlink_to(tmp_path / "file")
    wrong[1].mkdir()
    there = sorted(tmp_path.iterdir())
    for path in (*wrong, tmp_path / "nowhere" / f"file{suffix}"):
        with pytest.raises(mw.MaskwellError) as caught:
            WRITERS[suffix](path)
        assert "\n" not in str(caught.value)
        assert ".maskwell-" not in str(caught.value)
    assert sorted(tmp_path.iterdir()) == there
    assert (tmp_path / "file").read_text() == "mine"
    longest = tmp_path / f"{'y' * (255 - len(suffix))}{suffix}"
    if suffix != ".csv":  # whose design beside it would have a longer name
        WRITERS[suffix](longest)
        assert longest.exists()


# Disks that are full.


@contextmanager
def small_files(limit: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


TABLE = pa.table({"number": list(range(60_000)), "text": [f"text {i}" for i in range(60_000)]})
LARGE: dict[str, Callable[[Path], None]] = {
    suffix: (lambda path: mw.designs.minimax(99, epsilon=1).mask([1] * 30_000, seed=1).write(path))
    for suffix in (".parquet", ".arrow", ".csv")
} | {suffix: (lambda path: write(TABLE, path)) for suffix in (".pq", ".feather", ".tsv", ".dta", ".sav", ".csv.gz")}


@pytest.mark.parametrize("suffix", LARGE)
def test_a_full_disk_is_said_in_one_line_and_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_text("old")
    with small_files(20_000), pytest.raises(mw.MaskwellError, match="could not be written") as caught:
        LARGE[suffix](path)
    assert "\n" not in str(caught.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    LARGE[suffix](path)
    assert path.stat().st_size > 20_000


def test_a_folder_that_cannot_be_written_to(shared: Path) -> None:
    """As a user without rights over it: root has them all, and becomes somebody else."""
    source = f"""
        import os
        from maskwell.whole_files import complete_file
        if os.getuid() == 0:
            os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
        try:
            with complete_file({str(shared / "file")!r}):
                print("written")
        except OSError as error:
            print(error.strerror, error.filename)
    """
    shared.chmod(0o555)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], env=environment, capture_output=True, text=True, check=False
    )
    shared.chmod(0o755)
    assert (ran.stdout, ran.stderr) == ("Permission denied file\n", "")
