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
