"""Plain words are true: every number in them is recomputed from the matrix, and a codebook needs nothing else.

A number's value is compared exactly where it is a fraction, and its text with rounding done here in another way.
"""

import json
import math
import re
import string
import time
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest

import maskwell as mw
from maskwell import designs
from maskwell.designs.kinds.projective import ProjectiveDesign
from maskwell.words.codebook import codebook
from maskwell.words.explanation import Audience, explain
from maskwell.words.sentences import Number, Sentence
from maskwell.words.survey_procedures import instructions
from tests.conformance.members import MEMBERS

AUDIENCES = get_args(Audience)
CASES = {f"{title}, {audience}": (design, audience) for title, design in MEMBERS.items() for audience in AUDIENCES}
TITLES = {**MEMBERS, "labels": designs.minimax(["7 or more", "{odd}", "a|b", "0"], epsilon=2)}

# Words for numbers would escape the check of digits.
NUMBER_WORDS = r"\b(zero|two|three|four|five|six|seven|eight|nine|ten|dozen|half|third|quarter|twice|double|hundred)\b"
JARGON = r"ε|epsilon|parity|variance|estimator|probabilit|randomi|posterior|prior|LDP|matrix|categor|bayes|design"


class Table:
    """The matrix of a design, and what a reader could work out from it by hand."""

    def __init__(self, design: mw.Design) -> None:
        self.design, self.P, self.reports = design, design.matrix(exact=True), design.report_labels()
        if isinstance(design, ProjectiveDesign):  # a hyperplane stands for the set of what it holds
            self.reports = [frozenset(design.members(report)) for report in self.reports]
        self.k = len(design.categories)
        self.possible = [z for z, row in enumerate(self.P) if any(row)]

    def holds(self, z: int, j: int) -> bool:
        report, category = self.reports[z], self.design.categories[j]
        return category in report if isinstance(report, frozenset) else category == report

    def inclusion(self, i: int, j: int) -> Fraction:
        """The chance that a report holds category i when the truth is j."""
        return sum((self.P[z, j] for z in self.possible if self.holds(z, i)), Fraction(0))

    def same(self, values: list[Fraction]) -> Fraction:
        """One number for all truths, if it is the same for all of them."""
        assert len(set(values)) == 1
        return values[0]

    def truth_recorded(self) -> Fraction:
        return self.same([self.inclusion(j, j) for j in range(self.k)])

    def other_recorded(self) -> Fraction:
        return self.same([self.inclusion(i, j) for i in range(self.k) for j in range(self.k) if i != j])

    def sizes(self) -> list[int]:
        labels = [self.reports[z] for z in self.possible]
        return [len(label) if isinstance(label, frozenset) else 1 for label in labels]

    def guess(self) -> Fraction:
        return Fraction(sum(max(row) for row in self.P), self.k)

    def parity(self) -> Fraction:
        return max(max(self.P[z]) / min(self.P[z]) for z in self.possible)

    def exposure(self) -> Fraction:
        proving = [z for z in self.possible if sum(p > 0 for p in self.P[z]) == 1]
        return max(sum((self.P[z, j] for z in proving), Fraction(0)) for j in range(self.k))

    def diversity(self) -> int:
        for z in self.possible:
            assert len({p for p in self.P[z] if p}) == 1
        return min(sum(p > 0 for p in self.P[z]) for z in self.possible)

    def scores(self) -> np.ndarray:
        """The estimate from one report at a time, asked of the library."""
        unit = np.eye(len(self.reports))
        rows = np.zeros((len(self.reports), self.k))
        for z in self.possible:
            rows[z] = mw.estimate(mw.Tally.from_counts(self.design, unit[z])).proportions
        return rows

    def added_variance(self) -> float:
        return float((self.P.astype(float).T @ (self.scores() ** 2).sum(axis=1)).max()) - 1

    def worth(self) -> float:
        chances = self.P.astype(float).mean(axis=1)
        return (1 - 1 / self.k) / (float(chances @ (self.scores() ** 2).sum(axis=1)) - 1 / self.k)

    def chance(self, report: Any, truth: Any) -> Fraction:
        return Fraction(self.P[self.reports.index(report), self.design.categories.index(truth)])

    def excluded(self) -> list[int]:
        """How many truths each possible report rules out."""
        return [sum(p == 0 for p in self.P[z]) for z in self.possible]


