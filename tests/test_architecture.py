"""The promises about the code itself.

Which way imports point, what `import maskwell` costs, where chance enters, and that no machine but the
reader's is needed.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import maskwell
from maskwell import contents
from maskwell.designs import Design
from maskwell.sampling.samplers import Sampler

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "maskwell"

# From the outside in. An import may point down this list or along one line of it, never up.
LAYERS = (
    {"cli", "collect", "contents", "__main__"},
    {"demo", "engines", "views"},
    {"published"},
    {"release"},
    {"handover", "questionnaires", "rounds"},
    {"risk", "planning", "words"},
    {"auditing"},
    {"inference", "ordering"},
    {"designs", "reports"},
    {"sampling", "demands"},
    {"tables"},
    {"microdata"},
    {
        "advice",
        "errors",
        "exact",
        "extras",
        "frames",
        "input_files",
        "limits",
        "null_spaces",
        "numerics",
        "plain_json",
        "plain_text",
        "results",
        "strict_json",
        "whole_files",
    },
)
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
# `import maskwell` reaches everything, so only the outermost layer may do it.
DEPTH["maskwell"] = 0

HEAVY = {
    "altair",
    "duckdb",
    "fastapi",
    "httpx",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "pyreadstat",
    "pyspark",
    "rich",
    "highspy",
    "scipy",
    "sqlalchemy",
    "typer",
    "uvicorn",
}

RANDOM_MODULES = ("random", "secrets", "numpy.random")
RANDOM_NAMES = {"random", "urandom", "getrandom", "default_rng", "rvs", "uuid1", "uuid4"}
ENTROPY = PACKAGE / "sampling" / "entropy.py"

# A path on somebody's machine, or a folder beside the repository, that no clone has.
FOREIGN_PATH = re.compile(r"""/work/|/root/|/home/\w|/Users/\w|\.\./shared""")


def modules() -> list[Path]:
    """Every Python file of the package, in a stable order."""
    return sorted(PACKAGE.rglob("*.py"))


def imports(source: str, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything that a module imports, wherever in its text.

    `from a import b` counts as `a.b`: when `b` is a name rather than a module, the layer is the same.
    Walking the whole tree covers imports inside functions and under `if TYPE_CHECKING` as well.
    """
    parts = module.split(".")
    package = parts if is_package else parts[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def part_of(name: str) -> str:
    """The part of the package that an absolute name belongs to: `maskwell` where it is the front door."""
    _, *rest = name.split(".")
    return rest[0] if rest and rest[0] in DEPTH else "maskwell"


def upward_imports(source: str, module: str, *, is_package: bool) -> list[str]:
    """The imports of a module that break the direction, as sentences."""
    own = module.split(".")[1]
    if own not in DEPTH:
        return [f"{module}: '{own}' is in no layer; add it to LAYERS in tests/test_architecture.py"]
    return [
        f"{module}, line {line}: imports {name}, but '{own}' lies below '{part_of(name)}'"
        for line, name in imports(source, module, is_package=is_package)
        if name.split(".")[0] == "maskwell" and DEPTH[part_of(name)] < DEPTH[own]
    ]


def runtime_imports(source: str, module: str, *, is_package: bool) -> Iterator[str]:
    """Absolute names of what a module imports when it runs, in functions too; not what only its types need."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    yield from (name for _, name in imports(ast.unparse(tree), module, is_package=is_package))


def import_graph(sources: dict[str, tuple[str, bool]]) -> dict[str, set[str]]:
    """The modules that each module imports; ``sources`` has the text of each, and whether it is a package."""
    graph: dict[str, set[str]] = {}
    for module, (source, is_package) in sources.items():
        graph[module] = set()
        for name in runtime_imports(source, module, is_package=is_package):
            while name and name not in sources:
                name = name.rpartition(".")[0]
            if name and name != module:
                graph[module].add(name)
    return graph


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that import each other, directly or by way of others."""
    reached = {module: {module} for module in graph}
    changed = True
    while changed:
        changed = False
        for module, targets in graph.items():
            wider = reached[module].union(*(reached[target] for target in targets))
            changed |= len(wider) > len(reached[module])
            reached[module] = wider
    found: list[set[str]] = []
    for module in graph:
        circle = {other for other in reached[module] if module in reached[other]}
        if len(circle) > 1 and circle not in found:
            found.append(circle)
    return found


def package_sources() -> dict[str, tuple[str, bool]]:
    """The text of every module, and whether it is a package; the front door, which gathers from all, left out."""
    found = {}
    for path in modules():
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        is_package = relative.name == "__init__"
        name = ".".join(relative.parent.parts if is_package else relative.parts)
        found[name] = (path.read_text(encoding="utf-8"), is_package)
    del found["maskwell"]
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(import_graph(package_sources())) == []


def test_a_circle_is_found_in_functions_too_but_not_in_types() -> None:
    lower = "from m.b import g"
    for upper in ("import m.a", "def later():\n    from m.a import f", "from m import a"):
        graph = import_graph({"m": ("", True), "m.a": (lower, False), "m.b": (upper, False)})
        assert circles(graph) == [{"m.a", "m.b"}]
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m.a import f"
    assert circles(import_graph({"m": ("", True), "m.a": (lower, False), "m.b": (typed, False)})) == []
    through = import_graph({"a": ("import b", False), "b": ("import c", False), "c": ("import a", False)})
    assert circles(through) == [{"a", "b", "c"}]


def sources_of_chance(source: str) -> list[tuple[int, str]]:
    """Line and name of each use of a random generator other than the package's own."""
    found = []
    for line, name in imports(source, "maskwell.any", is_package=False):
        from_generator = any(name == banned or name.startswith(f"{banned}.") for banned in RANDOM_MODULES)
        if from_generator or (name.split(".")[-1] in RANDOM_NAMES and not name.startswith("maskwell.")):
            found.append((line, name))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in RANDOM_NAMES:
            found.append((node.lineno, ast.unparse(node)))
    return found


def repository_texts() -> Iterator[tuple[Path, str]]:
    """Everything a reader of the repository sees as text, this file excepted: it spells the patterns out."""
    folders = [ROOT / name for name in ("src", "tests", "docs", "bench", "tools", ".ci")]
    inside = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    beside = [ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml", "constraints.txt")]
    for path in sorted(inside + beside):
        if path == Path(__file__).resolve() or {"__pycache__", "node_modules"} & set(path.parts) or not path.exists():
            continue
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture or a data file


def test_imports_point_one_way() -> None:
    wrong = []
    for path in modules():
        if path == PACKAGE / "__init__.py":
            continue  # the front door gathers from every layer
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        is_package = relative.name == "__init__"
        name = ".".join(relative.parent.parts if is_package else relative.parts)
        wrong += upward_imports(path.read_text(encoding="utf-8"), name, is_package=is_package)
    assert not wrong, "\n".join(wrong)


def test_surveys_and_files_are_two_stacks() -> None:
    """Both stand on designs and tables, and neither knows the other."""
    surveys = {"auditing", "handover", "ordering", "planning", "questionnaires", "words"}
    files = {"release", "risk"}
    across = [
        f"{module} imports {target}"
        for module, targets in import_graph(package_sources()).items()
        for target in targets
        for one, other in ((surveys, files), (files, surveys))
        if part_of(module) in one and part_of(target) in other
    ]
    assert across == []


# Modules of one folder, beyond which nobody knows their room.
MOST_IN_A_FOLDER = 15


def test_no_folder_is_crowded() -> None:
    rooms = Counter(path.parent for path in modules() if path.name != "__init__.py")
    crowded = {str(room.relative_to(PACKAGE)): count for room, count in rooms.items() if count > MOST_IN_A_FOLDER}
    assert crowded == {}


@pytest.mark.parametrize(
    "source",
    [
        "from maskwell.inference.linear import estimate",
        "from maskwell import inference",
        "import maskwell.cli",
        "import maskwell as mw",
        "from maskwell import Design",
        "from ..reports import Tally",
        "from .. import reports",
        "def later():\n    from maskwell.views import text",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from maskwell.designs import Design",
    ],
)
def test_an_upward_import_is_caught(source: str) -> None:
    assert upward_imports(source, "maskwell.sampling.kernels", is_package=False)


@pytest.mark.parametrize(
    "source",
    [
        "import numpy",
        "from maskwell.errors import DataError",
        "from .entropy import keystream",
        "from . import entropy",
        "from .. import exact, demands",
    ],
)
def test_an_import_downward_or_sideways_is_allowed(source: str) -> None:
    assert upward_imports(source, "maskwell.sampling.kernels", is_package=False) == []


def test_a_package_resolves_its_own_relative_imports() -> None:
    assert upward_imports("from .linear import estimate", "maskwell.inference", is_package=True) == []
    assert upward_imports("from ..auditing import audit", "maskwell.inference", is_package=True)


def test_a_module_without_a_layer_is_caught() -> None:
    assert upward_imports("", "maskwell.nowhere", is_package=False)


def test_import_maskwell_loads_no_heavy_package() -> None:
    script = "import json, sys; from maskwell import *; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert HEAVY.intersection(json.loads(run.stdout)) == set()


def test_a_public_name_loads_no_more_than_it_needs() -> None:
    script = "import json, sys, maskwell; maskwell.Design; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in json.loads(run.stdout) if name.startswith("maskwell.")}
    assert loaded.isdisjoint({"cli", "collect", "contents", "inference", "release", "risk", "views"})


def test_help_loads_no_more_than_designs() -> None:
    script = "import json, sys, maskwell.cli.program; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in json.loads(run.stdout) if name.startswith("maskwell.")}
    assert loaded.isdisjoint({"auditing", "collect", "inference", "ordering", "planning", "release", "risk", "views"})


def test_the_front_door_offers_what_its_contents_list() -> None:
    assert sorted(maskwell.__all__) == sorted(contents.__all__)
    assert all(getattr(maskwell, name) is getattr(contents, name) for name in contents.__all__)
    assert set(contents.__all__) <= set(dir(maskwell))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = maskwell.nothing  # type: ignore[attr-defined]


def asks_for_a_kind(source: str) -> list[int]:
    """Lines that ask what kind a design is.

    ``isinstance(x, …Design)``, ``x.kind`` compared, or whether a channel has rows by set size.
    """
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            asked = (part for part in ast.walk(node.test) if isinstance(part, ast.Attribute) and part.attr == "sizes")
            lines += [part.lineno for part in asked if ast.unparse(part.value).endswith("channel")]
        elif (
            isinstance(node, ast.Call)
            and getattr(node.func, "id", "") == "bool"
            and "channel.sizes" in ast.unparse(node)
        ):
            lines.append(node.lineno)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            kinds = (ast.unparse(name).split(".")[-1] for name in ast.walk(node.args[1]))
            if any(kind.endswith("Design") for kind in kinds):
                lines.append(node.lineno)
        elif isinstance(node, ast.Compare) and any(
            isinstance(part, ast.Attribute) and part.attr == "kind" and "design" in ast.unparse(part.value)
            for part in (node.left, *node.comparators)
        ):
            lines.append(node.lineno)
        elif isinstance(node, ast.MatchClass) and ast.unparse(node.cls).endswith("Design"):
            lines.append(node.cls.lineno)
    return lines


# Where a kind may be asked for, outside designs/, each with its reason in a comment on the line above.
MOST_QUESTIONS = 8


def test_hardly_anybody_asks_what_kind_a_design_is() -> None:
    found = []
    for path in modules():
        if PACKAGE / "designs" in path.parents:
            continue
        source = path.read_text(encoding="utf-8")
        for line in asks_for_a_kind(source):
            above = source.splitlines()[line - 2].strip()
            assert above.startswith("#"), f"{path.relative_to(ROOT)}, line {line}: say above it why the kind is needed"
            found.append(f"{path.relative_to(ROOT)}, line {line}")
    assert len(found) <= MOST_QUESTIONS, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(design, SubsetDesign)",
        "isinstance(x, (int, designs.MatrixDesign))",
        "isinstance(x, Design)",
        "issubclass(type(x), RowDesign)",
        "if design.kind == 'subsets': pass",
        "reports.design.kind != 'subsets'",
        "match x:\n    case ProductDesign():\n        pass",
        "if design.channel.sizes: pass",
        "x = 1 if not design.channel.sizes else 2",
        "bool(first.channel.sizes and second.channel.sizes)",
    ],
)
def test_a_question_for_a_kind_is_seen(source: str) -> None:
    assert asks_for_a_kind(source)


