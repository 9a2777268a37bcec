"""The sampling format, version 1, in plain Python: a slow reference that reads like `sampling_format.md`.

Every function is one rule of the document and has its name; the section is given in brackets. Whole numbers only, no
NumPy: what is here is all that a port to another language needs. AES comes from `cryptography`, in counter mode only.

    fingerprint(design)                               the 64 hexadecimal digits of a stored design
    given_words(design, truth, words)                 the report from words in hand
    seeded(design, seed, question, record, truth)     the report of a simulation's record
    keyed(design, key, question, record_id, truth)    the report of a person

A design is its stored document, a truth is a code (for a product a list of codes), a report is its bytes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, count
from math import isqrt
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

Design = dict[str, Any]
Truth = int | Sequence[int]


class Words:
    """A record's sequence of 32-bit words, read from the beginning [1]."""

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)
        self._high_half: int | None = None

    def word(self) -> int:
        """Read the next word; EOFError if there is none."""
        for word in self._words:
            return word
        raise EOFError("the words do not suffice for this report")

    def number(self) -> int:
        """Read two words, the low one first, as a number below 2^64."""
        low = self.word()
        return low + 2**32 * self.word()

    def pick(self, r: int) -> int:
        """Read a value in 0 ... r-1 from whole words."""
        return _accepted(self.word, 2**32, r)

    def half_pick(self, r: int) -> int:
        """Read a value in 0 ... r-1 from halves of words."""
        return _accepted(self._half, 2**16, r)

    def _half(self) -> int:
        if self._high_half is not None:
            half, self._high_half = self._high_half, None
            return half
        self._high_half, half = divmod(self.word(), 2**16)
        return half


def _accepted(read: Callable[[], int], base: int, r: int) -> int:
    """Value of the first x that is not rejected, of x below `base` [1]."""
    while True:
        x = read()
        if x * r % base >= base % r:
            return x * r // base


def encrypted(key: bytes, block: bytes) -> bytes:
    """AES-256 of one block: the first 16 bytes of keystream with that block as counter [2]."""
    return Cipher(AES(key), CTR(block)).encryptor().update(bytes(16))


