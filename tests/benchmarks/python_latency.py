#!/usr/bin/env python3
"""Measures how long one lookup takes in the Python package, and draws it beside other formats.

  tests/benchmarks/python_latency.py FOLDER [--rows N] [--plot FILE.svg]

Needs cfile, pyarrow, pylance, vortex-data, and matplotlib for the plot. FOLDER holds the files. N rows (default 10 million) with a sorted
key. Each figure is the median time of single calls on open files in the page cache. Lance has an index of the key.
"""
import argparse
import shutil
import statistics
import time
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import vortex

import cfile

MOST_SECONDS = 3  # for one figure
WORKS = ("one row by its position", "the position of a key", "one row by its key")


def data(rows):
    rng = np.random.default_rng(1)
    return pa.table({"id": np.arange(rows) * 3, "price": np.round(rng.random(rows) * 1000, 2),
                     "town": pa.array(np.array([f"town {i:03}" for i in range(500)])[rng.integers(0, 500, rows)])})


def micros(call, values):
    times = []
    begin = time.perf_counter()
    for value in values:
        before = time.perf_counter()
        call(value)
        after = time.perf_counter()
        times.append(after - before)
        if after - begin > MOST_SECONDS and len(times) > 2:
            break
    return statistics.median(times) * 1e6


def measured(folder, rows):
    """{format: times in microseconds, one for each of WORKS, None if it has no such call}"""
    table = data(rows)
    paths = {name: folder / f"latency.{name}" for name in ("cfile", "parquet", "lance", "vortex")}
    for path in paths.values():
        shutil.rmtree(path, ignore_errors=True)
        path.unlink(missing_ok=True)
    cfile.write(paths["cfile"], table, sorted_by="id")
    pq.write_table(table, paths["parquet"])
    dataset = lance.write_dataset(table, paths["lance"])
    dataset.create_scalar_index("id", "BTREE")
    vortex.io.write(table, str(paths["vortex"]))

    own = cfile.open(paths["cfile"])
    parquet = ds.dataset(paths["parquet"])
    dataset = lance.dataset(paths["lance"])
    opened = vortex.open(str(paths["vortex"]))
    rng = np.random.default_rng(2)
    ordinals = [int(ordinal) for ordinal in rng.integers(0, rows, 20_000)]
    keys = [3 * ordinal for ordinal in ordinals]
    key = own["id"]
    return {
        "cfile": (micros(lambda i: own[i], ordinals), micros(key.find, keys), micros(lambda k: own[own.find(k)], keys)),
        "Vortex": (micros(lambda i: opened.scan(indices=vortex.array(pa.array([i], pa.uint64()))).read_all(), ordinals), None,
                   micros(lambda k: opened.scan(expr=vortex.expr.column("id") == k).read_all(), keys)),
        "Lance": (micros(lambda i: dataset.take([i]), ordinals), None, micros(lambda k: dataset.to_table(filter=f"id = {k}"), keys)),
        "Parquet": (micros(lambda i: parquet.take([i], use_threads=False), ordinals), None,
                    micros(lambda k: parquet.to_table(filter=ds.field("id") == k, use_threads=False), keys)),
    }


def draw(times, file):
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams["svg.hashsalt"] = "cfile"  # the same ids in each file
    works = (0, 2)
    figure, axes = plt.subplots(figsize=(7, 3.2))
    for place, work in enumerate(works):
        for number, (name, of_format) in enumerate(times.items()):
            bar = axes.barh(place + number * 0.2, of_format[work], height=0.18, color=f"C{number}", label=name if place == 0 else None)
            axes.bar_label(bar, [f" {of_format[work]:,.1f} µs" if of_format[work] < 100 else f" {of_format[work]:,.0f} µs"])
    axes.set_xscale("log")
    axes.set_xlim(0.5, 3e7)
    axes.set_yticks([place + 0.3 for place in range(len(works))], [WORKS[work] for work in works])
    axes.invert_yaxis()
    axes.set_xlabel("microseconds for one lookup, a shorter bar is faster")
    figure.tight_layout(rect=(0, 0, 1, 0.92))
    figure.legend(loc="upper center", ncol=len(times))
    figure.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pa.set_cpu_count(1)
    times = measured(options.folder, options.rows)
    print(f"| format | {', µs | '.join(WORKS)}, µs |\n| --- | --- | --- | --- |")
    for name, of_format in times.items():
        print(f"| {name} | {' | '.join('' if value is None else f'{value:,.1f}' for value in of_format)} |")
    if options.plot:
        draw(times, options.plot)


if __name__ == "__main__":
    main()
