"""Reports as they travel from devices: positions instead of labels, as ``mask.js`` gives them.

A report of a matrix, of blocks or of hyperplanes is the number of its row, that of a design of sets a rising list of
the positions of its members, and that of a product a list with a report for each variable. No message quotes what was
sent: a form that is built wrongly might send a true answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import ReportError
from maskwell.sampling.samplers import Packed

if TYPE_CHECKING:
    from maskwell.designs.base import Design


def packer(design: Design) -> Callable[[object], bytes]:
    """How one report of a design, as it travels, becomes the bytes that a file of reports holds."""
    if design.variables:
        return _joint_packer([packer(part) for part in design.variables.values()])
    return _set_packer(design) if design.codec.bit_masks else _row_packer(design)


def packed_width(design: Design) -> int:
    """The bytes of one packed report."""
    return int(design.sampler.empty(1).nbytes)


def unpacked(design: Design, rows: NDArray[np.uint8]) -> Packed:
    """Packed reports from the bytes of each."""
    empty = design.sampler.empty(0)
    packed: Packed = rows.view(empty.dtype.newbyteorder("<")).reshape(len(rows), *empty.shape[1:]).astype(empty.dtype)
    return packed


def packed_positions(design: Design, reports: Sequence[Any] | NDArray[Any]) -> tuple[Packed, NDArray[np.bool_]]:
    """Packed reports, and where there is none; an error names the first row that the design cannot have produced."""
    numbers = _whole_numbers(design, reports)
    if numbers is not None:
        return numbers, np.zeros(len(numbers), np.bool_)
    pack, width = packer(design), packed_width(design)
    absent = np.fromiter((report is None for report in reports), np.bool_, len(reports))
    pieces = []
    for row, report in enumerate(reports):
        try:
            pieces.append(bytes(width) if report is None else pack(report))
        except ReportError as error:
            raise ReportError(f"row {row:,}: {error.message}", parameter="reports") from None
    table = np.frombuffer(b"".join(pieces), np.uint8).reshape(len(pieces), width)
    return unpacked(design, table), absent


def _whole_numbers(design: Design, reports: Sequence[Any] | NDArray[Any]) -> Packed | None:
    """Many reports that are row numbers, checked together; None where they must be looked at one by one."""
    if design.variables or design.codec.bit_masks or not all(type(report) is int for report in reports):
        return None
    try:
        numbers = np.array(reports, np.int64)
    except OverflowError:
        return None
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < design.report_count():
        return None
    rows = design.codec.pack_rows(numbers)
    return rows if design.codec.first_impossible(rows) < 0 else None


def positions_of(design: Design, packed: Packed) -> list[Any]:
    """Each packed report as it travels."""
    if design.variables:
        pieces = zip(design.variables.values(), design.codec.split(packed), strict=True)
        return [list(joint) for joint in zip(*(positions_of(part, piece) for part, piece in pieces), strict=True)]
    if design.codec.bit_masks:
        members = np.unpackbits(packed, axis=1, count=design.k, bitorder="little")
        return [np.flatnonzero(row).tolist() for row in members]
    return [int(code) for code in packed.tolist()]


def _row_packer(design: Design) -> Callable[[object], bytes]:
    count, width = design.report_count(), packed_width(design)
    impossible = _impossible_rows(design, count)
    wrong = f"a report must be a whole number from 0 to {count - 1} that its design can produce."

    def pack(report: object) -> bytes:
        if type(report) is not int or not 0 <= report < count or report in impossible:
            raise ReportError(wrong)
        return report.to_bytes(width, "little")

    return pack


def _impossible_rows(design: Design, count: int) -> set[int]:
    """Rows of the matrix that cannot occur; most designs have none."""
    rows, impossible = np.arange(count).astype(design.sampler.empty(0).dtype), set()
    while (at := design.codec.first_impossible(rows)) >= 0:
        impossible.add(int(rows[at]))
        rows = rows[at + 1 :]
    return impossible


def _set_packer(design: Design) -> Callable[[object], bytes]:
    k, width, sizes = design.k, packed_width(design), design.codec.set_sizes
    wrong = f"a report must be a rising list of positions from 0 to {k - 1}, as many as its design can produce."

    def pack(report: object) -> bytes:
        if not isinstance(report, list) or len(report) not in sizes or any(type(at) is not int for at in report):
            raise ReportError(wrong)
        if any(b <= a for a, b in zip([-1, *report], [*report, k], strict=True)):
            raise ReportError(wrong)
        mask = bytearray(width)
        for at in report:
            mask[at >> 3] |= 1 << (at & 7)
        return bytes(mask)

    return pack


def _joint_packer(parts: list[Callable[[object], bytes]]) -> Callable[[object], bytes]:
    def pack(report: object) -> bytes:
        if not isinstance(report, list) or len(report) != len(parts):
            raise ReportError(f"a report must be a list of {len(parts)} reports, one for each variable.")
        return b"".join(part(piece) for part, piece in zip(parts, report, strict=True))

    return pack
