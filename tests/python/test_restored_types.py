"""Types of Arrow that no column has come back, from every container and to every library."""
import datetime
import uuid

import numpy
import pandas
import polars
import polars.testing
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cfile
from cfile import col

HALVES = [0.0, -0.0, 1.5, 65504.0, 2.0**-24, 2.0**-14, float("inf"), float("-inf"), None]
TENSORS = pa.array([[1, 2, 3, 4], None, [5, None, 7, 8]], pa.list_(pa.int32(), 4))


def _extension(data_type, values):
    return pa.ExtensionArray.from_storage(data_type, pa.array(values, data_type.storage_type))


ARRAYS = {
    **{f"duration_{unit}": pa.array([0, -5, 2**62, None], pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
    "float16": pa.array(HALVES, pa.float16()),
    "null": pa.nulls(3),
    "uuid": _extension(pa.uuid(), [uuid.UUID(int=5).bytes, None]),
    "json": _extension(pa.json_(), ['{"a": 1}', None]),
    "json_large": _extension(pa.json_(pa.large_string()), ['{"a": 1}', None]),
    "bool8": _extension(pa.bool8(), [1, 0, None]),
    "tensor": pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), (2, 2)), TENSORS),
    "opaque": _extension(pa.opaque(pa.int64(), "t", "v"), [1, None]),
    "list_of_durations": pa.array([[1, None], None, []], pa.list_(pa.field("element", pa.duration("ms")))),
    "struct_of_others": pa.array([{"d": 1, "h": 1.5, "n": None}, None, {"d": None, "h": -0.0, "n": None}],
                                 pa.struct([("d", pa.duration("ns")), ("h", pa.float16()), ("n", pa.null())])),
    "map_of_durations": pa.array([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.duration("s"))),
    "lists_of_lists": pa.array([[[1.5, None], None], [[]], None],
                               pa.list_(pa.field("element", pa.list_(pa.field("element", pa.float16()))))),
    "opaque_duration": _extension(pa.opaque(pa.duration("ms"), "t", "v"), [1, None]),
}
# What Arrow calls the type of a column if this is not the type that was written.
STORED = {"json_large": pa.json_(pa.string())}


def _expected(name):
    array = ARRAYS[name]
    return array if name not in STORED else pa.ExtensionArray.from_storage(STORED[name], array.storage.cast(pa.string()))


def _same(found, name):
    expected = _expected(name)
    assert found.type.equals(expected.type), found.type
    found.validate(full=True)
    # repr tells -0 from 0.
    if isinstance(found.type, pa.FixedShapeTensorType):
        assert found.combine_chunks().storage.to_pylist() == expected.storage.to_pylist()
    elif not str(expected.type).startswith("duration"):
        assert repr(found.to_pylist()) == repr(expected.to_pylist())
    else:
        assert found.cast("int64").to_pylist() == expected.cast("int64").to_pylist()


def _containers(name):
    table = pa.table({"n": range(len(ARRAYS[name])), "c": ARRAYS[name]})
    yield "table", table
    yield "batch", table.to_batches()[0]
    yield "reader", pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    yield "batches", iter(table.to_batches())
    yield "chunks", pa.Table.from_batches([*table[:1].to_batches(), *table[1:].to_batches()])
    yield "slices", pa.concat_tables([table, table])[len(table):]
    yield "dict", {"n": table["n"], "c": ARRAYS[name]}


@pytest.mark.parametrize("name", ARRAYS)
def test_each_container(stored, name):
    for what, source in _containers(name):
        table = stored(source, name=what)
        for found in (table.to_arrow(), pa.table(table), table.to_batches().read_all(), table.scan(columns=["c"]).to_arrow(),
                      table.take(range(len(table))).to_arrow(), table[:].to_arrow(dictionaries=True)):
            _same(found["c"], name)
        assert table.scan(columns=["c"]).to_arrow()["c"].type == pa.schema(table).field("c").type == table["c"].to_arrow().type
        cfile.write(table._opened.name + " again", table)
        _same(cfile.open(table._opened.name + " again").to_arrow()["c"], name)
        half = len(table) // 2
        _same(pa.chunked_array([*table[:half].to_arrow()["c"].chunks, *table[half:].to_arrow()["c"].chunks],
                               _expected(name).type), name)


