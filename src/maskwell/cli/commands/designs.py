"""``maskwell designs``: which designs there are."""

import inspect

from maskwell.cli.shared.output import JsonOption, emit_json
from maskwell.designs import DESIGNS


def designs(json: JsonOption = False) -> None:
    """List the named designs and their sources.

    \b
    Examples:
      maskwell designs
      maskwell designs --json
    """
    from maskwell.designs.registry import REFERENCES

    listed = [
        {
            "name": name,
            "summary": entry.summary.replace("``", ""),
            "parameters": [p for p in inspect.signature(entry.function).parameters if p != "categories"],
            "references": [REFERENCES[key] for key in entry.references],
        }
        for name, entry in DESIGNS.items()
    ]
    if json:
        emit_json({"designs": listed})
    else:
        from maskwell.views.terminal.tables import designs_view, show

        show(designs_view(listed))
