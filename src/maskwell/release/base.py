"""What every release has: the table before and after it, its plan, and what it does to any table of counts."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from maskwell.release.added_variance import AddedVariance, Moments, read_factors
from maskwell.release.partition import Factor
from maskwell.release.staying_columns import Staying, staying_columns
from maskwell.results.result import Result
from maskwell.tables.codes import Floats
from maskwell.tables.encoded import EncodedTable

if TYPE_CHECKING:
    from maskwell.release.attack.derived_columns import Derivations
    from maskwell.release.attack.repeated_values import RepeatedValues
    from maskwell.release.attack.result import ColumnAttack
    from maskwell.release.evaluation.comparison import Comparison


@dataclass(frozen=True, eq=False, repr=False)
class BaseRelease(Result, ABC):
    """A table that may be released.

    The release also holds the original table, for the custodian's own comparisons; give away ``table`` alone, and write
    dictionaries of Arrow by ``file.with_table(table)``: those of the table list the original categories.
    """

    table: Any
    moved: EncodedTable = dataclasses.field(repr=False)
    """The columns of the table as they follow from the moves."""

    @property
    def columns(self) -> EncodedTable:
        """The released columns as codes."""
        return self.moved.of(self.table)

    @property
    @abstractmethod
    def before(self) -> EncodedTable:
        """The columns before the release."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of records."""

    @property
    @abstractmethod
    def moving(self) -> tuple[str, ...]:
        """The columns that the release may change."""

    @property
    def given(self) -> Any:
        """The table as it was given, recoded; a file knows the codes of its labels."""
        return None

    @property
    def changing(self) -> tuple[str, ...]:
        """Those of them that differ among the records that exchange their values."""
        return self.moving

    @property
    @abstractmethod
    def known(self) -> tuple[str, ...]:
        """The columns by which a person may be looked for."""

    @property
    def together(self) -> str | None:
        """The column of groups that move as one."""
        return None

    @property
    @abstractmethod
    def deciding(self) -> tuple[ColumnAttack, ...]:
        """The columns that stay, or are made of such, and decide a key: an attack by them tells who was changed."""

    @property
    def repeated(self) -> tuple[RepeatedValues, ...]:
        """The columns that moved along and whose repeated values mark who moved."""
        return ()

    @abstractmethod
    def moments(self, factors: Sequence[Factor]) -> Moments:
        """The released counts by any factors of the original rows: expectations and variances."""

    @abstractmethod
    def sum_variance(self, factors: Sequence[Factor], weights: Floats) -> float:
        """The variance of the released counts of a table times ``weights``, an array with an axis for each factor."""

    def added_variance(self, of: Any) -> AddedVariance:
        """What the release adds to the variance of the counts by the columns ``of``, exactly.

        ``of`` is written like ``within``: a column, several, or ``{"age": [18, 65]}`` for intervals. For keys the
        released counts are unbiased; a table that also has other columns shows its bias. ``.warnings`` says where
        either is not small beside the sampling error.
        """
        factors = read_factors(self.before, of)
        return self.moments(factors).added(factors, self.n)

    def comparison(self, columns: Sequence[str] | None = None) -> Comparison:
        """The file before and after: frequencies, tables of two columns, associations and the risk by the keys.

        ``columns`` are those to compare, all that can be told apart by default; keys are always among them.
        """
        from maskwell.release.evaluation.comparison import compare

        return self._comparison if columns is None else compare(self, columns)

    @cached_property
    def _comparison(self) -> Comparison:
        from maskwell.release.evaluation.comparison import compare

        return compare(self, None)

    @cached_property
    def staying(self) -> list[Staying]:
        """The columns that stay as they are, by the rank of their values."""
        return staying_columns(self.before, self.moving)

    @cached_property
    def derived(self) -> Derivations:
        """What an intruder would make of the columns that stay: those that tell more of a key than their parts."""
        from maskwell.release.attack.derived_columns import derive

        return derive(self.before, self.changing, self.staying)
