"""The reference of the command line, from the program's own help."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from typer.main import get_command


def reference() -> str:
    """Every command as Markdown: what it does, its examples, and its options in a table."""
    from maskwell.cli.program import app

    program: Any = get_command(app)
    parts = [_prose(program.help)]
    for name, command in program.commands.items():
        context = command.context_class(command, info_name=f"maskwell {name}")
        parts += [f"## maskwell {name}", _usage(name, command, context), _prose(command.help), _table(command, context)]
    return "\n\n".join(part for part in parts if part)


def _prose(text: str) -> str:
    """Paragraphs; those that keep their lines (after ``\\b``) are code, but for a heading."""
    parts = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.splitlines()
        if lines[0] != "\b":
            parts.append(_escaped(" ".join(lines)))
            continue
        heading = lines[1:2] if len(lines) > 1 and lines[1].endswith(":") and not lines[1].startswith(" ") else []
        parts += [_escaped(line) for line in heading]
        parts.append("```text\n" + inspect.cleandoc("\n".join(["", *lines[1 + len(heading) :]])) + "\n```")
    return "\n\n".join(parts)


def _usage(name: str, command: Any, context: Any) -> str:
    return f"```text\n{' '.join(['maskwell', name, *command.collect_usage_pieces(context)])}\n```"


def _table(command: Any, context: Any) -> str:
    """Arguments and options, each with its help."""
    records = [param.get_help_record(context) for param in command.get_params(context)]
    rows = [f"| `{_plain(names)}` | {_cell(said)} |" for names, said in filter(None, records)]
    return "\n".join(["| | |", "|---|---|", *rows])


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text in which nothing is a mark of Markdown but backticks."""
    return "".join(f"\\{mark}" if mark in "*_<>[]$" and inside else mark for mark, inside in _outside_code(text))


def _outside_code(text: str) -> Iterator[tuple[str, bool]]:
    outside = True
    for mark in text:
        outside ^= mark == "`"
        yield mark, outside
