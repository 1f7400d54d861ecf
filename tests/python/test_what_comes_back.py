"""What comes back of frames of pandas, tables of pyarrow and frames of Polars: the table in tools/python/TYPES.md.

CFILE_UPDATE=1 writes the table.
"""
import contextlib
import datetime
import decimal
import os
import pathlib
import uuid

import numpy
import pandas
import polars
import polars.testing
import pyarrow as pa

import cfile

DOCUMENT = pathlib.Path(__file__).parents[2] / "tools/python/TYPES.md"


def _pandas_columns():
    """Columns of two values and a null, or of three values, by the name of their type."""
    integers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    yield from ((kind, pandas.Series([1, 2, 3], dtype=kind)) for kind in [*integers, "bool"])
    yield from ((kind, pandas.Series([1, None, 3], dtype=kind)) for kind in
                [*(name.replace("int", "Int").replace("uI", "UI") for name in integers), "Float32", "Float64",
                 "float16", "float32", "float64"])
    yield from ((kind, pandas.Series(["a", None, "é"], dtype=kind)) for kind in ("str", "string[python]", "string[pyarrow]", "category"))
    yield "boolean", pandas.Series([True, None, False], dtype="boolean")
    yield "object of bytes", pandas.Series([b"a", None, b"\xff"], dtype=object)
    yield "object of date", pandas.Series([datetime.date(2000, 1, 1), None, datetime.date(1, 1, 1)], dtype=object)
    yield "object of time", pandas.Series([datetime.time(1), None, datetime.time(23, 59, 59, 999999)], dtype=object)
    yield "object of Decimal", pandas.Series([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")], dtype=object)
    yield "object of bool", pandas.Series([True, None, False], dtype=object)
    yield "object of nulls", pandas.Series([None, None, None], dtype=object)
    yield "object of complex", pandas.Series([1j, None, 2j], dtype=object)
    yield "ordered category", pandas.Series(pandas.Categorical(["b", None, "a"], ["b", "unused", "a"], ordered=True))
    yield "category of int64", pandas.Series(pandas.Categorical([2, None, 1]))
    yield "category of intervals", pandas.Series(pandas.cut([1, numpy.nan, 9], [0, 4, 10]))
    for unit in ("s", "ms", "us", "ns"):
        times = pandas.to_datetime(["2000-01-01", None, "1950-06-01"]).astype(f"datetime64[{unit}]")
        yield f"datetime64[{unit}]", pandas.Series(times)
        yield f"datetime64[{unit}, Asia/Tokyo]", pandas.Series(times.tz_localize("Asia/Tokyo"))
        yield f"timedelta64[{unit}]", pandas.Series(pandas.to_timedelta([5, None, -7], unit="s").astype(f"timedelta64[{unit}]"))
    yield "period[M]", pandas.Series(pandas.PeriodIndex(["2024-01", None, "2024-03"], freq="M"))
    yield "interval", pandas.Series(pandas.arrays.IntervalArray.from_tuples([(0, 1), None, (2, 3)]))
    yield "complex128", pandas.Series([1j, 2j, 3j])
    for kind in (pa.int8(), pa.string(), pa.decimal128(9, 2), pa.date32(), pa.list_(pa.int64())):
        yield f"ArrowDtype({kind})", pandas.Series(pandas.arrays.ArrowExtensionArray(pa.array([None], kind).take(pa.array([0, 0, 0]))))


def _pandas_cases():
    for name, column in _pandas_columns():
        yield name, pandas.DataFrame({"c": column, "n": range(3)})
        yield name, pandas.DataFrame({"c": column, "n": range(3)})[:0]
        if name not in ("float16", "ArrowDtype(list<item: int64>)"):  # pandas has no such index, or cannot read it
            yield name, pandas.DataFrame({"n": range(3)}, index=pandas.Index(column, name="c"))
        if not name.startswith("ArrowDtype"):
            yield name, pandas.Series(column, name="c")


def _arrow_types():
    yield from [pa.bool_(), *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)), pa.float16(),
                pa.float32(), pa.float64(), pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(),
                pa.binary_view(), pa.binary(3), pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    yield from (kind for unit in ("s", "ms", "us", "ns") for kind in (pa.timestamp(unit), pa.timestamp(unit, "UTC"), pa.duration(unit)))
    yield from [pa.null(), pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(38, 5), pa.decimal256(20, 1), pa.decimal256(60, 1),
                pa.decimal128(9, -2), pa.uuid(), pa.json_(), pa.bool8(), pa.opaque(pa.int32(), "type", "vendor"),
                pa.fixed_shape_tensor(pa.float32(), (2,)), pa.month_day_nano_interval(), pa.list_(pa.int32()), pa.large_list(pa.int32()),
                pa.list_(pa.int32(), 2), pa.list_(pa.string(), 2), pa.list_view(pa.int32()), pa.struct([("x", pa.int8())]), pa.struct([]),
                pa.map_(pa.string(), pa.int32()), pa.map_(pa.struct([("x", pa.int8())]), pa.int32()),
                pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.float16()), pa.run_end_encoded(pa.int32(), pa.int64()),
                pa.run_end_encoded(pa.int32(), pa.duration("s"))]


# Each type takes one of these values.
VALUES = [True, datetime.date(2000, 1, 2), datetime.timedelta(days=1), datetime.time(1), 5, 1.5, "a", b"abc", bytes(range(16)),
          decimal.Decimal("1.5"), decimal.Decimal("5E+2"), [1, 2], ["a", "b"], {"x": 1}, [("a", 1)], [({"x": 1}, 1)], {},
          object()]


