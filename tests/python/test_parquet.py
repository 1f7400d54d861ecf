"""Parquet files of other libraries become tables, tables become Parquet files, and other libraries read the same values from them."""
import datetime
import io
import os
import shutil
import signal
import threading

import duckdb
import fsspec
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import parted
from test_interpreter import _runs_beside
from test_objects import Ranges
from test_types import ARRAYS

import cfile

TOWNS = pa.table({"id": [5, 1, 2], "town": ["Paris", "Bergen", None], "area": pa.array([105.4, 464.7, -0.0])})
LIBRARIES = {
    "pyarrow": lambda path: pq.read_table(path).to_pydict(),
    "polars": lambda path: polars.read_parquet(path).to_dict(as_series=False),
    "duckdb": lambda path: duckdb.sql(f"SELECT * FROM '{path}'").fetchall(),
}


def _pages(report):
    return report["copied_pages"] + report["recompressed_pages"] + report["recoded_pages"]


@pytest.fixture
def towns(tmp):
    """A Parquet file."""
    pq.write_table(TOWNS, tmp / "towns.parquet")
    return tmp / "towns.parquet"


@pytest.mark.parametrize("name", ARRAYS)
def test_every_type_in_every_library(tmp, name):
    one, plain, other = tmp / "one.parquet", tmp / "plain.parquet", tmp / "other.parquet"
    array = ARRAYS[name]
    rows = pa.table({"x": pa.concat_arrays([array] * 3), "n": range(3 * len(array))})
    try:
        pq.write_table(rows, one, row_group_size=2 * len(array))
    except pa.ArrowNotImplementedError:
        pytest.skip("pyarrow does not write this type")
    # Tables have the types of Parquet, and the time zones of Arrow.
    pq.write_table(rows, plain, store_schema=pa.types.is_timestamp(array.type))
    report = cfile.from_parquet(one, tmp / "table")
    assert (report["rows"], report["row_groups"]) == (3 * len(array), 2) and _pages(report) >= 4
    table = cfile.open(tmp / "table")
    assert table.verify()["damages"] == []
    assert repr(table.to_arrow().to_pydict()) == repr(pq.read_table(plain).to_pydict())
    for version in (1, 2):
        for codec in (None, "snappy"):
            report = cfile.to_parquet(tmp / "table", other, page_version=version, compression=codec, row_group_rows=4)
            assert report["rows"] == 3 * len(array) and report["row_groups"] > 1 and report["bytes_out"] == other.stat().st_size
            for library, read in LIBRARIES.items():
                assert repr(read(other)) == repr(read(one)), (library, version, codec)


@pytest.mark.parametrize("writer", ["polars", "duckdb"])
def test_files_of_other_libraries(tmp, writer):
    path, back = tmp / "f.parquet", tmp / "back.parquet"
    table = pa.table({"n": pa.array(range(5000)), "s": [f"text {row % 700}" for row in range(5000)],
                      "x": pa.array([None if row % 7 == 0 else row / 3 for row in range(5000)]),
                      "list": [list(range(row % 4)) for row in range(5000)]})
    if writer == "polars":
        polars.from_arrow(table).write_parquet(path, row_group_size=1500)
    else:
        duckdb.sql(f"COPY (FROM \"table\") TO '{path}' (ROW_GROUP_SIZE 2048)")
    for parts in (False, True):
        report = cfile.from_parquet(path, tmp / f"t{parts}", part_per_row_group=parts)
        read = cfile.open(tmp / f"t{parts}")
        assert read.to_arrow().to_pydict() == table.to_pydict() and read.verify()["damages"] == []
        assert len(read.parts) == (report["row_groups"] if parts else 1) and report["row_groups"] > 1
        assert cfile.to_parquet(read, back)["rows"] == 5000
        for name, library in LIBRARIES.items():
            assert library(back) == library(path), name


