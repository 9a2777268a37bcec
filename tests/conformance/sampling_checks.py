"""What every sampler must satisfy: exactly where that can be decided, by chi-square where only draws can tell."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import maskwell as mw
from tests.statistics_helpers import fit_test

SPAN = 1 << 64


def repeated(design: mw.Design, truth: Any, n: int) -> Any:
    """The same truth n times, as a column, or for a product as a table."""
    if isinstance(design, mw.designs.ProductDesign):
        return {name: np.full(n, label) for name, label in zip(design.names, truth, strict=True)}
    return np.full(n, truth)


def draw_reports(design: mw.Design, truth: Any, n: int, seed: int) -> mw.Reports:
    return design.mask(repeated(design, truth, n), seed=seed)


def distinct_reports(reports: mw.Reports) -> tuple[list[Any], NDArray[np.int64]]:
    """Each report as it is stored, decoded, with how often it came."""
    rows = np.ascontiguousarray(reports.packed).reshape(len(reports), -1)
    raw = rows.view(np.uint8).reshape(len(reports), -1)
    if raw.shape[1] <= 8:
        words = np.zeros((len(raw), 8), np.uint8)
        words[:, : raw.shape[1]] = raw
        _, first, counts = np.unique(words.view(np.uint64).ravel(), return_index=True, return_counts=True)
    else:
        _, first, counts = np.unique(raw, axis=0, return_index=True, return_counts=True)
    return mw.Reports(reports.design, reports.packed[first]).decode(), counts


def check_one_form(design: mw.Design, n: int = 20_000, seed: int = 1) -> None:
    """A report has one stored form and one decoded form, both among those that the matrix lists.

    Two forms of the same set (members in another order, say) would be told apart by whoever holds the file, and the
    form could depend on the truth: the matrix would no longer describe what is revealed.
    """
    known = design.report_labels()
    for j, truth in enumerate(design.categories):
        labels, _ = distinct_reports(draw_reports(design, truth, n, seed + j))
        assert all(type(label) is type(known[0]) and label in known for label in labels), "a report that is no row"
        assert len(set(labels)) == len(labels), "one report is stored in two ways"


def row_counts(reports: mw.Reports) -> NDArray[np.int64]:
    """How often each row of the matrix was reported."""
    row_of = {label: row for row, label in enumerate(reports.design.report_labels())}
    counts = np.zeros(len(row_of), np.int64)
    for label, count in zip(*distinct_reports(reports), strict=True):
        assert label in row_of, "a report that is no row of the matrix"
        counts[row_of[label]] += count
    return counts


def check_sampler(
    design: mw.Design,
    *,
    n: int,
    false_alarm: float,
    worst_error: float,
    seed: int = 2,
    claimed: mw.Design | None = None,
) -> None:
    """For every truth, ``n`` sampled reports fit the column of the (claimed) matrix.

    ``false_alarm`` is the rate of one chi-square. Asserted as well: it catches, with power .99, every sampler whose
    reports, rare ones pooled, are ``worst_error`` or more away in total variation.
    """
    matrix = (claimed or design).matrix()
    for j, truth in enumerate(design.categories):
        counts = row_counts(draw_reports(design, truth, n, seed + 1000 * j))
        assert not counts[matrix[:, j] == 0].any(), f"a report of probability zero, truth {j}"
        fit = fit_test(counts, matrix[:, j], false_alarm)
        assert fit.smallest_error <= worst_error, "n is too small for the error to be caught"
        assert fit.p_value > false_alarm, f"truth {j}: p-value {fit.p_value:.3g} over {fit.cells} cells"


def check_thresholds(design: mw.Design) -> None:
    """The kernel's thresholds are the matrix to the last bit: no number of draws could show this.

    The first 64-bit number of a record chooses the outcome: a row of the matrix; for symmetric designs, a size with the
    truth inside (first) or outside; for blocks and hyperplanes, whether it is inside (first). Given each threshold and
    the number before it, the kernel must change its outcome there.
    """
    labels, exact = design.report_labels(), design.matrix(exact=True)
    in_order = isinstance(design, (mw.designs.SubsetDesign, mw.designs.BlockDesign, mw.designs.ProjectiveDesign))
    [total] = set(getattr(design.sampler, "totals", [SPAN]))
    for j, truth in enumerate(design.categories):
        outcomes = [_outcome(design, label, truth) for label in labels]
        weights: dict[Any, Any] = {}
        for outcome in sorted(set(outcomes), key=None if in_order else outcomes.index):
            rows = [row for row, other in enumerate(outcomes) if other == outcome]
            weight = sum(exact[rows, j]) * total
            assert weight.denominator == 1
            if weight:
                weights[outcome] = int(weight)
        ends = np.cumsum(np.array(list(weights.values()), dtype=object)).tolist()
        starts = [0, *ends[:-1]]
        numbers = [number for start, end in zip(starts, ends, strict=True) for number in (start, end - 1)]
        expected = [outcome for outcome in weights for _ in range(2)]
        last_multiple = (SPAN // total - 1) * total
        for shift in {0, last_multiple}:
            drawn = _run(design, j, [number + shift for number in numbers])
            assert [_outcome(design, label, truth) for label in drawn] == expected
        if SPAN % total:
            # Numbers beyond the last whole multiple would favour small remainders; the next number decides instead.
            for rejected in (SPAN // total * total, SPAN - 1):
                drawn = _run(design, j, numbers, before=rejected)
                assert [_outcome(design, label, truth) for label in drawn] == expected


def _outcome(design: mw.Design, label: Any, truth: Any) -> Any:
    """What the first number of a record decides about a report; in the order in which the weights are laid out."""
    if isinstance(design, mw.designs.ProjectiveDesign):
        return truth not in design.members(label)
    members = label if isinstance(label, frozenset) else {label}
    if isinstance(design, mw.designs.BlockDesign):
        return truth not in members
    return (len(members), truth not in members) if isinstance(design, mw.designs.SubsetDesign) else label


def _run(design: mw.Design, code: int, numbers: list[int], before: int | None = None) -> list[Any]:
    """The reports of records whose first 64-bit numbers are given; the later words are arbitrary."""
    stride = design.sampler.width + 256
    words = np.random.default_rng(3).integers(0, 1 << 32, (len(numbers), stride), np.uint32)
    for record, number in enumerate(numbers):
        for at, value in enumerate([number] if before is None else [before, number]):
            words[record, 2 * at], words[record, 2 * at + 1] = value & 0xFFFFFFFF, value >> 32
    out, exhausted = design.sampler.empty(len(numbers)), np.zeros(len(numbers), np.uint8)
    design.sampler.run(np.full(len(numbers), code, np.uint32), words.ravel(), stride, out, exhausted)
    assert not exhausted.any()
    return design.decode(out)
