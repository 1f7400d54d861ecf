#!/usr/bin/env python3
"""Checks that figures of the pages and the chart in README.md are those of the measurements, and that README.md is short.

check_figures.py ROOT [--write]

With --write, writes the chart, public.svg beside results_public.md."""
import pathlib
import re
import sys

MOST_WORDS = 1200  # of README.md


FORMATS = {"cfile": "#0a7d5a", "Parquet pyarrow": "#b5bac1", "Vortex": "#7f8894", "Lance": "#c9a45c"}  # and their colors
WORKS = {"lineitem": "size, MB", "write": "write, ms", "to Arrow": "all columns to Arrow, ms", "filter 0.1 %": "filter for 0.1 % of the rows, ms",
         "take": "1,000 rows by number, ms", "keys": "1,000 rows by key, ms"}


def chart(page):
    """Some rows of results_public.md as SVG: for each format a bar, with the figure behind it."""
    found, header = {}, []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[:1] in (["data"], ["work"]):
            header = cells
        elif cells and cells[0] in WORKS:
            found[cells[0]] = {name: float(cell.split()[0].replace(",", "")) for name, cell in zip(header, cells) if name in FORMATS}
    parts, left = [], 118
    for place, (work, title) in enumerate(WORKS.items()):
        x, y = place % 2 * 360 + left, place // 2 * 84 + 20
        parts.append(f'<text x="{x}" y="{y}" font-weight="bold">{title}</text>\n')
        for name, color in FORMATS.items():
            y += 15
            figure = found[work][name]
            width = max(1, 130 * figure / max(found[work].values()))
            parts.append(f'<text x="{x - 6}" y="{y}" text-anchor="end">{name}</text>'
                         f'<rect x="{x}" y="{y - 10}" width="{width:.0f}" height="12" fill="{color}"/>'
                         f'<text x="{x + 4 + width:.0f}" y="{y}">{figure:,.{0 if figure >= 100 else 1}f}</text>\n')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{(len(WORKS) + 1) // 2 * 84 + 8}" font-family="sans-serif" '
            'font-size="12">\n<rect width="100%" height="100%" fill="#ffffff"/>\n' + "".join(parts) + "</svg>\n")


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
    expected.append(f"{least:.3f} to {greatest:.3f} times as large")
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

    svg, page = root / "tests/benchmarks/public.svg", root / "tests/benchmarks/results_public.md"
    drawn = chart(page.read_text(encoding="utf-8"))
    if "--write" in sys.argv:
        svg.write_text(drawn, encoding="utf-8")
    elif svg.read_text(encoding="utf-8") != drawn:
        sys.exit(f"{svg} does not show the figures of {page}; {sys.argv[0]} {root} --write writes it")

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
