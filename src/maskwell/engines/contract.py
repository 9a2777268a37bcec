"""The contract that every engine keeps: a record batch of true values in, one of reports out; reports in, tallies out.

Both are plain callables that pickle, so that any engine that can apply a function to record batches can mask and count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from maskwell.advice import Advice, Setting, parts_of
from maskwell.designs import Design
from maskwell.designs.base import require_design
from maskwell.engines.secret import Secret
from maskwell.errors import DataError, MaskwellError, ReportError
from maskwell.plain_text import among
from maskwell.reports.arrow_columns import arrow_type, from_array, narrowed, to_array
from maskwell.reports.batch import Batch
from maskwell.reports.containers import own_metadata
from maskwell.reports.table_files import TABLE_FORMAT, masked_columns, table_metadata
from maskwell.reports.tally import Tally
from maskwell.sampling.entropy import Source
from maskwell.sampling.ids.blocks import RepeatedIdsError
from maskwell.sampling.ids.column import read_id_column
from maskwell.sampling.ids.seen import repeats_among
from maskwell.tables.frames import names_of
from maskwell.tables.labels import Label
from maskwell.tables.matching import (
    Matcher,
    Missing,
    UnknownLabelError,
    check_missing,
    match_column,
    require_one_text,
)

Tallies = dict[str, Tally]


class Masking:
    """Masks record batches: the columns of ``keep`` as they are, then a column of reports for each design.

    With ``key``, ``id`` and ``survey`` a report depends on (key, design, question, id, true value) alone, where the
    question is ``"survey/column"``: the same in any order, batch, process or engine. Without them every call draws
    afresh. The id column itself comes out only if ``keep`` names it. ``other`` names for a column the category that
    labels count as which its design does not know: ``{"page": "(other)"}``.

    >>> import pyarrow as pa
    >>> from maskwell.designs import direct
    >>> masking = Masking({"habit": direct(["yes", "no"])}, keep=["region"])
    >>> batch = pa.record_batch({"habit": ["yes", "no"], "region": ["north", "south"], "name": ["A", "B"]})
    >>> masking(batch).to_pydict()
    {'region': ['north', 'south'], 'habit': [0, 1]}
    """

    def __init__(
        self,
        designs: Mapping[str, Design],
        *,
        id: str | None = None,
        key: bytes | Secret | None = None,
        survey: str | None = None,
        keep: Sequence[str] | str = (),
        missing: Missing = "refuse",
        na: Sequence[str] = (),
        integer_ids: bool = False,
        other: Mapping[str, Label] | None = None,
    ) -> None:
        self.designs, self.id, self.survey = _checked_designs(designs), id, survey
        self.keep = names_of(keep, "keep")
        self.missing, self.na, self.integer_ids = missing, tuple(na), integer_ids
        self.other = dict(other or {})
        self._secret = key if isinstance(key, Secret) or key is None else Secret(key)
        self._hears: Callable[[MaskwellError], None] | None = None
        self._check()

    def _check(self) -> None:
        check_missing(self.missing)
        beside = [name for name in self.keep if name in self.designs]
        if beside:
            raise DataError(
                f"keep names {beside[0]!r}, which is masked: its true values would stand beside its reports.",
                parameter="keep",
            )
        given = [self._secret is not None, self.id is not None, self.survey is not None]
        if any(given[:2]) and not all(given):
            raise DataError(
                "key, id and survey go together: pass all three for keyed masking, or leave out key and id.",
                parameter="key",
            )
        if self.survey is not None and (not self.survey or "/" in self.survey):
            raise DataError("survey must be a name without a slash, which separates it from the column's name.")
        if self.id is not None and self.id in self.designs:
            raise DataError(f"{self.id!r} is masked, so it cannot be the id of its records too.", parameter="id")
        for name in self.designs:
            Source(question=self.question(name)).check()
        for name, label in self.other.items():
            if name not in self.designs:
                raise DataError(f"other names {name!r}, which is not masked.", parameter="other")
            if label not in self.designs[name].categories:
                raise DataError(
                    f"other gives {label!r} for column {name!r}, which must be a category of its design: declare it "
                    "when you plan.",
                    parameter="other",
                )

    @property
    def keyed(self) -> bool:
        """Whether a report depends on key, id, question and true value alone."""
        return self._secret is not None

    def require_keyed(self, engine: str, otherwise: Sequence[str | Setting] = ("load the data first",)) -> None:
        """An error unless reports stay the same however often the engine evaluates them."""
        if not self.keyed:
            raise DataError(
                Advice(
                    f"{engine} may evaluate a part twice (a view, a retry, an evicted cache, two uses in one query), "
                    "and each time another report of the same answer would be drawn: together they tell more than one. "
                    "Pass ",
                    Setting("id"),
                    ", ",
                    Setting("key"),
                    " and ",
                    Setting("survey"),
                    ", so that the same report comes again; or ",
                    *otherwise,
                    ".",
                ),
                parameter="key",
            )

    def question(self, name: str) -> str:
        """The question that a column asks, as its reports say it."""
        return name if self.survey is None else f"{self.survey}/{name}"

    @cached_property
    def needed(self) -> list[str]:
        """The columns that must be read."""
        own = [] if self.id is None else [self.id]
        return list(dict.fromkeys([*self.keep, *self.designs, *own]))

    @cached_property
    def _matchers(self) -> dict[str, Matcher]:
        return {name: Matcher(design.categories, self.na) for name, design in self.designs.items()}

    @cached_property
    def _others(self) -> dict[str, int]:
        return {name: self.designs[name].categories.index(label) for name, label in self.other.items()}

    @cached_property
    def metadata(self) -> dict[str, str]:
        """What is said of the masked columns wherever they are stored."""
        drawn = "keyed" if self.keyed else "secure"
        nothing = {
            name: Batch(design, design.sampler.empty(0), None, drawn, self.question(name))
            for name, design in self.designs.items()
        }
        return table_metadata(nothing)

    def schema(self, source: Any) -> Any:
        """What comes out for batches of a schema: it says in its metadata what was masked, and how."""
        import pyarrow as pa

        require_columns(self.needed, source.names)
        kept = [pa.field(name, source.field(name).type) for name in self.keep]
        masked = [pa.field(name, arrow_type(design)) for name, design in self.designs.items()]
        return pa.schema([*kept, *masked], self.metadata)

    def only(self, name: str) -> Masking:
        """The same for one column, and nothing kept."""
        return self._like({name: self.designs[name]}, ())

    def heard_by(self, hears: Callable[[MaskwellError], None]) -> Masking:
        """The same, which tells its errors to somebody too: an engine wraps them in words of its own, or loses them."""
        again = self._like(self.designs, self.keep)
        again._hears = hears
        return again

    def _like(self, designs: Mapping[str, Design], keep: Sequence[str]) -> Masking:
        made = Masking(
            designs,
            id=self.id,
            key=self._secret,
            survey=self.survey,
            keep=keep,
            missing=self.missing,
            na=self.na,
            integer_ids=self.integer_ids,
            other={name: label for name, label in self.other.items() if name in designs},
        )
        made._hears = self._hears
        return made

    def narrowed(self, batch: Any) -> Any:
        """A masked batch that passed through an engine, with its reports in their own types again."""
        import pyarrow as pa

        kept = [batch.column(name) for name in self.keep]
        masked = [narrowed(batch.column(name), design, name) for name, design in self.designs.items()]
        return pa.record_batch([*kept, *masked], names=[*self.keep, *self.designs])

    def request(self) -> dict[str, Any]:
        """What decides the output, for a record of it: of the key only a check value, which tells keys apart."""
        return {
            "columns": {
                name: {"design": design.fingerprint, "question": self.question(name)}
                for name, design in self.designs.items()
            },
            "keep": list(self.keep),
            "id": self.id,
            "integer_ids": self.integer_ids,
            "missing": self.missing,
            "na": list(self.na),
            "key": None if self._secret is None else self._secret.check_value(),
            **({"other": self.other} if self.other else {}),
        }

    def check_value(self, path: Path) -> str | None:
        """What tells whether a file is the same one, under the key; None without a key."""
        return None if self._secret is None else self._secret.check_content(path)

    def ids(self, batch: Any, first_row: int = 0) -> Any:
        """The ids of a batch as the key takes them; None without a key."""
        if self.id is None:
            return None
        return read_id_column(batch.column(self.id), self.id, self.integer_ids, first_row)

    def __call__(self, batch: Any, ids: Any = None, before: int | None = None) -> Any:
        """The masked batch; ``ids`` may be those of the batch, where they were read before.

        ``before`` is how many rows of a file came before it, for errors to name its rows.
        """
        try:
            return self._masked(batch, ids, before)
        except MaskwellError as error:
            if self._hears is not None:
                self._hears(error)
            raise

    def _masked(self, batch: Any, ids: Any, before: int | None) -> Any:
        import pyarrow as pa

        schema = self.schema(batch.schema)
        ids = self.ids(batch) if ids is None else ids
        kept = [batch.column(name) for name in self.keep]
        masked = [self._column(name, batch.column(name), ids, before) for name in self.designs]
        return pa.record_batch([*kept, *masked], schema)

    def _column(self, name: str, column: Any, ids: Any, before: int | None) -> Any:
        import pyarrow as pa

        plain = pa.types.is_integer(column.type) and not column.null_count
        try:
            require_one_text(column.type, "values are", days=True)
            values = match_column(
                column.to_numpy() if plain else column,
                self._matchers[name],
                self.missing,
                self._others.get(name),
                before,
            )
            (reports,) = self.designs[name].mask_batches(
                [values],
                key=None if self._secret is None else self._secret.reveal(),
                ids=None if ids is None else [ids],
                question=self.question(name),
                missing=self.missing,
            )
        except UnknownLabelError as error:
            raise UnknownLabelError(
                f"column {name!r}: {error.message} Or let what is unknown count as one of them: other={{{name!r}: …}}, "
                f"--other {name}=….",
                error.parameter,
            ) from None
        except RepeatedIdsError:
            repeated, count = repeats_among(ids)
            raise RepeatedIdsError(said_repeats(repeated, count, str(self.id)), "id") from None
        except DataError as error:
            raise DataError(Advice(f"column {name!r}: ", *parts_of(error.message)), error.parameter) from None
        return to_array(reports)

    def map(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Mask a stream of batches: what ``mapInArrow`` and its like call."""
        return map(self, batches)

    def __reduce__(self) -> tuple[Any, ...]:
        designs = tuple((name, design.to_json()) for name, design in self.designs.items())
        return _rebuilt, (
            designs,
            self.id,
            self._secret,
            self.survey,
            self.keep,
            self.missing,
            self.na,
            self.integer_ids,
            tuple(self.other.items()),
        )

    def __repr__(self) -> str:
        how = f"keyed by {self.id!r}" if self.keyed else "drawn afresh"
        return f"<masking of {', '.join(self.designs)}, {how}>"


