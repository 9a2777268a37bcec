"""What sdcMicro's pram and localSuppression do to two public files, by the measures of docs/releasing_a_file.md.

The files are not part of the project; ``sdcmicro_public.json`` keeps what came out. To repeat it: write the keys of a
file to keys.csv (all values as text), run ``sdcmicro.R`` on it, then
``python -m tests.oracles.public_files FILE FOLDER key,key,… within population`` (FOLDER holds what the script wrote).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskwell.inference.cramers_v import plain_v
from maskwell.release.attack.released_file import attack_file
from maskwell.release.evaluation.matches import matches
from maskwell.release.identification.blocks.likeness import columns_to_compare
from maskwell.release.recoding.effects import Effect, Measure
from maskwell.release.staying_columns import staying_columns
from maskwell.risk.assess import assess
from maskwell.risk.frequencies import cross_classify
from maskwell.tables.encoded import EncodedTable, encoded


def suppressed(measure: Measure, table: pd.DataFrame, keys: list[str]) -> dict[str, Any]:
    """The file after local suppression, as recodings are measured: a missing value is a category of its own."""
    gone, after = table[keys].isna().to_numpy(), encoded(table)
    effect = measure.of("local suppression", {key: after.coded(key) for key in keys}, gone)
    wild = assess(table, keys, missing="wildcard")
    return figures(effect) | {"values suppressed": int(gone.sum()), "below 3 by wildcards": wild.records_below(3)}


def figures(effect: Effect) -> dict[str, Any]:
    """The columns of the table of recodings."""
    return {
        "combinations": effect.cells, "uniques": effect.uniques, "below 3": effect.below_k, "tau2": effect.tau2,
        "entropy kept": effect.entropy, "association kept": effect.association, "suppressed": effect.suppressed,
    }  # fmt: skip


def masked(
    source: EncodedTable, true: pd.DataFrame, table: pd.DataFrame, keys: list[str], within: str
) -> dict[str, Any]:
    """The file after post-randomization, as releases are measured."""
    counted = matches(true, table, keys)
    stayed = (true[keys].to_numpy() == table[keys].to_numpy()).all(axis=1)
    released = staying_columns(table[keys], [])
    sets = next(key.codes for key in released if key.name == within)
    attack = attack_file(released, staying_columns(source, keys), stayed, sets)
    age = next(key for key in keys if key.lower() in ("age", "agep"))
    years = [each[age].astype(float).to_numpy() for each in (true, table)]
    return {
        "change of age": float(np.abs(years[1] - years[0])[~stayed].mean()), "changed": float(1 - stayed.mean()),
        "right matches before": counted.correct_before,
        "right matches": counted.correct_after, "uniques kept": counted.uniques_kept,
        "uniques": counted.before.sample_uniques, "surest": [part.share_right for part in attack.surest],
        "V": associations(source, table, true, keys, within) / associations(source, true, true, keys, within),
    }  # fmt: skip


def associations(source: EncodedTable, table: pd.DataFrame, true: pd.DataFrame, keys: list[str], within: str) -> float:
    """Cramér's V of changing keys and other columns, summed, among the records that were alone with their keys."""
    cells, cell = cross_classify([encoded(true).coded(key) for key in keys])
    alone, shown = cells.counts[cell] == 1, encoded(table)
    total = 0.0
    for key in (key for key in keys if key != within):
        column = shown.coded(key)
        for other in columns_to_compare(source, keys):
            pairs = column.codes[alone].astype(np.int64) * other.size + other.codes[alone]
            counts = np.bincount(pairs, minlength=column.size * other.size)
            total += plain_v(counts.reshape(column.size, other.size))
    return total


def main(file: str, folder: str, keys: list[str], within: str, population: float, dropped: list[str]) -> dict[str, Any]:
    """All figures of one file."""
    whole = pd.read_csv(file, keep_default_na=False).drop(columns=dropped)
    true = pd.read_csv(file, keep_default_na=False, dtype=str)[keys]
    source = encoded(whole)
    measure = Measure(source, keys, 3, population)

    def read(name: str, **options: Any) -> pd.DataFrame:
        return pd.read_csv(Path(folder) / f"{name}.csv", dtype=str, keep_default_na=False, **options)

    return {
        "population": population, "records": len(whole), "keys": keys,
        "within": within, "versions": read("versions").iloc[0].to_dict(),
        "as it is": figures(measure.of("as it is", {})),
        "local suppression": suppressed(measure, read("suppressed", na_values=[""]), keys),
        "pram": masked(source, true, read("pram"), keys, within),
        "strong pram": masked(source, true, read("strong"), keys, within),
    }  # fmt: skip


if __name__ == "__main__":
    file, folder, keys, within, population, *dropped = sys.argv[1:]
    print(json.dumps(main(file, folder, keys.split(","), within, float(population), dropped), indent=1))
