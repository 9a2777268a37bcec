"""Long lists of categories: which design is taken and why, the most frequent ones, and views that stay short."""

import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import maskwell as mw
from maskwell.cli import main
from maskwell.designs.choice import MOST_IN_SETS, WORTH_SETS, report_bits
from maskwell.planning import why_taken
from maskwell.planning.matching import _parity, match_added_variance
from maskwell.views.charts.estimate import top_chart
from maskwell.views.comparison import compare_designs
from maskwell.views.pages.compare import compare_page
from maskwell.views.pages.plan import plan_page

K = 70_000


# Which design.


@pytest.mark.parametrize(
    ("k", "epsilon", "name"),
    [
        (5, 1.0, "minimax"),
        (MOST_IN_SETS, 1.0, "minimax"),
        (MOST_IN_SETS + 1, 1.0, "projective"),
        (K, 1.0, "projective"),
        (K, 8.0, "projective"),
        (K, 20.0, "minimax"),  # whose sets have one member
        (1_000_000, 12.0, "gamma_diagonal"),  # no space has room
    ],
)
def test_the_plan_takes_what_is_best_for_k(k: int, epsilon: float, name: str) -> None:
    design = mw.plan(k, mw.LDP(epsilon))
    assert design.name == name
    assert design.demand == mw.LDP(epsilon)
    assert design.exact_parity() <= mw.LDP(epsilon).exact_bound()
    assert why_taken(design)
    assert report_bits(design) <= max(MOST_IN_SETS, 26)


def test_nothing_that_can_be_built_has_a_tenth_less_error() -> None:
    for k, epsilon in itertools.product((4200, 20_000), (0.05, 0.35, 1.0, 3.0, 6.0, 8.0, 9.0)):
        taken = mw.plan(k, mw.LDP(epsilon)).added_variance
        assert taken <= WORTH_SETS * mw.designs.minimax(k, epsilon=epsilon).added_variance


@pytest.mark.parametrize("demand", [mw.RhoPrivacy(Fraction(1, 10), Fraction(1, 2)), mw.BetaFactor(4)])
def test_other_demands_take_it_too(demand: mw.Demand) -> None:
    design = mw.plan(K, demand)
    assert design.name == "projective"
    assert design.demand == demand
    assert demand.holds_for(design)


def test_the_reason_states_figures_of_the_design() -> None:
    reason = why_taken(mw.plan(K, mw.LDP(1)))
    bits = (mw.designs.projective(K, epsilon=1).report_count() - 1).bit_length()
    assert f"a hyperplane is {bits} bits" in reason
    # The price of q = 4 for many categories: (e + 3)^2 / (12 e) - 1.
    assert f"{100 * ((math.e + 3) ** 2 / (12 * math.e) - 1):.1f} % more" in reason
    assert why_taken(mw.designs.rappor(5, epsilon=1)) == ""
    assert reason in mw.audit(mw.plan(K, mw.LDP(1))).summary()


def test_sets_of_too_many_categories_point_to_the_design_that_has_room() -> None:
    with pytest.raises(mw.DesignError, match=r"65536 categories; got 70000\. Use projective"):
        mw.designs.minimax(K, epsilon=1)


def test_what_needs_a_table_of_a_million_categories_is_refused_with_a_way_out() -> None:
    tally = mw.plan(100_000, mw.LDP(1)).mask([0, 1, 2], seed=1).tally()
    with pytest.raises(mw.EstimationError, match=r"compares all 100,000 categories.*contrast"):
        mw.homogeneity_test([tally, tally])
    with pytest.raises(mw.DesignError, match="Use projective"):
        mw.designs.block(100_000, epsilon=1)


def test_matching_tries_all_sizes_at_once() -> None:
    """The sizes that are left out are worse, exactly."""
    for k, variance in itertools.product((2, 7, 60), (Fraction(1, 10**12), Fraction(1, 9), 5, 300, 10**9)):
        roots = {q: root for q in range(1, k) if (root := _parity(k, q, Fraction(variance))) is not None}
        assert match_added_variance(k, variance).gamma == pytest.approx(float(min(roots.values())), rel=1e-15)
    assert match_added_variance(1_000_000, 3.7e6).epsilon < 1


# The most frequent.