@lru_cache(maxsize=16)
def _rebuilt(
    designs: tuple[tuple[str, str], ...],
    id: str | None,
    secret: Secret | None,
    survey: str | None,
    keep: tuple[str, ...],
    missing: Missing,
    na: tuple[str, ...],
    integer_ids: bool,
    other: tuple[tuple[str, Label], ...],
) -> Masking:
    """A masking that came from another process; one that came before is used again."""
    return Masking(
        {name: Design.from_json(text) for name, text in designs},
        id=id,
        key=secret,
        survey=survey,
        keep=keep,
        missing=missing,
        na=na,
        integer_ids=integer_ids,
        other=dict(other),
    )


class Counting:
    """Counts record batches of reports: a tally for each masked column.

    >>> import pyarrow as pa
    >>> from maskwell.designs import direct
    >>> counting = Counting({"habit": direct(["yes", "no"])})
    >>> counting(pa.record_batch({"habit": [0, 1, 1]}))["habit"].counts.tolist()
    [[1, 2, 3]]
    """

    def __init__(self, designs: Mapping[str, Design], patterns: bool | None = None) -> None:
        self.designs, self.patterns = _checked_designs(designs), patterns

    def __call__(self, batch: Any) -> Tallies:
        """The tallies of a batch; an error if a design cannot have produced one of the reports."""
        require_columns(list(self.designs), batch.schema.names)
        said = self._said(own_metadata(batch.schema.metadata))
        return {
            name: Tally.of(from_array(none, narrowed(batch.column(name), none.design, name), 0), None, self.patterns)
            for name, none in said.items()
        }

    def _said(self, metadata: dict[str, str]) -> dict[str, Batch]:
        """For each column no reports, but how they were drawn, as far as the batch says so."""
        if metadata.get("maskwell") != TABLE_FORMAT:
            return {name: self.nothing(name) for name in self.designs}
        said = _said_of(tuple(sorted(metadata.items())))
        for name in self.designs:
            if name in said:
                self.require_same(name, said[name].design)
        return {name: said.get(name, self.nothing(name)) for name in self.designs}

    def require_same(self, name: str, design: Design) -> None:
        """An error if a column was masked by another design than it is to be counted by."""
        if design != self.designs[name]:
            raise ReportError(
                f"column {name!r} was masked by another design ({design.title}, {design.fingerprint[:12]}) than the "
                f"one given ({self.designs[name].title}, {self.designs[name].fingerprint[:12]})."
            )

    def nothing(self, name: str) -> Batch:
        """No reports of a column."""
        design = self.designs[name]
        return Batch(design, design.sampler.empty(0), randomness="unknown")

    def total(self, parts: Iterable[Tallies]) -> Tallies:
        """The tallies of all parts together; one part is in memory at a time."""
        total: Tallies | None = None
        for part in parts:
            total = part if total is None else merged([total, part])
        return total or {name: Tally.of(self.nothing(name), None, self.patterns) for name in self.designs}

    def __reduce__(self) -> tuple[Any, ...]:
        return _recounting, (tuple((name, design.to_json()) for name, design in self.designs.items()), self.patterns)


