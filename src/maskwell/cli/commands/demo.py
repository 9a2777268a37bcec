"""``maskwell demo``: a survey from end to end."""

from pathlib import Path
from typing import Annotated

import typer

from maskwell.cli.shared.output import JsonOption, emit_json


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Where the picture and the page go.")] = Path(
        "maskwell-demo"
    ),
    json: JsonOption = False,
) -> None:
    """Take two sensitive variables from plan to estimate.

    A picture and a page that show truth beside estimate are left in a folder.

    \b
    Examples:
      maskwell demo
      maskwell demo --folder somewhere --json
    """
    from maskwell.demo.run import run

    result = run(folder, (lambda line: None) if json else typer.echo)
    if json:
        found = result.to_dict()
        written = [str(Path(found["folder"]) / name) for name in found.pop("files")]
        emit_json({**found, "output": written})
