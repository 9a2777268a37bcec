r"""The mildest recoding that reaches a target, over a ladder of levels for each key.

What a recoding loses is the share of entropy that its keys lose, averaged by importance. That is a sum over keys which
only grows from level to level, so recodings can be tried in the order of what they lose, and the first one that reaches
the target is the mildest of all: nothing needs to be assumed of the target. (A limit on identification may well be held
by blocks of many rare combinations and not of the few that coarser keys leave.) Some targets (k-anonymity, uniques,
matches) hold for every coarser recoding once they hold for one. Where even the coarsest levels of all other keys do not
reach them, a level of a key, or two levels of two keys, are ruled out together with all that is milder.

If more recodings than allowed would have to be tried, the search goes down from the coarsest one instead, and says how
much less any other one might lose.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from maskwell.advice import Advice, Setting
from maskwell.errors import DataError
from maskwell.release.identification.request import read_request
from maskwell.release.recoding.hierarchy import Hierarchy
from maskwell.release.recoding.lattice import Ladder, Lattice, Node
from maskwell.release.recoding.recipe import Recipe, for_table, recoded_column
from maskwell.release.recoding.recode import DEFAULT_K, Recoded, carried_out, people
from maskwell.release.recoding.suppression import Suppression
from maskwell.release.recoding.targets import Target
from maskwell.release.recoding.ways import Recode, read_recode
from maskwell.results.result import Result
from maskwell.tables.codes import Coded
from maskwell.tables.encoded import EncodedTable, encoded
from maskwell.tables.frames import names_of

MOST_TRIED = 20_000
"""Recodings that are tried unless more are allowed."""
_LISTED = 3
"""So many of the next best recodings are looked for,"""
_FEWEST_MORE = 100
"""by trying as many recodings again as the search tried, or so many."""
Progress = Callable[[float], None]


@dataclass(frozen=True)
class NextBest:
    """Another recoding that reaches the target, and loses more."""

    recipe: Recipe
    loss: float

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"recipe": self.recipe.to_dict(), "loss": self.loss}

    def __str__(self) -> str:
        return f"{'; '.join(self.recipe.lines()) or 'nothing'} (loses {self.loss:.4f})"


@dataclass(frozen=True, eq=False, repr=False)
class RecodingSearch(Result):
    """The mildest recoding that was found, with the proof that there is no milder one, or how far it may be from it."""

    recoded: Recoded
    target: str
    loss: float
    """The share of the keys' entropy that it loses, averaged by importance."""
    least_loss: float
    """No recoding of the lattice that reaches the target loses less than this."""
    size: int
    """The number of recodings in the lattice."""
    tried: int
    ruled_out: int
    """Recodings that lose less and need not be tried, as a level of theirs cannot reach the target."""
    next_best: tuple[NextBest, ...] = ()
    """The mildest of the others that reach the target, none of them coarser everywhere than one before it."""

    @property
    def optimal(self) -> bool:
        """Whether no recoding of the lattice that reaches the target loses less."""
        return self.least_loss >= self.loss

    @property
    def recipe(self) -> Recipe:
        """The recoding as data: pass it to ``limit_identification(recoding=)`` or ``recode``."""
        return self.recoded.recipe

    @property
    def table(self) -> Any:
        """The recoded table."""
        return self.recoded.table

    @property
    def certificate(self) -> str:
        """What is proved."""
        counts = f"{self.tried:,} of {self.size:,} recodings tried, {self.ruled_out:,} ruled out by what is coarser"
        if self.optimal:
            return f"the mildest of the lattice: no recoding that reaches the target loses less ({counts})"
        return (
            f"the best that was found: it loses {self.loss:.4f}, and none that reaches the target loses less than "
            f"{self.least_loss:.4f} ({counts})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {
            "target": self.target,
            "loss": self.loss,
            "least_loss": self.least_loss,
            "optimal": self.optimal,
            "recodings": self.size,
            "tried": self.tried,
            "ruled_out": self.ruled_out,
            "next_best": [each.to_dict() for each in self.next_best],
            **self.recoded.to_dict(),
        }

    def _title(self) -> str:
        return f"the recoding of {', '.join(self.recoded.keys)} that reaches {self.target}"

    def _figures(self) -> dict[str, Any]:
        found = dict(line.split(": ", 1) for line in self.recipe.lines()) or {"keys": "as they are"}
        return {**found, "entropy lost": f"{self.loss:.4f}", "certificate": self.certificate}

    def _columns(self) -> dict[str, Any]:
        return dict(self.recoded._columns())

    def _remarks(self) -> list[str]:
        return [*self.recoded._remarks(), *(f"next best: {each}." for each in self.next_best)]

    def __repr__(self) -> str:
        return f"<recoding that loses {self.loss:.4f}: {'; '.join(self.recipe.lines()) or 'nothing'}>"


