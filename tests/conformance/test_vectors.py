"""The frozen format: the kernels and the plain reference sampler both make the reports of ``tests/vectors``."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.sampling import entropy, kernels, samplers
from maskwell.sampling.ids import blocks as ids
from maskwell.sampling.ids import kernels as id_kernels
from maskwell.sampling.samplers import draw
from tests.vectors import reference
from tests.vectors.write import FILES, GivenWords, hexadecimal

FOLDER = Path(__file__).resolve().parents[1] / "vectors"
# Format 1 is frozen. Another digest means another format: every keyed report would be drawn again.
DIGESTS = {
    "one_category": "d9bafb11fd55e4dce1e1d2e9cc56cd3d741096a6fc725cddc08787d167a7bea8",
    "sets": "47adbf49872b640c7f718982279d5fe2c4f1e5fbdb2708eac19e766f286b5f34",
    "rows": "bedd25d555cc28443f98ad83c17a735a9e5437d0ba53b3745d7c71d8e18d4ef2",
    "blocks": "a40dc2a0b6258e0fc281d253618c58b5882eca484a3040cf3ec8643245396a51",
    "products": "3837901d6ac081a5c0a47968425e43fe3041e54c190e9fb8b7bc103d08b8410c",
    "hyperplanes": "31c9361446261af444ace879e5bbbc38486eac07311a700603e60d5ddbb4077f",
    "layers": "7fc293b296aea06a9ea1e771ed2a874bc2b39c785ede031df93f241a04ac3be3",
}


def cases(name: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{name}.json").read_bytes())["cases"]


EVERY = [pytest.param(case, id=f"{name}-{i}") for name in FILES for i, case in enumerate(cases(name))]
every_case = pytest.mark.parametrize("case", EVERY)


def record_id(stored: dict[str, str]) -> int | str | bytes:
    """An id as it was given."""
    [(kind, value)] = stored.items()
    return int(value) if kind == "number" else value if kind == "text" else bytes.fromhex(value)


def by_kernels(case: dict[str, Any]) -> list[str]:
    """The reports that the package draws."""
    design = mw.Design.from_json(json.dumps(case["design"]))
    if case["mode"] == "words":
        truths = np.array(case["truths"], np.uint32)
        return hexadecimal(draw(design.sampler, len(truths), lambda a, b: truths[a:b], GivenWords(case["words"])))
    question = case["question"]
    if case["mode"] == "keyed":
        stored = [record_id(item) for item in case["ids"]]
        key = bytes.fromhex(case["key"])
        return hexadecimal(design.mask(answers(design, case["truths"]), key=key, ids=stored, question=question).packed)
    return [
        hexadecimal(design._mask(answers(design, [truth]), source, "refuse", record).packed)[0]
        for record, truth in zip(case["records"], case["truths"], strict=True)
        for source in [entropy.Source(seed=int(case["seed"]), question=question)]
    ]


def answers(design: mw.Design, truths: list[Any]) -> list[Any]:
    """Codes as labels, or as rows of labels."""
    if not isinstance(design, mw.designs.ProductDesign):
        return [design.categories[truth] for truth in truths]
    return [[part.categories[t] for part, t in zip(design.parts, row, strict=True)] for row in truths]


def by_reference(case: dict[str, Any]) -> list[str]:
    """The reports that the reference sampler draws."""
    design, truths = case["design"], case["truths"]
    if case["mode"] == "words":
        drawn = [reference.given_words(design, t, words) for t, words in zip(truths, case["words"], strict=True)]
    elif case["mode"] == "seeded":
        seed, question = int(case["seed"]), case["question"]
        pairs = zip(case["records"], truths, strict=True)
        drawn = [reference.seeded(design, seed, question, record, truth) for record, truth in pairs]
    else:
        key, question = bytes.fromhex(case["key"]), case["question"]
        named = zip(case["ids"], truths, strict=True)
        drawn = [reference.keyed(design, key, question, record_id(stored), truth) for stored, truth in named]
    return [report.hex() for report in drawn]


@pytest.mark.parametrize("name", FILES)
def test_the_vectors_are_frozen(name: str) -> None:
    assert hashlib.sha256((FOLDER / f"{name}.json").read_bytes()).hexdigest() == DIGESTS[name]


@every_case
def test_the_kernels_draw_the_frozen_reports(case: dict[str, Any]) -> None:
    assert by_kernels(case) == case["reports"]


@every_case
def test_the_reference_sampler_draws_the_frozen_reports(case: dict[str, Any]) -> None:
    assert by_reference(case) == case["reports"]
    assert reference.fingerprint(case["design"]) == case["design"]["fingerprint"]


def test_the_vectors_reach_every_sampler_in_every_mode() -> None:
    """Products are drawn from streams alone; the other samplers also from words that were given."""
    for name in FILES:
        modes = {case["mode"] for case in cases(name)}
        assert modes >= {"keyed", "seeded"}
        assert ("words" in modes) == (name != "products")
    kinds = {case["design"]["kind"] for name in FILES for case in cases(name)}
    assert kinds == {kind for kind, made in mw.Design.kinds.items() if made.__module__.startswith("maskwell.")}


def test_the_vectors_reach_extensions_and_rejections(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each file some given words and some seeded records outgrow their slot, where slots can be too short."""
    reached: set[tuple[str, str]] = set()
    repeat = samplers._repeat
    here = ("", "")

    def noted(*arguments: Any) -> None:
        reached.add(here)
        repeat(*arguments)

    monkeypatch.setattr(samplers, "_repeat", noted)
    for name in FILES:
        for case in cases(name):
            here = (name, case["mode"])
            by_kernels(case)
    assert reached >= {(name, "words") for name in ("one_category", "sets", "rows", "blocks")}
    assert reached >= {(name, "seeded") for name in ("one_category", "sets", "rows")}


