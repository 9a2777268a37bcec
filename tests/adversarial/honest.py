"""Small honest designs of every kind, as documents to forge from, and the fingerprint as a forger computes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import maskwell as mw

Document = dict[str, Any]

d = mw.designs
_PAIRS = {(0, 1): "1/2", (1, 2): "1/2", (0, 2): "1/2"}
_FOUR = {(0, 1): "1/4", (2, 3): "1/4", (0, 2): "1/4", (1, 3): "1/4", (0, 3): "1/2", (1, 2): "1/2"}

DESIGNS: dict[str, list[Callable[[], mw.Design]]] = {
    "subsets": [
        lambda: d.direct(3),
        lambda: d.gamma_diagonal(["a", "b", "c"], epsilon=1.0),
        lambda: d.minimax(5, epsilon=0.5),
        lambda: d.minimax(4, gamma=Fraction(3, 2)),
        lambda: d.rappor(4, epsilon=1.0),
        lambda: d.local_diversity(5, l=3),
        lambda: d.uniform_subsets(5),
        lambda: mw.plan(["x", "y", "z"], mw.RhoPrivacy(0.1, 0.5), n=500),
    ],
    "matrix": [
        lambda: d.warner(truth_prob=0.8),
        lambda: d.forced_response(yes_prob=Fraction(1, 6), no_prob=Fraction(1, 6)),
        lambda: d.kuk(red_if_yes=0.7, red_if_no=0.2, draws=2),
        lambda: d.from_matrix([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]]),
        lambda: d.from_matrix([["1/2", "0"], ["0", "0"], ["1/2", "1"]], reports=["u", "v", "w"]),
        lambda: d.collapse(4, groups={"low": [0, 1], "high": [2, 3]}),
        lambda: d.average_secure(3, phi=1.5),
    ],
    "conditional": [
        lambda: d.conditional(3, subset_probs=_PAIRS),
        lambda: d.conditional(4, subset_probs=_FOUR),
        lambda: d.independent(4, question_probs={(0, 1): 0.3, (0, 2): 0.3, (0, 3): 0.4}),
    ],
    "blocks": [
        lambda: d.block(7, epsilon=0.3),
        lambda: d.block(6, gamma=4, construction="projective plane of order 2"),
        lambda: d.block(7, l=3),
        lambda: d.block(4, epsilon=1.0),
    ],
    "projective": [
        lambda: d.projective(3, epsilon=0.5),
        lambda: d.projective(7, gamma=3),
        lambda: d.projective(18, epsilon=1.0),
    ],
    "bits": [
        lambda: mw.rounds.unary(["a", "b", "c"], longitudinal=2, per_round=1).permanent,
        lambda: mw.rounds.rappor(5, f=0.5, p=0.5, q=0.75).permanent,
    ],
    "layered bits": [
        lambda: mw.rounds.unary(["a", "b", "c"], longitudinal=2, per_round=1),
        lambda: mw.rounds.rappor(4, f=0.5, p=0.5, q=0.75),
    ],
    "layered tables": [
        lambda: mw.rounds.kary(["a", "b", "c", "d"], longitudinal=2, per_round=1),
        lambda: mw.rounds.layers(d.warner(truth_prob=0.75), d.warner(truth_prob=0.8)),
        lambda: mw.rounds.layers(
            d.from_matrix([["1/2", "1/4"], ["1/4", "1/4"], ["1/4", "1/2"]]),
            d.from_matrix([["5/8", "1/4", "1/8"], ["3/8", "3/4", "7/8"]]),
        ),
    ],
    "product": [
        lambda: d.product(d.warner(truth_prob=0.8), d.gamma_diagonal(3, epsilon=1.0), names=["a", "b"]),
        lambda: d.product(d.conditional(3, subset_probs=_PAIRS), d.minimax(4, epsilon=0.5)),
        lambda: d.product(d.projective(5, gamma=3), d.gamma_diagonal(2, gamma=2)),
        lambda: d.product(mw.rounds.rappor(3, f=0.5, p=0.5, q=0.75), d.warner(truth_prob=0.8)),
        lambda: d.product(d.gamma_diagonal(2, gamma=2), d.gamma_diagonal(2, gamma=3)).answering(mw.BetaFactor(6)),
    ],
}
KINDS = tuple(DESIGNS)


def documents(kind: str) -> list[Document]:
    """The documents of one kind."""
    return [json.loads(make().to_json()) for make in DESIGNS[kind]]


def fingerprint(document: Document) -> str:
    """What the format says: SHA-256 of kind, categories and weights, or of a product's names and parts."""
    if document.get("kind") == "product":
        weights = document["weights"]
        content: Any = {
            "kind": "product",
            "names": weights["names"],
            "parts": [part["fingerprint"] for part in weights["parts"]],
        }
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    else:
        content = {key: document[key] for key in ("kind", "categories", "weights")}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def signed(document: Document) -> Document:
    """The document with its fingerprints recomputed, as far as there is anything to compute them from."""
    try:
        if document.get("kind") == "product":
            for part in document["weights"]["parts"]:
                signed(part)
        document["fingerprint"] = fingerprint(document)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        pass
    return document
