#!/usr/bin/env python3
"""Checks that the ratios in README.md are those of tests/benchmarks/RESULTS.md: check_figures.py ROOT"""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    rows, header = [], None
    text = (root / "tests/benchmarks/RESULTS.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if "default : peer" in cells:
            header = cells
        elif header and len(cells) == len(header) and cells[0] != "---":
            rows.append(dict(zip(header, cells)))

    def ratios(work, peer, data=""):
        """The least and the greatest ratio of our default file to the peer."""
        found = [float(row["default : peer"]) for row in rows
                 if (row["work"], row["peer"]) == (work, peer) and data in row["data"]]
        return min(found), max(found)

    expected = []
    least, greatest = ratios("scan, default", "pyarrow smallest")
    expected.append(f"{least:.0f} to {greatest:.0f} times as fast as pyarrow's scans")
    least, greatest = ratios("size, default", "pyarrow smallest")
    expected.append(f"{least:.3f} to {greatest:.3f} times their size")
    least, greatest = ratios("seek by key", "LMDB")
    expected.append(f"{least:.2f} to {greatest:.2f} of LMDB's time")
    least, _ = ratios("write, default", "pyarrow plain", "walk")
    expected.append(f"writing random doubles takes {1 / least:.1f} times as long")
    least, _ = ratios("scan, plain", "pyarrow plain", "walk")
    expected.append(f"only {least:.1f} times as fast as pyarrow's scan of a plain Parquet file")
    goals, met = re.search(r"Of (\d+) reaches, the default files meet (\d+)", text).groups()
    expected.append(f"Of {goals} goals, the default files meet {met}")
    least, greatest = ratios("scan, plain", "Arrow IPC")
    expected.append(f"{1 / greatest:.0f} to {1 / least:.0f} times as fast")

    readme = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    missing = [text for text in expected if text not in readme]
    if missing:
        sys.exit("README.md does not say:\n" + "\n".join(missing))
    print(f"{len(expected)} ratios are those of RESULTS.md")


if __name__ == "__main__":
    main()