def first_device(design: mw.Design) -> Fraction:
    """Two devices in a row make one chance, so that what the first one does is not in the matrix."""
    return Fraction(design.parameters["direct_prob"])


RECOMPUTED: dict[str, Callable[[Table, Number], Any]] = {
    "base": lambda t, n: n.value,
    "categories": lambda t, n: t.k,
    "least size": lambda t, n: min(t.sizes()),
    "most size": lambda t, n: max(t.sizes()),
    "left off": lambda t, n: t.k - min(t.sizes()),
    "truth recorded": lambda t, n: t.truth_recorded(),
    "truth not recorded": lambda t, n: 1 - t.truth_recorded(),
    "other recorded": lambda t, n: t.other_recorded(),
    "chance": lambda t, n: t.chance(*n.of),
    "guess": lambda t, n: t.guess(),
    "blind guess": lambda t, n: Fraction(1, t.k),
    "parity": lambda t, n: t.parity(),
    "parity of a second record": lambda t, n: t.parity() ** 2,
    "epsilon": lambda t, n: math.log(t.parity()),
    "even belief": lambda t, n: Fraction(1, 2),
    "belief at most": lambda t, n: t.parity() / (1 + t.parity()),
    "belief at least": lambda t, n: 1 / (1 + t.parity()),
    "exposure": lambda t, n: t.exposure(),
    "diversity": lambda t, n: t.diversity(),
    "added variance": lambda t, n: t.added_variance(),
    "worth": lambda t, n: t.worth(),
    "further exclusions": lambda t, n: sum(out > 0 for out in t.excluded()) - 12,
    # Procedures, solved from the two chances of each report.
    "statement": lambda t, n: t.P[0, 0],
    "forced yes": lambda t, n: t.P[0, 1],
    "forced no": lambda t, n: t.P[1, 0],
    "free to answer": lambda t, n: t.P[0, 0] - t.P[0, 1],
    "question of the survey": lambda t, n: t.P[0, 0] - t.P[0, 1],
    "innocuous yes": lambda t, n: t.P[0, 1] / (t.P[0, 1] + t.P[1, 0]),
    "innocuous first": lambda t, n: t.P[0, 0],
    "statement for who says no": lambda t, n: t.P[1, 1],
    "asked for the truth": lambda t, n: first_device(t.design),
    "statement after a card": lambda t, n: (t.P[0, 0] - first_device(t.design)) / (1 - first_device(t.design)),
    "innocuous yes of two": lambda t, n: t.P[0, 1],
    "number to take from": lambda t, n: min(t.reports) + max(t.reports),
    "free to answer by category": lambda t, n: t.P[0, 0] - t.P[0, 1],
    "forced to say": lambda t, n: t.P[n.of[0], n.of[0] - 1],
    "draws": lambda t, n: len(t.reports) - 1,
    "red if yes": lambda t, n: sum(z * t.P[z, 0] for z in range(len(t.reports))) / (len(t.reports) - 1),
    "red if no": lambda t, n: sum(z * t.P[z, 1] for z in range(len(t.reports))) / (len(t.reports) - 1),
}