def test_pages_are_copied(tmp):
    rows = pa.table({"n": range(100_000), "x": [row / 7 for row in range(100_000)]})
    pq.write_table(rows, tmp / "f.parquet", use_dictionary=False, compression="none", data_page_version="2.0")
    report = cfile.from_parquet(tmp / "f.parquet", tmp / "t")
    assert report["copied_pages"] > 0 and report["recoded_pages"] == 0
    assert report["bytes_in"] > 1_600_000 and report["bytes_out"] == cfile.open(tmp / "t").info["size_bytes"]
    assert cfile.open(tmp / "t")["x"].blocks[0]["encoding"] == "parquet-plain"
    assert cfile.to_parquet(tmp / "t", tmp / "g.parquet")["recoded_pages"] == 0
    report = cfile.to_parquet(tmp / "t", tmp / "h.parquet", compression="zstd", page_version=1, check_values=False)
    assert report["copied_pages"] == 0 and report["recompressed_pages"] > 0
    for name in ("g", "h"):
        assert pq.read_table(tmp / f"{name}.parquet").equals(rows)
    for options in ({"goal": "balanced"}, {"goal": "size"}, {"encoding": "parquet-byte-stream-split"}):
        options = {"encoding": {"x": options["encoding"]}} if "encoding" in options else options
        report = cfile.from_parquet(tmp / "f.parquet", tmp / "t", overwrite=True, **options)
        assert report["recoded_pages"] > 0, options
        assert cfile.open(tmp / "t").to_arrow().to_pydict() == rows.to_pydict()
    report = cfile.from_parquet(tmp / "f.parquet", tmp / "t", overwrite=True, compression={"n": "zstd"})
    assert report["recompressed_pages"] > 0 and report["copied_pages"] > 0 and report["recoded_pages"] == 0


def test_options_of_the_parquet_file(tmp, stored):
    table = stored(pa.table({"n": pa.array(range(1000), "int64"), "s": [str(row) for row in range(1000)]}), sorted_by="n")
    path = tmp / "f.parquet"
    cfile.to_parquet(table, path, columns=["n", "s"], row_group_rows=300, page_version=1, metadata={"owner": "me"})
    file = pq.ParquetFile(path)
    assert file.schema_arrow.names == ["n", "s"] and file.metadata.metadata[b"owner"] == b"me"
    assert file.metadata.num_row_groups >= 4 and max(file.metadata.row_group(i).num_rows for i in range(4)) <= 300
    column = file.metadata.row_group(0).column(0)
    assert column.has_offset_index and column.has_column_index and column.statistics.max == 299
    assert pq.read_table(path, page_checksum_verification=True)["n"].to_pylist() == list(range(1000))
    cfile.to_parquet(table, path, page_index=False, page_checksums=False, compression="gzip")
    column = pq.read_metadata(path).row_group(0).column(1)
    assert not column.has_offset_index and column.compression == "GZIP"
    cfile.to_parquet(table, path, columns=["s"])
    assert pq.read_table(path).column_names == ["s"]


def test_columns_appending_and_overwriting(tmp, towns):
    target = tmp / "t"
    assert cfile.from_parquet(towns, target, columns=["town", "id"])["rows"] == 3
    assert cfile.open(target).to_arrow().select(["id", "town"]).equals(TOWNS.select(["id", "town"]))
    with pytest.raises(cfile.ExistsError, match="overwrite=True"):
        cfile.from_parquet(towns, target)
    with pytest.raises(cfile.ArgumentError, match="area"):
        cfile.from_parquet(towns, target, append=True)
    cfile.from_parquet(towns, target, append=True, columns=["town", "id"], compression="zstd")
    assert cfile.open(target)["id"].to_arrow().to_pylist() == [5, 1, 2, 5, 1, 2] and len(cfile.open(target).parts) == 2
    cfile.from_parquet(str(towns), str(target), overwrite=True, block_size_bytes={"id": 4096}, bloom_filter={"town": 10})
    assert cfile.open(target).to_arrow().equals(TOWNS)
    for options in ({"sorted_by": "id"}, {"overwrite": True}):
        with pytest.raises(cfile.ArgumentError, match="append"):
            cfile.from_parquet(towns, target, append=True, **options)


@pytest.mark.parametrize("names", ["id", ["id"], ["town", "id"], "area"])
def test_rows_are_sorted(tmp, towns, names):
    report = cfile.from_parquet(towns, tmp / "t", sorted_by=names, bloom_filter={"town": 10})
    table = cfile.open(tmp / "t")
    keys = [names] if isinstance(names, str) else names
    assert table.to_arrow().to_pydict() == TOWNS.sort_by([(key, "ascending", "at_start") for key in keys]).to_pydict()
    assert table.find(1 if keys == ["id"] else ("Bergen", 1) if keys[0] == "town" else 464.7) is not None
    assert report["recoded_pages"] == 3 and report["copied_pages"] == 0
    assert report["bytes_out"] >= table.info["size_bytes"] > 0
    assert sorted(os.listdir(tmp)) == ["t", "towns.parquet"]


