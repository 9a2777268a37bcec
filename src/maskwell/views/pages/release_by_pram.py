"""The custodian's page of post-randomized columns: every matrix, and the file before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maskwell.release import PramRelease
from maskwell.release.attack.disclosures import combinations_nobody_had, disclosures
from maskwell.release.partition import text_of
from maskwell.release.pram.step import Step
from maskwell.results.numbers import figure, percent
from maskwell.views.charts.release import transition_chart
from maskwell.views.pages.audit import made_by
from maskwell.views.pages.before_and_after import SEEDED, before_and_after, secrets
from maskwell.views.pages.layout import Block, Facts, Figure, Section, Table, Text, page

_WIDEST = 16
_MOST_FIGURES = 12
_MOST_ROWS = 400


def pram_page(release: PramRelease, of: Sequence[Any], rows_in_order: bool, file_warnings: Sequence[str]) -> str:
    """The page as text."""
    steps = release.plan.steps
    found = disclosures(release, rows_in_order=rows_in_order)
    warnings = [*_warnings(release), *found.warnings(), *combinations_nobody_had(release), *file_warnings]
    sections = [
        Section("", [_headline(release, release.comparison().changed)]),
        *([Section("Warnings", [Text(words) for words in warnings])] if warnings else []),
        *(_step(step, i, len(steps), release) for i, step in enumerate(steps)),
        *before_and_after(release, of),
        _replay(release),
        secrets(
            [
                ["matrices that keep frequencies", "their entries are ratios of true counts"],
                ["the number of changed records", "beside a known diagonal it tells true counts"],
            ]
        ),
    ]
    columns = "; ".join(" × ".join(step.columns) for step in steps)
    lead = f"For the custodian only. {release.n:,} records, post-randomized in {columns}."
    return page("Post-randomization: internal report", sections, lead=lead, footer=made_by("release"))


def _headline(release: PramRelease, changed: float) -> Facts:
    stays = [float(p) for step in release.plan.steps for own in step.diagonals().values() for p in own.values()]
    kept = all(step.keeps_frequencies for step in release.plan.steps)
    return Facts(
        [
            (percent(changed, 2), "of the records changed in some column"),
            (
                f"{figure(min(stays))} to {figure(max(stays))}",
                "chance that a value stays as it is, over categories and strata",
            ),
            ("kept" if kept else "not kept", "are expected frequencies, decided exactly"),
            (f"{sum(len(step.levels) for step in release.plan.steps):,}", "matrices: one for each step and stratum"),
        ]
    )


def _warnings(release: PramRelease) -> list[str]:
    found = []
    if any(step.seed is not None for step in release.plan.steps):
        found.append(SEEDED)
    drifting = [name for step in release.plan.steps if not step.keeps_frequencies for name in step.columns]
    if drifting:
        found.append(
            f"Counts by {', '.join(drifting)} are biased until they are corrected through the matrix: release.estimate "
            "does it, and users can only if you publish the matrix with publish_limit=True."
        )
    found.append(
        "Post-randomization by a matrix of your choice gives no limit on a match by itself; the risk below is counted, "
        "not proven. limit_identification gives a limit."
    )
    return found


def _step(step: Step, position: int, steps: int, release: PramRelease) -> Section:
    name = " × ".join(step.columns)
    changed = release.changed_by_step[position]
    words = (
        f"{len(step.labels)} categories, {len(step.levels)} {'strata' if len(step.levels) > 1 else 'stratum'}"
        f"{' of ' + ', '.join(step.strata) if step.strata else ''}; {changed:,} records changed "
        f"({percent(changed / release.n, 2)}). Expected frequencies are "
        f"{'kept exactly' if step.keeps_frequencies else 'NOT kept'}."
    )
    blocks: list[Block] = [Text(words)]
    labels = [", ".join(map(text_of, label)) if isinstance(label, tuple) else text_of(label) for label in step.labels]
    drawn = 0
    if len(labels) <= _WIDEST:
        for level, path in list(zip(step.levels, step.transitions, strict=True))[:_MOST_FIGURES]:
            where = f" where {', '.join(f'{n} is {text_of(v)}' for n, v in zip(step.strata, level, strict=True))}"
            title = f"Chances of {name}{where if step.strata else ''}"
            blocks.append(Figure(transition_chart(labels, path.floats, title)))
            drawn += 1
    if drawn < len(step.levels):
        blocks.append(Text(f"Pictures of {drawn} of {len(step.levels)} matrices; the plan holds all of them.", "note"))
    blocks.append(_diagonals(step, labels))
    heading = f"Step {position + 1} of {steps}: {name}" if steps > 1 else f"The matrices of {name}"
    return Section(heading, blocks)


def _diagonals(step: Step, labels: Sequence[str]) -> Table:
    """Staying, true count and likeliest move of every category in every stratum."""
    rows = []
    for level, path, counts in zip(step.levels, step.transitions, step.counts, strict=True):
        moves = path.floats - np.diag(np.diagonal(path.floats))
        for j, label in enumerate(labels):
            most = int(np.argmax(moves[:, j]))
            target = f"{labels[most]} ({figure(moves[most, j])})" if moves[most, j] > 0 else "–"
            rows.append(
                [", ".join(map(text_of, level)) or "all", label, f"{counts[j]:,}", figure(path.floats[j, j]), target]
            )
    left = f", the first {_MOST_ROWS} of {len(rows):,} lines" if len(rows) > _MOST_ROWS else ""
    header = ["stratum", "category", "true count", "stays", "likeliest move"]
    return Table(f"Every category of every stratum{left}", header, rows[:_MOST_ROWS], "<<>><", folded=True)


def _replay(release: PramRelease) -> Section:
    drawn = {step.randomness for step in release.plan.steps}
    if not drawn <= {"seeded", "keyed"}:
        how = "The draws were fresh and cryptographic: nobody can repeat them, which is as it should be."
    elif "keyed" in drawn:
        how = "The draws follow from the secret key and the ids: plan.apply(table, key=key, ids=ids) repeats them."
    else:
        how = "The draws follow from the seeds that the plan holds: plan.apply(table) gives the same file."
    rows = [["fingerprint of the plan", release.plan.fingerprint]]
    for i, step in enumerate(release.plan.steps, start=1):
        seeded = f"seed {step.seed}: simulation only"
        rows.append([f"randomness of step {i}", step.randomness if step.seed is None else seeded])
    rows.append(["store", "release.plan.to_json(), beside the original file"])
    return Section("How to repeat it", [Text(how), Table("The plan", ["", ""], rows, "<=")])
