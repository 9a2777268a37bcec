"""Pictures and pages of audits, comparisons and plans: they show the library's own numbers and need no network."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.auditing import BreachRegion, demand_curves
from maskwell.auditing.cautions import cautions
from maskwell.errors import DesignError
from maskwell.planning import frontier, half_width
from maskwell.results.numbers import figure, limit
from maskwell.views import (
    belief_chart,
    breach_chart,
    frontier_chart,
    matrix_chart,
    precision_chart,
    save_chart,
)
from maskwell.views.audit_figures import cost, findings
from maskwell.views.charts.beliefs import evidence
from maskwell.views.charts.breach_regions import demand_chart, published_figures
from maskwell.views.comparison import Comparison, compare_designs
from maskwell.views.pages.audit import audit_page
from maskwell.views.pages.compare import compare_page
from maskwell.views.pages.plan import plan_page
from maskwell.views.saving import rendered
from maskwell.views.threats import threats
from tests.page_reader import PageReader, assert_needs_no_network, rows_of

D = mw.designs
LABELS = ["never", "once", "often", "daily"]
GUIDE = Path(__file__).resolve().parents[1] / "docs" / "threat_model.md"
# The two designs of section 3.1 of nayak-zhai-2019.
P1 = D.from_matrix([["1/2", 0], [0, "1/2"], ["1/2", "1/2"]])
P2 = D.from_matrix([["7/10", "1/5"], ["3/10", "4/5"]])

DESIGNS = {
    "minimax": D.minimax(LABELS, epsilon=1),
    "sets": D.minimax(9, epsilon=0.5),
    "rappor": D.rappor(LABELS, epsilon=1),
    "diversity": D.local_diversity(LABELS, l=2),
    "direct": D.direct(3),
    "warner": D.warner(truth_prob=0.75),
    "kuk": D.kuk(red_if_yes=0.7, red_if_no=0.3, draws=5),
    "exposing": P1,
    "average": D.average_secure(LABELS, phi=1.5),
    "product": D.product(D.warner(truth_prob=0.75), D.minimax(3, epsilon=1), names=["a", "b"]),
}


def having(chart: Any, *fields: str) -> list[dict[str, Any]]:
    """The rows of a chart that have these fields, each once."""
    rows = (row for row in rows_of(chart.to_dict()) if all(field in row for field in fields))
    return list({json.dumps(row): row for row in rows}.values())


def title(chart: Any) -> str:
    return str(chart.to_dict()["title"]["text"])


# Breach regions


@pytest.mark.parametrize("demand", [mw.LDP(1), mw.BetaFactor(3), mw.RhoPrivacy(0.1, 0.5)])
def test_the_breach_chart_shows_the_design_and_its_demand(demand: mw.Demand) -> None:
    design = mw.plan(5, demand)
    region, (lower, upper, _) = BreachRegion(design.exact_parity()), demand_curves(demand)
    chart = breach_chart(mw.audit(design))
    rows = having(chart, "lower", "upper")
    shown = {(row["prior"], row["lower"], row["upper"]) for row in rows}
    for p in (0.1, 0.5):
        assert (p, region.lower(p), region.upper(p)) in shown
        assert (p, lower(p), upper(p)) in shown
    assert "All of it is ruled out" in str(chart.to_dict()["title"]["subtitle"])


def test_a_limit_in_the_title_is_never_too_low() -> None:
    for gamma in (3, 7.3):
        words = title(breach_chart(mw.audit(D.minimax(3, gamma=gamma))))
        stated = float(words.split("above ")[1].removesuffix(" %"))
        assert 0 <= stated / 100 - BreachRegion(gamma).upper(0.1) <= 0.001 + 1e-9


def test_a_demand_that_does_not_hold_is_said_so() -> None:
    weak = replace(D.minimax(3, gamma=9), demand=mw.BetaFactor(2))
    assert "NOT all of it is ruled out" in str(breach_chart(mw.audit(weak)).to_dict()["title"]["subtitle"])


def test_without_a_bound_everything_can_happen() -> None:
    chart = breach_chart(mw.audit(D.local_diversity(5, l=2)))
    assert "No change of belief is ruled out" in title(chart)
    assert "anything" in str(chart.to_dict()["title"]["subtitle"])


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    return published_figures()


def test_figure_1_overlaps_and_the_smaller_bound_asks_for_more(figures: dict[str, Any]) -> None:
    chart = figures["figure-1"]
    rows = having(chart, "lower", "upper")
    beta = [row for row in rows if row["prior"] == 0.1 and math.isclose(row["upper"], 0.3)]
    rho = [row for row in rows if row["prior"] == 0.1 and row["upper"] == 0.5]
    assert beta
    assert rho
    assert "β = 3 asks for more" in title(chart)
    assert "3 under β-factor, β = 3; 4 under 0.2-to-0.5" in str(chart.to_dict()["title"])


def test_figure_2_states_the_bound_of_its_curves(figures: dict[str, Any]) -> None:
    # The rise by 30 points is tightest at 0.35, between equal odds on both sides.
    assert f"{(0.65 / 0.35) ** 2:.3f}" in title(figures["figure-2"])


def test_figure_3_adds_what_the_opposite_belief_forbids(figures: dict[str, Any]) -> None:
    rows = having(figures["figure-3"], "implied_upper")
    for row in rows:
        p = row["prior"]
        assert row["upper"] == min(1, p + 0.3)
        assert row["lower"] == p / 4
        assert row["implied_upper"] == pytest.approx(min(row["upper"], 1 - (1 - p) / 4))
        assert row["implied_lower"] == pytest.approx(max(row["lower"], 1 - min(1, 1 - p + 0.3)))
    assert {"A", "B"} <= {row["text"] for row in having(figures["figure-3"], "text")}


def test_figure_4_is_nested(figures: dict[str, Any]) -> None:
    rows = having(figures["figure-4"], "lower", "upper")
    at = sorted(row["upper"] for row in rows if row["prior"] == 0.25)
    assert at == [BreachRegion(gamma).upper(0.25) for gamma in (2, 5, 20, 100)]


def test_demands_name_the_one_that_asks_for_most() -> None:
    assert "LDP asks" in title(demand_chart({"rho": mw.RhoPrivacy(0.1, 0.5), "LDP": mw.LDP(1)}))


# Beliefs


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "product"])
def test_evidence_is_bayes_rule(name: str) -> None:
    """Each kind of report moves a belief exactly as the audit's posterior does, from an uneven prior too."""
    design = DESIGNS[name]
    category, kinds = evidence(design)
    j, belief = design.categories.index(category), 0.3
    prior = np.full(design.k, (1 - belief) / (design.k - 1))
    prior[j] = belief
    audit = mw.audit(design)
    possible = [r for r, row in zip(design.report_labels(), design.matrix(), strict=True) if row.sum() > 0]
    by_audit = sorted({round(float(audit.posterior(report, prior)[j]), 9) for report in possible})
    assert sorted({round(kind.posterior(belief), 9) for kind in kinds}) == by_audit


