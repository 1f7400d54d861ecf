"""Values of every type come back through every library."""
import datetime
import decimal
import math
import re
import uuid

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

import cfile

Decimal = decimal.Decimal
TEXTS = ["", "a", "é\0\U0001f600", "much longer than the twelve bytes of a view", None]
BYTES = [b"", b"a", b"\xff\0", b"much longer than the twelve bytes of a view", None]
FLOATS = [1.5, -0.0, 0.0, math.nan, math.inf, -math.inf, 5e-324, None]


def _extension(data_type, values):
    return pa.ExtensionArray.from_storage(data_type, pa.array(values, data_type.storage_type))


def _timestamps(unit, zone):
    return pa.array([0, -1, 1, 86400 * 365, None], "int64").cast(pa.timestamp(unit, zone))


ARRAYS = {
    "bool": pa.array([True, False, None]),
    **{f"int{bits}": pa.array([0, 2**(bits - 1) - 1, -2**(bits - 1), None], f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": pa.array([0, 2**bits - 1, None], f"uint{bits}") for bits in (8, 16, 32, 64)},
    "float": pa.array(FLOATS, "float"),
    "double": pa.array(FLOATS, "double"),
    "decimal9": pa.array([Decimal("1.25"), Decimal("-0.01"), None], pa.decimal128(9, 2)),
    "decimal38": pa.array([Decimal("9" * 28 + "." + "9" * 10), Decimal("-" + "9" * 28 + "." + "9" * 10), None], pa.decimal128(38, 10)),
    "decimal32": pa.array([Decimal("1.25"), None], pa.decimal32(9, 2)),
    "decimal64": pa.array([Decimal("-1.25"), None], pa.decimal64(18, 2)),
    "decimal256": pa.array([Decimal("-1.25"), None], pa.decimal256(38, 2)),
    "date": pa.array([datetime.date(1, 1, 1), datetime.date(1970, 1, 1), datetime.date(9999, 12, 31), None]),
    "date64": pa.array([datetime.date(1969, 12, 31), None], pa.date64()),
    **{f"time_{unit}": pa.array([datetime.time(0), datetime.time(23, 59, 59), None], f"time{32 if unit in ('s', 'ms') else 64}[{unit}]")
       for unit in ("s", "ms", "us", "ns")},
    **{f"timestamp_{unit}_{zone and zone[:3]}": _timestamps(unit, zone)
       for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "America/New_York")},
    "string": pa.array(TEXTS),
    "large_string": pa.array(TEXTS, pa.large_string()),
    "string_view": pa.array(TEXTS, pa.string_view()),
    "binary": pa.array(BYTES),
    "large_binary": pa.array(BYTES, pa.large_binary()),
    "binary_view": pa.array(BYTES, pa.binary_view()),
    "fixed": pa.array([b"abc", b"\xff\0\0", None], pa.binary(3)),
    "uuid": _extension(pa.uuid(), [uuid.UUID(int=5).bytes, None]),
    "all_null": pa.array([None, None], "int32"),
    "list": pa.array([[1, None], [], None, [3]], pa.list_(pa.int32())),
    "list_of_text": pa.array([["a", None], [], None, ["b", ""]], pa.large_list(pa.string())),
    "fixed_list": pa.array([[1, None], [2, 3], None], pa.list_(pa.int16(), 2)),
    "struct": pa.array([{"x": 1, "y": None}, None, {"x": None, "y": "b"}], pa.struct([("x", pa.int32()), ("y", pa.string())])),
    "list_of_lists": pa.array([[[1, None], []], None, [], [None, [2]]]),
    "map": pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int32())),
    "nested": pa.array([[[{"a": ["x", None]}], []], [], None, [None]], pa.list_(pa.list_(pa.struct([("a", pa.list_(pa.string()))])))),
    "dictionary": pa.array(["a", "b", "a", None], pa.dictionary(pa.int8(), pa.string())),
    "dictionary_int": pa.array([7, 5, 7, None], pa.dictionary(pa.int32(), pa.int64())),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays([2, 3, 4], ["a", None, "b"]),
}
NESTED = {"list", "list_of_lists", "list_of_text", "fixed_list", "struct", "map", "nested"}
FLAT = [name for name in ARRAYS if name not in NESTED]
# What Arrow calls the type of a column if this is not the type that was written.
STORED = {"decimal32": pa.decimal128(9, 2), "decimal64": pa.decimal128(18, 2), "decimal256": pa.decimal128(38, 2), "date64": pa.date32(),
          "large_string": pa.string(), "string_view": pa.string(), "large_binary": pa.binary(), "binary_view": pa.binary(),
          "list_of_text": pa.list_(pa.string()), "dictionary": pa.string(),
              "dictionary_int": pa.int64(),
          "run_end_encoded": pa.string()}
