"""DataFrames come back as they were: index, categories and extension types, also after the table was changed."""
import datetime
import decimal

import numpy
import pandas
import pyarrow
import pytest
from pandas.testing import assert_frame_equal

import cfile
from cfile import col

DAYS = pandas.date_range("2024-01-01", periods=3)
COLUMNS = {
    "Int64": pandas.array([1, None, 3], "Int64"),
    "UInt8": pandas.array([1, None, 3], "UInt8"),
    "boolean": pandas.array([True, None, False], "boolean"),
    "Float32": pandas.array([1.5, None, -0.0], "Float32"),
    "string_python": pandas.array(["a", None, "c"], pandas.StringDtype("python")),
    "string_pyarrow": pandas.array(["a", None, "c"], pandas.StringDtype("pyarrow")),
    "str": pandas.Series(["a", None, "c"]),
    "bytes": pandas.Series([b"a", None, b"\xff"], dtype=object),
    "decimals": pandas.Series([decimal.Decimal("1.5"), None, decimal.Decimal("-2.5")], dtype=object),
    "dates": pandas.Series([datetime.date(2024, 1, 1), None, datetime.date(2024, 1, 3)], dtype=object),
    "category": pandas.Categorical(["b", "a", "b"], ["b", "a", "unused"]),
    "category_nulls": pandas.Categorical(["b", None, "b"], ["b", "a"]),
    "ordered": pandas.Categorical(["small", "big", "small"], ["small", "medium", "big"], ordered=True),
    "ordered_int": pandas.Categorical([3, 1, 3], [3, 2, 1], ordered=True),
    "ordered_dates": pandas.Categorical(DAYS[[2, 0, 2]], DAYS[[2, 1, 0]], ordered=True),
    "period": pandas.period_range("2024-01", periods=3, freq="M"),
    "interval": pandas.interval_range(0, 3),
    "timedelta": pandas.to_timedelta([1, None, 3], unit="s"),
    "datetime": DAYS,
    "datetime_s": DAYS.as_unit("s"),
    "zoned": DAYS.tz_localize("America/New_York"),
    "float16": numpy.array([1.5, numpy.nan, -2], "float16"),
    "float": [1.5, numpy.nan, -2],
    "bool": [True, False, True],
    "lists": pandas.Series([[1, 2], None, []], dtype=object),
    "structs": pandas.Series([{"x": 1}, None, {"x": 3}], dtype=object),
    "all_none": pandas.Series([None, None, None], dtype=object),
}
INDEXES = {
    "range": pandas.RangeIndex(3),
    "other_range": pandas.RangeIndex(10, 16, 2, name="r"),
    "named": pandas.Index([5, 6, 7], name="key"),
    "unnamed": pandas.Index(["x", "y", "z"]),
    "dates": DAYS,
    "multi": pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["first", None]),
    "category": pandas.CategoricalIndex(["a", "b", "a"], name="c"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(stored, name):
    frame = pandas.DataFrame({"x": COLUMNS[name], "other": range(3)})
    table = stored(frame)
    assert_frame_equal(table.to_pandas(), frame)
    assert_frame_equal(table[1:].to_pandas(), frame[1:].reset_index(drop=True))
    assert_frame_equal(table[:0].to_pandas(), frame[:0])
    # Rows of the same kind are appended.
    cfile.append(table._opened.name, frame)
    twice = pandas.concat([frame, frame], ignore_index=True)
    assert_frame_equal(cfile.open(table._opened.name).to_pandas(), twice)
    cfile.compact(table._opened.name)
    assert_frame_equal(cfile.open(table._opened.name).to_pandas(), twice)


@pytest.mark.parametrize("name", INDEXES)
def test_indexes(stored, name):
    frame = pandas.DataFrame({"x": [1, 2, 3], "y": list("abc")}, index=INDEXES[name])
    frame.columns.name = "columns"
    table = stored(frame)
    assert_frame_equal(table.to_pandas(), frame, check_freq=False)
    found = table.scan(col("x") > 1).to_pandas()
    assert found["x"].tolist() == [2, 3]
    if "range" not in name:
        assert found.index.tolist() == frame.index[1:].tolist()
    assert table.scan(columns=["x"]).to_pandas()["x"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("index", [pandas.RangeIndex(10, 13), pandas.RangeIndex(10, 16, 2, name="r"), pandas.RangeIndex(3, 0, -1),
                                   pandas.RangeIndex(3, name="a"), pandas.RangeIndex(5, 8, name="r")])
@pytest.mark.parametrize("made", [lambda frame: frame, pyarrow.Table.from_pandas])
def test_labels_stay_with_their_rows(stored, tmp, index, made):
    frame = pandas.DataFrame({"a": [3, 1, 2]}, index=index)
    assert_frame_equal(stored(made(frame), sorted_by="a").to_pandas(), frame.iloc[[1, 2, 0]])
    table = stored(made(frame), name="t")
    assert_frame_equal(table.to_pandas(), frame)
    assert_frame_equal(table.take([2, 1, 0]).to_pandas(), frame.iloc[[2, 1, 0]])
    assert_frame_equal(table[[True, False, True]].to_pandas(), frame[[True, False, True]])
    assert_frame_equal(table[1:].to_pandas(), frame[1:])
    assert_frame_equal(table.scan(col("a") > 1, reverse=True).to_pandas().sort_index(), frame[frame["a"] > 1].sort_index())
    more = pandas.DataFrame({"a": [6, 7, 8]}, index=pandas.RangeIndex(20, 23, name=index.name))
    cfile.append(tmp / "t", made(more))
    cfile.append(tmp / "t", pandas.DataFrame({"a": [9]}, index=pandas.RangeIndex(1, name=index.name)))
    table = cfile.open(tmp / "t")
    assert table.to_pandas()["a"].to_dict() == {**frame["a"].to_dict(), **more["a"].to_dict(), 0: 9}
    assert table.scan(col("a").between(6, 8)).to_pandas()["a"].to_dict() == more["a"].to_dict()
    cfile.drop_parts(tmp / "t", [table.parts[0]["name"]])
    assert cfile.open(tmp / "t").to_pandas()["a"].to_dict() == {**more["a"].to_dict(), 0: 9}
    cfile.write(tmp / "again", table.take([5, 0]), sorted_by="a")
    assert cfile.open(tmp / "again").to_pandas()["a"].to_dict() == {index[0]: 3, 22: 8}


def test_numbers_of_rows_are_no_labels(stored, tmp):
    frame = pandas.DataFrame({"a": [3, 1, 2]})
    table = stored(frame, sorted_by="a")
    assert table.columns == ["a"] and table.to_pandas()["a"].to_dict() == {0: 1, 1: 2, 2: 3}
    cfile.append(tmp / "data", pandas.DataFrame({"a": [6, 7]}, index=pandas.RangeIndex(3, 5)))  # the table has no labels
    cfile.add_columns(tmp / "data", pandas.DataFrame({"b": range(5)}, index=pandas.RangeIndex(7, 12)))
    assert cfile.open(tmp / "data").columns == ["a", "b"]
    assert cfile.open(tmp / "data").to_pandas().index.tolist() == list(range(5))
    part = pyarrow.Table.from_pandas(pandas.DataFrame({"a": range(9)}, index=pandas.RangeIndex(10, 19)))[:3]  # of how many rows?
    assert stored(part, name="part").to_pandas().index.tolist() == [0, 1, 2]
    parts = [cfile.write_part(tmp / "p", frame[begin:begin + 1]) for begin in range(3)]
    cfile.commit(tmp / "p", parts)
    assert_frame_equal(cfile.open(tmp / "p").to_pandas(), frame)


def test_a_range_of_parquet_describes_only_the_rows_of_its_file(tmp):
    frame = pandas.DataFrame({"a": [3, 1, 2]}, index=pandas.RangeIndex(10, 13))
    frame.to_parquet(tmp / "f.parquet")
    cfile.from_parquet(tmp / "f.parquet", tmp / "t")
    table = cfile.open(tmp / "t")
    assert_frame_equal(table.to_pandas(), frame)
    assert_frame_equal(table[:].to_pandas(), frame)
    assert table.take([2, 1, 0]).to_pandas()["a"].to_dict() == {0: 2, 1: 1, 2: 3}
    assert table.scan(col("a") > 0).to_pandas().index.tolist() == [0, 1, 2]
    cfile.append(tmp / "t", pandas.DataFrame({"a": [6, 7, 8]}))
    cfile.drop_parts(tmp / "t", [table.parts[0]["name"]])
    assert cfile.open(tmp / "t").to_pandas()["a"].to_dict() == {0: 6, 1: 7, 2: 8}


@pytest.mark.parametrize("imported", [False, True])
def test_metadata_does_not_depend_on_the_first_column(stored, tmp, imported):
    frame = pandas.DataFrame({name: COLUMNS[name] for name in ("Int64", "period", "ordered", "timedelta", "float16", "string_python")},
                             index=pandas.Index([7, 8, 9], name="i"))
    if imported:
        frame = frame.drop(columns=["float16", "period", "string_python"])
        frame.to_parquet(tmp / "f.parquet")
        cfile.from_parquet(tmp / "f.parquet", tmp / "data")
    else:
        stored(frame)
    path = tmp / "data"
    assert_frame_equal(cfile.open(path).to_pandas(), frame)
    cfile.reorder_columns(path, ["i", *frame.columns[::-1]])
    assert_frame_equal(cfile.open(path).to_pandas(), frame[frame.columns[::-1]])
    cfile.append(path, frame)
    cfile.drop_columns(path, [frame.columns[0], frame.columns[-1]])
    cfile.compact(path)
    cfile.collect_garbage(path, 0)
    expected = pandas.concat([frame, frame])[frame.columns[-2:0:-1]]
    assert_frame_equal(cfile.open(path).to_pandas(), expected)
    cfile.to_parquet(path, tmp / "g.parquet")
    assert pandas.read_parquet(tmp / "g.parquet").index.tolist() == [7, 8, 9] * 2
    assert pandas.read_parquet(tmp / "g.parquet")["ordered"].cat.ordered


def test_a_widened_first_column_keeps_the_metadata(stored, tmp):
    frame = pandas.DataFrame({"x": pandas.array([1, 2], "int32"), "t": pandas.to_timedelta([1, 2], unit="s")})
    stored(frame)
    cfile.widen_column(tmp / "data", "x", "int64")
    assert_frame_equal(cfile.open(tmp / "data").to_pandas(), frame, check_dtype=False)
    cfile.replace_columns(tmp / "data", pandas.DataFrame({"x": [5, 6]}))
    assert cfile.open(tmp / "data").to_pandas()["t"].tolist() == frame["t"].tolist()


def test_attributes_and_types_mapper(stored):
    frame = pandas.DataFrame({"n": pandas.array([1, None], "Int64"), "s": ["a", "b"]})
    frame.attrs["unit"] = "metres"
    table = stored(frame)
    assert table.to_pandas().attrs == {"unit": "metres"}
    mapped = table.to_pandas(types_mapper=pandas.ArrowDtype)
    assert [dtype.pyarrow_dtype for dtype in mapped.dtypes] == [pyarrow.int64(), pyarrow.large_string()]
    again = stored(mapped, name="again")
    assert_frame_equal(again.to_pandas(types_mapper=pandas.ArrowDtype), mapped)


def test_sorted_frames(stored):
    frame = pandas.DataFrame({"k": [3, 1, 2], "c": pandas.Categorical(["x", "y", "x"], ["y", "x", "z"])}, index=pandas.Index([7, 8, 9],
        name="i"))
    assert_frame_equal(stored(frame, sorted_by="k").to_pandas(), frame.sort_values("k"))
    assert_frame_equal(stored(frame, name="by_c", sorted_by=["c", "k"]).to_pandas(), frame.loc[[7, 9, 8]].sort_values(["k"]).loc[[9, 7, 8]])


def test_changed_columns(stored, tmp):
    flat = {name: column for name, column in COLUMNS.items() if name not in ("lists", "structs", "interval")}
    frame = pandas.DataFrame(flat, index=pandas.Index([7, 8, 9], name="i"))
    stored(frame)
    path = tmp / "data"
    for old, new in (("Int64", "renamed"), ("category", "renamed_category"), ("period", "renamed_period")):
        cfile.rename_column(path, old, new)
    cfile.drop_columns(path, ["boolean", "ordered", "zoned", "timedelta"])
    cfile.add_column(path, "boolean", "string", default="text")
    cfile.add_column(path, "ordered", "int32", default=5)
    cfile.add_column(path, "zoned", "double")
    cfile.add_column(path, "timedelta", "string", default="x")
    cfile.widen_column(path, "UInt8", "uint32")
    found = cfile.open(path).to_pandas()
    assert found["boolean"].tolist() == ["text"] * 3 and found["ordered"].tolist() == [5] * 3 and found["timedelta"].tolist() == ["x"] * 3
    assert found["zoned"].isna().all() and found["renamed_category"].tolist() == ["b", "a", "b"]
    assert found["renamed"].tolist()[::2] == [1, 3] and found["UInt8"].tolist()[::2] == [1, 3]
    assert found.index.tolist() == [7, 8, 9] and found.index.name == "i"
    assert_frame_equal(found[["ordered_int", "float16", "string_python"]], frame[["ordered_int", "float16", "string_python"]])
    cfile.drop_columns(path, ["i"])
    assert cfile.open(path).to_pandas().index.tolist() == [0, 1, 2]
    cfile.rename_column(path, "ordered_int", "category")
    assert cfile.open(path).to_pandas()["category"].tolist() == [3, 1, 3]


def test_appended_rows_may_have_more_categories(stored, tmp):
    stored(pandas.DataFrame({"c": pandas.Categorical(["b", "a"], ["b", "a"], ordered=True)}))
    cfile.append(tmp / "data", pandas.DataFrame({"c": pandas.Categorical(["new"])}))
    assert cfile.open(tmp / "data").to_pandas()["c"].tolist() == ["b", "a", "new"]


def test_many_categories(stored):
    names = [f"category {number}" for number in range(50_000)]
    frame = pandas.DataFrame({"c": pandas.Categorical(names[:10], names)})
    assert_frame_equal(stored(frame).to_pandas(), frame)


def test_extension_types_in_a_new_process(stored, run):
    stored(pandas.DataFrame({name: COLUMNS[name] for name in ("period", "interval", "category", "timedelta")}))
    assert run("""
        import cfile
        print(*cfile.open("data").to_pandas().dtypes)
    """) == "period[M] interval[int64, right] category timedelta64[us]\n"


def test_series(stored):
    series = pandas.Series([1, 2, 3], index=[7, 8, 9], name="s")
    assert stored(series).to_pandas().tolist() == [1, 2, 3]
    assert stored(pandas.Series(["b", "a"]), name="text", sorted_by=True).to_pandas().tolist() == ["a", "b"]


def test_subclasses_are_pandas_too(stored):
    class Frame(pandas.DataFrame):
        pass
    Frame.__module__ = "elsewhere"
    frame = Frame({"x": [1, 2]}, index=pandas.Index([5, 6], name="i"))
    assert stored(frame).to_pandas().index.tolist() == [5, 6]


@pytest.mark.parametrize("series", [
    pandas.Series([1, 2], name="price"), pandas.Series([1, 2]), pandas.Series([1.5, 2], [7, 5], "float32"),
    pandas.Series(["b", "a"], ["x", "y"], pandas.CategoricalDtype(["b", "unused", "a"], ordered=True), "kind"),
    pandas.Series([1, None], pandas.Index(["x", "y"], name="label"), "Int64", "count"), pandas.Series([], name=5, dtype="int8"),
    pandas.Series([1, 2], pandas.MultiIndex.from_tuples([("a", 1), ("a", 2)], names=["one", "two"]), name="n")])
def test_series_keep_name_labels_and_type(stored, series):
    column = stored(series)
    pandas.testing.assert_series_equal(column.to_pandas(), series)
    assert column[1:].to_pandas().tolist() == series.tolist()[1:] and column.to_polars().name == str(series.name or "value")
    if series.hasnans:
        with pytest.raises(cfile.ArgumentError, match="is null, but the column is not nullable"):
            stored(series, name="sorted", sorted_by=True)
    elif series.name != "kind":
        assert stored(series, name="sorted", sorted_by=True).to_pandas().tolist() == sorted(series)


@pytest.mark.parametrize("rows, reader", [(1 << 20, None), (2, "kudu")])
def test_many_labels_of_a_series_are_not_kept(stored, rows, reader):
    series = pandas.Series(range(rows), [f"label {number:>30}" for number in range(rows)], name="n")
    found = stored(series, oldest_reader=reader).to_pandas()
    assert found.tolist() == series.tolist() and found.name == "n" and isinstance(found.index, pandas.RangeIndex)


@pytest.mark.parametrize("reader, count", [("0.1", 50_000), (None, 50_000), (None, 2_500)])
def test_many_categories_are_stored_once(stored, tmp, reader, count):
    kinds = [f"category {number:06}" for number in range(count)]
    frame = pandas.DataFrame({"c": pandas.Categorical(kinds[:3], kinds, ordered=True)})
    stored(frame, oldest_reader=reader)

    def size():
        return sum(path.stat().st_size for path in tmp.rglob("*") if path.is_file())
    before = size()
    cfile.append(tmp / "data", frame)
    assert reader or size() - before < 20_000 < before  # for an older reader, each part has all of them
    pandas.testing.assert_frame_equal(cfile.open(tmp / "data").to_pandas(), pandas.concat([frame, frame], ignore_index=True))
    cfile.drop_parts(tmp / "data", cfile.open(tmp / "data").parts[0]["name"])
    pandas.testing.assert_frame_equal(cfile.open(tmp / "data").to_pandas(), frame)


def test_a_limit_for_categories(tmp):
    kinds = [f"category {number:0100}" for number in range(160_000)]
    frame = pandas.DataFrame({"c": pandas.Categorical(kinds[:3], kinds, ordered=True), "n": range(3)})
    with pytest.raises(cfile.LimitError, match="raise max_metadata_size_bytes"):
        cfile.write(tmp / "t", frame)
    cfile.write(tmp / "t", frame, max_metadata_size_bytes=1 << 25)
    cfile.append(tmp / "t", frame)
    cfile.rename_column(tmp / "t", "n", "m")
    assert cfile.compact(tmp / "t")["rows"] == 6
    table = cfile.open(tmp / "t")
    assert table.verify()["limits"] == []
    both = pandas.concat([frame, frame], ignore_index=True).rename(columns={"n": "m"})
    pandas.testing.assert_frame_equal(table.to_pandas(), both)
    cfile.write_part(tmp / "u", table, max_metadata_size_bytes=1 << 25)
    with pytest.raises(cfile.LimitError):
        cfile.write_part(tmp / "u", table)


def test_dictionaries_with_a_null(stored):
    values = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, None, 2], pyarrow.int8()), pyarrow.array(["a", None, "b"]))
    table = stored(pyarrow.table({"c": values}))
    assert table.to_arrow()["c"].to_pylist() == ["a", None, None, "b"]
    assert table.to_pandas()["c"].cat.categories.tolist() == ["a", "b"] and table.to_pandas()["c"].isna().tolist() == [False, True, True, False]
