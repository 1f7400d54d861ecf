"""cfile.open: rows, columns, keys, statistics, and how they are shown."""
import array
import datetime
import decimal
import math
import pickle

import numpy
import pandas
import polars
import pyarrow
import pytest
from conftest import parted

import cfile
from cfile import col

N = 1000
TABLE = pyarrow.table({
    "id": pyarrow.array(range(0, 2 * N, 2), "int64"),
    "name": [None if row % 10 == 0 else f"name {row}" for row in range(N)],
    "price": pyarrow.array([decimal.Decimal(row) / 100 for row in range(N)], pyarrow.decimal128(9, 2)),
})
ROWS = TABLE.to_pylist()
NESTED = pyarrow.table({"id": [1, 2, 3], "tcp": [{"port": 80, "flags": ["a"]}, None, {"port": None, "flags": []}], "tags": [["x", None],
    [], None]})


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return parted(tmp_path_factory.mktemp("tables") / "t", TABLE, 3, sorted_by="id", block_size_bytes=512)


@pytest.fixture(scope="module")
def column(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "f"
    cfile.write(path, TABLE.column("id"), sorted_by=True, block_size_bytes=512)
    return cfile.open(path)


SLICES = [slice(None), slice(10, 20), slice(-5, None), slice(None, None, 7), slice(None, None, -1), slice(20, 10), slice(2000, 3000),
    slice(-2000, 3),
          slice(30, 5, -4), slice(333, 335)]


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slices(table, column, key):
    assert table[key].to_pylist() == ROWS[key] and len(table[key]) == len(ROWS[key])
    assert column[key].to_pylist() == [row["id"] for row in ROWS][key]
    assert table["name"][key].to_pylist() == [row["name"] for row in ROWS][key]


def test_slices_of_slices(table):
    rows = table[100:200]
    for key in ([slice(10, 20), slice(-5, None), slice(50, 1000), slice(None, None, 3)]):
        assert rows[key].to_pylist() == ROWS[100:200][key]
    assert rows[[5, -1, 5]].to_pylist() == [ROWS[105], ROWS[199], ROWS[105]]
    assert rows.scan(col("id") >= 380, columns=["id"]).to_pylist() == [{"id": number} for number in range(380, 400, 2)]
    assert rows.scan(col("id") >= 380).scan(col("id") < 390).count() == 5
    assert rows.scan(limit=3).to_pylist() == ROWS[100:103] and rows.scan(reverse=True, limit=3).count() == 3
    for call in (lambda: rows.scan(limit=3)[1:], lambda: rows.scan(limit=3).scan(col("id") > 1), lambda: table.take([1]).scan(),
            lambda: table.take([1])[0:]):
        with pytest.raises(TypeError):
            call()


ORDINALS = [[5, 1, 999, 1], [-1, -1000], [], (3,), range(4), numpy.array([7, 3]), numpy.array([7, 3], "uint64"), numpy.array([7, 3],
    "int8"),
            array.array("Q", [7, 3]), pyarrow.array([7, 3]), polars.Series([7, 3]), pandas.Series([7, 3]), numpy.arange(0, 6, 2,
                "uint64")[::2]]


@pytest.mark.parametrize("ordinals", ORDINALS, ids=lambda ordinals: f"{type(ordinals).__module__} {len(ordinals)}")
def test_take(table, column, ordinals):
    expected = [ROWS[int(getattr(row, "as_py", lambda row=row: row)())] for row in ordinals]
    assert table.take(ordinals).to_pylist() == expected
    assert table.take(ordinals, columns=["price", "id"]).to_pylist() == [{"price": row["price"], "id": row["id"]} for row in expected]
    assert column.take(ordinals).to_pylist() == [row["id"] for row in expected]
    assert len(table.take(ordinals)) == len(expected)


CHOSEN = [row % 3 == 0 for row in range(N)]
WITH_NULLS = [None if row % 2 else chosen for row, chosen in enumerate(CHOSEN)]
MASKS = {
    "list": CHOSEN,
    "numpy": numpy.array(CHOSEN),
    "numpy strided": numpy.array(CHOSEN * 2)[:N],
    "numpy masked": numpy.ma.array(CHOSEN, mask=[row % 2 == 1 for row in range(N)]),
    "numpy objects": numpy.array(CHOSEN, object),
    "memoryview": memoryview(numpy.array(CHOSEN)),
    "pandas": pandas.Series(CHOSEN, index=range(N, 0, -1)),
    "pandas boolean": pandas.array(WITH_NULLS, "boolean"),
    "pandas pyarrow": pandas.Series(WITH_NULLS, dtype="bool[pyarrow]"),
    "pandas index": pandas.Index(CHOSEN),
    "pyarrow": pyarrow.array(WITH_NULLS),
    "pyarrow chunks": pyarrow.chunked_array([CHOSEN[:7], CHOSEN[7:]]),
    "pyarrow nulls": pyarrow.array([None] * N, "bool"),
    "Polars": polars.Series(WITH_NULLS),
    "none": numpy.zeros(N, bool),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_choose_rows(table, column, name):
    mask = MASKS[name]
    has_nulls = name in ("numpy masked", "pandas boolean", "pandas pyarrow", "pyarrow", "Polars")
    chosen = [] if name in ("pyarrow nulls", "none") else [row for row in range(N) if (WITH_NULLS if has_nulls else CHOSEN)[row]]
    expected = [ROWS[row] for row in chosen]
    for found in (table[mask], table.take(mask), table[:][mask]):
        assert found.to_pylist() == expected and len(found) == len(expected)
    assert table.take(mask, columns=["id"]).to_pylist() == [{"id": row["id"]} for row in expected]
    for found in (column[mask], table["id"].take(mask), table.scan(columns=["id"])[mask]):
        assert [row["id"] if isinstance(row, dict) else row for row in found.to_pylist()] == [row["id"] for row in expected]
    part = mask[10:50]
    assert table[10:50][part].to_pylist() == [ROWS[row] for row in chosen if 10 <= row < 50]
    for rows in (table, column, table[10:49]):
        with pytest.raises(IndexError, match="a mask of 40 values"):
            rows[part]


INTEGERS = [3, numpy.int64(3), numpy.uint8(3), numpy.array(3), numpy.int32(3 - N)]


@pytest.mark.parametrize("ordinal", INTEGERS, ids=lambda ordinal: type(ordinal).__name__)
def test_integers_of_numpy(table, column, stored, ordinal):
    assert table[ordinal] == ROWS[3] and column[ordinal] == ROWS[3]["id"] == table["id"][ordinal]
    assert table.take([ordinal]).to_pylist() == [ROWS[3]]
    nested = stored(NESTED)
    assert nested[numpy.int64(2)] == NESTED.to_pylist()[2]


@pytest.mark.parametrize("wrong", [
    1.0, numpy.float64(1), None, True, numpy.True_, numpy.array(True), [1.0], [None], [1, True], [True, 1], [True, None], [True, 1.0], "a",
    ["a"], numpy.array([1.0]), numpy.array([[1, 2]]), numpy.array([[1, 2]], "uint64"), numpy.ones((N, 1), bool), [[1]], [[True]], (1, None),
    pandas.Series([1.0]), pandas.array([1, None], "Int64"), pandas.DataFrame({0: [1]}), pyarrow.array([1, None]), pyarrow.array([1.0]),
    pyarrow.table({"a": [1]}), polars.Series([1.0]), polars.Series([1, None]), polars.DataFrame({"a": [1]}), polars.Series([[1]]),
    numpy.array(["2024-01-01"], "datetime64[D]"), object(),
], ids=lambda wrong: f"{type(wrong).__module__} {wrong}"[:60].replace("\n", " "))
def test_what_are_no_ordinals(table, column, wrong):
    for rows in (table, column, table["id"], table[10:20]):
        with pytest.raises((TypeError, KeyError) if isinstance(wrong, str) and rows is table else TypeError):
            rows[wrong]
        with pytest.raises(TypeError):
            rows.take(wrong)


def test_rows_that_do_not_exist(table, column):
    for call in (lambda: table[N], lambda: table[-N - 1], lambda: column[N], lambda: table.take([0, N]).to_arrow(), lambda: table[[N]],
                 lambda: table.take(numpy.array([N], "uint64")).to_arrow(), lambda: table["name"][N], lambda: table[5:10].take([5])):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(KeyError, match="there are id, name, price"):
        table["x"]
    with pytest.raises((KeyError, cfile.Error)):
        table.scan(columns=["x"]).to_arrow()


def test_single_rows_and_iteration(table, column):
    assert [table[row] for row in (0, 1, 500, -1)] == [ROWS[row] for row in (0, 1, 500, -1)]
    assert list(column) == [row["id"] for row in ROWS]
    assert list(table["name"]) == [row["name"] for row in ROWS] and list(table["price"]) == [row["price"] for row in ROWS]


SCHEMA_OF_KEYS = pyarrow.schema([("k", "int64"), ("n", "int64"), ("text", "string")])


def test_keys(table, column):
    for key in (-5, 0, 1, 2, 1234, 1235, 1998, 1999, 10**30, -10**30, 2.5, 4.0):
        first = next((row for row in range(N) if ROWS[row]["id"] >= key), N)
        exact = first if first < N and ROWS[first]["id"] == key else None
        for searched in (table, column, table["id"]):
            assert (searched.seek(key), searched.find(key)) == (first, exact)
    assert table["id"].key_range(10, 15).to_pylist() == [10, 12, 14] and len(table["id"].key_range()) == N
    assert len(table["id"].key_range(15, 10)) == 0
    assert column.is_sorted and not table["name"].is_sorted
    with pytest.raises((cfile.ArgumentError, cfile.UnsupportedError)):
        table["name"].seek("a")
    with pytest.raises(TypeError):
        table.seek("a")


@pytest.mark.parametrize("key", ["k", ["k", "n"]])
def test_slices_between_keys(tmp, key):
    rows = [{"k": k, "n": n} for n, keys in enumerate([[1, 5, 9], [2, 5, 7]]) for k in keys]
    for part in (rows[:3], rows[3:]):
        (cfile.append if part[0]["n"] else cfile.write)(tmp / "t", pyarrow.Table.from_pylist(part),
                                                        **({} if part[0]["n"] else {"sorted_by": key}))
        table = cfile.open(tmp / "t")
        bounds = [table.seek(2), table.seek(8)] if key == "k" else [table.seek((2, 0)), table.seek((8, 0))]
        if not part[0]["n"]:
            assert table[bounds[0]:bounds[1]].to_pylist() == [{"k": 5, "n": 0}]
    assert bounds == [3, 2] and table[bounds[0]] == {"k": 2, "n": 1} and table.take(bounds).to_pylist() == [rows[3], rows[2]]
    for rows_of in (table, table["n"], table[:]):
        for chosen in (slice(*bounds), slice(bounds[0], None), slice(None, bounds[1]), slice(table.find(5) if key == "k" else bounds[0], 6),
                       slice(bounds[1] - 1, bounds[1] + 1)):
            with pytest.raises(cfile.ArgumentError, match="scan.*compact"):
                rows_of[chosen]
    if key == "k":
        with pytest.raises(cfile.ArgumentError, match="scan"):
            table["k"][table["k"].seek(2):]
    assert table.scan((col("k") >= 2) & (col("k") < 8)).count() == 4 and table[1:3].to_pylist() == rows[1:3]
    cfile.compact(tmp / "t")
    table = cfile.open(tmp / "t")
    assert [row["k"] for row in table[table.seek(2):table.seek(8)].to_pylist()] == [2, 5, 5, 7]  # also with the first of two key columns
    cfile.append(tmp / "t", pyarrow.table({"k": [9, 12], "n": [1, 1]}))  # the same key at the border is no overlap
    if key == "k":
        table = cfile.open(tmp / "t")
        assert [row["k"] for row in table[table.seek(7):table.seek(12)].to_pylist()] == [7, 9, 9]


@pytest.mark.parametrize("key, bounds", [
    ("k", [-5, 7, 0.5, 3.5, 19, 10**30, -10**30]),
    (["k", "n"], [(-5,), (-5, 1), 7, (7, 2), (19, 2), (-20, 0)]),
])
def test_key_ranges(tmp, key, bounds):
    def of(value):
        return (value["k"], value["n"]) if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
    rows = [{"k": row * 7919 % 40 - 20, "n": row % 3 if key != "k" else 0, "text": f"row {row}"} for row in range(300)]
    parts = [sorted(rows[begin:begin + 100], key=of) for begin in (0, 100, 200)]
    for part in parts:
        options = {"sorted_by": key} if part is parts[0] else {}
        (cfile.write if options else cfile.append)(tmp / "t", pyarrow.Table.from_pylist(part, SCHEMA_OF_KEYS), **options)
    in_order = sorted(sum(parts, []), key=of)  # rows with equal keys keep the order of the parts
    for is_compacted in (False, True):
        table = cfile.open(tmp / "t")
        for low in (None, *bounds):
            for high in (None, *bounds):
                expected = [row for row in in_order if (low is None or of(row) >= of(low)) and (high is None or of(row) < of(high))]
                found = table.key_range(low, high)
                assert found.to_pylist() == expected and found.count() == len(expected), (low, high)
                assert table.key_range(low, high, columns=["text"]).to_pylist() == [{"text": row["text"]} for row in expected]
                if key == "k":
                    assert table["k"].key_range(low, high).to_pylist() == [row["k"] for row in expected]
        assert pickle.loads(pickle.dumps(table.key_range(-5, 7))).head(3).to_pylist() == table.key_range(-5, 7).to_pylist()[:3]
        for value in range(-21, 21):
            first = next((row for row in in_order if row["k"] == value), None)
            ordinal = table.find(value)
            assert first == (None if ordinal is None else table[ordinal])
        assert cfile.compact(tmp / "t")["rows"] == 300 or is_compacted
    cfile.write(tmp / "unsorted", pyarrow.table({"k": [1]}))
    for wrong in (cfile.open(tmp / "unsorted"), cfile.open(tmp / "unsorted")["k"]):
        with pytest.raises(cfile.Error, match="value index"):
            wrong.key_range(1)


@pytest.mark.parametrize("key", ["k", ["k", "n"]])
def test_newest_rows(tmp, key):
    def part(rows):
        return pyarrow.Table.from_pylist([{"k": k, "n": n, "text": text} for k, n, text in rows], SCHEMA_OF_KEYS)
    compound = key != "k"
    cfile.write(tmp / "t", part([(1, 1, "a"), (5, 1, None), (5, 2, "c")]), sorted_by=key)
    cfile.append(tmp / "t", part([(2, 1, "d"), (5, 2, "e")]))
    cfile.append(tmp / "t", part([(5, 1, "f"), (9, 1, "g")]))
    table = cfile.open(tmp / "t")
    def get(k, n=1, **options):
        return table.get((k, n) if compound else k, **options)
    assert get(5) == {"k": 5, "n": 1, "text": "f"} and get(1) == {"k": 1, "n": 1, "text": "a"}
    assert get(5, columns=["text"]) == {"text": "f"} and get(9) == table[6]
    assert get(5, 2) == ({"k": 5, "n": 2, "text": "e"} if compound else table[5])
    assert get(3) is None and get(10**30 if not compound else 6) is None and get(2, 1) == table[3]
    with pytest.raises((cfile.ArgumentError, TypeError)):
        table.get((5,) if compound else "5")
    found = [(k, n, get(k, n)) for k in (1, 2, 5, 9) for n in (1, 2)]
    assert cfile.compact(tmp / "t", newest=True)["rows"] == (5 if compound else 4)
    table = cfile.open(tmp / "t")
    assert [(k, n, get(k, n)) for k, n, _ in found] == found
    cfile.write(tmp / "unsorted", part([(1, 1, "a")]))
    with pytest.raises(cfile.ArgumentError, match="value index"):
        cfile.open(tmp / "unsorted").get(1)


@pytest.mark.parametrize("kind, values, missing", [("float", [0.1, 0.7, 1.5], 0.2), ("double", [0.1, 0.7, 1.5], 0.2)])
def test_keys_of_floats(stored, kind, values, missing):
    opened = stored(pyarrow.array(values, kind), sorted_by=True)
    assert [opened.find(value) for value in values] == [0, 1, 2] and opened.find(missing) is None and opened.seek(missing) == 1
    with pytest.raises(ValueError):
        opened.find(math.nan)
    assert opened.seek(float("inf")) == 3 and opened.seek(-10**400) == 0


def test_streams_are_fresh_each_time(table):
    for rows in (table, table[5:10], table.scan(col("id") > 3), table.take([1, 2]), table.scan(limit=4), table.scan(reverse=True)):
        assert pyarrow.table(rows) == pyarrow.table(rows) == rows.to_arrow()
        assert pyarrow.schema(rows) == pyarrow.RecordBatchReader.from_stream(rows).schema
        assert polars.DataFrame(rows).equals(rows.to_polars())
    first, second = table.to_batches(), table.to_batches()
    assert first.read_next_batch() == second.read_next_batch()


def test_schema_of_selected_columns(table, column):
    selected = table.scan(columns=["price", "id"])
    assert pyarrow.schema(selected).names == ["price", "id"] == pyarrow.RecordBatchReader.from_stream(selected).schema.names
    assert pyarrow.field(column).type == pyarrow.int64() and pyarrow.chunked_array(column).type == pyarrow.int64()
    with pytest.raises(TypeError):
        column.to_batches()


def test_statistics_blocks_and_info(table, column):
    statistics = table.statistics
    assert (statistics["id"]["min"], statistics["id"]["max"], statistics["id"]["present_count"]) == (0, 1998, N)
    assert statistics["name"]["null_count"] == 100 and statistics["price"]["max"] == decimal.Decimal("9.99")
    assert table["id"].statistics == statistics["id"] and column.statistics["max"] == 1998
    blocks = table.blocks
    assert set(blocks) == {"id", "name", "price"}
    for found in blocks.values():
        assert sum(block["num_rows"] for block in found) == N
        assert [block["first_ordinal"] for block in found] == sorted(block["first_ordinal"] for block in found)
    assert blocks["price"][0]["min"] == 0 and sum(block["null_count"] for block in blocks["name"]) == 100
    assert table.info["num_rows"] == N and table.info["num_parts"] == 3 and column.info["has_value_index"]
    assert table.types == {"id": "int64", "name": "string", "price": "decimal(9,2)"} and table.key == []
    assert (column.name, column.type, column.nullable) == ("value", "int64", False)
    found = table.verify()
    assert found["rows"] == N * 3 or found["rows"] == N
    assert found["damages"] == found["limits"] == [] and found["blocks"] > 0
    assert column.verify()["damages"] == []


def test_repr(table, column, stored):
    assert "1,000 rows, 3 columns" in repr(table) and "3 parts" in repr(table) and "name 1" in repr(table) and "…" in repr(table)
    assert repr(column).startswith("Column ") and "int64, 1,000 rows" in repr(column)
    assert "where (id > 3)" in repr(table.scan(col("id") > 3, limit=7)) and "at most 7 rows" in repr(table.scan(limit=7))
    assert "2 taken rows" in repr(table.take([1, 2]))
    odd = stored(pyarrow.table({"<b>": ["<script>", "a\nb", "x" * 100], "&": [1, 2, 3]}))
    for shown in (odd._repr_html_(), odd["<b>"]._repr_html_()):
        assert "<script>" not in shown and "&lt;script&gt;" in shown and "&lt;b&gt;" in shown and "x" * 30 not in shown
    assert "\nb" not in repr(odd).replace("\n<b>", "") and "x" * 30 not in repr(odd)
    wide = stored(pyarrow.table({f"c{number}": [number] for number in range(30)}), name="wide")
    assert "and 18 more columns" in repr(wide) and "18 columns are not shown" in wide._repr_html_()
    assert repr(stored(pyarrow.table({"n": pyarrow.array([], "int8")}), name="none"))


def test_nested_tables(stored):
    table = stored(NESTED)
    rows = NESTED.to_pylist()
    assert table.columns == ["id", "tcp", "tags"]
    assert list(table.types) == ["id", "tcp.port", "tcp.flags.list.element", "tags.list.element"]
    assert [table[row] for row in range(3)] == rows and table[1:].to_pylist() == rows[1:] and table[[2, 0]].to_pylist() == [rows[2],
        rows[0]]
    assert table["tcp"].to_pylist() == [row["tcp"] for row in rows]
    assert table["tcp"][1:].to_pylist() == [row["tcp"] for row in rows[1:]]
    assert table.scan(col("id") > 1, columns=["tags"]).to_pylist() == [{"tags": row["tags"]} for row in rows[1:]]
    assert "tcp.port" in repr(table) and table._repr_html_()
    leaf = table["tags.list.element"]
    assert len(leaf) == 3 and repr(leaf) and leaf.statistics is None or leaf.statistics
    assert set(table.statistics) == set(table.types) and table.verify()["damages"] == []
    assert pyarrow.schema(table) == table.to_arrow().schema and table.to_arrow() == NESTED
    assert polars.DataFrame(table).rows() == polars.DataFrame(NESTED).rows()
    assert stored(table, name="copy").to_pylist() == rows


def test_columns_with_levels(stored):
    column = stored(pyarrow.array([[1, 2], [], None, [3]]))
    assert [column[row] for row in range(4)] == [[1, 2], [], None, [3]] == list(column) and column[-1] == [3]
    assert column[1:3].to_pylist() == [[], None] and column.take([3, 0]).to_pylist() == [[3], [1, 2]]
    with pytest.raises((cfile.Error, TypeError)):
        column.find(5)


def test_zones(stored):
    moments = [datetime.datetime(2024, 7, 1, tzinfo=datetime.timezone.utc), None]
    column = stored(pyarrow.array(moments, pyarrow.timestamp("us", "America/New_York")), name="zoned")
    assert column[0] == moments[0] and column[0].utcoffset() == datetime.timedelta(hours=-4) and column[1] is None


def test_caches_of_any_size(stored, tmp):
    stored(pyarrow.table({"n": range(300_000)}), encoding="plain", compression="zstd", block_size_bytes=4096)
    for size in (0, 1, 1 << 16, 1 << 40):
        table = cfile.open(tmp / "data", cache_size_bytes=size)
        assert [table[ordinal]["n"] for ordinal in (5, 299_999, 5)] == [5, 299_999, 5]
        assert table.take([7, 200_000]).to_pylist() == [{"n": 7}, {"n": 200_000}]
    for size in (-1, "1"):
        with pytest.raises((TypeError, OverflowError)):
            cfile.open(tmp / "data", cache_size_bytes=size)


def test_no_checksums_are_compared_on_request(stored, tmp):
    stored(TABLE)
    assert cfile.open(tmp / "data", verify_checksums=False).to_arrow().num_rows == N


def test_fields_that_are_lists_are_columns(stored):
    table = stored(NESTED)
    tags = table["tags"]
    assert isinstance(tags, cfile.Column) and tags.is_nested and tags.nullable and tags.type.startswith("list<")
    assert tags[0] == ["x", None] and tags[-1] is None and tags[1:].to_pylist() == [[], None] == tags.take([1, 2]).to_pylist()
    assert tags.to_arrow() == NESTED["tags"] and list(tags) == NESTED["tags"].to_pylist() and tags.statistics is None
    assert table[tags.is_null()].to_pylist() == NESTED.to_pylist()[2:] and "tags" in repr(tags) and tags._repr_html_()


def test_fields_that_are_structs_are_columns(stored):
    values = [{"x": 1, "y": {"z": "a"}}, None, {"x": None, "y": None}]
    table = stored(pyarrow.table({"n": range(3), "s": values}))
    structs = table["s"]
    assert isinstance(structs, cfile.Column) and structs.is_nested and structs.type == "struct<x: int64, y: struct<z: string>>"
    assert [structs[row] for row in (0, 1, -1)] == values == list(structs) and structs[numpy.int64(1)] is None
    assert structs[1:].to_pylist() == values[1:] and structs[::2].to_pylist() == values[::2] and structs.take([2, 0]).to_pylist() == values[::-2]
    assert structs[[True, False, True]].to_pylist() == values[::2] and structs.head(1).to_pylist() == values[:1]
    assert table[structs.is_null()].to_pylist() == [{"n": 1, "s": None}] and structs[1:].to_arrow().is_null().to_pylist() == [True, False]
    assert structs.to_arrow() == table.to_arrow()["s"] and structs.to_polars().to_list() == table.to_polars()["s"].to_list()
    assert structs.scan(col("n") > 1).to_pylist() == values[2:] and structs.statistics is None and repr(structs) and structs._repr_html_()
    with pytest.raises(IndexError):
        structs[3]
    with pytest.raises(TypeError, match="s is a group of columns"):
        table.seek(5, "s")
    for number, rows in enumerate((structs, structs[1:], structs.take([1]))):  # the column keeps its name in a table
        assert stored(rows, name=f"copy{number}").to_pylist() == [{"s": value} for value in rows.to_pylist()]


def test_statistics_of_parts_without_numbers(tmp):
    for value in ([float("nan")], [1.5, float("nan")], [None]):
        (cfile.append if (tmp / "t").exists() else cfile.write)(tmp / "t", pyarrow.table({"x": pyarrow.array(value, "double")}))
    found = cfile.open(tmp / "t").statistics["x"]
    assert (found["present_count"], found["null_count"], found["nan_count"], found["min"], found["max"]) == (3, 1, 2, 1.5, 1.5)
