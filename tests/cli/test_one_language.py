"""The same thing has the same option, the same word and the same line in every command."""

import inspect
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

import maskwell as mw
from maskwell.cli.program import app
from maskwell.errors import DataError
from tests.cli.runs import Run

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def options(command: str) -> dict[str, Any]:
    named = (option for option in COMMANDS[command].params if option.param_type_name == "option")
    return {name: option for option in named for name in option.opts}


THINGS = """
--accept            columns that stay although they show who moved
--along             columns that move with the keys
--alternative       in which direction a difference counts
--among             whose proportions are bounded
--answers-as        people who answer as another category does
--backup            a copy of a database to write
--behaviour         what people do who do not follow the design
--beta              the demand of a factor of belief
--between           the two groups that are compared
--block-size        how many combinations a block has
--blocks            which combinations exchange records
--bottom            a bottom code
--bounds            up to which share do not follow
--burst             requests at once
--by                the column of groups
--cards             cards to write
--carried-out       the design that a device carries out, to write
--categories        labels in a list
--categories-from   labels in a file
--category          one category
--clusters          the columns of clusters
--code              what stands in a file for a label
--codebook          a codebook to write
--column            the column that is read
--compare-blocks    show ways of forming blocks side by side
--csv               a table of results to write
--database          the address of a database
--delimiter         what separates cells of a CSV file
--demo              begin with a sample
--design            the design
--device            what a respondent draws with
--diagonal          the chance of staying
--different-people  that nobody is in two tallies
--diversity         the demand of local diversity
--drop              columns to leave out
--dry-run           write nothing
--encoding          the encoding of a CSV file
--engine            who reads and masks
--epsilon           the demand of local differential privacy
--exempt            keys that must not change
--explain           for whom to explain
--external          a report for users of a file, to write
--fay               Fay's factor
--form              a form to write
--format            the format of a file to write
--fpc               the size of the population of a stratum
--from              a data file to take labels from
--gain              what guesses gain a reader
--gamma             the demand of a parity
--host              the address to listen on
--html              a report with pictures to write
--ids               the column of record ids
--importance        how much a key counts
--innocuous         the harmless question
--integer-ids       ids in text are whole numbers
--internal          a report for the custodian, to write
--interval          the kind of intervals
--joint             several variables together
--json              JSON on standard output
--k                 how many: categories, or records of every combination
--keep              columns that stay as they are
--keep-order        rows stay in their order
--key-file          the file of a key
--keys              columns that an intruder may know
--ladder            levels of a key to search
--language          the language of cards
--least-diagonal    the least chance of staying
--level             the level of intervals
--lonely            what to do with a lonely cluster
--longitudinal      privacy of all rounds
--margins           known totals
--matches           how many right matches are allowed
--merge             join sets that are too small
--method            the method of an estimate or a test
--missing           what becomes of missing values
--model             the model of the population
--na                a text that means missing
--name              the name of a variable
--nearest           take the nearest design
--new-token         make a new token
--of                whose behaviour it is
--other             what labels count as that a design does not know
--output            the file or folder to write
--patterns          keep each distinct report
--per-round         privacy of each round
--permutations      how many shuffles
--phi               the demand of average security
--plan              a plan to write
--plot              a picture to write
--population        the size of the population
--port              the port to listen on
--pram              columns to post-randomize
--prior             beliefs beforehand
--proxy             the server before this one
--public-url        the address that respondents see
--publish-limit     state the limit
--question          the wording of a question
--rate              requests a second
--recipe            a file that says what to recode
--recode            how to make a column coarser
--replay            a plan to carry out again
--replicate-method  how replicates are made
--replicate-scales  factors of replicates
--replicate-weights columns of replicate weights
--replicates        how many replicates
--restore           a copy of a database to read
--rho1              a belief beforehand
--rho2              a belief afterwards
--rounds            how often one thing is asked of a person
--seed              repeatable draws
--sensitive         columns whose diversity counts
--separator         what separates labels in a cell
--set               a parameter of a design
--simultaneous      intervals that hold together
--spare             keys that lose values last
--strata            columns of strata
--suppress-below    records that every combination is to have after suppression
--suppress-most     the share of records that may lose a key
--survey            the name of a survey
--tau1              the largest tau1
--tau2              the largest tau2
--title             a title
--together          the column of groups that move as one
--top               the top: the most frequent categories, or a top code
--totals            numbers of people
--trim              blanks and capitals do not count
--uniques           how many uniques are allowed
--user-missing      codes that a file declares missing
--value             the share to compare with
--values            how many different answers one gives
--variance          tables whose added variance is reported
--weights           the column of sampling weights
--within            what no record may leave
--xi                the limit on identification
-n                  how many respondents
"""
"""Every option, and the one thing that it says: a new one finds here what the thing is called already."""
SHORT = {"-b": "--behaviour", "-c": "--column", "-d": "--design", "-o": "--output"}
OLDER = {"--folder": "--output"}
SAID_OTHERWISE = {
    *(
        "--column",
        "--design",
        "--output",
        "--recipe",
        "--name",
        "--title",
        "--question",
    ),  # what is read and written differs
    *("--method", "--seed", "--json", "--missing", "--strata"),  # what is estimated, drawn, printed differs
    *("--k", "--top", "--xi", "--within"),  # asked for in a search, or stated
}
"""Options whose help may differ between commands."""


