"""People and reports drawn at given proportions, for whatever is calibrated by drawing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maskwell.designs.base import Design, Vector
from maskwell.designs.rounding import largest_remainder
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import TOTAL, RowSampler, draw


def derived_seed(seed: int | None, *purpose: object) -> int | None:
    """A seed of its own for each purpose, so that no two share a keystream."""
    if seed is None:
        return None
    text = " ".join(["maskwell draws", str(seed), *map(str, purpose)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def seed_of(parts: Iterable[Any]) -> int:
    """A seed that depends on the data alone, so that the same data always give the same draws."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
        digest.update(b"/")
    return int.from_bytes(digest.digest()[:8])


def draw_codes(proportions: Vector, n: int, seed: int | None) -> NDArray[np.uint32]:
    """``n`` independent category numbers at these proportions."""
    # Floats that should sum to 1 may miss it by a rounding error, and integers out of 2^64 must not.
    shares = [Fraction(float(p)) for p in proportions]
    whole = sum(shares)
    sampler = RowSampler.of_design(
        np.array(largest_remainder([share / whole for share in shares]), object)[:, None], TOTAL
    )
    nothing = np.zeros(n, np.uint32)
    stream = Source(seed=seed, part="/truths").stream("", n)
    codes: NDArray[np.uint32] = draw(sampler, n, lambda start, stop: nothing[start:stop], stream)
    return codes


def draw_counts(chances: Vector, n: int, repeats: int, seed: int | None) -> NDArray[np.int64]:
    """How often each of the outcomes comes in ``n`` draws, a row for each of ``repeats`` samples."""
    m = len(chances)
    codes = draw_codes(chances, n * repeats, seed).astype(np.int64)
    codes += m * np.repeat(np.arange(repeats), n)
    return np.bincount(codes, minlength=m * repeats).reshape(repeats, m)


def draw_truths(design: Design, proportions: Vector, n: int, seed: int | None) -> Any:
    """``n`` true values at these proportions, in the form that ``design.mask`` takes."""
    codes = draw_codes(proportions, n, seed)
    if not design.variables:
        return _labels(design)[codes]
    columns = np.unravel_index(codes.astype(np.int64), [part.k for part in design.variables.values()])
    parts = zip(design.variables.items(), columns, strict=True)
    return {name: _labels(part)[column] for (name, part), column in parts}


def _labels(design: Design) -> Any:
    labels = np.empty(design.k, object)
    labels[:] = design.categories
    return labels


def draw_uniforms(n: int, seed: int | None) -> NDArray[np.float64]:
    """``n`` independent numbers from 0 up to 1, for simulations."""
    words, _ = Source(seed=seed, part="/uniforms").stream("", n).slots(0, np.zeros(n, np.uint32), 2)
    numbers: NDArray[np.float64] = words.reshape(n, 2) @ np.array([2.0**-32, 2.0**-64])
    return np.minimum(numbers, 1 - 2.0**-53)