def test_top_is_the_head_of_the_estimate() -> None:
    design = mw.designs.projective([f"host {i}" for i in range(5000)], epsilon=2)
    truths = np.repeat(["host 17", "host 4000", "host 3"], [6000, 3000, 1000])
    estimate = mw.estimate(design.mask(truths, seed=3))
    largest = estimate.top(5)
    assert largest.categories[:2] == ("host 17", "host 4000")
    np.testing.assert_array_equal(largest.proportions, np.sort(estimate.proportions)[::-1][:5])
    whole = estimate.interval(0.95, "clopper-pearson", simultaneous=True)
    np.testing.assert_array_equal(largest.limits, whole[largest.positions])
    assert largest.rank_limits[0].tolist() == [1, 1]
    assert largest.rank_limits[1].tolist() == [2, 2]
    assert (largest.rank_limits[:, 0] <= np.arange(1, 6)).all()
    assert (largest.rank_limits[:, 1] >= np.arange(1, 6)).all()
    frame = largest.to_frame()
    assert frame["category"].tolist()[0] == "host 17"
    assert len(frame) == len(largest) == 5
    assert "5,000 categories together" in largest.summary()
    assert "seed" in largest.summary()
    text = json.dumps(top_chart(largest).to_dict())
    assert "the 5 largest of 5,000 categories" in text
    assert len(mw.estimate(mw.designs.minimax(4, epsilon=1).mask([0, 1] * 50, seed=1)).top(9)) == 4


@pytest.mark.parametrize("n", [0, -1, 2.5, "a", None])
def test_top_needs_a_number(n: object) -> None:
    estimate = mw.estimate(mw.designs.minimax(4, epsilon=1).mask([0, 1] * 50, seed=1))
    with pytest.raises(mw.EstimationError, match="n must be"):
        estimate.top(n)  # type: ignore[arg-type]


def test_places_by_their_definition() -> None:
    estimate = mw.estimate(mw.designs.gamma_diagonal(12, epsilon=3).mask(np.arange(2000) % 12 % 5, seed=5))
    limits = estimate.interval(0.95, "clopper-pearson", simultaneous=True)
    for at, (first, last) in zip(*(lambda t: (t.positions, t.rank_limits.tolist()))(estimate.top(12)), strict=True):
        assert first == 1 + (limits[:, 0] > limits[at, 1]).sum()
        assert last == (limits[:, 1] >= limits[at, 0]).sum()


def test_exact_limits_are_the_same_for_equal_counts() -> None:
    """Limits for different counts only, against one by one, and where chances differ by category."""
    estimate = mw.estimate(mw.designs.projective(300, epsilon=1).mask(np.arange(1000) % 7, seed=2))
    whole = estimate.interval(method="clopper-pearson")
    given, other = estimate.design.inclusion_probabilities()
    from scipy.stats import beta

    for at in (0, 3, 299):
        held = int(estimate.tally.inclusions[at])
        low, high = beta.ppf(0.025, held, 1000 - held + 1), beta.ppf(0.975, held + 1, 1000 - held)
        np.testing.assert_allclose(whole[at], (np.array([low, high]) - other) / (given - other), rtol=1e-9)


