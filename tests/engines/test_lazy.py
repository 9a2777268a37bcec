"""Polars and DuckDB: the kernel's reports bit for bit, however often and in whatever order they are evaluated."""

import re
import traceback
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import maskwell as mw
from tests.engines.sources import DESIGNS, KEY, KEYED, PEOPLE, TALLIES, assert_same_reports, shows_key

ONE = {"habit": DESIGNS["habit"]}


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as opened:
        opened.register("source", PEOPLE)
        opened.execute("create table people as select * from source")
        yield opened


def test_a_polars_frame_is_masked_eager_lazy_and_streaming(tmp_path: Path) -> None:
    frame = pl.from_arrow(PEOPLE)
    eager = mw.engines.mask(frame, DESIGNS, **KEYED)
    assert isinstance(eager, pl.DataFrame)
    assert_same_reports(eager.to_arrow())
    pq.write_table(PEOPLE, tmp_path / "people.parquet", row_group_size=4000)
    for source in (frame.lazy(), pl.scan_parquet(tmp_path / "people.parquet")):
        lazy = mw.engines.mask(source, DESIGNS, **KEYED)
        assert isinstance(lazy, pl.LazyFrame)
        assert lazy.collect().equals(eager)
        assert lazy.collect(engine="streaming").equals(eager)
        assert mw.engines.tally(lazy, DESIGNS) == TALLIES
    assert mw.engines.tally(eager, DESIGNS) == TALLIES
    assert mw.engines.repeated_ids(frame.lazy(), "person") == mw.engines.repeated_ids(frame, "person") == 0
    lazy.sink_parquet(tmp_path / "out.parquet")
    assert mw.engines.tally(tmp_path / "out.parquet", DESIGNS) == TALLIES


def test_categoricals_of_polars_are_matched_by_label() -> None:
    frame = pl.from_arrow(PEOPLE).with_columns(
        pl.col("habit").cast(pl.Categorical), pl.col("diet").cast(pl.Categorical)
    )
    assert mw.engines.tally(mw.engines.mask(frame.lazy(), DESIGNS, **KEYED), DESIGNS) == TALLIES


@pytest.mark.parametrize("optimised", [True, False])
def test_two_uses_of_one_lazy_frame_agree(optimised: bool) -> None:
    """With and without the elimination of common sub-plans, filters below and above."""
    flags = pl.QueryOptFlags() if optimised else pl.QueryOptFlags.none()
    lazy = mw.engines.mask(pl.from_arrow(PEOPLE).lazy(), DESIGNS, **KEYED)
    both = lazy.join(lazy.filter(pl.col("region") == "north"), on="person", suffix="_2")
    joined = both.collect(optimizations=flags)
    assert 0 < len(joined) < len(PEOPLE)
    for name in DESIGNS:
        assert joined[name].equals(joined[f"{name}_2"].alias(name))
    assert pl.concat([lazy, lazy]).collect(optimizations=flags).unique().height == len(PEOPLE)


def test_a_duckdb_relation_is_masked_as_it_is_read(connection: Any, tmp_path: Path) -> None:
    masked = mw.engines.mask(connection.sql("select * from people where true"), DESIGNS, **KEYED)
    assert isinstance(masked, duckdb.DuckDBPyRelation)
    assert_same_reports(masked.to_arrow_table())
    assert_same_reports(masked.to_arrow_table())
    assert mw.engines.tally(masked, DESIGNS) == TALLIES
    assert mw.engines.repeated_ids(connection.table("people"), "person") == 0
    masked.to_parquet(str(tmp_path / "out.parquet"))
    assert mw.engines.tally(tmp_path / "out.parquet", DESIGNS) == TALLIES


def test_two_readings_of_a_duckdb_relation_at_once_are_both_whole(connection: Any) -> None:
    """A connection has one open result: a second one would cut the first off, without a word."""
    big = connection.sql("select p.* replace (p.person + 1000000 * r.range as person) from people p, range(20) r")
    masked = mw.engines.mask(big, ONE, **KEYED)
    n = 20 * len(PEOPLE)
    assert masked.union(masked).aggregate("count(*), count(distinct person)").fetchall() == [(2 * n, n)]
    left, right = masked.set_alias("a"), masked.set_alias("b")
    same = left.join(right, "a.person = b.person").aggregate("count(*), count_if(a.habit = b.habit)").fetchall()
    assert same == [(n, n)]


