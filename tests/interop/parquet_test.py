#!/usr/bin/env python3
"""Makes tables of Parquet files and Parquet files of the tables, and compares every value.

    parquet_test.py LIBRARY [REGEX]

LIBRARY: the shared library of parquet_library.cc. Reads the files of parquet_cases.py and of tests/golden/parquet-files whose names
match REGEX. What pyarrow reads from such a file is compared with the table that ImportParquet makes, and with what pyarrow reads from the
file that ExportParquet makes of this table. DuckDB, Polars and fastparquet must read the same from both files. Without pyarrow the exit
code is 77, which ctest shows as skipped; third_party/python-packages.txt lists what to install.
"""
import collections
import ctypes
import itertools
import json
import pathlib
import re
import sys
import tempfile

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError:
    print("SKIPPED: pyarrow is not installed (pip install -r third_party/python-packages.txt)")
    sys.exit(77)

import parquet_cases
from arrow_streams import Failed, Library, import_stream

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden/parquet-files"
CODECS = (0, 1, 2, 102, 104, 106)  # numbers of cfile::Compression
FASTPARQUET = {"PLAIN", "RLE", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
counts = collections.Counter()


class NotRead(Exception):
    """The peer does not have what the file needs."""


def parts(array, name=""):
    """(name, array) of each part of an array: which values are present, the lengths of lists, the bits of the leaves."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind = array.type
    if pa.types.is_dictionary(kind):
        return parts(array.dictionary_decode(), name)
    if pa.types.is_struct(kind):
        inner = [part for field, child in zip(kind, array.flatten()) for part in parts(child, f"{name}.{field.name}")]
        return [(name, array.is_valid()), *inner]
    if pa.types.is_map(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        if pa.types.is_map(kind):  # the same as a list of structs
            array = array.cast(pa.list_(pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])))
        return [(name, pc.list_value_length(array).cast(pa.int32())), *parts(array.flatten(), f"{name}[]")]
    bits = {pa.float16(): pa.int16(), pa.float32(): pa.int32(), pa.float64(): pa.int64()}
    if kind in bits:
        return [(name, array.view(bits[kind]))]
    if kind == pa.binary(2):  # how a table keeps FLOAT16
        return [(name, array.view(pa.int16()))]
    if kind in (pa.large_string(), pa.string_view(), pa.string()):
        return [(name, array.cast(pa.binary()))]
    if kind in (pa.large_binary(), pa.binary_view()):
        return [(name, array.cast(pa.binary()))]
    return [(name, array)]


def expect_equal(actual, expected, what):
    """Compares two tables of pyarrow."""
    if actual.column_names != expected.column_names or len(actual) != len(expected):
        raise AssertionError(f"{what}: {len(actual)} rows of {actual.column_names}, expected {len(expected)} of {expected.column_names}")
    for name, one, other in zip(actual.column_names, actual.columns, expected.columns):
        pairs = itertools.zip_longest(parts(combined(one), name), parts(combined(other), name), fillvalue=("", None))
        for (path, found), (_, right) in pairs:
            if right is None or found is None or found.type != right.type or not found.equals(right):
                raise AssertionError(f"{what}: column {path}: {str(found)[:300]} is not {str(right)[:300]}")
            counts["values"] += len(found)


def in_nanoseconds(kind):
    """The type with nanoseconds in place of other units of timestamps."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("ns", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(in_nanoseconds(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, in_nanoseconds(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(in_nanoseconds(kind.value_type))
    return kind


def combined(column):
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)


def read_pyarrow(path):
    return pq.ParquetFile(path).read()


def read_duckdb(path):
    import duckdb
    result = duckdb.sql(f"SELECT * FROM '{path}'").arrow()
    return result if isinstance(result, pa.Table) else result.read_all()


def read_polars(path):
    import polars
    return polars.read_parquet(path).to_arrow()


def read_fastparquet(path):
    import fastparquet
    metadata = pq.read_metadata(path)
    chunks = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)]
    if any(not FASTPARQUET.issuperset(chunk.encodings) for chunk in chunks):
        raise NotRead  # fastparquet crashes, or reads other values than pyarrow, where an encoding meets nulls
    read = pa.Table.from_pandas(fastparquet.ParquetFile(str(path)).to_pandas(), preserve_index=False)
    # Times may be durations or numbers, and the type of nulls may be any: this depends on annotations that other readers do not need.
    columns = [pa.nulls(len(column)) if column.null_count == len(column) else
               column.cast(pa.int64()) if pa.types.is_duration(column.type) else column for column in read.columns]
    return pa.table(columns, read.column_names)