@pytest.mark.parametrize("name", [name for name in ARRAYS if name not in ("struct_of_others", "map_of_durations")])
def test_one_array_is_a_file(stored, name):
    column = stored(ARRAYS[name])
    _same(column.to_arrow(), name)
    _same(column.take(range(len(column))).to_arrow(), name)
    assert pa.field(column).type == column.to_arrow().type


def test_what_one_array_cannot_be(tmp):
    with pytest.raises(cfile.Error):
        cfile.write(tmp / "t", ARRAYS["map_of_durations"])
    assert list(tmp.iterdir()) == []


def test_null_structs_are_a_column(stored, tmp):
    array = ARRAYS["struct_of_others"]
    sources = [array, pa.chunked_array([array[:2], array[2:]]), polars.Series("c", [{"d": 1}, None, {"d": None}]),
               pandas.Series([{"d": 1}, None, {"d": None}], index=[5, 7, 9], name="c")]
    for number, source in enumerate(sources):
        table = stored(source, name=str(number))
        assert isinstance(table, cfile.Table) and table.columns[0] == "value"
        if number < 2:
            _same(table["value"].to_arrow(), "struct_of_others")
        assert [value and value["d"] for value in table["value"].to_arrow().cast(pa.struct([("d", "int64")])).to_pylist()] == [1, None, None]
        assert table["value"].is_null().to_pylist() == [False, True, False]
        if number != 3:
            for more in (source[:1], source[1:]):  # one of them has no null struct
                cfile.append(tmp / str(number), more)
            assert cfile.open(tmp / str(number))["value"].is_null().to_pylist() == [False, True, False] * 2
    polars.testing.assert_series_equal(stored(sources[2], name="p")["value"].to_polars(), sources[2], check_names=False)
    assert table.to_pandas()["value"].isna().tolist() == [False, True, False] and table.to_pandas().index.tolist() == [5, 7, 9]
    assert stored(array.drop_null(), name="rows").columns == ["d", "h", "n"]


@pytest.mark.parametrize("name", ARRAYS)
def test_changed_tables(stored, tmp, name):
    table = pa.table({"n": range(len(ARRAYS[name])), "c": ARRAYS[name]})
    stored(table)
    path = tmp / "data"
    cfile.append(path, table)
    cfile.append(path, pa.RecordBatchReader.from_stream(table))
    changes = [lambda: None, lambda: cfile.compact(path), lambda: cfile.reorder_columns(path, ["c", "n"]),
               lambda: cfile.drop_columns(path, "n")]
    nested = pa.types.is_nested(ARRAYS[name].type) or name == "tensor"
    for change in changes[:2] if nested else changes:  # columns of nested tables do not change
        change()
        found = cfile.open(path).to_arrow()["c"]
        assert found.type.equals(_expected(name).type)
        assert found.slice(2 * len(table)).combine_chunks().equals(_expected(name)) or name == "tensor"
    cfile.write(tmp / "parts", table[:0])
    cfile.commit(tmp / "parts", [cfile.write_part(tmp / "parts", table)])
    _same(cfile.open(tmp / "parts").to_arrow()["c"], name)
    cfile.commit(tmp / "new", [cfile.write_part(tmp / "new", table)], schema=None)
    _same(cfile.open(tmp / "new").to_arrow()["c"], name)


@pytest.mark.parametrize("name", [name for name in ARRAYS if name not in ("tensor", "json_large")])
def test_parquet_and_back(stored, tmp, name):
    table = pa.table({"n": range(len(ARRAYS[name])), "c": ARRAYS[name]})
    cfile.to_parquet(stored(table), tmp / "f.parquet")
    found = pq.read_table(tmp / "f.parquet")["c"]
    if name not in ("float16", "null", "struct_of_others", "lists_of_lists"):
        _same(found, name)
    else:  # the file has float for float16, and string for null
        assert repr(found.to_pylist()) == repr(ARRAYS[name].to_pylist())
    cfile.from_parquet(tmp / "f.parquet", tmp / "back")
    _same(cfile.open(tmp / "back").to_arrow()["c"], name)
    pq.write_table(table, tmp / "g.parquet")
    cfile.from_parquet(tmp / "g.parquet", tmp / "other")
    _same(cfile.open(tmp / "other").to_arrow()["c"], name)