@lru_cache(maxsize=16)
def _recounting(designs: tuple[tuple[str, str], ...], patterns: bool | None) -> Counting:
    return Counting({name: Design.from_json(text) for name, text in designs}, patterns)


@lru_cache(maxsize=16)
def _said_of(metadata: tuple[tuple[str, str], ...]) -> dict[str, Batch]:
    return masked_columns(dict(metadata), "the batch", Batch)


def said_repeats(repeated: int, count: int, name: str) -> str:
    """What is wrong with ids that repeat."""
    return (
        f"ids must be unique, but {repeated:,} of {count:,} in column {name!r} repeat another: two people with one id "
        "and one answer would share their report, and one device with many reports would tell more than one. Keep one "
        "row for each id first."
    )


def merged(parts: Sequence[Tallies]) -> Tallies:
    """The tallies of several parts of one source, column by column."""
    return {name: Tally.added([part[name] for part in parts]) for name in parts[0]}


def require_columns(names: Sequence[str], available: Sequence[str]) -> None:
    """An error unless each of these columns is there once."""
    for name in names:
        if list(available).count(name) != 1:
            how = "no" if name not in available else "more than one"
            raise DataError(f"the source has {how} column {name!r}; {among(name, list(available), quoted=True)}.")


def _checked_designs(designs: Any) -> dict[str, Design]:
    if not isinstance(designs, Mapping) or not designs or not all(isinstance(name, str) for name in designs):
        raise DataError(
            f"designs must be a mapping from columns to designs, such as {{'habit': design}}; got "
            f"{type(designs).__name__}.",
            parameter="designs",
        )
    for name, design in designs.items():
        require_design(design)
        if design.variables:
            raise DataError(
                f"the design of {name!r} is one of several variables; give each column a design of its own.",
                parameter="designs",
            )
    return dict(designs)
