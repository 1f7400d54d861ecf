#!/usr/bin/env python3
"""Checks that figures of the pages and the chart in README.md are those of the measurements, and that README.md is short.

check_figures.py ROOT [--write]

With --write, writes the chart, scans.svg beside RESULTS.md."""
import math
import pathlib
import re
import sys

MOST_WORDS = 1200  # of README.md


def chart(rows):
    """The rows `scan, default` as SVG: the speed of each peer with each data, on a logarithmic scale from 10 M values/s."""
    peers = {"pyarrow smallest": ("Parquet, pyarrow", "#b5bac1"), "Vortex": ("Vortex", "#7f8894"), "cfile": ("cfile", "#0a7d5a")}
    speeds = {}
    for row in rows:
        if row["work"] == "scan, default" and row["peer"] in peers:
            of_data = speeds.setdefault(row["data"], {"cfile": row["default"]})
            of_data[row["peer"]] = row["its figure"]
    parts, y = [], 34
    for place, (name, color) in enumerate(peers.values()):
        parts.append(f'<rect x="{90 + 150 * place}" y="10" width="11" height="11" fill="{color}"/>'
                     f'<text x="{106 + 150 * place}" y="20">{name}</text>')
    for data, of_data in speeds.items():
        parts.append(f'<text x="82" y="{y + 27}" text-anchor="end">{data}</text>')
        for peer, (_, color) in peers.items():
            speed = float(of_data[peer].replace(",", ""))
            width = 160 * math.log10(speed / 10)
            parts.append(f'<rect x="90" y="{y}" width="{width:.0f}" height="12" fill="{color}"/>'
                         f'<text x="{94 + width:.0f}" y="{y + 10}">{speed:,.0f}</text>')
            y += 13
        y += 8
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="560" height="{y}" font-family="sans-serif" font-size="12">\n'
            '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "".join(parts) + "</svg>\n")


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
    least, greatest = figures("write, default", "pyarrow plain")
    expected.append(f"writing doubles takes {1 / greatest:.1f} to {1 / least:.1f} times as long")
    least, _ = figures("scan, plain", "pyarrow plain", "walk")
    expected.append(f"only {least:.1f} times as fast as pyarrow's scan of a plain Parquet file")
    least, greatest = figures("scan, plain", "Arrow IPC")
    expected.append(f"{1 / greatest:.0f} to {1 / least:.0f} times as fast")

    svg = root / "tests/benchmarks/scans.svg"
    if "--write" in sys.argv:
        svg.write_text(chart(rows), encoding="utf-8")
    elif svg.read_text(encoding="utf-8") != chart(rows):
        sys.exit(f"{svg} does not show the figures of RESULTS.md; {sys.argv[0]} {root} --write writes it")
    def words_of(page):
        return " ".join((root / page).read_text(encoding="utf-8").replace("**", "").split())

    readme = words_of("README.md")
    of_pages = [("README.md", text) for text in expected]
    # Figures of other results: a page, the pattern of its sentence with a place for each figure, the results and the pattern of the figures.
    programs = "tests/benchmarks/results_programs.md"
    for page, sentence, results, pattern in (
            ("README.md", "{1} µs for a key and {0} µs for a row", "tools/python/TUTORIAL.md", r"\| cfile \| ([\d.]+) \| ([\d.]+)"),
            ("README.md", "searches them: about {} minutes", programs, r"`tools/quickstart` on .*?\| ([\d.]+) minutes"),
            ("README.md", "all tests: about {} minutes", programs, r"`tools/run-tests` there.*?\| ([\d.]+) minutes"),
            ("tools/python/README.md", "a key in about {1} µs and returns a row of three columns in about {0} µs", "tools/python/TUTORIAL.md",
             r"\| cfile \| ([\d.]+) \| ([\d.]+)"),
            ("cfile/README.md", "reads {1} KiB instead of {0} KiB", programs, r"\| KiB, mapped; .*? \| ([\d.]+); [\d.]+ \| ([\d.]+);")):
        of_pages.append((page, sentence.format(*(f"{float(figure):.0f}" for figure in re.search(pattern, words_of(results)).groups()))))
    missing = [f"{page} does not say: {text}" for page, text in of_pages if text not in words_of(page)]
    if missing:
        sys.exit("\n".join(missing))
    if len(readme.split()) > MOST_WORDS:
        sys.exit(f"README.md has {len(readme.split())} words, more than {MOST_WORDS}: move text to another page")
    print(f"{len(of_pages)} figures and the chart are those of the results")


if __name__ == "__main__":
    main()
