"""One input for every engine, what its reports and tallies are by the kernel alone, and where a key may not stand."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import maskwell as mw

N = 30_000
KEY = b"\x02engine-key:not-to-be-seen.\x7f\xfe\x01"
DESIGNS: dict[str, mw.Design] = {
    "habit": mw.plan(["yes", "no", "unsure"], mw.LDP(1)),
    "group": mw.designs.gamma_diagonal(300, epsilon=1),
    "diet": mw.designs.minimax([f"c{i}" for i in range(12)], epsilon=1),
}
KEYED: dict[str, Any] = {"id": "person", "key": KEY, "survey": "health 2026", "keep": ["person", "region"]}


def people(n: int = N) -> pa.Table:
    """Answers of ``n`` people, in no order of their ids."""
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "person": rng.permutation(n) * 7 + 11,
            "habit": np.array(["yes", "no", "unsure"])[rng.integers(0, 3, n)].tolist(),
            "group": rng.integers(0, 300, n),
            "diet": [f"c{i}" for i in rng.integers(0, 12, n)],
            "region": np.array(["north", "south"])[rng.integers(0, 2, n)].tolist(),
        }
    )


PEOPLE = people()


def kernel_reports(table: pa.Table = PEOPLE) -> dict[str, mw.Reports]:
    """The reports of each column as ``Design.mask`` draws them."""
    return {
        name: design.mask(table[name], key=KEY, ids=table["person"], question=f"health 2026/{name}")
        for name, design in DESIGNS.items()
    }


REPORTS = kernel_reports()
TALLIES = {name: reports.tally() for name, reports in REPORTS.items()}


def assert_same_reports(
    masked: pa.Table, table: pa.Table = PEOPLE, reports: Mapping[str, mw.Reports] = REPORTS
) -> None:
    """Bit for bit the kernel's, in whatever order and types."""
    assert masked.column_names == ["person", "region", *DESIGNS]
    order, expected_order = (np.argsort(t["person"].to_numpy()) for t in (masked, table))
    assert masked["region"].take(order).to_pylist() == table["region"].take(expected_order).to_pylist()
    for name, own in reports.items():
        found = masked[name].take(order).to_pylist()
        column = own.to_arrow()["report"].take(expected_order)
        assert found == column.to_pylist(), name


def shows_key(text: str | bytes, key: bytes = KEY) -> bool:
    """Whether a text holds the key, raw or in one of the spellings that programs have for bytes."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    numbers = ", ".join(map(str, key))
    signed = ", ".join(str(b - 256 if b > 127 else b) for b in key)
    spelled = [repr(key)[2:-1], key.hex(), key.hex().upper(), base64.b64encode(key).decode(), numbers, signed]
    spelled += [numbers.replace(" ", ""), "engine-key:not-to-be-seen"]
    return key in raw or any(form.encode() in raw for form in spelled)
