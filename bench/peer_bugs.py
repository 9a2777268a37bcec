"""Mistakes that other programs make with the same methods, shown by running them and us: ``docs/peer_bugs.md``.

Each bug is one function of ``bench.peers.bugs``, run in the peers' environment (Spark's in ours), one of the same name
below, and sentences in ``peer_bugs.toml`` that quote the figures of both. Those of sdcMicro are run by
``peers/sdcmicro.R`` where R has it; elsewhere the page quotes what it said last, with its date. RAPPOR's clients, which
are on no package index, were run by hand (``peers/rappor.json``). Fresh installs are made by ``fresh_installs.py``.
"""

import json
import random
import shutil
import subprocess
import tomllib
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

import maskwell as mw
from bench import fresh_installs
from bench.frame import Bench, Work
from maskwell.whole_files import complete_file

PAGE = Path(__file__).resolve().parents[1] / "docs" / "peer_bugs.md"
LIST = Path(__file__).with_suffix(".toml")
IN_R = Path(__file__).parent / "peers" / "sdcmicro.R"
PRINTED = IN_R.with_suffix(".json")
NO_SDCMICRO = 3
RAPPOR_SAID = IN_R.with_name("rappor.json")
N = 20_000
Facts = Mapping[str, Any]


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


def population_risk() -> Facts:
    random = np.random.default_rng(1)

    def draw(k: int) -> np.ndarray:
        share = np.arange(k, 0, -1) ** 2.0
        return random.choice(k, 200_000, p=share / share.sum())

    people = np.column_stack([draw(20), draw(10), draw(10)])
    drawn = people[random.choice(len(people), 2_000, replace=False)]
    cell, size = np.unique(people, axis=0, return_counts=True)
    size_of = {tuple(row): int(count) for row, count in zip(cell, size, strict=True)}
    seen, count = np.unique(drawn, axis=0, return_counts=True)
    alone = [size_of[tuple(row)] for row in seen[count == 1]]
    table = {name: drawn[:, i] for i, name in enumerate("abc")}
    risk = mw.risk.assess(table, list("abc"), population_size=len(people), model="independence")
    assert risk.tau1 is not None
    assert risk.tau2 is not None
    true = {"alone": len(alone), "population_unique": alone.count(1), "right": sum(1 / size for size in alone)}
    return true | {"tau1": risk.tau1, "tau2": risk.tau2}


def matrices_of_strata() -> Facts:
    table = {"x": ["a"] * 900 + ["b"] * 100 + ["a"] * 100 + ["b"] * 900, "stratum": [1] * 1000 + [2] * 1000}
    step = mw.release.pram(table, "x", least_diagonal=0.8, strata="stratum").plan.steps[0]
    shares = {1: np.array([0.9, 0.1]), 2: np.array([0.1, 0.9])}
    moved = [
        np.abs(step.matrix(level).astype(float) @ shares[level[0]] - shares[level[0]]).max() for level in step.levels
    ]
    return {"matrices": len(step.levels), "moved": float(max(moved))}


def chance_of_staying() -> Facts:
    step = mw.release.pram({"y": ["often"] * 990 + ["rare"] * 10}, "y", least_diagonal=0.8).plan.steps[0]
    return {"diagonal": float(min(step.diagonals()[()].values()))}


def lines_and_columns() -> Facts:
    table = {"z": ["a"] * N + ["b"] * N}
    matrix = {"a": {"a": 0.7, "b": 0.3}, "b": {"a": 0.4, "b": 0.6}}
    shown = list(mw.release.pram(table, "z", matrix=matrix, invariant=False).table["z"])
    return {"lines": shown[:N].count("b") / N}


def impossible_moves() -> Facts:
    chances = np.diag([0.9, 0.8, 0.8, 0.8, 0.9]) + np.diag([0.1] * 4, 1) + np.diag([0.1] * 4, -1)
    matrix = {i: {j: float(chances[i, j]) for j in range(5) if chances[i, j]} for i in range(5)}
    true = np.arange(N) % 5
    shown = np.array(mw.release.pram({"v": true.tolist()}, "v", matrix=matrix, invariant=False).table["v"])
    return {"impossible": int((np.abs(shown - true) > 1).sum())}


def counts_and_labels() -> Facts:
    def share_of_rare(rare: str, often: str) -> float:
        table = {"answer": [rare] * 100 + [often] * 900}
        found = [
            mean(label == rare for label in mw.release.pram(table, "answer", least_diagonal=0.8).table["answer"])
            for _ in range(200)
        ]
        return mean(found)

    return {"first": share_of_rare("a", "b"), "last": share_of_rare("b", "a")}