def _first(make):
    """The result of make(value) for the first value for which it works."""
    for value in VALUES:
        with contextlib.suppress(ValueError, TypeError, OverflowError, AttributeError, NotImplementedError, pa.ArrowException, polars.exceptions.PolarsError):
            return make(value)
    raise AssertionError("no value has this type")


def _arrow_values(kind):
    """A value and a null."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _arrow_values(kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], kind.run_end_type), _arrow_values(kind.value_type), kind)
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(pa.array([0, 1], kind.index_type), _arrow_values(kind.value_type))
    return pa.nulls(2) if pa.types.is_null(kind) else _first(lambda value: pa.array([value, None], kind))


def _arrow_cases():
    for kind in _arrow_types():
        for rows in (0, 2):
            nulls = pa.nulls(rows, kind) if not isinstance(kind, pa.BaseExtensionType) else \
                pa.ExtensionArray.from_storage(kind, pa.nulls(rows, kind.storage_type))
            yield str(kind), pa.table({"n": pa.array(range(rows), pa.int64()), "c": nulls})
        yield str(kind), pa.table({"n": pa.array(range(2), pa.int64()), "c": _arrow_values(kind)})


def _polars_cases():
    kinds = [polars.Boolean, *(getattr(polars, f"{sign}Int{bits}") for sign in ("", "U") for bits in (8, 16, 32, 64)), polars.Int128,
             polars.Float32, polars.Float64, polars.String, polars.Binary, polars.Date, polars.Time, polars.Null, polars.Categorical,
             polars.Enum(["b", "a"]), polars.Decimal(10, 2), *(polars.Datetime(unit) for unit in ("ms", "us", "ns")),
             polars.Datetime("us", "Asia/Tokyo"), *(polars.Duration(unit) for unit in ("ms", "us", "ns")), polars.List(polars.Int8),
             polars.Array(polars.Int64, 2), polars.Struct({"x": polars.Int8}), polars.Object]
    for kind in kinds:
        for rows in (0, 2):
            column = polars.Series("c", [None] * rows, dtype=kind)
            yield str(kind), column.to_frame()
        yield str(kind), column
        if kind != polars.Null:
            column = _first(lambda value, kind=kind: polars.Series("c", [value, None], dtype=kind, strict=True))
            yield str(kind), column.to_frame()
            yield str(kind), column


def _plain(column):
    return [value for chunk in column.chunks for value in getattr(chunk, "storage", chunk).to_pylist()]


def _result(data, path):
    """"the same", the type that comes back, or "refused"."""
    try:
        cfile.write(path, data)
    except (cfile.UnsupportedError, cfile.ArgumentError, pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return "refused"
    opened = cfile.open(path)
    if isinstance(data, pa.Table):
        found = opened.to_arrow()
        found.validate(full=True)
        kind = found.schema.field("c").type
        assert _plain(found["c"]) == _plain(data["c"])
        return "the same" if kind == data.schema.field("c").type else str(kind)
    if isinstance(data, polars.Series) and isinstance(opened, cfile.Table):  # null structs
        opened, data = opened["value"], data.rename("value")
    found = opened.to_polars() if isinstance(data, (polars.DataFrame, polars.Series)) else opened.to_pandas()
    equal = {polars.DataFrame: polars.testing.assert_frame_equal, polars.Series: polars.testing.assert_series_equal,
             pandas.DataFrame: pandas.testing.assert_frame_equal, pandas.Series: pandas.testing.assert_series_equal}[type(data)]
    try:
        equal(found, data)
        return "the same"
    except AssertionError:
        column = found if not hasattr(found, "columns") else found["c"] if "c" in found.columns else found.index
        return f"index of {column.dtype}" if column is getattr(found, "index", None) else str(column.dtype)


def _rows(cases, folder):
    """The types with the same results, in the order of the cases."""
    results = {}
    for number, (name, data) in enumerate(cases):
        results.setdefault(name, []).append(_result(data, folder / str(number)))
    by_result = {}
    for name, of_type in results.items():
        by_result.setdefault(", ".join(dict.fromkeys(of_type)), []).append(name)
    return by_result


def test_table_of_types(tmp_path):
    lines = []
    for package, cases in (("pandas", [*_pandas_cases()]), ("pyarrow", [*_arrow_cases()]), ("Polars", [*_polars_cases()])):
        (tmp_path / package).mkdir()
        lines += [f"| {package}, {len(cases)} cases | {'; '.join(names)} | {result} |"
                  for result, names in sorted(_rows(cases, tmp_path / package).items(), key=lambda row: (row[0] != "the same", row[0]))]
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    head = text.partition("| --- |")[0]
    made = f"{head}| --- | --- | --- |\n" + "\n".join(lines) + "\n"
    if os.environ.get("CFILE_UPDATE"):
        DOCUMENT.write_text(made, encoding="utf-8")
    else:
        assert made == text
    counts = [int(line.split(",")[1].split()[0]) for line in lines]
    assert sorted(set(counts))[0] >= 60 and max(counts) >= 160


def test_uuids_of_pandas(stored):
    values = [uuid.UUID(int=5), None]
    assert stored(pa.table({"c": pa.array([values[0].bytes, None], pa.uuid())})).to_arrow()["c"].to_pylist() == values