def check_text(number: Number) -> None:
    """The text is the value, times its base, rounded as it says."""
    exact = Fraction(number.value) * number.base
    if exact == 0 or (number.base > 1 and exact == number.base):
        assert number.text in ("none", "0") if exact == 0 else number.text == f"all {number.base:,}"
        return
    shown = Decimal(number.text.removeprefix("about ").replace(",", ""))
    off = Fraction(shown) - exact
    # What a float such as 0.8 is off by is not rounded outward.
    slack = exact / 10**11
    if number.base == 1 and not isinstance(number.value, int):
        # Four significant digits, or the first two of a limit.
        coarse = exact / 10 if number.rounding == "up" else exact / 2000
        assert (-slack if number.rounding == "up" else -coarse) <= off <= coarse
        return
    mode = {"nearest": ROUND_HALF_EVEN, "up": ROUND_CEILING, "down": ROUND_FLOOR}[number.rounding]
    nudged = exact + {"nearest": 0, "up": -slack, "down": slack}[number.rounding]
    assert shown == (Decimal(nudged.numerator) / Decimal(nudged.denominator)).to_integral_value(mode)
    approximate = number.rounding == "nearest" and abs(off) >= Fraction(1, 1000)
    assert number.text.startswith("about ") == approximate


def check_sentence(sentence: Sentence, table: Table) -> None:
    """No digit of its own, and each placeholder a number that can be recomputed or a label of the design."""
    literal = "".join(text for text, *_ in string.Formatter().parse(sentence.template))
    assert not re.search(r"\d", literal)
    assert not re.search(NUMBER_WORDS, literal, re.IGNORECASE)
    fields = {name for _, name, *_ in string.Formatter().parse(sentence.template) if name}
    assert fields == {*sentence.numbers, *sentence.labels}
    for number in sentence.numbers.values():
        expected = RECOMPUTED[number.quantity](table, number)
        if isinstance(expected, float) or number.quantity == "statement after a card":
            assert float(number.value) == pytest.approx(expected, rel=1e-9)
        else:
            assert Fraction(number.value) == expected
        check_text(number)
        if number.base > 1:
            assert sentence.numbers["base"].value == number.base
    if "base" in sentence.numbers:
        # A device is made of as many parts or cards as its chances need; people come in round numbers.
        made = re.search(r"\b(cards|equal parts)\b", sentence.template)
        assert re.fullmatch(r"[1-9]\d*" if made else r"100*", sentence.numbers["base"].text.replace(",", ""))
    design = table.design
    known = {str(c) for c in design.categories} | {str(r) for r in table.reports if not isinstance(r, frozenset)}
    known |= {design.name, design.demand.describe() if design.demand else ""}
    for label in sentence.labels.values():
        if label in known:
            continue
        quoted = re.findall(r"“(.*?)”", label)
        assert quoted
        sets = {frozenset(str(c) for c in r) for r in table.reports if isinstance(r, frozenset)}
        assert all(q in known or frozenset(q.split(", ")) in sets for q in quoted)


@pytest.mark.parametrize("case", CASES)
def test_every_number_in_every_sentence_comes_from_the_matrix(case: str) -> None:
    design, audience = CASES[case]
    explanation = explain(design, audience)
    table = Table(design)
    assert explanation.sentences
    for sentence in explanation.sentences:
        check_sentence(sentence, table)
        assert sentence.text[0].isupper()
        assert sentence.text[-1] in ".:"
    assert str(explanation).splitlines() == [sentence.text for sentence in explanation.sentences]


def test_the_check_of_numbers_notices_wrong_ones() -> None:
    """A value off by one part in a thousand, a text off by one person and a digit in a template are all refused."""
    design = designs.gamma_diagonal(3, epsilon=1)
    sentence = next(s for s in explain(design).sentences if "hit" in s.numbers)
    hit, table = sentence.numbers["hit"], Table(design)
    count = int(hit.text.removeprefix("about "))
    wrong = [
        Sentence(sentence.template, {**sentence.numbers, "hit": Number(hit.text, v, hit.quantity, base=100)})
        for v in (Fraction(hit.value) * Fraction(1001, 1000),)
    ]
    for text in (f"about {count + 1}", f"about {count - 1}", f"{count}"):
        wrong.append(
            Sentence(sentence.template, {**sentence.numbers, "hit": Number(text, hit.value, hit.quantity, base=100)})
        )
    wrong.append(Sentence(sentence.template + " Trust us 100 %.", sentence.numbers))
    check_sentence(sentence, table)
    for altered in wrong:
        with pytest.raises(AssertionError):
            check_sentence(altered, table)


