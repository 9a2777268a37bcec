"""sdcMicro's methods on two public files: the page quotes what was measured, and the measures are those of releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from maskwell.release.recoding.effects import Measure
from maskwell.tables.encoded import encoded
from tests.oracles.public_files import main, suppressed

FROZEN = json.loads((Path(__file__).parent / "oracles" / "sdcmicro_public.json").read_text())
PAGE = (Path(__file__).parents[1] / "docs" / "releasing_a_file.md").read_text("utf-8")


def short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


@pytest.mark.parametrize("name", FROZEN)
def test_the_page_quotes_what_was_measured(name: str) -> None:
    file = FROZEN[name]
    part = PAGE[PAGE.index(f"| {name}: recoding |") :]
    for row, first in (("as it is", "as it is"), ("local suppression", "sdcMicro, `localSuppression(k = 3)`")):
        found = file[row]
        kept = [short(found[f"{what} kept"]) for what in ("entropy", "association")]
        counts = [f"{found[what]:,}" for what in ("combinations", "uniques", "below 3", "suppressed")]
        line = [first, *counts[:3], f"{found['tau2']:.2f}", *kept, counts[3]]
        assert f"| {' | '.join(line)} |" in part
    for row, call in (("pram", "pram()"), ("strong pram", "pram(pd = 0.5, alpha = 1)")):
        found = file[row]
        right = f"{found['right matches before']:,.0f} → {found['right matches']:,.0f}"
        last = [short(found["surest"][0]), "–", "–", short(found["V"]), f"{found['change of age']:.1f}"]
        line = ["as it is: sdcMicro, `" + call + "`", "–", "–", f"{100 * found['changed']:.1f} %", right, *last]
        assert f"| {' | '.join(line)} |" in part


@pytest.fixture(scope="module")
def persons() -> pd.DataFrame:
    random = np.random.default_rng(8)
    age, sex = random.integers(16, 80, 900), random.choice(["f", "m"], 900)
    area = np.where(age > 50, random.choice(["n", "s"], 900), random.choice(["e", "w"], 900))
    return pd.DataFrame({"age": age, "sex": sex, "area": area, "retired": np.where(age > 62, "yes", "no")})


def test_suppression_is_measured_as_recoding_measures_it(persons: pd.DataFrame) -> None:
    keys = ["age", "sex", "area"]
    made = mw.release.recode(persons, keys, suppress=3, k=3, population_size=50_000)
    found = suppressed(Measure(encoded(persons), keys, 3, 50_000), made.table, keys)
    effect = made.effects[-1]
    assert (found["combinations"], found["uniques"], found["below 3"]) == (effect.cells, effect.uniques, effect.below_k)
    assert found["entropy kept"] == pytest.approx(effect.entropy)
    assert found["association kept"] == pytest.approx(effect.association)
    assert found["suppressed"] == effect.suppressed
    assert found["below 3 by wildcards"] == 0


def test_a_masked_file_is_measured_as_releases_are(persons: pd.DataFrame, tmp_path: Path) -> None:
    """The files that sdcmicro.R writes, made here by a release of ours whose figures are known."""
    keys = ["age", "sex", "area"]
    release = mw.release.limit_identification(persons, keys, 0.5, {"sex": None}, seed=3)
    persons.to_csv(tmp_path / "persons.csv", index=False)
    for name in ("pram", "strong"):
        release.table[keys].to_csv(tmp_path / f"{name}.csv", index=False)
    mw.release.recode(persons, keys, suppress=3).table[keys].to_csv(tmp_path / "suppressed.csv", index=False)
    pd.DataFrame({"R": ["none"], "sdcMicro": ["none"]}).to_csv(tmp_path / "versions.csv", index=False)
    made: dict[str, Any] = main(str(tmp_path / "persons.csv"), str(tmp_path), keys, "sex", 50_000.0, [])
    matches = release.comparison().matches
    assert made["pram"]["right matches"] == pytest.approx(matches.correct_after)
    assert made["pram"]["changed"] == pytest.approx(release.changed)
    assert made["pram"] == made["strong pram"]
