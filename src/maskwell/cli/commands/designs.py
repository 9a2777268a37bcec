"""``maskwell designs``: which designs there are."""

import inspect
import json as json_text
import shlex
from fractions import Fraction
from typing import Annotated, Any

import typer

from maskwell.cli.shared.output import CommandError, JsonOption, emit_json
from maskwell.designs import DESIGNS
from maskwell.plain_text import among, visible_lines


def designs(
    name: Annotated[str | None, typer.Argument(help="One design: its definition and calls.", metavar="NAME")] = None,
    json: JsonOption = False,
) -> None:
    """List the named designs and their sources, or say how one is defined and called.

    \b
    Examples:
      maskwell designs
      maskwell designs forced_response
      maskwell designs --json
    """
    from maskwell.designs.registry import REFERENCES

    if name is not None and name not in DESIGNS:
        raise CommandError(f"{name!r} is no design; {among(name, list(DESIGNS))}.")
    listed = [
        {
            "name": each,
            "summary": entry.summary.replace("``", ""),
            "parameters": [p for p in inspect.signature(entry.function).parameters if p != "categories"],
            "references": [REFERENCES[key] for key in entry.references],
        }
        for each, entry in DESIGNS.items()
        if name in (None, each)
    ]
    if json:
        emit_json({"designs": listed})
    else:
        from maskwell.views.terminal.tables import designs_view, show

        show(designs_view(listed))
        if name is not None:
            typer.echo("\n" + visible_lines(_details(name).splitlines()))


def _details(name: str) -> str:
    """What the design's docstring says below its summary, and a call for each of its examples."""
    function = DESIGNS[name].function
    text, taken = inspect.getdoc(function) or "", {*inspect.signature(function).parameters} - {"categories"}
    calls = []
    for example in DESIGNS[name].examples:
        settings = " ".join(
            f"--set {shlex.quote(f'{key}={_plain(value)}')}" for key, value in example.items() if key in taken
        )
        calls.append(f"maskwell plan --design {name} --categories LABEL,LABEL,… {settings}".rstrip())
    return "\n".join([text.partition("\n\n")[2], "", *dict.fromkeys(calls)]).strip()


def _plain(value: Any) -> str:
    """A value as ``--set`` reads it."""
    return str(value) if isinstance(value, (Fraction, str)) else json_text.dumps(value, default=str)
