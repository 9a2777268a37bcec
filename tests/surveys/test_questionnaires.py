"""Questionnaires: what is printed is the design exactly, forms know no truth, and what cannot be exact is refused."""

import io
import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openpyxl import load_workbook
from pyxform.errors import PyXFormError
from pyxform.validators.odk_validate import ODKValidateError
from pyxform.xls2xform import convert

import maskwell as mw
from maskwell import designs as D
from maskwell.errors import DataError, DesignError, MaskwellError
from maskwell.questionnaires import Question, ask, page, realisable, xlsform
from maskwell.questionnaires.devices import MOST_PARTS, device
from maskwell.questionnaires.pages.drawings import RADIUS, spinner
from maskwell.questionnaires.procedures import procedure
from maskwell.questionnaires.texts import known, texts_of
from maskwell.questionnaires.words import identity, instruction, interviewing, meaning, protection
from maskwell.questionnaires.xlsform import stored_names
from maskwell.questionnaires.xlsx import workbook
from tests.surveys.questions import questions

QUESTIONS = questions()
asked = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def said(question: Question, truth: Any, drawn: tuple[str, ...], harmless: str | None) -> Any:
    """What a respondent says who follows the card to the letter."""
    yes, no = (*question.design.categories, None)[:2]
    match question.procedure.name:
        case "warner":
            true = (drawn[0] == "statement") == (truth == yes)
            return yes if true else no
        case "forced":
            word, _, position = drawn[0].partition(" ")
            return truth if word == "truth" else question.design.categories[int(position)]
        case "unrelated":
            return truth if drawn[0] == "survey" else harmless
        case "crosswise":
            return "same" if truth == harmless else "different"
        case _:
            return sum(colour == "red" for colour in drawn)


def draws(question: Question, truth: Any) -> Iterator[tuple[tuple[str, ...], Fraction]]:
    """Everything that the devices can show to somebody with this answer, and its chance."""
    if not question.devices:
        yield (), Fraction(1)
        return
    times = question.design.report_count() - 1 if question.procedure.name == "kuk" else 1
    pack = question.devices[question.design.categories.index(truth) if question.procedure.name == "kuk" else 0]
    for shown in product(pack.chances.items(), repeat=times):
        yield tuple(outcome for outcome, _ in shown), math.prod((chance for _, chance in shown), start=Fraction(1))


@asked
def test_who_does_what_the_card_says_carries_out_the_design(question: Question) -> None:
    """The chance of every report, summed over what the devices show, is that of the exact matrix."""
    design, share = question.design, question.procedure.innocuous
    harmless = [(None, Fraction(1))] if share is None else [("yes", share), ("no", 1 - share)]
    for j, truth in enumerate(design.categories):
        found = dict.fromkeys(design.report_labels(), Fraction(0))
        for (drawn, chance), (other, part) in product(draws(question, truth), harmless):
            found[said(question, truth, drawn, other)] += chance * part
        for row, report in enumerate(design.report_labels()):
            # A device has simple fractions; integers out of 2^64 are the nearest to them.
            assert abs(found[report] - design.matrix(exact=True)[row][j]) <= Fraction(1, 2**62)


@asked
def test_devices_have_whole_parts(question: Question) -> None:
    for one in question.devices:
        assert sum(part.count for part in one.parts) == one.base <= MOST_PARTS[one.kind]
        if one.kind == "die":
            faces = sorted(face for part in one.parts for face in part.faces)
            assert faces == (list(range(1, 7)) if one.dice == 1 else list(range(2, 13)))


def test_two_dice_count_pairs() -> None:
    (dice,) = QUESTIONS["forced_dice"].devices
    pairs = [a + b for a, b in product(range(1, 7), repeat=2)]
    assert {part.outcome: part.count for part in dice.parts} == {
        part.outcome: sum(total in part.faces for total in pairs) for part in dice.parts
    }
    assert [part.faces for part in dice.parts] == [(2, 3, 4), (11, 12), (5, 6, 7, 8, 9, 10)]


# Words.


@asked
@pytest.mark.parametrize("language", ["en", "de"])
def test_no_gap_stays_open_and_every_number_is_the_designs(question: Question, language: str) -> None:
    lines = [
        *instruction(question, language),
        *protection(question, language),
        *interviewing(question, language),
        *identity(question, language),
    ]
    assert not re.search(r"[{}]", "".join(lines))
    for one in question.devices:
        for part in one.parts:
            assert meaning(question, part, language)
    told = " ".join(instruction(question, language))
    if question.devices and question.devices[0].kind != "die":
        counts = {str(count) for one in question.devices for count in (one.base, *(part.count for part in one.parts))}
        assert set(re.findall(r"\d+", told)) <= counts | {str(label) for label in question.design.report_labels()}


