"""The attack on a released file: right where there is something to tell, and no better than a blind guess where not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from maskwell.release import Release, limit_identification
from maskwell.release.attack.result import Attack
from tests.evidence.record import Result, Size, Table
from tests.persons import associated

KEYS = ["sex", "age", "area", "race"]
FALSE_ALARM = 1e-6
RELEASES: dict[Size, int] = {"reduced": 3, "full": 25}
PERSONS: dict[Size, int] = {"reduced": 3000, "full": 6000}


@dataclass(frozen=True)
class _Kind:
    """A kind of file, and what an attack on it must find."""

    name: str
    attacks: Sequence[Attack]

    def pooled(self, position: int) -> tuple[float, int]:
        """Right guesses and cells among the surest, over all releases."""
        return (
            sum(each.surest[position].right for each in self.attacks),
            sum(each.surest[position].cells for each in self.attacks),
        )

    @property
    def base_rate(self) -> float:
        return sum(each.true for each in self.attacks) / sum(each.shown_once for each in self.attacks)

    def row(self) -> list[str | int | float]:
        shares = [right / cells for right, cells in map(self.pooled, range(3))]
        return [self.name, sum(each.shown_once for each in self.attacks), self.base_rate, *shares]

    def chance(self, position: int) -> float:
        """The chance that blind guesses are right as often as this or more often."""
        right, cells = self.pooled(position)
        return float(stats.binom.sf(np.ceil(right) - 1, cells, self.base_rate))


def run(size: Size) -> Result:
    """Attack releases of made files, of the same files with their columns dealt out anew, and with telling columns."""
    releases = range(RELEASES[size])
    files = [associated(PERSONS[size], seed=100 + i) for i in releases]
    as_it_is = [_release(file, i) for i, file in enumerate(files)]
    small = [_release(file, i, blocks="mixed") for i, file in enumerate(files)]
    dealt = [_release(_dealt_out(file, i), i) for i, file in enumerate(files)]
    told = [_release(_with_birth(file, i), i) for i, file in enumerate(files)]
    along = [_release(_with_birth(file, i), i, along="born") for i, file in enumerate(files)]
    kinds = {
        name: _Kind(name, [made.attack() for made in own])
        for name, own in {
            "columns that go with the keys": as_it_is,
            "the same, in small blocks of look-alike cells": small,
            "the same columns, dealt out anew": dealt,
            "with a year of birth that stays": told,
            "with a year of birth that moves along": along,
        }.items()
    }
    failures = _failures(kinds, told, along, dealt)
    found = kinds["columns that go with the keys"].row()
    blind = kinds["the same columns, dealt out anew"].row()
    header = ("file", "cells shown once", "blind guess", "surest 5 %", "surest 20 %", "surest 50 %")
    return Result(
        "release_attack",
        "What a released file tells by itself",
        "The limit on matches by the keys says nothing of somebody who has the released file alone and compares keys "
        "with columns that stay. The attack that every release undergoes is tried on made files at a limit of .5: is "
        "it right where columns go with the keys, and no better than a blind guess where they do not?",
        f"At a false-alarm rate of {FALSE_ALARM:g}: the surest 5, 20 and 50 % of the cells shown once are right more "
        "often than blind guesses where columns go with the keys, and not more often where the same columns are dealt "
        "out anew; a year of birth beside the age is said to decide a key in every release, moved along in none, and "
        "no column that was dealt out ever is.",
        {"releases of each kind": len(releases), "persons": PERSONS[size]},
        [
            f"right in {found[3]:.2f} / {found[4]:.2f} / {found[5]:.2f} of the surest 5 / 20 / 50 % where columns go "
            f"with the keys, {blind[3]:.2f} / {blind[4]:.2f} / {blind[5]:.2f} where they do not",
            "The limit of .5 by the keys holds in all of them, exactly.",
        ],
        [
            Table("Shares that are right, over all releases.", header, [kind.row() for kind in kinds.values()]),
            _columns(as_it_is),
        ],
        failures,
    )


def _release(file: pd.DataFrame, seed: int, **options: str) -> Release:
    asked = {"blocks": "whole"} | options
    return limit_identification(file, KEYS, 0.5, "sex", seed=seed, **asked)  # type: ignore[arg-type]


def _dealt_out(file: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The file with all columns but the keys given to other persons."""
    other = [name for name in file if name not in KEYS]
    order = np.random.default_rng(seed).permutation(len(file))
    return pd.concat([file[KEYS], file[other].iloc[order].reset_index(drop=True)], axis=1)


def _with_birth(file: pd.DataFrame, seed: int) -> pd.DataFrame:
    return file.assign(born=2026 - file["age"] - np.random.default_rng(seed).integers(2, size=len(file)))


def _failures(
    kinds: dict[str, _Kind], told: Sequence[Release], along: Sequence[Release], dealt: Sequence[Release]
) -> list[str]:
    failures = []
    for position, share in enumerate((5, 20, 50)):
        if kinds["columns that go with the keys"].chance(position) > FALSE_ALARM / 6:
            failures.append(f"surest {share} %: no better than blind guesses")
        if kinds["the same columns, dealt out anew"].chance(position) < FALSE_ALARM / 6:
            failures.append(f"surest {share} %: better than blind guesses where nothing tells")
    for i, (stays, moves, blank) in enumerate(zip(told, along, dealt, strict=True)):
        if "born" not in {column.name for column in stays.attack().deciding}:
            failures.append(f"release {i}: a year of birth is not said to decide a key")
        if moves.attack().deciding or blank.attack().deciding:
            failures.append(f"release {i}: a column that decides nothing is said to decide a key")
        if not (stays.audit.holds and moves.audit.holds and blank.audit.holds):
            failures.append(f"release {i}: the limit by the keys does not hold")
    return failures


def _columns(releases: Sequence[Release]) -> Table:
    names = [column.name for column in releases[0].attack().columns]
    rows: list[list[str | float]] = []
    for name in names:
        own = [column for made in releases for column in made.attack().columns if column.name == name]
        alone = [np.mean([column.surest[i].share_right for column in own]) for i in range(3)]
        rows.append([name, float(np.mean([column.told_apart for column in own])), *map(float, alone)])
    rows.sort(key=lambda row: -float(row[1]))
    header = ("column", "tells moved from stayed", "surest 5 %", "surest 20 %", "surest 50 %")
    return Table("Each column by itself, where columns go with the keys: means over the releases.", header, rows)
