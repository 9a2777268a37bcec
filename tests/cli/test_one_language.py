"""The same thing has the same option, the same word and the same line in every command."""

import inspect
import json
import os
import pty
import re
import subprocess
import sys
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main

import maskwell as mw
from maskwell.cli.program import app
from maskwell.errors import DataError
from tests.cli.runs import Run

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
SCHEMA = json.loads(package_files("maskwell.cli").joinpath("output.schema.json").read_text("utf-8"))
ROOT = Path(__file__).resolve().parents[2]
WITHOUT_JSON_SCHEMA = {"serve"}
"""It runs until it is stopped, and says addresses and tokens as one line."""


def options(command: str) -> dict[str, Any]:
    return {name: option for option in COMMANDS[command].params for name in option.opts}


def test_every_command_has_a_schema_and_says_how_many_of_what() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(COMMANDS) - WITHOUT_JSON_SCHEMA <= set(SCHEMA["$defs"])
    for command in COMMANDS:
        assert "--json" in options(command), command


def test_one_thing_has_one_option() -> None:
    reading_files = [name for name in COMMANDS if "--encoding" in options(name)]
    assert {"plan", "mask", "risk", "release"} <= set(reading_files)
    for name in reading_files:
        assert {"--delimiter", "--na"} <= set(options(name)), name
    for name in COMMANDS:
        known = options(name)
        if "--key-file" in known:
            assert "--ids" in known, name
        assert not {"--id", "--id-column", "--weight", "--group", "--groups", "--sep", "--out"} & set(known), name
        if "--output" in known:
            assert known["--output"] is known["-o"], name
        if "--column" in known:
            assert known["--column"] is known["-c"], name


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
    ("audit", "habit.json --explain respondent"),
    ("compare", "habit.json warner:truth_prob=0.7 --categories yes,no"),
    ("designs", ""),
    ("mask", "people.csv -c habit -d habit.json --seed 1 -o out.parquet"),
    ("mask", "people.csv --design habit=habit.json --design sex=sex.json -o two.parquet"),
    ("estimate", "habit.parquet --csv shares.csv --interval wald --simultaneous"),
    ("estimate", "habit.parquet --top 1 --csv top.csv"),
    ("estimate", "habit.parquet sex.parquet --joint"),
    ("tally", "habit.parquet -o counts/"),
    ("test", "independence habit.parquet sex.parquet"),
    ("risk", "people.csv --keys area,sex --population 100000"),
    ("release", "people.csv --keys habit,area --xi 0.5 --drop id --seed 1 -o released.csv"),
    ("release", "people.csv --keys habit,area --xi 0.5 --drop id --dry-run"),
    ("release", "people.csv --pram area --diagonal 0.9 --drop id --seed 1 -o moved.csv"),
]


@pytest.mark.parametrize(("command", "arguments"), SAID, ids=lambda text: str(text).split(" -")[0])
def test_json_keeps_to_its_schema_and_names_what_was_written(
    run: Run, work: Path, command: str, arguments: str
) -> None:
    before = {path.name for path in work.iterdir()}
    ran = run(command, *arguments.split(), "--json")
    assert ran.code == 0, ran.err
    jsonschema.validate(ran.json, {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{command}"}]})
    assert ran.json["vocabulary"] == SCHEMA["$defs"]["words"]["properties"]["vocabulary"]["const"]
    made = {path.name for path in work.iterdir()} - before
    assert {Path(name).parts[0] for name in ran.json.get("output", [])} == made


@pytest.mark.parametrize(
    ("command", "arguments"),
    [said for said in SAID if re.search(r" (-o|--csv|--html|--codebook) ", said[1])],
    ids=lambda text: str(text).split(" -")[0],
)
def test_wrote_is_said_of_every_file(run: Run, work: Path, command: str, arguments: str) -> None:
    before = {path.name for path in work.iterdir()}
    ran = run(command, *arguments.split())
    assert ran.code == 0, ran.err
    made = {path.name for path in work.iterdir()} - before
    said = [line.removeprefix("wrote ") for line in ran.text.splitlines() if line.startswith("wrote ")]
    assert {Path(name).parts[0] for name in said} == made


def test_tallies_merged_and_reproduced_numbers_keep_to_the_schema(run: Run, work: Path) -> None:
    assert run("tally", "habit.parquet", "-o", "counts/").code == 0
    for command, arguments in (("merge", ["counts/", "-o", "all/"]), ("estimate", ["counts/", "--column", "report"])):
        ran = run(command, *arguments, "--json")
        if ran.code:
            (column,) = json.loads(run("merge", "counts/", "-o", "more/", "--json").out)["columns"]
            ran = run(command, "counts/", "--column", column, "--json")
        assert ran.code == 0, ran.err
        jsonschema.validate(ran.json, {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{command}"}]})


def test_the_page_explains_every_word() -> None:
    page = (ROOT / "docs" / "json_output.md").read_text("utf-8")
    for word, about in SCHEMA["$defs"]["words"]["properties"].items():
        assert f"| `{word}` | {about['description']} |" in page
    for command, about in SCHEMA["$defs"].items():
        if command not in ("words", "a_design"):
            wanted = ", ".join(f"`{word}`" for word in about["required"] if word != "vocabulary")
            assert f"| `{command}` | {wanted} |" in page


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
        shown = "progress(" in module or "mask_tables(" in source or name == "demo"
        assert shown, name
