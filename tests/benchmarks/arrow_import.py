#!/usr/bin/env python3
"""Compares writing tables from Arrow streams (cfile/arrow_import.h) with pyarrow's writer of Parquet.

    arrow_import.py BUILD_DIRECTORY [--rows N] [--turns N] [--only TEXT] [--compression zstd] [--no-sync]

Needs a Python with pyarrow and numpy, and the target cfile_arrow_import_library in BUILD_DIRECTORY. Both sides write the same arrays in the same
encoding to new files in a temporary directory, with statistics, on one thread, one after the other in each turn. cfile syncs its files
to the disk, pyarrow does not; with --no-sync neither does. Figures are the shortest processor times. The program checks the numbers of
rows that both have written.
"""
import argparse
import ctypes
import functools
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "interop"))
from arrow_import_test import import_stream  # noqa: E402

STRINGS = ("words", "words as a dictionary", "keys")


def columns(rows):
    rng = np.random.default_rng(1)
    words = np.array(["word%d" % (i * i) for i in range(5000)])
    numbers = rng.integers(0, 1 << 30, rows, dtype=np.int32)
    few = rng.integers(0, 1000, rows, dtype=np.int64)
    nulls = rng.random(rows) < 0.1
    lengths = rng.integers(0, 5, rows // 4)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    random_words = pa.array(words[rng.integers(0, len(words), rows)])
    return {
        "sequence": pa.array(np.arange(rows) * 3),
        "walk": pa.array(np.cumsum(rng.normal(size=rows))),
        "few": pa.array(few),
        "words": random_words,
        "words as a dictionary": random_words.dictionary_encode(),
        "keys": pa.array(["user%012d" % i for i in range(rows)]),
        "nullable int32": pa.array(numbers, mask=nulls),
        "bool": pa.array(numbers % 3 == 0),
        "lists": pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers[:offsets[-1]])),
    }


def tables(rows):
    made = columns(rows)
    for name, array in made.items():
        yield name, pa.table({"v": array})
    small = {name: array.slice(0, rows // 4) for name, array in made.items() if "dictionary" not in name}
    names = [name for name in small if name != "lists"]
    yield "table of 20 columns", pa.table({f"c{i}": small[names[i % len(names)]] for i in range(20)})


def timed(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", default="", help="only rows whose name contains this text")
    parser.add_argument("--compression", default="none", help="codec of both sides")
    parser.add_argument("--no-sync", action="store_true", help="cfile does not sync its files to the disk")
    arguments = parser.parse_args()
    pa.set_cpu_count(1)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[-1]})
    library = ctypes.CDLL(str(arguments.build / "tests" / "interop" / "libcfile_arrow_import_library.so"))
    library.cfile_test_sync_files(not arguments.no_sync)
    print(f"Compression: {arguments.compression}; cfile syncs: {'no' if arguments.no_sync else 'yes'}\n")
    print("| data | encoding | rows | cfile (ms) | pyarrow (ms) | ratio | cfile (bytes) | pyarrow (bytes) |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for name, table in tables(arguments.rows):
        # Kudu's PLAIN and Parquet's PLAIN differ only for strings.
        for ours, dictionary in (("plain", False), ("parquet-plain", False), ("parquet-dict", True)):
            if arguments.only not in f"{name} {ours}":
                continue
            if ours != "plain" and name not in STRINGS or ours == "parquet-dict" and name == "keys":
                continue
            with tempfile.TemporaryDirectory(prefix="arrow-import-") as directory:
                path, parquet = os.path.join(directory, "table"), os.path.join(directory, "parquet")
                times = [], []
                for _ in range(arguments.turns):
                    shutil.rmtree(path, ignore_errors=True)
                    Path(parquet).unlink(missing_ok=True)
                    times[0].append(timed(functools.partial(import_stream, library, table, path, ours, arguments.compression)))
                    times[1].append(timed(functools.partial(pq.write_table, table, parquet, use_dictionary=dictionary,
                                                            compression=arguments.compression, store_schema=False)))
                if pq.read_metadata(parquet).num_rows != table.num_rows:
                    sys.exit(f"{name}: pyarrow has written another number of rows")
                bytes_of = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file()), os.path.getsize(parquet)
                us, them = (1000 * min(side) for side in times)
                print(f"| {name} | {ours} | {table.num_rows} | {us:.1f} | {them:.1f} | {them / us:.2f} | {bytes_of[0]} | {bytes_of[1]} |", flush=True)


if __name__ == "__main__":
    main()
