"""Ways of forming blocks side by side, on a custodian's own table: what each intruder attains, and what is kept.

The limit on matches by the keys holds for each of them. What differs is how often others are right: who uses all counts
of a block, who has the released file alone, who also knows the blocks, who knows one or two columns besides the keys.
No way is best against all of them, which is why the custodian sees the table before choosing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import Any, Unpack

from maskwell.errors import DataError
from maskwell.release.drawing import Chance
from maskwell.release.evaluation.block_figures import BlockFigures, mean, measure
from maskwell.release.identification.blocks.forming import WAYS, WHOLE, Progress, read_way
from maskwell.release.identification.moves import carry_out
from maskwell.release.identification.plan import plan_of
from maskwell.release.identification.request import Options, Request, read_request
from maskwell.release.identification.setup import forming, prepare
from maskwell.results.result import Result

SIZES = (3, 4, 5)
"""Sizes of small blocks that are compared; up to five cells keep the limit for those who use all counts, too."""


@dataclass(frozen=True, repr=False)
class BlockComparison(Result):
    """The table to choose from."""

    xi: float
    rows: tuple[BlockFigures, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain numbers, ready for JSON."""
        return {"xi": self.xi, "ways": [asdict(row) for row in self.rows]}

    def _title(self) -> str:
        return f"ways of forming blocks, at the limit {self.xi:g} on matches by the keys"

    def _figures(self) -> dict[str, Any]:
        return {}

    def _columns(self) -> dict[str, Any]:
        header, lines = self.lines()
        return {name: [line[i] for line in lines] for i, name in enumerate(header)}

    def _remarks(self) -> tuple[str, ...]:
        return READING

    def lines(self) -> tuple[list[str], list[list[str]]]:
        """A header and a line of text for each way and size."""
        numbers = list(self.rows[0].change) if self.rows else []
        header = ["blocks", "cells", "keys", "all counts", "file alone", "blocks known", "one more", "two more"]
        header += ["V", "variation", *(f"change of {name}" for name in numbers)]
        return header, [_line(row, numbers) for row in self.rows]

    def summary(self) -> str:
        """The table in plain text, and how to read it."""
        header, lines = self.lines()
        widths = [max(len(line[i]) for line in (header, *lines)) for i in range(len(header))]
        shown = [
            "  ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
            for line in (header, *lines)
        ]
        notes = [line for words in READING for line in wrap(words, 116, initial_indent="  ", subsequent_indent="    ")]
        return "\n".join([f"Ways of forming blocks, at the limit {self.xi:g} on matches by the keys", *shown, *notes])

    def __repr__(self) -> str:
        return f"<comparison of {len(self.rows)} ways of forming blocks at the limit {self.xi:g}>"


READING = (
    "keys, all counts: the largest chance that a match of somebody with rare keys is right, proved (≥: at least), for "
    "those who use the count of the person's own cell, and the counts of all cells of the block.",
    "file alone, blocks known: the share right in the surest 5 / 20 / 50 % of the cells shown once, measured, for "
    "those who compare keys with the columns that stay in the released file; and who know the blocks besides.",
    "one more, two more: the share of right matches for those who know one or two columns besides the keys, and the "
    "blocks.",
    "V, variation: the association of keys with columns that stay (1 is as before), and the share of records in "
    "another cell of such tables, both among the records with rare keys alone; change: of a moved record.",
    "Small look-alike blocks keep associations and protect against the file alone. The price: whoever knows a column "
    "besides the keys guesses better, as fewer records can be the person's.",
)
"""How to read the table."""


def _line(row: BlockFigures, numbers: Sequence[str]) -> list[str]:
    def shares(values: Iterable[float] | None) -> str:
        return "–" if values is None else " / ".join(f"{value:.2f}" for value in values)

    return [
        row.blocks,
        "all of a set" if row.size is None else str(row.size),
        f"{row.keys:.3f}",
        f"{'' if row.all_counts_exact else '≥ '}{row.all_counts:.3f}",
        shares(row.file_alone),
        shares(row.blocks_known),
        f"{row.one_more:.2f}",
        f"{row.two_more:.2f}",
        f"{row.association:.2f}",
        f"{row.variation:.3f}",
        *(f"{row.change[name]:.3g}" for name in numbers),
    ]


def compare_blocks(
    table: Any,
    keys: Sequence[str] | str,
    xi: float,
    within: Any = None,
    *,
    ways: Sequence[str] = tuple(WAYS),
    sizes: Sequence[int] = SIZES,
    draws: int = 1,
    seed: int | None = None,
    show: Progress | None = None,
    **options: Unpack[Options],
) -> BlockComparison:
    """Release the table in every way of forming blocks, attack each release, and throw it away.

    The other parameters are those of ``limit_identification``. Sizes that are too small for ``xi`` are left out. Each
    figure is the mean over ``draws`` releases. ``show`` is told how far it has come.

    >>> table = {"age": list(range(30)) * 2, "area": ["n", "s"] * 30, "work": ["a", "a", "b"] * 20}
    >>> found = compare_blocks(table, ["age", "area"], 0.5, ways=["whole", "mixed"], sizes=[3], seed=1)
    >>> [(row.blocks, row.size) for row in found.rows]
    [('whole', None), ('mixed', 3)]
    """
    if draws < 1 or not ways or not sizes:
        raise DataError("compare_blocks needs one way, one size and one draw at least.")
    base = read_request(keys, xi, within, blocks=WHOLE, **options)
    requests = [request for way in ways for request in _requests(base, way, sizes)]
    rows, done = [], 0
    for request in requests:
        measured = []
        for draw in range(draws):
            chance = Chance(seed=None if seed is None else seed + draw)
            setup = prepare(table, request, forming(request, chance))
            measured.append(measure(carry_out(setup, plan_of(setup), chance)))
            done += 1
            if show:
                show(done / (len(requests) * draws))
        rows.append(mean(measured))
    return BlockComparison(float(base.xi), tuple(rows))


def _requests(base: Request, way: str, sizes: Sequence[int]) -> list[Request]:
    """The request with blocks of each size that the limit allows; of the least one if it allows none of them."""
    if way == WHOLE:
        return [base]
    least = base.rule.least
    allowed = [size for size in sizes if size >= least] or [least]
    return [
        replace(base, blocks=own, block_size=size) for own, size in (read_way(way, size, least) for size in allowed)
    ]
