"""mask.js refuses the design files that Python refuses, and reads those that Python reads, forged ones and honest ones.

One check is Python's alone: that a file which bears the name of a known design has the integers that the function of
that name gives. mask.js has no such functions; it does not read the name and never shows it. So verdicts are compared
with Python's without that check, and the files that only it refuses are counted.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.designs import claims
from tests.adversarial.forgery import forged, kind_of
from tests.adversarial.honest import DESIGNS, signed
from tests.browser.harness import MASK_JS, browser, node, served
from tests.unusual_designs import ALL

FILES = 4500
REFUSED = "refused"


def by_python(text: Any) -> str:
    """The fingerprint of a design that Python reads."""
    try:
        return mw.Design.from_json(text).fingerprint
    except mw.MaskwellError:
        return REFUSED


def by_mask_js(texts: list[str]) -> list[str]:
    """The same of mask.js; nothing but a MaskError may come out of it."""
    verdicts = node("try_designs.mjs", MASK_JS, given=json.dumps(texts))
    crashed = [verdict for verdict in verdicts if "crashed" in verdict]
    assert crashed == []
    return [verdict.get("fingerprint", REFUSED) for verdict in verdicts]


@cache
def honest() -> dict[str, str]:
    """Every kind of design, as stored."""
    designs = {f"{kind} {i}": make() for kind, made in DESIGNS.items() for i, make in enumerate(made)} | ALL
    return {name: design.to_json() for name, design in designs.items()}


def test_honest_designs_are_read() -> None:
    fingerprints = [mw.Design.from_json(text).fingerprint for text in honest().values()]
    assert by_mask_js(list(honest().values())) == fingerprints


def forged_files() -> list[str]:
    """Files of all kinds in turn."""
    return [forged(np.random.default_rng([11, number]), kind_of(number)) for number in range(FILES)]


def test_forged_designs_have_the_same_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = forged_files()
    by_name = [by_python(text) for text in texts]
    monkeypatch.setattr(claims, "_is_what_it_is_called", lambda design, entry: True)
    expected = [by_python(text) for text in texts]
    found = by_mask_js(texts)
    assert [text for text, a, b in zip(texts, expected, found, strict=True) if a != b] == []
    read = sum(verdict != REFUSED for verdict in found)
    assert len(texts) / 20 < read < len(texts) / 2, "a generator whose files all fail, or all pass, would test nothing"
    assert sum(a != b for a, b in zip(by_name, expected, strict=True)) < FILES / 10


def changed(name: str, **changes: Any) -> str:
    """An honest design with other members, its fingerprint made to fit."""
    return json.dumps(signed(json.loads(honest()[name]) | changes))


def parameters(**given: Any) -> str:
    """A design with parity 4 that has a name of its own and these parameters."""
    design = mw.designs.gamma_diagonal(["a", "b", "c"], gamma=4)
    return json.dumps(json.loads(design.to_json()) | {"name": "mine", "demand": None, "parameters": given})


def demand(**given: Any) -> str:
    """The same with a demand."""
    return json.dumps(json.loads(parameters()) | {"demand": given})


def figures(**given: Any) -> str:
    """The same with what a plan says of it."""
    return json.dumps(json.loads(parameters()) | given)


def average(phi: str, swapped: bool) -> str:
    """A product of two matrices whose farthest truths are found in one order of the second variable."""
    rows = [["1/2", "1"], ["1/2", "0"]] if swapped else [["1", "1/2"], ["0", "1/2"]]
    parts = [mw.designs.from_matrix(table, reports=["x", "y"]) for table in ([["1", "1/2"], ["0", "1/2"]], rows)]
    document = json.loads(mw.designs.product(*parts).to_json())
    return json.dumps(document | {"demand": {"kind": "average-security", "phi": phi}})


SPACE = "projective(k=13, epsilon=1.0)"
LIMITS = {
    "ldp": [demand(kind="ldp", epsilon=x) for x in (1.3862943611198906, 1.3862943611198908, "2/1", "2", 2, 0, 10001)],
    "beta": [demand(kind="beta-factor", beta=x) for x in (4, 3.9999999999999996, "4", "8/2", "399/100", 1, True, None)],
    "rho": [demand(kind="rho", rho1=a, rho2=b) for a, b in ((0.2, 0.5), ("1/5", "1/2"), (0.2, 0.49), (0.5, 0.2))],
    "phi": [demand(kind="average-security", phi=x) for x in (1.5, "3/2", 1.49, "149/100", 1, 2, 1.999)],
    "l": [
        json.dumps(json.loads(honest()["subsets 5"]) | {"name": "mine", "parameters": {}, "demand": stored})
        for stored in ({"kind": "local-diversity", "l": x} for x in (2, 3, 4, 2.0, "2", 1, True, 2**63, 10**30))
    ],
    "information": [demand(kind="information", parity_bound=x) for x in (None, 1, 1.0, True, 4, 3.9, "4", "1")],
    "no demand": [demand(), demand(kind="ldp"), demand(kind="ldp", epsilon=2, l=2), demand(kind="other", epsilon=2)],
    "parameters": [
        parameters(**{name: value})
        for name in ("epsilon", "gamma", "l", "phi", "planned_n", "dummies", "note")
        for value in (
            1.3862943611198906, 1.39, 4, 3, 1.5, 1.2, True, None, "4", [], ["a", "b"], ["a", "a"], ["a", 1], 10**18,
            10**18 + 1, {"fraction": "4"}, {"fraction": "7/2"}, {"fraction": "8/2"}, {"decimal": "4"},
            {"decimal": "4.0"}, {"decimal": "04"}, {"decimal": "4E+0"}, {"decimal": "4E+3"}, {"decimal": "0.00001"},
            {"decimal": "0.0000001"}, {"decimal": "1E-7"}, {"decimal": "1.5E-9"}, {"decimal": "3.9"},
            {"decimal": "4E+999"}, {"decimal": "-0"}, {"decimal": "1e3"}, [[{"fraction": "2/4"}]],
            {"a": {"fraction": 1}},
        )
    ],
    "figures": [
        figures(k=3), figures(k=4), figures(k=3.0), figures(parity=4.0), figures(parity=4), figures(exact_parity="4"),
        figures(exact_parity="8/2"), figures(epsilon=1.3862943611198906), figures(epsilon=1.3862943611198908),
        figures(epsilon=1.3862943611198904), figures(epsilon=None), figures(worth=1), figures(note="private"),
        figures(report_file="a.csv", digest="x"), figures(report_file="a.csv", k=3),
    ],
    "products": [average(phi, swapped) for phi in ("3/2", "7/4", "199/100") for swapped in (False, True)],
    "spaces": [
        changed(SPACE, weights={"q": q, "t": t, "inside": str(inside), "outside": str(2**64 - inside)})
        for q, t in ((2, 4), (3, 3), (4, 2), (13, 2), (16, 2), (4096, 2), (4096, 3), (8192, 2), (65521, 2), (65537, 2),
                     (2**40, 2), (9, 2), (15, 2), (25, 2), (1, 20), (2, 26), (2, 27), (2, 64), (2, 65), (13, 1),
                     (13, 2.0), ("13", 2), (13, None), (10**30, 2), (8191, 3), (8191, 2), (3, 17), (3, 16))
        for inside in (1, 2**63, 2**64 - 1)
    ] + [
        changed(SPACE, weights={"q": 13, "t": 2, "inside": a, "outside": b})
        for a, b in (("0", str(2**64)), (str(2**64), "0"), (str(2**63), str(2**63 - 1)), (2**63, 2**63))
    ],
    "labels": [
        changed("matrix 0", categories=labels)
        for labels in ([1, 2], [1, True], [True, False], [1.0, 2], ["a"], ["a", "a"], ["a", None], [2**53, 1],
                       [2**53 - 1, 1], ["x" * 10_000, "y"], ["x" * 10_001, "y"], ["😀" * 10_000, "y"],
                       ["😀" * 10_001, "y"])
    ],
    "reports": [
        changed("matrix 0", weights=json.loads(honest()["matrix 0"])["weights"] | {"reports": labels})
        for labels in ([1, 2], [1, True], [0, False], [1, False], ["1", 1], [2**53, 1], ["a", "a"], ["a"], [None, "a"])
    ],
}  # fmt: skip


@pytest.mark.parametrize("topic", LIMITS)
def test_claims_at_their_limits_have_the_same_verdict(topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "_is_what_it_is_called", lambda design, entry: True)
    expected = [by_python(text) for text in LIMITS[topic]]
    assert by_mask_js(LIMITS[topic]) == expected
    assert topic == "no demand" or len(set(expected)) > 1, "all of one verdict test nothing"


_READ_ALL = """async (texts) => {
  const { readDesign, MaskError } = await import("/src/maskwell/collect/browser/mask.js");
  return texts.map((text) => {
    try {
      return readDesign(text).fingerprint;
    } catch (error) {
      return error instanceof MaskError ? "refused" : `crashed: ${error}`;
    }
  });
}"""


def test_chromium_has_the_verdicts_of_node() -> None:
    """Of which the tests above hold that they are Python's: another engine might count or compare otherwise."""
    texts = [*honest().values(), *(text for listed in LIMITS.values() for text in listed), *forged_files()[::5]]
    with served() as port, browser() as chromium:
        page = chromium.new_page()
        page.goto(f"http://localhost:{port}/tests/browser/empty.html")
        found = page.evaluate(_READ_ALL, texts)
    assert found == by_mask_js(texts)
    assert 100 < found.count(REFUSED) < len(texts)


