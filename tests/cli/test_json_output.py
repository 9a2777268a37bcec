"""Every command's ``--json`` keeps to one vocabulary, which the package ships as a schema and a page explains."""

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main

import maskwell as mw
from maskwell.cli.program import app
from tests.cli.runs import Run
from tests.cli.schema import PRINTED, SCHEMA, WORDS, assert_fits

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
ROOT = Path(__file__).resolve().parents[2]
# Long ones are held to the schema where they run anyhow.
ELSEWHERE = {
    "demo": "tests/test_demo.py",
    "reproduce": "tests/cli/test_front_door.py",
    "serve": "tests/collect/test_sample.py",
}
SAID = """
plan --k 3 --epsilon 1 -n 100 -o new.json --html plan.html
plan --k 4 --rho1 0.1 --rho2 0.5
plan --design warner --set truth_prob=3/4
plan --from people.csv --column area --phi 1.5
audit habit.json --codebook book.md --html audit.html
audit habit.json --explain respondent
compare habit.json warner:truth_prob=0.7 --categories yes,no
designs
mask people.csv -c habit -d habit.json --seed 1 -o out.parquet
mask people.csv --design habit=habit.json --design sex=sex.json --keep area -o two.parquet
mask people.csv --design habit=habit.json --key-file key --ids id --survey s -o parts/
reports answers.csv -c q1 -d cards.json -o read.parquet
reports answers.csv -d q1=cards.json --keep region -o kept.parquet
tally habit.parquet -o counts/
merge stored/ -o all/
estimate stored/
estimate habit.parquet --csv shares.csv --interval wald --simultaneous
estimate habit.parquet --top 1 --csv top.csv
estimate habit.parquet sex.parquet --joint
estimate beside.parquet --column habit --weights weight --strata stratum --clusters psu
estimate_by estimate beside.parquet --column habit --by area
estimate_totals estimate beside.parquet --column habit --weights weight --totals --csv totals.csv
compliance cards.parquet often.parquet -b denies=no
compliance cards.parquet -b any=random --bounds 0.3
test independence habit.parquet sex.parquet
test groups beside.parquet --column habit --by stratum --category yes
test proportion habit.parquet --category yes --value 0.5
questionnaire cards.json --question Ever? --device cards --form form.xlsx --cards cards.html --carried-out done.json
handover habit.parquet -o folder --format csv
risk people.csv --keys area,sex --population 100000 --html risk.html
risk people.csv --keys area,sex --weights weight --sensitive habit
recode people.csv --keys area,sex --recode area=width:3 --suppress-below 3 -o coarser.csv --recipe recipe.json
recode people.csv --keys id,sex --ladder id=width:10,100|any --k 3 --suppress-most 0.01
release people.csv --keys habit,area --xi 0.5 --drop id --seed 1 -o released.csv --plan plan.json
release people.csv --keys id,area --xi 0.5 --recode id=width:10 --dry-run --compare-blocks
release people.csv --pram area --diagonal 0.9 --drop id --seed 1 -o moved.csv
release people.csv --drop id --replay stored.json -o again.csv
"""
"""Command lines; before those whose form has a name of its own, that name."""


def _forms() -> list[tuple[str, list[str]]]:
    forms = []
    for line in SAID.strip().splitlines():
        form, *words = line.split()
        forms.append((form, words if words and words[0] in COMMANDS and form not in COMMANDS else [form, *words]))
    return forms


