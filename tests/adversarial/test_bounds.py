"""What would fill memory or never end is refused before anything is built, in Python and from small files.

All requests run in one process with 3 GB of memory and a minute of processor time, of which they need a few seconds.
"""

import hashlib
import json
import resource
import subprocess
import sys
from typing import Any

import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.limits import MATRIX_CELLS, MOST_CATEGORIES, MOST_DOCUMENT_CHARACTERS, MOST_WEIGHTS
from maskwell.release.plan import ReleasePlan
from tests.adversarial.honest import Document, signed
from tests.adversarial.other_files import plans

_MEMORY, _SECONDS = 3 << 30, 60

REQUESTS = """
mw.plan(10**9, mw.LDP(1))
mw.plan(10**30, mw.LDP(1))
mw.plan(10**9, mw.LocalDiversity(3))
mw.plan(10**9, mw.AverageSecurity(1.5))
mw.plan(10**6, mw.AverageSecurity(1.5))
mw.plan(range(10**9), mw.LDP(1))
mw.plan(itertools.repeat("a"), mw.LDP(1))
d.direct(10**9)
d.gamma_diagonal(10**9, epsilon=1)
d.minimax(10**6, epsilon=1)
d.rappor(10**6, epsilon=1)
d.trimmed_rappor(10**6, epsilon=1)
d.optimized_unary(10**6, epsilon=1)
d.local_diversity(10**9, l=3)
d.uniform_subsets(10**6)
d.conditional(10**9, subset_probs={(0, 1): 1})
d.conditional(10**6, subset_probs={(0, 1): 1, (1, 2): 1})
d.conditional(3, subset_probs={(0, 1): "1e1000000000"})
d.independent(10**9, question_probs={(0, 1): 1})
d.block(10**9, epsilon=1)
d.block(10**6, l=3)
d.collapse(10**9, groups=[[0], [1]])
d.collapse(2000, groups=[[i] for i in range(2000)])
d.average_secure(10**9, phi=1.5)
d.average_secure(10**5, phi=1.5)
d.from_matrix([["1e1000000000", "0"], ["0", "1"]])
d.from_matrix([["1e-1000000000", "0"], ["0", "1"]])
d.from_matrix([[Decimal("1e1000000000"), 0], [0, 1]])
d.from_matrix([[Decimal("1e-1000000000"), 0], [1, 1]])
d.from_matrix(np.broadcast_to(0.5, (10**5, 10**5)))
d.from_matrix([[Fraction(1, 10**2000), 0], [1 - Fraction(1, 10**2000), 1]])
d.from_matrix([[Fraction(1, 3**600 + i) for i in range(2)] for _ in range(20)])
d.warner(truth_prob=Decimal("1e-1000000000"))
d.forced_response(yes_prob=Decimal("1e-1000000000"), no_prob=0)
d.kuk(red_if_yes=0.7, red_if_no=0.2, draws=10**9)
d.kuk(red_if_yes=1, red_if_no=0, draws=10**40)
d.product(*[d.direct(2)] * 5000)
d.product(d.direct(10**6), d.direct(10**6))
d.product(d.from_matrix(half), d.from_matrix(half)).column_distance()
d.rappor(20_000, epsilon=1).matrix()
d.rappor(20_000, epsilon=1).report_labels()
d.direct([2**70, 1])
d.direct(["\\ud800", "b"])
d.direct(["a" * 10**6, "b"])
mw.LDP(Decimal("1e1000000000"))
mw.LDP(Decimal("1e-1000000000"))
mw.BetaFactor(10**10000)
mw.BetaFactor(math.inf)
mw.RhoPrivacy(Fraction(1, 10**5000), 0.5)
mw.AverageSecurity(math.nan)
mw.LocalDiversity(10**5000)
mw.InformationPrivacy(lambda a: a / 2, lambda a: min(1, 2 * a), np.linspace(0.1, 0.9, 10**6))
number_of("1_0e1000000000")
""".strip().splitlines()

_SCRIPT = """
import itertools, json, math, sys
from decimal import Decimal
from fractions import Fraction
import numpy as np
import maskwell as mw
d = mw.designs
half = [[Fraction(1 + (i == j), 51) for j in range(50)] for i in range(50)]
from maskwell.cli.shared.design_options import parameters_from
def number_of(text):
    return d.warner(truth_prob=parameters_from(["x=" + text])["x"])
for request in json.loads(sys.stdin.read()):
    try:
        eval(request)
        print("passed:", request)
    except mw.MaskwellError as error:
        assert "\\n" not in str(error)
    except BaseException as error:
        print(type(error).__name__, ":", request)
print("done")
"""


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


