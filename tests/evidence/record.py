"""The result of one topic, and how it is written down."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import maskwell as mw
from maskwell.whole_files import complete_file, complete_files

Size = Literal["reduced", "full"]
Cell = str | int | float


@dataclass(frozen=True)
class Table:
    """A small table under a sentence that says what it shows."""

    caption: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Result:
    """What was asked, what counts as met, what came out. ``failures`` names each violation of the criterion."""

    name: str
    title: str
    question: str
    criterion: str
    sizes: dict[str, Cell]
    findings: list[str]
    tables: list[Table]
    failures: list[str] = field(default_factory=list)


def write(result: Result, seconds: float, folder: Path) -> None:
    """A page and a JSON file for the result, and the index of all results in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {"date": date.today().isoformat(), "versions": _versions(), "seconds": round(seconds)}
    text = json.dumps({**asdict(result), **made}, indent=1, ensure_ascii=False)
    with complete_files([folder / f"{result.name}.json", folder / f"{result.name}.md"]) as (data, page):
        data.write(f"{text}\n".encode())
        page.write(_page(result, made).encode())
    documents = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    with complete_file(folder / "README.md") as index:
        index.write(_index(documents).encode())


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "scipy", "numba", "cryptography")}
    return {"maskwell": mw.__version__, "python": platform.python_version(), **packages}


def _verdict(failures: list[str]) -> str:
    if not failures:
        return "met"
    return f"not met: {len(failures):,} failure" + ("" if len(failures) == 1 else "s")


def _page(result: Result, made: dict[str, Any]) -> str:
    parts = [
        f"# {result.title}",
        result.question,
        f"**Criterion.** {result.criterion}",
        f"**Outcome: {_verdict(result.failures)}.**",
        "\n".join(f"- {finding}" for finding in result.findings),
    ]
    if result.failures:
        parts += ["## Failures", "\n".join(f"- {failure}" for failure in result.failures)]
    parts += [f"{table.caption}\n\n{_markdown(table)}" for table in result.tables]
    sizes = ", ".join(f"{name} {_shown(value)}" for name, value in result.sizes.items())
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    parts.append(f"Sizes: {sizes}.")
    parts.append(f"Measured {made['date']} with {versions}, in {made['seconds']} s; `make evidence` repeats it.")
    return "\n\n".join(parts) + "\n"


def _index(documents: list[dict[str, Any]]) -> str:
    rows = [
        (f"[{d['title']}]({d['name']}.md)", _verdict(d["failures"]), d["findings"][0], d["date"]) for d in documents
    ]
    parts = [
        "# Evidence",
        "What the package promises, measured with fixed seeds. `make evidence` measures everything again; `make test` "
        "runs the same topics reduced. Each page states its criterion and its false-alarm rate; the `.json` file "
        "beside it holds the same numbers.",
        _markdown(Table("", ("topic", "criterion", "in one line", "date"), rows)),
    ]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *([_shown(cell) for cell in row] for row in table.rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else cell.replace("|", "/")
