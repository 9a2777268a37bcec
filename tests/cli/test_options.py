"""Errors say which argument they are about, and the command line names its option from that."""

import ast
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import maskwell as mw
from maskwell.cli.commands.plan import plan
from maskwell.cli.commands.release import release
from maskwell.cli.shared.option_names import in_options, options_of
from tests.cli.runs import Run, assert_refused

TABLE = {"sex": ["f", "m"] * 20, "age": list(range(20, 60)), "area": ["n", "s"] * 20}
LIMIT: dict[str, Any] = {"keys": ["sex", "age"], "xi": 0.5, "within": "sex", "seed": 1}
DESIGN = mw.designs.direct(3)

CASES: dict[str, Any] = {
    "epsilon": lambda: mw.LDP(-1),
    "beta": lambda: mw.BetaFactor(0.5),
    "rho1": lambda: mw.RhoPrivacy(0.5, 0.1),
    "phi": lambda: mw.AverageSecurity(3),
    "l": lambda: mw.LocalDiversity(1),
    "categories": lambda: mw.designs.direct(["a", "a"]),
    "missing": lambda: DESIGN.mask([0], missing="drop"),
    "seed": lambda: DESIGN.mask([0], seed=-1),
    "ids": lambda: DESIGN.mask([0, 1], key=bytes(32), ids=[1, 1], question="q"),
    "key": lambda: DESIGN.mask([0], key=b"short", ids=[1], question="q"),
    "values": lambda: DESIGN.mask([None]),
    "method": lambda: mw.estimate(DESIGN.mask([0, 1]).tally(), method="guess"),
    "level": lambda: mw.estimate(DESIGN.mask([0, 1]).tally()).interval(2),
    "keys": lambda: mw.risk.assess(TABLE, keys=[]),
    "weights": lambda: mw.risk.assess(TABLE, keys="sex", weights=[1]),
    "population_size": lambda: mw.risk.assess(TABLE, keys="sex", population_size=3),
    "model": lambda: mw.risk.assess(TABLE, keys="sex", population_size=300, model="none"),
    "xi": lambda: mw.release.limit_identification(TABLE, **LIMIT | {"xi": 2}),
    "within": lambda: mw.release.limit_identification(TABLE, **LIMIT | {"within": {"sex": [["x"]]}}),
    "along": lambda: mw.release.limit_identification(TABLE, **LIMIT, along="sex"),
    "exempt": lambda: mw.release.limit_identification(TABLE, **LIMIT, exempt="area"),
    "blocks": lambda: mw.release.limit_identification(TABLE, **LIMIT, blocks="round"),
    "block_size": lambda: mw.release.limit_identification(TABLE, **LIMIT, block_size=1),
    "diagonal": lambda: mw.release.pram(TABLE, "area", diagonal=2),
    "delimiter": lambda: mw.microdata.read(__file__.replace(".py", ".csv"), delimiter="::"),
}


@pytest.mark.parametrize("parameter", CASES)
def test_an_error_carries_its_parameter(parameter: str, tmp_path: Path) -> None:
    call = CASES[parameter]
    if parameter == "delimiter":
        (tmp_path / "a.csv").write_text("x,y\n1,2\n")
        call = lambda: mw.microdata.read(tmp_path / "a.csv", delimiter="::")  # noqa: E731
    with pytest.raises(mw.MaskwellError) as caught:
        call()
    assert caught.value.parameter == parameter
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_an_error_about_no_argument_has_none() -> None:
    with pytest.raises(mw.MaskwellError) as caught:
        mw.risk.assess({"x": []}, keys="x")
    assert caught.value.parameter is None


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("within must be sex", "--within must be sex"),
        ("within=3 is wrong", "--within=3 is wrong"),
        ("Something else altogether.", "--within: Something else altogether."),
        ("withinness is another word", "--within: withinness is another word"),
        ("leave out --within", "leave out --within"),
    ],
)
def test_whatever_the_sentence_the_option_is_named(words: str, shown: str) -> None:
    assert in_options(mw.DataError(words, parameter="within"), options_of(release)) == shown


def test_parameters_without_an_option_keep_their_words() -> None:
    error = mw.DataError("backend must be one of a, b.", parameter="backend")
    assert in_options(error, options_of(plan)) == str(error)


def test_the_command_line_rewrites_no_sentence() -> None:
    """No pattern of words stands between a message of the library and the terminal."""
    for path in (Path(mw.__file__).parent / "cli").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert "re" not in names, path.name


@pytest.mark.parametrize(
    ("args", "option"),
    [
        (["plan", "--k", 3, "--epsilon", -1], "--epsilon"),
        (["plan", "--k", 3, "--diversity", 1], "--diversity"),
        (["plan", "--k", 3, "--rho1", 0.5, "--rho2", 0.1], "--rho1"),
        (["plan", "--categories", "a,a", "--epsilon", 1], "--categories"),
        (["risk", "a.csv", "--keys", "sex", "--population", 3], "--population"),
        (["release", "a.csv", "--keys", "sex,age", "--xi", 2, "-o", "o.csv"], "--xi"),
        (["release", "a.csv", "--keys", "sex,age", "--xi", 0.5, "--blocks", "round", "-o", "o.csv"], "--blocks"),
        (["release", "a.csv", "--keys", "sex,age", "--xi", 0.5, "--block-size", 1, "-o", "o.csv"], "--block-size"),
        (["release", "a.csv", "--keys", "sex,age", "--xi", 0.5, "--along", "sex", "-o", "o.csv"], "--along"),
        (["release", "a.csv", "--pram", "area", "--diagonal", 2, "-o", "o.csv"], "--diagonal"),
        (["release", "a.csv", "--pram", "areas", "--diagonal", 0.9, "-o", "o.csv"], "--pram"),
    ],
)
def test_commands_name_their_options(run: Run, args: list[Any], option: str) -> None:
    lines = [f"{s},{a},{r}" for s, a, r in zip(*TABLE.values(), strict=True)]
    Path("a.csv").write_text("sex,age,area\n" + "\n".join(lines) + "\n")
    assert_refused(run(*args), option)


def test_every_parameter_that_is_set_is_one_of_a_function() -> None:
    """A name that no function takes would lead nowhere."""
    package = Path(mw.__file__).parent
    taken, named = set(), set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                taken |= {argument.arg for argument in node.args.args + node.args.kwonlyargs}
            if isinstance(node, ast.ClassDef):
                taken |= {field.target.id for field in node.body if _is_field(field)}  # type: ignore[attr-defined]
            if isinstance(node, ast.Call) and re.fullmatch(r"\w+Error", getattr(node.func, "id", "")):
                for keyword in node.keywords:
                    if keyword.arg == "parameter" and isinstance(keyword.value, ast.Constant):
                        named.add(keyword.value.value)
    assert len(named) > 40
    assert named <= taken


def _is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
