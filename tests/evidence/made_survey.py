"""A made survey for trying releases on: a neighbour knows the keys, and everything else goes with them as in life."""

from __future__ import annotations

import numpy as np
import pandas as pd

KEYS = ["sex", "age", "district", "origin"]
XI = 0.5
WITHIN = "sex"


def made_survey(n: int = 12_000, seed: int = 31) -> pd.DataFrame:
    """Persons of 40 districts and eight origins. Marital status, schooling, work and pension follow age, language and
    housing follow origin and district, and income follows schooling, work and age; the height follows sex alone."""
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], n)
    age = np.clip(random.gamma(6, 7.5, n).astype(int) + 12, 16, 97)
    district = random.choice(40, n, p=_falling(40))
    origin = np.where(random.random(n) < 0.8, 0, random.choice(8, n, p=_falling(8)[np.roll(np.arange(8), 3)]))
    origin = np.where((origin > 0) & (district % 4 == 0), origin, np.where(random.random(n) < 0.3, 0, origin))
    chance = random.random((6, n))
    marital = np.select(
        [age < 18 + 14 * chance[0], chance[1] < (age - 55) / 110, chance[0] < 0.15],
        ["single", "widowed", "divorced"],
        "married",
    )
    school = np.clip((chance[2] * 5 + (age < 55) * 1.2 - (age < 20) * 2 + (district < 8)).astype(int), 0, 6)
    work = np.select(
        [age > 63 + 4 * chance[3], age < 19 + 3 * chance[4], chance[3] < 0.06 + 0.01 * (district % 10)],
        ["retired", "student", "without work"],
        np.where((sex == "m") & (chance[4] < 0.4), "industry", np.where(chance[4] < 0.75, "services", "public")),
    )
    pay = 900 + 260 * school + 9 * np.minimum(age, 60) - 500 * np.isin(work, ["student", "without work"])
    return pd.DataFrame(
        {
            "sex": sex,
            "age": age,
            "district": [f"d{code:02}" for code in district],
            "origin": [f"o{code}" for code in origin],
            "marital": marital,
            "school": school,
            "work": work,
            "language": np.where(chance[5] < 0.75, origin, 0) + np.where(district >= 34, 10, 0),
            "housing": np.where(chance[0] < 0.2 + district / 60, "own", np.where(chance[2] < 0.7, "rent", "other")),
            "children": np.minimum(random.poisson(np.clip((age - 18) / 16, 0, 1.9)), 5),
            "income": np.round(pay * random.lognormal(0, 0.35, n), 0),
            "height": np.round(random.normal(np.where(sex == "m", 178, 165), 7)).astype(int),
        }
    )


def _falling(k: int) -> np.ndarray:
    weights = 1 / (np.arange(k) + 4.0)
    return weights / weights.sum()