def test_a_duckdb_relation_is_read_whole_or_another_query_that_cuts_it_off_is_an_error(connection: Any) -> None:
    big = connection.sql("select p.* replace (p.person + 1000000 * r.range as person) from people p, range(40) r")
    reader = mw.engines.mask(big, ONE, **KEYED).to_arrow_reader(1000)
    read = len(reader.read_next_batch())
    refused = False
    try:
        assert connection.execute("select 1").fetchall() == [(1,)]
    except duckdb.Error:
        refused = True
    # From DuckDB 2 on the other query is refused and reading goes on, or reading is, if both ask at one moment. Before,
    # DuckDB ends the result, or repeats what it has in memory. No part passes for the whole.
    said = ""
    try:
        read += len(reader.read_all())
    except Exception as error:
        said = str(error)
    if said:
        assert re.search(r"was cut off|ids must be unique|was asked for something else", said), said
    else:
        assert refused
        assert read == 40 * len(PEOPLE)


def test_views_ctes_and_constants_of_sql_do_not_redraw(connection: Any) -> None:
    mw.engines.duckdb_function(
        connection, "mask_habit", DESIGNS["habit"], key=KEY, survey="health 2026", column="habit"
    )
    connection.execute("create view masked as select person, region, mask_habit(person, habit) as habit from people")
    plain = connection.sql("select person, habit from masked").to_arrow_table()
    assert mw.engines.tally(plain, ONE)["habit"] == TALLIES["habit"]
    differing = "select count(*) from {0} a join {0} b using (person) where a.habit <> b.habit"
    assert connection.sql(differing.format("masked")).fetchall() == [(0,)]
    for kind in ("not materialized", "materialized"):
        cte = f"with c as {kind} (select person, mask_habit(person, habit) as habit from people) "
        assert connection.sql(cte + differing.format("c")).fetchall() == [(0,)]
    # A constant value is folded or sent once for all rows; each person's report is still their own.
    constant = connection.sql("select person, mask_habit(person, 'yes') as habit from people").to_arrow_table()
    own = DESIGNS["habit"].mask(["yes"] * len(PEOPLE), key=KEY, ids=constant["person"], question="health 2026/habit")
    assert constant["habit"].to_pylist() == own.packed.tolist()
    # With a constant id too it is one record, and has one report.
    assert len(connection.sql("select distinct mask_habit(7, 'yes') from people").fetchall()) == 1


def test_without_a_key_lazy_engines_are_refused(connection: Any) -> None:
    for source in (pl.from_arrow(PEOPLE).lazy(), connection.table("people")):
        with pytest.raises(
            mw.DataError, match=r"may evaluate a part twice.*Pass id, key and survey.*or load the data first"
        ):
            mw.engines.mask(source, DESIGNS)
    assert mw.engines.mask(pl.from_arrow(PEOPLE), DESIGNS).height == len(PEOPLE)
    with pytest.raises(mw.DataError, match="key is needed"):
        mw.engines.duckdb_function(connection, "m", DESIGNS["habit"], key=None, survey="s", column="habit")


def test_the_key_stands_in_no_plan_and_no_error(connection: Any) -> None:
    lazy = mw.engines.mask(pl.from_arrow(PEOPLE).lazy(), DESIGNS, **KEYED)
    relation = mw.engines.mask(connection.table("people"), DESIGNS, **KEYED)
    mw.engines.duckdb_function(connection, "mask_habit", DESIGNS["habit"], key=KEY, survey="s", column="habit")
    sql = connection.sql("select mask_habit(person, habit) from people")
    texts = [lazy.explain(), lazy.explain(optimized=False), lazy.explain(engine="streaming"), repr(lazy)]
    texts += [lazy._repr_html_(), str(lazy.show_graph(raw_output=True, show=False))]
    texts += [relation.explain(), relation.sql_query(), str(relation.type), sql.explain(), sql.sql_query()]
    texts += [str(connection.sql("select * from duckdb_functions() where function_name = 'mask_habit'").fetchall())]
    texts += [connection.sql("explain analyze select mask_habit(person, habit) from people").fetchall()[0][1]]

    wrong = PEOPLE.set_column(1, "habit", pa.array(["Zyzzyva-7"] * len(PEOPLE)))
    twice = PEOPLE.set_column(0, "person", pa.array([7] * len(PEOPLE)))
    for table in (wrong, twice):
        connection.register("wrong", table)
        for work in (
            mw.engines.mask(pl.from_arrow(table).lazy(), DESIGNS, **KEYED).collect,
            mw.engines.mask(connection.table("wrong"), DESIGNS, **KEYED).fetchall,
            connection.sql("select mask_habit(person, habit) from wrong").fetchall,
        ):
            with pytest.raises(Exception, match=r"column 'habit'|ids must be unique") as caught:
                work()
            texts += [str(caught.value), repr(caught.value)]
    assert not any(map(shows_key, texts))
    assert not any("Zyzzyva" in text for text in texts)


