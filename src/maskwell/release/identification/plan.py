"""The plan of a release that limits identification: blocks, their cells, θ and ξ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from maskwell.errors import DataError, ReportError
from maskwell.exact import stored_fraction
from maskwell.release.drawing import Chance
from maskwell.release.identification.blocks.blocks import Blocks
from maskwell.release.identification.blocks.forming import WAYS, WHOLE, Cast
from maskwell.release.identification.moves import carry_out
from maskwell.release.identification.release import Release
from maskwell.release.identification.request import Request, read_along
from maskwell.release.identification.rules import OneTheta, frequencies
from maskwell.release.identification.setup import Setup, prepare
from maskwell.release.partition import Partition
from maskwell.release.plan import (
    ReleasePlan,
    key_check,
    read_draws,
    read_label,
    read_texts,
    read_whole,
    read_wholes,
    refuse_other_key,
    stored_label,
)
from maskwell.release.recoding.recipe import Recipe


@dataclass(frozen=True)
class Block:
    """Sensitive cells that exchange their records."""

    sets: tuple[Mapping[str, str], ...]
    """The level of each partition set that it belongs to, or that it joins, by each column of the partition."""
    cells: tuple[tuple[int, ...], ...]
    """Each cell as a position in the labels of every key."""
    counts: tuple[int, ...]
    """The true frequency of each cell."""
    theta: Fraction | None = None
    """Its θ, where blocks have different ones."""

    @property
    def k(self) -> int:
        """The number of cells."""
        return len(self.cells)


@dataclass(frozen=True, eq=False, repr=False)
class IdentificationPlan(ReleasePlan):
    """What is moved, where, and with what chance: a record of a cell of frequency t leaves it with chance θ / t."""

    request: Request
    theta: Fraction | None
    """The θ of all blocks; None at limits of 1/3 and less, where each block has its own."""
    units: int
    """The number of records, or of groups where groups move together."""
    labels: Mapping[str, tuple[Any, ...]]
    """The categories of each key that occur; None stands for a missing value."""
    blocks: tuple[Block, ...]
    randomness: str = "none"
    seed: int | None = None
    key_check: str | None = None

    method = "limit_identification"

    @property
    def xi(self) -> float:
        """The limit."""
        return float(self.request.xi)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns that an intruder may know."""
        return self.request.keys

    @property
    def thetas(self) -> tuple[Fraction, ...]:
        """The θ of each block."""
        return tuple(block.theta or self.theta or Fraction(0) for block in self.blocks)

    @property
    def merged(self) -> int:
        """How many partition sets were joined with another."""
        joined = {_named(block.sets) for block in self.blocks}
        return sum(len(sets) - 1 for sets in joined)

    @property
    def unprotected(self) -> tuple[str, ...]:
        """Columns that are not keys, but in which joined sets differ: whoever knows them is not held to the limit."""
        blocks = [block.sets for block in self.blocks]
        return tuple(
            name
            for name in self.request.within
            if name not in self.keys and any(len({levels[name] for levels in sets}) > 1 for sets in blocks)
        )

    def cells(self, block: int) -> list[tuple[Any, ...]]:
        """The cells of a block as labels, one for each key."""
        labels = [self.labels[key] for key in self.keys]
        return [tuple(own[c] for own, c in zip(labels, cell, strict=True)) for cell in self.blocks[block].cells]

    def drawn(self, randomness: str, seed: int | None, key: bytes | None) -> IdentificationPlan:
        """The same plan, said to have been carried out with this randomness."""
        check = None if key is None else key_check(key, self.fingerprint)
        return replace(self, randomness=randomness, seed=seed, key_check=check)

    def apply(self, table: Any, *, key: bytes | None = None, ids: Any = None, seed: int | None = None) -> Release:
        """Carry the plan out on the table it was made for, with the stored seed if there is one and none is given."""
        setup = prepare(table, self.request, self._arrange)
        if plan_of(setup).fingerprint != self.fingerprint:
            raise DataError(_ANOTHER_TABLE)
        if key is not None and self.key_check is not None:
            refuse_other_key(key, self.fingerprint, self.key_check)
        return carry_out(setup, self, Chance(key, ids, self.seed if seed is None and key is None else seed))

    def _arrange(self, cast: Cast, parts: Partition) -> Blocks:
        """The stored blocks. They are not formed anew, which another machine might round differently."""
        whole, place = cast.whole, {}
        names = [_named(parts.describe(s) for s in members) for members in whole.sets]
        for cell, block in zip(whole.cells.tolist(), whole.block_of.tolist(), strict=True):
            place[names[block], tuple(cast.codes[cell].tolist())] = cell, whole.sets[block]
        try:
            found = [[place[_named(block.sets), cell] for cell in block.cells] for block in self.blocks]
        except KeyError:
            raise DataError(_ANOTHER_TABLE) from None
        cells = np.array([cell for block in found for cell, _ in block], np.int64)
        if len(cells) != len(whole.cells) or len(np.unique(cells)) != len(cells):
            raise DataError(_ANOTHER_TABLE)
        rule = self.request.rule
        for block in found:
            sizes = frequencies(cast.counts[[cell for cell, _ in block]].tolist())
            if rule.theta(sizes) is None:
                raise DataError(
                    f"the plan has a block of {rule.need(sizes)}, which cannot hold its limit; plan it anew."
                )
        starts = np.concatenate([[0], np.cumsum([len(block) for block in found])]).astype(np.int64)
        return Blocks(cells, starts, tuple(block[0][1] for block in found))

    # Storage.

    @property
    def version(self) -> int:
        """The first format knew no small blocks and nothing that moves along; the second no low limits, no recoding."""
        if self.theta is None or self.request.recoding:
            return 3
        return 1 if self.request.block_size is None and not self.request.along else 2

    def content(self) -> dict[str, Any]:
        request = self.request
        small = {"way": request.blocks, "size": request.block_size}
        return (
            {
                "keys": list(request.keys),
                "xi": str(request.xi),
                "theta": None if self.theta is None else str(self.theta),
                "within": _stored_spec(request.within),
                "exempt": _stored_spec(request.exempt),
                "merge": request.merge,
                "together": request.together,
                "units": self.units,
                "labels": {key: [stored_label(label) for label in labels] for key, labels in self.labels.items()},
                "blocks": [
                    {
                        "sets": [dict(levels) for levels in block.sets],
                        "cells": [list(cell) for cell in block.cells],
                        "counts": list(block.counts),
                    }
                    | ({} if block.theta is None else {"theta": str(block.theta)})
                    for block in self.blocks
                ],
            }
            | ({} if request.block_size is None else {"forming": small})
            | ({"along": list(request.along)} if request.along else {})
            | ({"recoding": request.recoding.to_dict()} if request.recoding else {})
        )

    def draws(self) -> dict[str, Any]:
        return {"randomness": self.randomness, "seed": self.seed, "key_check": self.key_check}

    @classmethod
    def from_content(cls, content: dict[str, Any], draws: Any) -> Self:
        keys, within, together = read_texts(content["keys"]), _read_spec(content["within"]), content["together"]
        if type(content["merge"]) is not bool or not isinstance(together, str | None):
            raise TypeError("merge is true or false, and together names a column or nothing")
        request = Request(
            keys,
            stored_fraction(content["xi"], "xi"),
            within,
            _read_spec(content["exempt"]),
            content["merge"],
            together,
            *_read_forming(content.get("forming")),
            read_along(content.get("along", []), keys, within, together),
            Recipe.from_dict(content["recoding"]) if "recoding" in content else Recipe(),
        )
        blocks = tuple(
            Block(
                tuple(map(_read_levels, block["sets"])),
                tuple(map(read_wholes, block["cells"])),
                read_wholes(block["counts"]),
                stored_fraction(block["theta"], "theta") if "theta" in block else None,
            )
            for block in content["blocks"]
        )
        labels = {key: tuple(map(read_label, stored)) for key, stored in content["labels"].items()}
        sizes = [len(labels[key]) for key in keys]
        if not keys or set(labels) != set(keys) or not all(_fits(block, sizes) for block in blocks):
            raise ReportError("a plan has labels for every key, and cells that are positions among them.")
        theta = None if content["theta"] is None else stored_fraction(content["theta"], "theta")
        return cls(request, theta, read_whole(content["units"]), labels, blocks, *read_draws(draws))

    def keeps_its_promise(self) -> bool:
        rule = self.request.rule
        if isinstance(rule, OneTheta):
            return self.theta == rule.value and all(block.theta is None for block in self.blocks)
        if self.theta is not None or not all(block.theta for block in self.blocks):
            return False
        kinds = {(tuple(frequencies(block.counts).items()), block.theta) for block in self.blocks}
        return all(rule.allows(dict(sizes), theta or Fraction(0)) for sizes, theta in kinds)

    def __repr__(self) -> str:
        sensitive = sum(sum(block.counts) for block in self.blocks)
        theta = "" if self.theta is None else f", theta {float(self.theta):.4g}"
        return (
            f"<plan to limit identification to {self.xi:g}: {len(self.blocks)} blocks, "
            f"{sensitive} of {self.units} units sensitive{theta}>"
        )