def test_pandas_and_polars(stored):
    times = pandas.to_timedelta([1, None, 3], unit="s")
    frame = pandas.DataFrame({"d": times, "h": numpy.array([1.5, numpy.nan, -2], "float16")})
    table = stored(frame)
    pandas.testing.assert_frame_equal(table.to_pandas(), frame)
    assert table.to_arrow().schema.types == [pa.duration(times.unit), pa.float16()]
    column = stored(frame["d"], name="series")
    pandas.testing.assert_series_equal(column.to_pandas(), frame["d"], check_names=False)
    seconds = [datetime.timedelta(seconds=1), None, datetime.timedelta(days=-3)]
    data = polars.DataFrame({"d": seconds, "n": [None] * 3, "h": polars.Series([1.5, None, -2.0], dtype=polars.Float16)})
    for source in (data, data.lazy()):
        table = stored(source, name=type(source).__name__)
        polars.testing.assert_frame_equal(table.to_polars(), data)
        polars.testing.assert_frame_equal(cfile.scan_polars(table._opened.name).collect(), data)
        lazy = cfile.scan_polars(table._opened.name).filter(polars.col("d") > datetime.timedelta(0), polars.col("h") > 1)
        assert lazy.collect().rows() == [(seconds[0], None, 1.5)]
    polars.testing.assert_series_equal(stored(data["d"], name="one").to_polars(), data["d"], check_names=False)


def test_metadata(stored):
    fields = [pa.field("a", pa.int32(), metadata={"unit": "m"}), pa.field("s", pa.struct([pa.field("x", pa.int8(), metadata={"k": "v"})]))]
    table = pa.table([pa.array([1]), pa.array([{"x": 1}], fields[1].type)], pa.schema(fields, {"owner": "me", "é": "ü"}))
    for what, source in (("table", table), ("reader", pa.RecordBatchReader.from_stream(table))):
        written = stored(source, name=what)
        schema = written.to_arrow().schema
        assert written.info["metadata"]["owner"] == "me"
        assert {b"owner": b"me", "é".encode(): "ü".encode()}.items() <= schema.metadata.items()
        assert schema.field("a").metadata[b"unit"] == b"m" and schema.field("s").type.field("x").metadata[b"k"] == b"v"


def test_ordinary_tables_keep_no_schema(stored):
    table = pa.table({"n": [1], "s": pa.array(["a"], pa.large_string()), "u": ARRAYS["uuid"][:1], "l": [[1]]})
    for what, source in (("table", table), ("polars", polars.DataFrame(table.drop("u"))), ("again", stored(table, name="own"))):
        assert stored(source, name=what).info["metadata"] == {}


@pytest.mark.parametrize("kind", [pa.fixed_shape_tensor(pa.float16(), (1,)),
                                  pa.opaque(pa.dictionary(pa.int8(), pa.string()), "t", "v"),
                                  pa.opaque(pa.list_(pa.list_(pa.int8(), 1)), "t", "v")], ids=str)
def test_what_cannot_come_back_is_refused(tmp, kind):
    storage = pa.nulls(1, getattr(kind, "storage_type", kind))
    array = storage if storage.type == kind else pa.ExtensionArray.from_storage(kind, storage)
    table = pa.table({"strange": array})
    for source in (table, pa.RecordBatchReader.from_stream(table)):
        with pytest.raises(cfile.UnsupportedError, match="strange"):
            cfile.write(tmp / "t", source)
    assert list(tmp.iterdir()) == []


def test_rows_of_another_type_are_refused(stored, tmp):
    stored(pa.table({"d": pa.array([1], pa.duration("ms")), "h": pa.array([1.5], pa.float16()), "n": [1]}))
    for column, values in (("d", pa.array([1], pa.duration("us"))), ("d", pa.array([1])), ("n", pa.array([1], pa.duration("s"))),
                           ("h", pa.array([0.1], pa.float32()))):
        rows = cfile.open(tmp / "data").to_arrow()
        position = rows.column_names.index(column)
        rows = rows.set_column(position, column, values)
        with pytest.raises(cfile.ArgumentError, match=f"{column}: the column has the type"):
            cfile.append(tmp / "data", rows)
        with pytest.raises(cfile.ArgumentError, match=f"{column}: the column has the type"):
            cfile.replace_columns(tmp / "data", rows.select([column]))
    cfile.replace_columns(tmp / "data", pa.table({"d": pa.array([7], pa.duration("ms"))}))
    assert cfile.open(tmp / "data").to_arrow()["d"].to_pylist() == [datetime.timedelta(milliseconds=7)]


