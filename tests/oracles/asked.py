"""The people of ``randomized_response.R``, made by the same generator of numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

_MODULUS = 2147483647
N = 2400


def asked() -> pd.DataFrame:
    """People with a trait that depends on age and sex, and what each device made them report, as 0 and 1."""
    state = 2027

    def draws(count: int) -> np.ndarray:
        nonlocal state
        made = np.empty(count)
        for i in range(count):
            state = state * 16807 % _MODULUS
            made[i] = state / _MODULUS
        return made

    def logistic(at: np.ndarray) -> np.ndarray:
        return np.asarray(1 / (1 + np.exp(-at)))

    first = draws(3 * N).reshape(N, 3)
    age, female = np.round(8 * first[:, 0] - 4, 4), (first[:, 1] < 0.5).astype(float)
    truth = (first[:, 2] < logistic(-0.5 + 0.6 * age - 0.4 * female)).astype(int)
    group = np.tile([1, 2], N // 2)
    table = {"age": age, "female": female, "truth": truth, "group": group}

    def reported(yes: float, no: float) -> np.ndarray:
        return (draws(N) < np.where(truth == 1, yes, no)).astype(int)

    chances = {
        "warner": (0.8, 0.2), "forced": (11 / 12, 1 / 6), "unrelated": (0.79, 0.09), "crosswise": (0.25, 0.75),
        "kuk": (0.8, 0.3), "mangat": (1.0, 0.3), "triangular": (1.0, 0.25),
    }  # fmt: skip
    table |= {name: reported(yes, no) for name, (yes, no) in chances.items()}
    table["cards"] = sum(reported(0.8, 0.3) for _ in range(3))
    draws(N)
    die, evades = draws(N), draws(N) < 0.25
    low = group == 1
    table["cheated"] = np.where(truth == 1, 1, np.where(evades, 0, die < np.where(low, 0.2, 0.75))).astype(int)
    lies = np.where(evades, 0, 1)
    table["denied"] = np.where(truth == 1, lies, die < np.where(low, 0.8, 0.25)).astype(int)
    table["unknown"] = np.where(die < np.where(low, 0.7, 0.3), truth == 1, evades).astype(int)
    table["vote"] = (draws(N) < logistic(-0.3 + 0.3 * age + 0.9 * truth)).astype(int)
    table["arms"] = np.where(low, truth, table["warner"])
    return pd.DataFrame(table)
