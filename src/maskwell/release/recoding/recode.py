"""Recode a table, and say what each step does to risk and to information."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maskwell.errors import DataError
from maskwell.release.recoding.effects import Effect, Measure, entropy, rows_of, share_kept
from maskwell.release.recoding.recipe import Merged, Recipe, apply
from maskwell.release.recoding.suppression import Suppression
from maskwell.release.recoding.telling import Told, told
from maskwell.release.recoding.ways import OneCategory, Recode
from maskwell.results.numbers import percent
from maskwell.results.result import Result
from maskwell.risk.assess import population_of, weights_of
from maskwell.tables.codes import Coded, Floats, Ints
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
    merged: tuple[Merged, ...]
    """What each category that others were merged into took."""
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
            "merged": [dataclasses.asdict(each) for each in self.merged],
            "told": [dataclasses.asdict(each) for each in self.told],
        }

    def _title(self) -> str:
        return f"recoding of {', '.join(self.recipe.changing) or 'nothing'}, by the keys {', '.join(self.keys)}"

    def _figures(self) -> dict[str, Any]:
        return dict(line.split(": ", 1) for line in self.recipe.lines())

    def _columns(self) -> dict[str, Any]:
        return rows_of(self.effects, self.k)

    def _remarks(self) -> list[str]:
        others = [name for name in self.recipe.columns if name not in self.keys]
        no_keys = [
            f"{name}: {self.recipe.columns[name]}; no key, so that the figures of risk are without it; "
            f"{percent(self.kept[name], 1)} of its entropy kept."
            for name in others
        ]
        return [*no_keys, *(f"{each}." for each in self.merged), *(f"beware: {each}." for each in self.told)]

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
    weights: Any = None,
) -> Recoded:
    """Make columns coarser, then set the last few rare values of keys missing; say what each step does.

    ``recoding`` maps columns to ``intervals``, ``rounded``, ``ends``, ``groups``, ``hierarchy`` or ``one_category``.
    With ``suppress=k`` a record of a combination of keys that fewer than k share loses as few of its keys as it takes
    for k records to show what is left; ``most`` is the largest share of records that may, ``keep`` names keys that lose
    values last.

    ``k`` is that of the column "below k". ``population_size``, or sampling ``weights`` (a column's name, or a number
    per row), adds tau1 and tau2, by independence of the keys; ``mw.risk.assess`` on the recoded table has other models.

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
    k = k or (recipe.suppression.k if recipe.suppression else DEFAULT_K)
    return carried_out(source, recipe, names, k, *people(source, names, population_size, weights))


def people(
    source: EncodedTable, keys: Sequence[str], population_size: float | None, weights: Any
) -> tuple[float | None, Floats | None]:
    """The size of the population, and the weight of every record, as far as they are known."""
    names = [*keys, *([weights] if isinstance(weights, str) else [])]
    columns = source.arrays(names)
    n = len(columns[keys[0]])
    each = weights_of(weights, columns, n)
    return population_of(population_size, each, n), each


def carried_out(
    source: EncodedTable,
    recipe: Recipe,
    keys: tuple[str, ...],
    k: int,
    population_size: float | None,
    weights: Floats | None = None,
) -> Recoded:
    """The recoded table with its figures."""
    measure = Measure(source, keys, k, population_size, weights)
    plain = apply(Recipe(recipe.columns), source)
    done = apply(recipe, source) if recipe.suppression else plain
    recoded = {name: plain.after.coded(name) for name in recipe.columns}
    of_keys = {name: column for name, column in recoded.items() if name in keys}
    effects = [measure.of(AS_IT_IS, {})]
    effects += [measure.of(_step(column, recipe.columns[name]), {name: column}) for name, column in of_keys.items()]
    if len(of_keys) > 1:
        effects.append(measure.of(TOGETHER, of_keys))
    if recipe.suppression is not None:
        after = {name: done.after.coded(name) for name in keys}
        effects.append(measure.of(f"{TOGETHER}, fewer than {recipe.suppression.k} suppressed", after, done.gone))
    changed = {name: (source.coded(name), _codes(done.after.coded(name))) for name in recipe.changing}
    kept = {name: _kept(source.coded(name), done.after.coded(name)) for name in recipe.changing}
    found = told(done, changed, list(recipe.keys))
    return Recoded(done.after.native, recipe, keys, k, tuple(effects), kept, plain.merged, tuple(found), done.after)


def _step(column: Coded, recode: Recode) -> str:
    """What happens to one key."""
    stay = " (missing values stay missing)" if column.missing and isinstance(recode.way, OneCategory) else ""
    return f"{column.name}: {recode}{stay}"


def _codes(column: Coded) -> Ints:
    return column.codes.astype(np.int64)


def _kept(before: Coded, after: Coded) -> float:
    shown = np.ones(len(before.codes), bool)
    if after.missing > before.missing:
        shown = (after.codes < after.size - 1) | (before.codes == before.size - 1 if before.missing else False)
    return share_kept(entropy(before.codes), after.codes, shown)