def lazy_frames() -> Facts:
    from bench.peers.spark import session

    designs = {"answer": mw.designs.warner(truth_prob=0.75)}
    with session() as spark:
        frame = spark.range(N).selectExpr("id", "if(id % 4 = 0, 'yes', 'no') as answer")
        try:
            mw.engines.mask(frame, designs)
            refused = "masks"
        except mw.DataError:
            refused = "refuses"
        masked = mw.engines.mask(frame, designs, id="id", key=bytes(32), survey="bench")
        first, second = (mw.engines.tally(masked, designs)["answer"].counts for _ in range(2))
    return {"unkeyed": refused, "first": int(first[0]), "second": int(second[0])}


def ratio_of_f(f: Fraction) -> Fraction:
    """The largest ratio of chances of RAPPOR's permanent report under two truths, which differ in two bits."""
    return ((2 - f) / f) ** 2


def thresholds_of_7_bits() -> Facts:
    claims = [ratio_of_f(Fraction(percent, 100)) for percent in range(1, 100)]
    parities = [mw.designs.rappor(8, gamma=claim).exact_parity() for claim in claims]
    return {
        "designs": len(claims),
        "above": sum(parity > claim for parity, claim in zip(parities, claims, strict=True)),
    }


def fresh_install() -> Facts:
    return fresh_installs.of_ours()


def in_rappor() -> Facts:
    """What RAPPOR's clients did when all 128 values were counted through them."""
    said: Facts = json.loads(RAPPOR_SAID.read_text("utf-8"))
    return said


def in_r() -> Mapping[str, Any]:
    """What sdcMicro does: run now where R has it, and what it did when it was last run elsewhere."""
    program = shutil.which("Rscript")
    if program is not None:
        found = subprocess.run([program, str(IN_R)], capture_output=True, text=True, check=False, timeout=600)
        if found.returncode == 0:
            with complete_file(PRINTED) as file:
                file.write(json.dumps(json.loads(found.stdout), indent=1).encode() + b"\n")
        elif found.returncode != NO_SDCMICRO:
            raise RuntimeError(f"{IN_R.name} failed: {found.stderr}")
    printed: Mapping[str, Any] = json.loads(PRINTED.read_text("utf-8"))
    return printed


def section(bug: Mapping[str, str], theirs: Mapping[str, Any]) -> str:
    """The mistake, and both sides with their figures."""
    ours = globals()[bug["run"]]()
    lines = (
        f"- **{bug['peer'].format(**theirs)}**: {bug['theirs'].format(**theirs)}",
        f"- **Maskwell**: {bug['ours'].format(**ours)} Held by `tests/{bug['test']}`.",
    )
    return "\n\n".join([f"## {bug['title']}", bug["why"], "\n".join(lines)])


def _in_python(bench: Bench, bug: Mapping[str, str]) -> Facts:
    work = Work(f"bench.peers.bugs:{bug['run']}", environment=bug.get("environment", "peers"))
    return bench.alone(work, rounds=1)["run"].facts


def page(bench: Bench) -> str:
    """Every bug beside our behaviour, then those that are not run."""
    of_sdcmicro = in_r()
    sections = [
        "# Mistakes of others, and what we do instead",
        "Programs that do the same work make mistakes worth knowing: these are the ones that the field invites. Each "
        "was run for this page beside Maskwell, and the figures are from that run "
        f"({date.today().isoformat()}); `make bench` repeats it. sdcMicro {of_sdcmicro['version']} was run on "
        f"{of_sdcmicro['date']} with R {of_sdcmicro['R']}, and is again where R has it (`bench/peers/sdcmicro.R`). "
        "RAPPOR's clients, which are on no package index, were run by hand.",
    ]
    listed = tomllib.loads(LIST.read_text("utf-8"))
    elsewhere = {"R": lambda: of_sdcmicro, "C++": in_rappor, "fresh": fresh_installs.of_peers}
    for bug in listed["bug"]:
        sections.append(section(bug, elsewhere[bug["where"]]() if "where" in bug else _in_python(bench, bug)))
    rows = [f"| {row['mistake']} | {row['reason']} | `tests/{row['test']}` |" for row in listed["not_run"]]
    table = "\n".join(["| mistake | why it is not run here | our side |", "| --- | --- | --- |", *rows])
    return "\n\n".join([*sections, "## Not run here", table]) + "\n"


if __name__ == "__main__":
    text = page(Bench())
    with complete_file(PAGE) as file:
        file.write(text.encode())
    print(f"wrote docs/{PAGE.name}")