def test_rows_in_order_are_copied(tmp):
    path, target = tmp / "f.parquet", tmp / "t"
    rows = pa.table([pa.array(range(0, 200_000, 2))], schema=pa.schema([pa.field("id", pa.int64(), nullable=False)]))
    pq.write_table(rows, path, use_dictionary=False, compression="none")
    assert cfile.from_parquet(path, target, sorted_by="id")["recoded_pages"] == 0
    assert cfile.open(target).find(198) == 99
    pq.write_table(pa.table([pa.array(range(200_000, 202_000, 2))], schema=rows.schema), path)
    cfile.from_parquet(path, target, append=True)  # the new part has an index, too
    table = cfile.open(target)
    assert table.find(200_198) == 100_099 and len(table.parts) == 2
    assert all(cfile.open(file).info["has_value_index"] for file in target.rglob("*.cfile"))
    with pytest.raises(cfile.ArgumentError, match="nothing"):
        cfile.from_parquet(path, tmp / "u", sorted_by="nothing")
    assert not (tmp / "u").exists()


def test_directories(tmp):
    for year, place, rows in (("2023", "a%2Fb", [1, 2]), ("2024", "__HIVE_DEFAULT_PARTITION__", [3])):
        folder = tmp / "files" / f"year={year}" / f"place={place}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"n": rows}), folder / "part.parquet")
    (tmp / "files" / "_SUCCESS").touch()
    assert cfile.from_parquet(tmp / "files", tmp / "t", compression={"place": "none"})["rows"] == 3
    table = cfile.open(tmp / "t")
    assert table.to_pylist() == [{"n": 1, "year": 2023, "place": "a/b"}, {"n": 2, "year": 2023, "place": "a/b"},
                                 {"n": 3, "year": 2024, "place": None}]
    cfile.to_parquet(tmp / "t", tmp / "f.parquet")
    assert pq.read_table(tmp / "f.parquet").to_pylist() == table.to_pylist()
    (tmp / "files" / "link").symlink_to(tmp)
    with pytest.raises(cfile.ArgumentError, match="link"):
        cfile.from_parquet(tmp / "files", tmp / "u")


def test_pandas_frames_come_back(tmp):
    frame = pandas.DataFrame({"x": [3, 1, 2] * 200, "c": pandas.Categorical(["a", "b", "a"] * 200),
                              "d": pandas.to_timedelta([1, 2, 3] * 200, unit="s"),
                              "i": pandas.array([1, None, 3] * 200, dtype="Int32")},
                             index=pandas.Index([row * row for row in range(600)], name="key"))
    frame.to_parquet(tmp / "f.parquet")
    cfile.from_parquet(tmp / "f.parquet", tmp / "t")
    pandas.testing.assert_frame_equal(cfile.open(tmp / "t").to_pandas(), frame)
    cfile.to_parquet(tmp / "t", tmp / "g.parquet")
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp / "g.parquet"), frame)
    cfile.write(tmp / "w", frame, encoding={"c": "parquet-delta-length"})  # pyarrow reads no categories from this encoding
    cfile.to_parquet(tmp / "w", tmp / "h.parquet")
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp / "h.parquet"), frame)
    cfile.from_parquet(tmp / "f.parquet", tmp / "s", sorted_by="x")
    pandas.testing.assert_frame_equal(cfile.open(tmp / "s").to_pandas(), frame.sort_values("x", kind="stable"), check_categorical=False)
    # The metadata does not describe changed tables, and must do no harm.
    cfile.add_column(tmp / "t", "more", "int64", default=5)
    cfile.drop_columns(tmp / "t", ["d"])
    cfile.to_parquet(tmp / "t", tmp / "i.parquet")
    assert pandas.read_parquet(tmp / "i.parquet").reset_index()["more"].tolist() == [5] * 600


SIZES = ["small", "medium", "big", "unused \U0001f600\n\""]


