#!/usr/bin/env python3
"""Imports Arrow IPC files and streams of pyarrow and Polars with cfile-import, and compares what reader.py reads with the Arrow values.

    arrow_ipc_test.py CFILE_IMPORT

Without pyarrow the exit code is 77, which ctest shows as skipped. Polars is tested if it is installed.
"""
import os
import random
import subprocess
import sys
import tempfile

import arrow_import_test as shared  # exits with 77 without pyarrow
import pyarrow as pa
import pyarrow.compute  # noqa: F401 (used as pa.compute)
import pyarrow.feather

CODECS = (None, "lz4", "zstd")


class Importer:
    """Takes the place of the library of arrow_import_library.cc: writes the source to a file and imports the file."""

    def __init__(self, program):
        self.program = program
        self.write = None  # write(table, path)

    def import_file(self, path, table, *options):
        done = subprocess.run([self.program, "--quiet", "--compression", "none", path, table, *options], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise shared.Failed(f"exit code {done.returncode}: {done.stderr}")

    def import_stream(self, _library, source, path, **_options):
        self.write(source, path + ".input")
        self.import_file(path + ".input", path)


def ipc_writer(new, codec, rows, **options):
    """Returns a function that writes a table with batches of `rows` rows."""
    def write(table, path):
        table = table if isinstance(table, pa.Table) else pa.table(table)
        with new(path, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec, **options)) as writer:
            writer.write_table(table, max_chunksize=rows)
    return write


def writers():
    """(name, write) for the formats, codecs and sizes of batches."""
    for codec in CODECS:
        for rows in (100, 10_000):
            yield f"file, {codec}, {rows}", ipc_writer(pa.ipc.new_file, codec, rows, unify_dictionaries=True)
            yield f"stream, {codec}, {rows}", ipc_writer(pa.ipc.new_stream, codec, rows)
            yield f"stream with deltas, {codec}, {rows}", ipc_writer(pa.ipc.new_stream, codec, rows, emit_dictionary_deltas=True)
    yield "version 4", ipc_writer(pa.ipc.new_stream, None, 100, metadata_version=pa.ipc.MetadataVersion.V4, use_legacy_format=True)
    for codec in ("uncompressed", "lz4", "zstd"):
        yield f"Feather, {codec}", lambda table, path, codec=codec: pa.feather.write_feather(table, path, compression=codec)


def test_pyarrow(importer):
    flat = shared.flat_columns(257)
    nested = shared.nested_columns(257)
    tables = {"flat": pa.table(flat), "encoded": pa.table(shared.encoded(flat)), "nested": pa.table(nested)}
    tables["sliced"] = pa.table(flat | nested).slice(33, 150)
    tables["empty"] = pa.table(flat | nested).slice(0, 0)
    for name, write in writers():
        importer.write = write
        for what, table in tables.items():
            if "dictionary in list" in table.column_names and not name.startswith("stream, "):
                table = table.drop_columns(["dictionary in list"])  # pyarrow unifies no nested dictionaries
            shared.check(None, f"{what}, {name}", table)


def test_dictionaries(importer):
    """Deltas of dictionaries of all types of values."""
    for name, array in (shared.flat_columns(60) | shared.nested_columns(60)).items():
        try:
            whole = array.storage if isinstance(array, pa.ExtensionArray) else array
            index = [pa.array([i, None, 0], pa.int16()) for i in (9, 29, 59)]
            batches = [pa.record_batch({"c": pa.DictionaryArray.from_arrays(i, whole.slice(0, size))}) for i, size in zip(index, (10, 30, 60))]
            table = pa.Table.from_batches(batches)
            importer.write = ipc_writer(pa.ipc.new_stream, None, 100, emit_dictionary_deltas=True)
            importer.write(table, os.devnull)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            continue
        shared.check(None, f"deltas of {name}", table)


def test_polars(importer):
    try:
        import polars as pl
    except ImportError:
        print("Polars is not installed: not tested")
        return
    frame = shared.polars_frame(pl)
    for codec in ("uncompressed", "lz4", "zstd"):
        for stream in (False, True):
            for name, data in (("whole", frame), ("many", pl.concat([frame] * 100, rechunk=False)), ("empty", frame.slice(0, 0))):
                importer.write = lambda source, path, s=stream, c=codec: (source.write_ipc_stream if s else source.write_ipc)(path, compression=c)
                shared.check(None, f"Polars, {name}, {codec}, stream {stream}", data, pa.table(data))


