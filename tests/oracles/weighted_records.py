"""The records of ``sdcnway.R``, made by the same generator of numbers."""

from __future__ import annotations

import pandas as pd

SIZES = {"region": 5, "age": 9, "sex": 2, "education": 6}


def weighted_records() -> pd.DataFrame:
    """Records with four keys that go together, and weights that go with the first key."""
    state = 4711

    def draw() -> float:
        nonlocal state
        state = state * 16807 % 2147483647
        return state / 2147483647

    rows = []
    for _ in range(600):
        lean = draw()
        row: dict[str, float] = {key: int(size * (0.4 * lean + 0.6 * draw())) for key, size in SIZES.items()}
        rows.append(row | {"weight": round((1.5 + 4 * draw()) * (1 + row["region"]), 3)})
    return pd.DataFrame(rows)