def search_recoding(
    table: Any,
    keys: Sequence[str] | str,
    ladders: Mapping[str, Ladder],
    *,
    k: int | None = None,
    suppress: float = 0.0,
    keep: Sequence[str] = (),
    xi: float | None = None,
    within: Any = None,
    uniques: int | None = None,
    matches: int | None = None,
    tau1: float | None = None,
    tau2: float | None = None,
    population_size: float | None = None,
    weights: Any = None,
    recoding: Mapping[str, Recode] | Recipe | None = None,
    importance: Mapping[str, float] | None = None,
    most_tried: int = MOST_TRIED,
    show: Progress | None = None,
) -> RecodingSearch:
    """The mildest recoding of the keys that reaches a target.

    ``ladders`` has, for each key that may be recoded, its levels from mild to coarse: a list of what ``intervals``,
    ``groups`` … make, each of whole groups of the one before, or a hierarchy (``read_hierarchy``). Every key also has
    the level at which it stays as it is.

    The target is any of: ``k`` records of every combination; ``xi``, a limit that ``limit_identification(keys, xi,
    within)`` can then hold; at most so many ``uniques``; at most so many right ``matches`` to expect in the file;
    ``tau1`` and ``tau2`` at most so large in a population of ``population_size``, or of the sampling ``weights`` (a
    column's name, or a number per row), by independence of the keys. Several must hold together. Intervals of
    ``within`` are of the values as they are: a level of that key whose values cross one of them is not taken.

    ``recoding`` is done first, whatever is found: to columns that are no keys, or to a key in place of leaving it as it
    is; the levels of its ladder are then to be coarser than that. ``importance`` says how much the entropy of a key
    counts, 1 unless given; ``next_best`` of the result has the mildest of the other recodings that reach the target.

    With ``k`` or ``xi``, keys of at most the share ``suppress`` of the records may be set missing as the last step,
    those of ``keep`` last of all. For ``xi`` that is done only where blocks cannot hold the limit without it, and for
    combinations of as few records as then suffice. What it takes from information is in the table with everything else;
    the loss by which recodings are ordered is that of the recoding alone.

    >>> table = {"age": list(range(20, 60)), "sex": ["f", "m"] * 20}
    >>> from maskwell.release import intervals
    >>> ladder = [intervals(2), intervals(10), intervals(20)]
    >>> found = search_recoding(table, ["age", "sex"], {"age": ladder}, k=4)
    >>> found.recipe.lines(), found.optimal
    (['age: intervals of 10'], True)
    """
    names = names_of(keys, "keys")
    if not names:
        raise DataError("keys must name one column or more; got none.", parameter="keys")
    unknown = [name for name in ladders if name not in names]
    if unknown:
        raise DataError(f"ladders names {unknown[0]!r}, which is no key; only keys are recoded.", parameter="ladders")
    if not 0 <= suppress <= 1:
        raise DataError(
            f"the share of records to suppress lies between 0 and 1; got {suppress!r}.", parameter="suppress"
        )
    if suppress and k is None and xi is None:
        raise DataError(
            "suppress goes with k or xi: values are set missing so that so many records share every combination.",
            parameter="suppress",
        )
    strange = [name for name in keep if name not in names]
    if strange:
        raise DataError(f"keep names {strange[0]!r}, which is no key.", parameter="keep")
    if most_tried < 1:
        raise DataError(f"most_tried must be at least 1; got {most_tried!r}.", parameter="most_tried")
    source = encoded(table)
    size, record_weights = people(source, names, population_size, weights)
    request = None if xi is None else read_request(names, xi, within)
    done = _first(source, recoding)
    others = _others(source, request.within if request else {}, ladders, done)
    target = Target(k, float(suppress), tuple(keep), uniques, matches, tau1, tau2, size, request)
    columns = [source.coded(name) for name in names]
    lattice = Lattice(columns, _by_label(ladders, source), importance or {}, done, record_weights)
    search = _Search(lattice, target, others, most_tried, show)
    found = search.run()

    def recipe_of(node: Node, last_step: Suppression | None) -> Recipe:
        return Recipe({**done, **lattice.recodes(node)}, names if last_step else (), last_step)

    recipe = recipe_of(found.node, found.last_step)
    return RecodingSearch(
        carried_out(source, recipe, names, target.fewest or DEFAULT_K, size, record_weights),
        target.words(),
        lattice.loss(found.node),
        found.least_loss,
        lattice.size,
        found.tried,
        found.ruled_out,
        tuple(NextBest(recipe_of(node, step), lattice.loss(node)) for node, step in search.next_best(found)),
    )


