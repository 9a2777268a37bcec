"""Who else may try to recognise somebody in a released file, on the custodian's page."""

from __future__ import annotations

from maskwell.release import Release
from maskwell.views.pages.layout import Block, Section, Table, Text

_MOST_COLUMNS = 60


def intruders_section(release: Release) -> Section:
    """Every intruder with how often it is right, and the columns that tell who moved."""
    found = release.intruders
    rows = [[each.has, each.right, each.how] for each in found.each()]
    blocks: list[Block] = [
        Text(
            "The limit is about somebody who knows the keys. Others have less, or more, and are not held to it: what "
            "they attain is counted on this release, of which you know who moved. Whoever has the file alone compares "
            "keys with the columns that stayed, learns from records whose columns were exchanged on purpose what a "
            "mismatch looks like, and believes the combinations first that look least like one."
        ),
        Table("Who tries, and how often they are right", ["who has", "right", ""], rows, "=<="),
    ]
    if found.attack.columns:
        blocks.append(_columns(release))
    return Section("Who else may try", blocks)


def _columns(release: Release) -> Table:
    attack = release.attack()
    rows = []
    for column in attack.columns[:_MOST_COLUMNS]:
        alone, rest = (
            " / ".join(f"{one.share_right:.2f}" for one in part) or "–" for part in (column.surest, column.without)
        )
        rows.append([column.name, f"{column.told_apart:.2f}", "decides a key" if column.decides else "", alone, rest])
    left = f", the first {_MOST_COLUMNS} of {len(attack.columns)}" if len(attack.columns) > _MOST_COLUMNS else ""
    header = ["column", "tells moved from stayed", "", "right by it alone, surest 5 / 20 / 50 %", "right without it"]
    return Table(f"The columns behind it, the most telling first{left}", header, rows, "<><>>", folded=len(rows) > 12)