def _sizes(rows=("small", "big", None, "small"), sizes=SIZES, **index):
    """A DataFrame whose ordered categories are in the order of `sizes`, not in that of the rows or of the alphabet."""
    return pandas.DataFrame({"size": pandas.Categorical(rows, sizes, ordered=True),
                             "unordered": pandas.Categorical(["z", "a", "z", "b"], ["b", "unused", "z", "a"]),
                             "number": pandas.Categorical([3, 1, 3, 2], [3, 1, 2, 9], ordered=True)}, **index)


def _plain_numbers(frame):
    """pyarrow reads the categories of `number` as numbers, because only strings have dictionaries."""
    return frame.assign(number=frame["number"].astype("int64"))


@pytest.mark.parametrize("options", [{}, {"row_group_size": 2}, {"data_page_version": "2.0", "compression": "none"}])
def test_categories_keep_their_order(tmp, options):
    frame = _sizes()
    frame.to_parquet(tmp / "f.parquet", **options)
    read = pandas.read_parquet(tmp / "f.parquet")
    pandas.testing.assert_frame_equal(read, _plain_numbers(frame))
    for settings in ({}, {"goal": "size"}, {"sorted_by": "number"}):
        cfile.from_parquet(tmp / "f.parquet", tmp / "t", overwrite=True, **settings)
        expected = frame
        if "sorted_by" in settings:
            expected = frame.sort_values("number", key=lambda key: key.astype("int64"), ignore_index=True)
        found = cfile.open(tmp / "t").to_pandas()
        for column in ("size", "unordered"):
            assert found[column].dtype == frame[column].dtype
            assert found[column].tolist() == expected[column].tolist()
            assert found[column].cat.categories.tolist() == frame[column].cat.categories.tolist()
        assert not found["number"].cat.ordered  # pyarrow does not store these categories
        assert (found["size"] < "big").tolist() == (expected["size"] < "big").tolist()
        for version in (1, 2):
            cfile.to_parquet(tmp / "t", tmp / "g.parquet", row_group_rows=3, page_version=version)
            again = pandas.read_parquet(tmp / "g.parquet")
            pandas.testing.assert_frame_equal(again, _plain_numbers(expected))
            assert again["unordered"].cat.categories.tolist() == frame["unordered"].cat.categories.tolist()
    # Pages of codes are copied, with their dictionary.
    wide = pandas.concat([frame] * 5000, ignore_index=True)
    wide["size"] = pandas.Categorical(wide["size"], SIZES, ordered=True)
    wide[["size"]].to_parquet(tmp / "wide.parquet", data_page_version="2.0", compression="none")
    assert cfile.from_parquet(tmp / "wide.parquet", tmp / "wide")["recoded_pages"] == 0
    assert cfile.to_parquet(tmp / "wide", tmp / "back.parquet")["recoded_pages"] == 0
    pandas.testing.assert_frame_equal(pandas.read_parquet(tmp / "back.parquet"), wide[["size"]])


def test_categories_of_written_tables_keep_their_order(tmp):
    frame = _sizes(index=pandas.CategoricalIndex(["q", "p", "q", "r"], ["r", "q", "p"], ordered=True, name="key"))
    for encoding in ("auto", "plain", "dict", "parquet-dict", "prefix"):
        cfile.write(tmp / "t", frame, encoding={"size": encoding}, overwrite=True)
        pandas.testing.assert_frame_equal(cfile.open(tmp / "t").to_pandas(), frame)
        cfile.to_parquet(tmp / "t", tmp / "f.parquet", row_group_rows=2)
        pandas.testing.assert_frame_equal(pandas.read_parquet(tmp / "f.parquet"), _plain_numbers(frame))
        cfile.from_parquet(tmp / "f.parquet", tmp / "again", overwrite=True)
        found = cfile.open(tmp / "again").to_pandas()
        pandas.testing.assert_frame_equal(found.drop(columns="number"), frame.drop(columns="number"))
    cfile.to_parquet(tmp / "t", tmp / "f.parquet", columns=["size"])
    assert pandas.read_parquet(tmp / "f.parquet")["size"].dtype == frame["size"].dtype
    empty = frame[:0]
    cfile.write(tmp / "empty", empty)
    cfile.to_parquet(tmp / "empty", tmp / "f.parquet")
    assert pandas.read_parquet(tmp / "f.parquet").empty
    nulls = _sizes(rows=[None] * 4)
    nulls.to_parquet(tmp / "f.parquet")
    cfile.from_parquet(tmp / "f.parquet", tmp / "nulls")
    assert cfile.open(tmp / "nulls").to_pandas()["size"].dtype == nulls["size"].dtype


