"""Reports of a round: the permanent part drawn again from a key, the instantaneous part fresh."""

from __future__ import annotations

import json
from dataclasses import replace
from operator import index
from typing import Any

from maskwell.designs import LayeredDesign
from maskwell.designs.layered.base import require_layers
from maskwell.errors import DataError
from maskwell.reports import Reports
from maskwell.sampling.entropy import Source, check_key, fresh_key
from maskwell.strict_json import read_json
from maskwell.tables.matching import Missing

_INSTANTANEOUS = "\ninstantaneous"
_FORMAT = 1


def report(
    design: LayeredDesign,
    values: Any,
    *,
    key: bytes,
    ids: Any,
    question: str,
    seed: int | None = None,
    missing: Missing = "refuse",
) -> Reports:
    """One report for each person in one round; the next round is the next call.

    The permanent report is a function of (key, design, question, id, value), so it need not be stored and is the same
    in every round; whoever holds the key can recover it, and nobody else. The instantaneous report is drawn afresh from
    it in each call. ``seed`` makes that draw repeatable, for simulations, and must differ by round.
    """
    layered = require_layers(design)
    kept = layered.permanent.mask(values, key=key, ids=ids, question=question, missing=missing)
    stream = Source(seed=seed, part=_INSTANTANEOUS, question=question).stream(layered.fingerprint, len(kept))
    sent = layered.again(kept.packed, stream)
    if kept.missing is not None:
        sent[kept.missing] = 0
    drawn = kept.randomness if seed is None else stream.randomness
    return Reports(layered, sent, kept.missing, drawn, question)


class Device:
    """One respondent's side: it holds a key and the last round's report, and no answer.

    >>> from maskwell.rounds import unary
    >>> device = Device(unary(["a", "b", "c"], longitudinal=2, per_round=1), "browser 2026/home page")
    >>> first = device.report("b", round=1)
    >>> device.report("b", round=1) is first, len(device.report("b", round=2))
    (True, 1)
    """

    def __init__(self, design: LayeredDesign, question: str, *, key: bytes | None = None, last_round: int = -1) -> None:
        """``key`` is drawn unless given; keep it, with ``last_round``, where only the respondent reads it."""
        self.design, self.question = require_layers(design), question
        self.key = fresh_key() if key is None else check_key(key)
        self.last_round = _whole(last_round)
        self._last: Reports | None = None

    def report(self, value: Any, *, round: int) -> Reports:
        """The report of a round. Asked again in the same round it is the same one: two would tell more than one."""
        number = _whole(round)
        if number == self.last_round and self._last is not None:
            return self._last
        if number <= self.last_round:
            raise DataError(
                f"round must be above {self.last_round}, the last that was reported; got {number}. A round is reported "
                "once; a device that is restored from to_json() repeats its last report.",
                parameter="round",
            )
        self._last = report(self.design, [value], key=self.key, ids=[0], question=self.question)
        self.last_round = number
        return self._last

    def to_json(self) -> str:
        """What must be kept where only the respondent reads it: the key, the last round and its report."""
        said = {
            "maskwell": "device",
            "version": _FORMAT,
            "design": self.design.fingerprint,
            "question": self.question,
            "key": self.key.hex(),
            "last_round": self.last_round,
            "last_report": None if self._last is None else self._last.positions()[0],
        }
        return json.dumps(said, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes, design: LayeredDesign) -> Device:
        """The device after a restart: it goes on with its permanent reports, and can repeat its last one."""
        found = read_json(text, "device", DataError)
        if not isinstance(found, dict) or found.get("maskwell") != "device" or found.get("version") != _FORMAT:
            raise DataError("this is no device of this version; write one with Device.to_json.")
        if found.get("design") != require_layers(design).fingerprint:
            raise DataError("the device was of another design: a new design has reports, and rounds, of its own.")
        try:
            key = bytes.fromhex(found["key"])
            device = Device(design, found["question"], key=key, last_round=found["last_round"])
        except (KeyError, TypeError, ValueError):
            raise DataError("the device is damaged: its key, question or last round cannot be read.") from None
        if found.get("last_report") is not None:
            last = Reports.from_positions(design, [found["last_report"]], question=device.question)
            device._last = replace(last, randomness="keyed")
        return device

    def __repr__(self) -> str:
        return f"<device of {self.design!r}, last round {self.last_round}>"


def _whole(number: Any) -> int:
    try:
        return index(number)
    except TypeError:
        raise DataError(f"round must be a whole number; got {type(number).__name__}.", parameter="round") from None
