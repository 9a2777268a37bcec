"""Forged plans of releases, and files of reports with bytes or metadata changed."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import maskwell as mw
from maskwell.release import limit_identification, pram
from tests.adversarial.forgery import (
    Random,
    disorder_a_list,
    forged,
    pick,
    remove_anything,
    replace_anything,
    spoiled_text,
)
from tests.adversarial.honest import DESIGNS, KINDS

# Plans.


@cache
def people() -> pd.DataFrame:
    """Few enough to release in a moment, with combinations that one person has."""
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {"age": rng.integers(60, size=400), "sex": rng.integers(2, size=400), "job": list("abcd") * 100}
    )


@cache
def plans() -> tuple[str, ...]:
    """Honest plans of every method, as text."""
    table = people()
    releases: list[Any] = [
        limit_identification(table, ["age", "sex"], 0.5, seed=1),
        limit_identification(table, ["age", "sex"], 0.5, seed=1, blocks="mixed"),
        pram(table, "job", diagonal=0.8, seed=2),
        pram(table, "job", diagonal=0.8, strata="sex", seed=3),
    ]
    return tuple(release.plan.to_json() for release in releases)


def forged_plan(rng: Random) -> str:
    """One to three changes of an honest plan, its fingerprint made to fit again."""
    document = json.loads(pick(rng, plans()))
    for _ in range(int(rng.integers(1, 4))):
        # Mostly in the content, which is what decides.
        part = document["content"] if rng.random() < 0.8 and isinstance(document.get("content"), dict) else document
        try:
            pick(rng, (replace_anything, remove_anything, disorder_a_list, _another_number))(rng, part)
        except (KeyError, TypeError, IndexError, ValueError, AttributeError):
            continue
    canonical = json.dumps(document.get("content"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    document["fingerprint"] = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
    text = json.dumps(document)
    return spoiled_text(rng, text) if rng.random() < 0.1 else text


def _another_number(rng: Random, content: Any) -> None:
    """A limit, a chance or a weight that is another number."""
    if "xi" in content:
        content[pick(rng, ("xi", "theta"))] = pick(rng, ("1/100", "1/2", "2/5", "9/10", "1e1000000000", "0", "-1", "2"))
    else:
        column = pick(rng, pick(rng, pick(rng, pick(rng, content["steps"])["transitions"])))
        pair = pick(rng, column)
        pair[int(rng.integers(2))] = pick(rng, (0, -1, 3, "1", "0", "-5", str(2**64), "01", 10**9))


# Files of reports.


def write_reports(folder: Path) -> dict[Path, mw.Reports]:
    """Files of every format with reports of every kind of design, and what is in them."""
    written = {}
    for kind in KINDS:
        for number, make in enumerate(DESIGNS[kind][:2]):
            design = make()
            values: Any = [design.categories[i % design.k] for i in range(50)]
            reports = design.mask(values, seed=number, question=f"{kind} {number}")
            for suffix in (".parquet", ".arrow", ".csv"):
                path = folder / f"{kind}{number}{suffix}"
                reports.write(path)
                written[path] = reports
    return written


def spoil_bytes(rng: Random, whole: bytes) -> bytes:
    """A few bytes changed, put in, left out, or the file cut short."""
    data = bytearray(whole)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(data))) if data else 0
        match int(rng.integers(5)):
            case 0 | 1:
                data[at : at + 1] = bytes([int(rng.integers(256))])
            case 2:
                del data[at : at + int(rng.integers(1, 9))]
            case 3:
                data[at:at] = rng.bytes(int(rng.integers(1, 9)))
            case _:
                data = data[: max(at, len(data) - at)]
    return bytes(data)


def spoiled_file(rng: Random, path: Path, target: Path) -> None:
    """A file like another one, but for some bytes of it or of the design beside it, or for its metadata."""
    beside = path.with_suffix(".design.json")
    target.write_bytes(path.read_bytes())
    if path.suffix == ".csv":
        target.with_suffix(".design.json").write_bytes(beside.read_bytes())
    if rng.random() < 0.5:
        put_another_design_in(rng, path, target)
    elif path.suffix == ".csv" and rng.random() < 0.5:
        target.with_suffix(".design.json").write_bytes(spoil_bytes(rng, beside.read_bytes()))
    else:
        target.write_bytes(spoil_bytes(rng, path.read_bytes()))


def put_another_design_in(rng: Random, path: Path, target: Path) -> None:
    """The same reports with a forged design, or other metadata, where the design stands."""
    text = forged(rng, pick(rng, KINDS))
    if path.suffix == ".csv":
        target.write_bytes(path.read_bytes())
        about = json.loads(path.with_suffix(".design.json").read_text("utf-8"))
        try:
            about |= json.loads(text)
        except (ValueError, RecursionError):
            about["weights"] = text
        target.with_suffix(".design.json").write_text(json.dumps(about), "utf-8")
        return
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        pq.write_table(table.replace_schema_metadata(_changed(rng, pq.read_metadata(path).metadata, text)), target)
        return
    reader = pa.ipc.open_file(str(path))
    schema = reader.schema.with_metadata(_changed(rng, reader.schema.metadata, text))
    with pa.ipc.new_file(str(target), schema) as writer:
        for i in range(reader.num_record_batches):
            batch, own = reader.get_batch_with_custom_metadata(i)
            writer.write_batch(pa.record_batch(batch.columns, schema=schema), custom_metadata=own)


def _changed(rng: Random, metadata: Any, text: str) -> dict[bytes, bytes]:
    found = {key: value for key, value in metadata.items() if key.startswith(b"maskwell")}
    if rng.random() < 0.8:
        found[b"maskwell.design"] = text.encode("utf-8", "surrogatepass")
    else:
        found[pick(rng, list(found))] = pick(rng, (b"", b"1", b"\xff", b"secure", b"{}", b"9" * 5000, b"\x1b[2J"))
    return found