def words_of_bytes(data: bytes) -> list[int]:
    """Words of bytes in groups of four, the low byte first [2]."""
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def seeded_words(key: bytes, width: int, record: int) -> Iterator[int]:
    """Words of one record of a seeded stream: its slot in domain 0, then domain record + 1 [2]."""
    for i in count():
        domain, at = (0, record * width + i) if i < width else (record + 1, i - width)
        block = encrypted(key, domain.to_bytes(8, "big") + (at // 4).to_bytes(8, "big"))
        yield words_of_bytes(block)[at % 4]


def keyed_words(drawing_key: bytes, counter_block: bytes) -> Iterator[int]:
    """Words of one record of a keyed stream: the counter is the last four bytes, and wraps around [2]."""
    first = int.from_bytes(counter_block[12:], "big")
    for b in count(first):
        yield from words_of_bytes(encrypted(drawing_key, counter_block[:12] + (b % 2**32).to_bytes(4, "big")))


def id_block(id_key: bytes, record_id: int | str | bytes) -> bytes:
    """Turn a record's id into 16 bytes [2]."""
    if isinstance(record_id, int):
        if not -(2**63) <= record_id < 2**64:
            raise ValueError("an id that is a number is from -2^63 to 2^64 - 1")
        return (record_id % 2**64).to_bytes(8, "little") + bytes([0, 0, 0, 128 * (record_id < 0)]) + bytes(4)
    kind, data = (0, record_id.encode()) if isinstance(record_id, str) else (1, record_id)
    message = (2 * len(data) + kind).to_bytes(4, "little") + data
    message += bytes(-len(message) % 16)
    block = bytes(16)
    for at in range(0, len(message), 16):
        block = encrypted(id_key, joined(block, message[at : at + 16]))
    return block


def joined(left: bytes, right: bytes) -> bytes:
    """XOR of two blocks [2]."""
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def fingerprint(design: Design) -> str:
    """SHA-256 of the design's categories, kind and weights as JSON text [3]."""
    weights = design["weights"]
    if design["kind"] == "product":
        parts = [fingerprint(part) for part in weights["parts"]]
        return _sha256_of_json({"kind": "product", "names": weights["names"], "parts": parts})
    return _sha256_of_json({"categories": design["categories"], "kind": design["kind"], "weights": weights})


def _sha256_of_json(value: Design) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def sampler(design: Design) -> str:
    """Name of the sampler of a stored design that is no product [4]."""
    kind, weights = design["kind"], design["weights"]
    if kind == "subsets":
        if weights["sizes"] != [1]:
            return "sets"
        return "truth" if weights["outside"] == ["0"] else "one category"
    names = {"matrix": "rows", "conditional": "rows", "blocks": "blocks", "projective": "hyperplanes"}
    return {**names, "bits": "bits", "layered bits": "bits", "layered tables": "tables"}[kind]


def one_category(design: Design, j: int, words: Words) -> int:
    """Report one category: the truth, or any other one [4]."""
    if words.number() < int(design["weights"]["inside"][0]):
        return j
    p = words.pick(len(design["categories"]) - 1)
    return p if p < j else p + 1


def outcomes(design: Design) -> list[tuple[int, bool, int]]:
    """Size, inside or not, and weight of the outcomes of positive weight [4, sets, step 1]."""
    weights, listed = design["weights"], []
    for s, inside, outside in zip(weights["sizes"], weights["inside"], weights["outside"], strict=True):
        listed += [(s, True, int(inside)), (s, False, int(outside))]
    return [outcome for outcome in listed if outcome[2] > 0]


def start_of(k: int, s: int, inside: bool) -> tuple[int, bool, int, int]:
    """Return wanted, inverted, start and bits of an outcome [4, sets, steps 2 and 3]."""
    others = s - 1 if inside else s
    inverted = 2 * others > k - 1
    wanted = k - 1 - others if inverted else others
    if 8 * wanted <= k - 1 or k < 16:
        return wanted, inverted, 0, 0
    bits = 4 if k < 256 else 5 if k < 1024 else 6
    start = wanted * 2**bits // (k - 1)
    while start % 2 == 0:
        start, bits = start // 2, bits - 1
    return wanted, inverted, start, bits


def sets(design: Design, j: int, words: Words) -> int:
    """Report a set, here a number whose bit c stands for category c [4]."""
    k, possible = len(design["categories"]), outcomes(design)
    every = (1 << k) - 1
    s, inside, _ = possible[0] if len(possible) == 1 else possible[_first(words.number(), [w for *_, w in possible])]
    wanted, inverted, start, bits = start_of(k, s, inside)
    mask = 0
    for digit in range(bits):
        numbers = sum(words.number() << 64 * i for i in range(-(-k // 64)))
        mask = mask | numbers if start >> digit & 1 else mask & numbers
    mask &= every & ~(1 << j)
    while mask.bit_count() < wanted:
        p = words.half_pick(k)
        mask |= 1 << p if p != j else 0
    while (present := mask.bit_count()) > wanted:
        p = words.half_pick(present)
        mask &= ~(1 << [c for c in range(k) if mask >> c & 1][p])
    if inverted:
        mask ^= every
    return mask | 1 << j if inside else mask & ~(1 << j)


def rows(design: Design, j: int, words: Words) -> int:
    """Report a row of a matrix, or a subset of a conditional design [4]."""
    weights = design["weights"]
    total = int(weights["total"])
    if design["kind"] == "matrix":
        column = [int(row[j]) for row in weights["rows"]]
    else:
        both = zip(weights["subsets"], weights["weights"], strict=True)
        column = [int(weight) if j in subset else 0 for subset, weight in both]
    limit = 2**64 - 2**64 % total
    u = words.number()
    while u >= limit:
        u = words.number()
    return _first(u % total, column)


def bit_layers(design: Design) -> list[tuple[int, int]]:
    """The two weights of each layer [10]."""
    weights = design["weights"]
    if design["kind"] == "bits":
        return [(int(weights["own"]), int(weights["other"]))]
    return [(int(weights[layer][0]), int(weights[layer][1])) for layer in ("first", "second")]


def bits(design: Design, j: int, words: Words) -> int:
    """Report a bit for each category, here as one number [10]."""
    k = len(design["categories"])
    mask = 1 << j
    for one, zero in bit_layers(design):
        mask = sum(1 << c for c in range(k) if words.number() < (one if mask >> c & 1 else zero))
    return mask


def tables(design: Design, j: int, words: Words) -> int:
    """Report a row of the second table, by way of one of the first [10]."""
    for layer in ("first", "second"):
        j = _first(words.number(), [int(row[j]) for row in design["weights"][layer]])
    return j


def _first(u: int, weights: Sequence[int]) -> int:
    """Place of the first weight that, added to those before it, exceeds u [4]."""
    return next(at for at, upto in enumerate(accumulate(weights)) if upto > u)


def blocks(design: Design, j: int, words: Words) -> int:
    """Report a block that holds the truth, or one that does not [4]."""
    weights = design["weights"]
    codes = [code for code, copies in enumerate(weights["copies"]) for _ in range(copies)]
    holds = [bool(int(block, 16) >> j & 1) for block in weights["blocks"]]
    stay = int(weights["inside"])
    inside = stay == 2**64 or words.number() < stay
    chosen = [code for code in codes if holds[code] == inside]
    return chosen[words.pick(len(chosen))]


# By e, for fields with 2^e elements [9].
MODULI = {2: 0x7, 3: 0xD, 4: 0x19, 5: 0x29, 6: 0x61, 7: 0xC1, 8: 0x171, 9: 0x221, 10: 0x481, 11: 0xA01, 12: 0x1941}


def times(q: int, a: int, b: int) -> int:
    """Product of two elements of the field [9]."""
    if q == 2 or q % 2:
        return a * b % q
    e, product = q.bit_length() - 1, 0
    for bit in range(e):
        product ^= (a << bit) * (b >> bit & 1)
    for bit in range(2 * e, e - 1, -1):
        product ^= (MODULI[e] << bit - e) * (product >> bit & 1)
    return product


def minus(q: int, a: int, b: int) -> int:
    """Difference of two elements of the field [9]."""
    return (a - b) % q if q % 2 else a ^ b


def point(q: int, dimensions: int, code: int) -> list[int]:
    """Elements of the point with this code [9]."""
    m = next(m for m in range(dimensions) if code < (q ** (m + 1) - 1) // (q - 1))
    return [0] * (dimensions - 1 - m) + [1, *digits(q, m, code - (q**m - 1) // (q - 1))]


def digits(q: int, count: int, value: int) -> list[int]:
    """Digits to the base q, the highest first [9]."""
    return [value // q**place % q for place in range(count - 1, -1, -1)]


def code_of(q: int, elements: Sequence[int]) -> int:
    """Code of the point that elements stand for [9]."""
    first = next(element for element in elements if element)
    inverse = next(element for element in range(1, q) if times(q, first, element) == 1)
    scaled = [times(q, element, inverse) for element in elements]
    after = scaled[scaled.index(1) + 1 :]
    value = 0
    for element in after:
        value = value * q + element
    return (q ** len(after) - 1) // (q - 1) + value


def hyperplanes(design: Design, j: int, words: Words) -> int:
    """Report a hyperplane through the truth, or one past it [9]."""
    weights = design["weights"]
    q, t = weights["q"], weights["t"]
    x = point(q, t, j)
    place = x.index(1)
    held = words.number() < int(weights["inside"])
    if held:
        others = point(q, t - 1, words.pick((q ** (t - 1) - 1) // (q - 1)))
    else:
        others = digits(q, t - 1, words.pick(q ** (t - 1)))
    y = [*others[:place], 0, *others[place:]]
    y[place] = 0 if held else 1
    for a, b in zip(x[place + 1 :], y[place + 1 :], strict=True):
        y[place] = minus(q, y[place], times(q, a, b))
    return code_of(q, y)


def slot_width(design: Design) -> int:
    """How many words a record has in domain 0 of a seeded stream [6]."""
    weights, name = design["weights"], sampler(design)
    if name == "rows":
        total = int(weights["total"])
        return 2 if total == 2**64 or total < 2**40 else 16
    if name == "blocks":
        return 1 if int(weights["inside"]) == 2**64 else 3
    if name == "bits":
        return 2 * len(design["categories"]) * len(bit_layers(design))
    if name == "tables":
        return 4
    if name != "sets":
        return 0 if name == "truth" else 3
    k, possible, words = len(design["categories"]), outcomes(design), list[int]()
    for s, inside, _ in possible:
        wanted, _, start, bits = start_of(k, s, inside)
        filled = (k - 1) * start // 2**bits
        spread = -(-3 * isqrt((k - 1) * start * (2**bits - start)) // 2**bits)
        to_add = wanted - filled + spread
        to_pick = -(-to_add * k * 65536 // ((k - wanted) * (65536 - 65536 % k)))
        words.append(2 * bits * -(-k // 64) + -(-(to_pick + isqrt(4 * to_pick)) // 2))
    return (2 if len(possible) > 1 else 0) + max(words)


def report_as_bytes(design: Design, j: int, words: Words) -> bytes:
    """Draw the report of a design that is no product, as bytes [4, 7]."""
    k, weights, name = len(design["categories"]), design["weights"], sampler(design)
    if not 0 <= j < k:
        raise ValueError(f"{j} is no code of {k} categories")
    if name == "sets":
        return sets(design, j, words).to_bytes(-(-k // 8), "little")
    if name == "bits":
        return bits(design, j, words).to_bytes(-(-k // 8), "little")
    if name == "tables":
        code, codes = tables(design, j, words), len(weights["second"])
    elif name == "rows":
        code, codes = rows(design, j, words), len(weights["rows" if design["kind"] == "matrix" else "subsets"])
    elif name == "hyperplanes":
        code, codes = hyperplanes(design, j, words), (weights["q"] ** weights["t"] - 1) // (weights["q"] - 1)
    elif name == "blocks":
        code, codes = blocks(design, j, words), len(weights["blocks"])
    else:
        code, codes = j if name == "truth" else one_category(design, j, words), k
    return code.to_bytes(1 if codes <= 256 else 2 if codes <= 65536 else 4, "little")


def joint_report(design: Design, truth: Truth, words: Callable[[Design, str, int], Iterable[int]]) -> bytes:
    """Draw the report of any design, from the words of (variable's design, part, code) [5]."""
    if design["kind"] != "product":
        if not isinstance(truth, int):
            raise TypeError("the truth of a single variable is one code")
        return report_as_bytes(design, truth, Words(words(design, "", truth)))
    if isinstance(truth, int):
        raise TypeError("the truth of a product is a list of codes")
    product, report = fingerprint(design), b""
    for i, (variable, j) in enumerate(zip(design["weights"]["parts"], truth, strict=True)):
        report += report_as_bytes(variable, j, Words(words(variable, f"/{product}/{i}", j)))
    return report


def given_words(design: Design, truth: Truth, words: Sequence[int]) -> bytes:
    """Report from words in hand; EOFError if they do not suffice. A product has no words of its own [1, 5]."""
    if design["kind"] == "product":
        raise ValueError("the variables of a product have words of their own: give them one by one")
    return joint_report(design, truth, lambda *_: words)


def seeded(design: Design, seed: int, question: str | None, record: int, truth: Truth) -> bytes:
    """Report of record `record` of a simulation, counted from 0 over all batches of a call [2]."""

    def words(variable: Design, part: str, _j: int) -> Iterator[int]:
        text = f"maskwell seed 1 {seed}{part}" + ("" if question is None else f"\n{question}")
        return seeded_words(hashlib.sha256(text.encode()).digest(), slot_width(variable), record)

    return joint_report(design, truth, words)


def keyed(design: Design, key: bytes, question: str, record_id: int | str | bytes, truth: Truth) -> bytes:
    """Report of the record with this id under the user's key [2]."""
    if len(key) < 16 or not 1 <= len(question.encode()) <= 1000:
        raise ValueError("a key has 16 bytes or more, a question 1 to 1,000")

    def words(variable: Design, part: str, j: int) -> Iterator[int]:
        text = f"maskwell keyed 1 {fingerprint(variable)}{part}\n{question}"
        derived = hmac.digest(key, text.encode(), "sha512")
        code = bytes(8) + j.to_bytes(4, "little") + bytes(4)
        return keyed_words(derived[:32], joined(id_block(derived[32:], record_id), code))

    return joint_report(design, truth, words)
