"""A release on the terminal: what changed, the risk before and after, and what it costs those who use the file."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from maskwell.cli.releasing.methods import Outcome
from maskwell.cli.releasing.stops import Found
from maskwell.microdata import Microdata
from maskwell.microdata.labelled.code_gaps import code_gaps, gap_warnings
from maskwell.plain_text import visible_lines
from maskwell.release import Release
from maskwell.release.attack.disclosures import combinations_nobody_had
from maskwell.release.attack.intruders import beside_in_words, risk_lines
from maskwell.release.attack.repeated_values import nearly_unique

_WIDTH = 96
_MOST_COMPARED = 300_000
"""Up to this many records all pairs of columns are compared for the terminal; that takes seconds for a million."""


def as_text(data: Microdata, outcome: Outcome, tables: Sequence[Any], written: Sequence[str], found: Found) -> str:
    """The lines that the command prints."""
    release = outcome.release
    lines = _planned(release) if outcome.rehearsed and isinstance(release, Release) else release.summary().splitlines()
    if isinstance(release, Release) and not outcome.rehearsed:
        lines += _uniques(release)
    if isinstance(release, Release):
        lines += wrap(
            "".join(f"beside:    {words}" for words in beside_in_words(release)),
            _WIDTH,
            initial_indent="  ",
            subsequent_indent=" " * 13,
            break_on_hyphens=False,
        )
    lines += [outcome.compared.summary()] if outcome.compared else []
    lines += _added(outcome, tables)
    lines += [f"beware: {words}" for words in found.disclosures.warnings()]
    if len(data.table) > _MOST_COMPARED:
        lines.append("combinations that nobody had before are looked for by --internal alone in a file of this size")
    else:
        lines += [f"beware: {words}" for words in combinations_nobody_had(release)]
    lines += [f"beware: {words}" for words in gap_warnings(data, data.with_table(release.table))]
    if outcome.rehearsed and found.stops:
        lines.append(f"the release would stop: {found.how_to_go_on()}")
    if outcome.redrawn and not outcome.rehearsed:
        lines.append(
            "beware: the draws are new, so this file differs from the first, and side by side they show which records "
            "moved; give away one of them at most."
        )
    if "seeded" in _randomness(outcome):
        lines.append("drawn from a seed, so for simulation only: whoever knows the seed can undo the release")
    lines += [f"wrote {name}" for name in written] or ["nothing was written"]
    return visible_lines(lines)


def as_json(
    data: Microdata, outcome: Outcome, tables: Sequence[Any], written: Sequence[str], found: Found
) -> dict[str, Any]:
    """The same for programs."""
    release = outcome.release
    figures = release.to_dict()
    if isinstance(release, Release) and outcome.rehearsed:
        figures = _planned_figures(release)
    elif isinstance(release, Release):
        figures["uniques"] = dict(zip(("before", "after"), _counts(release), strict=True))
    figures.pop("records", None)  # which is n
    added = [release.added_variance(of) for of in _tables(outcome, tables)]
    return {
        "method": outcome.plan.method,
        "fingerprint": outcome.plan.fingerprint,
        "randomness": sorted(_randomness(outcome)),
        **figures,
        "compared_blocks": outcome.compared.to_dict() if outcome.compared else None,
        "added_variance": [
            {"columns": list(each.columns), "largest_ratio": each.largest_ratio, "warnings": each.warnings}
            for each in added
        ],
        **found.disclosures.to_dict(),
        "accepted": list(found.accepted),
        "would_stop": list(found.stops),
        "impossible": _impossible(data, outcome),
        "code_gaps": code_gaps(data, data.with_table(release.table)),
        "redrawn": outcome.redrawn,
        "n": len(data.table),
        "output": list(written),
    }


def _impossible(data: Microdata, outcome: Outcome) -> list[dict[str, Any]] | None:
    """Pairs of columns that now show combinations of common values that nobody had, and in how many records."""
    if len(data.table) > _MOST_COMPARED:
        return None
    found = outcome.release.comparison().impossible
    return [{"columns": list(pair), "records": count} for pair, count in found.items() if count]


def _randomness(outcome: Outcome) -> set[str]:
    drawn = outcome.plan.draws()
    return {each["randomness"] for each in (drawn if isinstance(drawn, list) else [drawn])}


# Limits on identification.


def _counts(release: Release) -> tuple[int, int]:
    from maskwell.risk import assess

    keys = release.plan.keys
    return assess(release.setup.columns, keys).sample_uniques, assess(release.columns, keys).sample_uniques


def _uniques(release: Release) -> Iterator[str]:
    before, after = _counts(release)
    if before:
        yield f"  uniques:   {before:,} records alone with their keys before, {after:,} after; who they are has changed"


def _planned_figures(release: Release) -> dict[str, Any]:
    setup = release.setup
    sensitive = setup.blocks.cells
    return {
        "records": setup.n,
        "keys": list(setup.request.keys),
        "theta": None if release.plan.theta is None else float(release.plan.theta),
        "sensitive_cells": len(sensitive),
        "occupied_cells": len(setup.cells),
        "blocks": setup.request.blocks,
        "block_size": setup.request.block_size,
        "number_of_blocks": len(setup.blocks),
        "expected_moves": setup.expected_moves,
        "recoding": None if release.recoded is None else release.recoded.to_dict(),
        "audit": release.audit.to_dict(),
        "intruders": release.intruders.to_dict(),
    }


def _planned(release: Release) -> list[str]:
    setup = release.setup
    sensitive, what = len(setup.blocks.cells), "groups" if setup.request.together else "records"
    return [
        f"Plan for {setup.n:,} records over the keys {', '.join(setup.request.keys)}",
        *release.recoding_lines(),
        f"  sensitive: {sensitive:,} of {len(setup.cells):,} occupied cells, in {len(setup.blocks):,} blocks",
        f"  would move about {setup.expected_moves:,.0f} {what}",
        *risk_lines(release, rehearsed=True),
    ]


# What it costs.


def _tables(outcome: Outcome, tables: Sequence[Any]) -> list[Any]:
    """Those that were named; the columns that may change, one by one, if none was."""
    of_its_own = nearly_unique(outcome.release.before, outcome.columns)
    return list(tables) or [{name: None} for name in outcome.columns if name not in of_its_own]


def _added(outcome: Outcome, tables: Sequence[Any]) -> Iterator[str]:
    yield "added variance beside that of sampling:"
    for of in _tables(outcome, tables):
        found = outcome.release.added_variance(of)
        yield f"  {', '.join(found.columns)}: at most {found.largest_ratio:.3g} times"
        yield from (f"    {warning}" for warning in found.warnings)