def test_categories_of_unknown_order_are_not_ordered(tmp):
    """Comparing them is an error, instead of wrong."""
    frame = _sizes()
    frame.to_parquet(tmp / "f.parquet")

    def check(values):
        cfile.to_parquet(tmp / "t", tmp / "g.parquet")
        for found in (cfile.open(tmp / "t").to_pandas(), pandas.read_parquet(tmp / "g.parquet")):
            assert [None if pandas.isna(value) else value for value in found["size"]] == values
            assert not found["size"].cat.ordered
            with pytest.raises(TypeError, match="Unordered"):
                _ = found["size"] < "big"
        text = pq.read_metadata(tmp / "g.parquet").metadata[b"pandas"].decode()
        assert '"ordered": true' not in text

    # Rows with other values were appended.
    cfile.from_parquet(tmp / "f.parquet", tmp / "t")
    _sizes(["huge", "big", "small", None], ["huge", *SIZES]).to_parquet(tmp / "more.parquet")
    cfile.from_parquet(tmp / "more.parquet", tmp / "t", append=True)
    check(["small", "big", None, "small", "huge", "big", "small", None])
    # The files of a directory, or the row groups of a file, have different orders.
    (tmp / "files").mkdir()
    frame.to_parquet(tmp / "files" / "1.parquet")
    _sizes(sizes=SIZES[::-1]).to_parquet(tmp / "files" / "2.parquet")
    cfile.from_parquet(tmp / "files", tmp / "t", overwrite=True)
    check(["small", "big", None, "small"] * 2)
    table = pa.Table.from_pandas(frame)
    with pq.ParquetWriter(tmp / "groups.parquet", table.schema) as writer:
        writer.write_table(table)
        writer.write_table(pa.Table.from_pandas(_sizes(sizes=SIZES[::-1])).cast(table.schema))
    cfile.from_parquet(tmp / "groups.parquet", tmp / "t", overwrite=True)
    check(["small", "big", None, "small"] * 2)
    # There are no dictionaries, or only pandas knows about categories.
    pq.write_table(table, tmp / "plain.parquet", use_dictionary=False)
    cfile.from_parquet(tmp / "plain.parquet", tmp / "t", overwrite=True)
    check(["small", "big", None, "small"])
    with pq.ParquetWriter(tmp / "plain.parquet", table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"pandas": table.schema.metadata[b"pandas"]})
    cfile.from_parquet(tmp / "plain.parquet", tmp / "t", overwrite=True)
    cfile.to_parquet(tmp / "t", tmp / "g.parquet")
    described = pq.read_metadata(tmp / "g.parquet").metadata[b"pandas"]
    assert b'"ordered": false' in described and b'"ordered": true' not in described
    # Metadata that a program copied to other data says nothing.
    cfile.write(tmp / "t", frame, overwrite=True)
    cfile.to_parquet(tmp / "t", tmp / "g.parquet", metadata={"ARROW:categories": '{"size": ["big", "small"]}'})
    cfile.from_parquet(tmp / "g.parquet", tmp / "t", overwrite=True)
    assert cfile.open(tmp / "t").to_pandas()["size"].dtype == frame["size"].dtype


def test_large_pages_are_refused(tmp, towns):
    for options in ({}, {"sorted_by": "town"}, {"columns": ["town"]}):
        with pytest.raises(cfile.LimitError, match="max_page_size_bytes"):
            cfile.from_parquet(towns, tmp / "t", max_page_size_bytes=10, **options)
        assert not (tmp / "t").exists()
    assert cfile.from_parquet(towns, tmp / "t", max_page_size_bytes=1000)["rows"] == 3
    with pytest.raises(cfile.LimitError, match="max_page_size_bytes"):
        cfile.from_parquet(towns, tmp / "t", max_page_size_bytes=10, append=True)


