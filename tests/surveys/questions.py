"""Questions by every procedure that respondents carry out by hand."""

from fractions import Fraction

from maskwell import designs as D
from maskwell.questionnaires import Question, ask

SENSITIVE = {"en": "Have you ever evaded taxes?", "de": "Haben Sie je Steuern hinterzogen?"}
HARMLESS = {
    "en": "Was your mother born in January, February or March?",
    "de": "Ist Ihre Mutter im Januar, Februar oder März geboren?",
}
SIXTH = Fraction(1, 6)


def questions() -> dict[str, Question]:
    """One for each procedure and device, in two languages, by name."""
    forced = D.forced_response(yes_prob=SIXTH, no_prob=SIXTH)
    found = {
        "warner_spinner": ask(D.warner(truth_prob=0.7), SENSITIVE, name="warner_spinner"),
        "warner_cards": ask(D.warner(truth_prob=0.3), SENSITIVE, name="warner_cards", device="cards"),
        "forced_cards": ask(forced, SENSITIVE, name="forced_cards"),
        "forced_spinner": ask(forced, SENSITIVE, name="forced_spinner", device="spinner"),
        "forced_die": ask(forced, SENSITIVE, name="forced_die", device="die"),
        # The sums 2 to 4 force a yes, 11 and 12 a no.
        "forced_dice": ask(
            D.forced_response(yes_prob=SIXTH, no_prob=Fraction(1, 12)), SENSITIVE, name="forced_dice", device="die"
        ),
        "forced_one": ask(D.forced_response(yes_prob=0.25, no_prob=0), SENSITIVE, name="forced_one"),
        "many_answers": ask(
            D.gamma_diagonal(["never", "once", "often"], gamma=4),
            SENSITIVE,
            name="many_answers",
            labels={"de": {"never": "nie", "once": "einmal", "often": "oft"}},
        ),
        "unrelated_cards": ask(
            D.unrelated_question(sensitive_prob=0.7, innocuous_yes=0.25),
            SENSITIVE,
            name="unrelated_cards",
            innocuous=HARMLESS,
        ),
        "unrelated_spinner": ask(
            D.unrelated_question(sensitive_prob=0.7, innocuous_yes=0.25),
            SENSITIVE,
            name="unrelated_spinner",
            innocuous=HARMLESS,
            device="spinner",
        ),
        "crosswise": ask(D.crosswise(innocuous_prob=0.25), SENSITIVE, name="crosswise", innocuous=HARMLESS),
        "kuk": ask(D.kuk(red_if_yes=0.8, red_if_no=0.4, draws=4), SENSITIVE, name="kuk"),
        "kuk_once": ask(D.kuk(red_if_yes=0.7, red_if_no=0.2, draws=1), SENSITIVE, name="kuk_once"),
    }
    return found