def test_tool(importer):
    """Sorting, appending, types, and what is refused."""
    def expect(name, *texts, table=None, data=None, options=()):
        with tempfile.TemporaryDirectory(prefix="arrow-ipc-") as folder:
            path = os.path.join(folder, "in.arrow")
            if data is not None:
                with open(path, "wb") as out:
                    out.write(data)
            else:
                ipc_writer(pa.ipc.new_file, None, 1000)(table, path)
            try:
                importer.import_file(path, os.path.join(folder, "t"), *options)
                message = "no error"
            except shared.Failed as error:
                message = str(error)
            if not all(text in message for text in texts) or os.listdir(folder) != ["in.arrow"]:
                shared.failures += 1
                print(f"FAILED {name}: {message} {os.listdir(folder)}")

    one = lambda array: pa.table({"good": pa.array([1] * len(array)), "bad": array})
    expect("float16", "exit code 4", "bad", "float16", table=one(pa.array([1.5], pa.float16())))
    expect("union", "exit code 4", "bad", "union",
           table=one(pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])])))
    expect("Feather 1", "exit code 1", "Feather file of version 1", data=b"FEA1" + bytes(100) + b"FEA1")
    sink = pa.BufferOutputStream()
    table = pa.table({"k": pa.array([3, 1, 2] * 500), "v": [str(i) for i in range(1500)]})
    ipc_writer(pa.ipc.new_file, None, 1000)(table, sink)
    expect("cut off", "exit code 1", "in.arrow: cut off", data=sink.getvalue().to_pybytes()[:-10])
    expect("CSV options", "exit code 1", "--null is for CSV", table=table, options=("--null", "NA"))
    expect("no column", "exit code 1", "--sorted-by x: ", "no column of that name", table=table, options=("--sorted-by", "x"))
    expect("null in a key", "exit code 1", "bad", table=one(pa.array([1, None])), options=("--sorted-by", "bad", "--not-null", "bad"))
    expect("format", "exit code 1", "--type good: a format is for text", table=one(pa.array([1])), options=("--type", "good=date(%F)"))
    expect("a type that does not fit", "exit code 1", "its values are string", table=table, options=("--type", "v=int32"))

    def rows_of(table, *options, append=None, more=None):
        with tempfile.TemporaryDirectory(prefix="arrow-ipc-") as folder:
            path, out = os.path.join(folder, "in.arrow"), os.path.join(folder, "t")
            ipc_writer(pa.ipc.new_file, None, 400)(table, path)
            if more is not None:  # a second file, which the same pattern names
                ipc_writer(pa.ipc.new_stream, None, 400)(more, os.path.join(folder, "in2.arrow"))
            importer.import_file(path if more is None else os.path.join(folder, "in*.arrow"), out, *options)
            if append is not None:
                ipc_writer(pa.ipc.new_file, None, 400)(append, path)
                importer.import_file(path, out, "--append")
            return shared.rows_of(out)

    def same(name, found, expected):
        if found != expected:
            shared.failures += 1
            print(f"FAILED {name}: {str(found)[:300]} instead of {str(expected)[:300]}")

    with tempfile.TemporaryDirectory(prefix="arrow-ipc-") as folder:
        path = os.path.join(folder, "in.arrow")
        ipc_writer(pa.ipc.new_stream, None, 400)(pa.table({"k": [1], "of a list": [[2]]}), path)
        same("names", subprocess.check_output([importer.program, "--print-names", path, folder], text=True), "k\nof a list\n")
    rows = table.to_pylist()
    by_k = sorted(rows, key=lambda row: row["k"])
    same("sorted", rows_of(table, "--sorted-by", "k"), by_k)
    same("sorted in runs", rows_of(table, "--sorted-by", "k", "--memory", "64KiB"), by_k)
    same("sorted by two", rows_of(table, "--sorted-by", "k", "--sorted-by", "v"), sorted(rows, key=lambda row: (row["k"], row["v"])))
    same("in order already", rows_of(pa.Table.from_pylist(by_k), "--sorted-by", "k"), by_k)
    with_nulls = pa.table({"k": pa.array([2, None, 1]), "l": [[1], [2, 3], []]})
    same("nulls first", [row["k"] for row in rows_of(with_nulls, "--sorted-by", "k", "--nulls", "first")], [None, 1, 2])
    same("nulls by default", [row["k"] for row in rows_of(with_nulls, "--sorted-by", "k")], [1, 2, None])
    same("nulls last", rows_of(with_nulls, "--sorted-by", "k", "--nulls", "last"), [{"k": 1, "l": []}, {"k": 2, "l": [1]}, {"k": None, "l": [2, 3]}])
    same("several files", rows_of(table, more=table), rows + rows)
    same("several files, sorted", rows_of(table, "--sorted-by", "k", more=table), sorted(rows + rows, key=lambda row: row["k"]))
    same("nulls of the second file", rows_of(with_nulls.slice(0, 1), more=with_nulls), with_nulls.slice(0, 1).to_pylist() + with_nulls.to_pylist())
    same("appended", rows_of(table, "--sorted-by", "k", append=table), by_k + by_k)
    same("type", rows_of(pa.table({"x": pa.array([1, 2], pa.int8()), "n": pa.nulls(2)}), "--type", "x=int64", "--type", "n=date"),
         [{"x": 1, "n": None}, {"x": 2, "n": None}])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    random.seed(1)
    importer = Importer(sys.argv[1])
    shared.import_stream = importer.import_stream
    for test in (test_pyarrow, test_dictionaries, test_polars, test_tool):
        test(importer)
    print(f"{shared.values_seen} values compared, {shared.failures} failures")
    sys.exit(shared.failures > 0)


if __name__ == "__main__":
    main()
