"""The two pages of a release: the custodian's has everything, and from the users' an intruder learns nothing secret."""

import dataclasses
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskwell import release as mr
from maskwell.errors import DataError
from maskwell.release import PramRelease, Release, limit_identification, pram
from maskwell.release.evaluation.public_view import public_view, rounded_up
from maskwell.views.pages.release import external_page, internal_page
from tests.persons import KEYS, WITHIN, population
from tests.test_views import PageReader, assert_needs_no_network, rows_of

OF = ["marital", ["sex", "marital"], {"age": [18, 65], "marital": None}, ["race", "region"], {"age": [18, 65]}]
SEED = 987_654_321


@pytest.fixture(scope="module")
def persons() -> pd.DataFrame:
    table = population(12_000)
    return table.assign(region=np.where(table["income"] < 0, "north", "south"))


@pytest.fixture(scope="module")
def release(persons: pd.DataFrame) -> Release:
    return limit_identification(persons, KEYS, 0.3955, WITHIN, merge="merge", blocks="whole", seed=SEED)


@pytest.fixture(scope="module")
def invariant(persons: pd.DataFrame) -> PramRelease:
    first = pram(
        persons,
        "marital",
        diagonal={"married": 0.8123, "never": 0.8017, "divorced": 0.7919}
        | dict.fromkeys(["separated", "widowed"], 0.8371),
        strata="sex",
        seed=SEED,
    )
    return pram(first, "area", diagonal=0.7713, seed=SEED + 1)


@pytest.fixture(scope="module")
def distorting(persons: pd.DataFrame) -> PramRelease:
    return pram(persons, "marital", diagonal=0.8123, invariant=False, seed=SEED)


# What an intruder reads.