def test_what_an_answer_proves_is_said() -> None:
    assert protection(QUESTIONS["forced_one"], "en") == [
        "Be aware: to say “no” shows for certain that your true answer is “no”."
    ]
    told = protection(QUESTIONS["warner_spinner"], "de")[0]
    assert "höchstens 70 von 100" in told
    assert "mindestens 30 von 100" in told


def test_german_writes_a_comma_before_decimals() -> None:
    question = QUESTIONS["warner_spinner"]
    told = {language: [*interviewing(question, language), *identity(question, language)] for language in ("en", "de")}
    assert "2.334 for one report, 5.445 for two" in " ".join(told["en"])
    assert "2,334 bei einem Bericht und 5,445 bei zweien" in " ".join(told["de"])
    assert "0,8473" in " ".join(told["de"])
    assert not re.search(r"\d\.\d", " ".join(told["de"]))


def test_all_languages_have_the_same_texts_and_gaps() -> None:
    gaps = re.compile(r"\{\w+\}")
    english = known()["en"]
    for texts in known().values():
        assert list(texts) == list(english)
        for name, text in texts.items():
            assert set(gaps.findall(text)) == set(gaps.findall(english[name])), name


def test_a_language_of_ones_own_needs_all_texts() -> None:
    french = {**known()["en"], "language": "Français", "red": "rouge"}
    question = ask(D.warner(truth_prob=0.7), {"fr": "Avez-vous … ?"}, name="q", texts={"fr": french})
    assert 'lang="fr"' in page(question)
    with pytest.raises(DataError, match=r"the language 'fr' lacks \d+ texts, such as"):
        ask(D.warner(truth_prob=0.7), {"fr": "Avez-vous … ?"}, name="q", texts={"fr": {"red": "rouge"}})
    with pytest.raises(DataError, match=r"has the gap \{x\}"):
        texts_of("en", {"en": {"red": "{x}"}})
    with pytest.raises(DataError, match=r"there is no text 'rod'; .*nearest is 'red'"):
        texts_of("en", {"en": {"rod": "x"}})


