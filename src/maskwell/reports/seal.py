"""The seal of a file of reports: how many there are, and a checksum of every one and of what is said about them.

It depends on the reports alone and not on the format, the batches or the spelling in which they are stored. A file that
was cut or changed anywhere therefore gives the same reports, or an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from maskwell.errors import ReportError
from maskwell.reports.batch import Batch

COUNT, DIGEST = "reports", "digest"


@dataclass
class Seal:
    """Grows with every batch."""

    count: int = 0
    _reports: Any = field(default_factory=sha256, repr=False)
    _gaps: Any = field(default_factory=sha256, repr=False)

    def add(self, batch: Batch) -> None:
        """Take in the next reports; of one that is missing, only where it would have been counts."""
        packed = batch.packed
        if batch.missing is not None and batch.missing.any():
            gaps = np.flatnonzero(batch.missing)
            packed = packed.copy()
            packed[gaps] = 0
            self._gaps.update((gaps + self.count).astype("<i8"))
        little = np.ascontiguousarray(packed, packed.dtype.newbyteorder("<"))
        self._reports.update(little.reshape(-1).view(np.uint8))
        self.count += len(packed)

    def stamp(self, about: Mapping[str, Any]) -> dict[str, str]:
        """What is stored beside ``about``: the number of reports, and the checksum of both."""
        parts = [about, self.count, self._reports.hexdigest(), self._gaps.hexdigest()]
        content = json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()
        return {COUNT: str(self.count), DIGEST: sha256(content).hexdigest()}

    def verify(self, about: Mapping[str, Any], stamp: Mapping[str, Any], name: str) -> None:
        """An error unless the reports that were read, and what is said about them, are what was written."""
        if stamp.get(COUNT) is None or stamp.get(DIGEST) is None:
            raise ReportError(f"{name!r} is cut off, or was not written by this version: its checksum is not there.")
        expected = self.stamp(about)
        if str(stamp[COUNT]) != expected[COUNT]:
            raise ReportError(f"{name!r} is truncated or changed: it does not hold the number of reports it should.")
        if stamp[DIGEST] != expected[DIGEST]:
            raise ReportError(f"{name!r} was changed or damaged: its reports do not match their checksum.")
