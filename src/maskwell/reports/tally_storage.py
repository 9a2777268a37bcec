"""A tally as JSON: its counts with the design, how the reports were drawn, and a checksum of all of it.

Counts are stored as those that are not zero, each with its place; sums of weights are stored to the last bit.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.storage import from_document, to_document
from maskwell.errors import ReportError
from maskwell.limits import MOST_PLAN_CHARACTERS
from maskwell.reports.randomness import checked_randomness
from maskwell.strict_json import read_json

if TYPE_CHECKING:
    from maskwell.reports.tally import Tally

FORMAT = 1
SUFFIX = ".json"
_COUNTED = ("n", "missing", "counts", "squares", "patterns")
_MEMBERS = frozenset(("maskwell", "version", "design", "randomness", "question", "digest", *_COUNTED))
_RUNS = "runs"  # there only where the runs are known


def tally_text(tally: Tally) -> str:
    """A tally as JSON text."""
    kept = tally.kept_patterns
    patterns = kept and {
        "reports": [row.tobytes().hex() for row in kept.packed],
        "counts": kept.counts.tolist(),
        "squares": None if kept.squares is None else kept.squares.tolist(),
    }
    document = {
        "maskwell": "tally",
        "version": FORMAT,
        "design": to_document(tally.design),
        "n": np.asarray(tally.n).item(),
        "missing": tally.missing,
        "randomness": tally.randomness,
        "question": tally.question,
        "counts": _sparse(tally.counts),
        "squares": None if tally.squares is None else _sparse(tally.squares),
        "patterns": patterns,
        **({_RUNS: sorted(tally.runs)} if tally.runs else {}),
    }
    return json.dumps(document | {"digest": _digest(document)}, ensure_ascii=False)


def read_tally(text: str | bytes, what: str) -> dict[str, Any]:
    """The members of the tally that a text holds; its patterns as packed reports, counts and squares."""
    found = read_json(text, what, ReportError, MOST_PLAN_CHARACTERS)
    if not isinstance(found, dict) or found.get("maskwell") != "tally":
        raise ReportError(f"{what} is no tally; write one with Tally.write.")
    if found.get("version") != FORMAT or set(found) - {_RUNS} != _MEMBERS:
        raise ReportError(f"{what} is in another format than this version reads ({FORMAT}); count the reports again.")
    if found["digest"] != _digest({key: value for key, value in found.items() if key != "digest"}):
        raise ReportError(f"{what} was changed or damaged: it does not match its checksum.")
    design = from_document(found["design"])
    try:
        return _members(design, found, what)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        raise ReportError(f"{what} holds counts that are none of {design.title}.") from None


def _members(design: Any, found: dict[str, Any], what: str) -> dict[str, Any]:
    shape, kind = np.shape(design.codec.count(design.sampler.empty(0))), type(found["n"])
    if kind not in (int, float) or type(found["missing"]) is not int or min(found["n"], found["missing"]) < 0:
        raise ValueError
    if found["question"] is not None and not isinstance(found["question"], str):
        raise ValueError
    runs = found.get(_RUNS, [])
    if not isinstance(runs, list) or not all(isinstance(run, str) for run in runs):
        raise ValueError
    return {
        "design": design,
        "counts": _dense(found["counts"], shape),
        "n": found["n"],
        "missing": found["missing"],
        "squares": None if found["squares"] is None else _dense(found["squares"], shape),
        "patterns": None if found["patterns"] is None else _patterns(design, found["patterns"]),
        "randomness": checked_randomness(found["randomness"], what),
        "question": found["question"],
        "runs": frozenset(runs),
    }


def _patterns(design: Any, found: dict[str, Any]) -> tuple[Any, ...]:
    rows = b"".join(bytes.fromhex(report) for report in found["reports"])
    packed = np.frombuffer(rows, np.uint8).reshape(len(found["reports"]), design.sampler.empty(0).shape[1])
    squares = None if found["squares"] is None else _numbers(found["squares"], len(packed))
    return packed, _numbers(found["counts"], len(packed)), squares


def _sparse(counts: NDArray[Any]) -> dict[str, Any]:
    flat = counts.ravel()
    places = np.flatnonzero(flat)
    return {"whole": counts.dtype.kind in "iu", "places": places.tolist(), "values": flat[places].tolist()}


def _dense(found: dict[str, Any], shape: tuple[int, ...]) -> NDArray[Any]:
    places = _numbers(found["places"], len(found["places"]))
    counts: NDArray[Any] = np.zeros(shape, np.int64 if found["whole"] is True else float)
    values = _numbers(found["values"], len(places))
    if len(places) and (places.dtype.kind != "i" or (np.diff(places) <= 0).any() or places[0] < 0):
        raise ValueError
    if found["whole"] is True and values.dtype.kind != "i" and len(values):
        raise ValueError
    counts.reshape(-1)[places.astype(np.int64)] = values
    return counts


def _numbers(found: Any, n: int) -> NDArray[Any]:
    values = np.array(found)
    if values.shape != (n,) or (n and values.dtype.kind not in "if") or (values < 0).any():
        raise ValueError
    return values


def _digest(document: dict[str, Any]) -> str:
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(canonical.encode()).hexdigest()