FORMS = ("full", "without_nulls", "empty")
# DuckDB does not read these.
NOT_IN_DUCKDB = {"decimal256"}


def _table(name, form="full"):
    array = ARRAYS[name]
    if form == "without_nulls":
        array = pa.concat_arrays([array[row:row + 1] for row, value in enumerate(array.to_pylist()) if value is not None] or [array[:0]])
    return pa.table({"c": array[:0] if form == "empty" else array})


def _as_stored(name, table):
    """The same values with the type of the column."""
    kind = STORED.get(name)
    if kind is None:
        return table
    values = table.column("c").to_pylist()
    return pa.table({"c": pa.array(values, kind)})


def _same(found, expected):
    """repr tells -0 from 0, and NaN equals NaN."""
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ARRAYS)
def test_each_library_reads_what_was_written(stored, name, form):
    table = _table(name, form)
    expected = _as_stored(name, table)
    values = expected.column("c").to_pylist()
    opened = stored(table)

    read = opened.to_arrow()
    assert read.schema.field("c").type.equals(expected.schema.field("c").type)
    for arrow in (read, pa.table(opened), opened.to_batches().read_all(), opened[:].to_arrow(), opened.take(range(len(opened))).to_arrow()):
        assert arrow.schema == read.schema and arrow.num_rows == len(values)
        arrow.validate(full=True)
        _same(arrow.column("c").to_pylist(), values)
    assert pa.schema(opened) == pa.RecordBatchReader.from_stream(opened).schema
    encoded = opened.to_arrow(dictionaries=True)
    _same(encoded.column("c").to_pylist(), values)
    assert opened.to_pylist() == [{"c": value} for value in values] or "nan" in repr(values)
    assert [opened[row]["c"] for row in range(len(opened))] == values or "nan" in repr(values) or "_ns_" in name

    if name != "run_end_encoded":  # pandas makes a column of objects of its values
        pandas.testing.assert_frame_equal(opened.to_pandas(), table.to_pandas())
    frame = polars.DataFrame(expected)
    for polars_frame in (opened.to_polars(), polars.DataFrame(opened), cfile.scan_polars(opened._opened.name).collect()):
        assert_frame_equal(polars_frame, frame)
    _same(opened.to_numpy()["c"], expected.column("c").to_numpy())
    if name not in NOT_IN_DUCKDB:
        assert _in_duckdb(opened) == _in_duckdb(opened.to_dataset()) == _in_duckdb(expected)


