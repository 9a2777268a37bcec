"""Recode a table, and say what each step does to risk and to information."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.recoding.effects import Effect, Measure, entropy, rows_of, share_kept
from maskwell.release.recoding.recipe import Recipe, apply
from maskwell.release.recoding.suppression import Suppression
from maskwell.release.recoding.telling import Told, told
from maskwell.release.recoding.ways import Recode
from maskwell.results.result import Result
from maskwell.tables.codes import Coded, Ints
from maskwell.tables.encoded import EncodedTable, encoded
from maskwell.tables.frames import names_of

DEFAULT_K = 3
AS_IT_IS, TOGETHER = "as it is", "all together"


@dataclass(frozen=True, eq=False, repr=False)
class Recoded(Result):
    """A recoded table, with what each step does to risk and information."""

    table: Any
    """The table with its columns recoded; everything else is as it was."""
    recipe: Recipe
    """What was done, as data: pass it to ``limit_identification(recoding=)``."""
    keys: tuple[str, ...]
    k: int
    effects: tuple[Effect, ...]
    """Before, each column alone, all together, and with suppression."""
    kept: Mapping[str, float]
    """The share of the entropy of each recoded column that is kept."""
    told: tuple[Told, ...]
    """Columns that stay and tell what was taken away."""
    columns: EncodedTable = dataclasses.field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures and the recipe as plain values."""
        return {
            "keys": list(self.keys),
            "k": self.k,
            "recipe": self.recipe.to_dict(),
            "effects": [dataclasses.asdict(effect) for effect in self.effects],
            "entropy_kept": dict(self.kept),
            "told": [dataclasses.asdict(each) for each in self.told],
        }

    def _title(self) -> str:
        return f"recoding of {', '.join(self.recipe.changing) or 'nothing'}, by the keys {', '.join(self.keys)}"

    def _figures(self) -> dict[str, Any]:
        return dict(line.split(": ", 1) for line in self.recipe.lines())

    def _columns(self) -> dict[str, Any]:
        return rows_of(self.effects, self.k)

    def _remarks(self) -> list[str]:
        return [f"beware: {each}." for each in self.told]

    def __repr__(self) -> str:
        before, after = self.effects[0], self.effects[-1]
        return f"<recoding of {', '.join(self.recipe.changing)}: {before.uniques} to {after.uniques} uniques>"


def recode(
    table: Any,
    keys: Sequence[str] | str,
    recoding: Mapping[str, Recode] | Recipe | None = None,
    *,
    suppress: int | None = None,
    most: float = 1.0,
    keep: Sequence[str] = (),
    k: int | None = None,
    population_size: float | None = None,
) -> Recoded:
    """Make columns coarser, then set the last few rare values of keys missing; say what each step does.

    ``recoding`` maps columns to ``intervals``, ``rounded``, ``ends``, ``groups``, ``hierarchy`` or ``one_category``.
    With ``suppress=k`` a record of a combination of keys that fewer than k share loses as few of its keys as it takes
    for k records to show what is left; ``most`` is the largest share of records that may, ``keep`` names keys that lose
    values last.

    ``k`` is that of the column "below k", and ``population_size`` adds tau1 and tau2 (by independence of the keys;
    ``mw.risk.assess`` on the recoded table has other models).

    >>> table = {"age": [21, 22, 23, 24, 61, 62], "area": ["n", "n", "s", "s", "n", "s"]}
    >>> from maskwell.release import intervals
    >>> made = recode(table, ["age", "area"], {"age": intervals(20)}, suppress=2)
    >>> made.table["age"], made.table["area"]
    (['20 to 39', '20 to 39', '20 to 39', '20 to 39', '60 to 79', '60 to 79'], ['n', 'n', 's', 's', None, None])
    >>> [effect.uniques for effect in made.effects]
    [6, 2, 0]
    """
    source = encoded(table)
    names = names_of(keys, "keys")
    if not names:
        raise DataError("keys must name one column or more; got none.", parameter="keys")
    source.arrays(list(names))
    recipe = Recipe.read(recoding)
    if k is not None and (type(k) is not int or k < 1):
        raise DataError(f"k must be a whole number of at least 1; got {k!r}.", parameter="k")
    if suppress is None and (keep or most != 1.0):
        raise DataError("keep and most go with suppress, the number of records that share what is left.", "suppress")
    if suppress is not None:
        if recipe.suppression is not None:
            raise DataError("the recipe says what is suppressed; leave suppress out.", parameter="suppress")
        unknown = [name for name in keep if name not in names]
        if unknown:
            raise DataError(f"keep names {unknown[0]!r}, which is no key.", parameter="keep")
        recipe = Recipe(recipe.columns, names, Suppression(suppress, float(most), tuple(keep)))
    return carried_out(
        source, recipe, names, k or (recipe.suppression.k if recipe.suppression else DEFAULT_K), population_size
    )


def carried_out(
    source: EncodedTable, recipe: Recipe, keys: tuple[str, ...], k: int, population_size: float | None
) -> Recoded:
    """The recoded table with its figures."""
    check_population(population_size, len(source.array(keys[0])))
    measure = Measure(source, keys, k, population_size)
    plain = apply(Recipe(recipe.columns), source)
    done = apply(recipe, source) if recipe.suppression else plain
    recoded = {name: plain.after.coded(name) for name in recipe.columns}
    of_keys = {name: column for name, column in recoded.items() if name in keys}
    effects = [measure.of(AS_IT_IS, {})]
    effects += [measure.of(f"{name}: {recipe.columns[name]}", {name: column}) for name, column in of_keys.items()]
    if len(of_keys) > 1:
        effects.append(measure.of(TOGETHER, of_keys))
    if recipe.suppression is not None:
        after = {name: done.after.coded(name) for name in keys}
        effects.append(measure.of(f"{TOGETHER}, fewer than {recipe.suppression.k} suppressed", after, done.gone))
    changed = {name: (source.coded(name), _codes(done.after.coded(name))) for name in recipe.changing}
    kept = {name: _kept(source.coded(name), done.after.coded(name)) for name in recipe.changing}
    found = told(done, changed, list(recipe.keys))
    return Recoded(done.after.native, recipe, keys, k, tuple(effects), kept, tuple(found), done.after)


def check_population(size: float | None, n: int) -> None:
    """An error unless so many people, if they were counted, can be those from whom n records were drawn."""
    if size is not None and not n <= size < math.inf:
        raise DataError(
            f"population_size must be a number, at least the {n} records; got {size!r}.", parameter="population_size"
        )


def _codes(column: Coded) -> Ints:
    return column.codes.astype(np.int64)


def _kept(before: Coded, after: Coded) -> float:
    shown = np.ones(len(before.codes), bool)
    if after.missing > before.missing:
        shown = (after.codes < after.size - 1) | (before.codes == before.size - 1 if before.missing else False)
    return share_kept(entropy(before.codes), after.codes, shown)