def test_a_new_kind_of_design_writes_few_members() -> None:
    """Beside its name: what ``Design`` leaves open, and the three members of a sampler; all else has a default."""
    sampler = {name for name in vars(Sampler) if not name.startswith("_")}
    assert Design.__abstractmethods__ == {"channel", "sampler", "report_labels", "stored_weights", "from_weights"}
    assert sampler == {"width", "empty", "run"}
    assert len(Design.__abstractmethods__) + len(sampler) <= 8


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_nothing_depends_on_one_machine() -> None:
    found = [
        f"{path}, line {number}: {match.group()}"
        for path, text in repository_texts()
        for number, line in enumerate(text.splitlines(), start=1)
        for match in FOREIGN_PATH.finditer(line)
    ]
    assert not found, "\n".join(found)


def test_the_version_is_stated_once_and_the_same() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert maskwell.__version__ == project["version"]


def test_chance_enters_through_the_keystream_only() -> None:
    found = [
        f"{path.relative_to(ROOT)}, line {line}: {name}; draw from sampling/entropy.py instead"
        for path in modules()
        if path != ENTROPY
        for line, name in sources_of_chance(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "import secrets",
        "from random import Random",
        "import numpy.random",
        "from numpy import random",
        "from os import urandom",
        "import numpy as np\nx = np.random.default_rng(1)",
        "import os\nx = os.urandom(8)",
        "from scipy.stats import norm\nx = norm.rvs(3)",
    ],
)
def test_another_source_of_chance_is_caught(source: str) -> None:
    assert sources_of_chance(source)
