"""DuckDB and pyarrow push filters and columns down into Table.to_dataset, and get the rows of the Arrow table."""
import datetime
import math
import random

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pytest
import test_pushing
from test_pushing import COLUMNS, DAY, ROWS, Recorder, constants_of

import cfile
from cfile import dataset, pushing

path, table = test_pushing.path, test_pushing.table  # fixtures


def _sql(value):
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return f"'{value}'::DOUBLE" if not math.isfinite(value) else repr(value)
    if isinstance(value, bytes):
        return "'" + "".join(f"\\x{byte:02x}" for byte in value) + "'::BLOB"
    for kind, name in ((datetime.datetime, "TIMESTAMP"), (datetime.date, "DATE"), (datetime.time, "TIME")):
        if isinstance(value, kind):
            return f"{name}TZ '{value}'" if getattr(value, "tzinfo", None) else f"{name} '{value}'"
    return repr(value) if isinstance(value, (bool, int)) else str(value)


def _duckdb_predicate(chance, depth):
    if depth > 0 and chance.random() < 0.6:
        left, right = (_duckdb_predicate(chance, depth - 1) for _ in range(2))
        return chance.choice([f"NOT ({left})", f"({left} AND {right})", f"({left} OR {right})"])
    name = chance.choice(list(COLUMNS))
    constant, other = (_sql(chance.choice(constants_of(name))) for _ in range(2))
    column = f'"{name}"'
    tests = [f"{column} {sign} {constant}" for sign in ("=", "<>", "<", "<=", ">", ">=")]
    tests += [f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} IN ({constant}, {other})",
        f"{column} BETWEEN {constant} AND {other}",
              f"{column} IS DISTINCT FROM {constant}"]
    if name == "string":
        tests += [f"{column} LIKE 'a%'", f"starts_with({column}, 'ab')"]
    return chance.choice(tests)


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connected:
        connected.execute("SET TimeZone = 'UTC'")
        connected.execute("SET threads = 1")
        yield connected


def _rows(connection, source, predicate):
    try:
        return connection.sql(f"SELECT row FROM source WHERE {predicate} ORDER BY row").fetchall()
    except duckdb.Error as error:
        return type(error)


def test_duckdb_gets_the_rows_of_the_arrow_table(path, table, connection, monkeypatch):
    chance = random.Random(5)
    opened = cfile.open(path)
    source = opened.to_dataset()
    recorder = Recorder(monkeypatch)
    for _ in range(250):
        predicate = _duckdb_predicate(chance, 2)
        assert _rows(connection, source, predicate) == _rows(connection, table, predicate), predicate
    assert sum(where != "None" for where, _, _ in recorder.calls) > 100


EXPECTED_OF_DUCKDB = [
    ("int32 > 1", "(int32 > 1)"), ("int32 = 1 OR int32 = 3", "((int32 == 1) | (int32 == 3))"), ("string IN ('a', 'b')",
        "string.isin(['a', 'b'])"),
    ("int32 IS NULL", "int32.is_null()"), ("int32 BETWEEN 1 AND 3", "((int32 >= 1) & (int32 <= 3))"),
    ("date >= DATE '2024-01-02'", f"(date >= {DAY.replace(day=2)!r})"),
]


@pytest.mark.parametrize("predicate, text", EXPECTED_OF_DUCKDB)
def test_what_duckdb_pushes(path, connection, monkeypatch, predicate, text):
    source = cfile.open(path).to_dataset()  # noqa: F841 (DuckDB finds the variable)
    recorder = Recorder(monkeypatch)
    connection.sql(f"SELECT string FROM source WHERE {predicate}").fetchall()
    (where, columns, _), = recorder.calls
    assert text in where
    assert set(columns) <= {"string", predicate.split()[0]}


def test_duckdb_reads_one_object_several_times(path, connection):
    # DuckDB finds the variable `source`.
    for source in (cfile.open(path), cfile.open(path).to_dataset(), cfile.open(path)[10:],  # noqa: B007
                   cfile.open(path).scan(cfile.col("row") >= 10)):
        for _ in range(2):
            count, = connection.execute("SELECT count(*) FROM source").fetchone()
            assert count in (ROWS, ROWS - 10)
        pairs, = connection.execute("SELECT count(*) FROM source a JOIN source b USING (row)").fetchone()
        assert pairs == count


def test_dataset_is_a_dataset_of_pyarrow(path, table):
    source = cfile.open(path).to_dataset()
    field = pyarrow.compute.field
    assert source.schema == table.schema
    assert source.count_rows() == ROWS and source.head(5)["row"].to_pylist() == list(range(5))
    assert source.to_table(columns=["row"],
        filter=field("int32") > 1)["row"].to_pylist() == table.filter(field("int32") > 1)["row"].to_pylist()
    assert source.to_table(columns={"twice": field("row") * 2}, filter=field("bool")).column_names == ["twice"]
    assert source.take([3, 1])["row"].to_pylist() == [3, 1]
    with pytest.raises(TypeError, match="fragments"):
        __import__("pickle").dumps(source)


