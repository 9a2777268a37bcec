"""Secure records that are drawn from the leading halves of their words: the reports of the format, to the last bit."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.sampling import leading, leading_kernels, samplers
from maskwell.sampling.entropy import CounterStream, Source
from maskwell.sampling.samplers import draw
from tests.conformance.sampling_checks import row_counts
from tests.statistics_helpers import fit_test
from tests.vectors import reference

CODES = mw.designs.gamma_diagonal(10, epsilon=1)
PLANES = mw.designs.projective(10, epsilon=1)
DESIGNS = {
    "two categories": mw.designs.gamma_diagonal(2, epsilon=1),
    "codes": CODES,
    "as many others as a half can tell": mw.designs.gamma_diagonal(257, epsilon=5),
    "many codes": mw.designs.gamma_diagonal(2049, epsilon=2),
    "hardly more often the truth": mw.designs.gamma_diagonal(3, epsilon=1e-6),
    "blocks": mw.designs.block(7, epsilon=1),
    "hyperplanes": PLANES,
    "more hyperplanes": mw.designs.projective(300, epsilon=2),
}
every_design = pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS.keys())
HALVES = np.arange(1 << 16, dtype=np.uint32)


def truths_of(design: mw.Design, n: int) -> Any:
    return (np.arange(n) * 7919 % design.k).astype(np.uint32)


def edge_of(sampler: Any) -> int:
    """The leading half of the weight that the number is compared with."""
    weight: int = sampler.stay if isinstance(sampler, samplers.SingleSampler) else sampler.inside
    return weight >> 48


def led(sampler: Any, truth: Any, words: Any) -> tuple[Any, Any]:
    """The reports that leading halves decide, and which they leave open."""
    out, left_open = sampler.empty(len(truth)), np.full(len(truth), 7, np.uint8)
    sampler.lead(truth, words, out, left_open)
    assert set(np.unique(left_open)) <= {0, 1}
    return out, left_open == 1


def run(sampler: Any, truth: Any, words: Any) -> tuple[Any, Any]:
    """The reports of whole words by the sampler of the format, and whether it wants more of them."""
    out, exhausted = sampler.empty(len(truth)), np.zeros(len(truth), np.uint8)
    sampler.run(truth, np.ascontiguousarray(words).ravel(), words.shape[1], out, exhausted)
    return out, exhausted == 1


def whole(leads: Any, rest: tuple[int, int, int]) -> Any:
    """Words that begin with leading halves, with the other bits given."""
    low, of_number, of_pick = (np.full(len(leads), bits, np.uint32) for bits in rest)
    return np.stack([low, leads << np.uint32(16) | of_number, leads & np.uint32(0xFFFF0000) | of_pick], axis=1)


@every_design
def test_what_leading_halves_decide_holds_whatever_follows(design: mw.Design) -> None:
    """All 65,536 halves of a pick beside halves of the number around the weight, and all of those beside some picks.

    A report as a function of the bits that follow changes at most once in either word, so that the least and the
    greatest of them tell all; a pick is rejected where they are least.
    """
    sampler: Any = design.sampler
    edge = edge_of(sampler)
    numbers = [half for half in {0, edge - 1, edge, edge + 1, 65535} if 0 <= half < 1 << 16]
    leads = np.concatenate(
        [HALVES << np.uint32(16) | np.uint32(number) for number in numbers]
        + [HALVES | np.uint32(pick) << np.uint32(16) for pick in (0, 1, 2, 3, 30_000, 65_534, 65_535)]
    )
    for truth in (0, design.k // 2, design.k - 1):
        truths = np.full(len(leads), truth, np.uint32)
        reports, left_open = led(sampler, truths, leads)
        assert left_open[(leads & 0xFFFF) == edge].all()
        assert not left_open.all()
        for rest in product((0, 2**32 - 1), (0, 65_535), (0, 65_535)):
            expected, exhausted = run(sampler, truths, whole(leads, rest))
            assert (reports == expected)[~left_open].all()
            assert not exhausted[~left_open].any()


@every_design
def test_few_records_are_left_open(design: mw.Design) -> None:
    """Beside those at the weight, one or two halves of a pick for each of the values that it can have."""
    sampler: Any = design.sampler
    _, left_open = led(sampler, np.zeros(1 << 16, np.uint32), HALVES << np.uint32(16) | np.uint32(65_535))
    assert 0 < left_open.sum() <= 2 * len(design.report_labels())


@every_design
def test_records_that_are_left_open_go_on_from_their_halves(design: mw.Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the plain reference: the words that come later are given, and begin with a pick that is rejected."""
    sampler: Any = design.sampler
    edge = edge_of(sampler)
    leads = np.array([edge, edge | 5 << 16, 65_535, 65_535 | 9000 << 16], np.uint32)
    truths = truths_of(design, len(leads))
    further = [np.zeros((4, 3), np.uint32), np.random.default_rng(1).integers(2**20, 2**32, (4, 3), np.uint32)]
    handed = iter(further)
    monkeypatch.setattr(leading, "_fresh_words", lambda n, width: next(handed))
    stored = json.loads(design.to_json())
    words = np.hstack([whole(leads, (0, 0, 0)), further[1]])
    expected = [reference.given_words(stored, int(j), row) for j, row in zip(truths, words.tolist(), strict=True)]
    assert [report.tobytes() for report in leading._settled(sampler, truths, leads)] == expected