def test_the_strongest_report_of_the_worst_category_is_named() -> None:
    chart = belief_chart(mw.audit(P1))
    assert "one report can be proof" in title(chart)
    assert {"report 0: proof", "report 2: tells nothing", "report 1: ruled out"} <= {
        row["text"].replace("\n", " ") for row in having(chart, "text")
    }
    assert "odds ÷ 3" in str(having(belief_chart(mw.audit(D.warner(truth_prob=0.75))), "text"))


def test_large_designs_have_a_belief_chart() -> None:
    _, kinds = evidence(D.minimax(5000, epsilon=1))
    design = D.minimax(5000, epsilon=1)
    s, gamma = design.sizes[0], design.parity
    expected = gamma * 4999 / ((s - 1) * gamma + 5000 - s)
    assert float(kinds[0].factor) == pytest.approx(expected, rel=1e-12)


def test_an_unknown_category_is_refused() -> None:
    with pytest.raises(DesignError, match="'yes'"):
        evidence(DESIGNS["minimax"], "yes")


# The matrix


@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in ("sets", "product")])
def test_the_heat_map_is_the_matrix(name: str) -> None:
    design = DESIGNS[name]
    cells = [row for row in rows_of(matrix_chart(design).to_dict()) if "chance" in row][
        : design.report_count() * design.k
    ]
    assert [cell["chance"] for cell in cells] == design.matrix().ravel().tolist()
    zeros = [cell["text"] for cell in cells if cell["chance"] == 0]
    assert set(zeros) <= {"0"}