def test_metadata_of_chosen_columns_and_directories(tmp):
    frame = pandas.DataFrame({"c": pandas.Categorical(["a", "b", "a"]), "i": pandas.array([1, None, 3], dtype="Int32"),
                              "n": [None] * 3}, index=pandas.Index(["x", "y", "z"], name="key"))
    (tmp / "files").mkdir()
    for name in ("1", "2"):
        frame.to_parquet(tmp / "files" / f"{name}.parquet")
    for source, options, expected in [("files/1.parquet", {"columns": ["key", "i"]}, frame[["i"]]),
                                      ("files/1.parquet", {"columns": ["c"]}, frame[["c"]].reset_index(drop=True)),
                                      ("files", {}, pandas.concat([frame, frame]))]:
        cfile.from_parquet(tmp / source, tmp / "t", overwrite=True, **options)
        pandas.testing.assert_frame_equal(cfile.open(tmp / "t").to_pandas(), expected)
        cfile.to_parquet(tmp / "t", tmp / "f.parquet")
        pandas.testing.assert_frame_equal(pandas.read_parquet(tmp / "f.parquet"), expected)


def test_metadata_comes_back(tmp, towns):
    pq.write_table(TOWNS.replace_schema_metadata({"geo": "{}", "cfile.column": "x", "bytes": b"\xff"}), towns)
    cfile.from_parquet(towns, tmp / "t", sorted_by="id")
    cfile.compact(tmp / "t")
    cfile.to_parquet(tmp / "t", tmp / "f.parquet")
    assert pq.read_metadata(tmp / "f.parquet").metadata[b"geo"] == b"{}"


def test_sources_that_are_no_paths(tmp, towns):
    def check(name, source, **options):
        assert cfile.from_parquet(source, tmp / name, compression={"id": "zstd"}, **options)["rows"] == 3
        assert cfile.open(tmp / name).to_arrow().equals(TOWNS)
    check("bytes", io.BytesIO(towns.read_bytes()))
    with open(towns, "rb") as file:
        check("file", file)
    counted = Ranges(towns)
    check("object", counted)
    assert counted.calls
    memory = fsspec.filesystem("memory")
    memory.pipe("/towns.parquet", towns.read_bytes())
    check("url", "memory://towns.parquet")
    check("filesystem", "/towns.parquet", filesystem=memory)
    check("sorted", TowardsEnd(towns), columns=["id", "town", "area"])
    for source, error in ((5, TypeError), ("memory://absent", FileNotFoundError), (tmp / "absent", cfile.NotFoundError)):
        with pytest.raises(error):
            cfile.from_parquet(source, tmp / "u")
    with pytest.raises(ZeroDivisionError):
        cfile.from_parquet(Ranges(towns, error=ZeroDivisionError("odd")), tmp / "u")
    assert not (tmp / "u").exists()


class TowardsEnd(Ranges):
    name = "an object with a name"


def test_objects_of_tables_and_files(tmp, stored):
    table = stored(TOWNS)
    cfile.write(tmp / "column", TOWNS["town"])
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp / "data"), "/data", recursive=True)
    expected = TOWNS.to_pydict()
    for source, options in ((tmp / "data", {}), (table, {}), ("memory://data", {}), ("/data", {"filesystem": memory})):
        target = io.BytesIO()
        report = cfile.to_parquet(source, target, **options)
        assert not target.closed and len(target.getvalue()) == report["bytes_out"]
        assert pq.read_table(target).to_pydict() == expected
    for source in (tmp / "column", cfile.open(tmp / "column")):
        cfile.to_parquet(source, str(tmp / "f.parquet"))
        assert pq.read_table(tmp / "f.parquet").to_pydict() == {"value": expected["town"]}
    with fsspec.open("memory://target.parquet", "wb") as file:
        cfile.to_parquet(table, file)
    assert pq.read_table(io.BytesIO(memory.cat("/target.parquet"))).to_pydict() == expected
    with open(tmp / "raw.parquet", "wb", buffering=0) as file:
        cfile.to_parquet(table, file)
    assert pq.read_table(tmp / "raw.parquet").to_pydict() == expected