@pytest.mark.parametrize(
    "design", [mw.designs.projective(40, epsilon=1), mw.designs.minimax(30, epsilon=1), mw.designs.rappor(9, epsilon=1)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sum_needs_no_covariance(design: mw.Design, weighted: bool) -> None:
    """The variance of a contrast without the k x k matrix is that with it."""
    rng = np.random.default_rng(1)
    reports = design.mask(rng.integers(0, 4, 3000), seed=8)
    estimate = mw.estimate(reports.tally(rng.random(3000) + 0.5 if weighted else None))
    weights = rng.normal(size=design.k)
    expected = math.sqrt(weights @ estimate.covariance @ weights)
    assert estimate.contrast(weights).standard_error == pytest.approx(expected, rel=1e-9)


# Views that stay short.


def test_a_codebook_gives_the_rule_instead_of_a_list() -> None:
    """A reader of the codebook alone finds the estimates, by the rule that it states."""
    design = mw.designs.projective(5000, epsilon=1)
    assert design.q == 4
    reports = design.mask(np.full(2000, 4321), seed=1)
    content = mw.codebook(design, "host").content
    assert "modulo the one with the bits 111" in content["reports"]["how_to_read"]
    a, b = content["probabilities"]["A"], content["probabilities"]["B"]
    product = [[0] * 4, [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]]  # polynomials over two elements modulo 111

    def vector(number: int) -> list[int]:
        zeros = next(m for m in range(design.t) if number < (4 ** (m + 1) - 1) // 3)
        rest = number - (4**zeros - 1) // 3
        return [0] * (design.t - 1 - zeros) + [1] + [rest >> 2 * at & 3 for at in range(zeros - 1, -1, -1)]

    own = vector(4321)
    held = 0
    for report in reports.decode():
        total = 0
        for x, y in zip(own, vector(int(report[1:])), strict=True):
            total ^= product[x][y]
        held += total == 0
    assert (held / 2000 - b) / (a - b) == pytest.approx(mw.estimate(reports).proportions[4321], rel=1e-9)
    chances = [Fraction(content["probabilities"][name]) for name in ("holding", "other")]
    assert chances[0] / chances[1] == design.exact_parity()
    text = mw.codebook(design).to_markdown()
    assert len(text) < 5000
    assert "5000 in all" in text


def test_pages_of_long_lists_leave_out_what_would_take_minutes() -> None:
    design = mw.plan(K, mw.LDP(1))
    page = plan_page(design, 10_000)
    assert "Reports are hyperplanes" in page
    assert len(page) < 2_000_000
    both = compare_designs({"ours": design, "k-ary": mw.designs.gamma_diagonal(K, epsilon=1)})
    assert len(compare_page(both)) < 2_000_000


def test_commands_on_a_list_from_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    hosts = [f"host{i}.example" for i in range(K)]
    Path("hosts.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(hosts).encode() + b"\r\n")
    assert main(["plan", "--categories-from", "hosts.txt", "--epsilon", "2", "-o", "hosts.json"]) == 0
    printed = capfd.readouterr().out
    assert "Reports are hyperplanes" in printed
    assert len(printed) < 3000
    assert mw.Design.from_json(Path("hosts.json").read_text()).categories == tuple(hosts)
    Path("data.csv").write_text("host\n" + "\n".join(["host5.example"] * 3000 + ["host9.example"] * 2000))
    assert main(["mask", "data.csv", "-c", "host", "-d", "hosts.json", "-o", "reports.parquet"]) == 0
    capfd.readouterr()
    assert main(["estimate", "reports.parquet", "--top", "3", "--csv", "top.csv", "--plot", "top.html"]) == 0
    printed = capfd.readouterr().out
    assert re.search(r"host5\.example +0\.\d+", printed)
    assert "hold for all 70,000 categories together" in printed
    assert len(Path("top.csv").read_text().splitlines()) == 4
    assert main(["estimate", "reports.parquet", "--top", "2", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["categories"][0] == "host5.example"
    assert len(document["estimates"]) == len(document["intervals"]) == len(document["places"]) == 2
    assert main(["estimate", "reports.parquet", "--simultaneous"]) == 0
    printed = capfd.readouterr().out
    assert "69,980 smaller ones" in printed
    assert len(printed) < 30_000
    assert main(["audit", "hosts.json", "--codebook", "hosts.md"]) == 0
    assert len(Path("hosts.md").read_text()) < 5000
    capfd.readouterr()
    names = ["compare", "projective", "gamma_diagonal", "--set", "epsilon=1", "--categories-from", "hosts.txt"]
    assert main(names) == 0
    assert len(capfd.readouterr().out) < 10_000


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (b"a\n\nb\n", [], "line 2"),
        (b"\xff\xfe", [], "UTF-8"),
        (b"a\na\n", [], "more than once"),
        (b"a\nb\n", ["--k", "3"], "not two"),
        (b"a\nb\n", ["--categories", "a,b"], "not two"),
    ],
)
def test_a_list_that_is_none_is_refused(
    content: bytes,
    options: list[str],
    reason: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "list.txt").write_bytes(content)
    assert main(["plan", "--categories-from", str(tmp_path / "list.txt"), "--epsilon", "1", *options]) == 2
    assert reason in capfd.readouterr().err