@pytest.mark.parametrize("k", [2, 9, 20])
def test_every_column_of_the_matrix_keeps_its_name(k: int) -> None:
    drawn = rendered(
        matrix_chart(D.gamma_diagonal([f"answer number {i}" for i in range(k)], epsilon=1)), ".svg"
    ).decode()
    assert all(drawn.count(f">answer number {i}<") == 2 for i in range(k))


def test_a_large_matrix_has_no_picture() -> None:
    with pytest.raises(DesignError, match="at most"):
        matrix_chart(D.rappor(8, epsilon=1))


# Privacy against precision


def test_the_frontier_shows_every_point() -> None:
    epsilons, ls = [0.5, 1.0, 2.0], [2, 3]
    chart = frontier_chart(5, epsilons, ls)
    names = [name for name in D.DESIGNS if name != "block"]
    rows = having(chart, "setting", "added_variance", "best")
    for point in frontier(5, epsilons, ls, names):
        if math.isinf(point.added_variance):
            continue
        shown = [row for row in rows if row["design"] == point.name]
        assert any(row["added_variance"] == point.added_variance for row in shown), point
        assert any(row["guess"] == point.guess_probability for row in shown), point
        assert any(row["cost"] == cost(point.added_variance, 5) for row in shown), point
    assert title(chart) == "At every ε the minimax design needs the fewest respondents"


def test_cost_is_the_variance_inflation_at_equal_shares() -> None:
    design = D.rappor(5, epsilon=1)
    assert cost(design.added_variance, 5) == pytest.approx(mw.planning.variance_inflation(design, [0.2] * 5))


def test_designs_are_pointed_out_and_must_fit() -> None:
    chart = frontier_chart(4, [1.0], [2], highlight={"mine": DESIGNS["rappor"]})
    mine = having(chart, "design", "cost", "guess")
    assert any(row["design"] == "mine" and row["epsilon"] == DESIGNS["rappor"].epsilon for row in mine)
    with pytest.raises(DesignError, match="4 categories"):
        frontier_chart(4, [1.0], [2], highlight={"other": D.direct(3)})


def test_the_precision_chart_shows_half_widths() -> None:
    design = DESIGNS["minimax"]
    chart = precision_chart(design, 2000)
    for row in having(chart, "margin"):
        of = design if row["question"] == "masked" else D.direct(4)
        assert row["margin"] == half_width(of, row["n"], proportion=0.1)
    assert "2,000 respondents" in title(chart)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".html"])
def test_charts_are_saved(tmp_path: Path, suffix: str) -> None:
    audit = mw.audit(DESIGNS["minimax"])
    chart = {".png": matrix_chart(audit.design), ".svg": belief_chart(audit), ".html": breach_chart(audit)}[suffix]
    save_chart(chart, tmp_path / f"chart{suffix}")
    content = (tmp_path / f"chart{suffix}").read_bytes()
    starts = {".png": b"\x89PNG", ".svg": b"<svg", ".html": b"<!DOCTYPE html>"}
    assert content.startswith(starts[suffix])
    if suffix == ".html":
        assert_needs_no_network(content.decode())


# Pages