class Cfile:
    """ImportParquet and ExportParquet."""

    def __init__(self, path):
        self.streams = Library(path)
        self.streams.library.cfile_test_sync_files(0)

    def call(self, function, *arguments):
        text = ctypes.create_string_buffer(1000)
        if getattr(self.streams.library, function)(*arguments, text) != 0:
            raise Failed(text.value.decode())
        return json.loads(text.value)

    def import_parquet(self, path, table, part_per_row_group, block_size_bytes):
        return self.call("cfile_test_import_parquet", str(path).encode(), str(table).encode(), int(part_per_row_group),
                         ctypes.c_size_t(block_size_bytes))

    def export_parquet(self, table, path, version_2, page_index, checksums, codec, rows):
        return self.call("cfile_test_export_parquet", str(table).encode(), str(path).encode(), int(version_2), int(page_index),
                         int(checksums), codec, ctypes.c_size_t(rows))

    def read(self, table):
        return pa.RecordBatchReader.from_stream(self.streams.stream(str(table), dictionaries=False)).read_all()


def check(cfile, source, work, number):
    """Imports and exports one file. The options depend on `number`."""
    try:
        expected = read_pyarrow(source)
    except OSError:  # DuckDB writes INT32 in DELTA_BINARY_PACKED with deltas of 33 bits
        counts["not read by pyarrow"] += 1
        return
    table, copy = work / "table", work / "copy.parquet"
    small_blocks = number % 2 == 1
    report = cfile.import_parquet(source, table, part_per_row_group=number % 3 == 1, block_size_bytes=32 if small_blocks else 0)
    expect_equal(cfile.read(table), expected, "ImportParquet")
    counts.update({f"imported {key}": value for key, value in report.items()})
    options = (number % 3 != 0, number % 5 != 0, number % 4 != 0, CODECS[number % len(CODECS)], (10**6, 100)[number % 7 == 0])
    report = cfile.export_parquet(table, copy, *options)
    counts.update({f"exported {key}": value for key, value in report.items()})
    expect_equal(read_pyarrow(copy), expected, f"pyarrow reads what ExportParquet{options} wrote")
    has_int96 = any(column.physical_type == "INT96" for column in pq.ParquetFile(source).schema)
    # fastparquet fails if a column chunk has several pages of version 2, also in files of pyarrow.
    for read in (read_duckdb, read_polars) if small_blocks else (read_duckdb, read_polars, read_fastparquet):
        peer = read.__name__.removeprefix("read_")
        try:
            right = read(source)
        except Exception:  # the peer does not read the file of the other writer either
            counts[f"not read by {peer}"] += 1
            continue
        try:
            found = read(copy)
        except NotRead:
            counts[f"not read by {peer}"] += 1
            continue
        if has_int96:  # peers choose the unit
            found, right = (each.cast(pa.schema([field.with_type(in_nanoseconds(field.type)) for field in each.schema]))
                            for each in (found, right))
        expect_equal(found, right, f"{peer} reads what ExportParquet{options} wrote")
        counts[f"read by {peer}"] += 1


class Wkb(pa.ExtensionType):
    """Makes Arrow C++ write the annotations GEOMETRY and GEOGRAPHY."""

    def __init__(self, description=b"{}"):
        self.description = description
        super().__init__(pa.binary(), "geoarrow.wkb")

    def __arrow_ext_serialize__(self):
        return self.description

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, description):
        return cls(description)


def check_annotations(cfile, work):
    """Annotations without a column type of their own come back, and pyarrow reads them."""
    points = pa.array([bytes([1, 1, 0, 0, 0, *[0] * 16]), None], pa.binary())
    made = pa.table({"null": pa.nulls(2), "nulls": pa.array([[None], []], pa.list_(pa.null()))} | {
        name: pa.ExtensionArray.from_storage(Wkb(description), points)
        for name, description in [("plain", b"{}"), ("crs", b'{"crs": "EPSG:3857"}'), ("sphere", b'{"edges": "spherical"}')]})
    source, table, copy = work / "annotated.parquet", work / "annotated", work / "annotated_copy.parquet"
    pa.register_extension_type(Wkb())
    try:
        for store_schema in (False, True):
            pq.write_table(made, source, store_schema=store_schema)
            cfile.import_parquet(source, f"{table}{store_schema}", False, 0)
            cfile.export_parquet(f"{table}{store_schema}", copy, True, True, True, 0, 10**6)
            found, expected = pq.read_table(copy), pq.read_table(source)
            if not found.equals(expected) or not found.schema.equals(expected.schema, check_metadata=True):
                raise AssertionError(f"the exported file has {found}, expected {expected}")
            types = [[(column.logical_type.type, str(column.logical_type)) for column in pq.read_metadata(path).schema]
                     for path in (copy, source)]
            if types[0] != types[1] or len(set(types[0])) < 4:
                raise AssertionError(f"the annotations of the exported file are {types[0]}, expected {types[1]}")
    finally:
        pa.unregister_extension_type("geoarrow.wkb")


