#!/usr/bin/env python3
"""Compares reading columns into Arrow: through the stream of cfile/arrow.h, and with pyarrow's reader of Parquet.

    arrow_export.py BUILD_DIRECTORY [--rows N] [--turns N] [--only TEXT] [--compression zstd]

Needs a Python with pyarrow, and the targets arrow_export and cfile_arrow_library in BUILD_DIRECTORY. Both sides have the same data
in the same encoding, in files that are open and in memory already (so cfile has verified its checksums, and pyarrow verifies none),
and run on one thread, one after the other in each turn; figures are the shortest processor times. "all" reads
a column into one table in memory; "batches" reads batch after batch of at most 65,536 rows, and drops each before the next one.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
from arrow_streams import Library  # noqa: E402


def read_all(stream):
    return pa.RecordBatchReader.from_stream(stream).read_all()


def read_batches(stream):
    for _ in pa.RecordBatchReader.from_stream(stream):
        pass


def write_parquet(table, path, encoding, compression):
    dictionary = encoding == "DICTIONARY"
    names = [leaf_path(table.schema.field(i)) for i in range(table.num_columns)]
    encodings = None if dictionary else {name: encoding for name in names}
    pq.write_table(table, path, compression=compression or "NONE", use_dictionary=dictionary, column_encoding=encodings,
                   write_statistics=False, row_group_size=1 << 20, data_page_size=1 << 18, store_schema=False)


def leaf_path(field):
    return f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name


def timed(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--only", default="", help="only rows whose name contains this text")
    parser.add_argument("--compression", help="codec of both files")
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
    library = Library(str(arguments.build / "tests" / "interop" / "libcfile_arrow_library.so"))
    print("| data and encoding | rows | cfile, all (ms) | pyarrow, all (ms) | ratio | cfile, batches (ms) | pyarrow, batches (ms) | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="arrow-export-") as directory:
        program = arguments.build / "tests" / "benchmarks" / "arrow_export"
        command = [program, directory, str(arguments.rows)] + ([arguments.compression] if arguments.compression else [])
        made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        for line in map(json.loads, made.splitlines()):
            if arguments.only not in line["name"]:
                continue
            opened = library.open(f"{directory}/{line['name']}{'' if line['name'] == 'table' else '.cfile'}")
            ways = [("", {}, {})]
            if line["parquet"] == "DICTIONARY":
                ways = [(" as dictionary", {}, {"read_dictionary": ["value"]}), (" as strings", {"dictionaries": False}, {})]
            for suffix, options, parquet_options in ways:
                compare(line, suffix, opened, options, parquet_options, f"{directory}/peer.parquet", arguments)


def compare(line, suffix, opened, options, parquet_options, path, arguments):
    table = read_all(opened.stream(dictionaries=False))
    write_parquet(table, path, line["parquet"], arguments.compression)
    rows = table.num_rows
    file = pq.ParquetFile(path, memory_map=True, pre_buffer=False, **parquet_options)
    stream, parquet = lambda: opened.stream(**options), lambda: file
    peer = parquet().read(use_threads=False)
    if peer.num_rows != rows or not all(same(peer.column(i), table.column(i)) for i in range(table.num_columns)):
        sys.exit(f"{line['name']}: the tables differ")
    del peer, table

    def peer_batches():
        for _ in parquet().iter_batches(batch_size=65536, use_threads=False):
            pass

    works = (lambda: read_all(stream()), lambda: parquet().read(use_threads=False), lambda: read_batches(stream()), peer_batches)
    times = [min(column) for column in zip(*[[timed(work) for work in works] for _ in range(arguments.turns)])]
    all_, peer_all, batches, batches_peer = times
    print(f"| {line['name']}{suffix} | {rows} | {all_ * 1e3:.2f} | {peer_all * 1e3:.2f} | {peer_all / all_:.2f} | "
          f"{batches * 1e3:.2f} | {batches_peer * 1e3:.2f} | {batches_peer / batches:.2f} |", flush=True)


def same(a, b):
    if pa.types.is_dictionary(a.type):
        a = a.cast(b.type)
    return a.cast(b.type).equals(b)


if __name__ == "__main__":
    main()
