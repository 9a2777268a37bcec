"""The plug-in for SurveyJS with the real survey-core: what it hands on holds reports, and nothing of the answers."""

import json
from typing import Any

import maskwell as mw
from tests.browser.harness import SHIPPED, node, npm_part

d = mw.designs
DESIGNS = {
    "drugs": d.warner(truth_prob=0.8),
    "day": d.minimax(["Monday", "Tuesday", "Wednesday", "Thursday"], gamma=2),
    "place": d.projective([f"Place {i}" for i in range(12)], gamma=3),
    "both": d.product(
        d.gamma_diagonal([True, False], gamma=5), d.gamma_diagonal([1, 2, 3], gamma=2), names=["ill", "often"]
    ),
}


def question(name: str, labels: Any, kind: str = "radiogroup", **more: Any) -> dict[str, Any]:
    if kind == "boolean":
        return {"type": kind, "name": name, **more}
    return {"type": kind, "name": name, "choices": list(labels), **more}


PAGES = [
    {"elements": [question("drugs", ["yes", "no"]), {"type": "text", "name": "age"}]},
    {"elements": [question("day", DESIGNS["day"].categories, "dropdown")]},
    {"elements": [question("place", DESIGNS["place"].categories, "dropdown"), question("ill", (), "boolean")]},
    {"elements": [question("often", [1, 2, 3])]},
]
FORM = {"pages": PAGES}
TRUTHS: list[dict[str, Any]] = [
    {"drugs": "yes", "day": "Monday", "place": "Place 3", "ill": True, "often": 1, "age": 44},
    {"drugs": "no", "day": "Thursday", "place": "Place 11", "ill": False, "often": 3, "age": 44},
    {"drugs": "yes", "age": 44},
]


def tried(*surveys: dict[str, Any]) -> list[Any]:
    npm_part("survey-core")
    given = {"surveys": surveys, "designs": {name: design.to_json() for name, design in DESIGNS.items()}}
    found: list[Any] = node("try_surveyjs.mjs", SHIPPED / "surveyjs.js", given=json.dumps(given))
    return found


def test_what_is_handed_on_holds_reports_and_no_answer() -> None:
    outcomes = tried(*({"try": "answered", "json": FORM, "masked": list(DESIGNS), "answers": t} for t in TRUTHS))
    for outcome, truth in zip(outcomes, TRUTHS, strict=True):
        assert outcome["state"] == "completed"
        assert len(outcome["sent"]) == 1
        data = json.loads(outcome["sent"][0])[0]
        assert data.keys() - {"age"} <= {"drugs_report", "day_report", "place_report", "both_report"}
        assert data["age"] == 44
        assert data["drugs_report"] in (0, 1)
        assert [value for value in outcome["questions"] if value is not None] == [44]
        assert truth["drugs"] not in outcome["sent"][0]
        assert "Place" not in outcome["sent"][0]
    # One question was left out: null where something was answered at all.
    assert json.loads(outcomes[2]["sent"][0])[0].get("day_report") is None


def test_two_answers_whose_reports_coincide_hand_on_the_same_bytes() -> None:
    labels = DESIGNS["place"].categories
    form = {"pages": [{"elements": [question("place", labels)]}]}
    asked = [{"try": "answered", "json": form, "masked": ["place"], "answers": {"place": label}} for label in labels]
    by_report: dict[str, set[str]] = {}
    for outcome in tried(*asked):
        report = json.loads(outcome["sent"][0])[0]["place_report"]
        by_report.setdefault(str(report), set()).add(outcome["sent"][0])
    assert len(by_report) < len(labels), "no two answers coincide, so nothing was compared"
    assert all(len(sent) == 1 for sent in by_report.values())


def test_a_completion_that_is_called_off_draws_no_second_report() -> None:
    form = {"pages": [{"elements": [question("day", DESIGNS["day"].categories)]}]}
    [outcome] = tried({"try": "calledOff", "json": form, "masked": ["day"], "answers": {"day": "Monday"}})
    assert outcome["state"] == "completed"
    assert len(set(outcome["draws"])) == 1
    assert "Monday" not in outcome["draws"][0]


def form_with(*elements: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"pages": [{"elements": [question("drugs", ["yes", "no"]), *elements]}], **more}


ASIDE = {"type": "text", "name": "aside"}
REFUSED: dict[str, dict[str, Any]] = {
    "other choices": {"json": {"elements": [question("drugs", ["yes", "no", "maybe"])]}},
    "a free answer": {"json": {"elements": [question("drugs", ["yes", "no"], showOtherItem=True)]}},
    "a default": {"json": {"elements": [question("drugs", ["yes", "no"], defaultValue="yes")]}},
    "many answers": {"json": {"elements": [question("drugs", ["yes", "no"], "checkbox")]}},
    "no such question": {"json": {"elements": [ASIDE]}},
    "a report's name is taken": {"json": form_with({"type": "text", "name": "drugs_report"})},
    "visible if": {"json": form_with({**ASIDE, "visibleIf": "{drugs} = 'yes'"})},
    "a title with the answer": {"json": form_with({**ASIDE, "title": "You said {drugs}"})},
    "a trigger": {"json": form_with(ASIDE, triggers=[{"type": "complete", "expression": "{drugs} = 'yes'"}])},
    "a completed page": {"json": form_with(completedHtml="<p>{drugs}</p>")},
    "a server checks": {"json": form_with(), "before": ["onServerValidateQuestions"]},
    "a server checks later": {"json": form_with(), "after": {"events": ["onServerValidateQuestions"]}},
    "partial saves": {"json": form_with(), "after": {"switches": ["partialSendEnabled"]}},
    "partial saves, old name": {"json": form_with(), "after": {"switches": ["sendResultOnPageNext"]}},
    "a handler of partial saves": {"json": form_with(), "before": ["onPartialSend"]},
}


def test_what_it_cannot_vouch_for_is_refused() -> None:
    asked = [{"try": "refusal", "masked": ["drugs"], **survey} for survey in REFUSED.values()]
    fine = {"try": "refusal", "masked": ["drugs"], "json": form_with(ASIDE)}
    *outcomes, accepted = tried(*asked, fine)
    assert accepted is None
    passed = [name for name, outcome in zip(REFUSED, outcomes, strict=True) if outcome is None]
    assert passed == []
    assert all(outcome.startswith("MaskError: ") for outcome in outcomes)
    assert [outcome for outcome in outcomes if "\n" in outcome] == []


def test_off_a_secure_context_it_refuses_before_the_form_is_shown() -> None:
    [outcome] = tried({"try": "insecure", "json": form_with(), "masked": ["drugs"]})
    assert "secure context" in outcome
