"""Every result shows itself: as text, as plain values, as a frame, as a table in a notebook, and as a picture."""

import ast
import importlib
import inspect
import json
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from maskwell.errors import MaskwellError
from maskwell.plain_json import json_text
from maskwell.results.result import Result
from maskwell.views.comparison import compare_designs
from tests.page_reader import PageReader
from tools.docs_site.names import found as by_name
from tools.docs_site.names import public_names

pytestmark = pytest.mark.filterwarnings("ignore::maskwell.errors.SimulationWarning")

HOSTILE = "<b>a & b</b>"
D = mw.designs
DESIGN = D.minimax([HOSTILE, "b", "c"], epsilon=1)


@cache
def reports() -> mw.Reports:
    return DESIGN.mask(np.random.default_rng(1).choice([HOSTILE, "b", "c"], 900, p=[0.5, 0.3, 0.2]), seed=1)


@cache
def two() -> Any:
    design = D.product(DESIGN, D.warner(truth_prob=0.8), names=["one", "two"])
    rng = np.random.default_rng(2)
    table = {"one": rng.choice([HOSTILE, "b", "c"], 2000), "two": rng.choice(["yes", "no"], 2000)}
    return design.mask(table, seed=2).tally()


@cache
def items() -> mw.Reports:
    item = D.warner([HOSTILE, "no"], truth_prob=0.9)
    table = np.random.default_rng(6).choice([HOSTILE, "no"], (400, 2))
    return D.product(item, item, names=["one", "two"]).mask(table, seed=6)


@cache
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    columns = {"sex": ["f", "m"], "age": range(18, 60), "region": [HOSTILE, "south", "east"], "ill": ["no", "yes"]}
    return pd.DataFrame({name: rng.choice(list(levels), 400) for name, levels in columns.items()})


@cache
def release() -> Any:
    return mw.release.limit_identification(people(), keys=["sex", "age", "region"], xi=0.5, within=["sex"], seed=1)


@cache
def pram() -> Any:
    return mw.release.pram(people(), "region", diagonal=0.8, seed=2)


@cache
def regression() -> Any:
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"x": rng.normal(size=900)})
    binary = D.warner(truth_prob=0.8)
    answers = np.where(data["x"] + rng.normal(size=900) > 0, "yes", "no")
    return mw.regress("y ~ x", data, masked={"y": binary.mask(answers, seed=5)})


@cache
def change() -> Any:
    from maskwell import rounds

    design = rounds.rappor(4, f=0.5, p=0.5, q=0.75)
    first, second = (design.mask(np.random.default_rng(i).integers(0, 4, 500), seed=i) for i in (1, 2))
    return rounds.change(first, second, same_people=False)


@cache
def asked_twice() -> list[mw.Tally]:
    designs = [D.forced_response([HOSTILE, "no"], yes_prob=p, no_prob=0) for p in ("1/6", "5/6")]
    return [mw.Tally.from_counts(d, counts) for d, counts in zip(designs, ([320, 680], [780, 220]), strict=True)]


@cache
def regression_plan() -> Any:
    masked = {"used": D.warner(truth_prob=0.9)}
    return mw.planning.plan_regression(
        "used ~ age", {"age": np.linspace(-2, 2, 50)}, masked=masked, coefficients={"Intercept": -1.0, "age": 0.6}
    )


@cache
def hand_over() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return mw.handover.write({"answer": reports()}, folder, title="A survey", format="csv")


@cache
def masked_file() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "people.csv"
        people().to_csv(source, index=False)
        masking = mw.engines.Masking({"ill": D.warner(["no", "yes"], truth_prob=0.8)})
        return mw.engines.mask_file(str(source), f"{folder}/masked.parquet", masking)


