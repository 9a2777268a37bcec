"""The gallery has every picture: each chart function is drawn there, by name or as the picture of a result."""

import ast
from pathlib import Path

import pytest

import maskwell
from tools.docs_site.blocks import PICTURE, blocks

PACKAGE = Path(maskwell.__file__).parent
ROOT = Path(__file__).resolve().parents[1]
BLOCKS = [
    block.code for block in blocks((ROOT / "docs" / "gallery.md").read_text("utf-8")) if block.language == PICTURE
]
GALLERY = "\n".join(BLOCKS)
# Of views/charts: axes, layers and labels that charts are made of.
PARTS = {"across", "count_axis", "diagonal", "label", "square", "up"}
# The line of the gallery that draws the picture of a result, by the class that `views/pictures.py` draws.
DRAWN = {
    "Audit": "audit.plot()",
    "BaseRelease": "release.plot()",
    "Change": "mw.rounds.change(first, second).plot()",
    "Codebook": 'mw.codebook(design, "habit").plot()',
    "Comparison": "compare_designs({",
    "Compliance": 'mw.compliance(groups, {"always no": "no"}).plot()',
    "ComplianceBounds": 'mw.compliance_bounds(groups[0], {"always no": "no"}).plot()',
    "CompliancePlan": "mw.planning.compliance_groups(",
    "Correlations": "mw.correlations(items).plot()",
    "Design": "design.plot()",
    "Effects": "fit.marginal_effects().plot()",
    "Estimate": "estimate.plot()",
    "FileComparison": "association_chart(comparison)",
    "GainLeakage": ".gain_leakage(",
    "GroupEstimates": "mw.estimate_by(reports, region).plot()",
    "HypothesisTest": 'mw.independence_test(two.mask(few, seed=74).tally(), method="lrt").plot()',
    "IdentificationAudit": "release.audit.plot()",
    "Optimum": "mw.release.most_informative(",
    "PowerCurve": "mw.planning.power_curve(",
    "Recoded": "coarser, suppress=3).plot()",
    "RecodingSearch": "ladder, k=5, suppress=0.05).plot()",
    "Regression": "fit.plot()",
    "RegressionPlan": "mw.planning.plan_regression(",
    "Reports": "reports.plot()",
    "RiskReport": "risk.plot()",
    "RiskTarget": "found.plot()",
    "SimulatedCurve": "mw.planning.simulated_curve(",
    "Sample": "mw.Sample(",
    "SumScore": "mw.sum_score(items).plot()",
    "Tally": "reports.plot()",
    "Top": ".top(10).plot()",
    "Totals": "mw.estimate_totals(",
}


def functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]


def charts() -> set[str]:
    """The functions of ``views/charts`` that give a chart, by module and name."""
    return {
        f"{path.stem}.{node.name}"
        for path in (PACKAGE / "views" / "charts").rglob("*.py")
        for node in functions(path)
        if not node.name.startswith("_") and node.returns and ast.unparse(node.returns) == "Any"
    } - {f"{path.stem}.{part}" for path in (PACKAGE / "views" / "charts").rglob("*.py") for part in PARTS}


def names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def pictures() -> dict[str, set[str]]:
    """The classes that have a picture, and the names that drawing it uses."""
    tree = ast.parse((PACKAGE / "views" / "pictures.py").read_text("utf-8"))
    tables = {
        target.id: names_in(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "_":
            used = names_in(node)
            assert node.args.args[0].annotation
            of = ast.unparse(node.args.args[0].annotation)
            found[of] = used.union(*(tables[name] for name in used & set(tables)))
    return found


def undrawn(gallery: str) -> set[str]:
    """The charts that no line of the gallery draws."""
    shown = {name for of, names in pictures().items() if DRAWN.get(of, "\0") in gallery for name in names}
    called = {name.id for name in ast.walk(ast.parse(gallery)) if isinstance(name, ast.Name)}
    return {chart for chart in charts() if chart.rpartition(".")[2] not in shown | called}


def test_every_chart_is_in_the_gallery() -> None:
    assert len(charts()) > 25
    assert undrawn(GALLERY) == set()


def test_every_picture_of_a_result_is_in_the_gallery() -> None:
    assert set(pictures()) == set(DRAWN)
    assert {of: line for of, line in DRAWN.items() if line not in GALLERY} == {}


@pytest.mark.parametrize(
    ("line", "chart"),
    [
        ("risk.plot()", "risk.sizes_chart"),
        ("belief_chart", "beliefs.belief_chart"),
        ("compliance_bounds", "compliance.bounds_chart"),
    ],
)
def test_a_picture_that_is_left_out_is_found(line: str, chart: str) -> None:
    assert chart in undrawn("\n".join(block for block in BLOCKS if line not in block))
