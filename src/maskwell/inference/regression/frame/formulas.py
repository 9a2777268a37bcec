"""What a formula reads: its two sides, and the columns that each of them needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

from maskwell.errors import DataError
from maskwell.extras import require

_QUOTED = re.compile("`([^`]*)`")
_PREFIX = "quoted_in_formula_"
# Functions of formulaic that first take something from the whole column: its mean, its knots, its order.
_FROM_THE_COLUMN = {"bs", "cc", "center", "cr", "cs", "hashed", "lag", "poly", "scale", "standardize"}


def parsed(formula: str) -> tuple[Any, Any]:
    """The outcome's side of a formula and that of the predictors."""
    require("The formulas of regress need", "formulaic")
    from formulaic import Formula
    from formulaic.errors import FormulaicError

    try:
        both = Formula(formula)
        left, right = both.lhs, both.rhs
        left.required_variables, right.required_variables  # noqa: B018  a formula of several parts has none
        return left, right
    except (FormulaicError, SyntaxError, AttributeError, TypeError):
        raise DataError(
            f"formula must read like 'outcome ~ first + second'; got {formula!r}.", parameter="formula"
        ) from None


def variables(side: Any) -> list[str]:
    """The columns that a side reads, in the order of their names.

    formulaic 1.2 forgets those within functions of a whole column, such as ``poly(age, 2)``: calls are read here too.
    """
    names = {str(name) for name in side.required_variables}
    for call, _ in _calls(side):
        names |= _arguments(call)
    return sorted(names)


def labels_in(side: Any) -> set[str]:
    """The columns that ``C()`` takes as labels, whatever they are made of."""
    return {name for call, _ in _calls(side) for inner in _named(call, {"C"}) for name in _arguments(inner)}


def within_functions(side: Any) -> set[str]:
    """The columns that stand in expressions rather than by themselves."""
    return {name for call, _ in _calls(side) for name in _arguments(call)}


def refuse_state_of(side: Any, masked: Collection[str]) -> None:
    """An error where a function would take means, knots or neighbours from truths that nobody has seen."""
    for call, text in _calls(side):
        for inner in _named(call, _FROM_THE_COLUMN):
            if hidden := sorted(_arguments(inner) & set(masked)):
                raise DataError(
                    f"{text} goes by the whole column, and the truths of {hidden[0]!r} are masked; use a function of "
                    "single values, such as I(x**2), with numbers of your own.",
                    parameter="formula",
                )


def _calls(side: Any) -> Iterator[tuple[ast.AST, str]]:
    """The expressions of Python in a side, and their text."""
    factors = {factor.expr: factor.eval_method.value for term in side for factor in term.factors}
    for text in (text for text, kind in factors.items() if kind == "python"):
        try:
            # A name in backquotes may be no name of Python's: it stands for itself in hexadecimal digits.
            yield ast.parse(_QUOTED.sub(lambda found: _PREFIX + found[1].encode().hex(), text), mode="eval"), text
        except SyntaxError:
            continue  # which formulaic says when it evaluates the formula


def _named(tree: ast.AST, names: set[str]) -> Iterator[ast.Call]:
    """The calls of some functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def _arguments(tree: ast.AST) -> set[str]:
    """The names in an expression that are neither functions nor formulaic's own."""
    from formulaic.transforms import TRANSFORMS

    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions]
    names = {bytes.fromhex(n.removeprefix(_PREFIX)).decode() if n.startswith(_PREFIX) else n for n in found}
    return names - set(TRANSFORMS)
