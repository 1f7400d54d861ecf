#!/usr/bin/env python3
"""Checks that the figures in README.md are those of tests/benchmarks/RESULTS.md: check_figures.py ROOT"""
import pathlib
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

    def figures(work, peer, data="", column="default : peer"):
        """The least and the greatest figure of our default file: the ratio to the peer, or what the column says."""
        found = [float(row[column].replace(",", "")) for row in rows
                 if (row["work"], row["peer"]) == (work, peer) and data in row["data"]]
        return min(found), max(found)

    expected = []
    least, greatest = figures("scan, default", "pyarrow smallest")
    expected.append(f"{least:.0f} to {greatest:.0f} times as fast as pyarrow's scans")
    least, greatest = figures("size, default", "pyarrow smallest")
    expected.append(f"{least:.3f} to {greatest:.3f} times their size")
    least, greatest = figures("seek by key", "sorted array", column="default")
    expected.append(f"{least:.1f} to {greatest:.1f} µs")
    values = [figures(f"one row, {form}", "array", column="default") for form in ("plain", "compressed")]
    expected.append(f"{min(values)[0]:.2f} to {max(greatest for _, greatest in values):.2f} µs")
    least, greatest = figures("seek by key", "LMDB")
    expected.append(f"{least:.2f} to {greatest:.2f} of LMDB's time")
    least, _ = figures("write, default", "pyarrow plain", "walk")
    expected.append(f"writing random doubles takes {1 / least:.1f} times as long")
    least, _ = figures("scan, plain", "pyarrow plain", "walk")
    expected.append(f"only {least:.1f} times as fast as pyarrow's scan of a plain Parquet file")
    least, greatest = figures("scan, plain", "Arrow IPC")
    expected.append(f"{1 / greatest:.0f} to {1 / least:.0f} times as fast")

    readme = " ".join((root / "README.md").read_text(encoding="utf-8").replace("**", "").split())
    missing = [text for text in expected if text not in readme]
    if missing:
        sys.exit("README.md does not say:\n" + "\n".join(missing))
    print(f"{len(expected)} figures are those of RESULTS.md")


if __name__ == "__main__":
    main()