def test_nulls_get_values(stored, tmp):
    stored(pa.table({"c": pa.nulls(2), "n": [1, 2]}))
    cfile.append(tmp / "data", pa.table({"c": ["a"], "n": [3]}))
    assert cfile.open(tmp / "data").to_arrow()["c"].to_pylist() == [None, None, "a"]
    assert cfile.open(tmp / "data").to_arrow()["c"].type == pa.string()


def test_conditions_and_order(stored):
    table = pa.table({"h": pa.array([3.5, None, -1.0], pa.float16()), "d": pa.array([3, 1, 2], pa.duration("s"))})
    assert stored(table).scan(col("h") > 0).to_arrow().to_pylist() == [{"h": 3.5, "d": datetime.timedelta(seconds=3)}]
    for by in ("d", "h"):
        found = stored(table, name=by, sorted_by=by).to_arrow()
        assert found["h"].to_pylist() == [None, -1.0, 3.5] and found.schema.types == table.schema.types
    with pytest.raises(TypeError):
        stored(table, name="t").scan(col("d") > datetime.timedelta(0))


CATEGORIES = {
    "cut": pandas.cut([1, 5, 9, numpy.nan], [0, 4, 10]),
    "periods": pandas.Categorical(pandas.period_range("2024-01", periods=2, freq="M"), ordered=True),
    "empty": pandas.Categorical([]),
    "nulls": pandas.Categorical([None, None]),
    "durations": pandas.Categorical(pandas.to_timedelta([1, 2, 1], unit="s")),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories(stored, name):
    frame = pandas.DataFrame({"c": CATEGORIES[name]})
    pandas.testing.assert_frame_equal(stored(frame).to_pandas(), frame)


def test_types_of_polars(stored):
    frame = polars.DataFrame({"e": polars.Series(["a", "b", None], dtype=polars.Enum(["b", "unused", "a"])),
                              "c": polars.Series(["x", None, "y"], dtype=polars.Categorical),
                              "a": polars.Series([[1, 2], None, [3, None]], dtype=polars.Array(polars.Int64, 2)),
                              "m": polars.Series([[[1], [2]], None, [[3], None]], dtype=polars.Array(polars.Array(polars.Int8, 1), 2))})
    table = stored(frame)
    polars.testing.assert_frame_equal(table.to_polars(), frame)
    polars.testing.assert_frame_equal(table.scan(columns=["a"]).to_polars(), frame.select("a"))
    lazy = cfile.scan_polars(table._opened.name)
    polars.testing.assert_frame_equal(lazy.collect(), frame)
    for test in (polars.col("e") > "b", polars.col("e") == "a", polars.col("c").is_in(["x"])):
        polars.testing.assert_frame_equal(lazy.filter(test).collect(), frame.filter(test))
    with pytest.raises(cfile.UnsupportedError, match="column o"):
        stored(polars.DataFrame({"o": polars.Series([object()], dtype=polars.Object)}), name="o")


class Stream:
    """What another library may have."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


def test_null_structs_of_a_stream_are_refused(tmp):
    rows = pa.chunked_array([[{"x": 1}, None]])
    with pytest.raises(cfile.ArgumentError, match="a row is null, but only a column of structs has nulls$"):
        cfile.write(tmp / "t", Stream(rows))
    cfile.write(tmp / "t", pa.table({"x": [1]}))
    with pytest.raises(cfile.ArgumentError, match="a row is null, but only a column of structs has nulls$"):
        cfile.append(tmp / "t", Stream(rows))  # evolve=True would not help


def test_a_new_column_with_the_name_of_a_dropped_one(tmp_path):
    path = tmp_path / "t"
    cfile.write(path, pa.table({"x": pa.array([1.5], pa.float16()), "y": pa.array([0.1], pa.float32()), "n": pa.nulls(1)}))
    cfile.drop_columns(path, ["x", "n"])
    cfile.rename_column(path, "y", "x")
    cfile.add_column(path, "n", "string")
    assert cfile.open(path).to_arrow().equals(pa.table({"x": pa.array([0.1], pa.float32()), "n": pa.array([None], pa.string())}))


@pytest.mark.parametrize("name", [name for name in ARRAYS if not pa.types.is_nested(ARRAYS[name].type) and name != "tensor"])
@pytest.mark.parametrize("how", ["add", "evolve"])
def test_added_and_renamed_columns(tmp, name, how):
    array, rest = ARRAYS[name], pa.nulls(2, ARRAYS[name].type)
    numbers = pa.table({"n": range(len(array))})
    path = tmp / "t"
    if how == "add":
        cfile.write(path, numbers)
        cfile.add_columns(path, pa.table({"c": array}))
    else:
        cfile.write(path, numbers[:0])
        cfile.append(path, numbers.append_column("c", array), evolve=True)
    cfile.append(path, pa.table({"n": [7, 8], "c": rest}))
    expected = pa.chunked_array([_expected(name), pa.nulls(2, _expected(name).type)])
    for change, column in ((lambda: None, "c"), (lambda: cfile.rename_column(path, "c", "new"), "new"),
                           (lambda: cfile.compact(path), "new"),
                           (lambda: cfile.append(path, pa.table({"n": [9], "m": [1]})[:0], evolve=True), "new")):
        change()
        found = cfile.open(path).to_arrow()[column]
        assert found.type == expected.type and _same_values(found, expected)


def _same_values(found, expected):
    if isinstance(expected.type, pa.BaseExtensionType):
        found, expected = (pa.chunked_array([chunk.storage for chunk in column.chunks]) for column in (found, expected))
    if pa.types.is_duration(expected.type):
        found, expected = found.cast("int64"), expected.cast("int64")
    return repr(found.to_pylist()) == repr(expected.to_pylist())


def test_renamed_columns_of_pandas_and_polars(tmp):
    frame = pandas.DataFrame({"c": pandas.Categorical(["b", "a"], ["b", "a"], ordered=True), "i": pandas.array([1, None], "Int64")},
                             index=pandas.Index(["x", "y"], name="label"))
    cfile.write(tmp / "t", frame)
    for old, new in (("c", "color"), ("i", "number"), ("label", "name")):
        cfile.rename_column(tmp / "t", old, new)
    pandas.testing.assert_frame_equal(cfile.open(tmp / "t").to_pandas(),
                                      frame.rename(columns={"c": "color", "i": "number"}).rename_axis("name"))
    cfile.drop_columns(tmp / "t", "color")
    assert list(cfile.open(tmp / "t").to_pandas().columns) == ["number"]
    data = polars.DataFrame({"e": polars.Series(["a"], dtype=polars.Enum(["b", "a"]))})
    cfile.write(tmp / "p", data)
    cfile.rename_column(tmp / "p", "e", "f")
    cfile.append(tmp / "p", polars.DataFrame({"f": ["b"], "new": polars.Series(["x"], dtype=polars.Categorical)}), evolve=True)
    assert dict(cfile.open(tmp / "p").to_polars().schema) == {"f": polars.Enum(["b", "a"]), "new": polars.Categorical()}


@pytest.mark.parametrize("values, data_type", [([True, False], pa.bool_()), ([1, 2], pa.timestamp("us")), (["a", "b"], pa.string())])
def test_lists_of_a_fixed_length_that_no_column_makes_again(tmp_path, values, data_type):
    """An extension type over such lists, in a file of Parquet, comes back as lists."""
    storage = pa.array([values, None], pa.list_(data_type, 2))
    fields = [pa.field("c", storage.type, metadata={"ARROW:extension:name": "one.of.users", "ARROW:extension:metadata": ""})]
    pq.write_table(pa.table([storage], pa.schema(fields)), tmp_path / "c.parquet")
    cfile.from_parquet(tmp_path / "c.parquet", tmp_path / "t")
    found = cfile.open(tmp_path / "t").to_arrow()
    found.validate(full=True)
    assert found["c"].to_pylist() == storage.to_pylist()


@pytest.mark.parametrize("text", ["1.0", "[1]", '{"n": null}', '{"n": ["Array", null]}', "no JSON"])
@pytest.mark.parametrize("key", ["polars", "ARROW:polars"])
def test_metadata_of_other_programs_does_not_hinder_polars(stored, key, text):
    table = pa.table({"n": [1, 2]}, metadata={key: text})
    assert stored(table).to_polars()["n"].to_list() == [1, 2]
