"""Forged design files: well formed but false, or malformed, made from honest ones or from nothing.

Fingerprints are recomputed, so that nothing but the meaning can give a forgery away.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from maskwell.designs import DESIGNS as REGISTERED
from tests.adversarial.honest import KINDS, Document, documents, signed

Random = np.random.Generator
Change = Callable[[Random, Document], None]
TOTAL = 2**64

# What a careless reader might take for something else.
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 1.0, 1.5, 0.1, -0.0, 1e300, 2**53, 2**64, 2**64 + 1, -(2**63), 10**30,
    "", "0", "1", "01", "+1", "-1", " 1", "1 ", "1\n", "1_0", "1.0", "1e3", "1e1000000000", "0x1", "٣", "１", "²",
    "nan", "inf", str(2**64), "9" * 5000, "1/3", "2/6", "1/0", "\x1b[2J", "\u202e", "a\x00b", "\ud800",
    [], [[]], {}, [0], [0, 0], [1, 0], ["0"], [None], {"fraction": "1e1000000000"}, {"fraction": "1/3"},
    {"decimal": "1E+1000000000"}, 20_000_000, list(range(50)), "minimax",
)  # fmt: skip


@cache
def _honest(kind: str) -> tuple[str, ...]:
    return tuple(json.dumps(document) for document in documents(kind))


def pick(rng: Random, items: Any) -> Any:
    """One of them; not as an array would have it."""
    return items[int(rng.integers(len(items)))]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every node of a document but its root."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


# Changes of anything.


def replace_anything(rng: Random, document: Document) -> None:
    path = pick(rng, list(places(document)))
    at(document, path[:-1])[path[-1]] = copy.deepcopy(pick(rng, STRANGE))


def remove_anything(rng: Random, document: Document) -> None:
    path = pick(rng, list(places(document)))
    del at(document, path[:-1])[path[-1]]


def respell_a_number(rng: Random, document: Document) -> None:
    """The same number, written another way."""
    paths = [p for p in places(document["weights"]) if type(at(document["weights"], p)) in (int, str)]
    if not paths:
        return
    path = pick(rng, paths)
    value = at(document["weights"], path)
    spellings: list[Any] = [f"0{value}", f" {value}", f"+{value}", f"{value}.0", f"{value}\n", str(value).upper()]
    if isinstance(value, int):
        spellings += [float(value), str(value), bool(value)]
    elif value.isdecimal():
        spellings += [int(value), float(value), "".join(chr(0x660 + int(c)) for c in value)]
    at(document["weights"], path[:-1])[path[-1]] = pick(rng, spellings)


def disorder_a_list(rng: Random, document: Document) -> None:
    """Entries exchanged, repeated, left out or doubled."""
    paths = [p for p in places(document) if isinstance(at(document, p), list) and at(document, p)]
    if not paths:
        return
    items = at(document, pick(rng, paths))
    i, j = (int(rng.integers(len(items))) for _ in range(2))
    match int(rng.integers(5)):
        case 0:
            items[i], items[j] = items[j], items[i]
        case 1:
            items[i] = copy.deepcopy(items[j])
        case 2:
            items.append(copy.deepcopy(items[i]))
        case 3:
            del items[i]
        case _:
            items.reverse()


def claim_more(rng: Random, document: Document) -> None:
    """A demand that the honest design does not meet, or meets by chance."""
    kind = pick(rng, ("ldp", "beta-factor", "rho", "average-security", "local-diversity", "information"))
    small = pick(rng, (1e-9, 0.01, 0.3, 1, 2.5, "1/1000", "3/2"))
    document["demand"] = {
        "ldp": {"kind": kind, "epsilon": small},
        "beta-factor": {"kind": kind, "beta": pick(rng, (1.0001, 1.5, 2, "3/2", "6", 1e308))},
        "rho": {"kind": kind, "rho1": pick(rng, (0.1, "1/10")), "rho2": pick(rng, (0.11, 0.5, "1/2"))},
        "average-security": {"kind": kind, "phi": pick(rng, (1.0001, 1.2, 1.5, "3/2", 1.99))},
        "local-diversity": {"kind": kind, "l": pick(rng, (2, 3, 4, 7))},
        "information": {"kind": kind, "parity_bound": pick(rng, (None, 1, 1.5, 4))},
    }[kind]


def state_more(rng: Random, document: Document) -> None:
    """A parameter that promises more than the integers give."""
    name = pick(rng, ("epsilon", "gamma", "l", "phi", "truth_prob", "planned_n", "certified"))
    document["parameters"][name] = pick(rng, (1e-6, 0.5, 1.01, 1.5, 2, 3, {"fraction": "3/2"}, {"decimal": "1.1"}))


def take_a_name(rng: Random, document: Document) -> None:
    document["name"] = pick(rng, (*REGISTERED, "improved", "proved by nobody", "a\nparity 1", "\x1b[2Jminimax"))


# Changes of the integers, each of which keeps some of the sums that a reader may rely on.


def move_weight(rng: Random, document: Document) -> None:
    """Weight from one place to another, so that a sum stays."""
    weights = document["weights"]
    numbers = [p for p in places(weights) if isinstance(at(weights, p), str) and at(weights, p).isdecimal()]
    if len(numbers) < 2:
        return
    a, b = pick(rng, numbers), pick(rng, numbers)
    amount = pick(rng, (1, 2, 3, 10, 2**10, 2**40, 2**60, int(at(weights, a)), int(at(weights, a)) // 2))
    for path, sign in ((a, -1), (b, 1)):
        at(weights, path[:-1])[path[-1]] = str(int(at(weights, path)) + sign * amount)


def repeat_members(rng: Random, document: Document) -> None:
    """Sets that list a member more than once, with weights and total changed so that sums come out."""
    weights, k = document["weights"], len(document["categories"])
    times = int(rng.integers(2, 5))
    if rng.random() < 0.5:
        weights["subsets"] = [[j] * times for j in range(k)]
        weights["weights"], weights["total"] = ["1"] * k, str(times)
    else:
        weights["subsets"] = sorted([*[j] * (times - 1), (j + 1) % k] for j in range(k))
        weights["weights"], weights["total"] = ["1"] * k, str(times)


def shift_members(rng: Random, document: Document) -> None:
    """Positions beyond the categories, or counted from the end."""
    subset = pick(rng, document["weights"]["subsets"])
    if subset:
        subset[int(rng.integers(len(subset)))] += int(pick(rng, (-len(document["categories"]), -1, 1, 10**6)))


def other_sets(rng: Random, document: Document) -> None:
    """A few random sets with random weights, total set to what some category gets."""
    k = len(document["categories"])
    sets = [sorted(rng.integers(0, k, int(rng.integers(0, k + 1))).tolist()) for _ in range(int(rng.integers(1, 6)))]
    sets = [list(map(int, members)) for members in sets]
    chances = [int(rng.integers(0, 4)) for _ in sets]
    total = sum(w for members, w in zip(sets, chances, strict=True) for j in members if j == 0)
    document["weights"] = {"total": str(total), "subsets": sets, "weights": list(map(str, chances))}


def scale_columns(rng: Random, document: Document) -> None:
    """Another total, or rows doubled, so that columns sum to something else."""
    weights = document["weights"]
    if rng.random() < 0.5:
        weights["total"] = str(max(0, int(weights["total"]) + int(pick(rng, (-1, 1, 7, 2**40)))))
    else:
        row = int(rng.integers(len(weights["rows"])))
        weights["rows"].append(list(weights["rows"][row]))
        weights["reports"].append("copy")


def random_matrix(rng: Random, document: Document) -> None:
    k, m, total = len(document["categories"]), int(rng.integers(1, 5)), int(pick(rng, (1, 4, 12, TOTAL)))
    columns = [np.diff([0, *np.sort(rng.integers(0, min(total, 2**62) + 1, m - 1)).tolist(), 0]) for _ in range(k)]
    rows = [[int(column[i]) for column in columns] for i in range(m)]
    for j in range(k):
        rows[-1][j] = total - sum(row[j] for row in rows[:-1])
    document["weights"] = {
        "total": str(total),
        "rows": [[str(w) for w in row] for row in rows],
        "reports": [f"r{i}" for i in range(m)],
    }


def random_sizes(rng: Random, document: Document) -> None:
    k = len(document["categories"])
    sizes = [int(s) for s in rng.integers(-1, k + 2, int(rng.integers(1, 4)))]
    if rng.random() < 0.8:
        sizes = sorted(set(sizes))
    cuts = np.sort(rng.integers(0, 2**62, 2 * len(sizes) - 1)).tolist()
    weights = [b - a for a, b in zip([0, *cuts], [*cuts, TOTAL], strict=True)]
    document["weights"] = {
        "sizes": sizes,
        "inside": [str(w) for w in weights[: len(sizes)]],
        "outside": [str(w) for w in weights[len(sizes) :]],
    }


def spoil_blocks(rng: Random, document: Document) -> None:
    weights = document["weights"]
    i = int(rng.integers(len(weights["blocks"])))
    match int(rng.integers(5)):
        case 0:
            weights["blocks"][i] = f"{int(rng.integers(0, 2**9)):02x}"
        case 1:
            weights["blocks"][i] = weights["blocks"][i].upper()
        case 2:
            weights["copies"][i] = pick(rng, (0, -1, 2, 3, 2.0, True, 10**30))
        case 3:
            weights["blocks"], weights["copies"] = weights["blocks"][:i], weights["copies"][:i]
        case _:
            inside = int(pick(rng, (0, 1, 2**63, TOTAL - 1, TOTAL)))
            weights["inside"], weights["outside"] = str(inside), str(TOTAL - inside)


def other_space(rng: Random, document: Document) -> None:
    """Another order or dimension: no field, too few points, too many."""
    name, values = pick(rng, (("q", (2, 3, 4, 5, 6, 8, 9, 13, 4096, 8192, 65521, 65537)), ("t", (1, 2, 3, 4, 27, 65))))
    document["weights"][name] = pick(rng, values)


def other_share(rng: Random, document: Document) -> None:
    """Hyperplanes that hold the truth more often, less often, never or always."""
    inside = int(pick(rng, (0, 1, 2**10, 2**63, TOTAL // 3, TOTAL - 1, TOTAL)))
    document["weights"] |= {"inside": str(inside), "outside": str(TOTAL - inside)}


def other_layer(rng: Random, document: Document) -> None:
    """Other weights of a layer of bits: the same for both, in the other order, none, all; one too few or too many."""
    weights = document["weights"]
    layer = [str(pick(rng, (0, 1, 2**62, 2**63, 2**63 + 1, TOTAL - 1, TOTAL))) for _ in range(int(rng.integers(1, 4)))]
    if "own" in weights:
        weights |= dict(zip(("own", "other"), layer, strict=False))
    else:
        weights[pick(rng, ("first", "second"))] = layer if rng.random() < 0.3 else [*layer, layer[0]][:2]


def random_layer(rng: Random, document: Document) -> None:
    """A table of another shape, whose columns have the right sum, or nearly."""
    weights, k = document["weights"], len(document["categories"])
    name = pick(rng, ("first", "second"))
    rows, columns = int(rng.integers(1, 5)), k if name == "first" else len(weights["first"])
    table = [[int(w) for w in rng.integers(0 if rng.random() < 0.1 else 1, 2**61, columns)] for _ in range(rows)]
    table[-1] = [TOTAL - sum(column) for column in zip(*table[:-1], strict=True)] if rows > 1 else [TOTAL] * columns
    table[0][0] += int(pick(rng, (0, 0, 0, 1, -1)))
    weights[name] = [[str(weight) for weight in row] for row in table]
    if name == "second":
        weights["reports"] = [f"r{i}" for i in range(rows)]


def forge_a_part(rng: Random, document: Document) -> None:
    """One part of a product, forged like a design of its own."""
    parts = document["weights"]["parts"]
    i = int(rng.integers(len(parts)))
    if rng.random() < 0.2:
        parts[i] = copy.deepcopy(document)
    elif rng.random() < 0.2:
        parts += [copy.deepcopy(parts[i]) for _ in range(int(pick(rng, (1, 30))))]
        document["weights"]["names"] = [f"x{j}" for j in range(len(parts))]
    else:
        change(rng, parts[i], signed_again=True)


ANYTHING: tuple[Change, ...] = (
    replace_anything, remove_anything, respell_a_number, disorder_a_list, claim_more, state_more, take_a_name,
)  # fmt: skip
OF_KIND: dict[str, tuple[Change, ...]] = {
    "subsets": (move_weight, random_sizes),
    "matrix": (move_weight, scale_columns, random_matrix),
    "conditional": (move_weight, repeat_members, shift_members, other_sets),
    "blocks": (move_weight, spoil_blocks),
    "projective": (move_weight, other_space, other_share),
    "bits": (move_weight, other_layer),
    "layered bits": (move_weight, other_layer),
    "layered tables": (move_weight, random_layer),
    "product": (forge_a_part, forge_a_part, forge_a_part),
}


def change(rng: Random, document: Document, signed_again: bool) -> None:
    """One to three changes, then the fingerprint."""
    own = OF_KIND.get(str(document.get("kind")), ())
    for _ in range(int(rng.integers(1, 4))):
        apply = pick(rng, own) if own and rng.random() < 0.5 else pick(rng, ANYTHING)
        try:
            apply(rng, document)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError):
            continue  # an earlier change left nothing to change
    if signed_again:
        signed(document)


def without_a_name(rng: Random, document: Document) -> None:
    """No name and no parameters that could be checked: only the integers and the demand speak."""
    document["name"], document["parameters"] = "mine", {}
    if rng.random() < 0.5:
        document["demand"] = None


def forged(rng: Random, kind: str) -> str:
    """The text of one forged file of this kind."""
    return forged_from(rng, pick(rng, _honest(kind)))


def forged_from(rng: Random, text: str) -> str:
    """The text of one file that is forged from an honest one."""
    document = json.loads(text)
    if rng.random() < 0.6:
        without_a_name(rng, document)
        if rng.random() < 0.5:
            claim_more(rng, document)
    change(rng, document, signed_again=rng.random() < 0.95)
    text = json.dumps(document)
    return spoiled_text(rng, text) if rng.random() < 0.1 else text


def spoiled_text(rng: Random, text: str) -> str:
    """The same with a change that only shows in the text."""
    i = int(rng.integers(len(text)))
    match int(rng.integers(8)):
        case 0:
            return text[:i]
        case 1:
            return text[:i] + pick(rng, ("NaN", "Infinity", "-0", "1e999", "[" * 2000, '"', "\x00", "}")) + text[i:]
        case 2:
            return text.replace("{", '{"weights": {}, ', 1)
        case 3:
            return text.replace('"kind"', '"kind": "matrix", "kind"', 1)
        case 4:
            return text.replace('"categories": [', f'"categories": {"9" * int(pick(rng, (4, 12, 5000)))}, "c": [', 1)
        case 5:
            return text.replace('"demand": ', '"demand": ' + "[" * 50_000, 1)
        case 6:
            return text[:i] + chr(int(rng.integers(1, 0xD7FF))) + text[i + 1 :]
        case _:
            return text.replace('"1"', "1" + "0" * int(pick(rng, (30, 6000))), 1)


def kind_of(number: int) -> str:
    """The kind of the file with this number: all kinds in turn."""
    return KINDS[number % len(KINDS)]
