"""Sampled reports against the matrix, at sizes where an error of a few parts in a hundred thousand would show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.evidence.cases import CASES, Case
from tests.evidence.limits import FALSE_ALARM
from tests.evidence.record import Result, Size, Table
from tests.statistics_helpers import Fit, fit_test

SEED = 71
DRAWS: dict[Size, int] = {"reduced": 2_000_000, "full": 100_000_000}
BATCH = 5_000_000
# One test for each truth of each design.
TESTS = sum(case.design.k for case in CASES)


@dataclass(frozen=True)
class Sampled:
    """The fit of one design's reports, for its worst truth."""

    case: Case
    draws: int
    worst: Fit
    impossible: int


def run(size: Size) -> Result:
    """Draw, count by row of the matrix, and test each column."""
    found = [sample(case, DRAWS[size]) for case in CASES]
    failures = [
        f"{s.case.label}: p-value {s.worst.p_value:.2g}" for s in found if s.worst.p_value < FALSE_ALARM / TESTS
    ]
    failures += [f"{s.case.label}: {s.impossible} reports of probability 0" for s in found if s.impossible]
    rows = [
        (s.case.label, s.case.design.k, s.worst.cells, f"{s.worst.p_value:.3f}", f"{s.worst.smallest_error:.1e}")
        for s in found
    ]
    return Result(
        name="sampler",
        title="Sampled reports against the matrix",
        question="Do masked values come out with the probabilities of the matrix? Each design masks "
        f"{DRAWS[size]:,} values, spread evenly over its true categories, in batches as a user would; each column "
        "is tested by chi-square.",
        criterion=f"No report of probability zero; no p-value below {FALSE_ALARM:g} divided by the {TESTS} columns, "
        "so that all tests together raise a false alarm with probability 1e-6.",
        sizes={"draws per design": DRAWS[size], "designs": len(CASES), "columns": TESTS, "seed": SEED},
        findings=[
            f"{len(CASES) * DRAWS[size]:.3g} reports of {len(CASES)} designs: least p-value "
            f"{min(s.worst.p_value for s in found):.2g} among {TESTS} columns, {sum(s.impossible for s in found)} "
            "impossible reports.",
            f"An error of {max(s.worst.smallest_error for s in found):.1e} in total variation would be caught in "
            "any column with probability .99.",
        ],
        tables=[
            Table(
                "The worst column of each design; error is the total-variation distance that would be caught with "
                "probability .99:",
                ("design", "k", "rows", "least p-value", "error"),
                rows,
            )
        ],
        failures=failures,
    )


def sample(case: Case, draws: int) -> Sampled:
    """Test all columns of a design."""
    design = case.design
    per_truth = draws // design.k
    matrix = design.matrix()
    codes = _numbers(design.pack_rows(np.arange(design.report_count())))
    span = int(codes.max()) + 1
    fits, impossible = [], 0
    for j, truth in enumerate(design.categories):
        sizes = [min(BATCH, per_truth - start) for start in range(0, per_truth, BATCH)]
        batches = (_column(truth, n) for n in sizes)
        by_code = np.zeros(span, np.int64)
        for reports in design.mask_batches(batches, seed=SEED + case.seed + j):
            by_code += np.bincount(_numbers(reports.packed), minlength=span)[:span]
        counts = by_code[codes]
        # Also those whose number is beyond the last row.
        impossible += per_truth - int(counts[matrix[:, j] > 0].sum())
        fits.append(fit_test(counts, matrix[:, j], FALSE_ALARM / TESTS))
    return Sampled(case, draws, min(fits, key=lambda fit: fit.p_value), impossible)


def _numbers(packed: np.ndarray) -> np.ndarray:
    """Packed reports as whole numbers; a set's bytes, lowest first, are its digits."""
    digits = packed.reshape(len(packed), -1)
    return digits[:, 0] if digits.shape[1] == 1 else digits @ (1 << 8 * np.arange(digits.shape[1]))


def _column(truth: object, n: int) -> object:
    """The same value n times, in the form that costs least memory."""
    if isinstance(truth, int):
        return np.full(n, truth, np.uint8)
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(np.zeros(n, np.int8), [truth])