RESULTS: dict[str, Callable[[], Any]] = {
    "Design": lambda: DESIGN,
    "Reports": reports,
    "Tally": lambda: reports().tally(),
    "LinearEstimate": lambda: mw.estimate(reports()),
    "LikelihoodEstimate": lambda: mw.estimate(reports(), "likelihood"),
    "GroupEstimates": lambda: mw.estimate_by(reports(), [HOSTILE, "b", "c"] * 300),
    "Top": lambda: mw.estimate(reports()).top(2),
    "JointTable": lambda: mw.estimate(two()),
    "CramersV": lambda: mw.estimate(two()).association(),
    "Contrast": lambda: mw.estimate(reports()).contrast({"b": 1.0}),
    "Sample": lambda: mw.Sample(weights=np.ones(900), clusters=np.arange(900) // 9),
    "Totals": lambda: mw.estimate_totals(reports().tally(weights=np.ones(900))),
    "Quotient": lambda: mw.ratio(reports(), {"b": 1.0}, {"c": 1.0}),
    "Correlations": lambda: mw.correlations(items()),
    "SumScore": lambda: mw.sum_score(items()),
    "PowerCurve": lambda: mw.planning.power_curve(DESIGN, 0.1, baseline=0.2),
    "SimulatedPower": lambda: mw.planning.power_of_homogeneity(DESIGN, [[0.2, 0.3, 0.5]] * 2, [50, 50], surveys=9),
    "SimulatedCurve": lambda: mw.planning.simulated_curve(
        lambda n: mw.planning.power_of_homogeneity(DESIGN, [[0.2, 0.3, 0.5]] * 2, [n, n], surveys=9), [20, 40]
    ),
    "HypothesisTest": lambda: mw.independence_test(two()),
    "Regression": regression,
    "Effects": lambda: regression().marginal_effects(),
    "Change": change,
    "Compliance": lambda: mw.compliance(asked_twice(), {"always no": "no"}),
    "AmongAll": lambda: mw.compliance(asked_twice(), {"always no": "no"}).among_all(),
    "ComplianceBounds": lambda: mw.compliance_bounds(asked_twice()[0], {"any": "random"}, points=3),
    "CompliancePlan": lambda: mw.planning.compliance_groups(
        [tally.design for tally in asked_twice()],
        {"always no": "no"},
        proportions=[0.2, 0.8],
        shares={"always no": 0.1},
        n=500,
    ),
    "Audit": lambda: mw.audit(DESIGN),
    "GainLeakage": lambda: mw.audit(DESIGN).gain_leakage({HOSTILE: {HOSTILE: 2}, "other": {"b": 1, "c": 1}}),
    "EmpiricalAudit": lambda: mw.audit_sampler(DESIGN, n=20_000, seed=1),
    "Codebook": lambda: mw.codebook(DESIGN, HOSTILE),
    "Explanation": lambda: mw.explain(DESIGN),
    "designs compared": lambda: compare_designs({"a": DESIGN, HOSTILE: D.rappor(DESIGN.categories, epsilon=1)}),
    "RiskReport": lambda: mw.risk.assess(people(), keys=["sex", "age", "region"]),
    "Release": release,
    "IdentificationPlan": lambda: release().plan,
    "IdentificationAudit": lambda: release().audit,
    "Attack": lambda: release().attack(),
    "files compared": lambda: release().comparison(),
    "AddedVariance": lambda: release().added_variance("region"),
    "PramRelease": pram,
    "PramPlan": lambda: pram().plan,
    "PramEstimate": lambda: pram().estimate(),
    "Optimum": lambda: mw.release.most_informative([0.5, 0.3, 0.2], epsilon=1),
    "RiskTarget": lambda: mw.release.epsilon_for_risk(
        people(), ["region"], keys=["sex", "age", "region"], target=0.001, population_size=4000
    ),
    "BlockComparison": lambda: mw.release.compare_blocks(
        people(), ["sex", "region"], 0.5, ways=["whole"], sizes=[3], seed=1
    ),
    "RoundsPrivacy": lambda: mw.rounds.privacy(mw.rounds.rappor(4, f=0.5, p=0.5, q=0.75), rounds=10, values=1),
    "RegressionPlan": lambda: regression_plan(),
    "SimulatedRegression": lambda: regression_plan().simulate("age", 400, surveys=5),
    "Recoded": lambda: mw.release.recode(people(), ["age", "region"], {"age": mw.release.intervals(10)}),
    "RecodingSearch": lambda: mw.release.search_recoding(
        people(), ["age", "sex"], {"age": [mw.release.intervals(10), mw.release.intervals(20)]}, k=2
    ),
    "Allowance": lambda: mw.planning.demand_for(10, 5000, 0.05),
    "Composition": lambda: mw.planning.compose([DESIGN, DESIGN], ["one", HOSTILE]),
    "Split": lambda: mw.planning.split_epsilon(2.0, [2, 10]),
    "Match": lambda: mw.planning.match_added_variance(10, 7),
    "DummyEstimate": lambda: mw.planning.estimate_beside_dummies(
        mw.planning.dummy_design([HOSTILE, "b"]).mask([HOSTILE, "b", "b"] * 100, seed=7).tally(), 0
    ),
    "Identifiability": lambda: mw.planning.identifiability(
        D.collapse([HOSTILE, "b", "c"], groups=[[HOSTILE, "b"], ["c"]])
    ),
    "Domination": lambda: mw.dominates(DESIGN, D.minimax(DESIGN.categories, epsilon=0.5)),
    "Equivalence": lambda: mw.equivalent(DESIGN, DESIGN),
    "Price": lambda: mw.release.price_of_restriction([0.5, 0.3, 0.2], epsilon=1),
    "Projection": lambda: mw.estimate(reports()).projected(),
    "Intruders": lambda: release().intruders,
    "Outcome": masked_file,
    "Question": lambda: mw.questionnaires.ask(D.warner(truth_prob=0.75), "Did you ever?", name="q1", device="cards"),
    "HandOver": hand_over,
}
# One number with its limits, sentences, or a list of files: a picture would say no more than the line does.
WITHOUT_PICTURE = {"CramersV", "Contrast", "EmpiricalAudit", "Explanation", "Attack"}
WITHOUT_PICTURE |= {"Quotient", "SimulatedPower", "BlockComparison", "RoundsPrivacy", "Question", "HandOver"}
WITHOUT_PICTURE |= {"SimulatedRegression", "IdentificationPlan", "PramPlan", "AddedVariance", "PramEstimate"}
WITHOUT_PICTURE |= {"Allowance", "Composition", "Split", "Match", "DummyEstimate", "Identifiability", "Domination"}
WITHOUT_PICTURE |= {"Equivalence", "Price", "Projection", "Intruders", "Outcome", "AmongAll"}

NO_RESULTS = {
    # What is given to other functions: files, tables, settings, keys of a survey.
    *(
        "Arms",
        "Behaviour",
        "Column",
        "Combination",
        "Demand",
        "Device",
        "EncodedTable",
        "Hierarchy",
        "Ledger",
        "Masking",
    ),
    *("Microdata", "Recipe", "Recode", "Variable", "BlockEntry"),
    # Parts of a design or of a result, which show themselves in it.
    *("Batch", "Codec", "Channel", "Sampler", "Scores", "Space", "Embedding", "Patterns", "Moments", "Entry"),
    *("BinomialModel", "VarianceModel"),
    *("BitsSampler", "BlockSampler", "HyperplaneSampler", "RowSampler", "TwoTablesSampler"),
    *("BreachRegion", "ColumnAttack", "Derivations", "Driver", "RepeatedValues", "Tallies"),
}
"""Classes that public functions return and that are no results, or whose subclasses are none."""


@pytest.mark.parametrize("name", list(RESULTS))
def test_a_result_shows_itself(name: str) -> None:
    result = RESULTS[name]()
    assert isinstance(result, Result)
    summary = result.summary()
    assert summary.strip()
    assert isinstance(json.loads(json_text(result.to_dict())), dict)
    assert len(result.to_frame()) > 0
    html = result._repr_html_()
    assert "<pre" not in html
    assert "tabular-nums" in html
    assert HOSTILE not in html
    assert PageReader(html).rows
    if name in WITHOUT_PICTURE:
        with pytest.raises(MaskwellError, match="no picture"):
            result.plot()
    else:
        assert result.plot().to_dict()["title"]["text"]


def test_a_result_without_a_summary_of_its_own_prints_its_table() -> None:
    lines = reports().tally().summary().splitlines()
    assert lines[0] == "tally of 900 seeded reports of a minimax design"
    counts = reports().tally().inclusions
    assert [line.split()[-1] for line in lines[-3:]] == [f"{count:,}" for count in counts]


def test_a_long_table_shows_the_largest_and_says_so() -> None:
    estimate = mw.estimate(D.minimax(300, epsilon=2).mask(np.arange(3000) % 300, seed=1))
    html = estimate._repr_html_()
    assert "The 20 largest of 300 lines; to_frame() has them all." in html
    largest = str(estimate.design.categories[int(np.argmax(estimate.proportions))])
    rows = [row for row in PageReader(html).rows if len(row) == 5]
    assert (rows[1][0], len(rows)) == (largest, 21)


def test_digits_of_a_column_stand_under_each_other() -> None:
    rows = [row for row in PageReader(mw.estimate(reports())._repr_html_()).rows if len(row) == 5][1:]
    for column in range(1, 5):
        assert len({len(row[column].split(".")[1]) for row in rows}) == 1


def concrete_results() -> dict[str, type]:
    """Every class of results that is not abstract, by the module that it is in."""
    package = Path(mw.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if "(Result" in path.read_text(encoding="utf-8"):
            importlib.import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))
    found, waiting = {}, [Result]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("maskwell.") and not inspect.isabstract(kind) and kind is not Result:
            found[f"{kind.__module__}.{kind.__name__}"] = kind
    return found