def _run(requests: list[str]) -> list[str]:
    command = [sys.executable, "-c", _SCRIPT]
    done = subprocess.run(
        command, input=json.dumps(requests), capture_output=True, text=True, preexec_fn=_limits, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout.splitlines()


def test_requests_without_end_are_refused() -> None:
    assert _run(REQUESTS) == ["done"]


def document(kind: str, categories: Any, weights: Any, **about: Any) -> Document:
    whole = {"maskwell": "design", "version": 1, "kind": kind, "name": "mine", "categories": categories}
    return signed({**whole, "parameters": {}, "demand": None, "weights": weights, **about})


def small_files() -> dict[str, Document]:
    """Files of a few kilobytes that ask for a lot."""
    one = {"sizes": [1], "inside": [str(2**64)], "outside": ["0"]}
    warner = json.loads(mw.designs.warner(truth_prob=0.75).to_json())
    wide = [list(range(i, i + 40)) for i in range(0, 400, 40)]
    half = json.loads(mw.designs.from_matrix([[(1 + (i == j)) / 64 for j in range(63)] for i in range(63)]).to_json())
    halves = {"inside": str(2**63), "outside": str(2**63)}
    average = {"kind": "average-security", "phi": 1.5}
    parts = {"names": ["a", "b"], "parts": [half, half]}
    kuk = json.loads(mw.designs.kuk(red_if_yes=0.7, red_if_no=0.2, draws=2).to_json())
    nested: Any = warner
    for _ in range(200):
        nested = document("product", [], {"names": ["a", "b"], "parts": [nested, warner]})
    return {
        "a count of categories": document("subsets", 20_000_000, one),
        "a longer count": document("subsets", 10**30, one),
        "a size that is no number": document("subsets", [0, 1, 2], one | {"sizes": [1.5]}),
        "a size beyond all": document("subsets", [0, 1, 2], one | {"sizes": [10**30]}),
        "a fraction with an exponent": document("subsets", [0, 1], one, parameters={"x": {"fraction": "1e1000000000"}}),
        "a long fraction": document("subsets", [0, 1], one, parameters={"x": {"fraction": "7" * 4000}}),
        "a decimal with an exponent": document("subsets", [0, 1], one, parameters={"x": {"decimal": "1E+1000000000"}}),
        "a demand with an exponent": document(
            "subsets", [0, 1], one, demand={"kind": "ldp", "epsilon": "1e1000000000"}
        ),
        "a long weight": document("subsets", [0, 1], one | {"inside": ["9" * 100_000]}),
        "a position beyond all": document(
            "conditional", [0, 1], {"total": "1", "subsets": [[0, 10**18]], "weights": ["1"]}
        ),
        "blocks of many categories": document(
            "blocks",
            list(range(9000)),
            {**halves, "blocks": ["0" * 2249 + "f"], "copies": [1]},
        ),
        "copies beyond all": document(
            "blocks",
            [0, 1],
            {"inside": str(2**63), "outside": str(2**63), "blocks": ["1", "2"], "copies": [10**30] * 2},
        ),
        "a product of many parts": document(
            "product", [], {"names": [f"x{i}" for i in range(60)], "parts": [warner] * 60}
        ),
        "a product of products": nested,
        "the distance of a product": document("product", [], parts, demand=average),
        "cards without end": kuk | {"parameters": kuk["parameters"] | {"draws": 10**9}},
        "the distance of sets": document(
            "conditional",
            list(range(400)),
            {"total": "2", "subsets": wide, "weights": ["2"] * 10},
            demand=average,
        ),
    }


SMALL = small_files()


@pytest.mark.parametrize("what", SMALL)
def test_small_files_that_ask_for_a_lot(what: str, tmp_path: Any) -> None:
    """Refused as a design, and inside the metadata of a file of reports."""
    text = json.dumps(SMALL[what])
    assert len(text) < 200_000
    with pytest.raises(mw.MaskwellError):
        mw.Design.from_json(text)
    table = mw.designs.warner(truth_prob=0.75).mask(["yes", "no"], seed=1).to_arrow()
    metadata = {**table.schema.metadata, b"maskwell.design": text.encode()}
    pq.write_table(table.replace_schema_metadata(metadata), tmp_path / "reports.parquet")
    with pytest.raises(mw.MaskwellError):
        mw.Reports.read(tmp_path / "reports.parquet")


def test_small_plans_that_ask_for_a_lot() -> None:
    """A limit with an exponent, a chance that is not that of the limit, a matrix of many categories, none at all."""
    limit, _, moved, _ = (json.loads(text) for text in plans())
    step, k = moved["content"]["steps"][0], 60_000
    many = {**step, "labels": list(range(k)), "counts": [[1] * k], "transitions": [[[[[0, "1"]]] * k]]}
    changes: list[tuple[Document, Document]] = [
        (limit, {"xi": "1e1000000000"}),
        (limit, {"xi": "1/100"}),
        (limit, {"theta": "1/1000"}),
        (limit, {"keys": [], "labels": {}}),
        (moved, {"steps": [many]}),
        (moved, {"steps": []}),
    ]
    for document, change in changes:
        content = document["content"] | change
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        forged = document | {"content": content, "fingerprint": hashlib.sha256(text.encode()).hexdigest()}
        with pytest.raises(mw.MaskwellError):
            ReleasePlan.from_json(json.dumps(forged))


def test_a_text_beyond_the_limit_is_not_even_parsed() -> None:
    with pytest.raises(mw.DesignError, match="characters"):
        mw.Design.from_json(b"[" * (MOST_DOCUMENT_CHARACTERS + 1))


def test_the_largest_designs_are_within_the_limits() -> None:
    """The limits are above what is built today: a million labels, a matrix of 1,000 x 1,001, blocks on 3,000 points."""
    assert mw.designs.gamma_diagonal(MOST_CATEGORIES, epsilon=1).k == 1_000_000
    assert mw.designs.average_secure(1000, phi=1.5).report_count() * 1000 <= MOST_WEIGHTS
    assert MATRIX_CELLS >= 3000**2
    text = mw.designs.minimax(65_536, epsilon=0.1).to_json()
    assert mw.Design.from_json(text).k == 65_536
