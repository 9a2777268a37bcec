"""Names, labels and columns from outside are shown as text: they cannot paint a terminal, a page or a codebook.

Each carries a line break, control characters, a mark that reverses writing, and markup of terminals, HTML and Markdown.
"""

import dataclasses
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskwell as mw
from maskwell.cli import main
from maskwell.plain_text import markdown_code, visible, visible_html, visible_markdown
from maskwell.release import limit_identification, pram
from maskwell.views.comparison import Comparison
from maskwell.views.pages.audit import audit_page
from maskwell.views.pages.compare import compare_page
from maskwell.views.pages.layout import Figure, Section, page
from maskwell.views.pages.plan import plan_page
from maskwell.views.pages.release import external_page, internal_page
from maskwell.views.pages.risk import risk_page
from maskwell.views.terminal.audit import audit_view
from maskwell.views.terminal.compare import compare_view
from maskwell.views.terminal.tables import show
from maskwell.words import explain

EVIL = "x\nFORGED: parity 1\r\x1b[2J\x1b[31m\x08\x00\u202e\u2028|a|`b`[red]<b>bold</b>&lt;![i](j)"
NAME = f"minimax{EVIL}"
LABELS = [f"yes{EVIL}", f"no{EVIL}", f"none{EVIL}"]


def evil_design() -> mw.Design:
    """From a file: only labels are part of what its fingerprint covers."""
    document = json.loads(mw.designs.minimax(LABELS, epsilon=1).to_json())
    return mw.Design.from_json(json.dumps(document | {"name": NAME}))


def evil_matrix() -> mw.Design:
    rows = [["2/3", "1/3"], ["1/3", "2/3"]]
    return dataclasses.replace(mw.designs.from_matrix(rows, LABELS[:2]), name=NAME)


def evil_product() -> mw.Design:
    return dataclasses.replace(
        mw.designs.product(evil_design(), evil_matrix(), names=[f"a{EVIL}", f"b{EVIL}"]), name=NAME
    )


def check_plain(text: str) -> None:
    """On lines of its own making, and with nothing in them that is not printed."""
    assert "FORGED" in text or "minimax" in text, "the text does not show what it is tested for"
    assert not re.search(r"^\W*FORGED", text, re.MULTILINE)
    odd = {c for line in text.split("\n") for c in line if not c.isprintable()}
    assert not odd, f"{odd} in the text"


def check_page(text: str) -> None:
    check_plain(re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL))
    assert "<b>bold</b>" not in text


DESIGNS: dict[str, Callable[[], mw.Design]] = {"sets": evil_design, "rows": evil_matrix, "product": evil_product}
every_design = pytest.mark.parametrize("make", DESIGNS.values(), ids=DESIGNS)


@every_design
def test_designs_and_audits(make: Callable[[], mw.Design], capsys: pytest.CaptureFixture[str]) -> None:
    design = make()
    audit = mw.audit(design)
    for text in (repr(design), audit.summary(), repr(audit), *map(str, audit.warnings)):
        assert_plain_if_shown(text)
    check_page(design._repr_html_())
    check_page(audit_page(audit))
    check_page(plan_page(design, 1000) if design.kind != "product" else plan_page(design))
    show(audit_view(audit))
    check_plain(capsys.readouterr().out)


def assert_plain_if_shown(text: str) -> None:
    if "FORGED" in text:
        check_plain(text)


@every_design
def test_plain_words_and_codebooks(make: Callable[[], mw.Design]) -> None:
    design = make()
    for audience in ("respondent", "interviewer", "methodologist"):
        words = explain(design, audience)  # type: ignore[arg-type]
        assert_plain_if_shown(str(words))
        assert "\n" not in "".join(sentence.text for sentence in words.sentences)
        if "FORGED" in words._repr_html_():
            check_page(words._repr_html_())
    book = mw.codebook(design, f"column{EVIL}").to_markdown()
    check_plain(book)
    # Whatever is not fenced as code is escaped.
    bare = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", book)
    assert not re.search(r"(?<!\\)\|a", bare)
    assert not re.search(r"(?<!\\)<b>", bare)
    assert not re.search(r"(?<!\\)\[i\\?\]\(j", bare)


@every_design
def test_estimates_and_reports(make: Callable[[], mw.Design]) -> None:
    design = make()
    rng = np.random.default_rng(1)
    values: Any = [design.categories[i] for i in rng.integers(design.k, size=400)]
    question = {} if design.kind == "product" else {"question": f"q{EVIL}"}
    reports = design.mask(values, seed=1, **question)
    estimate = mw.estimate(reports)
    for text in (repr(reports), repr(reports.tally()), repr(estimate), estimate.summary()):
        assert_plain_if_shown(text)
    for text in (reports._repr_html_(), reports.tally()._repr_html_(), estimate._repr_html_()):
        assert "<b>bold</b>" not in text
        assert_plain_if_shown(text)
    check_page(page("Estimate", [Section("", [Figure(mw.views.chart(estimate))])]))


def test_comparisons(capsys: pytest.CaptureFixture[str]) -> None:
    designs = {f"one{EVIL}": evil_design(), f"two{EVIL}": mw.designs.rappor(LABELS, epsilon=1)}
    comparison = Comparison({name: mw.audit(design) for name, design in designs.items()})
    show(compare_view(comparison))
    check_plain(capsys.readouterr().out)
    check_page(compare_page(comparison))
    check_plain(str(mw.planning.compose([evil_design()], [f"q{EVIL}"])))


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    marked = {
        f"{name}{EVIL}": [f"{v}{EVIL}" for v in rng.integers(size, size=900)] for name, size in [("k", 400), ("l", 3)]
    }
    return pd.DataFrame({**marked, f"m{EVIL}": rng.integers(4, size=900)})