def test_every_option_is_the_name_of_one_thing() -> None:
    things = dict(line.split(maxsplit=1) for line in THINGS.strip().splitlines())
    assert len(set(things.values())) == len(things)
    used = {
        name for command in COMMANDS for name, option in options(command).items() if option.param_type_name == "option"
    }
    assert used - set(SHORT) - set(OLDER) == set(things)


def test_an_option_is_said_in_the_same_words_everywhere() -> None:
    said: dict[str, set[str]] = {}
    for command in COMMANDS:
        known = options(command)
        for name, option in known.items():
            said.setdefault(name, set()).add(str(getattr(option, "help", "")))
        for short, long in {**SHORT, **OLDER}.items():
            # The short form goes with its long one; only the name of a design has none, as files have it.
            if short in known or (long in known and long in ("--column", "--output", "--behaviour") and short in SHORT):
                assert known[short] is known[long], (command, short)
    several = {name for name, helps in said.items() if len(helps) > 1}
    assert several - set(SHORT) - set(OLDER) == SAID_OTHERWISE


def test_options_that_go_together_come_together() -> None:
    reading_files = [name for name in COMMANDS if "--encoding" in options(name)]
    assert {"plan", "mask", "reports", "risk", "recode", "release"} <= set(reading_files)
    for name in reading_files:
        assert {"--delimiter", "--na"} <= set(options(name)), name
    for name in COMMANDS:
        known = options(name)
        assert ("--key-file" in known) == ("--ids" in known), name
        assert ("--strata" in known and "--clusters" in known) == ("--fpc" in known), name


@pytest.fixture
def work(run: Run, tmp_path: Path) -> Path:
    rows = "".join(f"{i},{'yes' if i % 3 else 'no'},{i % 7},{'mf'[i % 2]}\n" for i in range(600))
    (tmp_path / "people.csv").write_text("id,habit,area,sex\n" + rows, encoding="utf-8")
    for labels, name in ((["yes", "no"], "habit"), (["m", "f"], "sex")):
        design = mw.plan(labels, mw.LDP(2))
        (tmp_path / f"{name}.json").write_text(design.to_json(), encoding="utf-8")
        values = [labels[i % 3 % 2] for i in range(600)]
        design.mask(values, seed=1, question=name).write(tmp_path / f"{name}.parquet")
    return tmp_path


