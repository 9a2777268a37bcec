"""What the respondent's page says that a report reveals is what Python works out from the same integers, exactly."""

import json
import math
from fractions import Fraction
from typing import Any

from maskwell import rounds
from maskwell.designs import Design, ProjectiveDesign
from tests.browser.harness import MASK_JS, SHIPPED, node
from tests.unusual_designs import ALL

TOTAL = 2**64


def space(k: int, q: int, t: int, inside: int) -> ProjectiveDesign:
    return ProjectiveDesign(tuple(range(k)), q, t, inside, TOTAL - inside, name="mine")


# Hyperplanes that hold none of the categories, or all of them, and such that are likelier without the truth.
SPACES = {
    f"{k} points, order {q}, dimension {t}, {inside}": space(k, q, t, inside)
    for k, q, t in ((2, 2, 2), (2, 5, 3), (3, 5, 2), (4, 3, 3), (5, 4, 3), (6, 5, 3), (7, 2, 4), (13, 3, 3), (9, 2, 5))
    for inside in (TOTAL // 3, TOTAL // 7, TOTAL * 9 // 10)
}
LAYERS: dict[str, Design] = {
    "bits": rounds.unary(["a", "b", "c"], longitudinal=2, per_round=1).permanent,
    "two layers of bits": rounds.rappor(5, f=0.5, p=0.25, q=0.75),
    "two tables": rounds.kary(4, longitudinal=2, per_round=1),
}
DESIGNS: dict[str, Design] = {**ALL, **SPACES, **LAYERS}
REVEAL = SHIPPED.parent / "respond" / "assets" / "reveal.js"


def told_by_the_page() -> dict[str, Any]:
    listed = [design for design in DESIGNS.values() if not design.codec.bit_masks and design.kind != "subsets"]
    given = {"all": [d.to_json() for d in DESIGNS.values()], "coded": [d.to_json() for d in listed]}
    found = node("try_reveal.mjs", MASK_JS, REVEAL, given=json.dumps(given))
    return {"told": found["told"], "odds": list(zip(listed, found["odds"], strict=True))}


def fraction(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def test_the_page_says_what_python_says() -> None:
    found = told_by_the_page()
    for (name, design), told in zip(DESIGNS.items(), found["told"], strict=True):
        parity = design.exact_parity()
        assert fraction(told["parity"]) == (None if parity == math.inf else parity), name
        assert fraction(told["guess"]) == design.channel.best_guesses() / design.k, name
        facts = design.set_facts()
        assert facts is None or fraction(told["own"]) == facts.truth_inside, name
        if parity == math.inf:
            assert fraction(told["exposed"]) == design.channel.exposure().chance, name
    for design, odds in found["odds"]:
        row = set(design.channel.exact_row(0)) if design.kind == "projective" else set(design.matrix(exact=True)[0])
        assert row <= set(map(Fraction, odds)), design.name


def test_guesses_are_counted_as_a_list_of_all_reports_would() -> None:
    for design in SPACES.values():
        rows = design.matrix(exact=True)
        assert design.channel.best_guesses() == sum(max(row) for row in rows)
