"""What mask.js draws in node from real random words: it fits the matrix, and audits find no more than is claimed.

The chi-squares together raise a false alarm once in a million runs; each catches, with power .99, a sampler that is off
by ``WORST_ERROR`` in total variation. Audits raise one once in a million too, and find faults that are planted.
"""

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from tests.browser.harness import HERE, MASK_JS, node_program
from tests.statistics_helpers import fit_test

d = mw.designs
WARNER = d.warner(truth_prob=0.8)
PAIRS = {(0, 1): "1/2", (1, 2): "1/2", (0, 2): "1/2"}
# Every sampler, and every way through it that a small design can take.
DESIGNS: dict[str, mw.Design] = {
    "the truth": d.direct(3),
    "one category": d.gamma_diagonal(5, epsilon=1.0),
    "sets": d.minimax(5, epsilon=0.5),
    "sets of several sizes": d.rappor(4, epsilon=1.0),
    "sets that are filled first": d.local_diversity(16, l=4),
    "matrix": d.kuk(red_if_yes=0.7, red_if_no=0.2, draws=2),
    "conditional": d.conditional(3, subset_probs=PAIRS),
    "blocks": d.block(7, epsilon=0.3),
    "hyperplanes, a prime": d.projective(18, epsilon=0.7),
    "hyperplanes, a power of two": d.projective(40, epsilon=1.0),
    "bits": mw.rounds.unary(["a", "b", "c"], longitudinal=2, per_round=1).permanent,
    "two layers of bits": mw.rounds.rappor(4, f=0.5, p=0.25, q=0.75),
    "two tables": mw.rounds.kary(4, longitudinal=3, per_round=1.5),
    "product": d.product(WARNER, d.minimax(4, epsilon=0.5), d.projective(3, gamma=2)),
}
DRAWS = 25_000
FALSE_ALARM = 1e-6 / (2 * len(DESIGNS))
WORST_ERROR = 0.09

Report = Any


class Drawer:
    """A design as mask.js draws it; a function from codes of truths to reports, as ``audit_sampler`` takes it."""

    def __init__(self, process: "subprocess.Popen[str]", design: mw.Design) -> None:
        self._process = process
        self._sizes = [part.k for part in design.variables.values()] if design.variables else []
        self._say({"design": design.to_json()})

    def __call__(self, codes: Sequence[int] | np.ndarray) -> list[Report]:
        truths = np.asarray(codes).tolist()
        if self._sizes:
            truths = np.stack(np.unravel_index(truths, self._sizes), axis=1).tolist()
        self._say({"truths": truths})
        assert self._process.stdout is not None
        return [_hashable(report) for report in json.loads(self._process.stdout.readline())]

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def _hashable(report: Report) -> Report:
    return tuple(map(_hashable, report)) if isinstance(report, list) else report


@contextmanager
def drawing(design: mw.Design, mask_js: Path = MASK_JS) -> Iterator[Drawer]:
    command = [node_program(), str(HERE / "try_draws.mjs"), str(mask_js)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Drawer(process, design)


def as_it_travels(design: mw.Design) -> list[Report]:
    """The report of each row of the matrix, as mask.js returns it."""
    if design.variables:
        parts = [as_it_travels(part) for part in design.variables.values()]
        grids = np.meshgrid(*(np.arange(len(part)) for part in parts), indexing="ij")
        rows = zip(*(grid.ravel().tolist() for grid in grids), strict=True)
        return [tuple(part[row] for part, row in zip(parts, joint, strict=True)) for joint in rows]
    labels = design.report_labels()
    if not design.codec.bit_masks:
        return list(range(len(labels)))
    return [tuple(sorted(design.categories.index(label) for label in held)) for held in labels]


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
def test_draws_fit_the_matrix(design: mw.Design) -> None:
    matrix, rows = design.matrix(), as_it_travels(design)
    place = {report: row for row, report in enumerate(rows)}
    assert len(place) == matrix.shape[0]
    with drawing(design) as draw:
        for truth in {0, design.k - 1}:
            found = [place[report] for report in draw([truth] * DRAWS)]
            counts = np.bincount(found, minlength=len(rows))
            assert not counts[matrix[:, truth] == 0].any()
            fit = fit_test(counts, matrix[:, truth], FALSE_ALARM)
            assert fit.smallest_error <= WORST_ERROR
            assert fit.p_value > FALSE_ALARM


AUDITED = {name: design for name, design in DESIGNS.items() if np.isfinite(design.parity)}
AUDITS: dict[str, Any] = {"n": 50_000, "confidence": 1 - 1e-6 / len(AUDITED)}


@pytest.mark.parametrize("design", AUDITED.values(), ids=AUDITED.keys())
def test_audits_do_not_refute_what_is_claimed(design: mw.Design) -> None:
    with drawing(design) as draw:
        audit = mw.audit_sampler(draw, k=design.k, claimed=design.epsilon, **AUDITS)
    assert not audit.flagged, audit.describe()
    assert audit.epsilon_lower > 0.2 * design.epsilon, "an audit that sees nothing refutes nothing"


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(source: str) -> str:
        assert source.count(old) == 1
        return source.replace(old, new)

    return change


TRUTH_FIRST = replaced("  return report;\n}", "  return inside ? [j, ...report.filter((c) => c !== j)] : report;\n}")
FAULTS = {
    "the truth stays too often": ("one category", replaced("number(word) < stay", "number(word) < stay + stay / 3n")),
    "the order of a set tells the truth": ("sets", TRUTH_FIRST),
    "small numbers are likelier": ("matrix", replaced("firstAbove(u % total,", "firstAbove((u % total) / 2n,")),
    "blocks hold the truth too often": (
        "blocks",
        replaced("inside === TOTAL || number(word) < inside", "number(word) < inside + inside / 3n"),
    ),
    "hyperplanes hold the truth too often": (
        "hyperplanes, a power of two",
        replaced("const within = number(word) < inside;", "const within = number(word) < inside + inside / 3n;"),
    ),
    "a bit of the truth is kept too often": (
        "two layers of bits",
        replaced("number(word) < (bit ? afterOne", "number(word) < (bit ? afterOne + afterOne / 4n"),
    ),
    "the permanent report is left out": ("two tables", replaced("second[kept]", "second[j]")),
    "words come back": (
        "one category",
        replaced(
            "globalThis.crypto.getRandomValues(new Uint32Array(1))[0]", "(globalThis.w = (globalThis.w ?? 0) + 1)"
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_audits_find_planted_faults(fault: str, tmp_path: Path) -> None:
    name, change = FAULTS[fault]
    faulty = tmp_path / "mask.mjs"
    faulty.write_text(change(MASK_JS.read_text("utf-8")), "utf-8")
    with drawing(DESIGNS[name], faulty) as draw:
        audit = mw.audit_sampler(draw, k=DESIGNS[name].k, claimed=DESIGNS[name].epsilon, **AUDITS)
    assert audit.flagged, audit.describe()