def test_every_class_of_results_is_shown_here() -> None:
    """A kind of design, estimate or plan shows itself as its base does, so that one of a kind will do."""
    shown = {base for make in RESULTS.values() for base in type(make()).__mro__} - set(Result.__mro__)
    assert {name for name, kind in concrete_results().items() if shown.isdisjoint(kind.__mro__)} == set()


def _classes() -> dict[str, list[ast.ClassDef]]:
    found: dict[str, list[ast.ClassDef]] = {}
    for path in Path(mw.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


CLASSES = _classes()


def returned() -> dict[str, list[str]]:
    """The classes of ours that public functions, methods and properties say they return, and which these are."""
    found: dict[str, list[str]] = {}
    for name in public_names():
        thing = by_name(name)
        members = [(name, thing)]
        if inspect.isclass(thing):
            members = [(f"{name}.{member}", inspect.getattr_static(thing, member)) for member in dir(thing)]
            members = [(place, value) for place, value in members if not place.rpartition(".")[2].startswith("_")]
        for place, value in members:
            for wrapping in ("fget", "func", "__func__"):
                value = getattr(value, wrapping, value)
            stated = getattr(value, "__annotations__", {}).get("return") if inspect.isfunction(value) else None
            text = stated if isinstance(stated, str) else getattr(stated, "__name__", str(stated))
            for word in set(re.findall(r"\w+", text)) & set(CLASSES):
                found.setdefault(word, []).append(place)
    return found


def test_what_public_functions_return_is_a_result() -> None:
    """Every class that they name is a result, a tuple with names, or is listed as none with its reason."""
    results = _names_below("Result")
    apart = {name for base in NO_RESULTS for name in _names_below(base)}
    wrong = {name: places for name, places in returned().items() if name not in results | apart | _named_tuples()}
    assert wrong == {}
    assert {"Domination", "Compliance", "RecodingSearch", "GainLeakage", "HandOver", "RegressionPlan"} <= set(
        returned()
    )


def _names_below(base: str) -> set[str]:
    """The class of this name and those that are made from it."""
    found, waiting = set(), [base]
    while waiting:
        name = waiting.pop()
        found.add(name)
        below = [one for one, nodes in CLASSES.items() for node in nodes if name in map(ast.unparse, node.bases)]
        waiting += [one for one in below if one not in found]
    return found


def _named_tuples() -> set[str]:
    return {name for name, nodes in CLASSES.items() if all("NamedTuple" in map(ast.unparse, n.bases) for n in nodes)}


def test_all_results_have_the_same_forms_under_the_same_names() -> None:
    for name, kind in concrete_results().items():
        for form in ("summary", "to_frame", "to_dict", "plot", "_repr_html_"):
            assert callable(getattr(kind, form)), (name, form)
        assert not {"as_dict", "to_pandas", "show", "describe", "draw"} & set(dir(kind)), name


def test_dir_shows_the_api_and_nothing_else() -> None:
    assert sorted([*mw.__all__, "__version__"]) == dir(mw)


def test_privacy_is_rounded_in_one_way_everywhere() -> None:
    """ln 4 is 1.387 beside an estimate, in a regression, in an audit and in a table of groups: rounded up."""
    spinner = mw.designs.warner(truth_prob=0.8)
    reports = spinner.mask(["yes", "no"] * 200, seed=1)
    age = np.tile([0.0, 0.0, 1.0, 1.0], 100)
    for text in (
        mw.estimate(reports).summary(),
        mw.regress("used ~ age", {"age": age}, masked={"used": reports}).summary(),
        mw.audit(spinner).summary(),
        mw.estimate_by(reports, ["a", "b"] * 200).summary(),
    ):
        assert "1.387" in text
        assert "1.38629" not in text


def test_a_p_value_far_out_is_said_to_be_small() -> None:
    """Its digits are those of an approximation; to_dict has them."""
    design = mw.designs.direct(["yes", "no"])
    found = mw.homogeneity_test([mw.Tally.from_counts(design, counts) for counts in ([900, 100], [100, 900])])
    assert "p < 0.0001 (" in str(found)
    assert 0 <= found.to_dict()["p_value"] == found.p_value < 1e-4
    near = mw.homogeneity_test([mw.Tally.from_counts(design, counts) for counts in ([700, 300], [650, 350])])
    assert "p = 0.01701 (" in str(near)
