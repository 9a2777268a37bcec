"""Days of kept reports that are merged as if other people had sent them: told, where it can be known, and not cried."""

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from maskwell.engines import Masking, mask_file, mask_files
from tests.engines.sources import DESIGNS, KEY, PEOPLE, TALLIES

HABIT = {"habit": DESIGNS["habit"]}
ABOUT = {"id": "person", "key": KEY, "survey": "health 2026"}


@pytest.fixture
def days(tmp_path: Path) -> Path:
    """The same people on two days, in two files a day, masked into a folder a day."""
    (tmp_path / "data").mkdir()
    for part in range(2):
        pq.write_table(PEOPLE.slice(part * 15_000, 15_000), tmp_path / "data" / f"p{part}.parquet")
    for day in ("monday", "tuesday"):
        mask_files(tmp_path / "data", tmp_path / day, Masking(HABIT, **ABOUT))
    return tmp_path


def test_parts_of_one_run_are_counted_in_any_pieces_and_nothing_is_said(days: Path) -> None:
    parts = [mw.Tally.read(days / "monday" / f"p{part}.parquet", column="habit") for part in range(2)]
    assert mw.Tally.merge(parts) == TALLIES["habit"]
    stored = [mw.Tally.from_json(part.to_json()) for part in parts]
    assert mw.Tally.merge(stored).runs == parts[0].runs
    assert len(parts[0].runs) == 1
    assert mw.engines.tally(days / "monday", HABIT)["habit"] == TALLIES["habit"]
    mw.Tally.merge([mw.Reports.read(days / "monday" / f"p{part}.parquet", "habit").tally() for part in range(2)])


def test_a_run_that_is_resumed_is_one_run(days: Path) -> None:
    before = mw.Tally.read(days / "monday" / "p1.parquet", column="habit").runs
    (days / "monday" / "p1.parquet").unlink()
    mask_files(days / "data", days / "monday", Masking(HABIT, **ABOUT))
    assert mw.Tally.read(days / "monday" / "p1.parquet", column="habit").runs == before


def test_runs_that_are_counted_together_are_told(days: Path) -> None:
    tallies = [mw.engines.tally(days / day, HABIT)["habit"] for day in ("monday", "tuesday")]
    with pytest.warns(mw.RecurrenceWarning, match=r"kept reports of 2 runs .*mw\.rounds\.mean"):
        mw.Tally.merge(tallies)
    assert mw.Tally.merge(tallies, different_people=True).n == 2 * len(PEOPLE)
    with pytest.warns(mw.RecurrenceWarning):
        mw.engines.tally([days / "monday", days / "tuesday"], HABIT)


def test_reports_that_name_no_run_are_each_a_run_where_somebody_merges_them(tmp_path: Path) -> None:
    design = HABIT["habit"]
    kept = [design.mask(["yes", "no"], key=KEY, ids=[1, 2], question="q").tally() for _ in range(2)]
    layered = mw.rounds.kary(["yes", "no"], longitudinal=2, per_round=1)
    for parts in (kept, [layered.mask(["yes", "no"]).tally() for _ in range(2)]):
        with pytest.warns(mw.RecurrenceWarning):
            mw.Tally.merge(parts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mw.Tally.merge([design.mask(["yes", "no"]).tally() for _ in range(2)])
        mw.Tally.merge([kept[0], design.mask([]).tally()])
        mw.Tally.merge(kept[:1])
    pq.write_table(PEOPLE, tmp_path / "all.parquet")
    for _ in range(2):
        mask_file(tmp_path / "all.parquet", tmp_path / "one.parquet", Masking(HABIT, **ABOUT))
        runs = mw.Tally.read(tmp_path / "one.parquet", column="habit").runs
        assert len(runs) == 1


def test_means_of_recurring_devices_cover_where_merged_days_do_not() -> None:
    """Five days on which 1,000 devices send the same report: merged, limits cover as often as 2/√5 of them would.

    With 200 repetitions of four proportions, limits that cover .95 cover .90 to .98 of them but for one time in 1e4
    (the proportions of a repetition depend on each other: as if half as many); merged ones cover 0.62 of them.
    """
    design, rng = mw.designs.minimax(["a", "b", "c", "d"], epsilon=1), np.random.default_rng(11)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    covered = {"merged": 0.0, "tallies": 0.0, "rows": 0.0}
    repetitions, devices = 200, np.arange(1000)
    for number in range(repetitions):
        answers = rng.choice(4, len(devices), p=shares)
        labels = np.array(list("abcd"))[answers]
        key = number.to_bytes(32, "big")
        day = design.mask(labels, key=key, ids=devices, question="page")
        week = mw.Tally.merge([day.tally()] * 5, different_people=True)
        found = {
            "merged": mw.estimate(week).interval(method="wald"),
            "tallies": mw.rounds.mean([day.tally()] * 5).interval(),
            "rows": mw.rounds.mean([day] * 5).interval(),
        }
        for name, limits in found.items():
            covered[name] += float(((limits[:, 0] <= shares) & (shares <= limits[:, 1])).mean()) / repetitions
    assert 0.90 <= covered["tallies"] <= 0.98
    assert 0.90 <= covered["rows"] <= 0.98
    assert covered["merged"] < 0.75


def test_the_mean_over_rounds_is_that_of_the_rounds_and_its_error_never_above_theirs() -> None:
    design = mw.rounds.kary(["a", "b", "c"], longitudinal=3, per_round=2)
    people = np.arange(4000)
    answers = np.array(["a", "b", "c"])[people % 3]
    sent = [mw.rounds.report(design, answers, key=KEY, ids=people, question="q", seed=day) for day in range(4)]
    each = [mw.estimate(reports) for reports in sent]
    rows, tallies = mw.rounds.mean(sent), mw.rounds.mean([reports.tally() for reports in sent])
    for found in (rows, tallies):
        np.testing.assert_allclose(found.proportions, np.mean([part.proportions for part in each], axis=0), atol=1e-12)
    assert (rows.standard_errors < tallies.standard_errors).all()
    # The rounds share a part of their noise: more than if people differed, less than if every report came again.
    assert (rows.standard_errors > tallies.standard_errors / 2).all()
    np.testing.assert_allclose(np.diagonal(rows.covariance), rows.variances)
    np.testing.assert_allclose(rows.covariance.sum(axis=0), 0, atol=1e-12)
    assert "mean over 4 rounds of 4,000 reports, of the same people, row by row" in rows.summary()
    assert list(rows.to_frame(backend="pyarrow").to_pydict())[1] == "mean"
    missing = design.mask(pa.array(["a", None, "b"]), missing="keep")
    assert mw.rounds.mean([missing, design.mask(["a", "b", "c"])]).n == 2
    for wrong, why in (
        ([], "no rounds"),
        ([design.mask(["a"]), mw.designs.direct(["a", "b", "c"]).mask(["a"])], "one design"),
        ([design.mask(["a", "b"]), design.mask(["a"])], "row by row"),
        ([design.mask(["a"])], "two people"),
    ):
        with pytest.raises(mw.EstimationError, match=why):
            mw.rounds.mean(wrong)
