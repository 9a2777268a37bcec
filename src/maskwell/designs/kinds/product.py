"""Products of designs: several variables, each masked by a design of its own.

The joint truth is a tuple of labels, the joint report one report per variable, and the joint matrix the Kronecker
product of the parts. Parities multiply. Nothing of that size is ever formed unless it is asked for.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.designs import stored
from maskwell.designs.base import Design, Matrix, Method, Scores, Vector
from maskwell.designs.channels import ProductChannel
from maskwell.designs.codecs import JointCodec
from maskwell.designs.scores import SUM_TOLERANCE
from maskwell.designs.storage import from_document, to_document
from maskwell.errors import DataError, DesignError, EstimationError
from maskwell.limits import MOST_CATEGORIES
from maskwell.reports.reports import Reports
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import Packed, Sampler
from maskwell.tables.frames import columns_of_variables
from maskwell.tables.matching import Missing

_CELLS_AT_ONCE = 1 << 22
_MOST_CHECKED = 512  # cells whose covariance is looked at outside the simplex
_ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ProductDesign(Design):
    """Designs in order, with the names of their variables; the joint categories follow from them."""

    parts: tuple[Design, ...]
    names: tuple[str, ...]

    kind = "product"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.parts) < 2 or len(self.parts) != len(self.names) or len(set(self.names)) < len(self.names):
            raise DesignError("product needs two designs or more, and as many different names.")
        if not all(isinstance(name, str) for name in self.names):
            raise DesignError("product needs names that are text.")

    def _check_categories(self) -> None:
        joint: tuple[Any, ...] = _joint_categories(self.parts)
        if self.categories == ():
            object.__setattr__(self, "categories", joint)
        elif self.categories != joint:
            raise DesignError("the categories of a product are the combinations of those of its parts, in order.")

    @property
    def variables(self) -> dict[str, Design]:
        return dict(zip(self.names, self.parts, strict=True))

    @cached_property
    def channel(self) -> ProductChannel:
        return ProductChannel(self.k, self.title, tuple(part.channel for part in self.parts))

    @cached_property
    def codec(self) -> JointCodec:
        empties = tuple(part.sampler.empty(0) for part in self.parts)
        parts = tuple(part.codec for part in self.parts)
        return JointCodec(self.categories, self.report_labels, self.channel, parts=parts, empties=empties)

    @cached_property
    def sampler(self) -> Sampler:
        return ProductSampler(sum(self.codec.widths))

    def report_labels(self) -> list[Any]:
        self.channel.refuse_large("report_labels()")
        return list(itertools.product(*(part.report_labels() for part in self.parts)))

    def join(self, packed: Sequence[Packed]) -> Packed:
        """Joint reports from one column of packed reports per variable."""
        return self.codec.join(packed)

    def split(self, packed: Packed) -> list[Packed]:
        """The packed reports of each variable."""
        return self.codec.split(packed)

    # Masking: each variable by its own sampler and from its own words.

    def _mask(self, values: Any, source: Source, missing: Missing, first: int) -> Reports:
        masked = []
        for i, (part, column) in enumerate(zip(self.parts, columns_of_variables(values, self.names), strict=True)):
            apart = replace(source, part=f"/{self.fingerprint}/{i}")
            try:
                masked.append(part._mask(column, apart, missing, first))
            except DataError as error:
                raise DataError(f"variable {self.names[i]!r}: {error}") from None
        if len({len(reports) for reports in masked}) > 1:
            raise DataError("the variables of a table must have equally many values.")
        gone = [reports.missing for reports in masked if reports.missing is not None]
        absent = np.logical_or.reduce(gone) if gone else None
        packed = self.join([reports.packed for reports in masked])
        if absent is not None:
            packed[absent] = 0
        return Reports(self, packed, absent, masked[0].randomness, source.question)

    # Estimating: all that a joint estimate needs is the distinct joint reports.

    keeps_patterns = True
    scores_need_table = False

    def relative_rows(self, packed: Packed) -> Matrix:
        rows = [p.relative_rows(x) for p, x in zip(self.parts, self.split(packed), strict=True)]
        return reduce(_row_products, rows)

    def scores(self, method: Method) -> Scores:
        return ProductScores(self, method)

    def score_rows(self, method: Method, packed: Packed) -> Matrix:
        """The joint scores of packed reports: products of the variables' scores."""
        pieces = zip(self.parts, self.split(packed), strict=True)
        return reduce(_row_products, [part.scores(method).rows(piece) for part, piece in pieces])

    @cached_property
    def estimable(self) -> bool:
        return all(part.estimable for part in self.parts)

    def require_estimable(self) -> None:
        for part in self.parts:
            part.require_estimable()

    @cached_property
    def added_variance(self) -> float:
        """Largest over joint truths: the expected squared score norm is a product over the variables."""
        if any(math.isinf(part.added_variance) for part in self.parts):
            return math.inf
        return math.prod(part.added_variance + 1 for part in self.parts) - 1

    def citation(self) -> str:
        return "\n".join(dict.fromkeys(line for part in self.parts for line in part.citation().splitlines()))

    # Storage.

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the names and of the parts' own fingerprints."""
        return self._fingerprint_of_parts(self.names, [part.fingerprint for part in self.parts])

    @classmethod
    def fingerprint_of(cls, labels: Any, weights: Any) -> str:
        return cls._fingerprint_of_parts(weights["names"], [part["fingerprint"] for part in weights["parts"]])

    @classmethod
    def _fingerprint_of_parts(cls, names: Sequence[str], fingerprints: Sequence[str]) -> str:
        content = {"kind": cls.kind, "names": names, "parts": fingerprints}
        return hashlib.sha256(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()

    def by_parts(self, change: Callable[[Design], Design]) -> Self:
        return replace(self, parts=tuple(change(part) for part in self.parts))

    def stored_labels(self) -> list[Any]:
        return []

    def stored_weights(self) -> dict[str, Any]:
        return {"names": list(self.names), "parts": [to_document(part) for part in self.parts]}

    @classmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        if labels != []:
            raise DesignError("a product's categories stand in its parts; its own list must be empty.")
        names, parts = stored.fields(weights, "names", "parts")
        if any(isinstance(part, dict) and part.get("kind") == cls.kind for part in stored.listed(parts, "parts")):
            raise _nested()
        return cls._of([from_document(part) for part in parts], stored.listed(names, "names"), **about)

    @classmethod
    def _of(cls, parts: Sequence[Design], names: Sequence[str], **about: Any) -> Self:
        return cls((), tuple(parts), tuple(names), **about)


def _joint_categories(parts: Sequence[Design]) -> tuple[tuple[Any, ...], ...]:
    """Every combination of the parts' categories; an error before they are listed if there are too many."""
    if not isinstance(parts, list | tuple) or not all(isinstance(part, Design) for part in parts):
        raise DesignError("product takes designs, as in product(minimax(...), warner(...)).")
    if any(isinstance(part, ProductDesign) for part in parts):
        raise _nested()
    # Part by part, as thousands of parts would make a number without end.
    cells = 1
    for part in parts:
        cells *= part.k
        if cells > MOST_CATEGORIES:
            raise DesignError(
                f"a product may have up to {MOST_CATEGORIES} joint categories; these make {cells} or more."
            )
    return tuple(itertools.product(*(part.categories for part in parts)))


def _nested() -> DesignError:
    return DesignError("product takes plain designs; list the parts of a product one by one.")


@dataclass(frozen=True)
class ProductScores(Scores):
    """Products of the variables' scores; ``packed`` are the distinct reports that ``mean`` gets the counts of."""

    design: ProductDesign
    method: Method
    packed: Packed | None = None

    @cached_property
    def _parts(self) -> list[Scores]:
        return [part.scores(self.method) for part in self.design.parts]

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(part.k for part in self.design.parts)

    def rows(self, packed: Packed) -> Matrix:
        return self.design.score_rows(self.method, packed)

    def mean(self, counts: NDArray[Any]) -> Vector:
        if self.packed is None:
            raise EstimationError("a product is estimated from its distinct joint reports; use estimate(tally).")
        step = max(1, _CELLS_AT_ONCE // self.design.k)
        total = np.zeros(self.design.k)
        for start in range(0, len(self.packed), step):
            total += counts[start : start + step] @ self.rows(self.packed[start : start + step])
        mean: Vector = total / counts.sum()
        return mean

    def over(self, packed: Packed) -> Self:
        return replace(self, packed=packed)

    def extremes(self) -> tuple[float, float]:
        """Of products of the variables' scores: the ends of each may change places."""
        low = high = 1.0
        for scores in self._parts:
            products = [a * b for a in (low, high) for b in scores.extremes()]
            low, high = min(products), max(products)
        return low, high

    def mean_squares(self) -> Matrix:
        joint: Matrix = reduce(np.kron, [scores.mean_squares() for scores in self._parts])  # type: ignore[arg-type]
        return joint

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        table = proportions.reshape(self._shape)
        for axis, scores in enumerate(self._parts):
            table = np.moveaxis(np.tensordot(scores.mean_squares(), table, axes=(1, axis)), 0, axis)
        return table.reshape(-1)

    def second_moment(self, proportions: Vector) -> Matrix:
        d = len(self._shape)
        table = proportions.reshape(self._shape)
        for scores in self._parts:
            # The first axis, a variable's truth, becomes a pair of score axes at the end.
            table = np.tensordot(table, scores.by_truth(), axes=(0, 2))
        order = [2 * i for i in range(d)] + [2 * i + 1 for i in range(d)]
        moment: Matrix = table.transpose(order).reshape(self.design.k, self.design.k)
        return moment

    def holds_at(self, proportions: Vector) -> bool:
        a_population = abs(proportions.sum() - 1) <= SUM_TOLERANCE and (proportions >= 0).all()
        if a_population or len(proportions) > _MOST_CHECKED:
            return bool(a_population)
        values = np.linalg.eigvalsh(self.second_moment(proportions) - np.outer(proportions, proportions))
        return bool(values[0] >= -_ROUND_OFF * values[-1])

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """The other cells keep their shares of what a cell leaves."""
        squares = reduce(np.multiply.outer, [np.diagonal(s.mean_squares()) for s in self._parts]).reshape(-1)
        shares = np.clip(proportions, 1e-6, None)  # what a cell leaves must not drown in a difference
        rest = (self.second_moment_diagonal(shares) - squares * shares) / (shares.sum() - shares)
        return rest, squares - rest


@dataclass(frozen=True)
class ProductSampler:
    """How wide a joint report is; the parts are drawn by their own samplers."""

    n_bytes: int
    width = 0

    def empty(self, n: int) -> Packed:
        return np.empty((n, self.n_bytes), np.uint8)

    def run(self, *_: Any) -> None:
        raise DesignError("a product is drawn part by part.")


def _row_products(a: Matrix, b: Matrix) -> Matrix:
    joint: Matrix = (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)
    return joint


def product(*designs: Design, names: Sequence[str] | None = None) -> ProductDesign:
    """Mask several variables at once, each by its own design; parity and categories multiply.

    >>> from maskwell.designs import gamma_diagonal
    >>> product(gamma_diagonal(3, gamma=2), gamma_diagonal(4, gamma=3)).k
    12
    """
    if names is None:
        names = [f"x{i + 1}" for i in range(len(designs))]
    return ProductDesign._of(designs, [str(name) for name in names], name="product")
