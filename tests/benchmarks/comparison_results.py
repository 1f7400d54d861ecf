"""Makes the results page of tests/benchmarks/run: the table, how to repeat it, and how costs grow with rows."""

import datetime
import json
import math
import os
import subprocess
from pathlib import Path

import comparison_table

BLOCK_BYTES = 256 * 1024  # WriterOptions::block_size_bytes
NODE_BYTES = 32 * 1024  # WriterOptions::index_block_size_bytes
MAX_VALUES = 2**32 - 1
SHOWN_PACKAGES = ("pyarrow", "polars", "duckdb", "vortex-data", "pylance", "pcodec")


def machine_and_date():
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next((line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name")), "unknown")
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    date = datetime.datetime.now(datetime.timezone.utc).date()
    return f"{model}, {os.cpu_count()} cores, {gib:.0f} GiB of memory; {date}"


def versions(python):
    """The peers of a virtual environment as text; empty without one."""
    if python is None:
        return ""
    listed = subprocess.run([python, "-m", "pip", "list", "--format", "json"], check=True, capture_output=True, text=True)
    installed = {package["name"]: package["version"] for package in json.loads(listed.stdout)}
    return ", ".join(f"{name} {installed[name]}" for name in SHOWN_PACKAGES if name in installed)


def table(header, lines):
    return ["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *lines)]


def scale_tables(scale):
    """The measured costs, and estimates for 10^9 rows and for the largest file."""
    show = comparison_table.number
    measured = table(
        ("data", "rows", "write, M values/s", "writer's memory, KiB", "bytes a value", "open, µs", "scan, M values/s",
         "seek, µs", "blocks", "index levels", "index nodes"),
        [(line["data"], f"{line['rows']:,}", show(line["write_rate"]), f"{line['memory_kib']:,}", show(line["bytes_per_value"]),
          show(line["open_us"]), show(line["scan_rate"]), show(line["seek_us"]), f"{line['blocks']:,}", str(levels(line)),
          f"{nodes(line):,}") for line in sorted(scale, key=lambda line: (line["data"], line["rows"]))])
    largest = {line["data"]: line for line in sorted(scale, key=lambda line: line["rows"])}
    model = []
    for line in largest.values():
        for rows in (10**6, 10**8, 10**9, MAX_VALUES):
            blocks = math.ceil(rows / (line["rows"] / line["blocks"]))
            # Entries per node, computed from the leaves of the largest file; the last leaf is half full on average.
            leaves = max(1, nodes(line) - (levels(line) > 1))
            full = max(2, round(line["blocks"] / (leaves - 0.5))) if leaves > 1 else NODE_BYTES // 16
            depth = 1
            while full**depth < blocks:
                depth += 1
            entry_bytes = NODE_BYTES / full
            in_block = line["rows"] / line["blocks"]
            model.append((line["data"], f"{rows:,}", show(rows * line["bytes_per_value"] / 1e9), f"{blocks:,}",
                          f"{entry_bytes:.0f}", str(depth), show(blocks * entry_bytes / 2**20),
                          f"{math.log2(max(blocks, 2)):.0f} + {math.log2(in_block):.0f}",
                          show(rows / line["scan_rate"] / 1e6)))
    return measured, table(
        ("data", "rows", "file, GB", "blocks", "bytes an entry", "levels", "index in memory, MiB",
         "search steps: index + block", "scan on one core, s"), model)


def levels(line):
    return max(line["positional_depth"], line["value_depth"])


def nodes(line):
    return max(line["positional_nodes"], line["value_nodes"])


# The rows of the summary: the work, and the peer with which cfile is compared.
SUMMARY = (("scan, default", "pyarrow smallest"), ("scan, default", "Vortex"), ("size, default", "pyarrow smallest"),
           ("scan, plain", "Arrow IPC"), ("scan, sorted strings", "LMDB"), ("seek by key", "LMDB"), ("one row, compressed", "array"),
           ("one row, compressed", "Vortex"), ("take 10,000, delta", "Lance"), ("write, default", "pyarrow plain"),
           ("write, sorted strings", "LMDB"))


def summary(judged):
    """One line for each work of SUMMARY, with the least and the greatest figures of all its data."""
    def between(figures):
        figures = [figure for figure in figures if figure is not None]
        if not figures:
            return "-"
        least, greatest = comparison_table.number(min(figures)), comparison_table.number(max(figures))
        return least if least == greatest else f"{least} to {greatest}"

    lines = []
    for work, peer in SUMMARY:
        found = [row for row in judged if (row["work"], row["peer_name"]) == (work, peer)]
        if found:
            lines.append((work, ", ".join(row["data"] for row in found), found[0]["unit"], between(row["ours"] for row in found), peer,
                          between(row["peer"] for row in found), between(row["ratio"] for row in found)))
    return table(("work", "data", "unit", "cfile", "peer", "its figure", "cfile : peer"), lines)


def page(judged, scale, divisor, peers):
    met = [row["met"] for row in judged if row["met"] is not None]
    tuned = [row["met"] or row["tuned_met"] for row in judged if row["met"] is not None]
    measured, model = scale_tables(scale)
    data = [(name, what) for name, what in comparison_table.DATA.items()]
    lines = [
        "# Speed and size, compared with other formats",
        "",
        f"The data are {10**7 // divisor:,} numbers and {5 * 10**6 // divisor:,} strings. cfile's files have the default options and are "
        "in memory, and one core is used.",
        "For scans and writes, more is better; for sizes and times, less is better.",
        "",
        *summary(judged),
        "",
        "`seek by key` finds only the key: LMDB finds its value together with the key, whereas cfile must then read each column of the row.",
        "Arrow IPC neither decodes values nor verifies checksums.",
        "",
        f"Of {len(met)} goals, the default files meet {sum(met)}, and default or tuned files {sum(map(bool, tuned))}. "
        "[results_bounds.md](results_bounds.md) says why the others are",
        "missed, and how costs grow. [results_programs.md](results_programs.md) has the figures of other programs: scans of tables, Parquet,",
        "CSV, Arrow, Python, Spark, files that are not in memory, object stores, threads, encodings, sizes of the library.",
        "[results_public.md](results_public.md) compares whole tables of public data with Parquet, Vortex, Lance and DuckDB.",
        "",
        "## How it was measured",
        "",
        "`tests/benchmarks/run --peers VENV --results tests/benchmarks/RESULTS.md` writes this page. VENV is a Python virtual environment",
        "with pyarrow, polars, duckdb, vortex-data, pylance and pcodec. LevelDB, RocksDB and LMDB are Debian's packages.",
        "`tests/benchmarks/run --quick` takes less than a minute and needs no Python packages.",
        "",
        f"Machine: {machine_and_date()}." + (f" Peers: {peers}." if peers else ""),
        "",
        "* Figures are medians of five measurements of processor time.",
        "* A scan begins with opening the file and therefore verifies its checksums, unless the row says otherwise.",
        "* Files are written without waiting for the disk, by cfile and by the peers.",
        "* A seek searches a random key that exists, a take reads random ordinals in ascending order, and `one row` reads one row in each call.",
        "* LevelDB, RocksDB, LMDB and Arrow C++ are called from C++, the other peers from Python.",
        "* `default` is one file for all work, made with `WriterOptions{}` (and with a value index if the column is sorted); `tuned` is a file",
        "  with the options that suit the work. In rows with `compact`, `default` is a file with `goal = kSize`, and in the rows `decode` it is",
        "  the decoder of FOR.",
        "* The limit is memcpy of the decoded bytes; for seeks, binary search in a sorted array in memory; for rows, an array in memory.",
        "* `pyarrow smallest` is the smallest file of Parquet's plain, delta (byte stream split for doubles) and dictionary encodings with",
        "  zstd. pcodec has level 8.",
        "* A goal with × is a bound of the ratio to the peer; any other goal is a bound of the figure.",
        "",
        *table(("data", "what it is"), data),
        "",
        "## All figures",
        "",
        *comparison_table.markdown(judged),
        "",
        "## Scale",
        "",
        "These figures were measured in the same way. Each file is written in batches of 65,536 rows. A seek is for a random ordinal in the",
        "sequences, and for a random key in the keys:",
        "",
        *measured,
        "",
        "The next table estimates the costs of more rows. An index node ends when it is larger than 32 KiB, so the bytes for each entry give",
        "the number of entries in a node. The number of levels is the logarithm of the number of blocks to that base. Search steps are the",
        "steps of the binary searches for a key, in all nodes on the path and in the block:",
        "",
        *model,
        "",
    ]
    return "\n".join(lines)
