"""What commands read from their options: numbers, categories, demands, and designs by name or from a file."""

import inspect
import json
import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.output import STANDARD, CommandError
from maskwell.demands import LDP, AverageSecurity, BetaFactor, Demand, LocalDiversity, RhoPrivacy
from maskwell.designs import DESIGNS, Design
from maskwell.errors import MaskwellError
from maskwell.exact import written_fraction
from maskwell.input_files import read_whole
from maskwell.limits import MOST_CATEGORIES

CategoriesOption = Annotated[
    str | None, typer.Option("--categories", help='Labels, separated by commas: "yes,no,unsure".', metavar="A,B,C")
]
CategoriesFromOption = Annotated[
    str | None,
    typer.Option(
        "--categories-from",
        help="A text file with one label a line, or - for a pipe: for lists too long for an option.",
        metavar="FILE",
    ),
]
CountOption = Annotated[
    int | None, typer.Option("--k", help="A number of categories instead, labelled 0 to k-1.", metavar="K")
]


def _names(incomplete: str) -> list[str]:
    """The designs that a shell offers after these letters."""
    return [name for name in DESIGNS if name.startswith(incomplete)]


NameOption = Annotated[
    str | None,
    typer.Option("--design", help="A named design (see maskwell designs).", metavar="NAME", autocompletion=_names),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A parameter of the named design: a number, a fraction such as 1/3, or JSON. Repeat for several.",
        metavar="NAME=VALUE",
    ),
]


def number(text: str, name: str) -> int | float | Fraction:
    """A number as Python would read it, or a fraction such as 1/3."""
    for kind in (int, float, Fraction):
        try:
            return kind(text)
        except (ValueError, ZeroDivisionError):
            continue
    raise CommandError(f"{name} must be a number; got {text!r}. Write for example 1, 0.5 or 1/3.")


def declared_categories(categories: str | None, k: int | None, file: str | None = None) -> list[str] | int | None:
    """The labels that ``--categories`` lists, those of the file ``--categories-from``, or the count of ``--k``."""
    if sum(given is not None for given in (categories, k, file)) > 1:
        raise CommandError("give --categories, --categories-from or --k, not two of them.")
    if k is not None and k > MOST_CATEGORIES:
        raise CommandError(f"--k must be at most {MOST_CATEGORIES:,}; got {k}.")
    if file is not None:
        return _labels_of_lines(file)
    if categories is None:
        return k
    labels = [label.strip() for label in categories.split(",")]
    if "" in labels:
        raise CommandError(f"--categories names an empty label in {categories!r}; remove the spare comma.")
    return labels


def _labels_of_lines(file: str) -> list[str]:
    name = "standard input" if file == STANDARD else Path(file).name
    raw = sys.stdin.buffer.read() if file == STANDARD else read_whole(file, CommandError)
    try:
        lines = raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise CommandError(f"{name!r} is not text in UTF-8; save it as such, one label a line.") from None
    labels = [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
    if "" in labels:
        raise CommandError(f"{name!r} has an empty line, line {labels.index('') + 1:,}; give one label a line.")
    return labels


def parameters_from(settings: Sequence[str] | None) -> dict[str, Any]:
    """The ``--set name=value`` pairs."""
    pairs = [setting.partition("=") for setting in settings or ()]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise CommandError(f"--set needs name=value; got {name!r}. For example: --set truth_prob=3/4")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise CommandError("--set gives a parameter twice.")
    return {name: _value(text) for name, _, text in pairs}


def _value(text: str) -> Any:
    for read in (json.loads, partial(written_fraction, name="a parameter")):
        try:
            return read(text)
        except (ValueError, RecursionError):
            continue
    return text


def demand_from(options: dict[str, str | None]) -> Demand | None:
    """The one demand that the options state, or None if they state none."""
    given = {name: number(text, f"--{name}") for name, text in options.items() if text is not None}
    rho = {"rho1", "rho2"} & set(given)
    if len(rho) == 1:
        raise CommandError("--rho1 and --rho2 go together, for example --rho1 0.1 --rho2 0.5.")
    if len(given) - bool(rho) > 1:
        raise CommandError(f"state one demand, not several; got --{', --'.join(given)}.")
    if not given:
        return None
    if rho:
        return RhoPrivacy(given["rho1"], given["rho2"])
    ((name, value),) = given.items()
    if name == "diversity":
        return LocalDiversity(value)  # type: ignore[arg-type]  # which refuses fractions itself
    if name == "phi":
        return AverageSecurity(value)
    return LDP(value) if name == "epsilon" else BetaFactor(value)


def _as_parameters(demand: Demand | None) -> dict[str, Any]:
    """How a named design takes the demand."""
    match demand:
        case None:
            return {}
        case LDP():
            return {"epsilon": demand.epsilon}
        case LocalDiversity():
            return {"l": demand.l}
        case AverageSecurity():
            return {"phi": demand.phi}
        case _:
            return {"gamma": demand.exact_bound()}


def named_design(
    name: str, categories: Sequence[Any] | int | None, settings: Sequence[str] | None, demand: Demand | None = None
) -> Design:
    """Build a design of the registry from its name and parameters."""
    if name not in DESIGNS:
        raise CommandError(f"--design {name!r} is not known; known: {', '.join(DESIGNS)}.")
    function = DESIGNS[name].function
    signature = inspect.signature(function)
    taken = [p for p in signature.parameters if p != "categories"]
    given = {**_as_parameters(demand), **parameters_from(settings)}
    unknown = [p for p in given if p not in taken]
    if unknown:
        raise CommandError(f"{name} has no parameter {unknown[0]!r}; it takes {', '.join(taken) or 'none'}.")
    if categories is not None:
        given["categories"] = categories
    needed = [p.name for p in signature.parameters.values() if p.default is p.empty and p.name not in given]
    if "categories" in needed:
        raise CommandError(f"{name} needs categories: name them with --categories or count them with --k.")
    if needed:
        example = DESIGNS[name].examples[0].get(needed[0])
        raise CommandError(f"{name} needs {', '.join(needed)}; for example --set '{needed[0]}={_plain(example)}'.")
    try:
        return function(**given)
    except (TypeError, AttributeError):
        raise CommandError(f"{name}: a parameter of --set has the wrong type; see maskwell designs.") from None


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, (Fraction, str)) else json.dumps(value)


def load_design(source: str) -> Design:
    """Read a design from a file, or from standard input if it is named ``-``."""
    if source in DESIGNS and not Path(source).exists():
        raise CommandError(
            f"{source!r} is the name of a design, not a file; write one with maskwell plan --design {source} -o FILE "
            f"(maskwell audit takes --design {source} as well)."
        )
    text = sys.stdin.buffer.read() if source == STANDARD else read_whole(source, CommandError)
    name = "standard input" if source == STANDARD else Path(source).name
    try:
        return Design.from_json(text.decode())
    except UnicodeDecodeError:
        raise CommandError(f"{name!r} is not a design: it is not text; write one with maskwell plan.") from None
    except MaskwellError as error:
        raise CommandError(f"{name!r}: {error}") from None