def test_wrong_arguments(tmp, stored):
    table = stored(TOWNS)
    path = tmp / "f.parquet"
    for error, match, options in ((TypeError, "columns=", {"source": table["id"]}), (TypeError, "target", {"target": "memory://x"}),
                                  (TypeError, "target", {"target": 5}), (ValueError, "page_version", {"page_version": 3}),
                                  (cfile.ArgumentError, "lzo|codec|compression", {"compression": "bz2"}),
                                  (cfile.ArgumentError, "at least 1", {"row_group_rows": 0}),
                                  (cfile.ArgumentError, "nothing", {"columns": ["nothing"]})):
        with pytest.raises(error, match=match):
            cfile.to_parquet(**{"source": table, "target": path, **options})
        assert not path.exists()
    cfile.write(tmp / "column", TOWNS["town"])
    with pytest.raises(cfile.ArgumentError, match="one column"):
        cfile.to_parquet(tmp / "column", path, columns=["value"])


class Failing(io.RawIOBase):
    def write(self, data):
        raise ZeroDivisionError("odd")


class Stuck(io.RawIOBase):
    def write(self, data):
        return 0


def test_errors_of_targets(stored):
    with pytest.raises(ZeroDivisionError, match="odd"):
        cfile.to_parquet(stored(TOWNS), Failing())
    with pytest.raises(cfile.SystemFailure, match="write returned 0"):
        cfile.to_parquet(stored(TOWNS, name="again"), Stuck())


def test_times_of_int96(tmp):
    years = pa.array([datetime.datetime(year, 6, 1, 12) for year in (1400, 1900, 9999)] + [None], pa.timestamp("us"))
    times = pa.table({"n": range(4), "t": years, "in": pa.StructArray.from_arrays([years], ["t"])})
    pq.write_table(times, tmp / "f", use_deprecated_int96_timestamps=True, store_schema=False)
    with pytest.raises(cfile.ArgumentError, match="int96"):
        cfile.from_parquet(tmp / "f", tmp / "t", columns=["n", "t"])
    flat = {"columns": ["n", "t"], "types": {"t": "int96"}}
    for name, options in (("flat", flat), ("sorted", {**flat, "sorted_by": "n"}), ("parts", {**flat, "part_per_row_group": True}),
                          ("nested", {"types": {"t": "int96", "in.t": "int96"}})):
        assert cfile.from_parquet(tmp / "f", tmp / name, **options)["rows"] == 4
        table = cfile.open(tmp / name)
        assert table.types["t"] == "int96" and table.key == ([options["sorted_by"]] if "sorted_by" in options else [])
        days = [value and (int.from_bytes(value[8:], "little") - 2440588, int.from_bytes(value[:8], "little")) for value in table["t"]]
        assert days == [time and ((time.date() - datetime.date(1970, 1, 1)).days, 12 * 3600 * 10**9) for time in years.to_pylist()]
        cfile.to_parquet(table, tmp / "back")
        assert pq.ParquetFile(tmp / "back").schema.column(1).physical_type == "INT96"
        assert pq.read_table(tmp / "back", coerce_int96_timestamp_unit="us")["t"].to_pylist() == years.to_pylist()
    cfile.from_parquet(tmp / "f", tmp / "micros", types={"t": "timestamp(us)", "in.t": "timestamp(us)"}, sorted_by="n")
    micros = cfile.open(tmp / "micros")
    assert micros.to_arrow().equals(times) and list(micros["t"]) == years.to_pylist() and micros.key == ["n"]
    pq.write_table(times.select(["n", "t"])[::-1], tmp / "turned", use_deprecated_int96_timestamps=True)
    cfile.from_parquet(tmp / "turned", tmp / "turned t", types={"t": "timestamp(us)"}, sorted_by="n")
    assert list(cfile.open(tmp / "turned t")["t"]) == years.to_pylist()
    with pytest.raises(cfile.LimitError, match=r"nanoseconds.* types=\{column: 'timestamp\(us\)'\}"):  # pyarrow sorts the rows
        cfile.from_parquet(tmp / "turned", tmp / "t", types={"t": "int96"}, sorted_by="n")
    odd = pa.table({"t": pa.array([1500], pa.timestamp("ns"))})
    pq.write_table(odd, tmp / "odd", use_deprecated_int96_timestamps=True)
    with pytest.raises(cfile.ArgumentError, match="value 0 is not a whole number of microseconds"):
        cfile.from_parquet(tmp / "odd", tmp / "t", types={"t": "timestamp(us)"})
    assert table.types["in.t"] == "int96" and table["in"][1] == {"t": years[1].as_py()}
    with pytest.raises(cfile.LimitError, match="nanoseconds"):  # Arrow has no other type for them
        table.to_arrow()
    cfile.from_parquet(tmp / "f", tmp / "flat", append=True, columns=["n", "t"])
    assert len(cfile.open(tmp / "flat")) == 8
    for types, error in (({"x": "int96"}, KeyError), ({"n": "int96"}, cfile.ArgumentError), ({"t": "int97"}, ValueError)):
        with pytest.raises(error):
            cfile.from_parquet(tmp / "f", tmp / "wrong", columns=["n", "t"], types=types)
    with pytest.raises(cfile.ArgumentError, match="append"):
        cfile.from_parquet(tmp / "f", tmp / "flat", append=True, types={"t": "int96"})


