"""``maskwell demo``: a survey from end to end."""

from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.output import JsonOption, emit_json, progress


def demo(
    folder: Annotated[
        Path, typer.Option("--output", "-o", "--folder", help="The folder for the pictures and the page.")
    ] = Path("maskwell-demo"),
    json: JsonOption = False,
) -> None:
    """Take two sensitive variables from plan to estimate.

    A picture and a page that show truth beside estimate are left in a folder, where maskwell[charts] is installed.

    \b
    Examples:
      maskwell demo
      maskwell demo -o somewhere --json
    """
    from maskwell.demo.run import run

    result = run(folder, (lambda line: None) if json else typer.echo, progress)
    if json:
        emit_json(figures(result.to_dict()))


def figures(found: dict[str, Any]) -> dict[str, Any]:
    """What ``--json`` prints of a demonstration."""
    files = found.pop("files")
    return {**found, "output": [str(Path(found["folder"]) / name) for name in files]}