def _first(source: EncodedTable, recoding: Any) -> dict[str, Recode]:
    """What is done to each column before the search."""
    recipe = Recipe.read(recoding)
    if recipe.suppression is not None:
        raise DataError(
            "suppression is the last step of a search; allow it with suppress, a share of the records.", "recoding"
        )
    source.arrays(list(recipe.columns))  # an error if one is not there
    return {name: for_table(recode, name, source) for name, recode in recipe.columns.items()}


def _by_label(ladders: Mapping[str, Ladder], source: EncodedTable) -> dict[str, Ladder]:
    """Ladders that may name the codes of a labelled file, as ones that name its labels."""
    levels = {name: each.all_levels() if isinstance(each, Hierarchy) else each for name, each in ladders.items()}
    return {name: [for_table(read_recode(one, name), name, source) for one in each] for name, each in levels.items()}


def _others(
    source: EncodedTable, within: Mapping[str, Any], ladders: Mapping[str, Ladder], done: Mapping[str, Recode]
) -> dict[str, Coded]:
    for name, how in within.items():
        if name in ladders and how and any(isinstance(item, (str, list)) for item in how):
            raise DataError(
                f"within groups the categories of {name!r}, which is recoded here; name the whole column, intervals of "
                "a number, or a column that is not recoded.",
                parameter="within",
            )
    columns = {name: source.coded(name) for name in within}
    return {name: recoded_column(each, done[name]) if name in done else each for name, each in columns.items()}


@dataclass(frozen=True)
class _Found:
    node: Node
    last_step: Suppression | None
    least_loss: float
    tried: int
    ruled_out: int