def test_pyarrow_expressions(path, table):
    types = pushing.flat_types(cfile.open(path)._opened)
    field, call = pyarrow.compute.field, pyarrow.compute
    for expression, text in [
        (~(field("int32") > 1), "~(int32 > 1)"), (field("string").isin(["a"]), "string.isin(['a'])"),
        (field("int32").is_null(), "int32.is_null()"), (field("double").is_null(nan_is_null=True), "None"),
        (call.starts_with(field("string"), "a"), "string.startswith('a')"),
        (call.starts_with(field("string"), "a", ignore_case=True), "None"),
        (call.scalar(1) < field("int32"), "(int32 > 1)"), (field("int32") + 1 > 2, "None"), (field("string").isin([None, "a"]), "None"),
        (field("nanos") > pyarrow.scalar(1, pyarrow.timestamp("ns")), "(nanos > Timestamp('1970-01-01 00:00:00.000000001'))"),
    ]:
        assert repr(dataset.pushed(expression, types)[0]) == text


METHODS = """
import cfile, pyarrow as pa, pyarrow.compute as pc, pyarrow.dataset as ds, pickle
from cfile import dataset
dataset._FRAGMENT_ROWS = 3
table = pa.table({"i": pa.array([2, 1, 5, None, 4, 3, 2], "int32"), "s": list("abcdefg"), "t": pa.array(range(7), pa.timestamp("ns"))})
cfile.write("t", table)
mine, own = cfile.open("t").to_dataset(), ds.dataset(table)
other = ds.dataset(pa.table({"i": pa.array([1, 2], "int32"), "t": pa.array([1, 4], pa.timestamp("ns")), "more": ["x", "y"]}))
pending = {name for name in dir(ds.Dataset) if not name.startswith("_")}
over = pc.field("i") > 1

def rows(found):
    found = found.to_table() if hasattr(found, "to_table") else pa.table(found) if not isinstance(found, pa.Table) else found
    return sorted(map(str, found.to_pylist()))

def same(name, call):
    pending.discard(name)
    expected, found = call(own), call(mine)
    if hasattr(expected, "schema"):
        assert found.schema == expected.schema, name
        expected, found = rows(expected), rows(found)
    assert found == expected, (name, expected, found)

for filtered in (False, True):
    same("filter", lambda one: one.filter(over))
    same("filter", lambda one: one.filter(over).filter(pc.field("s") < "f"))
    same("filter", lambda one: pa.table({"n": [one.filter(over).count_rows(filter=pc.field("s") < "f")]}))
    same("head", lambda one: one.head(2, columns=["s"]))
    same("count_rows", lambda one: one.count_rows(filter=over))
    same("take", lambda one: one.take([3, 1]))
    same("to_table", lambda one: one.to_table(columns={"twice": pc.field("i") * 2}, filter=over))
    same("to_batches", lambda one: pa.Table.from_batches(one.to_batches(columns=["i"]), pa.schema([("i", "int32")])))
    same("scanner", lambda one: one.scanner(columns=["s"], filter=over, batch_size=2).to_table())
    same("schema", lambda one: one.schema.equals(table.schema))
    same("sort_by", lambda one: one.sort_by("i"))
    same("sort_by", lambda one: str(one.sort_by([("i", "descending")]).to_table()["s"].to_pylist()))
    same("join", lambda one: one.join(other, "i", right_suffix="2"))
    same("join", lambda one: other.join(one, "i", join_type="inner", right_suffix="2"))
    same("join_asof", lambda one: one.replace_schema(one.schema).join_asof(ds.dataset(other.to_table(["t", "more"])), on="t", by=[], tolerance=-9)
         if not filtered else one.count_rows())
    if not filtered:
        same("partition_expression", lambda one: str(one.partition_expression) == "true")
        same("replace_schema", lambda one: one.replace_schema(pa.schema([("s", "string"), ("new", "int8")])))
        same("get_fragments", lambda one: pa.concat_tables(piece.to_table(filter=over) for piece in one.get_fragments()))
        same("get_fragments", lambda one: sum(piece.count_rows() for piece in one.get_fragments(filter=over)))
        same("union", lambda one: ds.dataset([one, one]))
        same("union", lambda one: ds.dataset([one, own]).to_table(filter=over, columns=["s"]))
        same("union", lambda one: ds.UnionDataset(table.schema, [one]).count_rows())
        same("from_dataset", lambda one: ds.Scanner.from_dataset(one, filter=over, columns=["s"]).to_table())
        same("write", lambda one: ds.write_dataset(one, "w", format="parquet", existing_data_behavior="overwrite_or_ignore"))
        assert len(mine.files) == 3 and mine.filesystem.type_name == "py::cfile" and mine.format.default_extname
        assert mine.partitioning is None or mine.partitioning
        assert len(list(mine.get_fragments())) == 3 and repr(mine) and mine == mine
        for piece in mine.get_fragments():
            assert piece.physical_schema.equals(table.schema) and piece.head(1).num_rows == 1 and piece.path
        for change in (mine.filesystem.create_dir, mine.filesystem.delete_file, mine.filesystem.open_output_stream):
            try:
                change("x")
                raise SystemExit("expected an error")
            except cfile.UnsupportedError:
                pass
    for object in (mine, mine.filter(over)):
        try:
            pickle.dumps(object)
            raise SystemExit("expected an error")
        except TypeError as error:
            assert "fragments" in str(error)
    own, mine = own.filter(over), mine.filter(over)
assert not pending, pending
empty = cfile.write("e", table[:0]) or cfile.open("e").to_dataset()
assert empty.sort_by("i").to_table().num_rows == 0 == ds.dataset([empty]).count_rows() == len(list(empty.get_fragments()))
print("done")
"""


def test_each_method_of_a_dataset(run):
    """In another interpreter, because objects of pyarrow that are not complete end it."""
    assert run(METHODS) == "done\n"
