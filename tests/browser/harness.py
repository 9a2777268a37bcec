"""Run the browser's code where it runs: in node, and in Chromium on pages that a server of our own gives out."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.npm import npm_part as installed_part

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHIPPED = ROOT / "src" / "maskwell" / "collect" / "browser"
MASK_JS = SHIPPED / "mask.js"

# No background traffic, and no sandbox, which root cannot have.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
]


def node_program() -> str:
    """Where Node.js is."""
    program = shutil.which("node")
    assert program, "Node.js is missing; `make system` installs it"
    return program


def node(script: str, *arguments: object, given: str | None = None) -> Any:
    """What a script of this folder prints as JSON; it is given a text as its input."""
    command = [node_program(), str(HERE / script), *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def npm_part(path: str) -> Path:
    """A file of an npm package that package-lock.json pins; the packages are installed when they are first needed."""
    return installed_part(HERE, path)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        return None


@contextmanager
def served(folder: Path = ROOT) -> Iterator[int]:
    """The files of a folder on a free port of this machine, by every name that it has."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def browser(proxy: str | None = None) -> Iterator[Any]:
    """Chromium, driven by Playwright; ``page.test`` is a host that is no secure context.

    With a proxy it reaches everything through that alone, this machine included.
    """
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    assert program, "Chromium is missing; `make system` installs it"
    with sync_playwright() as playwright:
        flags = [*_FLAGS, "--host-resolver-rules=MAP page.test 127.0.0.1"]
        through: Any = {"server": proxy, "bypass": "<-loopback>"} if proxy else None
        chromium = playwright.chromium.launch(executable_path=program, args=flags, proxy=through)
        try:
            yield chromium
        finally:
            chromium.close()
