"""Structural zeros: combinations of keys that nobody can have, such as a married infant.

A model that spreads means over impossible cells takes them away from possible ones, and so overstates their risk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.errors import DataError
from maskwell.risk.frequencies import Cells


@dataclass(frozen=True)
class Zero:
    """Keys, and for each the codes that cannot occur together with those of the other keys."""

    keys: tuple[int, ...]
    codes: tuple[frozenset[int], ...]

    def holds(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Which cells are declared impossible."""
        inside = (np.isin(codes[:, key], sorted(own)) for key, own in zip(self.keys, self.codes, strict=True))
        return reduce(np.logical_and, inside)


def read_zeros(declared: Any, cells: Cells) -> tuple[Zero, ...]:
    """Declared zeros: mappings from keys to a label or a list, as in {"age": ["0-4", "5-9"], "job": "nurse"}."""
    if declared is None:
        return ()
    if isinstance(declared, Mapping) or not isinstance(declared, Sequence) or isinstance(declared, str):
        raise DataError(
            f"structural_zeros must be a list of mappings from keys to labels; got {type(declared).__name__}.",
            parameter="structural_zeros",
        )
    zeros = [_read(i, one, cells) for i, one in enumerate(declared)]
    return tuple(zero for zero in zeros if zero is not None)


def _read(position: int, declared: Any, cells: Cells) -> Zero | None:
    name = f"structural_zeros[{position}]"
    if not isinstance(declared, Mapping) or len(declared) < 2:
        raise DataError(f"{name} must map two keys or more to labels; to forbid a label of one key, drop its records.")
    unknown = [key for key in declared if key not in cells.keys]
    if unknown:
        raise DataError(f"{name} names {unknown[0]!r}, which is not a key; keys: {', '.join(cells.keys)}.")
    keys = tuple(sorted(cells.keys.index(key) for key in declared))
    codes = []
    for key in keys:
        listed = declared[cells.keys[key]]
        wanted = list(listed) if isinstance(listed, (list, tuple, set, frozenset)) else [listed]
        # A label that does not occur has mean zero anyway.
        codes.append(frozenset(code for code, label in enumerate(cells.labels[key]) if label in wanted))
    if not all(codes):
        return None
    zero = Zero(keys, tuple(codes))
    contradicted = int(cells.counts[zero.holds(cells.codes)].sum())
    if contradicted:
        raise DataError(
            f"{name} is contradicted by {contradicted} of {cells.n} records; correct the records or drop the zero."
        )
    return zero


def possible_cells(zeros: Sequence[Zero], axes: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    """Which cells of some keys are possible; None if all are."""
    within_axes = [zero for zero in zeros if set(zero.keys) <= set(axes)]
    if not within_axes:
        return None
    possible = np.ones(shape, bool)
    for zero in within_axes:
        chosen = [range(size) for size in shape]
        for key, codes in zip(zero.keys, zero.codes, strict=True):
            chosen[axes.index(key)] = sorted(codes)  # type: ignore[call-overload]
        possible[np.ix_(*chosen)] = False
    return possible