# Forms.


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A form with every procedure, converted by pyxform and accepted by ODK Validate, which runs on Java."""
    path = tmp_path_factory.mktemp("form") / "form.xlsx"
    path.write_bytes(xlsform(list(QUESTIONS.values()), title="A masked survey"))
    return convert(path, validate=True)


def test_a_form_is_valid(form: Any) -> None:
    assert form.warnings == []
    languages = re.findall(r'<translation lang="([^"]+)"', form.xform)
    assert languages == ["English (en)", "Deutsch (de)"]


def test_what_is_no_form_is_not_accepted(tmp_path: Path) -> None:
    """Both judges can say no: pyxform to a type that there is not, ODK Validate to a formula that does not end."""
    label = {"label::English (en)": "x"}
    for row in ({"type": "once", "name": "a", **label}, {"type": "calculate", "name": "a", "calculation": "1 + ("}):
        sheets = {"survey": [row, {"type": "text", "name": "b", **label}], "settings": [{"form_id": "f"}]}
        (tmp_path / "form.xlsx").write_bytes(workbook(sheets))
        with pytest.raises((PyXFormError, ODKValidateError)):
            convert(tmp_path / "form.xlsx", validate=True)


def test_a_form_takes_reports_and_knows_nothing_else(form: Any) -> None:
    """One question of reports a variable; all that is computed is the constant fingerprint, and nothing is drawn."""
    root = ET.fromstring(form.xform)
    xforms = "{http://www.w3.org/2002/xforms}"
    asks = [item for kind in ("select1", "input", "select", "upload", "range") for item in root.iter(f"{xforms}{kind}")]
    choices = [item for item in asks if item.tag == f"{xforms}select1"]
    assert [item.attrib["ref"].rpartition("/")[2] for item in choices] == list(QUESTIONS)
    notes = [item.attrib["ref"].rpartition("/")[2] for item in asks if item.tag == f"{xforms}input"]
    assert notes == [f"{name}_how" for name in QUESTIONS]
    bindings = {item.attrib["nodeset"].rpartition("/")[2]: item.attrib for item in root.iter(f"{xforms}bind")}
    assert all(bindings[note]["readonly"] == "true()" for note in notes)
    computed = {name: item["calculate"] for name, item in bindings.items() if "calculate" in item}
    prints = {f"{name}_design": f"'{question.design.fingerprint}'" for name, question in QUESTIONS.items()}
    assert {name: text for name, text in computed.items() if name != "instanceID"} == prints
    assert not re.search(r"random\(|once\(|relevant=", form.xform)


def test_a_form_is_the_same_file_each_time_and_holds_text_only() -> None:
    question = QUESTIONS["many_answers"]
    first = xlsform(question, title="=1+1 <&>")
    assert first == xlsform(question, title="=1+1 <&>")
    book = load_workbook(io.BytesIO(first))
    assert book.sheetnames == ["survey", "choices", "settings"]
    assert book["settings"]["A2"].value == "=1+1 <&>"
    assert all(cell.data_type in ("s", "inlineStr", "n") for sheet in book for row in sheet for cell in row)
    names = [row[1].value for row in book["choices"].iter_rows(min_row=2)]
    assert names == ["never", "once", "often"]


def test_sheets_of_many_columns_are_read_back() -> None:
    row = {f"c{i}": f"<{i}> & “x”" for i in range(60)}
    sheet = load_workbook(io.BytesIO(workbook({"one": [row, {"c59": "last"}]})))["one"]
    read = [[cell.value for cell in line] for line in sheet.iter_rows()]
    assert read == [list(row), list(row.values()), [None] * 59 + ["last"]]


def test_labels_that_are_no_plain_words_are_stored_by_number() -> None:
    question = ask(D.warner(["Yes, I did", "No"], truth_prob=0.7), "Did you?", name="q")
    assert stored_names(question) == {"Yes, I did": "r0", "No": "r1"}
    assert stored_names(QUESTIONS["kuk"]) == {count: str(count) for count in range(5)}


@pytest.mark.parametrize("way", ["form", "once(random())", "phone", "random"])
def test_a_form_that_draws_is_refused_with_the_reason(way: str) -> None:
    with pytest.raises(DesignError, match="must first be told the true answer; it then holds it"):
        ask(D.warner(truth_prob=0.7), "Did you?", name="q", device=way)
    with pytest.raises(DesignError, match="must first be told the true answer"):
        realisable(D.warner(truth_prob=0.7), way)


# Devices that have the chances, and those that do not.


def test_what_no_device_gives_exactly_is_refused_with_the_price_of_the_nearest() -> None:
    promised = D.warner(truth_prob=0.7318)
    with pytest.raises(DesignError, match=r"no spinner .* ε 1.004 instead of 1.004, added variance 1.827 instead of"):
        ask(promised, "Did you?", name="q", device="spinner")
    done = realisable(promised, "spinner")
    assert ask(done, "Did you?", name="q", device="spinner").design == done


PROMISED = {
    "warner": D.warner(truth_prob=0.7318),
    "warner below a half": D.warner(truth_prob=0.2718),
    "forced": D.forced_response(yes_prob=0.1234, no_prob=0.0567),
    "k-ary": D.gamma_diagonal(5, epsilon=1.5),
    "unrelated": D.unrelated_question(sensitive_prob=0.6543, innocuous_yes=0.25),
    "kuk": D.kuk(red_if_yes=0.7182, red_if_no=0.3141, draws=2),
}


@pytest.mark.parametrize("kind", ["cards", "spinner"])
@pytest.mark.parametrize("promised", PROMISED.values(), ids=PROMISED)
def test_the_nearest_design_protects_no_less_and_is_the_most_precise_of_all(promised: D.Design, kind: str) -> None:
    steps = procedure(promised)
    if kind not in steps.devices:
        with pytest.raises(DesignError, match="device must be cards"):
            realisable(promised, kind)
        return
    done = realisable(promised, kind)
    assert done.exact_parity() <= promised.exact_parity()
    assert all(device(kind, pack) is not None for pack in procedure(done).packs)  # type: ignore[arg-type]
    best = math.inf
    for base in range(2, MOST_PARTS[kind] + 1):  # type: ignore[index]
        chances = steps.coarser(base)
        if chances is not None:
            best = min(best, steps.build(chances).added_variance)
    assert done.added_variance == pytest.approx(best)
    assert done.added_variance < 1.25 * promised.added_variance


def test_a_die_takes_the_best_it_can() -> None:
    promised = D.forced_response(yes_prob=0.15, no_prob=0.05)
    done = realisable(promised, "die")
    (dice,) = ask(done, "Did you?", name="q", device="die").devices
    # Two dice: a 7 forces a yes, 6 times out of 36; a 3 forces a no, twice.
    assert [part.faces for part in dice.parts] == [(7,), (3,), (2, 4, 5, 6, 8, 9, 10, 11, 12)]
    assert done.exact_parity() <= promised.exact_parity()


def test_two_dice_force_more_than_two_answers() -> None:
    planned = mw.plan(["a", "b", "c", "d"], mw.RhoPrivacy(Fraction(1, 10), Fraction(1, 2)))
    question = ask(planned, "?", name="q", device="die")
    (dice,) = question.devices
    assert [part.faces for part in dice.parts] == [(4,), (10,), (2, 3), (11, 12), (5, 6, 7, 8, 9)]
    assert [part.count for part in dice.parts] == [3, 3, 3, 3, 24]
    assert (question.design.name, question.design.exact_parity()) == ("forced_response", 9)
    assert question.design.demand == planned.demand
    assert "the sum of two dice" in question.summary()


def test_a_demand_is_named_only_where_it_is_kept() -> None:
    """1/10 and 1/2 as floats allow a parity just below 9, which no device has."""
    planned = mw.plan(["a", "b", "c", "d"], mw.RhoPrivacy(0.1, 0.5))
    assert ask(planned, "?", name="q", device="spinner").design.demand is None
    kept = mw.plan(3, mw.LDP(1.5))
    assert realisable(kept, "spinner").demand == kept.demand


def test_a_float_is_taken_for_the_simple_fraction_that_it_means() -> None:
    question = QUESTIONS["warner_spinner"]
    assert [part.count for part in question.devices[0].parts] == [7, 3]
    assert question.design == D.warner(truth_prob=Fraction(7, 10))


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "not by hand": ({"design": D.minimax(10, epsilon=1)}, "is no procedure that a respondent carries out by hand"),
    "two variables": ({"design": D.product(D.direct(2), D.direct(2))}, "is no procedure"),
    "open answers": ({"design": D.direct(2)}, "is no procedure"),
    "unknown device": ({"device": "coin"}, "device must be spinner or cards"),
    "name": ({"name": "two words"}, "name must be letters"),
    "a number for a name": ({"name": 5}, "name must be letters"),
    "a number for a question": ({"text": 5}, "text must be a question, or one for each language"),
    "labels in a language that is not asked": ({"labels": {"fr": {"yes": "oui"}}}, "given in 'fr', but text is not"),
    "texts in a language that is not asked": ({"texts": {"fr": {}}}, "given in 'fr', but text is not"),
    "empty": ({"text": " "}, "text is empty in the language 'en'"),
    "no language": ({"text": {}}, "in one language at least"),
    "a reference": ({"text": "Did ${other} …?"}, "would put another answer in its place"),
    "a tag": ({"text": {"English": "Did you?"}}, "given by its tag"),
    "harmless": ({"innocuous": "Were you?"}, "has no harmless question"),
    "labels": ({"labels": {"en": {"maybe": "perhaps"}}}, "neither an answer nor a report"),
    "no harmless": ({"design": D.crosswise(innocuous_prob=0.25)}, "a share of 0.25 of all people"),
    "harmless in another language": (
        {"design": D.crosswise(innocuous_prob=0.25), "innocuous": {"de": "?"}},
        "in the languages of text",
    ),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_bad_questions_are_refused(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"design": D.warner(truth_prob=0.7), "text": "Did you?", "name": "q", **changed}
    with pytest.raises(MaskwellError, match=re.escape(message)):
        ask(given.pop("design"), given.pop("text"), **given)


def test_questions_of_a_form_go_together() -> None:
    one = QUESTIONS["kuk"]
    with pytest.raises(DataError, match="two parts of the form would be called 'kuk'"):
        xlsform([one, one], title="x")
    with pytest.raises(DataError, match="same languages"):
        xlsform([one, ask(D.warner(truth_prob=0.7), "Did you?", name="q")], title="x")
    with pytest.raises(DataError, match="form_id must be"):
        xlsform(one, title="x", form_id="a b")
    with pytest.raises(DataError, match="one question at least"):
        xlsform([], title="x")
    with pytest.raises(DataError, match="would put another answer in its place"):
        xlsform(ask(D.warner(["${kuk}", "no"], truth_prob=0.7), "Did you?", name="q"), title="x")
    with pytest.raises(DataError, match="not given in 'fr'"):
        page(one, "fr")


# Pages.


def angles(drawing: str) -> list[float]:
    """The angle of every sector, in parts of a turn, from the points of its path."""
    found = []
    for x0, y0, large, x1, y1 in re.findall(
        r'class="part" d="M0 0L(\S+) (\S+)A\S+ \S+ 0 (\d) 1 (\S+) (\S+)Z"', drawing
    ):
        start, end = math.atan2(float(x0), -float(y0)), math.atan2(float(x1), -float(y1))
        assert math.hypot(float(x0), float(y0)) == pytest.approx(RADIUS, abs=1e-4)
        turn = (end - start) / (2 * math.pi) % 1
        assert (turn > 0.5) == (large == "1") or turn == pytest.approx(0.5, abs=1e-6)
        found.append(turn)
    return found


@pytest.mark.parametrize("counts", [(7, 3), (1, 1), (1, 359), (120, 1, 119, 120), (1,) * 36])
def test_the_angles_of_a_spinner_are_the_chances(counts: tuple[int, ...]) -> None:
    base = sum(counts)
    chances = {f"say {i}": Fraction(count, base) for i, count in enumerate(counts)}
    one = device("spinner", chances)
    assert one is not None
    drawn = angles(spinner(one, ["x"] * len(counts)))
    np.testing.assert_allclose(drawn, [count / base for count in counts], atol=1e-6)


@asked
def test_a_page_prints_the_devices_and_needs_no_network(question: Question) -> None:
    for language in question.languages:
        text = page(question, language)
        assert not re.search(r"https?://(?!www\.w3\.org/)|<script|@import", text)
        cards = sum(one.base for one in question.devices if one.kind == "cards")
        assert text.count('<svg class="card"') == cards
        assert text.count('class="spinner" xmlns') == sum(one.kind == "spinner" for one in question.devices)
        for one in question.devices:
            if one.kind == "spinner":
                np.testing.assert_allclose(angles(text), [float(p) for p in one.chances.values()], atol=1e-6)
        assert question.design.fingerprint in text


def test_what_somebody_writes_stays_text() -> None:
    hostile = "<script>alert(1)</script> & \u202e"
    question = ask(D.warner([hostile, "b"], truth_prob=0.7), hostile, name="q")
    text = page(question)
    assert "<script" not in text
    assert "\u202e" not in text
    book = load_workbook(io.BytesIO(xlsform(question, title=hostile)))
    assert book["survey"]["C2"].value.startswith("<script>")


def test_scripts_keep_what_they_need() -> None:
    """French spaces and Persian joiners stay; what would turn the rest of the page, or clear a terminal, goes."""
    asked_in = {"en": "Was\u00a0it? \u0645\u06cc\u200c\u062e \u202eevil\x1b[2J"}
    question = ask(D.warner(truth_prob=0.7), asked_in, name="q")
    assert question.wording["en"] == "Was\u00a0it? \u0645\u06cc\u200c\u062e evil[2J"
    assert question.wording["en"] in page(question)
    assert load_workbook(io.BytesIO(xlsform(question, title="x")))["survey"]["C2"].value == question.wording["en"]


@asked
def test_a_question_shows_itself(question: Question) -> None:
    told = json.loads(json.dumps(question.to_dict()))
    assert told["name"] == question.name
    assert told["design"]["fingerprint"] == question.design.fingerprint
    assert "ε" in question.summary()
    assert question.procedure.name in repr(question) or question.design.title in repr(question)


def test_a_survey_by_hand_is_estimated_by_the_design_that_is_carried_out() -> None:
    """Answers drawn by the parts of the device, counted as reports of ``question.design``."""
    question = QUESTIONS["forced_die"]
    rng = np.random.default_rng(8)
    truths = rng.random(20_000) < 0.3
    (die,) = question.devices
    outcomes = rng.choice([part.outcome for part in die.parts], len(truths), p=[float(p) for p in die.chances.values()])
    reports = [said(question, "yes" if t else "no", (o,), None) for t, o in zip(truths, outcomes, strict=True)]
    counts = [reports.count(label) for label in question.design.report_labels()]
    estimate = mw.estimate(mw.Tally.from_counts(question.design, counts))
    assert abs(estimate.proportions[0] - 0.3) < 5 * estimate.standard_errors[0]
