"""Services and databases that tests start: on free ports, in folders of their own, and stopped at the end."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg

from tools.system_parts import postgres_programs


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server:
    """A running `maskwell serve`."""

    process: subprocess.Popen[str]
    url: str
    database: str
    administrator_token: str
    log: Path

    @property
    def processor_seconds(self) -> float:
        """How long the processor worked for it."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def mebibytes(self) -> float:
        """The memory that it holds."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    @property
    def most_mebibytes(self) -> float:
        """The most memory that it ever held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """End it as an operator would; gives its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


_TOKEN = re.compile(r"mw_[A-Za-z0-9_-]{43}")


def start_server(
    database: str,
    folder: Path,
    *options: str,
    port: int | None = None,
    token: str = "",
    most_file_bytes: int | None = None,
    environment: dict[str, str] | None = None,
    program: tuple[str, ...] = ("-m", "maskwell"),
) -> Server:
    """Start `maskwell serve` and wait until it answers; ``most_file_bytes`` is a disk that is full from there on."""
    port = port or free_port()
    out, log = folder / f"serve-{port}.out", folder / f"serve-{port}.log"
    command = [sys.executable, *program, "serve", "--database", database, "--port", str(port), *options]
    with out.open("a") as said, log.open("a") as logged:
        around = {**os.environ, **(environment or {})}
        process = subprocess.Popen(command, stdout=said, stderr=logged, text=True, env=around)
    if most_file_bytes is not None:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (most_file_bytes, most_file_bytes))
    url = f"http://127.0.0.1:{port}"
    wait_for(url, process, log)
    found = _TOKEN.search(out.read_text())
    return Server(process, url, database, found.group() if found else token, log)


def wait_for(url: str, process: subprocess.Popen[str], log: Path, seconds: float = 60) -> None:
    """Until the service is healthy; an error with its log if it ends first."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the service ended with {process.returncode}: {log.read_text()}")
        try:
            if httpx.get(f"{url}/healthz", timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.05)
    raise RuntimeError("the service did not start")


@contextmanager
def server(
    database: str, folder: Path, *options: str, token: str = "", program: tuple[str, ...] = ("-m", "maskwell")
) -> Iterator[Server]:
    """A service for the length of a block."""
    running = start_server(database, folder, *options, token=token, program=program)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()


def new_database(url: str, name: str = "") -> str:
    """The address of another database beside one of PostgreSQL; it is empty."""
    name = name or f"new{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{url.rpartition('/')[0]}/{name}"


class Postgres:
    """A PostgreSQL server of its own, with an empty database; it can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        programs = postgres_programs()
        assert programs is not None, "PostgreSQL is missing; run make system"
        self.programs, self.folder, self.port = programs, folder, free_port()
        self._as_postgres: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            self._as_postgres = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-A", "trust", "-U", "postgres", "--encoding=UTF8", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def new_database(self, name: str) -> str:
        """The address of another database, empty as well."""
        return new_database(self.url, name)

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", f"-p {self.port} -k {self.folder}", "start")

    def stop(self) -> None:
        """Stop it at once, as a power cut would."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    @property
    def process_id(self) -> int:
        """The process that starts those of connections."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    @property
    def is_running(self) -> bool:
        """Whether it takes connections, or is about to."""
        try:
            self._run("pg_ctl", "status")
        except subprocess.CalledProcessError:
            return False
        return True

    def kill_backends(self) -> None:
        """kill -9 the processes that serve connections; the server then recovers as after a crash."""
        with psycopg.connect(self.url) as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            found = [pid for (pid,) in connection.execute(query)]
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_postgres, str(self.programs / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server for the length of a block."""
    folder = Path(tempfile.mkdtemp(prefix="maskwell-postgres-"))
    try:
        with _running(folder) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(folder: Path) -> Iterator[Postgres]:
    running = Postgres(folder)
    try:
        yield running
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            running.stop()


class SmallDisk:
    """A disk of its own under PostgreSQL, with room left for a little more.

    It is a mounted one where that is allowed; elsewhere the server's files cannot grow beyond a size, which is told in
    the same way.
    """

    def __init__(self, folder: Path, bytes_left: int) -> None:
        self._bytes_left = bytes_left
        mount = ["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "tmpfs", str(folder)]
        self.is_mounted = os.geteuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0
        self.folder, self._filler = folder, folder / "filler"

    def fill(self, cluster: Postgres) -> None:
        """Leave so many bytes and no more."""
        if self.is_mounted:
            free = shutil.disk_usage(self.folder).free - self._bytes_left
            with self._filler.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, free)
        else:
            resource.prlimit(cluster.process_id, resource.RLIMIT_FSIZE, (self._bytes_left, self._bytes_left))

    def make_room(self, cluster: Postgres) -> None:
        """As an operator would: room first, and then the server, if it has ended."""
        if self.is_mounted:
            self._filler.unlink()
        else:
            cluster.stop()
        if not cluster.is_running:
            cluster.start()

    def close(self) -> None:
        """Give it back."""
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@contextmanager
def postgres_on_a_small_disk(bytes_left: int) -> Iterator[tuple[Postgres, SmallDisk]]:
    """A PostgreSQL server on a disk that can be filled."""
    folder = Path(tempfile.mkdtemp(prefix="maskwell-postgres-"))
    disk = SmallDisk(folder, bytes_left)
    try:
        with _running(folder) as running:
            yield running, disk
    finally:
        disk.close()
        shutil.rmtree(folder, ignore_errors=True)