@pytest.mark.parametrize("title", MEMBERS)
def test_respondents_and_interviewers_meet_no_technical_terms(title: str) -> None:
    for audience in ("respondent", "interviewer"):
        for sentence in explain(MEMBERS[title], audience).sentences:
            assert not re.search(JARGON, sentence.template, re.IGNORECASE)
            assert len(sentence.text) <= 250


@pytest.mark.parametrize("title", MEMBERS)
def test_what_a_record_proves_is_said_and_nothing_else_is(title: str) -> None:
    design, table = MEMBERS[title], Table(MEMBERS[title])
    text = str(explain(design))
    proves = any(out > 0 for out in table.excluded())
    assert ("for certain" in text or "recorded as it is" in text) == proves
    assert ("no more than" in text) == (not proves and table.parity() > 1)
    for z, out in zip(table.possible, table.excluded(), strict=True):
        if out == table.k - 1 and not isinstance(design, designs.SubsetDesign):
            (truth,) = (c for c, p in zip(design.categories, table.P[z], strict=True) if p)
            assert f"record “{table.reports[z]}” knows for certain that the true answer is “{truth}”" in text


def test_weak_protection_is_called_weak() -> None:
    strong, weak = designs.minimax(4, gamma=19), designs.minimax(4, gamma=21)
    assert "nobody can be sure" in str(explain(strong))
    assert "protects you little" in str(explain(weak))
    assert "all but tells you" in str(explain(weak, "interviewer"))
    silent = designs.from_matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    assert "says nothing about you" in str(explain(silent))


def test_instructions_follow_the_procedure() -> None:
    labels = ["took drugs", "did not"]
    shown = {
        "warner": str(explain(designs.warner(labels, truth_prob=Fraction(1, 6)))),
        "forced": str(explain(designs.forced_response(labels, yes_prob=0, no_prob=Fraction(1, 8)))),
        "unrelated": str(explain(designs.unrelated_question(labels, sensitive_prob=0.7, innocuous_yes=0.25))),
        "crosswise": str(explain(designs.crosswise(labels, innocuous_prob=Fraction(1, 4)))),
        "kuk": str(explain(designs.kuk(labels, red_if_yes=0.8, red_if_no=0.4, draws=4))),
    }
    assert "Of the spinner's 12 equal parts 2 bear the statement that your answer is “took drugs”" in shown["warner"]
    assert "Of 16 such cards 2 tell you to say “did not”" in shown["forced"]
    assert "70 show the question of this survey" in shown["unrelated"]
    assert "25 would truthfully answer “took drugs” to the harmless question" in shown["unrelated"]
    assert "to which 25 of 100 people would truthfully answer “took drugs”" in shown["crosswise"]
    assert "80 are red in the first pack and 40 in the second" in shown["kuk"]
    assert "draw 4 cards" in shown["kuk"]


def told(design: mw.Design) -> list[str]:
    """What a respondent is told to do: the sentences before those about what is recorded."""
    return [sentence.text for sentence in instructions(design)]


