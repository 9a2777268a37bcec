"""Run a page from top to bottom, as a reader would: its Python, its commands and its pictures, in one folder.

Whatever Python prints must stand below it as a text block; what commands print, where a text block stands there.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.docs_site.blocks import PICTURE, RUN, Block, blocks

# Characters by which a shell does more than call a program.
_SHELL = set("|<>$&;*")
_WIDTH = "110"


class PageError(Exception):
    """A page that does not do what it shows."""


@dataclass
class Ran:
    """What came of a page: a chart for each of its pictures, and the commands that it ran."""

    charts: list[Any] = field(default_factory=list)
    commands: list[list[str]] = field(default_factory=list)


def run(text: str, name: str, folder: Path) -> Ran:
    """Run every block of a page that is not excused; ``PageError`` names the first one that is not as shown."""
    ran = Ran()
    for block, printed in _steps(text, name, folder, ran):
        # What commands say about their files is shown where it matters.
        if block.output is not None or block.language != "sh":
            _compare(printed, block.output, f"{name}, line {block.lines[0] + 1}")
    return ran


def with_outputs(text: str, name: str, folder: Path) -> str:
    """The page with what its blocks print now in place of what stood below them."""
    lines = text.splitlines()
    for block, printed in reversed(list(_steps(text, name, folder, Ran()))):
        start, end = block.lines
        code = [f"```{block.language}", *block.code.splitlines(), "```"]
        wanted = printed.strip() and (block.output is not None or block.language != "sh")
        shown = ["", "```text", *_stripped(printed), "```"] if wanted else []
        lines[start:end] = code + shown
    return "\n".join(lines) + "\n"


def _steps(text: str, name: str, folder: Path, ran: Ran) -> Iterator[tuple[Block, str]]:
    """Each block that is run, with what it prints."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(text):
        if block.excuse or block.language not in RUN:
            continue
        where = f"{name}, line {block.lines[0] + 1}"
        with _inside(folder), _captured() as printed:
            if block.language == "sh":
                ran.commands += _commands(block.code, where, printed)
            else:
                chart = _python(block, where, names)
                ran.charts += [chart] if block.language == PICTURE else []
        yield block, printed.text()


def _compare(printed: str, shown: str | None, where: str) -> None:
    if _stripped(printed) != _stripped(shown or ""):
        raise PageError(f"{where}: the block prints\n{printed}\nand below it stands\n{shown or 'nothing'}")


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _python(block: Block, where: str, names: dict[str, Any]) -> Any:
    """Run Python; of a picture, the value of its last line."""
    tree = ast.parse(block.code, where)
    ending = tree.body[-1] if block.language == PICTURE else None
    try:
        if ending is None:
            exec(compile(tree, where, "exec"), names)
            return None
        if not isinstance(ending, ast.Expr):
            raise PageError(f"{where}: the last line of a picture must be a chart.")
        exec(compile(ast.Module(tree.body[:-1], []), where, "exec"), names)
        return eval(compile(ast.Expression(ending.value), where, "eval"), names)
    except Exception as error:
        raise PageError(f"{where}: {type(error).__name__}: {error}") from error


def _commands(code: str, where: str, printed: _Printed) -> list[list[str]]:
    """Run the lines of a shell; ours in this process, which is faster."""
    from maskwell.cli import main

    ran = []
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] == "maskwell" and not _SHELL & set("".join(_unquoted(line))):
            if main(words[1:]) != 0:
                raise PageError(f"{where}: {line}\n{printed.text()}")
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", line],
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise PageError(f"{where}: {line}\n{done.stderr}")
            sys.stdout.write(done.stdout)
        ran.append(words)
    return ran


def _unquoted(line: str) -> Iterator[str]:
    """What a shell would read for itself: the text outside of quotes."""
    quote = ""
    for character in line:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        else:
            yield character


class _Printed(io.TextIOWrapper):
    """Standard output as a file of bytes that can be read again."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


@contextlib.contextmanager
def _captured() -> Iterator[_Printed]:
    printed = _Printed()
    with contextlib.redirect_stdout(printed):
        yield printed


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Work in a folder, with a terminal of a known width and without colours."""
    before = {name: os.environ.get(name) for name in ("COLUMNS", "NO_COLOR")}
    os.environ.update(COLUMNS=_WIDTH, NO_COLOR="1")
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
