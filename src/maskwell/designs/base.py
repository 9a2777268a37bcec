"""What every design is and can do.

A design is a matrix of transition probabilities ``P[report, truth]`` held as exact integers. Each kind of design
(a subclass) says how those integers are stored, sampled, audited and inverted; everything else is written here once.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.arithmetic import log_above
from maskwell.demands import Demand
from maskwell.errors import DataError, DesignError
from maskwell.limits import MATRIX_CELLS, MOST_NAME_CHARACTERS
from maskwell.plain_text import visible, visible_html
from maskwell.sampling.entropy import Source
from maskwell.sampling.plans import Packed, Plan, draw
from maskwell.tables.labels import Label, as_labels, shown
from maskwell.tables.matching import Missing, read_column

if TYPE_CHECKING:
    from maskwell.reports import Reports

SUM_TOLERANCE = 1e-9  # by which proportions may miss a sum of 1
Method = Literal["linear", "moments"]
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class Scores(Protocol):
    """A linear estimator: each report has a score per category, and the estimate is the mean score."""

    def mean(self, counts: NDArray[Any]) -> Vector:
        """The weighted sum of scores over a tally's counts, divided by the sum of weights."""
        ...

    def rows(self, packed: Packed) -> Matrix:
        """The scores of each packed report, one row per report."""
        ...

    def second_moment(self, proportions: Vector) -> Matrix:
        """E[L L'] of one report's scores L when the population has these proportions."""
        ...

    def second_moment_diagonal(self, proportions: Vector) -> Vector:
        """Its diagonal alone, without the k x k matrix."""
        ...

    def holds_at(self, proportions: Vector) -> bool:
        """Whether ``second_moment - p p'`` is sure to be a covariance at p: in the simplex always, outside it at times.

        An estimate from a design with as many reports as categories can lie outside and still fit the reports exactly.
        """
        ...

    def by_truth(self) -> NDArray[np.float64]:
        """``T[i, j, t]``: E[L_i L_j] of one report when the truth is t."""
        ...

    def variance_lines(self, proportions: Vector) -> tuple[Vector, Vector]:
        """Intercepts and slopes of E[L_j^2] as a function of the j-th proportion."""
        ...

    def binomial(self) -> tuple[Vector, Vector] | None:
        """Vectors ``A, B`` such that ``n (B + (A - B) estimate)`` is a binomial count by category, or None."""
        ...


def require_design(given: object) -> None:
    """An error unless this is a design."""
    if not isinstance(given, Design):
        raise DesignError(f"a design is needed, from mw.plan or mw.designs; got {type(given).__name__}.")