def test_the_audit_page_is_complete_in_itself() -> None:
    audit = mw.audit(DESIGNS["rappor"], prior=[0.4, 0.3, 0.2, 0.1])
    text = audit_page(audit)
    assert_needs_no_network(text)
    reader = PageReader(text)
    cells = [cell for row in reader.rows for cell in row]
    for number in (
        limit(audit.exact_parity),
        limit(audit.epsilon),
        figure(audit.added_variance),
        figure(audit.guess_probability),
        figure(mw.improve(audit.design).added_variance),
        audit.design.fingerprint,
    ):
        assert number in cells
    assert audit.why_not in cells
    words = " ".join(reader.words)
    for who in ("respondent", "interviewer", "methodologist"):
        assert str(mw.explain(audit.design, who)).replace("\n", " ") in words  # type: ignore[arg-type]
    assert len(reader.charts) == 3


@pytest.mark.parametrize("name", ["minimax", "sets", "rappor", "warner", "kuk"])
def test_a_page_writes_a_figure_one_way(name: str) -> None:
    """The parity and the chance of a right guess have the same digits in words, tables and charts."""
    audit = mw.audit(D.minimax(LABELS, epsilon=1.7) if name == "minimax" else DESIGNS[name])
    reader = PageReader(audit_page(audit))
    labels = [row["shift"] for chart in reader.charts for row in rows_of(chart) if "shift" in row]
    numbers = set(re.findall(r"(?<![\d.])\d+\.\d+(?![\d %])", " ".join([*reader.words, *labels])))
    shown = {limit(audit.exact_parity): audit.parity, figure(audit.guess_probability): audit.guess_probability}
    for written, value in shown.items():
        assert {one for one in numbers if abs(float(one) / value - 1) < 0.004} <= {written}


@pytest.mark.parametrize("name", list(DESIGNS))
def test_every_figure_of_an_audit_is_told(name: str) -> None:
    audit = mw.audit(DESIGNS[name])
    told = {row.name: row.value for rows in findings(audit).values() for row in rows}
    assert told["parity"] == limit(audit.exact_parity)
    assert told["proof of the truth"] == figure(audit.exposure)
    assert told["average security"] == figure(audit.average_security)
    assert told["admissible"] == ("yes" if audit.admissible else "NO")
    assert told["rank"] == f"{audit.rank} of {audit.design.k}"


def test_warnings_stand_on_the_page() -> None:
    audit = mw.audit(D.average_secure(3, phi=1.5))
    words = " ".join(PageReader(audit_page(audit)).words)
    assert audit.warnings
    assert all(warning in words for warning in audit.warnings)


def test_a_page_for_thousands_of_categories() -> None:
    text = audit_page(mw.audit(D.minimax(5000, epsilon=1)))
    assert_needs_no_network(text)
    assert len(PageReader(text).charts) == 2


@pytest.fixture(scope="module")
def section_3_1() -> Comparison:
    return compare_designs({"P1": P1, "P2": P2})


def test_the_comparison_says_which_design_exposes_the_respondent(section_3_1: Comparison) -> None:
    verdicts = section_3_1.verdicts()
    assert verdicts[0].startswith("P1 exposes the respondent: with chance 0.5 ")
    assert verdicts[1] == "P2 never proves an answer."
    assert "same average security, φ = 1.5, and yet only P1 exposes" in verdicts[2]


def test_the_compare_page_has_verdicts_figures_and_proofs(section_3_1: Comparison) -> None:
    text = compare_page(section_3_1)
    assert_needs_no_network(text)
    reader = PageReader(text)
    words = " ".join(reader.words)
    assert all(verdict in words for verdict in section_3_1.verdicts())
    assert ["parity", "unbounded", "3.5"] in reader.rows
    assert ["proof of the truth", "0.5", "0"] in reader.rows
    domination = section_3_1.order["P1", "P2"]
    assert not isinstance(domination, str)
    assert domination.C is not None
    printed = [[figure(value) for value in line] for line in domination.C.tolist()]
    assert [row[1:] for row in reader.rows if row[1:] in printed] == printed
    assert "without limit" in section_3_1.reason("P2", "P1")
    match = section_3_1.matches["P2"]
    assert any(limit(match.gamma) in row for row in reader.rows)


