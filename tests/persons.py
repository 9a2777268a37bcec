"""Tables to release: a made-up population as large as that of the published example, and a very small table."""

from typing import Any

import numpy as np
import pandas as pd

KEYS = ["sex", "age", "race", "marital", "area"]
RACES = ["white", "black", "asian", "two or more", "other", "indian", "native", "pacific", "alaska"]
WITHIN = {"sex": None, "age": [18, 25, 35, 45, 55, 65], "race": [["white"], ["black"]]}


def population(n: int = 59_033) -> pd.DataFrame:
    """Persons with keys of the shapes that section 5 of Nayak (2020) describes: 2, 92, 9, 5 and 44 categories."""
    random = np.random.default_rng(20)
    age = np.minimum(random.gamma(3.2, 12.5, n).astype(int), 91)
    status = ["married", "widowed", "divorced", "separated", "never"]
    marital = np.where(age > 60, random.choice(status, n, p=[0.55, 0.25, 0.1, 0.02, 0.08]), "never")
    marital = np.where((age >= 18) & (age <= 60), random.choice(status, n, p=[0.5, 0.02, 0.1, 0.03, 0.35]), marital)
    weights = random.gamma(3, 1, 44)
    chances = [0.6302, 0.2581, 0.0586, 0.0275, 0.0228, 0.0016, 0.0007, 0.0004, 0.0001]
    return pd.DataFrame(
        {
            "person": np.arange(n),
            "sex": random.choice(["female", "male"], n),
            "age": age,
            "race": pd.Categorical(random.choice(RACES, n, p=chances), categories=RACES[::-1]),
            "marital": marital,
            "area": random.choice(44, n, p=weights / weights.sum()),
            "income": random.normal(size=n),
        }
    )


def small() -> dict[str, list[Any]]:
    """Singles, doubles and safe cells in two partition sets, with a column that is no key."""
    sizes = [1, 1, 1, 2, 2, 5, 1, 2]
    area = [label for label, t in zip("abcdefgh", sizes, strict=True) for _ in range(t)]
    return {"set": [1] * 15 + [2] * 15, "area": area + area, "other": ["x", "y", "y"] * 10}


def associated(n: int = 12_000, seed: int = 7) -> pd.DataFrame:
    """Persons whose other columns go with their keys (sex, age, area, race) as they do in a census, beside pure noise.

    Marital status and schooling follow age, language follows area and race, a survey weight is shared by those of
    some areas and one sex, and income rises with age and schooling; ``shoe`` and ``noise`` have to do with nothing.
    """
    random = np.random.default_rng(seed)
    age = np.minimum(random.gamma(3.2, 12.5, n).astype(int), 91)
    sex = random.choice(["f", "m"], n)
    area = random.choice(30, n, p=(weights := random.gamma(2, 1, 30)) / weights.sum())
    race = random.choice(5, n, p=[0.7, 0.15, 0.08, 0.05, 0.02])
    adult = age >= 18
    marital = np.where(adult, np.where(random.random(n) < age / 120, "married", "single"), "child")
    marital = np.where((age > 65) & (random.random(n) < 0.4), "widowed", marital)
    schooling = np.clip(np.minimum(age - 6, 12) + random.integers(-1, 5, n) * adult, 0, 16)
    language = np.where(random.random(n) < 0.4, (race * 3 + area % 3), random.integers(15, size=n))
    return pd.DataFrame(
        {
            "sex": sex,
            "age": age,
            "area": area,
            "race": race,
            "marital": marital,
            "schooling": schooling,
            "language": [f"l{code}" for code in language],
            "weight": 100 + 9 * (area % 5) + 3 * (sex == "m") + random.integers(0, 40, n),
            "income": np.where(adult, np.rint(random.lognormal(9 + schooling / 16 + age / 90, 0.6, n)), 0),
            "shoe": random.integers(36, 46, n),
            "noise": random.normal(size=n),
        }
    )