def released(table: pd.DataFrame) -> Iterator[Any]:
    keys = list(table.columns[:2])
    yield limit_identification(table, keys, 0.5, seed=1)
    yield pram(table, keys[1], diagonal=0.8, seed=1)


def test_risk_and_releases(table: pd.DataFrame) -> None:
    report = mw.risk.assess(table, list(table.columns[:2]), population_size=9000)
    check_plain(report.summary())
    check_plain(report._repr_html_().removeprefix("<pre>"))
    check_page(risk_page(report))
    for release in released(table):
        check_plain(release.summary())
        check_page(internal_page(release))
        check_page(external_page(release))


def test_messages() -> None:
    design = evil_design()
    attempts: list[Callable[[], Any]] = [
        lambda: design.mask(["another"]),
        lambda: design.citation(),
        lambda: mw.estimate(design.mask([LABELS[0]] * 5, seed=1, question="q").tally()).interval(method=EVIL),  # type: ignore[arg-type]
        lambda: mw.Reports.read(f"file{EVIL}.csv".replace("\x00", "")),
        lambda: mw.Design.from_json(json.dumps({"maskwell": "design", "version": 1, "kind": EVIL})),
        lambda: mw.Design.from_json(json.dumps({"maskwell": "design", "version": EVIL})),
        lambda: evil_product().mask({f"a{EVIL}": []}),
        lambda: mw.designs.collapse(LABELS, groups={EVIL: LABELS[:1]}),
        lambda: mw.designs.conditional(LABELS, subset_probs={(EVIL,): 1}),
    ]
    for attempt in attempts:
        with pytest.raises(mw.MaskwellError) as caught:
            attempt()
        assert str(caught.value).isprintable(), str(caught.value)


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "design.json"
    for make in DESIGNS.values():
        path.write_text(make().to_json(), "utf-8")
        for options in ([], ["--explain", "methodologist"]):
            assert main(["audit", str(path), *options]) == 0
            check_plain(capsys.readouterr().out)
    data = tmp_path / "data.csv"
    pd.DataFrame({f"col{EVIL}".replace("\x00", ""): LABELS * 20}).to_csv(data, index=False)
    assert main(["mask", str(data), "--column", "other", "--design", str(path), "-o", str(tmp_path / "r.arrow")]) == 2
    assert capsys.readouterr().err.removesuffix("\n").isprintable()


@pytest.mark.parametrize(
    "odd", ["\x1b[2J", "\n", "\r", "\x00", "\x7f", "\x9b", "\u202e", "\u2066", "\u2028", "\ufeff", "\ud800"]
)
def test_what_is_not_printed_is_escaped(odd: str) -> None:
    for show_text in (visible, visible_html, visible_markdown, markdown_code):
        shown = show_text(f"a{odd}b")
        assert shown.isprintable()
        assert "\\" in shown
    assert visible("Größe, 年齢, 🙂, “a”") == "Größe, 年齢, 🙂, “a”"


def test_a_name_is_kept_short_and_on_one_line() -> None:
    design = dataclasses.replace(mw.designs.direct(2), name="n" * 10_000)
    assert len(design.name) == 200
    assert mw.Design.from_json(evil_design().to_json()).name == evil_design().name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("provably private (epsilon 0.01)", "'provably private (epsilon 0.01)'"),
        ("improved", "'improved'"),
        ("minimax ", "'minimax '"),
        ("it's a ' minimax", "\"it's a ' minimax\""),
        ("min\u0456max", r"'min\u0456max'"),  # a Cyrillic letter among Latin ones
        (
            "\uff4d\uff49\uff4e\uff49\uff4d\uff41\uff58",
            ascii("\uff4d\uff49\uff4e\uff49\uff4d\uff41\uff58"),
        ),  # wide letters
        ("\U0001d5c6inimax", r"'\U0001d5c6inimax'"),  # a mathematical m
        ("Umfrage \u03b5 f\u00fcr \u5e74\u9f62", "'Umfrage \u03b5 f\u00fcr \u5e74\u9f62'"),
    ],
)
def test_a_name_of_ones_own_is_shown_in_quotes(name: str, shown: str) -> None:
    """Only the name of a known design, which a file may bear if its integers are that design's, reads as a claim."""
    document = json.loads(mw.designs.minimax(3, epsilon=1).to_json())
    design = mw.Design.from_json(json.dumps(document | {"name": name}))
    assert (design.name, design.title) == (name, shown)
    audit = mw.audit(design)
    texts = (repr(design), audit.summary(), repr(audit), mw.estimate(design.mask([0, 1, 2] * 9)).summary())
    for text in (*texts, str(explain(design, "methodologist"))):
        assert shown in text
        assert f"{name} design" not in text.replace(shown, "")
    assert html.escape(shown) in audit_page(audit)


def test_the_name_of_a_kind_is_plain_for_that_kind_alone() -> None:
    pair = mw.designs.product(mw.designs.direct(2), mw.designs.direct(2))
    assert (pair.title, mw.designs.direct(2).title) == ("product", "direct")
    document = json.loads(mw.designs.minimax(3, epsilon=1).to_json())
    assert mw.Design.from_json(json.dumps(document | {"name": "product"})).title == "'product'"