def test_a_better_design_at_the_same_privacy_should_replace_the_other() -> None:
    both = compare_designs({"plain": D.rappor(4, epsilon=1), "trimmed": D.trimmed_rappor(4, epsilon=1)})
    assert any("trimmed should replace plain" in verdict for verdict in both.verdicts())
    same = compare_designs({"one": D.minimax(3, gamma=4), "two": D.gamma_diagonal(3, gamma=4)})
    assert any("exactly the same" in verdict for verdict in same.verdicts())


def test_designs_for_other_questions_are_refused() -> None:
    with pytest.raises(DesignError, match="not for the same categories"):
        compare_designs({"one": D.direct(3), "two": D.direct(["a", "b", "c"])})
    with pytest.raises(DesignError, match="two designs or more"):
        compare_designs({"one": D.direct(3)})


def test_the_plan_page_says_what_it_costs() -> None:
    design = mw.plan(LABELS, mw.LDP(2), n=1500)
    text = plan_page(design, 1500)
    assert_needs_no_network(text)
    reader = PageReader(text)
    widths = [f"± {100 * half_width(of, 1500, proportion=0.1):.2f}" for of in (design, D.direct(4))]
    assert ["10 %", *widths] in reader.rows
    needed = f"{mw.planning.sample_size(design, 0.02, proportion=0.5):,}"
    assert any(needed in row for row in reader.rows)
    assert len(reader.charts) == 3


def test_a_plan_that_cannot_estimate_has_a_page_too() -> None:
    text = plan_page(D.collapse(4, groups=[[0, 1], [2, 3]]))
    assert "Not everything can be estimated" in text


# The threat model


def headings() -> set[str]:
    return {line.lstrip("# ") for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("#")}


@pytest.mark.parametrize("name", list(DESIGNS))
def test_every_threat_has_a_section(name: str) -> None:
    assert {threat.section for threat in threats(mw.audit(DESIGNS[name]))} <= headings()


def test_threats_state_the_numbers_of_the_design() -> None:
    audit = mw.audit(DESIGNS["minimax"])
    words = {threat.section: threat.words for threat in threats(audit)}
    assert f"to {limit(audit.parity**2)}" in words["Repeated answers"]
    assert f"{figure(audit.report_influence)} respondents" in words["False reports"]
    assert f"takes {limit(audit.epsilon)}" in words["Several questions, several collectors"]


def test_every_caution_has_a_section() -> None:
    """Each sentence that the audit can print, by how it starts, and where the threat model tells more."""
    sections = {
        "The design does not meet": "A demand that does not hold",
        "The respondent is exposed": "Reports that prove the answer",
        "Parity is": "Infinite or large parity",
        "Average security": "Average security",
        "Each report leaves": "Side information",
        "Not everything": "What cannot be estimated",
        "Mutual information": "Leakage known within limits",
    }
    examples = [
        mw.audit(replace(D.minimax(3, gamma=30), demand=mw.LDP(1))),
        mw.audit(D.average_secure(3, phi=1.5)),
        mw.audit(D.local_diversity(6, l=3)),
        mw.audit(D.collapse(4, groups=[[0, 1], [2, 3]])),
        mw.audit(D.rappor(60, epsilon=1), prior=np.arange(1, 61) / 1830),
    ]
    printed = [sentence for audit in examples for sentence in cautions(audit)]
    for sentence in printed:
        assert any(sentence.startswith(start) for start in sections), sentence
    for start, section in sections.items():
        assert any(sentence.startswith(start) for sentence in printed), start
        assert section in headings()


def test_the_threat_model_names_every_design_and_stays_short() -> None:
    text = GUIDE.read_text("utf-8")
    assert len(text.splitlines()) < 190
    for words in ("repeat", "collector", "key", "seed", "timing", "device", 'missing="keep"', "l-diversity", "subset"):
        assert words.lower() in text.lower()