def test_variants_are_explained_as_they_are_carried_out() -> None:
    labels = ["took drugs", "did not"]
    assert told(designs.mangat(labels, truth_prob="2/3")) == [
        "Spin the spinner where nobody else can see it, whatever your answer is.",
        "Of the spinner's 3 equal parts 2 bear the statement that your answer is “took drugs”, the others the "
        "statement that it is “did not”.",
        "If your answer is “took drugs”, say “took drugs”, whatever the spinner shows. If it is “did not”, say “took "
        "drugs” if the statement that it points to is true for you, and “did not” if it is not.",
    ]
    two = told(designs.mangat_singh(labels, direct_prob="1/4", truth_prob="3/5"))
    assert two[1] == "Of 100 such cards 25 tell you to give your true answer, the others to spin the spinner."
    assert "Of the spinner's 100 equal parts 60 bear" in two[2]
    assert two[3].startswith("If you are to spin: say “took drugs” if the statement")
    assert told(designs.devore(labels, sensitive_prob=0.7))[1] == (
        "Of 100 such cards 70 show the question of this survey, the others one to which everybody's answer is “took "
        "drugs”."
    )
    triangle = told(designs.triangular(labels, innocuous_prob="1/4"))
    assert "to which 25 of 100 people would truthfully answer “took drugs”" in triangle[0]
    assert triangle[1].startswith("Give “triangle” if your answer to at least either of the questions is “took drugs”")
    again = told(designs.singh_joarder(labels, truth_prob="3/5"))
    assert "100 equal parts 60 bear" in again[1]
    assert again[2].startswith("If your answer is “took drugs” and the spinner points to the statement that it is “did")
    assert again[3].endswith("tell nobody how often you spun.")
    numbered = told(designs.christofides(labels, card_probs=["1/2", "1/3", "1/6"]))
    assert numbered[1] == "Of 12 such cards 6 bear the number “1” and 4 bear the number “2” and 2 bear the number “3”."
    assert "if your answer is “did not”. If it is “took drugs”, take that number away from 4" in numbered[2]
    seven = told(designs.christofides(labels, card_probs=[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.4]))
    assert len(seven) == 2


def test_forced_answers_of_many_categories_are_explained() -> None:
    weekly = ["never", "once", "often"]
    die = designs.forced_response(weekly, forced={"never": "1/6", "often": "1/3"})
    assert told(die)[1] == (
        "Of 12 such cards 6 tell you to give your true answer, 2 to say “never” and 4 to say “often”, whatever it is."
    )
    assert told(designs.eriksson(weekly, truth_prob="1/2"))[1].startswith(
        "Of 12 such cards 6 tell you to give your true"
    )
    many = told(designs.eriksson(10, truth_prob="1/2"))
    assert many[1] == (
        "Of 100 such cards 50 tell you to give your true answer; for each of the 10 answers 5 tell you to say it, "
        "whatever yours is."
    )
    uneven = told(designs.eriksson(8, truth_prob="1/2", forced=[0.1, 0.1, 0.1, 0.1, 0.025, 0.025, 0.025, 0.025]))
    assert "the others which answer to say" in uneven[1]
    assert told(designs.eriksson(["yes", "no"], truth_prob=0.6))[1].startswith(
        "Of 100 such cards 20 tell you to say “yes”"
    )
    assert told(designs.forced_response(3, forced=[0, 0, 0])) == []


@pytest.mark.parametrize(
    "design",
    [
        designs.mangat(truth_prob="2/3"),
        designs.mangat_singh(direct_prob="1/4", truth_prob="3/5"),
        designs.devore(sensitive_prob=0.7),
        designs.triangular(innocuous_prob="1/4"),
        designs.singh_joarder(truth_prob="3/5"),
        designs.christofides(card_probs=["1/2", "1/3", "1/6"]),
        designs.forced_response(3, forced=["1/6", 0, "1/3"]),
    ],
    ids=lambda design: design.name,
)
def test_who_does_as_told_reports_with_the_chances_of_the_design(design: mw.Design) -> None:
    """The procedure, walked through with the chances that are read out, gives the matrix."""
    shares = {n.quantity: Fraction(n.value) for s in instructions(design) for n in s.numbers.values()}
    P = design.matrix(exact=True)

    def near(found: Any, row: int, truth: int) -> bool:
        return abs(Fraction(found) - P[row, truth]) < Fraction(1, 10**12)

    p = shares.get("statement for who says no", Fraction(0))
    if design.name == "mangat":  # yes says yes; no says yes where the statement is that the answer is no
        assert near(1, 0, 0)
        assert near(1 - p, 0, 1)
    elif design.name == "singh_joarder":  # yes says no only if both turns show the other statement
        assert near(1 - (1 - p) ** 2, 0, 0)
        assert near(1 - p, 0, 1)
    elif design.name == "mangat_singh":
        direct, statement = shares["asked for the truth"], shares["statement after a card"]
        assert near(direct + (1 - direct) * statement, 0, 0)
        assert near((1 - direct) * (1 - statement), 0, 1)
    elif design.name == "devore":
        assert near(1, 0, 0)
        assert near(1 - shares["question of the survey"], 0, 1)
    elif design.name == "triangular":
        assert near(1, 0, 0)
        assert near(shares["innocuous yes of two"], 0, 1)
    elif design.name == "christofides":
        cards = {n.of[0]: Fraction(n.value) for s in instructions(design) for n in s.numbers.values() if n.of}
        away = int(shares["number to take from"])
        assert all(near(share, d - 1, 1) and near(share, away - d - 1, 0) for d, share in cards.items())
    else:
        forced = {n.of[0]: Fraction(n.value) for s in instructions(design) for n in s.numbers.values() if n.of}
        free = shares["free to answer by category"]
        for i in range(3):
            for j in range(3):
                assert near(forced.get(i, 0) + (free if i == j else 0), i, j)