def check_schema(cfile, work):
    """What Arrow and pandas say about the columns and the table survives: the schema is the same in all details."""
    import pandas as pd
    frame = pd.DataFrame({"at": pd.to_datetime(["2024-02-29", None, "1969-12-31"]).tz_localize("Europe/Berlin"),
                          "kind": pd.Categorical(["x", None, "x"])}, index=pd.Index([5, 6, 7], name="row"))
    made = pa.Table.from_pandas(frame)
    for name, array in {
            "long": pa.array(["a", "b", None], pa.large_string()), "took": pa.array([1, 2, None], pa.duration("us")),
            "lists": pa.array([[1], [2, None], None], pa.list_(pa.timestamp("ns", "America/New_York"))),
            "id": pa.array([b"0123456789abcdef"] * 3, pa.uuid()), "utc": pa.array([1, 2, 3], pa.timestamp("ms", "+02:00")),
            "described": pa.array([1, 2, 3])}.items():
        made = made.append_column(pa.field(name, array.type, metadata={"unit": "m"} if name == "described" else None), array)
    made = made.replace_schema_metadata({**made.schema.metadata, "owner": "somebody", "note": "naïve"})
    source, table, copy = work / "source.parquet", work / "table", work / "copy.parquet"
    pq.write_table(made, source)
    expected = pq.read_table(source)
    for parts, version_2 in itertools.product((False, True), repeat=2):
        name = f"{table}{parts}{version_2}"
        cfile.import_parquet(source, name, parts, 0)
        zones = [cfile.read(name).schema.field(column).type for column in ("at", "utc")]
        if zones != [expected.schema.field(column).type for column in ("at", "utc")]:
            raise AssertionError(f"ImportParquet: the time zones are {zones}")
        cfile.export_parquet(name, copy, version_2, True, True, 0, 10**6)
        found = pq.read_table(copy)
        if not found.schema.equals(expected.schema, check_metadata=True):
            raise AssertionError(f"the schema of the exported file is {found.schema}, expected {expected.schema}")
        if not found.equals(expected) or not found.to_pandas().equals(expected.to_pandas()):
            raise AssertionError(f"the exported file has {found}, expected {expected}")
    # A table that was not made of Parquet keeps its time zones, too.
    struct = pa.struct([("at", pa.timestamp("us", "Asia/Tokyo")), ("n", pa.int8())])
    made = pa.table({"at": pa.array([1, None], pa.timestamp("ms", "Europe/Berlin")), "name": ["a", "b"],
                     "price": pa.array([1, 2], pa.decimal128(9, 2)), "day": pa.array([1, 2], pa.date32()),
                     "groups": pa.array([[{"at": 1, "n": 2}], None], pa.list_(struct)),
                     "zones": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.timestamp("ns", "America/New_York")))})
    import_stream(cfile.streams.library, made, f"{table}zones")
    cfile.export_parquet(f"{table}zones", copy, True, True, True, 0, 10**6)
    found = pq.read_table(copy)
    if not found.equals(made):
        raise AssertionError(f"the exported file has {found}, expected {made}")


def main():
    cfile, wanted = Cfile(sys.argv[1]), re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    golden = [(path.name, path) for path in sorted(GOLDEN.glob("*.parquet"))
              if "encrypted" not in path.name and "interval" not in path.name]  # pyarrow does not read INTERVAL
    cases = itertools.chain([("schema", check_schema), ("annotations", check_annotations)], golden, parquet_cases.all_cases())
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, write) in enumerate(cases):
            if not wanted.search(name):
                continue
            work = pathlib.Path(folder) / str(number)
            work.mkdir()
            try:
                if write in (check_schema, check_annotations):
                    write(cfile, work)
                    continue
                if isinstance(write, pathlib.Path):
                    source = write
                else:
                    source = work / "source.parquet"
                    try:
                        write(str(source))
                    except Exception:  # the writer does not have the type
                        counts["not written"] += 1
                        continue
                check(cfile, source, work, number)
            except Exception as error:
                failures += 1
                print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
            counts["files"] += 1
    print(", ".join(f"{key}: {value:,}" for key, value in sorted(counts.items())))
    print(f"{counts['files'] - failures} files passed, {failures} failed")
    return 1 if failures or counts["files"] < 300 and len(sys.argv) == 2 else 0


if __name__ == "__main__":
    sys.exit(main())
