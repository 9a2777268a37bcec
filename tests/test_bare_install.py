"""What a bare install brings: wheel and sdist are built and installed, and the main job runs without any extra."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackagePath, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import maskwell

ROOT = Path(__file__).resolve().parents[1]
MOST_MEGABYTES = 393
"""Half of the 786 MB that a bare install of version 0.1.0 took."""


def build(source: Path, kind: str, folder: Path) -> Path:
    run = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


def brought(requirements: list[str], extra: str = "") -> dict[str, list[PackagePath]]:
    """The files of everything that these requirements bring, as far as this environment has it."""
    found: dict[str, list[PackagePath]] = {}
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name in found:
            continue
        about = distribution(name)
        found[name] = [file for file in about.files or [] if not str(file).startswith("..")]
        for wanted in (*sorted(requirement.extras), ""):
            found = {**brought(about.requires or [], wanted), **found}
    return found


@pytest.fixture(scope="module")
def dependencies(wheel: Path) -> dict[str, list[PackagePath]]:
    """The distributions that the wheel asks for, with theirs."""
    with zipfile.ZipFile(wheel) as file:
        (metadata,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        lines = file.read(metadata).decode().split("\n\n")[0].splitlines()
    return brought([line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")])


@pytest.fixture(scope="module")
def bare(wheel: Path, dependencies: dict[str, list[PackagePath]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel, what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", "--no-compile", str(wheel)], check=True, capture_output=True)
    for files in dependencies.values():
        for top in {file.parts[0] for file in files if file.parts[0] != "__pycache__"}:
            home = Path(str(files[0].locate())).parents[len(files[0].parts) - 1]
            if not (packages / top).exists():
                (packages / top).symlink_to(home / top)
    return python


def program(python: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(python), "-m", "maskwell", *arguments], cwd=folder, env=plain, capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"maskwell", f"maskwell-{maskwell.__version__}.dist-info"}
    for needed in ("maskwell/py.typed", "maskwell/designs/references.toml", "maskwell/views/pages/assets/page.js"):
        assert needed in names
    assert not [name for name in names if "__pycache__" in name or name.endswith((".nbi", ".nbc"))]


def test_the_source_archive_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = build(ROOT, "sdist", tmp_path / "sdist")
    with tarfile.open(archive) as file:
        names = file.getnames()
        file.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if (path / "pyproject.toml").exists())
    top = source.name
    assert {f"{top}/LICENSE", f"{top}/README.md", f"{top}/CITATION.cff", f"{top}/tests/test_demands.py"} <= set(names)
    again = build(source, "wheel", tmp_path / "wheel")
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())


def test_a_bare_install_is_light(wheel: Path, dependencies: dict[str, list[PackagePath]]) -> None:
    heavy = {
        "scipy",
        "numba",
        "llvmlite",
        "altair",
        "vl-convert-python",
        "pyreadstat",
        "pandas",
        "polars",
        "sqlalchemy",
    }
    assert heavy.isdisjoint(dependencies)
    sizes = {name: sum(size(file) for file in files) / 1e6 for name, files in dependencies.items()}
    # pip and setuptools, which every environment has, take 27 MB.
    assert sum(sizes.values()) + 30 < MOST_MEGABYTES, sizes


def size(file: PackagePath) -> int:
    path = Path(str(file.locate()))
    return path.stat().st_size if path.exists() else 0


def test_the_main_job_runs_without_any_extra(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        "id,habit,area\n" + "".join(f"{i},{'yes' if i % 3 else 'no'},{i % 7}\n" for i in range(900)), encoding="utf-8"
    )

    def good(*arguments: str) -> str:
        run = program(bare, *arguments, folder=tmp_path)
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert good("--version").strip() == f"maskwell {maskwell.__version__}"
    good("plan", "--categories", "yes,no", "--epsilon", "2", "-n", "900", "-o", "design.json")
    assert "admissible" in good("audit", "design.json").lower()
    for seed, name in ((1, "first.parquet"), (2, "second.csv")):
        good("mask", "people.csv", "-c", "habit", "-d", "design.json", "--seed", str(seed), "-o", name)
    found = json.loads(good("estimate", "first.parquet", "second.csv", "--method", "likelihood", "--json"))
    assert found["estimates"][found["categories"].index("yes")] == pytest.approx(2 / 3, abs=0.05)  # five errors
    good("risk", "people.csv", "--keys", "habit,area", "--population", "100000", "--json")
    good(
        "release",
        "people.csv",
        "--keys",
        "habit,area",
        "--xi",
        "0.5",
        "--seed",
        "1",
        "-o",
        "released.csv",
        "--drop",
        "id",
    )
    assert (tmp_path / "released.csv").read_text(encoding="utf-8").startswith("habit,area\n")


KEYED = ("--design", "a=design.json", "--key-file", "key", "--ids", "id", "--survey", "s")
LACKING = [
    (("plan", "--k", "3", "--epsilon", "1", "--html", "plan.html"), "charts"),
    (("serve", "--demo"), "collect"),
    (("risk", "people.sav", "--keys", "a"), "stata-spss"),
    (("mask", "a.parquet", *KEYED, "--engine", "polars", "-o", "out/"), "polars"),
    (("mask", "a.parquet", *KEYED, "--engine", "duckdb", "-o", "out/"), "duckdb"),
    (("mask", "a.parquet", *KEYED, "--engine", "spark", "-o", "out/"), "spark"),
]


@pytest.mark.parametrize(("arguments", "extra"), LACKING, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_missing_is_named_in_one_line(
    bare: Path, tmp_path: Path, arguments: tuple[str, ...], extra: str
) -> None:
    (tmp_path / "people.sav").write_bytes(b"$FL2" + bytes(200))
    (tmp_path / "design.json").write_text(maskwell.designs.minimax(["x", "y"], epsilon=1).to_json(), encoding="utf-8")
    table = __import__("pyarrow").table({"a": ["x", "y"], "id": [1, 2]})
    (tmp_path / "key").write_bytes(bytes(32))
    __import__("pyarrow.parquet").parquet.write_table(table, tmp_path / "a.parquet")
    run = program(bare, *arguments, folder=tmp_path)
    assert run.returncode == 2, run.stderr
    (line,) = run.stderr.splitlines()
    assert f"pip install 'maskwell[{extra}]'" in line


def test_the_demo_takes_a_bare_install_to_its_end(bare: Path, tmp_path: Path) -> None:
    run = program(bare, "demo", "-o", "here", folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "DIAGNOSIS OF 50,000 PERSONS" in run.stdout
    assert "pip install 'maskwell[charts]'" in " ".join(run.stdout.split())
    left = {path.name for path in (tmp_path / "here").iterdir()}
    assert {"race-estimates.csv", "persons-released.csv", "persons-plan.json"} < left
    assert not [name for name in left if name.endswith((".png", ".html"))]


def test_the_library_says_the_same(bare: Path) -> None:
    script = """
