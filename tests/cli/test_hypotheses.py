"""``maskwell test``, and the likelihood side of ``maskwell estimate``: every option, every refusal."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import maskwell as mw
from maskwell.advice import Advice, Setting
from maskwell.cli.commands.estimate import estimate as estimate_command
from maskwell.cli.commands.test import hypothesis
from maskwell.cli.shared.option_names import in_options, options_of, said, said_lines
from maskwell.errors import EstimationError
from maskwell.inference.summary import summary_lines
from tests.cli.runs import Run, assert_refused

D = mw.designs
N = 1_500


@pytest.fixture(autouse=True)
def survey(tmp_path: Path) -> None:
    """Two associated variables, apart and as a joint file, and three groups."""
    rng = np.random.default_rng(1)
    smoker, sick = rng.integers(0, 2, N), rng.integers(0, 3, N)
    sick[smoker == 1] = np.minimum(sick[smoker == 1] + rng.integers(0, 2, int(smoker.sum())), 2)
    first, second = D.gamma_diagonal(["no", "yes"], epsilon=3.0), D.uniform_subsets(4)
    first.mask(np.array(["no", "yes"])[smoker], seed=1, question="smoker").write(tmp_path / "smoker.parquet")
    second.mask(sick, seed=4, question="sick").write(tmp_path / "sick.arrow")
    joint = D.product(D.gamma_diagonal(2, epsilon=3.0), second, names=["smoker", "sick"])
    joint.mask(np.column_stack([smoker, sick]), seed=3).write(tmp_path / "joint.parquet")
    groups = D.minimax(3, epsilon=2.0)
    for name, shares in {"north": [0.2, 0.3, 0.5], "south": [0.5, 0.3, 0.2], "twin": [0.2, 0.3, 0.5]}.items():
        groups.mask(rng.choice(3, N, p=shares), seed=len(name)).write(tmp_path / f"{name}.parquet")


def read(name: str) -> mw.Reports:
    return mw.Reports.read(name)


def together(first: str = "smoker.parquet", second: str = "sick.arrow") -> mw.Reports:
    return mw.side_by_side({"smoker": read(first), "sick": read(second)})


# Independence


@pytest.mark.parametrize("method", ["score", "lrt", "pearson", "bonferroni"])
def test_independence_is_the_library_s(run: Run, method: Any) -> None:
    ran = run("test", "independence", "smoker.parquet", "sick.arrow", "--method", method, "--json")
    expected = mw.independence_test(together(), method)
    assert ran.json == {
        "vocabulary": 1,
        "question": "independence",
        "files": ["smoker.parquet", "sick.arrow"],
        "randomness": ["seeded"],
        **expected.to_dict(),
        "advice": said(expected.advice, options_of(hypothesis)),
    }
    text = run("test", "independence", "smoker.parquet", "sick.arrow", "--method", method).text
    assert "drawn from a seed" in text
    assert text.startswith(f"{method}: statistic {expected.statistic:.4f}")
    assert "associated" in text
    assert "5 %" in text


def test_what_was_chosen_is_said_if_nothing_was_asked(run: Run) -> None:
    """1,500 reports have the limiting law; of 12 one variable is shuffled, to the same result each time."""
    found = run("test", "independence", "smoker.parquet", "sick.arrow", "--json").json
    assert (found["method"], found["permutations"]) == ("score", 0)
    assert "limiting law" in found["choice"]
    assert "chi-squares" in found["reference"]
    D.direct(3).mask([0, 1, 2, 0, 1, 2] * 2).write("few.parquet")
    few = run("test", "independence", "few.parquet", "few.parquet", "--json").json
    assert few == run("test", "independence", "few.parquet", "few.parquet", "--json").json
    assert few["permutations"] == 999
    assert few["reference"] == "999 permutations"
    assert (
        "chosen: 999 shuffles of one variable, because"
        in run("test", "independence", "few.parquet", "few.parquet").text
    )


def test_a_joint_file_needs_no_second(run: Run) -> None:
    found = run("test", "independence", "joint.parquet", "--json").json
    assert found["p_value"] == mw.independence_test(read("joint.parquet")).p_value


@pytest.mark.parametrize("method", ["score", "lrt", "lrt-moments", "pearson", "bonferroni"])
def test_seeded_permutations_repeat(run: Run, method: Any) -> None:
    options = ["--method", method, "--permutations", 49, "--seed", 5]
    args = ["test", "independence", "smoker.parquet", "sick.arrow", *options]
    found = run(*args, "--json").json
    assert found == run(*args, "--json").json
    assert found["p_value"] == mw.independence_test(together(), method, 49, seed=5).p_value
    assert (found["permutations"], found["advice"]) == (49, "")
    assert "49 permutations" in run(*args).text


def test_unseeded_permutations_differ(run: Run) -> None:
    """Twenty shuffled p-values of a statistic near its middle are all alike with a chance below 1e-9."""
    rng = np.random.default_rng(3)
    for name in ("a", "b"):
        D.gamma_diagonal(3, epsilon=1.0).mask(rng.integers(0, 3, 300)).write(f"{name}.parquet")
    args = ["test", "independence", "a.parquet", "b.parquet", "--permutations", 99, "--json"]
    assert len({run(*args).json["p_value"] for _ in range(20)}) > 1


def test_advice_names_the_option(run: Run) -> None:
    D.direct(3).mask([0, 1, 2, 0, 1, 2]).write("few.parquet")
    args = ["test", "independence", "few.parquet", "few.parquet", "--method", "lrt"]
    assert "use --method score or pass --permutations 999" in run(*args).text
    assert "pass --permutations 999" in run(*args, "--json").json["advice"]
    assert_refused(run(*args[:-1], "lrt-moments"), "--permutations 999", "no known distribution")


def test_who_is_missing_from_one_file_is_left_out(run: Run) -> None:
    one, two = D.direct(2).mask([0, None, 1, 0, 1], missing="keep"), D.direct(2).mask([1, 1, 1, 0, 1])
    one.write("one.parquet")
    two.write("two.parquet")
    found = run("test", "independence", "one.parquet", "two.parquet", "--json").json
    product = D.product(D.direct(2), D.direct(2))
    alone = mw.independence_test(product.mask(np.array([[0, 1], [1, 1], [0, 0], [1, 1]])))
    assert found["statistic"] == alone.statistic


@pytest.mark.parametrize(
    ("args", "about"),
    [
        (["independence"], ["reports"]),
        (["independence", "smoker.parquet"], ["product of two designs"]),
        (["independence", "smoker.parquet", "sick.arrow", "north.parquet"], ["two files", "got 3"]),
        (["independence", "smoker.parquet", "missing.parquet"], ["missing.parquet"]),
        (["independence", "smoker.parquet", "short.parquet"], ["'short' has 3", "same people"]),
        (["independence", "smoker.parquet", "sick.arrow", "--method", "chi"], ["--method", "lrt"]),
        (["independence", "smoker.parquet", "sick.arrow", "--permutations", "-1"], ["--permutations"]),
        (["independence", "smoker.parquet", "sick.arrow", "--permutations", "many"], ["--permutations"]),
        (["independence", "smoker.parquet", "sick.arrow", "--seed", "-1"], ["--seed"]),
        (["fit", "smoker.parquet", "sick.arrow"], ["one file", "got 2"]),
        (["fit", "smoker.parquet"], ["nothing to test"]),
        (["fit", "wide.parquet"], ["too many possible reports"]),
        (["groups", "north.parquet"], ["two or more", "got 1"]),
        (["groups", "north.parquet", "sick.arrow"], ["same categories"]),
        (["magic", "north.parquet"], ["independence", "fit", "groups"]),
    ],
)
def test_what_is_refused(run: Run, args: list[str], about: list[str]) -> None:
    D.direct(2).mask([0, 1, 1]).write("short.parquet")
    D.minimax(40, epsilon=1.0).mask(np.arange(200) % 40, seed=1).write("wide.parquet")
    assert_refused(run("test", *args), *about)


def test_a_file_that_is_no_file_of_reports_is_refused(run: Run) -> None:
    Path("notes.txt").write_text("hello")
    for question in ("fit", "independence", "groups"):
        assert_refused(run("test", question, *["notes.txt"] * (1 if question == "fit" else 2)), "notes.txt")


# Fit and groups


def test_fit_and_groups_are_the_library_s(run: Run) -> None:
    fit, groups = (
        run("test", "fit", "sick.arrow", "--json").json,
        run("test", "groups", "north.parquet", "twin.parquet"),
    )
    assert fit["p_value"] == mw.goodness_of_fit(read("sick.arrow")).p_value
    assert fit["files"] == ["sick.arrow"]
    expected = mw.homogeneity_test([read("north.parquet"), read("twin.parquet")])
    assert f"p = {expected.p_value:.4g}" in groups.text


def test_verdicts(run: Run) -> None:
    """With these seeds: respondents who follow the design, groups that differ and one that does not."""
    assert "The reports fit the design" in run("test", "fit", "sick.arrow").text
    assert "The groups differ" in run("test", "groups", "north.parquet", "south.parquet", "twin.parquet").text
    assert "No difference" in run("test", "groups", "north.parquet", "twin.parquet").text


def test_reports_that_ignore_the_design_do_not_fit(run: Run) -> None:
    """Always the same two of six sets: no population gives that."""
    design = D.uniform_subsets(4)
    mw.Reports(design, design.pack_rows(np.arange(600) % 2)).write("lazy.parquet")
    assert "do not fit" in run("test", "fit", "lazy.parquet").text


# Likelihood estimates


@pytest.mark.parametrize("method", ["moments", "likelihood", "one-step"])
@pytest.mark.parametrize("name", ["sick.arrow", "smoker.parquet"])
def test_estimates_are_the_library_s(run: Run, method: Any, name: str) -> None:
    expected = mw.estimate(read(name), method)
    found = run("estimate", name, "--method", method, "--json").json
    assert found["method"] == method
    assert found["estimates"] == expected.proportions.tolist()
    assert found["standard_errors"] == expected.standard_errors.tolist()
    assert found["intervals"] == expected.interval().tolist()
    assert found["interval"] == expected.default_interval
    assert (found["gap"] is None) == (expected.gap is None or not np.isfinite(expected.gap))
    assert run("estimate", name, "--method", method).text.startswith(
        said_lines(summary_lines(expected, 0.95), options_of(estimate_command))
    )


def test_a_joint_file_is_estimated(run: Run) -> None:
    for method in ("linear", "likelihood"):
        found = run("estimate", "joint.parquet", "--method", method, "--json").json
        assert found["estimates"] == mw.estimate(read("joint.parquet"), method).proportions.tolist()
        assert found["categories"][5] == [1, 1]


@pytest.mark.parametrize("simultaneous", [False, True])
def test_profile_intervals(run: Run, simultaneous: bool) -> None:
    options = ["--method", "likelihood", "--interval", "profile", "--level", 0.9, *["--simultaneous"] * simultaneous]
    expected = mw.estimate(read("sick.arrow"), "likelihood").interval(0.9, "profile", simultaneous)
    found = run("estimate", "sick.arrow", *options, "--json").json
    assert found["intervals"] == expected.tolist()
    assert (found["level"], found["interval"], found["simultaneous"]) == (0.9, "profile", simultaneous)
    assert "90 % interval (Profile" in run("estimate", "sick.arrow", *options).text


@pytest.mark.parametrize("method", ["likelihood", "one-step"])
def test_bootstrap_intervals(run: Run, method: Any) -> None:
    """Drawn afresh by every run; they hold the estimate."""
    found = run("estimate", "smoker.parquet", "--method", method, "--interval", "bootstrap", "--json").json
    for estimate, (low, high) in zip(found["estimates"], found["intervals"], strict=True):
        assert low < estimate < high


def test_the_maximum_at_zero_names_the_option(run: Run) -> None:
    """Nobody has the fourth category; at a seed where it is estimated as 0 the summary recommends profile limits."""
    D.uniform_subsets(4).mask(np.zeros(200, int), seed=1).write("zeros.parquet")
    assert mw.estimate(read("zeros.parquet"), "likelihood").at_zero  # type: ignore[attr-defined]
    out = run("estimate", "zeros.parquet", "--method", "likelihood").text
    assert "use --interval profile of the likelihood estimate" in " ".join(out.split())
    assert "method=" not in out


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--interval", "profile"], ["profile"]),
        (["--interval", "bootstrap"], ["bootstrap"]),
        (["--method", "likelihood", "--interval", "wilson"], ["wald, profile, bootstrap"]),
        (["--method", "one-step", "--interval", "profile"], ["--method likelihood", "wald"]),
        (["--method", "likelihood", "--level", "1"], ["--level"]),
    ],
)
def test_intervals_that_do_not_belong_to_a_method(run: Run, options: list[str], about: list[str]) -> None:
    assert_refused(run("estimate", "sick.arrow", *options), *about)


def test_one_step_that_is_not_determined_says_which_option_helps(run: Run) -> None:
    D.local_diversity(4, l=2).mask([0, 0, 0], seed=2).write("three.parquet")
    ran = run("estimate", "three.parquet", "--method", "one-step")
    assert_refused(ran, "--method likelihood")


@pytest.mark.parametrize(
    ("library", "command_line"),
    [
        (Advice("pass ", Setting("permutations", 999), "."), "pass --permutations 999."),
        (Advice("use ", Setting("method", "one-step"), ", or"), "use --method one-step, or"),
        (Advice("or ", Setting("method", "profile", call="interval")), "or --interval profile"),
        (Advice("got k=3 and ", Setting("epsilon", 1)), "got k=3 and epsilon=1"),
        ("plain words with permutations=999", "plain words with permutations=999"),
    ],
)
def test_remedies_in_the_words_of_the_command_line(library: str, command_line: str) -> None:
    options = options_of(hypothesis) | options_of(estimate_command)
    assert said(library, options) == command_line
    assert in_options(EstimationError(library), options) == command_line


@pytest.mark.parametrize("words", ["pass {}", "{} would do", "so few reports ask for more shuffles ({})"])
def test_rewording_does_not_lose_the_option(words: str) -> None:
    """Whatever the sentence is, the option comes from what it is about."""
    before, after = words.split("{}")
    advice = Advice(before, Setting("permutations", 999), after)
    assert said(advice, options_of(hypothesis)) == words.format("--permutations 999")
    error = EstimationError(words.format("this"), parameter="permutations")
    assert in_options(error, options_of(hypothesis)).startswith("--permutations")


def test_the_test_of_homogeneity_is_found_under_what_it_asks(run: Run) -> None:
    assert_refused(run("test", "homogeneity", "a.parquet", "b.parquet"), "maskwell test groups")
