"""A planned design as the lines that plan it again, exactly."""

from __future__ import annotations

import inspect
import shlex
from fractions import Fraction
from typing import Any

from maskwell.demands import LDP, AverageSecurity, BetaFactor, Demand, LocalDiversity, RhoPrivacy
from maskwell.designs import DESIGNS
from maskwell.designs.base import Design
from maskwell.planning import plan


def python_plan(design: Design, categories: str | None = None) -> str:
    """Python that makes this design; ``categories`` is an expression for its labels, if they stand elsewhere.

    >>> from maskwell import LDP, plan
    >>> print(python_plan(plan(["yes", "no"], LDP(1.5), n=100)))
    import maskwell as mw
    <BLANKLINE>
    design = mw.plan(['yes', 'no'], mw.LDP(epsilon=1.5), n=100)
    print(mw.audit(design).summary())
    """
    call = python_design(design, categories)
    lines = ["import maskwell as mw", *(["from fractions import Fraction"] if "Fraction(" in call else [])]
    return "\n".join([*lines, "", f"design = {call}", "print(mw.audit(design).summary())"])


def python_design(design: Design, categories: str | None = None) -> str:
    """The call that makes this design."""
    labels = categories or repr(list(design.categories))
    n = design.parameters.get("planned_n")
    if _is_planned(design):
        assert design.demand is not None
        people = "" if n is None else f", n={n}"
        return f"mw.plan({labels}, mw.{_python(design.demand)}{people})"
    named = DESIGNS.get(design.name)
    if named is not None:
        settings = {
            name: v for name, v in design.parameters.items() if name in inspect.signature(named.function).parameters
        }
        call = ", ".join([labels, *(f"{name}={_value(value)}" for name, value in settings.items())])
        return f"mw.designs.{design.name}({call})"
    return f"mw.Design.from_json({design.to_json()!r})"


def command_plan(design: Design, output: str = "design.json") -> str:
    """The command that makes this design; Python's where the command line could not state its labels or demand.

    >>> from maskwell import LDP, plan
    >>> print(command_plan(plan(["yes", "no"], LDP(1.5), n=100)))
    maskwell plan --categories=yes,no --epsilon 1.5 -n 100 --output design.json
    maskwell audit design.json
    """
    made = _command(design)
    if made is None:
        program = f"import maskwell as mw; from fractions import Fraction; print({python_design(design)}.to_json())"
        made = f"python3 -c {shlex.quote(program)} > {shlex.quote(output)}"
    else:
        made = f"{made} --output {shlex.quote(output)}"
    return f"{made}\nmaskwell audit {shlex.quote(output)}"


def _command(design: Design) -> str | None:
    labels = [label for label in design.categories if isinstance(label, str)]
    if len(labels) < design.k or any("," in label or label.strip() != label or not label for label in labels):
        return None
    parts = ["maskwell", "plan", f"--categories={','.join(labels)}"]
    if _is_planned(design):
        assert design.demand is not None
        parts += _options(design.demand)
        n = design.parameters.get("planned_n")
        parts += [] if n is None else ["-n", str(n)]
    elif _is_named(design):
        parts += ["--design", design.name]
        for name, value in _settings(design).items():
            parts += ["--set", f"{name}={value}"]
    else:
        return None
    return shlex.join(parts)


def _settings(design: Design) -> dict[str, Any]:
    """The parameters with which the function of its name makes it."""
    taken = inspect.signature(DESIGNS[design.name].function).parameters
    return {name: value for name, value in design.parameters.items() if name in taken}


def _is_named(design: Design) -> bool:
    """Whether the function of its name makes this very design of its labels and parameters."""
    if design.variables or design.name not in DESIGNS:
        return False
    try:
        return DESIGNS[design.name].function(design.categories, **_settings(design)) == design
    except (ValueError, TypeError):
        return False


def _is_planned(design: Design) -> bool:
    """Whether planning makes this very design of its demand."""
    if design.variables or design.demand is None:
        return False
    try:
        return plan(design.categories, design.demand, n=design.parameters.get("planned_n")) == design
    except ValueError:
        return False


def _python(demand: Demand) -> str:
    arguments = {name: value for name, value in vars(demand).items() if not name.startswith("_")}
    return f"{type(demand).__name__}({', '.join(f'{name}={_value(value)}' for name, value in arguments.items())})"


def _options(demand: Demand) -> list[str]:
    match demand:
        case LDP():
            return ["--epsilon", str(demand.epsilon)]
        case BetaFactor():
            return ["--beta", str(demand.beta)]
        case RhoPrivacy():
            return ["--rho1", str(demand.rho1), "--rho2", str(demand.rho2)]
        case LocalDiversity():
            return ["--diversity", str(demand.l)]
        case AverageSecurity():
            return ["--phi", str(demand.phi)]
        case _:
            return ["--gamma", str(demand.exact_bound())]


def _value(value: Any) -> str:
    return f"Fraction({str(value)!r})" if isinstance(value, Fraction) else repr(value)
