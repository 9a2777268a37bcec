"""Forged files: designs of every kind, plans of releases, files of reports."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.adversarial.honest import KINDS
from tests.adversarial.trial import Trial, try_designs, try_plans, try_report_files
from tests.evidence.record import Result, Size, Table

DESIGNS: dict[Size, int] = {"reduced": 2_000, "full": 110_000}
PLANS: dict[Size, int] = {"reduced": 200, "full": 5_000}
REPORTS: dict[Size, int] = {"reduced": 300, "full": 6_000}
SEED = 9
SECONDS = 1.0


def run(size: Size) -> Result:
    """Read all forgeries."""
    with TemporaryDirectory() as folder:
        trials = [
            try_designs(DESIGNS[size], SEED),
            try_plans(PLANS[size], SEED + 1),
            try_report_files(REPORTS[size], SEED + 2, Path(folder)),
        ]
    return conclude(trials, size)


def conclude(trials: Iterable[Trial], size: Size) -> Result:
    """Any lie or stray error is a failure; a slow file is one at full size, where the machine does nothing else."""
    rows, failures = [], []
    for trial in trials:
        failures += [f"false: {words}" for words in trial.false_certificates]
        failures += [f"error: {words}" for words in trial.other_errors]
        for kind, count in trial.read.items():
            name = f"design, {kind}" if kind in KINDS else kind
            rows.append((name, count, count - trial.passed[kind], trial.passed[kind], 1000 * trial.slowest[kind]))
            if size == "full" and trial.slowest[kind] > SECONDS:
                failures.append(f"slow: {name} took {trial.slowest[kind]:.2f} s")
    designs = sum(row[1] for row in rows if str(row[0]).startswith("design"))
    slowest = max(row[4] for row in rows)
    return Result(
        name="forged_files",
        title="Forged files",
        question="Can a design, a plan of a release or a file of reports claim a privacy that it does not give, keep a "
        "reader busy, or end in an error that is no plain line? Honest files are changed: numbers respelled, moved "
        "between places so that sums stay, sets given members twice, rows, blocks and totals changed, names, "
        "parameters and demands claimed; fingerprints are recomputed, so that only the meaning can tell. What is read "
        "without an error is enumerated from the numbers that the sampler uses, in plain fractions.",
        criterion="Every file is refused with one line, or what it shows and claims (parity, ε, diversity, distance, "
        "demand, parameters) is what is drawn; a plan that is carried out keeps its limit; reports are those that were "
        f"written. At full size no single file takes more than {SECONDS:g} second of the processor.",
        sizes={"designs": designs, "plans": PLANS[size], "files of reports": REPORTS[size], "seed": SEED},
        findings=[
            f"{designs:,} forged designs of every kind, {PLANS[size]:,} plans and {REPORTS[size]:,} files of reports: "
            f"{sum(len(t.false_certificates) for t in trials)} false certificates, "
            f"{sum(len(t.other_errors) for t in trials)} errors of another kind; the slowest file took "
            f"{slowest:.0f} ms."
        ],
        tables=[
            Table(
                "By kind of file. What passed was true: a change that changes nothing, or an honest other design.",
                ("file", "read", "refused", "passed", "slowest, ms"),
                rows,
            )
        ],
        failures=failures,
    )
