"""Ways of forming blocks of a release: what each intruder attains, and what is kept, on a made survey.

Figures of two public files were measured once, by the same function, and are quoted with their date; the package does
not carry those files.
"""

from __future__ import annotations

import json
from pathlib import Path

from maskwell.release import BlockComparison, compare_blocks
from maskwell.release.evaluation.block_figures import BlockFigures
from maskwell.release.identification.blocks.forming import DEFAULT_SIZE, DEFAULT_WAY, WAYS, WHOLE
from tests.evidence.made_survey import KEYS, WITHIN, XI, made_survey
from tests.evidence.record import Result, Size, Table

PUBLIC = Path(__file__).parent / "release_blocks_public.json"
_SEED = 41
_DRAWS = {"reduced": 1, "full": 3}
_RECORDS = {"reduced": 4_000, "full": 12_000}


def run(size: Size) -> Result:
    """Compare the ways on the made survey, and quote the public files."""
    sizes = (DEFAULT_SIZE,) if size == "reduced" else (3, 4, 5)
    ways = (WHOLE, DEFAULT_WAY) if size == "reduced" else tuple(WAYS)
    table = made_survey(_RECORDS[size])
    found = compare_blocks(table, KEYS, XI, WITHIN, ways=ways, sizes=sizes, draws=_DRAWS[size], seed=_SEED)
    whole, chosen = _of(found, WHOLE, None), _of(found, DEFAULT_WAY, DEFAULT_SIZE)
    return Result(
        name="release_blocks",
        title="Blocks of a release",
        question=(
            "Records with rare keys exchange them within blocks of cells. The limit on matches by the keys holds for "
            "blocks of any kind; other intruders, and analysts, are better off with some than with others. Which "
            "blocks should be formed if nobody says?"
        ),
        criterion=(
            f"At the limit {XI:g}, matches by the keys are right with a chance of at most {XI:g} for every way of "
            "forming blocks, and for all small blocks also for those who use all counts of a block (both computed, not "
            f"sampled). The default ({DEFAULT_WAY}, {DEFAULT_SIZE} cells) leaves somebody who has the released file "
            "alone with fewer right ones among the surest 5, 20 and 50 % of the cells shown once than one block for "
            "each partition set does, moves numbers less far, and keeps associations nearer to what they were. Shares "
            "of right guesses are means over releases with fixed seeds, so that the outcome is fixed too."
        ),
        sizes={"records": len(table), "releases of each kind": _DRAWS[size], "seed": _SEED},
        findings=_findings(whole, chosen),
        tables=[_table("The made survey (keys sex, age, district and origin, within sex).", found), *_public()],
        failures=_failures(found, whole, chosen),
    )


def _of(found: BlockComparison, way: str, size: int | None) -> BlockFigures:
    return next(row for row in found.rows if (row.blocks, row.size) == (way, size))


def _failures(found: BlockComparison, whole: BlockFigures, chosen: BlockFigures) -> list[str]:
    failures = [f"{row.blocks} {row.size}: keys {row.keys:.4f}" for row in found.rows if row.keys > XI]
    failures += [
        f"{row.blocks} {row.size}: all counts {row.all_counts:.4f}"
        for row in found.rows
        if row.size is not None and not (row.all_counts_exact and row.all_counts <= XI)
    ]
    for share, ours, theirs in zip((5, 20, 50), chosen.file_alone, whole.file_alone, strict=True):
        if ours >= theirs:
            failures.append(f"surest {share} %: {ours:.3f} by default, {theirs:.3f} with whole sets")
    if chosen.change["age"] >= whole.change["age"]:
        failures.append("ages move as far by default as with whole sets")
    if abs(chosen.association - 1) >= abs(whole.association - 1):
        failures.append("associations are kept no better by default than with whole sets")
    return failures


def _findings(whole: BlockFigures, chosen: BlockFigures) -> list[str]:
    def rights(row: BlockFigures) -> str:
        return " / ".join(f"{value:.2f}" for value in row.file_alone)

    return [
        f"By default ({chosen.blocks}, {chosen.size} cells) somebody with the released file alone is right in "
        f"{rights(chosen)} of the surest 5 / 20 / 50 % of the cells shown once; in {rights(whole)} if each partition "
        "set is one block.",
        f"Somebody who uses all counts of a block is right with a chance of {chosen.all_counts:.3f} at most, against "
        f"{whole.all_counts:.3f} or more.",
        f"A moved record is {chosen.change['age']:.1f} years from its true age on average, against "
        f"{whole.change['age']:.1f}, and associations of keys with columns that stay are {chosen.association:.2f} "
        f"times what they were among these records, against {whole.association:.2f}.",
        f"The price: whoever knows one more column besides the keys, and the blocks, is right in {chosen.one_more:.2f} "
        f"of cases, against {whole.one_more:.2f}; with two more in {chosen.two_more:.2f}, against "
        f"{whole.two_more:.2f}.",
    ]


def _table(caption: str, found: BlockComparison) -> Table:
    header, rows = found.lines()
    return Table(caption, tuple(header), rows)


def _public() -> list[Table]:
    """Figures of public files, as they were measured."""
    return [
        Table(entry["caption"], tuple(entry["columns"]), entry["rows"])
        for entry in json.loads(PUBLIC.read_text("utf-8"))
    ]
