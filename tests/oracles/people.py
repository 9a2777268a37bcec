"""The people of ``survey.R``, made by the same generator of numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd


def people() -> pd.DataFrame:
    """Six strata of four clusters of five people, with weights and population sizes."""
    state = 12345

    def draw() -> float:
        nonlocal state
        state = state * 16807 % 2147483647
        return state / 2147483647

    rows: list[dict[str, Any]] = []
    for stratum in range(1, 7):
        for cluster in range(1, 5):
            shift = draw()
            for person in range(1, 6):
                u, v = draw(), draw()
                answer = "never" if u < 0.3 + 0.3 * shift else "once" if u < 0.8 else "often"
                region = "north" if draw() < 0.4 else "south"
                weight = round(10 + 20 * draw(), 3)
                rows.append(
                    {
                        "stratum": stratum, "cluster": cluster, "person": person, "answer": answer,
                        "sex": "f" if v < 0.5 else "m", "region": region, "weight": weight,
                        "clusters": 10 + stratum, "people": 8 + cluster,
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)