@pytest.mark.parametrize(
    ("truth_prob", "parts"),
    [(0.8, "100 equal parts 80"), (Fraction(2, 3), "3 equal parts 2"), (1 / 3 + 0.4, "15 equal parts 11")],
)
def test_a_device_gives_the_chances_of_the_design(truth_prob: float | Fraction, parts: str) -> None:
    """Whoever cuts the spinner as it is read out asks with the design's own chance, not with a rounded one."""
    assert f"Of the spinner's {parts} bear" in str(explain(designs.warner(truth_prob=truth_prob)))


def test_a_device_that_needs_too_many_parts_is_called_approximate() -> None:
    assert "100 equal parts about 73 bear" in str(explain(designs.warner(truth_prob=0.7312345)))


def test_the_factor_of_a_second_record_is_told_as_precisely_as_that_of_the_first() -> None:
    design = designs.gamma_diagonal(4, epsilon=1.5)
    assert "would grow from 4.482 to 20.09." in str(explain(design, "interviewer"))


def test_the_question_itself_is_not_explained_as_a_procedure_when_it_is_none() -> None:
    """Extreme settings of the procedures are plain questions, and are told as such."""
    for design in (designs.forced_response(yes_prob=0, no_prob=0), designs.warner(truth_prob=1)):
        assert "knows for certain" in str(explain(design))


def test_rare_events_are_told_in_larger_round_numbers() -> None:
    design = designs.gamma_diagonal(1000, epsilon=1)
    text = str(explain(design))
    assert "Of 1,000 people with the same true answer, about 3 have it recorded and about 997 have another one." in text
    certain = explain(designs.gamma_diagonal(4, epsilon=20), "methodologist")
    assert "with probability 1 and" not in str(certain), "almost certain is not certain"


def test_a_design_read_back_is_explained_alike() -> None:
    for design in MEMBERS.values():
        again = mw.Design.from_json(design.to_json())
        assert all(str(explain(again, audience)) == str(explain(design, audience)) for audience in AUDIENCES)


def test_thousands_of_categories_are_explained_at_once() -> None:
    design = designs.minimax(5000, epsilon=1)
    started = time.perf_counter()
    texts = [str(explain(design, audience)) for audience in AUDIENCES]
    book = codebook(design)
    assert time.perf_counter() - started < 1
    assert all("5,000" in text for text in (texts[0], texts[2]))
    assert len(book.to_markdown()) < 10_000


def test_a_product_is_explained_by_variable_and_together() -> None:
    parts = designs.warner(truth_prob=Fraction(3, 4)), designs.gamma_diagonal(3, gamma=3)
    both = designs.product(*parts, names=["tax", "party"])
    text = str(explain(both))
    assert text.startswith("About “tax”:")
    assert "About “party”:" in text
    assert text.endswith(
        "is 50 in 100, all your records together can raise it to no more than 90 in 100, and lower it "
        "to no less than 10 in 100."
    )
    assert str(explain(both, "methodologist")).endswith("by a factor of 9 at most.")
    unlimited = designs.product(parts[0], designs.direct(3))
    assert str(explain(unlimited)).endswith("no limit either.")


