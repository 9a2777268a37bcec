"""Mistakes that other programs make with the same methods, shown by running them and us: ``docs/peer_bugs.md``.

Each bug is one function of ``bench.peers.bugs``, run in the peers' environment, one of the same name below, and
sentences in ``peer_bugs.toml`` that quote the figures of both.
"""

import random
import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, localcontext
from pathlib import Path
from statistics import mean, stdev

import numpy as np

import maskwell as mw
from bench.frame import Bench, Work
from maskwell.whole_files import complete_file

PAGE = Path(__file__).resolve().parents[1] / "docs" / "peer_bugs.md"
LIST = Path(__file__).with_suffix(".toml")
N = 20_000
Facts = Mapping[str, float]


def order_of_sets() -> Facts:
    reports = mw.designs.minimax(10, epsilon=1.0).mask(np.full(N, 6))
    # Where the truth stands in the packed bits is where it stands among the categories.
    places = {np.flatnonzero(row).tolist().index(6) for row in _bits(reports) if row[6]}
    return {"holding": float(_bits(reports)[:, 6].mean()), "places": len(places)}


def _bits(reports: mw.Reports) -> np.ndarray:
    return np.unpackbits(reports.packed, axis=1, count=reports.design.k, bitorder="little")


def bits_never_cleared() -> Facts:
    design = mw.designs.rappor(8, epsilon=1.0)
    kept = mean(3 in report for report in design.mask(np.full(N, 3)).decode())
    # A bit of RAPPOR is reported truly with probability e^(ε/2) / (1 + e^(ε/2)).
    return {"asked": float(np.exp(0.5) / (1 + np.exp(0.5))), "kept": kept, "epsilon": design.epsilon}


def unary_before_1_2() -> Facts:
    design = mw.designs.optimized_unary(8, epsilon=1.0)
    kept = mean(3 in report for report in design.mask(np.full(N, 3)).decode())
    return {"asked": 0.5, "kept": kept, "epsilon": design.epsilon}


def float_thresholds() -> Facts:
    from bench.peers.bugs import GRID

    above = 0
    for k, epsilon in GRID:
        parity = mw.designs.gamma_diagonal(k, epsilon=epsilon).exact_parity()
        with localcontext() as context:
            context.prec = 60
            above += Decimal(parity.numerator) / Decimal(parity.denominator) > Decimal(epsilon).exp()
    return {"designs": len(GRID), "above": above}


def order_of_bits() -> Facts:
    estimate = mw.estimate(mw.designs.rappor(8, epsilon=4.0).mask(np.full(N, 2)))
    return {"largest": int(np.argmax(estimate.proportions)), "true_category": float(estimate.proportions[2])}


def clipped() -> Facts:
    design = mw.designs.gamma_diagonal(10, epsilon=1.0)
    found = [float(mw.estimate(design.mask(np.arange(500) % 9)).proportions[9]) for _ in range(400)]
    return {"mean": mean(found), "error": stdev(found) / 20, "least": min(found)}


def seeded_by_anyone() -> Facts:
    design, twice = mw.designs.gamma_diagonal(100, epsilon=1.0), []
    for _ in range(2):
        random.seed(1)
        np.random.seed(1)
        twice.append(design.mask(np.arange(1000) % 100).decode())
    return {"equal": float(np.mean(np.equal(*twice)))}


def lies_that_are_true() -> Facts:
    P = np.full((4, 4), 0.4 / 3) + np.eye(4) * (0.6 - 0.4 / 3)
    kept = mean(report == 1 for report in mw.designs.from_matrix(P).mask(np.full(N, 1)).decode())
    return {"asked": 0.6, "kept": kept}


def section(bug: Mapping[str, str], theirs: Facts) -> str:
    """The mistake, and both sides with their figures."""
    ours = globals()[bug["run"]]()
    lines = (
        f"- **{bug['peer']}**: {bug['theirs'].format(**theirs)}",
        f"- **Maskwell**: {bug['ours'].format(**ours)} Held by `tests/{bug['test']}`.",
    )
    return "\n\n".join([f"## {bug['title']}", bug["why"], "\n".join(lines)])


def page(bench: Bench) -> str:
    """Every bug beside our behaviour, then those that are not run."""
    sections = [
        "# Mistakes of others, and what we do instead",
        "Programs that do the same work make mistakes worth knowing: these are the ones that the field invites. Each "
        "was run for this page beside Maskwell, and the figures are from that run "
        f"({date.today().isoformat()}); `make bench` repeats it.",
    ]
    listed = tomllib.loads(LIST.read_text("utf-8"))
    for bug in listed["bug"]:
        found = bench.alone(Work(f"bench.peers.bugs:{bug['run']}", environment="peers"), rounds=1)
        sections.append(section(bug, found["run"].facts))
    rows = [f"| {row['mistake']} | {row['reason']} | `tests/{row['test']}` |" for row in listed["not_run"]]
    table = "\n".join(["| mistake | why it is not run here | our side |", "| --- | --- | --- |", *rows])
    return "\n\n".join([*sections, "## Not run here", table]) + "\n"


if __name__ == "__main__":
    text = page(Bench())
    with complete_file(PAGE) as file:
        file.write(text.encode())
    print(f"wrote docs/{PAGE.name}")
