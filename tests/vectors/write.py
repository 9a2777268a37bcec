"""How the vectors were made, once: ``python -m tests.vectors.write FOLDER`` writes them for a comparison.

The files are frozen. If this writes anything else than what stands beside it, the format has drifted: every keyed
report would be drawn again.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import maskwell as mw
from maskwell.designs.storage import to_document
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import Sampler, draw

KEY = bytes(range(100, 132))
QUESTION = "health 2026/Größe"
LONG = "an id of several blocks, " * 4
IDS: list[Any] = [0, 1, -1, 7, 2**31, 2**63, 2**64 - 1, -(2**63)]
TEXT_IDS: list[str] = ["", "1", "person 7", "a" * 12, "a" * 13, "Zoë", "a\0", LONG]
BYTE_IDS: list[bytes] = [b"1", b"person 7", b"\xff" * 28, b""]
ZERO, ONES = 0, 2**32 - 1


class GivenWords:
    """A stream whose words stand in a list, with zeros after its end."""

    randomness = "given"

    def __init__(self, words: Sequence[Sequence[int]]) -> None:
        self._words = words

    def slots(self, start: int, truth: Any, width: int) -> tuple[Any, int]:
        rows = [self._padded(start + i, width) for i in range(len(truth))]
        return np.concatenate(rows) if rows else np.empty(0, np.uint32), width

    def longer_slot(self, record: int, truth: int, width: int, extra: int) -> Any:
        return self._padded(record, width + extra)

    def _padded(self, record: int, width: int) -> Any:
        words = np.zeros(width, np.uint32)
        given = self._words[record][:width]
        words[: len(given)] = given
        return words


def hexadecimal(packed: Any) -> list[str]:
    """Each report as its bytes, the low byte of a code first."""
    little = np.ascontiguousarray(packed).astype(packed.dtype.newbyteorder("<"), copy=False)
    return [row.tobytes().hex() for row in little]


def number(u: int) -> list[int]:
    """A 64-bit number as words."""
    return [u & ONES, u >> 32]


def given(design: mw.Design, beginnings: Sequence[Sequence[int]], seed: int) -> dict[str, Any]:
    """Every truth with random words, and with each of these beginnings before them."""
    source = random.Random(seed)
    truths, words = [], []
    for beginning in [[], *beginnings]:
        for truth in range(design.k) if design.k < 9 else sorted(source.sample(range(design.k), 8)):
            truths.append(truth)
            words.append([*beginning, *(source.getrandbits(32) for _ in range(design.sampler.width + 40))])
    packed = draw(design.sampler, len(truths), _codes(truths), GivenWords(words))
    return {"mode": "words", "design": to_document(design), "truths": truths, "words": words} | _out(packed)


def seeded(design: mw.Design, seed: int, question: str | None, extended: int = 2, n: int = 1 << 14) -> dict[str, Any]:
    """Some records of a seeded stream, ``extended`` of them such that outgrew their slot."""
    records = [0, 1, 2, n - 1, 2**40 + 5] + (_extended(design.sampler, seed, question, extended, n) if extended else [])
    truths = [(7 * record + 3) % design.k for record in records]
    packed = []
    for record, truth in zip(records, truths, strict=True):
        stream = Source(seed=seed, question=question).stream(design.fingerprint, 1, record)
        packed.append(draw(design.sampler, 1, _codes([truth]), stream))
    about = {"mode": "seeded", "design": to_document(design), "seed": str(seed), "question": question}
    return about | {"records": records, "truths": truths} | _out(np.concatenate(packed))


def _extended(sampler: Sampler, seed: int, question: str | None, most: int, n: int) -> list[int]:
    """Records whose slot ran out for the truth that ``seeded`` gives them."""
    found: list[int] = []
    k = getattr(sampler, "k", None) or len(sampler._arrays[0])  # type: ignore[attr-defined]
    for first in range(0, 1 << 30, n):
        truth = ((7 * np.arange(first, first + n) + 3) % k).astype(np.uint32)
        words, stride = Source(seed=seed, question=question).stream("", n, first).slots(0, truth, sampler.width)
        exhausted = np.zeros(n, np.uint8)
        sampler.run(truth, words, stride, sampler.empty(n), exhausted)
        found += (first + np.flatnonzero(exhausted)).tolist()
        if len(found) >= most:
            return found[:most]
    raise AssertionError("no record outgrew its slot")


def keyed(design: mw.Design, ids: Sequence[Any], question: str = QUESTION, key: bytes = KEY) -> dict[str, Any]:
    """Keyed reports of ids of one type."""
    truths = [(311 * i + 1) % design.k for i in range(len(ids))]
    reports = design.mask([design.categories[t] for t in truths], key=key, ids=list(ids), question=question)
    about = {"mode": "keyed", "design": to_document(design), "key": key.hex(), "question": question}
    return about | {"ids": [_stored_id(i) for i in ids], "truths": truths} | _out(reports.packed)


def every_id(design: mw.Design) -> list[dict[str, Any]]:
    """Whole numbers of both signs, text and bytes of one block and of several."""
    numbers = [IDS[:5] + IDS[7:], IDS[:2] + IDS[3:7]]
    return [keyed(design, ids) for ids in (*numbers, TEXT_IDS, BYTE_IDS)]


def _stored_id(item: Any) -> dict[str, str]:
    if isinstance(item, int):
        return {"number": str(item)}
    return {"text": item} if isinstance(item, str) else {"bytes": item.hex()}


def _codes(truths: Sequence[int]) -> Callable[[int, int], Any]:
    return lambda start, stop: np.array(truths[start:stop], np.uint32)


def _out(packed: Any) -> dict[str, list[str]]:
    return {"reports": hexadecimal(packed)}


def one_category() -> list[dict[str, Any]]:
    """A wide list, so that some pick of a seeded stream is rejected; the truth itself; never the truth."""
    wide = mw.designs.gamma_diagonal(1000, epsilon=1)
    labels = mw.designs.gamma_diagonal(["never", "once", 'öfter "\\\u2028', "\U0001f600"], epsilon=1.5)
    lie = mw.designs.SubsetDesign((0, 1, 2), (1,), (0,), (1 << 64,), name="lie")
    [stay] = labels.inside
    rejected = [[ONES, ONES, ZERO], [ONES, ONES, *[ZERO] * 30], [ZERO, ZERO], number(stay), number(stay - 1)]
    designs = (labels, lie, mw.designs.gamma_diagonal(256, epsilon=0.1), mw.designs.gamma_diagonal(257, epsilon=0.1))
    cases = [given(design, rejected, i) for i, design in enumerate(designs)]
    cases += [seeded(labels, 7, None, extended=0), seeded(wide, 2**70, QUESTION, extended=1, n=1 << 21)]
    cases += [given(mw.designs.direct(3), [], 9), keyed(mw.designs.direct(3), [4, 5]), keyed(wide, range(20))]
    keys = [keyed(labels, range(8), "q" * 1000, bytes(range(n))) for n in (16, 200)]
    return cases + keys + every_id(labels)


def sets() -> list[dict[str, Any]]:
    """Masks of one number and of several, started empty and filled; drawn as they are and inverted; one outcome."""
    designs = [
        mw.designs.minimax(40, epsilon=0.5),
        mw.designs.local_diversity(4, l=2),
        mw.designs.local_diversity(15, l=12),
        mw.designs.rappor([True, False], epsilon=1),
        mw.designs.rappor(20, epsilon=2),
        mw.designs.uniform_subsets(5),
        mw.designs.minimax(64, epsilon=0.1),
        mw.designs.optimized_unary(100, epsilon=1),
        mw.designs.local_diversity(130, l=65),
        mw.designs.minimax(300, epsilon=0.2),
        mw.designs.minimax(1100, epsilon=0.3),
    ]
    # Where the rules of the start and of the width change.
    edges = [
        (16, 3),
        (17, 3),
        (18, 9),
        (33, 20),
        (77, 12),
        (255, 100),
        (256, 100),
        (1000, 140),
        (1023, 401),
        (1024, 401),
    ]
    designs += [mw.designs.local_diversity(k, l=l) for k, l in edges]
    stuck = [[ZERO] * 6, [ONES] * 6, [ZERO] * 60, [ONES] * 60]
    first = number(designs[0].inside[0])  # type: ignore[attr-defined]
    cases = [given(designs[0], [first, number(first[0] + (first[1] << 32) - 1)], 99)]
    cases += [given(design, stuck if design.k < 64 else stuck[2:], i) for i, design in enumerate(designs[:18])]
    cases += [
        # In the other designs a slot that is too short is too rare to be found.
        seeded(design, i, QUESTION if i % 2 else None, extended=2 if i in (1, 2, 5, 9, 10) else 0)
        for i, design in enumerate(designs)
    ]
    # The counters of these two ids wrap around.
    cases.append(keyed(designs[10], ["wrap59883370", "wrap54974938", "no wrap"]))
    return cases + [case for design in designs[:5] for case in every_id(design)[:3]] + every_id(designs[8])


def rows() -> list[dict[str, Any]]:
    """Totals that are 2^64, small, and so large that every other number is rejected; zero weights; conditional sets."""
    third, large, total = Fraction(1, 3), Fraction(1, (1 << 62) + (1 << 61) + 1), (1 << 63) + 9
    half = Fraction(total // 3, total)
    designs = [
        mw.designs.warner(truth_prob=0.8),
        mw.designs.from_matrix([[1 - third, third], [third, 1 - third]]),
        mw.designs.from_matrix([[1 - half, half], [half, 1 - half]], categories=["a", "b"]),
        mw.designs.from_matrix([[1 - large, 2 * large], [large, 1 - 2 * large]], categories=["a", "b"]),
        mw.designs.from_matrix([[third, 0, third], [0, 1, third], [1 - third, 0, third]]),
        *(mw.designs.warner(truth_prob=Fraction(t // 3, t)) for t in (2**40 - 1, 2**40, 2**40 + 1)),
        mw.designs.kuk(red_if_yes=0.75, red_if_no=0.25, draws=5),
        mw.designs.kuk(red_if_yes=0.75, red_if_no=0.25, draws=256),
        mw.designs.conditional(["x", "y", "z"], subset_probs={("x", "y"): "1/2", ("y", "z"): "1/2", ("x", "z"): "1/2"}),
        mw.designs.independent(5, question_probs={(0, 1): 3, (1, 2): 1, (2, 3): 1, (3, 4): 2, (0, 4): 1, (0, 2): 1}),
    ]
    rejected = [[ONES, ONES], [ONES, ONES, ONES, ZERO], [ONES] * 30, [ZERO, ZERO], number(1), number(2)]
    cases = [given(design, rejected, i) for i, design in enumerate(designs)]
    cases += [seeded(design, i, QUESTION, extended=6 if i == 2 else 0) for i, design in enumerate(designs)]
    return cases + [case for design in designs[:1] + designs[-2:] for case in every_id(design)]


def blocks() -> list[dict[str, Any]]:
    """Blocks that always hold the truth and blocks that may not; copies; points that are left out."""
    designs = [
        mw.designs.block(7, l=3),
        mw.designs.block(7, epsilon=1),
        mw.designs.block(6, epsilon=1),
        mw.designs.block(13, epsilon=1),
        mw.designs.block(21, epsilon=2),
    ]
    cases = []
    for i, design in enumerate(designs):
        inside = min(design.inside, (1 << 64) - 1)
        rejected = [[ZERO] * 4, [ONES] * 3, [ONES, ONES, ZERO], [ONES, ONES, *[ZERO] * 30], [ZERO] * 30]
        cases.append(given(design, [*rejected, number(inside), number(inside - 1)], i))
    cases += [seeded(design, i, None, extended=0) for i, design in enumerate(designs)]
    return cases + [case for design in designs for case in every_id(design)]


def products() -> list[dict[str, Any]]:
    """Variables of unlike kinds under one question; truths are a code per variable."""
    design = mw.designs.product(
        mw.designs.gamma_diagonal(["a", "b", "c"], epsilon=1),
        mw.designs.minimax(20, epsilon=0.5),
        mw.designs.warner(truth_prob=0.8),
        mw.designs.block(7, l=3),
        names=["one", "zwei", 'dr"ei', "vier"],
    )
    ids = [*IDS[:4], *IDS[7:]]
    truths = [[(5 * i + v) % part.k for v, part in enumerate(design.parts)] for i in range(len(ids))]
    labels = [[part.categories[t] for part, t in zip(design.parts, row, strict=True)] for row in truths]
    about = {"design": to_document(design), "truths": truths, "question": QUESTION}
    by_key = design.mask(labels, key=KEY, ids=ids, question=QUESTION)
    by_seed = design.mask(labels, seed=11, question=QUESTION)
    return [
        {"mode": "keyed", "key": KEY.hex(), "ids": [_stored_id(i) for i in ids]} | about | _out(by_key.packed),
        {"mode": "seeded", "seed": "11", "records": list(range(len(ids)))} | about | _out(by_seed.packed),
    ]


def hyperplanes() -> list[dict[str, Any]]:
    """Fields of prime and of binary order; all points categories, and some; codes of 1, 2 and 4 bytes."""
    half, few = 1 << 63, tuple(range(5))
    designs = [
        mw.designs.projective(13, epsilon=1),
        mw.designs.projective(["a", "b", "c"], gamma=Fraction(6, 5)),
        mw.designs.projective(18, epsilon=1),
        mw.designs.projective(90, epsilon=2),
        mw.designs.projective(70, gamma=9),
        *(mw.designs.ProjectiveDesign(few, q, t, half, half, name="few") for q, t in ((2, 17), (256, 3), (4096, 2))),
        mw.designs.ProjectiveDesign(few, 8, 4, half, half, name="few"),
    ]
    cases = []
    for i, design in enumerate(designs):
        inside = number(design.inside)
        rejected = [[ZERO, ZERO, ZERO], [ONES, ONES, ZERO, ZERO], [ONES, ONES, ONES], inside, number(design.inside - 1)]
        cases.append(given(design, [*rejected, [ZERO, ZERO, *[ZERO] * 30]] if design.k < 100 else rejected, i))
    cases += [seeded(design, 11, QUESTION, extended=0) for design in designs[:3]] + [keyed(designs[4], range(20))]
    return cases + every_id(designs[0])


def layers() -> list[dict[str, Any]]:
    """Bits of one layer and of two, and tables of two layers."""
    pair = mw.rounds.unary(["a", "b", "c"], longitudinal=2, per_round=1)
    designs = [
        pair,
        pair.permanent,
        mw.rounds.unary(70, longitudinal=3, per_round=2),
        mw.rounds.kary(["x", "y", "z", "w"], longitudinal=2, per_round=1),
    ]
    ends = [[ZERO] * 8, [ONES] * 8, [ONES, ONES, ZERO, ZERO]]
    cases = [given(design, ends, i) for i, design in enumerate(designs)]
    cases += [seeded(design, 11, QUESTION, extended=0) for design in designs]
    return cases + [case for design in designs[:1] for case in every_id(design)] + [keyed(designs[3], range(20))]


FILES: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "one_category": one_category,
    "sets": sets,
    "rows": rows,
    "blocks": blocks,
    "products": products,
    "hyperplanes": hyperplanes,
    "layers": layers,
}


def text(name: str) -> str:
    """The file of this name: one case a line, so that a difference is seen."""
    cases = ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in FILES[name]())
    return f'{{"maskwell sampling format": 1, "cases": [\n{cases}\n]}}\n'


if __name__ == "__main__":
    for name in FILES:
        (Path(sys.argv[1]) / f"{name}.json").write_text(text(name), encoding="utf-8")