class _Search:
    """One search."""

    def __init__(
        self, lattice: Lattice, target: Target, others: Mapping[str, Coded], most: int, show: Progress | None
    ) -> None:
        self._lattice, self._target, self._others, self._most, self._show = lattice, target, others, most, show
        self._tried = self._ruled_out = 0
        self._least: list[int] = [0] * len(lattice.rungs)
        self._pairs: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._last_step: dict[Node, Suppression | None] = {}
        self._waiting: list[tuple[float, Node]] = []

    def run(self) -> _Found:
        lattice = self._lattice
        top_reaches = self._reaches(lattice.top)
        if not top_reaches and not self._target.within_reach(lattice.cells(lattice.top)):
            raise self._not_reached("not even the coarsest level of every ladder reaches")
        self._rule_out()
        waiting = self._waiting = [(lattice.loss(lattice.bottom), lattice.bottom)]
        while waiting:
            loss, node = heapq.heappop(waiting)
            if self._tried >= self._most:
                if top_reaches:
                    return self._go_down(loss)
                raise self._not_reached(f"neither the {self._tried:,} mildest recodings nor the coarsest one reach")
            if self._is_ruled_out(node):
                self._ruled_out += 1
            elif self._reaches(node):
                return _Found(node, self._last_step[node], loss, self._tried, self._ruled_out)
            for child in lattice.children(node):
                heapq.heappush(waiting, (lattice.loss(child), child))
            if self._show and not self._tried % 50:
                self._show(min((self._tried + self._ruled_out) / min(self._most, lattice.size), 1.0))
        raise self._not_reached("no recoding of the lattice reaches")

    def next_best(self, found: _Found) -> list[tuple[Node, Suppression | None]]:
        """The next recodings that reach the target, by what they lose; none is coarser everywhere than one before."""
        reached = [found.node]
        listed: list[tuple[Node, Suppression | None]] = []
        most = self._tried + max(_FEWEST_MORE, self._tried)
        while self._waiting and len(listed) < _LISTED and self._tried < most:
            _, node = heapq.heappop(self._waiting)
            if any(all(a >= b for a, b in zip(node, other, strict=True)) for other in reached):
                continue  # and so is all that is coarser than this one
            if not self._is_ruled_out(node) and self._reaches(node):
                reached.append(node)
                listed.append((node, self._last_step[node]))
                continue
            for child in self._lattice.children(node):
                heapq.heappush(self._waiting, (self._lattice.loss(child), child))
        return listed

    def _not_reached(self, what: str) -> DataError:
        return DataError(
            Advice(
                f"{what} {self._target.words()}",
                *self._missing(),
                "; add coarser levels (down to ",
                Setting("one_category"),
                "), recode more keys, allow some values to be set missing (",
                Setting("suppress"),
                ", with ",
                Setting("k"),
                " or ",
                Setting("xi"),
                "), or ask for less.",
            )
        )

    def _missing(self) -> tuple[str | Setting, ...]:
        """The keys whose missing values no level takes in, which keeps combinations rare that are otherwise coarse."""
        top = [rungs.columns[-1] for rungs in self._lattice.rungs]
        missing = [f"{column.name} {column.missing:,}" for column in top if column.missing]
        if not missing:
            return ()
        listed = ", ".join(missing)
        return (
            f". Missing values are a category of their own, which stays at every level (in {listed} records): let a "
            "level take them in (",
            Setting("one_category(missing=True)"),
            ")",
        )

    def _reaches(self, node: Node) -> bool:
        self._tried += 1
        cells = self._lattice.cells(node)
        if not self._target.within_reach(cells):
            return False
        for way in self._target.ways():
            if self._target.met(self._lattice, node, cells, self._others, way):
                self._last_step[node] = way
                return True
        return False

    def _rule_out(self) -> None:
        """Levels of a key, and pairs of levels, that do not reach the target whatever the others are."""
        top = self._lattice.top

        def within(node: Node) -> bool:
            return self._target.within_reach(self._lattice.cells(node))

        for i in range(len(top)):
            while self._least[i] < top[i] and not within(_with(top, {i: self._least[i]})):
                self._least[i] += 1
        for i, j in combinations(range(len(top)), 2):
            self._pairs[i, j] = {
                (a, b)
                for a in range(self._least[i], top[i] + 1)
                for b in range(self._least[j], top[j] + 1)
                if (a < top[i] and b < top[j]) and not within(_with(top, {i: a, j: b}))
            }

    def _is_ruled_out(self, node: Node) -> bool:
        if any(level < least for level, least in zip(node, self._least, strict=True)):
            return True
        return any((node[i], node[j]) in ruled for (i, j), ruled in self._pairs.items())

    def _go_down(self, bound: float) -> _Found:
        """From the coarsest recoding, always to the mildest one next to it that reaches the target."""
        node = self._lattice.top
        while True:
            nearer = sorted(self._lattice.milder(node), key=self._lattice.loss)
            better = next((one for one in nearer if not self._is_ruled_out(one) and self._reaches(one)), None)
            if better is None:
                least = min(bound, self._lattice.loss(node))
                return _Found(node, self._last_step[node], least, self._tried, self._ruled_out)
            node = better


def _with(node: Node, levels: Mapping[int, int]) -> Node:
    return tuple(levels.get(i, level) for i, level in enumerate(node))