def test_a_function_of_sql_takes_ids_that_are_text() -> None:
    design, key = mw.plan(["yes", "no"], mw.LDP(1)), bytes(range(32))
    ids, answers = [f"d{i}" for i in range(100)], ["yes", "no"] * 50
    connection = duckdb.connect()
    connection.register("devices", pa.table({"device": ids, "flag": answers}))
    mw.engines.duckdb_function(connection, "mask_flag", design, key=key, survey="s", column="flag", id_type="VARCHAR")
    masked = [row[0] for row in connection.sql("select mask_flag(device, flag) from devices").fetchall()]
    assert masked == design.mask(answers, key=key, ids=ids, question="s/flag").packed.tolist()


SECRET = "Zyzzyva-7"


@pytest.mark.parametrize(("n", "wrong"), [(10, 5), (1_000_000, 900_000)])
def test_an_error_of_duckdb_about_a_cell_does_not_show_it(n: int, wrong: int) -> None:
    """The first is refused when the reading begins, the second while it goes on."""
    connection, design = duckdb.connect(), mw.designs.direct([0, 1])
    cells = f"case when range = {wrong} then '{SECRET}' else '1' end"
    connection.execute(f"create table people as select range as person, {cells} as habit from range({n})")
    relation = connection.sql("select person, habit::int as habit from people")
    keyed = KEYED | {"keep": ()}
    for work in (
        lambda: mw.engines.mask(relation, {"habit": design}, **keyed).fetchall(),
        lambda: mw.engines.mask(relation, {"habit": design}, **keyed).to_arrow_reader().read_all(),
        lambda: mw.engines.tally(relation, {"habit": design}),
        lambda: mw.engines.repeated_ids(relation, "habit"),
    ):
        with pytest.raises(Exception, match=r"cannot be read by DuckDB \(\w+\).*TRY_CAST") as caught:
            work()
        shown = "".join(traceback.format_exception(caught.value))
        assert SECRET not in shown


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        (pa.array([1, 2, None]), "empty"),
        (pa.array(["a", "b", ""]), "empty"),
        (pa.array([None, "b", "a"]).dictionary_encode(), "empty"),
        (pa.array([1, 2, 3]).cast(pa.timestamp("us")), "cast the column to text"),
    ],
)
def test_ids_that_are_none_are_refused_wherever_they_are_counted(ids: pa.Array, reason: str) -> None:
    table = pa.table({"person": ids})
    connection = duckdb.connect()
    connection.register("people", table)
    frame = pl.from_arrow(table)
    for source in (table, frame, frame.lazy(), connection.table("people")):
        with pytest.raises(mw.DataError, match=rf"column 'person'.*{reason}"):
            mw.engines.repeated_ids(source, "person")


@pytest.mark.parametrize("ids", [[3, 1, 3], ["a", "b", "a"], [b"a", b"b", b"a"], [0.5, 1.5, 0.5]])
def test_repeats_are_counted_alike(ids: list[Any]) -> None:
    table = pa.table({"person": ids})
    connection = duckdb.connect()
    connection.register("people", table)
    frame = pl.from_arrow(table)
    sources = (table, frame, frame.lazy(), connection.table("people"))
    assert [mw.engines.repeated_ids(source, "person") for source in sources] == [1, 1, 1, 1]