def test_names_that_are_not_utf8(tmp):
    pq.write_table(pa.table({"a": [1], "straße": [2]}), tmp / "f", store_schema=False)
    (tmp / "f").write_bytes((tmp / "f").read_bytes().replace("straße".encode(), "straße1".encode("latin-1")))
    with pytest.raises(cfile.DataError, match="the name of column 1 of the file, or of its group, is not UTF-8"):
        cfile.from_parquet(tmp / "f", tmp / "t")
    assert not (tmp / "t").exists()


def test_damage(tmp, towns, stored):
    pq.write_table(TOWNS, towns, write_page_checksum=True)
    data = bytearray(towns.read_bytes())
    data[30] ^= 0xFF
    (tmp / "damaged.parquet").write_bytes(data)
    (tmp / "text").write_text("no Parquet file at all")
    with pytest.raises(cfile.DataError, match="damaged.parquet") as raised:
        cfile.from_parquet(tmp / "damaged.parquet", tmp / "t")
    assert raised.value.file == str(tmp / "damaged.parquet")
    with pytest.raises(cfile.Error, match="text"):
        cfile.from_parquet(tmp / "text", tmp / "t")
    assert not (tmp / "t").exists()
    pq.write_table(TOWNS, tmp / "kept.parquet")
    table = stored(pa.table({"n": range(5000)}), block_size_bytes=1024, compression="none")
    path = next((tmp / "data").rglob("*.cfile"))
    data = bytearray(path.read_bytes())
    data[table["n"].blocks[2]["offset"] + 100] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(cfile.DataError, match="offset"):
        cfile.to_parquet(tmp / "data", tmp / "kept.parquet")
    assert pq.read_table(tmp / "kept.parquet").equals(TOWNS)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A folder with a large Parquet file "f" and a table "t" of it."""
    folder = tmp_path_factory.mktemp("large")
    pq.write_table(pa.table({"s": [f"value number {row % 1000}" for row in range(1_000_000)]}), folder / "f", row_group_size=20_000)
    cfile.from_parquet(folder / "f", folder / "t")
    return folder


def test_other_threads_run(large, tmp):
    for name, work in (("from", lambda: cfile.from_parquet(large / "f", tmp / "t", overwrite=True)),
                       ("to", lambda: cfile.to_parquet(large / "t", tmp / "g"))):
        assert any(_runs_beside(work) for _ in range(20)), name


@pytest.mark.parametrize("name", ["from", "to"])
def test_keyboard_interrupt(large, tmp, name):
    """The signal arrives before or in a call, so that its handler runs in the call."""
    work = {"from": lambda: cfile.from_parquet(large / "f", tmp / "t", part_per_row_group=True),
            "to": lambda: cfile.to_parquet(large / "t", tmp / "t")}[name]
    timer = threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            shutil.rmtree(tmp / "t", ignore_errors=True)
            work()
    timer.join()
    assert os.listdir(tmp) in ([], ["t"])


def test_parts_become_row_groups(tmp):
    table = parted(tmp / "t", pa.table({"n": range(1000)}), 4)
    assert cfile.to_parquet(table, tmp / "f.parquet")["row_groups"] == 4
    assert pq.read_table(tmp / "f.parquet")["n"].to_pylist() == list(range(1000))