import warnings, maskwell as mw
def line(act):
    try: act()
    except mw.MaskwellError as error: print(error)
design = mw.designs.minimax(3, epsilon=1)
reports = design.mask(["0", "1", "2"] * 30, seed=1)
line(lambda: design.plot())
line(lambda: mw.estimate(reports).to_frame())
line(lambda: mw.regress("a ~ b", {"b": [1.0] * 90}, masked={"a": reports}))
line(lambda: mw.collect.Client("http://localhost"))
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    mw.designs.warner(truth_prob=0.7).mask(["yes"] * 60_000)
print(*(str(warning.message) for warning in heard))
"""
    run = subprocess.run([str(bare), "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    named = [re.findall(r"maskwell\[(.+?)\]", line) for line in run.stdout.splitlines()]
    assert named == [["charts"], ["pandas"], ["regression"], ["collect"], ["fast"]]


SAME = """
import hashlib, json, sys, numpy as np, maskwell as mw
made = []
for design in (
    mw.designs.gamma_diagonal(10, epsilon=1), mw.designs.minimax(10, epsilon=1), mw.designs.rappor(70, epsilon=2),
    mw.designs.block(7, epsilon=1), mw.designs.kuk(red_if_yes=0.7, red_if_no=0.3, draws=2),
    mw.designs.local_diversity(9, l=3), mw.designs.projective(40, epsilon=1),
    mw.designs.product(mw.designs.warner(truth_prob=0.8), mw.designs.minimax(5, epsilon=1)),
):
    values = [design.categories[i % design.k] for i in range(400)]
    reports = design.mask(values, key=b"k" * 16, ids=list(range(400)), question="q")
    tally = reports.tally(patterns=True)
    figures = [float(x) for x in mw.estimate(tally).proportions[:4]]
    figures += [float(x) for x in mw.estimate(tally, "likelihood").proportions[:4]]
    digest = hashlib.sha256(np.ascontiguousarray(reports.packed).tobytes()).hexdigest()
    made.append([digest, tally.n, np.asarray(tally.counts).tolist(), figures])
print(json.dumps(made))
"""


def results(run: subprocess.CompletedProcess[str]) -> Iterator[Any]:
    assert run.returncode == 0, run.stderr
    yield from json.loads(run.stdout)


def test_loops_that_are_not_compiled_give_the_same(bare: Path) -> None:
    plain = subprocess.run([str(bare), "-c", SAME], capture_output=True, text=True, check=False)
    fast = subprocess.run([sys.executable, "-c", SAME], capture_output=True, text=True, check=False)
    for (digest, n, counts, figures), (*same, others) in zip(results(plain), results(fast), strict=True):
        assert [digest, n, counts] == same
        assert figures == pytest.approx(others, abs=1e-7)
