"""Ways of forming blocks side by side: figures against what can be counted by hand, and where they are shown."""

import json

import numpy as np
import pandas as pd
import pytest

from maskwell.errors import DataError
from maskwell.release import BlockComparison, Release, compare_blocks, limit_identification
from maskwell.release.attack.known_blocks import attack_known_blocks
from maskwell.release.evaluation.block_figures import measure
from maskwell.release.identification.blocks.forming import WAYS, WHOLE
from maskwell.views.pages.release import external_page, internal_page
from tests.evidence.made_survey import KEYS, WITHIN, XI, made_survey
from tests.page_reader import PageReader


@pytest.fixture(scope="module")
def survey() -> pd.DataFrame:
    return made_survey(4_000)


@pytest.fixture(scope="module")
def compared(survey: pd.DataFrame) -> BlockComparison:
    return compare_blocks(survey, KEYS, XI, WITHIN, sizes=[3], seed=3)


def released(survey: pd.DataFrame, way: str, seed: int = 3) -> Release:
    return limit_identification(survey, KEYS, XI, WITHIN, blocks=way, seed=seed)


def test_there_is_a_line_for_every_way_and_size(compared: BlockComparison) -> None:
    assert [(row.blocks, row.size) for row in compared.rows] == [(way, None if way == WHOLE else 3) for way in WAYS]
    assert len(compared.to_frame()) == len(WAYS)
    json.dumps(compared.to_dict())
    for word in ("The price", "file alone", "blocks known", "change of age"):
        assert word in compared.summary()


def test_figures_are_those_of_a_release(survey: pd.DataFrame, compared: BlockComparison) -> None:
    release = released(survey, "mixed")
    row = next(row for row in compared.rows if row.blocks == "mixed")
    assert row == measure(release)
    assert row.keys == max(float(block.risk) for block in release.audit.blocks)
    assert row.file_alone == tuple(one.share_right for one in release.attack().surest)
    moved = (release.table[KEYS] != survey[KEYS]).any(axis=1)
    assert row.change["age"] == pytest.approx(np.abs(release.table["age"] - survey["age"])[moved].mean())


def test_association_and_variation_are_those_of_the_records_with_rare_keys() -> None:
    table = pd.DataFrame({"k": range(40), "v": ["x", "y"] * 20, "w": ["u"] * 40})
    release = limit_identification(table, "k", 0.5, blocks="random", seed=1)
    figures = measure(release)
    moved = float((release.table["k"] != table["k"]).mean())
    counts = [table.groupby(["k", "v"]).size(), release.table.groupby(["k", "v"]).size()]
    apart = counts[1].sub(counts[0], fill_value=0).abs().sum() / 2 / len(table)
    assert figures.variation == pytest.approx(apart)
    assert 0 < figures.variation <= moved
    unmoved = limit_identification(table.assign(k=1), "k", 0.5, seed=1)
    assert (measure(unmoved).association, measure(unmoved).variation) == (1.0, 0.0)


def test_what_look_alike_blocks_are_for(compared: BlockComparison) -> None:
    """The orders that the choice rests on, far beyond what chance could do to a few hundred cells."""
    rows = {row.blocks: row for row in compared.rows}
    for way in ("profile", "mixed"):
        assert rows[way].file_alone[1] < rows[WHOLE].file_alone[1] - 0.2
        assert rows[way].change["age"] < rows[WHOLE].change["age"] / 2
        assert abs(rows[way].association - 1) < abs(rows[WHOLE].association - 1) / 2
        assert rows[way].all_counts <= XI < rows[WHOLE].all_counts
        # The price.
        assert rows[way].one_more > rows[WHOLE].one_more + 0.1
    assert rows["staying"].one_more < rows["profile"].one_more < rows["random"].one_more


def test_knowing_the_blocks_helps_most_where_they_are_random(survey: pd.DataFrame) -> None:
    known = {way: attack_known_blocks(released(survey, way)) for way in ("random", "mixed")}
    alone = [one.share_right for one in released(survey, "random").attack().surest]
    assert known["random"] is not None
    assert known["mixed"] is not None
    assert known["random"][1] > max(0.9, known["mixed"][1] + 0.2)
    assert known["random"][1] >= alone[1]
    assert attack_known_blocks(released(survey, WHOLE)) is None


def test_known_blocks_tell_nothing_where_no_column_goes_with_the_keys() -> None:
    """Of some 1,000 cells shown once, half are judged: the share right is the base rate; false alarm 1e-6."""
    random = np.random.default_rng(2)
    table = {"k": list(range(3000)), "v": random.choice(list("abc"), 3000), "w": random.choice(5, 3000)}
    release = limit_identification(table, "k", 0.5, blocks="random", seed=4)
    found = attack_known_blocks(release)
    attack = release.attack()
    assert found is not None
    spread = np.sqrt(0.25 / (0.5 * attack.shown_once))
    assert abs(found[2] - attack.base_rate) < 4.9 * spread


def test_sizes_that_the_limit_does_not_allow_are_left_out(survey: pd.DataFrame) -> None:
    found = compare_blocks(survey, KEYS, 0.395, WITHIN, ways=["random"], sizes=[3, 4, 5, 6], seed=1)
    assert [row.size for row in found.rows] == [5, 6]
    found = compare_blocks(survey, KEYS, 0.395, WITHIN, ways=["random"], sizes=[3], seed=1)
    assert [row.size for row in found.rows] == [5]
    with pytest.raises(DataError, match="one way"):
        compare_blocks(survey, KEYS, 0.5, ways=[])
    with pytest.raises(DataError, match="blocks must be one of"):
        compare_blocks(survey, KEYS, 0.5, ways=["elsewhere"])


def test_the_internal_page_shows_the_table_and_the_external_one_no_block(
    survey: pd.DataFrame, compared: BlockComparison
) -> None:
    """Nothing on the page for users depends on how blocks were formed, or says how many cells they have."""
    release = released(survey, "mixed")
    page = internal_page(release, compared=compared)
    assert "Ways of forming blocks" in page
    assert "The price" in page
    assert "Ways of forming blocks" not in internal_page(release)
    for publish in (False, True):
        text = " ".join(PageReader(external_page(release, publish_limit=publish)).words)
        for word in ("block", "mixed", "profile", "alike", "0.411", "41.1", "0.459", "45.9"):
            assert word not in text


def test_the_pages_state_the_limit_with_its_intruder(survey: pd.DataFrame) -> None:
    small, whole = released(survey, "mixed"), released(survey, WHOLE)
    assert small.audit.holds_for_all_counts
    assert not whole.audit.holds_for_all_counts
    assert "the limit holds for this one too" in internal_page(small)
    assert "at least as bad" in internal_page(whole)
    assert "The same holds for somebody who also uses" in external_page(small, publish_limit=True)
    assert "can be right more often" in external_page(whole, publish_limit=True)
    for release in (small, whole):
        assert "by the counts of a whole block" in " ".join(release.summary().split())  # lines are wrapped