def test_another_audience_is_an_error_in_one_line() -> None:
    with pytest.raises(
        mw.DesignError, match="audience must be one of respondent, interviewer, methodologist; got 'press'"
    ):
        explain(designs.direct(2), "press")  # type: ignore[arg-type]


# The codebook.


def estimated_from(
    book: dict[str, Any], reports: list[Any], at: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Proportions and their covariance from a codebook's JSON and the reports, with nothing but arithmetic.

    ``at`` is where the covariance is taken if it is not at the estimate.
    """
    categories, estimator, n = book["categories"], book["estimator"], len(reports)
    k = len(categories)
    if "scores" in estimator:
        labels = [frozenset(label) if isinstance(label, list) else label for label in book["reports"]["labels"]]
        table = np.array(estimator["scores"])
        p = np.mean([table[labels.index(report)] for report in reports], axis=0)
        q = p if at is None else at
        chances = np.array([[float(Fraction(x)) for x in row] for row in book["probabilities"]["rows"]]) @ q
        return p, ((table.T * chances) @ table - np.outer(q, q)) / n
    by_size = dict(zip(estimator["sizes"], zip(estimator["member"], estimator["other"], strict=True), strict=True))
    p = np.zeros(k)
    for report in reports:
        members = [report] if book["reports"]["form"] == "category" else report
        member, other = by_size[len(members)]
        p += [member if c in members else other for c in categories]
    p /= n
    d0, d1, e0, e1 = (book["variance"][name] for name in ("d0", "d1", "e0", "e1"))
    covariance = e0 + e1 * np.add.outer(p, p) - np.outer(p, p)
    np.fill_diagonal(covariance, d0 + d1 * p - p**2)
    return p, covariance / n


@pytest.mark.parametrize("title", TITLES)
def test_the_codebook_alone_is_enough_to_estimate(title: str) -> None:
    design = TITLES[title]
    book = json.loads(codebook(design, "income").to_json())
    assert (book["variable"], book["randomised"]) == ("income", True)
    assert "not true answers" in book["notice"]
    assert book["design"]["fingerprint"] == design.fingerprint
    assert book["design"]["citation"] == design.citation().splitlines()
    truths = [design.categories[i % design.k] for i in range(400)]
    reports = design.mask(truths, seed=5)
    if math.isinf(design.added_variance):
        assert book["estimator"]["formula"] is None
        assert book["estimator"]["why_not"]
        return
    found = mw.estimate(reports)
    # As the codebook says, an estimate that no population can have gives way to the nearest one that it can.
    moved = abs(found.proportions.sum() - 1) > 1e-6
    at = found.projected().proportions if moved else None
    proportions, covariance = estimated_from(book, reports.decode(), at)
    assert proportions == pytest.approx(found.proportions, abs=1e-9)
    assert covariance == pytest.approx(found.covariance, abs=1e-9)
    assert book["variance"]["added_variance"] == design.added_variance


@pytest.mark.parametrize("title", TITLES)
def test_the_codebook_states_the_exact_probabilities_and_privacy(title: str) -> None:
    design = TITLES[title]
    book = json.loads(codebook(design).to_json())
    parity = design.exact_parity()
    assert book["privacy"]["parity"] == (None if parity == math.inf else str(parity))
    assert book["privacy"]["epsilon"] == (None if parity == math.inf else design.epsilon)
    table, stated = Table(design), book["probabilities"]
    if "rows" in stated:
        assert [[Fraction(x) for x in row] for row in stated["rows"]] == table.P.tolist()
        return
    total = int(stated["out_of"])
    for size, inside, outside in zip(stated["sizes"], stated["inside"], stated["outside"], strict=True):
        of_size = [z for z in range(len(table.reports)) if (table.sizes()[z] if z in table.possible else -1) == size]
        assert Fraction(int(inside), total) == sum(table.P[z, 0] for z in of_size if table.holds(z, 0))
        assert Fraction(int(outside), total) == sum(table.P[z, 0] for z in of_size if not table.holds(z, 0))
    assert stated["A"] == pytest.approx(float(table.truth_recorded()))
    assert stated["B"] == pytest.approx(float(table.other_recorded()), abs=1e-15)
    if book["estimator"]["formula"] is not None:
        alpha = book["estimator"]["alpha"]
        assert (design.k - 1) / alpha + 1 / design.k - 1 == pytest.approx(design.added_variance, abs=1e-12)


@pytest.mark.parametrize("title", TITLES)
def test_the_codebook_in_markdown_says_the_same(title: str) -> None:
    design = TITLES[title]
    book = codebook(design, "income")
    text, content = book.to_markdown(), book.content
    assert str(book) == text
    assert text.startswith("# income: a randomised variable\n")
    assert content["notice"] in text
    assert design.fingerprint in text
    assert all(sentence.replace("|", "\\|") in text for sentence in content["design"]["explanation"])
    numbers = [*content.get("variance", {}).values()]
    assert all(repr(number) in text for number in numbers if isinstance(number, float))
    # Every table has as many cells in each row as in its head.
    tables = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    if "scores" in content["estimator"] and f"{design.k} columns; the JSON lists it." not in text:
        assert all(str(x) in text for row in content["estimator"]["scores"] for x in row)


def test_the_codebook_of_a_product_has_one_for_each_variable() -> None:
    both = designs.product(designs.warner(truth_prob=0.75), designs.minimax(3, epsilon=1), names=["tax", "party"])
    book = codebook(both, "joint")
    assert [part["variable"] for part in book.content["variables"]] == ["tax", "party"]
    assert [part["categories"] for part in book.content["variables"]] == [["yes", "no"], [0, 1, 2]]
    assert "## tax: a randomised variable" in book.to_markdown()
    truths = np.array([["yes", "no"][i % 2] for i in range(300)]), np.arange(300) % 3
    reports = both.mask({"tax": truths[0], "party": truths[1]}, seed=2)
    columns = list(zip(*reports.decode(), strict=True))
    scores = []
    for part, column in zip(json.loads(book.to_json())["variables"], columns, strict=True):
        scores.append(np.array([estimated_from(part, [report])[0] for report in column]))
    joint = (scores[0][:, :, None] * scores[1][:, None, :]).reshape(300, -1)
    assert joint.mean(axis=0) == pytest.approx(mw.estimate(reports).proportions.ravel(), abs=1e-9)


def test_a_codebook_tells_what_it_was_planned_for() -> None:
    book = codebook(mw.plan(["a", "b", "c"], mw.LDP(1), n=1500))
    assert book.content["design"]["parameters"] == {"epsilon": 1, "planned_n": 1500}
    assert "planned_n = 1500" in book.to_markdown()
    assert book.content["design"]["demand"] == "LDP with epsilon = 1"


def test_a_guess_and_a_belief_have_one_rounding() -> None:
    text = str(explain(mw.plan(["yes", "no"], mw.LDP(1))))
    assert "guess your answer right at most 74 times out of 100" in text
    assert "raise it to no more than 74 in 100" in text


def test_what_holds_for_every_variable_is_said_once() -> None:
    three = {name: mw.plan(k, mw.LDP(1)) for name, k in (("a", 2), ("b", 3), ("c", 2))}
    text = str(explain(designs.product(*three.values(), names=list(three))))
    assert text.count("So nobody can be sure of your answer") == 1
    assert text.count("From the records of many people together") == 1
    assert text.index("About “c”:") < text.index("About each of them:") < text.index("So nobody")
    spinners = str(explain(designs.product(designs.warner(truth_prob=0.8), designs.warner(truth_prob=0.8))))
    assert spinners.count("Spin the spinner") == 2
    assert spinners.count("So nobody") == 1


def test_a_design_of_two_layers_says_that_it_speaks_of_one_round() -> None:
    layered = mw.rounds.plan(["a", "b"], longitudinal=2, per_round=1)
    for audience in ("respondent", "interviewer", "methodologist"):
        assert "All of this is about one round." in str(explain(layered, audience))
    assert "no more than 89 in 100" in str(explain(layered))