FORMS = _forms()


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind that commands read."""
    folder = tmp_path_factory.mktemp("work")
    rows = "".join(
        f"{i},{'yes' if i % 3 else 'no'},{i % 7},{'mf'[i % 2]},{1 + i % 2},s{i % 2},{i // 20}\n" for i in range(600)
    )
    people = folder / "people.csv"
    people.write_text(f"id,habit,area,sex,weight,stratum,psu\n{rows}", encoding="utf-8")
    (folder / "answers.csv").write_text("q1,region\n" + "yes,n\nno,s\n" * 50, encoding="utf-8")
    (folder / "key").write_bytes(bytes(range(32)))
    designs = {
        "habit": mw.plan(["yes", "no"], mw.LDP(2)),
        "sex": mw.plan(["m", "f"], mw.LDP(2)),
        "cards": mw.designs.forced_response(yes_prob="1/6", no_prob="1/6"),
        "often": mw.designs.forced_response(yes_prob="1/2", no_prob=0),
    }
    for name, design in designs.items():
        (folder / f"{name}.json").write_text(design.to_json(), encoding="utf-8")
        answers = [design.categories[i % 3 % 2] for i in range(600)]
        design.mask(answers, seed=1, question=name).write(folder / f"{name}.parquet")
    masking = mw.engines.Masking({"habit": designs["habit"]}, keep=["area", "weight", "stratum", "psu"])
    mw.engines.mask_file(str(people), str(folder / "beside.parquet"), masking)
    (folder / "stored").mkdir()
    mw.Reports.read(folder / "habit.parquet").tally().write(folder / "stored" / "habit.tally.json")
    table = mw.microdata.read(people).without(["id"])
    plan = mw.release.limit_identification(table, ["habit", "area"], 0.5, seed=1).plan
    (folder / "stored.json").write_text(plan.to_json(), encoding="utf-8")
    return folder


def test_every_command_is_described_and_has_a_case() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert {
        name for name, command in COMMANDS.items() if "--json" not in {o for p in command.params for o in p.opts}
    } == set()
    assert set(COMMANDS) <= PRINTED
    assert {form for form, _ in FORMS} | set(ELSEWHERE) == PRINTED
    for command, test in ELSEWHERE.items():
        assert f'assert_fits("{command}"' in (ROOT / test).read_text("utf-8")
    assert {entry["$ref"].rpartition("/")[2] for entry in SCHEMA["anyOf"]} == PRINTED
    assert all(SCHEMA["$defs"][form]["additionalProperties"] is False for form in PRINTED)


@pytest.mark.parametrize(("form", "words"), FORMS, ids=lambda given: given if isinstance(given, str) else "")
def test_json_keeps_to_its_schema_and_names_what_was_written(
    run: Run, work: Path, monkeypatch: pytest.MonkeyPatch, form: str, words: list[str]
) -> None:
    monkeypatch.chdir(work)
    before = {path.name for path in work.iterdir()}
    ran = run(*words, "--json")
    assert ran.code == 0, ran.err
    assert_fits(form, ran.json)
    made = {path.name for path in work.iterdir()} - before
    assert {Path(name).parts[0] for name in ran.json.get("output", [])} == made


@pytest.mark.parametrize(
    "document",
    [
        {"designs": {"a": {"design": "0" * 64}}, "verdicts": [], "order": [], "matched_minimax": {}, "output": []},
        {"designs": {"a": {"n": [1]}}, "verdicts": [], "order": [], "matched_minimax": {}, "output": []},
        {"designs": {}, "verdicts": [], "order": [], "matched_minimax": {}, "output": [], "more": 1},
        {"designs": {}, "verdicts": [], "order": [], "matched_minimax": {}, "output": "page.html"},
    ],
)
def test_another_use_of_a_word_is_found(document: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"designs": {}, "verdicts": [], "order": [], "matched_minimax": {}, "output": []}
    assert_fits("compare", {"vocabulary": 1, **plain})
    with pytest.raises(jsonschema.ValidationError):
        assert_fits("compare", {"vocabulary": 1, **document})


def test_the_page_explains_every_word() -> None:
    page = (ROOT / "docs" / "json_output.md").read_text("utf-8")
    for word, about in WORDS.items():
        assert f"| `{word}` | {about['description']} |" in page
    for form in PRINTED:
        wanted = ", ".join(f"`{word}`" for word in SCHEMA["$defs"][form]["required"] if word != "vocabulary")
        assert f"| `{form}` | {wanted} |" in page
    used = {word for form in PRINTED for word in SCHEMA["$defs"][form]["properties"]}
    assert used == set(WORDS)
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(WORDS) | PRINTED
