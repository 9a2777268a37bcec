"""What every result can do: tell itself in text, in a notebook, as a data frame, as plain values and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from maskwell.frames import Backend, data_frame
from maskwell.plain_json import jsonable
from maskwell.plain_text import visible_lines
from maskwell.results.blocks import Part, Table, Text
from maskwell.results.numbers import aligned, figure
from maskwell.results.pictures import picture

_MOST_ROWS = 20
_STYLE = """<style>
.maskwell { font-variant-numeric: tabular-nums; }
.maskwell p { margin: 0.4em 0; max-width: 50em; }
.maskwell p.lead { font-weight: 600; }
.maskwell p.note { opacity: 0.75; }
.maskwell .scroll { overflow-x: auto; }
.maskwell table { border-collapse: collapse; margin: 0.5em 0; }
.maskwell th, .maskwell td { padding: 0.2em 0.8em 0.2em 0; border-bottom: 1px solid rgb(128 128 128 / 30%); }
.maskwell tbody th { font-weight: normal; }
.maskwell .left { text-align: left; vertical-align: top; }
.maskwell .right { text-align: right; vertical-align: top; white-space: nowrap; }
.maskwell .wrap { max-width: 40em; }
.maskwell .long { white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
</style>"""


class Result:
    """A result that shows itself. A class says what it is about; the forms follow.

    ``_figures`` are figures by name, ``_columns`` a table by column, ``_remarks`` sentences. What a class leaves out is
    not shown; what it writes itself, such as a longer ``summary``, stands.
    """

    def _title(self) -> str:
        """What it is, in a line."""
        return repr(self).strip("<>")

    def _figures(self) -> Mapping[str, Any]:
        """Figures and words by name; by default the plain values of ``to_dict``."""
        plain = (str, int, float)
        return {name.replace("_", " "): value for name, value in self.to_dict().items() if isinstance(value, plain)}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns of its table."""
        return {}

    def _order(self) -> Sequence[int] | None:
        """Which lines come first where there are too many to show; None for the first ones."""
        return None

    def _remarks(self) -> Sequence[str]:
        """What else is to be said."""
        return ()

    def _parts(self) -> list[Part]:
        """Everything of which text and HTML are made."""
        parts: list[Part] = [Text(self._title(), "lead")]
        if facts := self._figures():
            parts.append(Table("", ["", ""], [[name, _shown(value)] for name, value in facts.items()], "<="))
        # Nobody reads a column in which nothing is; the frame has it.
        columns = {name: list(values) for name, values in self._columns().items()}
        columns = {name: values for name, values in columns.items() if any(value is not None for value in values)}
        if columns:
            parts += self._table(columns)
        return [*parts, *(Text(note, "note") for note in self._remarks())]

    def _table(self, columns: dict[str, list[Any]]) -> list[Part]:
        count = len(next(iter(columns.values())))
        chosen = list(range(min(count, _MOST_ROWS))) if count <= _MOST_ROWS or self._order() is None else None
        order = chosen if chosen is not None else list(self._order() or ())[:_MOST_ROWS]
        texts = [aligned([values[i] for i in order]) for values in columns.values()]
        rows = [list(row) for row in zip(*(text for text, _ in texts), strict=True)]
        header = [name.replace("_", " ") for name in columns]
        table: list[Part] = [Table("", header, rows, "".join(side for _, side in texts))]
        if count > len(order):
            which = "first" if chosen is not None else "largest"
            table.append(Text(f"The {len(order)} {which} of {count:,} lines; to_frame() has them all.", "note"))
        return table

    def summary(self) -> str:
        """The result in plain text."""
        return visible_lines(line for part in self._parts() for line in part.lines())

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """The result's table as a data frame, or its figures as one line."""
        columns = self._columns() or {name: [value] for name, value in self._figures().items()}
        return data_frame({name: list(values) for name, values in columns.items()}, backend)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        assert is_dataclass(self)
        return {field.name: jsonable(getattr(self, field.name)) for field in fields(self)}

    def plot(self, **options: Any) -> Any:
        """The result as an Altair chart; ``maskwell.views`` has the options."""
        return picture(self, **options)

    def _repr_html_(self) -> str:
        return f'<div class="maskwell">{_STYLE}{"".join(part.html() for part in self._parts())}</div>'


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else figure(value)