def test_the_vectors_reach_counters_that_wrap_around() -> None:
    """A port that carries into the other twelve bytes differs for one text id in millions: two of them are there."""
    [case] = [case for case in cases("sets") if case.get("ids", [{}])[0].get("text", "").startswith("wrap")]
    context = f"maskwell keyed 1 {case['design']['fingerprint']}\n{case['question']}"
    derived = hmac.digest(bytes.fromhex(case["key"]), context.encode(), "sha512")
    starts = ids.text_blocks(ids.read_ids([item["text"] for item in case["ids"]]), derived[32:]).view(">u4")[:, 3]
    n_blocks = -(-mw.Design.from_json(json.dumps(case["design"])).sampler.width // 4)
    assert (starts.astype(int) + n_blocks > 2**32).tolist() == [True, True, False]


# Any drift redraws every keyed report. Each of these changes passed the tests of earlier versions.


def _another_label(patch: pytest.MonkeyPatch) -> None:
    digest = entropy.hmac.digest
    patch.setattr(
        entropy.hmac, "digest", lambda key, text, name: digest(key, text.replace(b"keyed 1", b"keyed 2"), name)
    )


def _another_start(patch: pytest.MonkeyPatch) -> None:
    start = samplers.start_of_set
    patch.setattr(samplers, "start_of_set", lambda k, wanted: (0, 0) if k < 64 else start(k, wanted))


def _more_bits(patch: pytest.MonkeyPatch) -> None:
    def start(k: int, wanted: int) -> tuple[int, int]:
        if 8 * wanted <= k - 1 or k < 16:
            return 0, 0
        bits = 4 if k < 256 else 5 if k < 2048 else 6
        start = (wanted << bits) // (k - 1)
        while start % 2 == 0:
            start, bits = start // 2, bits - 1
        return bits, start

    patch.setattr(samplers, "start_of_set", start)


def _wider_slots(patch: pytest.MonkeyPatch) -> None:
    words = samplers.words_of_set
    patch.setattr(samplers, "words_of_set", lambda k, wanted: words(k, wanted) + 1)


def _sign_elsewhere(patch: pytest.MonkeyPatch) -> None:
    fill = id_kernels.fill_id_blocks.py_func

    def moved(numbers: Any, blocks: Any) -> None:
        fill(numbers, blocks)
        blocks[:, 1] <<= np.uint64(32)

    patch.setattr(id_kernels, "fill_id_blocks", moved)


def _text_as_bytes(patch: pytest.MonkeyPatch) -> None:
    join = id_kernels.join_text_block
    patch.setattr(id_kernels, "join_text_block", lambda d, e, r, at, kind, state: join(d, e, r, at, 1 - kind, state))


def _no_question(patch: pytest.MonkeyPatch) -> None:
    stream = entropy.Source.stream

    def without(self: Any, fingerprint: str, n: int, first: int = 0) -> Any:
        return stream(entropy.Source(self.key, self.ids, self.seed, self.part), fingerprint, n, first)

    patch.setattr(entropy.Source, "stream", without)


def _first_copy_last(patch: pytest.MonkeyPatch) -> None:
    blocks_inside = kernels.blocks_inside

    def reversed_table(truth: Any, words: Any, stride: int, n: int, table: Any, out: Any, exhausted: Any) -> None:
        blocks_inside(truth, words, stride, n, np.ascontiguousarray(table[:, n - 1 :: -1]), out, exhausted)

    patch.setattr(kernels, "blocks_inside", reversed_table)


DRIFTS: list[Callable[[pytest.MonkeyPatch], None]] = [
    _another_label,
    _another_start,
    _more_bits,
    _wider_slots,
    _sign_elsewhere,
    _text_as_bytes,
    _no_question,
    _first_copy_last,
]


def _all_cases() -> Iterator[dict[str, Any]]:
    for name in FILES:
        yield from cases(name)


@pytest.mark.parametrize("drift", DRIFTS, ids=lambda drift: drift.__name__.strip("_"))
def test_the_vectors_notice_drift(drift: Callable[[pytest.MonkeyPatch], None]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        drift(patch)
        assert any(by_kernels(case) != case["reports"] for case in _all_cases())


def test_ids_are_hashed_alike_in_one_piece_and_in_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of unlike lengths, and batches of them."""
    texts = ["x" * (i * 7 % 90) + str(i) for i in range(500)]
    whole = ids.text_blocks(ids.read_ids(texts), bytes(32))
    monkeypatch.setattr(ids, "_HASHED_AT_ONCE", 7)
    assert (ids.text_blocks(ids.read_ids(texts), bytes(32)) == whole).all()
    one_by_one = [ids.text_blocks(ids.read_ids([text]), bytes(32)) for text in texts]
    assert (np.concatenate(one_by_one) == whole).all()
