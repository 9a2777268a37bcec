"""What every design is and can do.

A design is a channel (the matrix ``P[report, truth]`` as exact numbers), a codec (how reports are packed, checked and
counted) and a sampler (how words become reports), with a name, labels and a demand. A kind of design (a
subclass) must give its channel, its sampler, the labels of its reports and its stored form; everything else is written
here once, and overridden where a kind has a closed form.
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from maskwell.demands import Demand
from maskwell.designs.channels import Channel
from maskwell.designs.channels.numbers import Matrix, Vector
from maskwell.designs.codecs import Codec
from maskwell.designs.registry import KINDS, citation, title
from maskwell.designs.scores import Method, Scores, TableScores, least_squares, what_cannot_be_told
from maskwell.designs.set_facts import SetFacts, facts_of_table
from maskwell.designs.storage import read_design, to_document
from maskwell.errors import DataError, DesignError, EstimationError, ReportError
from maskwell.exact import log_above
from maskwell.frames import Backend, data_frame
from maskwell.input_files import read_whole
from maskwell.limits import MOST_NAME_CHARACTERS
from maskwell.plain_text import visible
from maskwell.reports.reports import Reports
from maskwell.results.numbers import figure, limit
from maskwell.results.result import Result
from maskwell.sampling.entropy import Source
from maskwell.sampling.samplers import Packed, Sampler, draw
from maskwell.tables.labels import Label, as_labels, report_text, shown, text_of
from maskwell.tables.matching import Missing, read_column
from maskwell.whole_files import complete_file

__all__ = ["Design", "Matrix", "Method", "Scores", "Vector", "require_design"]

_RANK_TOLERANCE = 1e-12
_TOLD_CELLS = 20_000  # beyond it, listing all reports of a design helps nobody


def require_design(given: object) -> None:
    """An error unless this is a design."""
    if not isinstance(given, Design):
        raise DesignError(f"a design is needed, from mw.plan or mw.designs; got {type(given).__name__}.")


@dataclass(frozen=True, eq=False, repr=False)
class Design(Result, ABC):
    """A randomized-response design: labels, exact integers, and the demand that it answers, if it was built for one."""

    categories: tuple[Label, ...]
    name: str = field(kw_only=True)
    parameters: dict[str, Any] = field(kw_only=True, default_factory=dict)
    demand: Demand | None = field(kw_only=True, default=None)

    kind: ClassVar[str]
    keeps_patterns: ClassVar[bool] = False
    has_permanent_layer: ClassVar[bool] = False
    scores_need_table: ClassVar[bool] = True
    kinds: ClassVar[dict[str, type[Design]]] = KINDS

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        """What every kind demands; a kind goes on to demand that its integers are in canonical form."""
        # A name may come from a file, and stands in every view: it cannot act on a terminal or start a line.
        object.__setattr__(self, "name", visible(self.name, MOST_NAME_CHARACTERS))
        self._check_categories()

    def _check_categories(self) -> None:
        if as_labels(self.categories) != self.categories:
            raise DesignError("categories must be a tuple of labels.", parameter="categories")

    @property
    def title(self) -> str:
        """The name as it is shown: in quotes unless it is that of a known design, which its integers must be."""
        return title(self.name, self.kind)

    @property
    def k(self) -> int:
        """The number of categories."""
        return len(self.categories)

    # What a kind of design must provide, beside its ``kind``. All else has a default that computes from these; a kind
    # that knows better overrides it.

    @property
    @abstractmethod
    def channel(self) -> Channel:
        """The mathematics: ``P[report, truth]`` as exact numbers."""

    @property
    @abstractmethod
    def sampler(self) -> Sampler:
        """How reports are sampled."""

    @abstractmethod
    def report_labels(self) -> list[Any]:
        """What each row of the matrix stands for, as ``Reports.decode`` shows it."""

    @abstractmethod
    def stored_weights(self) -> dict[str, Any]:
        """The exact integers, ready for JSON."""

    @classmethod
    @abstractmethod
    def from_weights(cls, labels: list[Any], weights: dict[str, Any], **about: Any) -> Self:
        """The inverse of ``stored_weights``."""

    # Privacy.

    def exact_parity(self) -> Fraction | float:
        """The largest ratio between two entries of a row, as the sampler realises it; ``math.inf`` if one is zero."""
        return self.channel.parity

    @property
    def parity(self) -> float:
        """``exact_parity()`` as the nearest float, which is infinite beyond them."""
        try:
            return float(self.exact_parity())
        except OverflowError:  # a product of many variables
            return math.inf

    @property
    def epsilon(self) -> float:
        """The ε of local differential privacy: ln of the exact parity, rounded up."""
        parity = self.exact_parity()
        return log_above(parity) if isinstance(parity, Fraction) else math.inf

    def column_distance(self) -> Fraction:
        """The largest L1 distance between two columns."""
        return self.channel.column_distance

    def diversity(self) -> int:
        """The least number of non-zero entries of a row, or 0 if the non-zero entries of some row differ."""
        return self.channel.diversity

    # The matrix.

    def report_count(self) -> int:
        """How many different reports there are: the rows of the matrix."""
        return self.channel.report_count()

    def matrix(self, exact: bool = False) -> NDArray[Any]:
        """``P[report, truth]``; fractions if ``exact``. Refused where it would have more than ten million cells."""
        return self.channel.table() if exact else self.channel.floats.copy()

    def small_matrix(self) -> NDArray[np.object_] | None:
        """The exact matrix of a design that is small enough to be told row by row; None for others."""
        return self.matrix(exact=True) if self.report_count() * self.k <= _TOLD_CELLS else None

    def exact_row(self, report: Any) -> list[Fraction]:
        """``P(report | j)`` by category j, of a report as ``Reports.decode`` shows it; zeros if it is none."""
        labels = self.report_labels()
        return self.channel.exact_row(labels.index(report)) if report in labels else [Fraction(0)] * self.k

    def class_labels(self, classes: Iterable[int]) -> list[Any]:
        """What the reports of classes of rows are called: the set size where classes are sizes, else the label."""
        if self.channel.classes_are_sizes:
            return list(classes)
        labels = self.report_labels()
        return [labels[at] for at in classes]

    @property
    def variables(self) -> dict[str, Design]:
        """The designs of several variables by name, where each is masked by its own; empty for one variable."""
        return {}

    def part(self, name: str) -> Design:
        """The design of one of several variables."""
        if name not in self.variables:
            raise DesignError(f"there is no variable {name!r}; variables: {', '.join(self.variables)}.")
        return self.variables[name]

    def by_parts(self, change: Callable[[Design], Design]) -> Design:
        """The design after a change of each variable's; of the design itself if there is one variable."""
        return change(self)

    @property
    def set_range(self) -> tuple[int, int] | None:
        """The least and the most categories of a report, where every set of such a size can be one."""
        return None

    def truthful_rows(self) -> list[int] | None:
        """The row of each category if reports are the categories, else None."""
        labels = self.report_labels() if self.report_count() == self.k else []
        return [labels.index(c) for c in self.categories] if set(labels) == set(self.categories) else None

    def membership_rule(self) -> str | None:
        """How anybody tells which categories a report holds, where that is arithmetic and not a list; else None."""
        return None

    def set_facts(self) -> SetFacts | None:
        """How often reports hold the truth and other categories, where they are sets and alike for every truth."""
        matrix = self.small_matrix()
        return None if matrix is None else facts_of_table(self.categories, self.report_labels(), matrix)

    # Packed reports.

    @cached_property
    def codec(self) -> Codec:
        """How reports are packed, checked, shown and counted."""
        return Codec(self.categories, self.report_labels, self.channel)

    def decode(self, packed: Packed) -> list[Any]:
        """Packed reports as labels or frozensets of labels."""
        return self.codec.decode(packed)

    def pack_rows(self, rows: NDArray[np.int64]) -> Packed:
        """The packed form of reports that are given as rows of the matrix."""
        return self.codec.pack_rows(rows)

    def pack(self, report: Any) -> Packed:
        """One report, given as ``decode`` shows it, in packed form."""
        try:
            packed = self.codec.pack(report)
        except ReportError as error:
            raise ReportError(f"{self.title} cannot produce this report: {error}") from None
        if self.codec.first_impossible(packed) >= 0:
            raise ReportError(f"{self.title} cannot produce this report: it cannot occur, whatever the truth is.")
        return packed

    # Estimating.

    def relative_rows(self, packed: Packed) -> Matrix:
        """For each packed report z, ``P(z | j)`` divided by its mean over j: what a likelihood needs of a report."""
        rows = self.channel.floats[packed]
        relative: Matrix = rows / rows.mean(axis=1, keepdims=True)
        return relative

    def scores(self, method: Method) -> Scores:
        """The scores of a linear estimator; an EstimationError names what the design cannot tell."""
        self.require_estimable()
        return TableScores(self.channel.floats, self.estimator(method))

    def estimator(self, method: Method) -> Matrix:
        """L, one column of scores per report, with ``L P`` the identity."""
        return least_squares(self.channel.floats, method)

    @cached_property
    def estimable(self) -> bool:
        """Whether the reports determine all proportions."""
        values = np.linalg.svd(self.channel.floats, compute_uv=False)
        return len(values) == self.k and bool(values[-1] > _RANK_TOLERANCE * values[0])

    def require_estimable(self) -> None:
        """An error that names what the reports cannot tell, unless they tell everything."""
        if not self.estimable:
            raise EstimationError(what_cannot_be_told(self.title, self.channel.multiples(), self.categories))

    @cached_property
    def added_variance(self) -> float:
        """What masking adds to n times the total variance of the linear estimator; infinite if not estimable."""
        if not self.estimable:
            return math.inf
        return float((self.channel.floats.T @ (self.estimator("linear") ** 2).sum(axis=0)).max()) - 1

    @cached_property
    def worth(self) -> float:
        """Which part of a direct answer a report is worth when all categories are equally common; 0 if not estimable.

        >>> from maskwell.designs import direct
        >>> direct(4).worth
        1.0
        """
        if math.isinf(self.added_variance):
            return 0.0
        uniform = np.full(self.k, 1 / self.k)
        masked = float(self.scores("linear").second_moment_diagonal(uniform).sum()) - 1 / self.k
        return (1 - 1 / self.k) / masked

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
            raise DataError(
                f"values are missing in all {len(reports)} rows; there is nothing to mask.", parameter="values"
            )
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
        if id_batches is not None and next(id_batches, None) is not None:
            raise DataError("ids has more batches than the values: the two do not belong together.", parameter="ids")

    def _mask(self, values: Any, source: Source, missing: Missing, first: int) -> Reports:
        """Reports of values whose first one is record number ``first`` of a seeded stream."""
        column = read_column(values, self.categories, missing)
        stream = source.stream(self.fingerprint, column.n, first)
        packed = draw(self.sampler, column.n, column.codes, stream)
        if column.missing is not None:
            packed[column.missing] = 0
        return Reports(self, packed, column.missing, stream.randomness, source.question)

    # Storage and identity.

    def stored_labels(self) -> list[Any]:
        """The labels, ready for JSON."""
        return list(self.categories)

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
        return json.dumps(to_document(self), indent=1, ensure_ascii=False)

    @staticmethod
    def from_json(text: str | bytes) -> Design:
        """Read a design back; anything but the same design is an error."""
        return read_design(text)

    @staticmethod
    def read(path: str | PathLike[str]) -> Design:
        """The design of a file, as ``write`` and ``maskwell plan -o`` make it."""
        name = Path(path).name
        try:
            return read_design(read_whole(path, DesignError))
        except OSError as error:
            raise DesignError(f"{name!r} cannot be read: {error.strerror or error}.", parameter="path") from None
        except UnicodeDecodeError:
            raise DesignError(f"{name!r} is no design: it is not text.", parameter="path") from None
        except DesignError as error:
            raise DesignError(f"{name!r}: {error}", parameter="path") from None

    def write(self, path: str | PathLike[str]) -> None:
        """Store the design as a .json file, whole or not at all; ``Design.read`` and the command line take it."""
        try:
            with complete_file(path) as file:
                file.write(self.to_json().encode())
        except OSError as error:
            raise DesignError(
                f"{Path(path).name!r} could not be written: {error.strerror or error}.", parameter="path"
            ) from None

    def answering(self, demand: Demand) -> Self:
        """The same design, said to answer this demand."""
        return replace(self, demand=demand)

    def citation(self) -> str:
        """Where the design comes from."""
        return citation(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        epsilon = "inf" if math.isinf(self.epsilon) else f"{self.epsilon:.6g}"
        return (
            f"<{self.title} design: {self.k} categories, epsilon {epsilon}, added variance {self.added_variance:.6g}>"
        )

    def _title(self) -> str:
        return f"{self.title} design for {self.k:,} categories"

    def _figures(self) -> dict[str, Any]:
        return {
            "categories": shown(self.categories),
            "demand": self.demand.describe() if self.demand else "none stated",
            "ε": limit(self.epsilon),
            "parity": limit(self.exact_parity()),
            "added variance": figure(self.added_variance),
            "fingerprint": self.fingerprint[:12],
        }

    def to_dict(self) -> dict[str, Any]:
        """The design as plain values: what ``to_json`` writes."""
        return to_document(self)

    def to_frame(self, *, backend: Backend = "pandas") -> Any:
        """The matrix as a data frame: a line for each report, a column for each true answer."""
        columns = {text_of(c): p for c, p in zip(self.categories, self.matrix().T, strict=True)}
        return data_frame(
            {"report": [report_text(label, self.categories) for label in self.report_labels()], **columns}, backend
        )