@every_design
def test_a_secure_draw_is_the_format_on_its_words(design: mw.Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record of a draw in chunks and threads, with a key that is known and bits that are given for the rest."""
    n, sampler, rest = 70_001, design.sampler, (123_456_789, 43_210, 54_321)
    leads = CounterStream(bytes(32), "secure").slots(0, np.zeros(n, np.uint32), 1)[0].copy()
    monkeypatch.setattr(samplers, "_LED_CHUNK", 1 << 12)
    monkeypatch.setattr(leading, "_fresh_words", lambda n, width: np.tile(np.array(rest, np.uint32), (n, 1)))
    truths = truths_of(design, n)
    reports = draw(sampler, n, lambda a, b: truths[a:b], CounterStream(bytes(32), "secure"))
    expected, exhausted = run(sampler, truths, whole(leads, rest))
    assert not exhausted.any()
    assert (reports == expected).all()
    assert led(sampler, truths, leads)[1].any()


@pytest.mark.parametrize("design", [CODES, PLANES], ids=["codes", "hyperplanes"])
def test_secure_reports_fit_the_matrix(design: mw.Design) -> None:
    """Chi-square for each truth; errors of .0125 are caught with power .99, false alarm 1e-6 for all."""
    matrix = design.matrix()
    for truth in range(design.k):
        counts = row_counts(design.mask(np.full(140_000, truth)))
        fit = fit_test(counts, matrix[:, truth], 1e-7)
        assert fit.smallest_error <= 0.0125
        assert fit.p_value > 1e-7


def test_fresh_words_differ() -> None:
    first, second = leading._fresh_words(100, 3), leading._fresh_words(100, 3)
    assert first.shape == (100, 3)
    assert len(np.unique(np.concatenate([first, second]))) > 590


@pytest.mark.parametrize("design", [CODES, PLANES], ids=["codes", "hyperplanes"])
def test_what_can_be_repeated_is_never_led(design: mw.Design) -> None:
    """A seed and a key give the reports of whole slots, however many there are; few records need no second kernel."""
    values, n = truths_of(design, 70_000), 70_000
    parts = mw.Reports.concatenate(design.mask_batches([values[:35_000], values[35_000:]], seed=3))
    assert (design.mask(values, seed=3).packed == parts.packed).all()
    keyed: Any = {"key": bytes(32), "question": "q"}
    parts = mw.Reports.concatenate(
        design.mask_batches([values[:35_000], values[35_000:]], ids=[np.arange(35_000), np.arange(35_000, n)], **keyed)
    )
    assert (design.mask(values, ids=np.arange(n), **keyed).packed == parts.packed).all()
    assert leading.leading(design.sampler, 100, Source().stream("", 100)) is None
    assert leading.leading(design.sampler, n, Source().stream("", n)) is not None


def test_samplers_of_many_picks_and_of_other_kinds_do_not_lead() -> None:
    for design in (
        mw.designs.gamma_diagonal(2050, epsilon=1),
        mw.designs.projective(3000, epsilon=1),
        mw.designs.minimax(10, epsilon=1),
        mw.designs.block(7, l=3),
        mw.designs.direct(5),
        mw.designs.from_matrix([[0.5, 0.25], [0.5, 0.75]]),
    ):
        assert leading.leading(design.sampler, 10**8, Source().stream("", 1)) is None


@every_design
def test_without_a_compiler_the_same(design: mw.Design, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels, sampler, n = leading_kernels, design.sampler, 1 << 16
    leads, truths = CounterStream(bytes(32), "").slots(0, np.zeros(n, np.uint32), 1)[0].copy(), truths_of(design, n)
    reports, left_open = led(sampler, truths, leads)
    monkeypatch.setattr(kernels, "_decided", getattr(kernels._decided, "py_func", kernels._decided))
    monkeypatch.setattr(kernels, "lead_single", kernels._lead_single_at_once)
    monkeypatch.setattr(kernels, "lead_blocks", kernels._lead_blocks_at_once)
    plain, plainly_open = led(sampler, truths, leads)
    assert (left_open == plainly_open).all()
    assert (reports == plain)[~left_open].all()