def numbers_in(page: str) -> set[str]:
    """Every number of a page, in its text and in the specifications of its charts, without separators."""
    reader = PageReader(page)
    text = " ".join(reader.words).replace(",", "").replace("\N{MINUS SIGN}", "-")
    charts = " ".join(json.dumps(chart) for chart in reader.charts)
    return {found.lstrip("0") or "0" for found in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", f"{text} {charts}")}


def forms(value: float) -> set[str]:
    """How a number may be written: whole, with two to seven digits, or as a percentage."""
    whole = {str(value)} if float(value).is_integer() else set()
    digits = {f"{scale * value:.{d}{kind}}" for scale in (1, 100) for d in range(2, 8) for kind in "gf"}
    return {text.lstrip("0") for text in whole | (digits if not whole else set())}


def secrets_of(release: Release) -> dict[str, set[str]]:
    """The secret figures of a release by what they are, in all forms."""
    plan, audit, compared = release.plan, release.audit, release.comparison()
    figures: dict[str, Any] = {
        "xi": [plan.xi],
        "theta": [float(plan.theta)],
        "risk": [audit.risk, *(float(block.risk) for block in audit.blocks)],
        "changed": [release.changed_records, *release.changed_by_key.values()],
        "share changed": [release.changed],
        "sensitive": [len(release.setup.blocks.cells), sum(block.records for block in audit.blocks)],
        "blocks": [len(audit.blocks), *(block.cells for block in audit.blocks), *(b.records for b in audit.blocks)],
        "matches": [compared.matches.correct_after, compared.matches.correct_before, compared.matches.uniques_kept],
        "seed": [plan.seed],
    }
    for name in KEYS:
        table = compared.frequencies[name]
        figures[f"true counts of {name}"] = table.before[table.difference != 0].tolist()
        figures[f"errors of {name}"] = table.added_error[table.added_error > 0].tolist()
    return {what: {form for value in own for form in forms(value)} for what, own in figures.items()}


@pytest.fixture(scope="module")
def disguised(release: Release) -> Release:
    """Another true file, limit, seed and outcome that happen to lead to the same released file."""
    other = limit_identification(release.table, KEYS, 0.41, WITHIN, merge="merge", blocks="whole", seed=3)
    assert other.setup.blocks.cells.size != release.setup.blocks.cells.size
    assert other.changed_records != release.changed_records
    return dataclasses.replace(other, table=release.table)


@pytest.fixture(scope="module")
def harmless(disguised: Release) -> set[str]:
    """Numbers that stand on the page even if all secrets are others."""
    return numbers_in(external_page(disguised, of=OF))


def told(page: str, release: Release, harmless: set[str]) -> dict[str, set[str]]:
    """The secrets that a page tells, by what they are."""
    said = numbers_in(page) - harmless
    return {what: found for what, own in secrets_of(release).items() if (found := own & said)}


def test_an_intruder_finds_no_secret_number_on_the_external_page(release: Release, harmless: set[str]) -> None:
    assert told(external_page(release, of=OF), release, harmless) == {}


def test_the_same_search_finds_them_on_the_internal_page(release: Release, harmless: set[str]) -> None:
    wanted = {what for what, own in secrets_of(release).items() if own}
    assert wanted <= set(told(internal_page(release, of=OF), release, harmless))


def test_no_word_of_the_plan_is_on_the_external_page(release: Release) -> None:
    page, plan = external_page(release, of=OF), release.plan
    text = " ".join(PageReader(page).words)
    assert plan.fingerprint[:12] not in page
    for word in ("theta", "θ", "seed", "fingerprint", "block", "sensitive"):
        assert word not in text.lower()
    rare = [", ".join(map(str, cell)) for i in range(len(plan.blocks)) for cell in plan.cells(i)]
    assert not any(cell in text for cell in rare)
    assert plan.fingerprint in internal_page(release)


def test_categories_that_vanished_are_not_named() -> None:
    """A category that only the true file has would prove that its records moved."""
    table = {"area": [f"area-{i:03}" for i in range(300)]}
    made = limit_identification(table, "area", 0.395, seed=1)
    gone = set(table["area"]) - set(made.table["area"])
    assert gone
    page = external_page(made)
    assert not any(name in page for name in gone)
    assert all(name in internal_page(made) for name in sorted(gone)[:3])


def body(page: str) -> str:
    """A page without its date."""
    return re.sub(r"<footer>.*?</footer>", "", page)


def test_two_secrets_with_one_released_file_give_one_page(release: Release, disguised: Release) -> None:
    assert body(external_page(disguised, of=OF)) == body(external_page(release, of=OF))
    assert body(internal_page(disguised)) != body(internal_page(release))


def test_only_the_limit_is_added_when_it_is_published(release: Release, harmless: set[str]) -> None:
    page = external_page(release, publish_limit=True, of=OF)
    assert set(told(page, release, harmless)) == {"xi"}
    assert "39.55 %" in page


# Standard errors that are published.


@pytest.mark.parametrize(("error", "published"), [(0, 2), (1.9, 2), (2, 2), (2.01, 5), (19, 20), (49.9, 50), (51, 100)])
def test_published_errors_are_rounded_up_and_never_small(error: float, published: float) -> None:
    assert rounded_up(error) == published


def test_published_errors_hold_and_do_not_tell_cells_apart(release: Release) -> None:
    view = public_view(release, False, OF)
    for named, table in zip((*view.moving, *OF[1:]), view.tables, strict=True):
        added = release.added_variance(named)
        largest = float(np.sqrt(added.variance + added.bias**2).max())
        assert table.error is not None
        assert largest <= table.error + 1e-6
        assert table.error <= max(2.0, 2.5 * largest)


def test_the_bounds_without_parameters_hold(release: Release) -> None:
    """An added variance below 2 for a combination, and below twice the smaller of a count and its rest, whatever θ."""
    assert release.added_variance(KEYS).variance.max() < 2
    for of in (*KEYS, ["sex", "marital"], ["race", "age"], {"race": [["white"]]}):
        added = release.added_variance(of)
        smaller = np.minimum(added.counts, added.n - added.counts)
        assert (added.variance <= 2 * smaller + 1e-9).all()


def test_the_bounds_hold_for_steps(invariant: PramRelease) -> None:
    for of in ("marital", ["marital", "sex"], "area"):
        added = invariant.added_variance(of)
        assert (added.variance <= 2 * np.minimum(added.counts, added.n - added.counts)).all()


def test_what_is_said_to_be_kept_is_kept(persons: pd.DataFrame, release: Release) -> None:
    view = public_view(release, False, ())
    for name in view.kept:
        assert release.table[name].equals(persons[name])
    for name, groups in view.moved[0].within:
        if groups == ("white", "black", "the other categories"):
            for race in ("white", "black"):
                assert ((release.table["race"] == race) == (persons["race"] == race)).all()
        elif groups:
            cut = np.searchsorted(WITHIN[name], persons[name], side="right")
            assert (np.searchsorted(WITHIN[name], release.table[name], side="right") == cut).all()


def test_margins_that_a_merge_gave_up_are_not_promised() -> None:
    table = {"sex": ["f"] * 40 + ["m"] * 3, "age": [*range(40), 1, 2, 3]}
    merged = limit_identification(table, ["sex", "age"], 0.395, within="sex", merge="merge", seed=1)
    assert merged.plan.merged
    assert public_view(merged, False, ()).moving == ("sex", "age")
    assert "joined with others" in internal_page(merged)


# Post-randomization.


def test_matrices_that_keep_frequencies_are_never_published(invariant: PramRelease) -> None:
    for publish in (False, True):
        said = numbers_in(external_page(invariant, publish_limit=publish))
        for step in invariant.plan.steps:
            entries = {float(p) for path in step.transitions for p in path.floats.ravel() if 0 < p < 1}
            secret = {form for p in entries for d in (3, 4, 5) for form in (f"{p:.{d}g}"[1:], f"{100 * p:.{d}g}")}
            assert not {form for form in secret if len(form) > 4} & said
        assert not {str(SEED), str(SEED + 1)} & said
    said = numbers_in(internal_page(invariant))
    assert {"81.2", ".7713", str(SEED)} <= said


def test_a_matrix_that_distorts_is_published_on_request_only(distorting: PramRelease) -> None:
    quiet, open_page = external_page(distorting), external_page(distorting, publish_limit=True)
    assert ".8123" not in numbers_in(quiet)
    assert "Do not tabulate them as they are" in quiet
    assert ".8123" in numbers_in(open_page)
    rows = {row[0]: row for row in PageReader(open_page).rows if len(row) == 5}
    estimate = distorting.estimate("marital")
    for (label,), count in zip(estimate.labels, estimate.counts, strict=True):
        assert rows[label][3] == f"{count:,.1f}"


def test_users_are_told_what_tables_can_bear(invariant: PramRelease) -> None:
    view = public_view(invariant, False, [["marital", "sex"], ["marital", "area"], ["sex"]])
    kinds = {table.columns: table.kind for table in view.tables}
    assert kinds["marital", "sex"] == "unbiased"
    assert kinds["marital", "area"] == "weakened"
    assert kinds[("sex",)] == "exact"


# The custodian's page.


def test_the_internal_page_shows_the_proof(release: Release) -> None:
    reader = PageReader(internal_page(release, of=OF))
    risks = [row["risk"] for chart in reader.charts for row in rows_of(chart) if "matches" in row]
    assert max(risks) == pytest.approx(release.audit.risk)
    assert Fraction(max(risks)) <= release.plan.request.xi
    words = " ".join(reader.words)
    for wanted in ("SIMULATION ONLY", str(SEED), release.plan.fingerprint, "What to keep secret"):
        assert wanted in words


def test_a_secure_release_has_no_warning_of_a_seed(persons: pd.DataFrame) -> None:
    page = internal_page(limit_identification(persons, KEYS, 0.395))
    assert "SIMULATION ONLY" not in page
    assert "fresh and cryptographic" in page


def test_columns_that_give_moves_away_are_warned_of(persons: pd.DataFrame) -> None:
    table = persons.assign(birth=2026 - persons["age"])
    page = internal_page(limit_identification(table, KEYS, 0.395, {"sex": None}))
    assert escape("'birth' stays as it is and tells the true 'age'") in page
    assert "nobody had although both values are common" in page


def test_every_matrix_is_drawn(invariant: PramRelease) -> None:
    charts = PageReader(internal_page(invariant)).charts
    drawn = [rows for chart in charts if (rows := [row for row in rows_of(chart) if "released" in row])]
    assert len(drawn) == 2  # one for each stratum; the areas are too many for a picture
    for rows, path in zip(drawn, invariant.plan.steps[0].transitions, strict=True):
        assert sorted({row["chance"] for row in rows}) == pytest.approx(sorted(set(path.floats.ravel())))


def pages(persons: pd.DataFrame) -> Iterator[Release | PramRelease]:
    few = {"area": ["a", "b"] * 50, "other": [1, 2] * 50}
    groups = {"house": [i // 2 for i in range(80)], "area": [i // 2 % 35 for i in range(80)]}
    yield limit_identification(few, "area", 0.395)  # nothing is rare
    yield limit_identification(groups, "area", 0.395, together="house")
    yield limit_identification(persons, KEYS, 0.395, exempt="sex")
    yield pram(persons, ["sex", "marital"], least_diagonal=0.7, strata="region")


def test_every_release_has_both_pages(persons: pd.DataFrame) -> None:
    for made in pages(persons):
        for page in (internal_page(made), external_page(made), external_page(made, publish_limit=True)):
            assert_needs_no_network(page)
            assert "nan" not in " ".join(PageReader(page).words).split()


def test_a_table_alone_is_no_release(release: Release) -> None:
    for page in (internal_page, external_page):
        with pytest.raises(DataError, match="released table alone"):
            page(release.table)
    with pytest.raises(DataError, match="list of tables"):
        external_page(release, of="marital")


def test_the_limit_stands_in_one_card_with_what_the_file_alone_tells(release: Release) -> None:
    page = internal_page(release)
    sentence = release.attack().sentence()
    card = next(card for card in re.findall(r"<div><b>.*?</div>", page) if "the limit 0.3955" in card)
    assert "holds for those who know the keys" in card
    assert escape(sentence) in card
    lead = re.search(r"<p class='lead'>(.*?)</p>", page)
    assert lead is not None
    assert escape(sentence) in lead[1]
    for each in release.intruders.each():
        assert escape(each.has) in page
        assert escape(each.right) in page
    for column in release.attack().columns:
        assert f">{column.name}<" in page


def test_users_are_not_told_how_an_attack_would_fare(release: Release) -> None:
    """Nor which columns help most: that would be advice."""
    page = external_page(release, of=OF, publish_limit=True)
    assert "released file alone" not in page
    assert "surest" not in page
    figures = {f"{one.share_right:.2f}" for one in release.attack().surest}
    assert not figures & numbers_in(page)


def test_users_are_told_what_was_made_coarser(tmp_path: Path) -> None:
    areas = tmp_path / "secret-name.csv"
    areas.write_text("".join(f"a{i},{'north' if i < 3 else 'south'}\n" for i in range(6)))
    table = {"age": list(range(20, 80)) * 3, "area": [f"a{i % 6}" for i in range(180)], "x": list(range(180))}
    recoding = {"age": mr.intervals(5, top=75), "area": mr.hierarchy(areas)}
    recipe = mr.recode(table, ["age", "area"], recoding, suppress=2).recipe
    made = mr.limit_identification(table, ["age", "area"], 0.1, recoding=recipe, merge="merge", seed=1)
    page = external_page(made)
    assert "made coarser first: intervals of 5, top 75; a few rare values were set missing" in page
    assert "made coarser first: categories were merged" in page
    assert "secret-name" not in page
