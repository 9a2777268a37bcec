"""What commands on microdata files share: the file, its columns, and cuts of columns written in one line."""

import csv
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

import typer

from maskwell.cli.shared.design_options import number
from maskwell.cli.shared.output import STANDARD, CommandError
from maskwell.tables.encoded import EncodedTable

NaOption = Annotated[
    list[str] | None,
    typer.Option("--na", help="A text that means missing in a CSV file, besides the empty cell. Repeatable."),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option("--delimiter", help="What separates the cells of a CSV file; found from its first line otherwise."),
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", help="The encoding of a CSV file; found from its bytes otherwise."),
]
UserMissingOption = Annotated[
    bool,
    typer.Option(
        "--user-missing",
        help="Count labelled codes that an SPSS or Stata file declares missing (9: no answer) as missing values; they "
        "are categories otherwise.",
    ),
]
FILE_HELP = "The file: .csv (or .csv.gz, .tsv), .parquet, .arrow, Stata's .dta, or SPSS's .sav or .zsav."
_MISSING = "(missing)"


def data_source(source: str) -> Any:
    """A file by its name, or standard input."""
    return sys.stdin.buffer if source == STANDARD else source


def declared_missing(file: Any, names: Sequence[str]) -> list[str]:
    """A line for each column in which codes that are declared missing are counted as categories."""
    found = {name: file.declared_missing(name) for name in dict.fromkeys(names) if name in file.names}
    return [_declared(name, codes) for name, codes in found.items() if codes]


def _declared(name: str, codes: Mapping[Any, str]) -> str:
    listed = ", ".join(f"{_code(code)} ({label})" for code, label in codes.items())
    several = "are declared missing in the file and counted as categories; --user-missing counts them as missing"
    one = "is declared missing in the file and counted as a category; --user-missing counts it as missing"
    return f"{name}: {listed} {several if len(codes) > 1 else one}"


def _code(code: Any) -> str:
    """A code as people write it: ``.a`` to ``.z`` of Stata are numbers from 2^1023 on."""
    if not isinstance(code, float):
        return str(code)
    return f"{code:g}" if code < 2.0**1023 else f".{chr(96 + round((code - 2.0**1023) / 2.0**1011))}"


def names_from(text: str | None) -> list[str]:
    """Column names separated by commas; a name that has a comma itself stands in double quotes.

    >>> names_from('region, "income, net"')
    ['region', 'income, net']
    """
    given = next(csv.reader([text or ""], skipinitialspace=True), [])
    return [name.strip() for name in given if name.strip()]


def spec_from(
    texts: Sequence[str] | None,
    table: EncodedTable,
    parameter: str,
    *,
    grouped: bool = True,
    before: EncodedTable | None = None,
) -> dict[str, Any] | None:
    """Columns and their cuts: ``sex``, ``age=18,65`` (where intervals start) or ``race=white|black,other`` (groups).

    Without ``grouped`` there are no intervals, and categories are listed one by one. Intervals of a number that has
    become categories since are of the table as it was ``before``.
    """
    spec: dict[str, Any] = {}
    for text in texts or ():
        for name, how in [_read(part, table, parameter, grouped, before) for part in _columns(text, table.names)]:
            if name in spec:
                raise CommandError(f"{parameter} names the column {name!r} twice; write it once.")
            spec[name] = how
    return spec or None


def _columns(text: str, names: Sequence[str]) -> list[str]:
    """The text cut at those commas after which another column begins: ``sex,age=18,65`` has two."""
    parts: list[str] = []
    for piece in [text] if text in names else text.split(","):
        begins = piece.strip() in names or piece.partition("=")[0].strip() in names
        if begins or not parts or "=" not in parts[-1]:
            parts.append(piece.strip())
        else:
            parts[-1] += f",{piece}"
    return parts


def _read(
    text: str, table: EncodedTable, parameter: str, grouped: bool, before: EncodedTable | None
) -> tuple[str, Any]:
    name, equals, how = text.partition("=")
    name = text if text in table.names or not equals else name.strip()
    table.native.require([name], parameter)
    if name == text:
        return name, None
    if not how.strip():
        raise CommandError(f"{parameter} {text!r} ends after the =; write for example age=18,65 or race=white|black.")
    labels = _labels(table, name)
    parts = [part.strip() for part in how.split("|")]
    if grouped and len(parts) == 1:
        starts = [_number(part) for part in how.split(",")]
        if _of_numbers(table, name) or (before is not None and None not in starts and _of_numbers(before, name)):
            if None in starts:
                raise CommandError(
                    f"{parameter} {text!r}: {name!r} holds numbers, so after the = come the numbers where intervals "
                    "start, such as age=18,65."
                )
            return name, starts
        if None not in starts:
            raise CommandError(
                f"{parameter} {text!r} looks like intervals, but {name!r} holds text as well as numbers; say with --na "
                "what means missing, or separate groups of categories by |."
            )
    groups = [_members(part, labels) for part in parts]
    return name, groups if grouped else [label for group in groups for label in group]


def _labels(table: EncodedTable, name: str) -> dict[str, Any]:
    """The categories of a column by how one writes them: a label, or the code that a file has for it."""
    labels = table.coded(name).labels
    codes = {f"{code:g}": label for code, label in table.native.variable(name).value_labels.items() if _is_number(code)}
    written = {code: label for code, label in codes.items() if label in set(labels)}
    written |= {f"{label:g}": label for label in labels if _is_number(label)}
    return written | {_MISSING if label is None else str(label): label for label in labels}


def _members(part: str, labels: dict[str, Any]) -> list[Any]:
    # A label may hold a comma itself. Anything else is refused further on, with a list of the labels.
    texts = [part] if part in labels else [text.strip() for text in part.split(",")]
    return [labels.get(text, text) for text in texts]


def _number(text: str) -> int | float | None:
    try:
        value = number(text.strip(), "")
    except CommandError:
        return None
    return float(value) if isinstance(value, Fraction) else value


def _of_numbers(table: EncodedTable, name: str) -> bool:
    return all(_is_number(label) for label in table.coded(name).labels if label is not None)


def _is_number(label: Any) -> bool:
    return isinstance(label, (int, float)) and not isinstance(label, bool)
