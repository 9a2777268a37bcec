"""``maskwell audit`` and ``maskwell designs``: what a design gives, and which designs there are."""

from typing import Annotated, Any

import typer

from maskwell.cli.inputs import (
    CategoriesOption,
    CountOption,
    NameOption,
    SetOption,
    declared_categories,
    load_design,
    named_design,
)
from maskwell.cli.output import CommandError, JsonOption, emit_json
from maskwell.designs import DESIGNS, Design


def audit(
    file: Annotated[str | None, typer.Argument(help="A design file, or - for a pipe.")] = None,
    name: NameOption = None,
    settings: SetOption = None,
    categories: CategoriesOption = None,
    k: CountOption = None,
    json: JsonOption = False,
) -> None:
    """Say what privacy a design really gives.

    All figures come from the exact integers that its sampler uses.

    \b
    Examples:
      maskwell audit design.json
      maskwell audit --design rappor --set epsilon=1 --k 5
      maskwell audit --design from_matrix --set 'P=[["2/3","1/3"],["1/3","2/3"]]' --json
    """
    from maskwell.auditing import audit as audit_design

    if (file is None) == (name is None):
        raise CommandError("name a design file, or a design with --design NAME; one of the two.")
    if file is not None:
        if settings or categories is not None or k is not None:
            raise CommandError("a design file is complete: --set, --categories and --k belong to --design NAME.")
        design = load_design(file)
    else:
        assert name is not None
        design = named_design(name, declared_categories(categories, k), settings)
    result = audit_design(design)
    if json:
        emit_json(
            {
                "design": about(design),
                "epsilon": result.epsilon,
                "parity": result.parity,
                "exact_parity": result.exact_parity,
                "bayes_factor_bound": result.bayes_factor_bound,
                "added_variance": result.added_variance,
                "l1": result.l1,
                "average_security": result.average_security,
                "diversity": result.diversity,
                "demand_holds": result.demand_holds,
            }
        )
    else:
        from maskwell.views.tables import audit_view, show

        show(audit_view(result))


def about(design: Design) -> dict[str, Any]:
    """A design in short, for programs."""
    return {
        "name": design.name,
        "kind": design.kind,
        "k": design.k,
        "parameters": design.parameters,
        "demand": design.demand.to_dict() if design.demand else None,
        "fingerprint": design.fingerprint,
    }


def designs(json: JsonOption = False) -> None:
    """List the named designs and their sources.

    \b
    Examples:
      maskwell designs
      maskwell designs --json
    """
    import inspect

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
        emit_json(listed)
    else:
        from maskwell.views.tables import designs_view, show

        show(designs_view(listed))
