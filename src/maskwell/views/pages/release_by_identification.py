"""The custodian's page of a release that limits identification: the demand, its proof, and all that came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from maskwell.release import BlockComparison, Release
from maskwell.release.attack.disclosures import combinations_nobody_had, disclosures
from maskwell.release.attack.intruders import limit_in_words
from maskwell.release.evaluation.block_comparison import READING
from maskwell.release.identification.audit import BlockAudit, IdentificationAudit, match_risk
from maskwell.release.identification.blocks.forming import WAYS
from maskwell.release.identification.plan import IdentificationPlan
from maskwell.release.identification.request import Request
from maskwell.release.identification.rules import EqualFrequencies, Rule
from maskwell.release.partition import text_of
from maskwell.results.numbers import figure, percent
from maskwell.views.charts.release import proof_chart
from maskwell.views.pages.audit import made_by
from maskwell.views.pages.before_and_after import SEEDED, before_and_after, secrets
from maskwell.views.pages.intruders import intruders_section
from maskwell.views.pages.layout import Block, Facts, Figure, Section, Table, Text, page
from maskwell.views.pages.recoding import recoding_sections

_MOST_CELLS = 100
_MOST_BLOCKS = 200
_MATCHES = 4


def identification_page(
    release: Release,
    of: Sequence[Any],
    rows_in_order: bool,
    file_warnings: Sequence[str],
    compared: BlockComparison | None,
) -> str:
    """The page as text."""
    plan, audit = release.plan, release.audit
    found = disclosures(release, rows_in_order=rows_in_order)
    warnings = [*_warnings(release), *found.warnings(), *combinations_nobody_had(release), *file_warnings]
    before = figure(audit.before)
    risk = [
        ["largest chance that a match is right, by the count of the own cell", before, audit.risk_in_digits(4)],
        ["… by the counts of all cells of the block", before, str(audit.all_counts)],
    ]
    sections = [
        Section("", [_headline(release)]),
        *([Section("Warnings", [Text(words) for words in warnings])] if warnings else []),
        intruders_section(release),
        *recoding_sections(release.recoded),
        _demand(release),
        _proof(release),
        *([compared_blocks(compared)] if compared else []),
        _sensitive(release),
        *before_and_after(release, of, risk),
        _replay(release),
        secrets(
            [
                ["ξ and θ", "each follows from the other; publish ξ only if you mean to"],
                ["the number of changed records", "it tells θ to anybody who counts the rare combinations"],
                ["which combinations are sensitive", "the others are exactly as they were, and so are their records"],
                [
                    "that no combination was invented",
                    "every released combination of keys was somebody's; it need not be said",
                ],
            ]
        ),
    ]
    lead = (
        f"For the custodian only. {release.setup.n:,} records, keys {', '.join(plan.keys)}: {limit_in_words(release)}."
    )
    return page("Release: internal report", sections, lead=lead, footer=made_by("release"))


def _headline(release: Release) -> Facts:
    audit, setup = release.audit, release.setup
    return Facts(
        [
            (
                audit.risk_in_digits(4),
                f"largest chance that a match by the keys is right: the limit {figure(audit.xi)} "
                f"{'holds' if audit.holds else 'FAILS'} for those who know the keys; {release.attack().sentence()}",
            ),
            ("holds" if audit.holds else "FAILS", "the limit on matches by the keys, decided exactly for every block"),
            (
                f"{'' if audit.all_counts.exact else '≥ '}{figure(audit.all_counts.risk)}",
                "the same chance for those who use the released counts of all cells of a block",
            ),
            (percent(release.changed, 2), f"of the records changed: {release.changed_records:,} of {setup.n:,}"),
            (f"{sum(block.records for block in audit.blocks):,}", f"{_unit(release)} in sensitive cells"),
        ]
    )


def _unit(release: Release) -> str:
    together = release.setup.request.together
    return "records" if together is None else f"groups of {together}"


def _warnings(release: Release) -> list[str]:
    plan, found = release.plan, []
    if plan.seed is not None:
        found.append(SEEDED)
    if not release.audit.holds:
        found.append("The limit does NOT hold. Do not release this file.")
    if plan.merged:
        found.append(
            f"{plan.merged} partition sets were joined with others because they had too few sensitive cells: within "
            "them records may have crossed what within names, so those margins are not kept exactly."
        )
    if plan.unprotected:
        found.append(
            f"Sets were joined across {', '.join(plan.unprotected)}, not a key: records that are rare only "
            "beside it stay as they are. The limit holds for those who do not know it; make it a key if somebody may."
        )
    if not len(plan.blocks):
        found.append("No combination of keys is rare enough to be sensitive: nothing was changed.")
    return found


def _demand(release: Release) -> Section:
    plan, request = release.plan, release.setup.request
    sizes = release.setup.blocks.sizes
    rare = request.rule.sensitive_below
    blocks = f"{len(sizes)} of {sizes.min()} to {sizes.max()} cells" if len(sizes) else "none"
    rows = [
        ["limit ξ", figure(plan.xi), "the largest chance that a match is right"],
        ["θ", _theta(plan), "a record of a cell of frequency t moves with chance θ / t"],
        ["sensitive", f"cells of fewer than {rare}", "those of fewer than 1/ξ records"],
        ["least block", *_least_block(request.rule)],
        ["keys", ", ".join(plan.keys), "what an intruder may know"],
        ["within", _spec(request.within), "what no record leaves"],
        ["exempt", _spec(request.exempt), "what never changes"],
        ["along", ", ".join(request.along) or "–", "what moves with the keys although it is none"],
        ["together", request.together or "–", "records that move as one"],
        ["blocks", blocks, "records move inside them"],
        ["formed", _formed(request), WAYS[request.blocks]],
        ["joined sets", str(plan.merged), "partition sets too small to stand alone"],
    ]
    return Section("The demand and the plan", [Table("What was asked, and what follows", ["", "", ""], rows, "<==")])


def _theta(plan: IdentificationPlan) -> str:
    if plan.theta is not None or not plan.thetas:
        return "–" if plan.theta is None else figure(plan.theta)
    return f"{figure(min(plan.thetas))} to {figure(max(plan.thetas))}, block by block"


def _least_block(rule: Rule) -> tuple[str, str]:
    if isinstance(rule, EqualFrequencies):
        few = {rule.least_of(t): t for t in range(rule.sensitive_below - 1, 0, -1)}
        needed = ", ".join(f"{cells} from t = {t} on" for cells, t in sorted(few.items(), reverse=True))
        return f"{rule.least_of(1)} cells", f"of one frequency t: {needed}; each kind of block is audited by itself"
    return f"{rule.least} cells", "from which on the limit holds whatever the block"


def _formed(request: Request) -> str:
    return request.blocks if request.block_size is None else f"{request.blocks}, about {request.block_size} cells each"


def _spec(spec: dict[str, Any]) -> str:
    return "; ".join(name if how is None else f"{name}: {how}" for name, how in spec.items()) or "–"


def _proof(release: Release) -> Section:
    audit, plan = release.audit, release.plan
    if not audit.blocks:
        return Section("The proof", [Text("No block was needed.")])
    words = (
        "The intruder is taken to know that a person is in the file, the person's true keys, and all chances. For each "
        "block, each frequency t and each number a of released records in the person's cell, the chance that one of "
        "them, picked at random, is the person's is computed as a fraction. This is what the limit is about. Cells "
        f"that were left alone have a risk of {figure(audit.untouched)} at most."
    )
    return Section(
        "The proof",
        [
            Text(words),
            Text(_all_counts(audit)),
            Figure(proof_chart(audit)),
            _by_block(release) if plan.request.block_size is None else _by_kind(audit),
        ],
    )


def _all_counts(audit: IdentificationAudit) -> str:
    """What the limit does not cover: an intruder who looks at more counts than one."""
    found = audit.all_counts
    words = (
        "An intruder who uses the released counts of all cells of the block, and knows which cells these are, can do "
        "better. "
    )
    if found.exact:
        verdict = "the limit holds for this one too" if audit.holds_for_all_counts else "which is above the limit"
        return (
            f"{words}Over every outcome of every block, every person and every record that may be picked, this one is "
            f"right with a chance of {figure(found.risk)} at most: {verdict}. That figure is exact."
        )
    return (
        f"{words}Blocks of this size have too many outcomes to try all. If every cell is shown with its true count, or "
        f"one record beside, this one is right with a chance of up to {figure(found.risk)}; the worst outcome is at "
        "least as bad. Small blocks (block_size) keep this chance down."
    )


_AUDITED = ["cells", "of frequency", "records", "largest risk", "reached at", "by all counts"]


def _by_block(release: Release) -> Table:
    audit, plan = release.audit, release.plan
    order = sorted(range(len(audit.blocks)), key=lambda i: -audit.blocks[i].risk)[:_MOST_BLOCKS]
    rows = []
    for i in order:
        sets = plan.blocks[i].sets
        named = [", ".join(f"{name} {level}" for name, level in levels.items()) or "all" for levels in sets]
        rows.append([str(i + 1), " + ".join(named), *_audited(audit.blocks[i])])
    left = f", the {_MOST_BLOCKS} riskiest of {len(audit.blocks)}" if len(audit.blocks) > _MOST_BLOCKS else ""
    caption = f"Block by block, the riskiest first{left}"
    return Table(caption, ["block", "partition sets", *_AUDITED], rows, "<=>>>>>>", folded=len(rows) > 12)


def _by_kind(audit: IdentificationAudit) -> Table:
    """Small blocks are many, but of few kinds."""
    order = sorted(audit.kinds, key=lambda kind: -kind[0].risk)[:_MOST_BLOCKS]
    rows = [[f"{number:,}", *_audited(block)] for block, number in order]
    caption = "Blocks by how many cells have each frequency, the riskiest first"
    return Table(caption, ["blocks", *_AUDITED], rows, ">>>>>>>", folded=len(rows) > 12)


def _audited(block: BlockAudit) -> list[str]:
    composition = ", ".join(f"{size}: {cells:,}" for size, cells in sorted(block.sizes.items()))
    where = f"t = {block.size}, a = {block.matches}" if block.size else "below 1/513"
    sizes = [f"{block.cells:,}", composition, f"{block.records:,}"]
    all_counts = f"{'' if block.all_counts.exact else '≥ '}{figure(block.all_counts.risk)}"
    return [*sizes, figure(block.risk), where, all_counts]


def compared_blocks(compared: BlockComparison) -> Section:
    """Ways of forming blocks side by side."""
    header, rows = compared.lines()
    caption = "Every way of forming blocks, tried on this file; the trials were thrown away"
    table = Table(caption, header, rows, "<" + ">" * (len(header) - 1))
    return Section("Ways of forming blocks", [table, *map(Text, READING)])


def _sensitive(release: Release) -> Section:
    audit = release.audit
    counts: Counter[int] = Counter()
    for block in audit.blocks:
        counts.update(block.sizes)
    summary = [
        [f"{size}", f"{cells:,}", f"{size * cells:,}", figure(1 / size)] for size, cells in sorted(counts.items())
    ]
    blocks: list[Block] = [
        Text(
            f"{sum(counts.values()):,} of {len(release.setup.cells):,} occupied cells are sensitive. Their records may "
            "move; all others are exactly as they were."
        ),
        Table("Sensitive cells by frequency", ["frequency", "cells", _unit(release), "risk before"], summary, "<>>>"),
    ]
    if counts:
        header = [*release.plan.keys, "frequency", "block", "risk before", "risk after"]
        rows = _riskiest(release)
        caption = f"The riskiest cells: {len(rows):,} of {sum(counts.values()):,}"
        blocks.append(Table(caption, header, rows, "<" * len(release.plan.keys) + ">>>>", folded=True))
    return Section("Sensitive cells", blocks)


def _riskiest(release: Release) -> list[list[str]]:
    """The cells with the largest risk after the release, from the blocks that have it."""
    audit, plan = release.audit, release.plan
    order = sorted(range(len(audit.blocks)), key=lambda i: -audit.blocks[i].risk)
    rows: list[tuple[Fraction, list[str]]] = []
    for i in order:
        if len(rows) >= _MOST_CELLS:
            break
        audited, planned = audit.blocks[i], plan.blocks[i]
        risk = {
            size: max(
                match_risk(audited.sizes, audited.theta, size, a) for a in range(1, min(_MATCHES, audited.records) + 1)
            )
            for size in audited.sizes
        }
        for cell, count in zip(plan.cells(i), planned.counts, strict=True):
            line = [*map(text_of, cell), str(count), str(i + 1), figure(1 / count), figure(risk[count])]
            rows.append((risk[count], line))
    rows.sort(key=lambda row: -row[0])
    return [line for _, line in rows[:_MOST_CELLS]]


def _replay(release: Release) -> Section:
    plan = release.plan
    how = {
        "secure": "The draws were fresh and cryptographic, and nobody can repeat them, which is as it should be. The "
        "plan repeats the blocks and the proof on the original file, with new draws: ",
        "keyed": "The draws follow from the secret key and the ids. With both, the same file comes out again: ",
    }.get(plan.randomness, "The draws follow from the seed that the plan holds: ")
    call = "plan.apply(table, key=key, ids=ids)" if plan.randomness == "keyed" else "plan.apply(table)"
    rows = [
        ["fingerprint of the plan", plan.fingerprint],
        ["randomness", plan.randomness if plan.seed is None else f"seed {plan.seed}: simulation only"],
        ["store", "release.plan.to_json(), beside the original file"],
        ["repeat", f"plan = ReleasePlan.from_json(text); {call}"],
    ]
    return Section("How to repeat it", [Text(f"{how}see below."), Table("The plan", ["", ""], rows, "<=")])