SAID = [
    ("plan", "--k 3 --epsilon 1 -n 100 -o new.json --html plan.html"),
    ("audit", "habit.json --codebook book.md"),
    ("mask", "people.csv -c habit -d habit.json --seed 1 -o out.parquet"),
    ("mask", "people.csv --design habit=habit.json --design sex=sex.json -o two.parquet"),
    ("estimate", "habit.parquet --csv shares.csv --interval wald --simultaneous"),
    ("estimate", "habit.parquet --top 1 --csv top.csv"),
    ("tally", "habit.parquet -o counts/"),
    ("release", "people.csv --keys habit,area --xi 0.5 --drop id --seed 1 -o released.csv"),
    ("release", "people.csv --pram area --diagonal 0.9 --drop id --seed 1 -o moved.csv"),
]


@pytest.mark.parametrize(
    ("command", "arguments"),
    SAID,
    ids=lambda text: str(text).split(" -")[0],
)
def test_wrote_is_said_of_every_file(run: Run, work: Path, command: str, arguments: str) -> None:
    before = {path.name for path in work.iterdir()}
    ran = run(command, *arguments.split())
    assert ran.code == 0, ran.err
    made = {path.name for path in work.iterdir()} - before
    said = [line.removeprefix("wrote ") for line in ran.text.splitlines() if line.startswith("wrote ")]
    assert {Path(name).parts[0] for name in said} == made


def test_an_estimate_has_one_layout_whatever_its_interval(run: Run, work: Path) -> None:
    plain = run("estimate", "habit.parquet").text
    wald = run("estimate", "habit.parquet", "--interval", "wald").text
    together = run("estimate", "habit.parquet", "--simultaneous").text

    def frame(text: str) -> list[str]:
        return [re.sub(r"interval \(.*\)|[-\d.]+", "", line).split()[:3] for line in text.splitlines()]

    assert frame(plain) == frame(wald) == frame(together)
    assert "95 % interval (Wald)" in wald
    assert "95 % interval (Wilson, for all together)" in together


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_and_options_are_completed(shell: str, tmp_path: Path) -> None:
    words = {"COMP_WORDS": "maskwell est", "COMP_CWORD": "1"}
    others = {"_TYPER_COMPLETE_ARGS": "maskwell est", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment = {**os.environ, "_MASKWELL_COMPLETE": f"complete_{shell}", **words, **others}
    command = [sys.executable, "-c", "import sys; from maskwell.cli import main; sys.exit(main())"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "estimate" in run.stdout, run.stderr
    assert "release" not in run.stdout


def on_a_terminal(arguments: list[str], **environment: str) -> str:
    """What a command prints on a terminal."""
    parent, child = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-m", "maskwell", *arguments],
        stdout=child,
        stderr=subprocess.DEVNULL,
        env={**plain, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(child)
        said = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
        process.wait()
    os.close(parent)
    return said.decode()


def test_colours_are_for_terminals_that_want_them(run: Run) -> None:
    assert "\x1b" in on_a_terminal(["designs"])
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", on_a_terminal(["designs"], NO_COLOR="1"))
    assert "\x1b" not in run("designs").text


def test_weights_are_told_what_is_wrong_with_them() -> None:
    reports = mw.designs.warner(truth_prob=0.8).mask(["yes", "no"], seed=1)
    wrong = {"2 are negative": [-1, -2], "1 are missing": [1, float("nan")], "got 3": [1, 1, 1], "all are zero": [0, 0]}
    for why, weights in wrong.items():
        with pytest.raises(DataError, match=why):
            reports.tally(weights=weights)


def test_what_takes_long_shows_progress() -> None:
    quick = {"designs", "merge", "serve", "questionnaire", "handover"}
    for name, command in COMMANDS.items():
        if name in quick:
            continue
        source = inspect.getsource(inspect.unwrap(command.callback))
        module = inspect.getsource(inspect.getmodule(inspect.unwrap(command.callback)))  # type: ignore[arg-type]
        shown = "progress(" in module or "mask_tables(" in source or ", progress)" in source
        assert shown, name
