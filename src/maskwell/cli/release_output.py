"""A release on the terminal: what changed, the risk before and after, and what it costs those who use the file."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from maskwell.cli.release_methods import Outcome
from maskwell.microdata import Microdata
from maskwell.release import PramRelease, Release
from maskwell.release.giveaways import Giveaway, giveaways, given_away, telltales

_MOST_COMPARED = 300_000
"""Up to this many records all pairs of columns are compared for the terminal; that takes seconds for a million."""


def as_text(data: Microdata, outcome: Outcome, tables: Sequence[Any], written: Sequence[str], in_order: bool) -> str:
    """The lines that the command prints."""
    release = outcome.release
    if isinstance(release, Release):
        lines = [release.summary(), *_uniques(data, release)]
    elif isinstance(release, PramRelease):
        lines = [release.summary()]
    else:
        lines = list(_planned(outcome))
    lines += _added(outcome, tables)
    if release is None or len(data.table) > _MOST_COMPARED:
        found = [str(each) for each in _giveaways(data, outcome, in_order)]
    else:
        found = telltales(release, rows_in_order=in_order)
    lines += [f"beware: {words}" for words in found]
    if release is not None and len(data.table) > _MOST_COMPARED:
        lines.append("combinations that nobody had before are looked for by --internal alone in a file of this size")
    if outcome.redrawn and release is not None:
        lines.append(
            "beware: the draws are new, so this file differs from the first, and side by side they show which records "
            "moved; give away one of them at most."
        )
    if "seeded" in _randomness(outcome):
        lines.append("drawn from a seed, so for simulation only: whoever knows the seed can undo the release")
    lines.append(f"wrote {', '.join(written)}" if written else "nothing was written")
    return "\n".join(lines)


def as_json(
    data: Microdata, outcome: Outcome, tables: Sequence[Any], written: Sequence[str], in_order: bool
) -> dict[str, Any]:
    """The same for programs."""
    release = outcome.release
    if isinstance(release, Release):
        figures = release.to_dict() | {"uniques": dict(zip(("before", "after"), _counts(data, release), strict=True))}
    elif isinstance(release, PramRelease):
        figures = release.to_dict()
    else:
        figures = _planned_figures(outcome)
    added = [outcome.added_variance(of) for of in _tables(outcome, tables)]
    return {
        "method": outcome.plan.method,
        "fingerprint": outcome.plan.fingerprint,
        "randomness": sorted(_randomness(outcome)),
        **figures,
        "added_variance": [
            {"columns": list(each.columns), "largest_ratio": float(each.ratio.max()), "warnings": each.warnings}
            for each in added
        ],
        "giveaways": [dataclasses.asdict(each) for each in _giveaways(data, outcome, in_order)],
        "impossible": _impossible(data, outcome),
        "redrawn": outcome.redrawn,
        "written": list(written),
    }


def _giveaways(data: Microdata, outcome: Outcome, in_order: bool) -> list[Giveaway]:
    if outcome.release is not None:
        return given_away(outcome.release, rows_in_order=in_order)
    together = outcome.setup.request.together if outcome.setup else None
    return giveaways(data.table, outcome.changing, rows_in_order=in_order, together=together)


def _impossible(data: Microdata, outcome: Outcome) -> list[dict[str, Any]] | None:
    """Pairs of columns that now show combinations of common values that nobody had, and in how many records."""
    if outcome.release is None or len(data.table) > _MOST_COMPARED:
        return None
    found = outcome.release.comparison().impossible
    return [{"columns": list(pair), "records": count} for pair, count in found.items() if count]


def _randomness(outcome: Outcome) -> set[str]:
    drawn = outcome.plan.draws()
    return {each["randomness"] for each in (drawn if isinstance(drawn, list) else [drawn])}


# Limits on identification.


def _counts(data: Microdata, release: Release) -> tuple[int, int]:
    from maskwell.risk import assess

    keys = release.plan.keys
    return assess(data.table, keys).sample_uniques, assess(release.table, keys).sample_uniques


def _uniques(data: Microdata, release: Release) -> Iterator[str]:
    before, after = _counts(data, release)
    if before:
        yield f"  uniques:   {before:,} records alone with their keys before, {after:,} after; who they are has changed"


def _planned_figures(outcome: Outcome) -> dict[str, Any]:
    setup = outcome.setup
    assert setup is not None
    sensitive = setup.blocks.cells
    return {
        "records": setup.n,
        "keys": list(setup.request.keys),
        "theta": float(setup.theta),
        "sensitive_cells": len(sensitive),
        "occupied_cells": len(setup.cells),
        "blocks": setup.request.blocks,
        "block_size": setup.request.block_size,
        "number_of_blocks": len(setup.blocks),
        "expected_moves": float(setup.theta) * len(sensitive),
        "audit": setup.audit().to_dict(),
    }


def _planned(outcome: Outcome) -> Iterator[str]:
    figures = _planned_figures(outcome)
    audit = figures["audit"]
    what = "groups" if outcome.setup and outcome.setup.request.together else "records"
    yield f"Plan for {figures['records']:,} records over the keys {', '.join(figures['keys'])}"
    yield (
        f"  sensitive: {figures['sensitive_cells']:,} of {figures['occupied_cells']:,} occupied cells, "
        f"in {figures['number_of_blocks']:,} blocks"
    )
    yield f"  would move about {figures['expected_moves']:,.0f} {what}"
    yield (
        f"  risk:      a match would be right with chance {audit['risk']:.5g} at most, {audit['risk_before']:.5g} now; "
        f"the limit {audit['xi']:g} {'would hold' if audit['holds'] else 'would FAIL'}"
    )
    assert outcome.setup is not None
    found = outcome.setup.audit().all_counts
    yield f"  all counts: right with chance {found} for those who use the counts of a whole block"


# What it costs.


def _tables(outcome: Outcome, tables: Sequence[Any]) -> list[Any]:
    """Those that were named; the columns that may change, one by one, if none was."""
    return list(tables) or [{name: None} for name in outcome.columns]


def _added(outcome: Outcome, tables: Sequence[Any]) -> Iterator[str]:
    yield "added variance beside that of sampling:"
    for of in _tables(outcome, tables):
        found = outcome.added_variance(of)
        yield f"  {', '.join(found.columns)}: at most {float(found.ratio.max()):.3g} times"
        yield from (f"    {warning}" for warning in found.warnings)
