"""What was recoded before records moved, for the custodian's page."""

from __future__ import annotations

from maskwell.release import Recoded
from maskwell.results.numbers import aligned, percent
from maskwell.views.pages.layout import Section, Table, Text

_WORDS = (
    "All that follows is about the recoded file. Matches: combinations of keys, for each of which one match in the "
    "file is right. Association: the mutual information of keys with each other and with all other columns, less what "
    "chance alone gives. Records alike: how many share a record's combination, on average."
)


def recoding_sections(recoded: Recoded | None) -> list[Section]:
    """The section on recoding, if anything was recoded."""
    if recoded is None:
        return []
    steps = [line.split(": ", 1) for line in recoded.recipe.lines()]
    kept = [[name, percent(share, 1)] for name, share in recoded.kept.items()]
    columns = recoded._columns()
    texts = [aligned(values) for values in columns.values()]
    rows = [list(row) for row in zip(*(text for text, _ in texts), strict=True)]
    return [
        Section(
            "Recoding",
            [
                Table("What was done, before all else", ["", ""], steps, "<="),
                Table("Risk and information", list(columns), rows, "".join(side for _, side in texts)),
                Table("Entropy kept of each column", ["column", "kept"], kept, "<>"),
                Text(_WORDS),
                *(Text(f"Beware: {each}.") for each in recoded.told),
            ],
        )
    ]