def _in_duckdb(source):
    """The rows as DuckDB shows them."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.execute("SELECT c::VARCHAR, typeof(c) FROM source").fetchall()


def _sources(name):
    """The table as each library passes it."""
    table = _table(name)
    yield "stream", pa.RecordBatchReader.from_stream(table)
    yield "batch", table.to_batches()[0]
    yield "chunks", pa.chunked_array([batch.to_struct_array() for batch in table.slice(0, 1).to_batches() + table.slice(1).to_batches()],
                                     pa.struct(table.schema))
    if name not in ("map", "fixed_list", "run_end_encoded"):
        yield "pandas", table.to_pandas(types_mapper=pandas.ArrowDtype)
    if name not in ("uuid", "run_end_encoded", "decimal256"):
        yield "polars", polars.DataFrame(table)
        yield "polars stream", polars.DataFrame(table).lazy().collect(engine="streaming")


@pytest.mark.parametrize("name", ARRAYS)
def test_each_library_is_written(stored, name):
    values = ARRAYS[name].to_pylist()
    for what, source in _sources(name):
        found = stored(source, name=what).to_arrow().column("c").to_pylist()
        assert [_plain(value) for value in found] == [_plain(value) for value in values] or repr(found) == repr(values), what
    if name not in NOT_IN_DUCKDB:
        table = _table(name)  # noqa: F841 (DuckDB finds the variable)
        with duckdb.connect() as connection:
            found = stored(connection.sql('FROM "table"'), name="duckdb")
            assert [row[0] for row in _in_duckdb(found)] == [row[0] for row in _in_duckdb(table)]


def _plain(value):
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=value.tzinfo or datetime.timezone.utc).timestamp()
    return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.timezone.utc).timestamp() \
        if isinstance(value, datetime.date) else value


@pytest.mark.parametrize("name", [name for name in ARRAYS if name not in ("struct", "map", "nested")])
def test_one_array_is_a_file(stored, name):
    array = ARRAYS[name]
    expected = _as_stored(name, pa.table({"c": array})).column("c")
    values = expected.to_pylist()
    for number, source in enumerate([array, pa.chunked_array([array, array[:0]])]):
        column = stored(source, name=f"array{number}")
        assert isinstance(column, cfile.Column) and len(column) == len(values)
        assert column.to_arrow().type.equals(expected.type)
        _same(column.to_arrow().to_pylist(), values)
        if "_ns_" not in name:
            assert [_plain(value) for value in column] == [_plain(value) for value in values] or repr(list(column)) == repr(values)
        series = polars.Series("value", expected)
        assert_series_equal(column.to_polars(), series, check_names=False)
        pandas.testing.assert_series_equal(column.to_pandas(), column.to_arrow().to_pandas(), check_names=False)
        _same(column.to_numpy(), expected.to_numpy())
        assert pa.field(column).type == column.to_arrow().type
    if name not in ("uuid", "run_end_encoded", "decimal256", "date64"):
        written = polars.Series("x", array)
        kept = written if name in ("fixed_list", "dictionary") else polars.Series("x", expected)
        assert_series_equal(stored(written, name="series").to_polars(), kept, check_names=False)


@pytest.mark.parametrize("array", [ARRAYS["map"], ARRAYS["nested"], pa.array([[{"x": 1}]])], ids=["map", "nested", "list of structs"])
def test_one_array_with_deeper_values_is_refused(tmp, array):
    with pytest.raises(cfile.UnsupportedError):
        cfile.write(tmp / "f", array)
    assert list(tmp.iterdir()) == []


def test_times_that_python_cannot_express(stored):
    for zone in (None, "UTC", "Asia/Tokyo"):  # all times are datetimes, also those with nanoseconds
        column = stored(pa.array([2**62, 1, 1000], pa.timestamp("ns", zone)), name=f"zone {zone}".replace("/", " "))
        assert list(column) == [pandas.Timestamp(number, tz=zone) for number in (2**62, 1, 1000)]
        assert all(isinstance(value, datetime.datetime) for value in column)
        # Which is NaT for pandas.
        assert stored(pa.array([-2**63], pa.timestamp("ns", zone)), name=f"least {zone}".replace("/", " "))[0] == -2**63
    assert stored(pa.array([2**50], pa.timestamp("s")), name="far")[0] == 2**50
    assert stored(pa.array([10**7], pa.date32()), name="date")[0] == 10**7


def test_types_that_no_column_has(tmp):
    for kind in (pa.month_day_nano_interval(), pa.struct([]), pa.list_(pa.month_day_nano_interval()),
                 pa.map_(pa.struct([("x", pa.int8())]), pa.int8()), pa.map_(pa.list_(pa.int8()), pa.int8())):
        for metadata in (None, {"k": "v"}):
            with pytest.raises(cfile.UnsupportedError, match="strange"):
                cfile.write(tmp / "t", pa.table({"x": [1], "strange": pa.array([None], kind)}, metadata=metadata))
            assert list(tmp.iterdir()) == []
    for data in (pa.table({"a": [1], "": [2]}), {"a": [1], "": [2]}, polars.DataFrame({"a": [1], "": [2]})):
        with pytest.raises(cfile.ArgumentError, match="column 2 has no name"):
            cfile.write(tmp / "t", data)


@pytest.mark.parametrize("dtype, values", [
    (polars.List(polars.Array(polars.Boolean, 1)), [[[True], None], [], None]),
    (polars.Array(polars.List(polars.Array(polars.Int8, 2)), 1), [[[[1, 2]]], [None], None]),
    (polars.Array(polars.Array(polars.Categorical, 2), 1), [[["a", "b"]], [None], None]),
    (polars.Struct({"x": polars.Array(polars.Int8, 2), "y": polars.String, "z": polars.Enum(["b", "a"])}), [{"x": [1, 2], "y": "", "z": "a"}]),
    (polars.List(polars.Struct({"x": polars.Int128})), [[{"x": 2**100}, None], []]),
    (polars.Map(polars.Categorical, polars.Array(polars.Boolean, 1)), [{"a": [True]}, {}, None]),
    (polars.List(polars.Map(polars.String, polars.Array(polars.Int8, 1))), [[{"a": [1]}], [], None])], ids=str)
def test_types_of_polars_inside_others(stored, dtype, values):
    for rows in (values, []):
        frame = polars.DataFrame({"c": polars.Series(rows, dtype=dtype), "row": range(len(rows))})
        assert_frame_equal(stored(frame, name=f"t{len(rows)}").to_polars(), frame)
        if not {"Map", "Struct"} & set(re.findall("[A-Z][a-z]+", str(dtype))):  # a file has values or lists
            series = frame.get_column("c")
            assert_series_equal(stored(series, name=f"f{len(rows)}").to_polars(), series)


def test_types_that_arrow_schema_cannot_describe(tmp):
    frame = polars.DataFrame({"big": polars.Series([2**100], dtype=polars.Int128), "time": [datetime.timedelta(1)]})
    cfile.write(tmp / "t", frame)
    cfile.append(tmp / "t", frame)
    assert_frame_equal(cfile.open(tmp / "t").to_polars(), polars.concat([frame, frame]))
    encoded = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["a"]).dictionary_encode())
    table = pa.table({"twice": encoded, "null": pa.nulls(1)})
    cfile.write(tmp / "u", table)
    assert cfile.open(tmp / "u").to_arrow().equals(pa.table({"twice": ["a"], "null": pa.nulls(1)}))
    fields = [table.schema.field("twice").with_metadata({"k": "v"}), table.schema.field("null")]
    with_metadata = pa.Table.from_arrays(table.columns, schema=pa.schema(fields))
    with_duration = pa.table({"twice": pa.StructArray.from_arrays([encoded, pa.array([1], pa.duration("s"))], ["x", "y"])})
    for lossy in (with_metadata, with_duration):
        with pytest.raises(cfile.UnsupportedError, match="field twice: ARROW:schema cannot describe the type"):
            cfile.write(tmp / "v", lossy)


@pytest.mark.parametrize("name", ["string", "dictionary", "run_end_encoded", "list"])
def test_many_rows_in_several_chunks(stored, name):
    array = ARRAYS[name]
    chunks = [array.slice(shift, len(array) - shift) for shift in (0, 1, 2)] * 200
    table = stored(pa.table({"c": pa.chunked_array(chunks)}), block_size_bytes=512)
    expected = [value for chunk in chunks for value in chunk.to_pylist()]
    assert table.to_arrow(dictionaries=True).column("c").to_pylist() == expected
    assert table[100:900:7].to_arrow().column("c").to_pylist() == expected[100:900:7]
    assert table[[5, -1, 5]].to_arrow().column("c").to_pylist() == [expected[5], expected[-1], expected[5]]
