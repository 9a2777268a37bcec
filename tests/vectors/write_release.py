"""How the vectors of releases were made, once: ``python -m tests.vectors.write_release FILE`` writes them again.

The file is frozen (`docs/release_format.md`). If this writes anything else than what stands beside it, the format has
drifted: a stored plan would no longer give the file that was released by it.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from maskwell import designs
from maskwell.designs.channels.stages import stage
from maskwell.release import band, limit_identification, pram
from maskwell.release.drawing import sampler
from maskwell.release.identification.theta import exchange, theta_for
from maskwell.sampling.samplers import Sampler, draw
from tests.vectors.write import ONES, GivenWords, number

KEY = bytes(range(100, 132))
TOTAL = 1 << 64
SECOND_TOTAL = (1 << 63) + 1  # rejects nearly every other number
MIXED = "mixed"


def moves_of(case: dict[str, Any]) -> Sampler:
    """The sampler of blocks of cells, as stored."""
    return sampler(exchange(np.array(case["starts"]), np.array(case["counts"]), Fraction(case["theta"])))


def rows_of(case: dict[str, Any]) -> Sampler:
    """The sampler of a matrix, as stored: by truth, the weight of every report."""
    columns = [[int(weight) for weight in column] for column in case["columns"]]
    return sampler(stage([list(row) for row in zip(*columns, strict=True)]))


def drawn(by: Sampler, truths: Sequence[int], words: Sequence[Sequence[int]]) -> list[int]:
    """The reports of these truths from these words."""
    codes = np.array(truths, np.uint32)
    return draw(by, len(codes), lambda start, stop: codes[start:stop], GivenWords(words)).tolist()


def _given(truths: Sequence[int], beginnings: Sequence[Sequence[int]], seed: int) -> dict[str, Any]:
    """Every truth with random words, and with each of these beginnings before them."""
    source = random.Random(seed)
    pairs = [(truth, beginning) for beginning in [[], *beginnings] for truth in truths]
    words = [[*beginning, *(source.getrandbits(32) for _ in range(24))] for _, beginning in pairs]
    return {"truths": [truth for truth, _ in pairs], "words": words}


def moves() -> list[dict[str, Any]]:
    """Blocks of 2 to 12 cells: staying by one, leaving by none, and picks that are rejected once or past the slot."""
    counts = [1, 1, 1, 2, 1, 2, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1, 2]
    theta = theta_for(0.395)
    stay = int(TOTAL * (1 - theta))
    edges = [number(stay), number(stay - 1), [ONES, ONES, 0], [ONES, ONES, *[0] * 30], [0, 0]]
    about = {"kind": "moves", "starts": [0, 2, 5, 17], "counts": counts, "theta": str(theta)}
    case = about | _given(range(17), edges, 1)
    return [case | {"reports": drawn(moves_of(case), case["truths"], case["words"])}]


def rows() -> list[dict[str, Any]]:
    """Totals of 2^64, beside it, 3, and one that rejects every other number; a report that cannot occur; one alone."""
    columns = [
        [TOTAL - 6, 1, 5, 0],
        [0, TOTAL - 4, 2, 1],
        [1, 1, 1, 0],
        [5, 0, SECOND_TOTAL - 11, 6],
    ]
    sure = [[1, 0, 0, 0], [0, 0, 0, 1], [1, 2, 3, 4], [0, 7, 0, 0]]
    top, middle = number(TOTAL - 1), number(SECOND_TOTAL)
    edges = [top, middle, [*middle, *top], [*top, *middle, *top, 7, 8], number(0), number(TOTAL - 6), number(5)]
    cases = []
    for seed, weights in ((2, columns), (3, sure)):
        case = {"kind": "rows", "columns": [[str(w) for w in column] for column in weights]}
        case |= _given(range(4), edges, seed)
        cases.append(case | {"reports": drawn(rows_of(case), case["truths"], case["words"])})
    return cases


def people(n: int) -> dict[str, list[Any]]:
    """A small file of persons in households."""
    source = random.Random(4)
    sex = [source.choice("fm") for _ in range(n)]
    age = [20 + source.randrange(24) for _ in range(n)]
    area = [source.choice(["nord", "süd", "west", None]) for _ in range(n)]
    grade = [min(4, source.randrange(6)) for _ in range(n)]
    return {"person": list(range(n)), "sex": sex, "age": age, "area": area, "grade": grade}


def _released(table: dict[str, list[Any]], release: Any, key: bytes | None = None) -> dict[str, Any]:
    about = {"kind": "release", "plan": release.plan.to_json(), "key": None if key is None else key.hex()}
    return about | {"ids": None if key is None else "person", "table": table, "released": release.table}


def identification() -> list[dict[str, Any]]:
    """Seeded and keyed moves, in whole and in small blocks, with a column that moves along."""
    table, keys = people(160), ["sex", "age", "area"]
    secret = {"key": KEY, "ids": "person"}
    return [
        _released(table, limit_identification(table, keys, 0.5, "sex", blocks="whole", seed=5)),
        _released(table, limit_identification(table, keys, 0.395, blocks="random", block_size=5, seed=6)),
        _released(table, limit_identification(table, keys, 0.5, along="grade", blocks=MIXED, seed=7)),
        _released(table, limit_identification(table, keys, 0.5, "sex", blocks="whole", **secret), KEY),
        _released(table, limit_identification(table, keys, 0.45, blocks="random", **secret), KEY),
    ]


def post_randomization() -> list[dict[str, Any]]:
    """One stage and two, strata, bands, several columns as one, and two steps, seeded and keyed."""
    table = people(160)
    secret = {"key": KEY, "ids": "person"}
    gamma = designs.gamma_diagonal([0, 1, 2, 3, 4], gamma=4)
    first = pram(table, "grade", matrix=gamma, strata="sex", **secret)
    return [
        _released(table, pram(table, "area", diagonal=0.7, seed=8)),
        _released(table, pram(table, "grade", matrix=gamma, seed=9)),
        _released(table, pram(table, "grade", matrix=gamma, invariant=False, seed=10)),
        _released(
            table, pram(table, "grade", least_diagonal=0.6, neighbours=band([0, 1, 2, 3, 4], 1), strata="sex", seed=11)
        ),
        _released(table, pram(table, ["sex", "area"], diagonal=0.5, **secret), KEY),
        _released(table, pram(first, "area", diagonal=0.6, **secret), KEY),
    ]


def text() -> str:
    """The whole file."""
    cases = [*moves(), *rows(), *identification(), *post_randomization()]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    return f'{{"maskwell release format": 1, "cases": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