@dataclass(frozen=True, eq=False, repr=False)
class Design(ABC):
    """A randomized-response design: labels, exact integers, and the demand that it answers, if it was built for one."""

    categories: tuple[Label, ...]
    name: str = field(kw_only=True)
    parameters: dict[str, Any] = field(kw_only=True, default_factory=dict)
    demand: Demand | None = field(kw_only=True, default=None)

    kind: ClassVar[str]
    keeps_patterns: ClassVar[bool] = False
    kinds: ClassVar[dict[str, type[Design]]] = {}

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            Design.kinds[cls.kind] = cls

    def __post_init__(self) -> None:
        """What every kind demands; a kind goes on to demand that its integers are in canonical form."""
        # A name may come from a file, and stands in every view: it cannot act on a terminal or start a line.
        object.__setattr__(self, "name", visible(self.name, MOST_NAME_CHARACTERS))
        self._check_categories()

    def _check_categories(self) -> None:
        if as_labels(self.categories) != self.categories:
            raise DesignError("categories must be a tuple of labels.")

    @property
    def k(self) -> int:
        """The number of categories."""
        return len(self.categories)

    # What a kind of design must provide.

    @abstractmethod
    def exact_parity(self) -> Fraction | float:
        """The largest ratio between two entries of a row, as the sampler realises it; ``math.inf`` if one is zero."""

    @abstractmethod
    def column_distance(self) -> Fraction:
        """The largest L1 distance between two columns."""

    @abstractmethod
    def diversity(self) -> int:
        """The least number of non-zero entries of a row, or 0 if the non-zero entries of some row differ."""

    @abstractmethod
    def report_count(self) -> int:
        """How many different reports there are: the rows of the matrix."""

    @abstractmethod
    def _exact_matrix(self) -> NDArray[np.object_]:
        """The matrix as fractions."""

    @abstractmethod
    def report_labels(self) -> list[Any]:
        """What each row of the matrix stands for, as ``Reports.decode`` shows it."""

    @abstractmethod
    def decode(self, packed: Packed) -> list[Any]:
        """Packed reports as labels or frozensets of labels."""

    @abstractmethod
    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        """The packed form of reports that are given as rows of the matrix."""

    @abstractmethod
    def first_impossible(self, packed: Packed) -> int:
        """The first packed report that the design cannot produce, or -1; also -1 if there is none."""

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """How reports are sampled."""

    @property
    @abstractmethod
    def count_shape(self) -> tuple[int, ...]:
        """The shape of a tally's counts."""

    @abstractmethod
    def count(self, packed: Packed, weights: Vector | None = None) -> NDArray[Any]:
        """The counts that inference needs, of reports that were checked; sums of weights where they are given."""

    @abstractmethod
    def inclusions(self, counts: NDArray[Any]) -> NDArray[Any]:
        """From counts: in how many reports each category stands."""

    @abstractmethod
    def relative_rows(self, packed: Packed) -> Matrix:
        """For each packed report z, ``P(z | j)`` divided by its mean over j: what a likelihood needs of a report."""

    @abstractmethod
    def scores(self, method: Method) -> Scores:
        """The scores of a linear estimator; an EstimationError names what the design cannot tell."""

    @property
    @abstractmethod
    def added_variance(self) -> float:
        """What masking adds to n times the total variance of the linear estimator; infinite if not estimable."""

    def stored_labels(self) -> list[Any]:
        """The labels, ready for JSON."""
        return list(self.categories)

    @abstractmethod
    def stored_weights(self) -> dict[str, Any]:
        """The exact integers, ready for JSON."""

    @classmethod
    @abstractmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        """The inverse of ``stored_weights``."""

    # Privacy.

    @property
    def parity(self) -> float:
        """``exact_parity()`` as the nearest float."""
        return float(self.exact_parity())

    @property
    def epsilon(self) -> float:
        """The ε of local differential privacy: ln of the exact parity, rounded up."""
        parity = self.exact_parity()
        return log_above(parity) if isinstance(parity, Fraction) else math.inf

    # The matrix.

    def matrix(self, exact: bool = False) -> NDArray[Any]:
        """``P[report, truth]``; fractions if ``exact``. Refused where it would have more than ten million cells."""
        self._refuse_large("matrix()")
        matrix = self._exact_matrix()
        return matrix if exact else matrix.astype(np.float64)

    def _refuse_large(self, what: str) -> None:
        cells = self.report_count() * self.k
        if cells > MATRIX_CELLS:
            # Too many digits to write out would be an error of their own.
            size = f"{cells}" if cells < 10**15 else f"about 10^{int(cells.bit_length() * math.log10(2))}"
            raise DesignError(
                f"{what} of {self.name} with k={self.k} would have {size} cells (limit {MATRIX_CELLS}); "
                "use parity, added_variance, mask and estimate, which need no table."
            )

    # Masking.

    def mask(
        self,
        values: Any,
        *,
        key: bytes | None = None,
        ids: Any = None,
        question: str | None = None,
        seed: int | None = None,
        missing: Missing = "refuse",
    ) -> Reports:
        """Draw one report per value.

        Without options the randomness is cryptographic and fresh. With ``key``, ``ids`` and ``question`` the report of
        a record depends on (key, design, question, id, truth) alone; whoever holds the key can recover true values.
        ``question`` names the survey and the question, and must differ wherever something else is asked: under one
        key, equal answers to one question have equal reports, so two different reports prove that the answer changed.
        ``seed`` is for simulations; columns that share a seed need a question each, or they share their noise.
        A missing value is an error unless ``missing="keep"``, which leaves an empty report: non-response then shows.
        """
        source = Source(key, ids, seed, question=question)
        source.check_answers()
        reports = self._mask(values, source, missing, first=0)
        if len(reports) and reports.missing is not None and reports.missing.all():
            raise DataError(f"values are missing in all {len(reports)} rows; there is nothing to mask.")
        return reports

    def mask_batches(
        self,
        batches: Iterable[Any],
        *,
        key: bytes | None = None,
        ids: Iterable[Any] | None = None,
        question: str | None = None,
        seed: int | None = None,
        missing: Missing = "refuse",
    ) -> Iterator[Reports]:
        """Mask a stream of columns one at a time, in memory bounded by the largest of them.

        Secure batches are keyed afresh, each by itself. A seed gives the reports that one ``mask`` of all values
        would give. With a key, ``ids`` yields the ids of each batch; they are checked for duplicates within a batch
        only.
        """
        source = Source(key, ids, seed, question=question)
        source.check_answers()  # now rather than at the first batch
        return self._masked_batches(batches, source, missing)

    def _masked_batches(self, batches: Iterable[Any], source: Source, missing: Missing) -> Iterator[Reports]:
        first = 0
        id_batches = iter(source.ids) if source.ids is not None else None
        for values in batches:
            batch_ids = next(id_batches, ()) if id_batches is not None else None
            reports = self._mask(values, replace(source, ids=batch_ids), missing, first)
            first += len(reports)
            yield reports

    def _mask(self, values: Any, source: Source, missing: Missing, first: int) -> Reports:
        """Reports of values whose first one is record number ``first`` of a seeded stream."""
        from maskwell.reports import Reports

        column = read_column(values, self.categories, missing)
        stream = source.stream(self.fingerprint, column.n, first)
        packed = draw(self.plan, column.n, column.codes, stream)
        if column.missing is not None:
            packed[column.missing] = 0
        return Reports(self, packed, column.missing, stream.randomness, source.question)

    # Storage and identity.

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the labels and the integers: what decides how reports come about, and nothing else."""
        return self.fingerprint_of(self.stored_labels(), self.stored_weights())

    @classmethod
    def fingerprint_of(cls, labels: Any, weights: Any) -> str:
        """The hash of labels and integers as they are stored, to the letter: another spelling has another hash."""
        content = {"kind": cls.kind, "categories": labels, "weights": weights}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    def to_json(self) -> str:
        """The design as text, complete and versioned."""
        from maskwell.designs.storage import to_document

        return json.dumps(to_document(self), indent=1, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes) -> Design:
        """Read a design back; anything but the same design is an error."""
        from maskwell.designs.storage import from_document
        from maskwell.strict_json import read_json

        return from_document(read_json(text, "design", DesignError))

    def answering(self, demand: Demand) -> Self:
        """The same design, said to answer this demand."""
        return replace(self, demand=demand)

    def citation(self) -> str:
        """Where the design comes from."""
        from maskwell.designs.registry import citation

        return citation(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        epsilon = "inf" if math.isinf(self.epsilon) else f"{self.epsilon:.6g}"
        return f"<{self.name} design: {self.k} categories, epsilon {epsilon}, added variance {self.added_variance:.6g}>"

    def _repr_html_(self) -> str:
        rows = [
            ("categories", shown(self.categories)),
            ("demand", self.demand.describe() if self.demand else "none stated"),
            ("ε", f"{self.epsilon:.6g}"),
            ("parity", f"{self.parity:.6g}"),
            ("added variance", f"{self.added_variance:.6g}"),
            ("fingerprint", self.fingerprint[:12]),
        ]
        cells = "".join(f"<tr><th>{visible_html(a)}</th><td>{visible_html(b)}</td></tr>" for a, b in rows)
        return f"<table><caption>{visible_html(self.name)} design</caption>{cells}</table>"