def plan_of(setup: Setup) -> IdentificationPlan:
    """The plan that a setup amounts to."""
    blocks = []
    rule = setup.request.rule
    one = rule.value if isinstance(rule, OneTheta) else None
    codes, counts = setup.cells.codes[:, :-1], setup.cells.counts
    described = {members: tuple(map(setup.parts.describe, members)) for members in set(setup.blocks.sets)}
    for i, members in enumerate(setup.blocks.sets):
        cells = setup.blocks.cells[setup.blocks.starts[i] : setup.blocks.starts[i + 1]]
        blocks.append(
            Block(
                described[members],
                tuple(map(tuple, codes[cells].tolist())),
                tuple(counts[cells].tolist()),
                None if one else setup.thetas[i],
            )
        )
    labels = {column.name: column.labels for column in setup.keys}
    return IdentificationPlan(setup.request, one, len(setup.row_of_unit), labels, tuple(blocks))


_ANOTHER_TABLE = "table is not the one that the plan was made for: its sensitive cells differ; plan it anew."


def _named(sets: Iterable[Mapping[str, str]]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Partition sets as a key of a dictionary."""
    return tuple(tuple(levels.items()) for levels in sets)


def _fits(block: Block, sizes: list[int]) -> bool:
    """Whether the cells are positions among so many labels of each key, with a frequency for each cell."""
    return len(block.counts) == block.k and all(
        len(cell) == len(sizes) and all(c < size for c, size in zip(cell, sizes, strict=True)) for cell in block.cells
    )


def _read_levels(stored: Any) -> dict[str, str]:
    """The level of a partition set by each column."""
    return dict(zip(read_texts(list(stored.keys())), read_texts(list(stored.values())), strict=True))


def _read_forming(stored: Any) -> tuple[str, int | None]:
    if stored is None:
        return WHOLE, None
    way, size = stored["way"], stored["size"]
    if way not in WAYS or way == WHOLE or type(size) is not int:
        raise ValueError("no way of forming small blocks")
    return way, size


def _stored_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if how is None else [_stored_item(item) for item in how] for name, how in spec.items()}


def _stored_item(item: Any) -> Any:
    return [stored_label(label) for label in item] if isinstance(item, list) else stored_label(item)


def _read_spec(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if how is None else [_read_item(item) for item in how] for name, how in stored.items()}


def _read_item(item: Any) -> Any:
    return [read_label(label) for label in item] if isinstance(item, list) else read_label(item)