NOT_STRICT = [
    "", " ", "{", "[1,]", '{"a":1,}', "[1 2]", "nul", "tru", "NaN", "-", "01", "1.", ".5", "1e", "+1", "-0", "1e999",
    '"', '"\\x"', '"\\u12"', '"a\nb"', '"\ud800"', '"\\ud800"', '{"a":1,"a":2}', "{a:1}", "[1]]", "\ufeff{}", "'a'",
    '{"maskwell": "design", "maskwell": "design"}', "[" * 200_000, '{"a":' * 5000, "9" * 41, "1" + "0" * 10**6,
    "0x10", "/* */ {}", "[undefined]", "\u00a0{}", "１",
]  # fmt: skip


def test_what_is_not_strict_json_is_refused() -> None:
    assert [by_python(text) for text in NOT_STRICT] == [REFUSED] * len(NOT_STRICT)
    answers = node("try_json.mjs", MASK_JS, given=json.dumps(NOT_STRICT))
    assert [text[:50] for text, answer in zip(NOT_STRICT, answers, strict=True) if "refused" not in answer] == []


def test_json_is_read_as_python_reads_it() -> None:
    values: list[Any] = [
        0, -1, 10**39, -(2**63), 1.5, -0.0, 1e-300, 1e300, 0.1, True, False, None, "", "a\"\\/\b\f\n\r\t\x7f\u2028😀",
        [], [[]], {}, {"__proto__": 1, "constructor": 2, "1": 3, "é": [1, {"a": None}]}, [1, 1.0, "1"],
    ]  # fmt: skip
    texts = [write(value) for value in values for write in (_plain, _spaced)]
    read = node("try_json.mjs", MASK_JS, given=json.dumps(texts))
    assert [answer["value"] for answer in read] == [_tagged(json.loads(text)) for text in texts]


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spaced(value: Any) -> str:
    return f"\n\t {json.dumps(value, indent=2)} \r\n"


def _tagged(value: Any) -> Any:
    """Numbers with their type, which JSON alone would not show."""
    if isinstance(value, dict):
        return {name: _tagged(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if type(value) is int:
        return f"whole {value}"
    if isinstance(value, float):
        return f"double {np.float64(value).tobytes().hex()}"
    return value


def test_a_design_cannot_be_read_by_json_parse() -> None:
    """What JSON.parse gives has lost the difference between 1 and 1.0, and digits beyond 2^53."""
    messages = node("try_parsed.mjs", MASK_JS, given=json.dumps(list(honest().values())))
    assert len(messages) == len(honest())
    assert all("readJson" in message for message in messages)


def test_a_design_is_frozen_and_tells_no_more_than_it_should() -> None:
    one, product = node("try_surface.mjs", MASK_JS, given=json.dumps([honest()["matrix 0"], honest()["product 0"]]))
    assert one["members"] == ["categories", "fingerprint", "kind", "mask", "meaning"]
    assert product["members"] == ["categories", "fingerprint", "kind", "mask", "meaning", "names", "parts"]
    for design in (one, product):
        assert design["frozen"] is True
    assert one["exports"] == ["MaskError", "readDesign", "readJson"]
