"""Reports that were drawn elsewhere: read from labels or sets of any library, and checked one by one."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import maskwell as mw
from maskwell.reports.randomness import joined_randomness
from tests.conformance.masking_helpers import values_for
from tests.conformance.members import EVERY

SECRET = "Zyzzyva-7"
DIE = mw.designs.forced_response(yes_prob="1/6", no_prob="1/6")
PAIRS = mw.designs.minimax(["a", "b", "c", "d"], epsilon=0.1)
ANY_SET = mw.designs.rappor(["a", "b", "c"], epsilon=1)


@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY.keys())
def test_what_is_decoded_is_read_again(design: mw.Design) -> None:
    reports = design.mask(values_for(design, 60), seed=4)
    again = mw.Reports.of(design, reports.decode())
    assert again == reports
    assert again.randomness == "external"
    assert again.tally() == reports.tally()


@pytest.mark.parametrize("column", [list, np.array, pd.Series, pd.Categorical, pl.Series, pa.array, lambda x: {"q": x}])
def test_labels_come_from_any_library(column: Any) -> None:
    assert mw.Reports.of(DIE, column(["yes", "no", "no"])).decode() == ["yes", "no", "no"]


@pytest.mark.parametrize("column", [list, pd.Series, pl.Series, pa.array])
def test_sets_come_from_any_library(column: Any) -> None:
    wanted = [{"a", "b"}, {"c", "d"}, None]
    assert mw.Reports.of(PAIRS, column([["a", "b"], ["d", "c"], None]), "keep").decode() == wanted
    assert mw.Reports.of(PAIRS, column(["1100", "0011", ""]), "keep").decode() == wanted
    assert mw.Reports.of(PAIRS, column(["a;b", "d; c", None]), "keep", separator=";").decode() == wanted


def test_the_reports_of_a_procedure_are_what_people_say() -> None:
    crosswise = mw.designs.crosswise(innocuous_prob="1/4")
    assert mw.Reports.of(crosswise, ["same", "different"]).tally().counts.tolist() == [1, 1]
    cards = mw.designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=3)
    assert mw.Reports.of(cards, [0, 3, 3]) == mw.Reports.of(cards, ["0", "3", "3.0"])
    assert mw.Reports.of(cards, pd.Series([0.0, None, 3.0]), "keep").decode() == [0, None, 3]


def test_an_empty_set_is_a_report_and_an_empty_cell_is_none() -> None:
    assert mw.Reports.of(ANY_SET, [[], ["a"]]).decode() == [frozenset(), {"a"}]
    assert mw.Reports.of(ANY_SET, ["000", ""], "keep").decode() == [frozenset(), None]


def test_a_product_takes_a_table_and_who_lacks_one_report_lacks_all() -> None:
    design = mw.designs.product(DIE, PAIRS, names=["habit", "place"])
    table = {"habit": ["yes", "no", None], "place": ["a;b", "c;d", "a;c"]}
    reports = mw.Reports.of(design, table, "keep", separator=";")
    assert reports.decode() == [("yes", {"a", "b"}), ("no", {"c", "d"}), None]
    assert mw.Reports.of(design, pd.DataFrame(table), "keep", separator=";") == reports
    with pytest.raises(mw.ReportError, match="equally many"):
        mw.Reports.of(design, {"habit": ["yes"], "place": ["1100", "0011"]})
    with pytest.raises(mw.ReportError, match="reports of 'place' hold something"):
        mw.Reports.of(design, {"habit": ["yes"], "place": [SECRET]})


MIXED = mw.designs.from_matrix([["1/2", "1/4"], ["1/2", "3/4"]], ["yes", "no"], reports=["1", 2])
NEVER = mw.designs.from_matrix([[1, 0], [0, 1], [0, 0]], ["yes", "no"], reports=["yes", "no", SECRET])


@pytest.mark.parametrize(
    ("design", "values", "row", "count"),
    [
        (DIE, ["yes", SECRET, SECRET], 1, 2),
        (DIE, [1, 0], 0, 2),
        (PAIRS, [["a", "b"], ["a", SECRET]], 1, 1),
        (PAIRS, [["a", "b"], ["a"], ["a", "b", "c"]], 1, 2),
        (PAIRS, ["1100", "110", "1110", "11x0"], 1, 3),
        (mw.designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=3), [0, 4, -1], 1, 2),
        (mw.designs.block(7, gamma=1.5), [[0, 1, 2]], 0, 1),
        (mw.designs.projective(7, gamma=1.5), ["h0", "h7"], 1, 1),
        (NEVER, ["yes", SECRET], 1, 1),
        (MIXED, ["1", "3"], 1, 1),
    ],
)
def test_what_the_design_cannot_produce_is_refused_with_its_row(design: Any, values: Any, row: int, count: int) -> None:
    with pytest.raises(mw.ReportError) as refused:
        mw.Reports.of(design, values)
    assert f"in {count} of {len(values)} rows, first in row {row};" in str(refused.value)
    assert design is NEVER or SECRET not in str(refused.value)
    assert refused.value.parameter == "values"


def test_labels_of_several_types_are_spelled_as_text() -> None:
    assert mw.Reports.of(MIXED, ["1", "2"]).decode() == ["1", 2]


def test_missing_reports_are_refused_unless_they_are_kept() -> None:
    with pytest.raises(mw.DataError, match="missing in 1 of 3 rows, first in row 2"):
        mw.Reports.of(DIE, ["yes", "no", None])
    with pytest.raises(mw.DataError, match='"refuse" or "keep"'):
        mw.Reports.of(DIE, ["yes"], missing="drop")  # type: ignore[arg-type]
    assert mw.Reports.of(DIE, ["yes", None], "keep").tally().missing == 1


def test_other_columns_are_refused() -> None:
    for values in (5, "yes", [["yes"], "no"]):
        with pytest.raises(mw.MaskwellError):
            mw.Reports.of(DIE, values)
    with pytest.raises(mw.MaskwellError):
        mw.Reports.of(PAIRS, [1, 2])
    with pytest.raises(mw.DataError, match="separator is for reports that are sets"):
        mw.Reports.of(DIE, ["yes"], separator=";")


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".csv"])
def test_files_and_summaries_say_that_reports_came_from_elsewhere(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"reports{suffix}"
    reports = mw.Reports.of(DIE, ["yes", "no", "no", "no"] * 50, question="habit")
    reports.write(path)
    again = mw.Reports.read(path)
    assert (again.randomness, again.question) == ("external", "habit")
    assert "external" in again.summary()
    assert "external" in again.tally().summary()
    assert "drawn     elsewhere: that people followed the design is assumed" in mw.estimate(again).summary()
    both = mw.Tally.merge([again.tally(), DIE.mask(["yes"], question="habit").tally()])
    assert both.randomness == "external and secure"
    assert "in part (external and secure)" in mw.estimate(both).summary()


def test_sources_are_joined_without_a_warning() -> None:
    assert joined_randomness([("external", 3), ("keyed", 4)]) == "external and keyed"


def test_many_rows_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from maskwell.reports.elsewhere import labels

    reports = PAIRS.mask(["a", "b", "c"] * 40, seed=1)
    monkeypatch.setattr(labels, "_CELLS_AT_ONCE", 28)
    assert mw.Reports.of(PAIRS, reports.decode()) == reports
    with pytest.raises(mw.ReportError, match="first in row 101"):
        mw.Reports.of(PAIRS, [*reports.decode()[:101], ["a"], *reports.decode()[102:]])


def test_cells_that_are_spelled_otherwise_are_counted_and_never_shown() -> None:
    card = mw.designs.eriksson(["never", "now and then", "often"], truth_prob="2/3")
    with pytest.raises(mw.ReportError, match=r"in 4 of 5 rows.*3 of these would be reports but for capitals") as error:
        mw.Reports.of(card, ["often", "Often", "now  and then ", " NEVER", "secret"])
    assert "secret" not in str(error.value)
    with pytest.raises(mw.ReportError) as error:
        mw.Reports.of(card, ["often", "secret"])
    assert "capitals" not in str(error.value)


def test_counts_may_be_given_by_label() -> None:
    card = mw.designs.eriksson(["never", "now and then", "often"], truth_prob="2/3")
    assert mw.Tally.from_counts(card, {"often": 5, "never": 20}) == mw.Tally.from_counts(card, [20, 0, 5])
    with pytest.raises(mw.ReportError, match="counts name 'always', which is no report of eriksson"):
        mw.Tally.from_counts(card, {"always": 5})
    with pytest.raises(mw.ReportError, match="3 numbers in the order of"):
        mw.Tally.from_counts(card, [5])


def test_an_error_names_the_size_of_the_sets_that_a_design_reports() -> None:
    """Categories that are numbers are not taken for sizes."""
    for design, told in (
        (
            mw.designs.block(7, epsilon=1.0),
            "its reports are the 21 sets of report_labels(), each of 2 of the categories 0, 1,",
        ),
        (mw.designs.minimax(7, epsilon=0.5), "its reports are sets of 3 of the categories 0, 1, 2,"),
        (mw.designs.rappor(4, epsilon=1.0), "its reports are sets of 0 to 4 of the categories 0, 1, 2, 3,"),
    ):
        with pytest.raises(mw.ReportError) as error:
            mw.Reports.of(design, [["0", "9"]])
        assert told in str(error.value)
