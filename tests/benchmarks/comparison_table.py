"""The rows of the table that tests/benchmarks/run prints, and how they are judged."""

from dataclasses import dataclass

UNITS = {"scan": "M values/s", "scan unchecked": "M values/s", "scan again": "M values/s", "write": "M values/s",
         "decode": "M values/s", "filter =": "M rows/s", "filter <": "M rows/s", "filter between": "M rows/s",
         "filter in": "M rows/s", "seek": "µs", "seek many": "µs a key", "take": "µs a row", "one row": "µs", "size": "bytes a value"}
FILTERS = ("filter =", "filter <", "filter between", "filter in")
RATES = ("scan", "scan unchecked", "scan again", "write", "decode", *FILTERS)  # more is better
# For each kind of work, the work in memory whose figure is a limit.
LIMITS = {"scan": "memcpy", "scan unchecked": "memcpy", "scan again": "memcpy", "write": "memcpy", "decode": "memcpy",
          "seek": "sorted array", "seek many": "sorted array", "take": "array", "one row": "array",
          **{work: "array" for work in FILTERS}}
# Peers that have or check no checksums have the same figure for both scans.
PEERS_WORK = {"scan unchecked": "scan"}
DATA = {
    "sequence": "int64, 1.6e15 + 1000 i + 0 to 999",
    "walk": "double, a random walk from 100 in steps of about 0.007",
    "prices": "double, as walk, with two decimals",
    "keys": "sorted strings, key-%012d of 7 i + 12345",
    "words": "strings, 10,000 words of 4 to 12 letters",
    "urls": "sorted strings, URLs of about 47 bytes",
    "many urls": "four times as many urls, and a block cache of 16 MiB",
    "codes": "random numbers from 0 to 2047, int64 in a table in memory; also with 10 % nulls. The rows `decode` have 3,072 numbers",
    "steps": "running sums of codes",
}
# Peers that need no Python.
NATIVE_PEERS = ("memcpy", "array", "sorted array", "LevelDB", "RocksDB", "LMDB")


@dataclass(frozen=True)
class Times:
    """The ratio to reach, ours to the peer's: a minimum for rates, a maximum for times and sizes."""

    factor: float

    def text(self, work):
        return f"{'≥' if work in RATES else '≤'} {self.factor:g} ×"

    def met(self, work, ours, peer):
        if ours is None or peer is None:
            return None
        return ours >= self.factor * peer if work in RATES else ours <= self.factor * peer


@dataclass(frozen=True)
class Figure:
    """A figure to reach, without a peer: the least one for rates, the largest one for times and sizes."""

    figure: float

    def text(self, work):
        return f"{'≥' if work in RATES else '≤'} {self.figure:,g} {UNITS[work]}"

    def met(self, work, ours, peer):
        if ours is None:
            return None
        return ours >= self.figure if work in RATES else ours <= self.figure


@dataclass(frozen=True)
class Row:
    """Work on a column by our default file and by a tuned file, compared with peers: (name, reach or None)."""

    title: str
    work: str
    data: str
    tuned: str | None
    peers: tuple
    ours: str = "default"


def rows():
    in_python = (("Arrow IPC", Times(0.9)), ("pyarrow plain", Times(3)))
    scan_plain = [
        row for data in ("sequence", "walk") for row in (
            Row("scan, plain", "scan", data, "plain", (*in_python, ("Arrow C++ plain", None), ("Polars plain", None))),
            Row("scan, plain, checksums left out", "scan unchecked", data, "plain", in_python),
            Row("scan, plain, the open file again", "scan again", data, "plain", (("Arrow IPC", Times(0.9)),)),
        )]
    sorted_strings = [
        row for data, reach in (("keys", 2), ("urls", 1.5)) for row in (
            Row("scan, sorted strings", "scan", data, "prefix",
                (("LMDB", Times(reach)), ("pyarrow delta", Times(5)), ("LevelDB", None), ("RocksDB", None))),
            Row("seek by key", "seek", data, "prefix",
                (("sorted array", Times(0.7)), ("LMDB", None), ("LevelDB", None), ("RocksDB", None))),
            Row("seek by 1,000 keys", "seek many", data, "prefix", (("sorted array", Times(0.35)),)),
        )]
    takes = [
        Row("take 10,000, plain", "take", "sequence", "plain",
            (("array", Figure(0.03)), ("Arrow IPC", None), ("Vortex", None), ("Lance", None), ("pyarrow plain", None))),
        Row("take 10,000, delta", "take", "sequence", "delta",
            (("array", Figure(0.3)), ("Vortex", None), ("Lance", None), ("DuckDB", None), ("pyarrow delta", None))),
        Row("size of delta", "size", "sequence", "delta", (("pyarrow delta", Times(1)), ("Vortex", None))),
        Row("take 10,000, dictionary", "take", "words", "dictionary",
            (("array", Figure(0.3)), ("Vortex", None), ("Lance", None), ("DuckDB", None), ("pyarrow dictionary", None))),
        Row("size of dictionary", "size", "words", "dictionary", (("pyarrow dictionary", Times(1.08)), ("Vortex", None))),
    ]
    size_of_urls = Row("size, default", "size", "urls", None, (("pyarrow delta", Figure(11.3)),))
    fast_scan = Row("scan, default", "scan", "sequence", None, (("memcpy", Times(2)),))
    takes_for = Row("take 10,000, for", "take", "sequence", "for", (("array", Figure(0.03)), ("Vortex", None)))
    cold_numbers = [
        row for data in ("prices", "walk", "sequence") for row in (
            Row("size, compact", "size", data, "compact", (("pcodec", Times(1.03)),), "for size"),
            Row("scan, compact", "scan", data, "compact", (("pcodec", Times(2)),), "for size"),
            Row("write, compact", "write", data, "compact", (("pcodec", Times(1)),), "for size"),
        )]
    packed = [
        *(Row("decode, for, in cache", "decode", data, None, (("memcpy", Figure(reach)),), "for") for data, reach in (
            ("codes, int32", 15_000), ("codes, int64", 8_000), ("steps, int32", 6_000), ("steps, int64", 4_000))),
        *(Row("take 10,000, packed", "take", data, None, (("array", Figure(0.03)),)) for data in ("codes", "codes, nulls")),
        *(Row(f"{work}, packed", work, data, None, (("array", Figure(6_000)),)) for data in ("codes", "codes, nulls") for work in FILTERS),
        Row("seek by key", "seek", "many urls", None, (("sorted array", Figure(3)),)),
    ]
    single = [
        Row("one row, plain", "one row", "sequence", "plain",
            (("array", Figure(0.3)), ("Arrow IPC", None), ("Vortex", None), ("Lance", None))),
        *(Row("one row, compressed", "one row", data, "for size", (("array", Figure(3)), ("Vortex", None)))
          for data in ("sequence", "prices", "keys", "words")),
    ]
    writes = [
        Row("write, delta", "write", "sequence", "delta", (("pyarrow delta", Times(3.5)), ("Vortex", None), ("Lance", None))),
        Row("write, default", "write", "walk", "plain", (("pyarrow plain", Times(3.5)), ("Vortex", None), ("Lance", None))),
        Row("write, default", "write", "prices", None, (("pyarrow plain", Times(3.5)), ("Vortex", None))),
        Row("write, default", "write", "words", "dictionary", (("pyarrow dictionary", Times(1)), ("Vortex", None), ("Lance", None))),
        *(Row("write, sorted strings", "write", data, "prefix",
              (("LevelDB", Times(reach)), ("pyarrow delta", Times(reach)), ("LMDB", Times(reach)), ("RocksDB", None)))
          for data, reach in (("keys", 3.5), ("urls", 1))),
    ]
    sizes = [
        row for data in ("sequence", "walk", "prices", "keys", "words", "urls") for row in (
            Row("size, for size", "size", data, None, (("pyarrow smallest", Times(1.05)), ("Vortex compact", None)), "for size"),
            Row("scan, for size", "scan", data, None, (("pyarrow smallest", Times(1)), ("Vortex compact", None)), "for size"),
            Row("size, default", "size", data, None, (("pyarrow smallest", Times(1.3)), ("Vortex", None))),
            Row("scan, default", "scan", data, None, (("pyarrow smallest", Times(2)), ("Vortex", None))),
        )]
    return [
        *scan_plain,
        Row("scan, delta", "scan", "sequence", "delta",
            (("Arrow C++ delta", Times(1.2)), ("pyarrow delta", Times(3)), ("Vortex", None), ("DuckDB", None))),
        Row("scan, dictionary strings to views", "scan", "words", "dictionary",
            (("Polars dictionary", Times(1.5)), ("pyarrow dictionary", None), ("Vortex", None), ("DuckDB", None))),
        fast_scan, *sorted_strings, size_of_urls, *takes, takes_for, *packed, *cold_numbers, *single, *writes, *sizes,
    ]


def judge(figures, native_only):
    """Makes the table of {(data, work, who): figure}: one dictionary per row. native_only: without the peers that need Python."""
    measured = {who for _, _, who in figures}
    judged = []
    for row in rows():
        limit_name = LIMITS.get(row.work)
        peers = row.peers
        if native_only:
            peers = tuple(peer for peer in peers if peer[0] in NATIVE_PEERS) or ((limit_name, None),)
        ours = figures.get((row.data, row.work, f"cfile {row.ours}"))
        tuned = figures.get((row.data, row.work, f"cfile {row.tuned}")) if row.tuned else None
        for peer_name, reach in peers:
            if peer_name is None:
                continue  # sizes have no limit
            peer = figures.get((row.data, PEERS_WORK.get(row.work, row.work), peer_name))
            judged.append({
                "work": row.title,
                "data": row.data,
                "unit": UNITS[row.work],
                "ours": ours,
                "tuned": tuned,
                "peer": peer,
                "peer_name": peer_name if peer_name in measured else f"{peer_name}: not installed",
                "limit": figures.get((row.data, PEERS_WORK.get(row.work, row.work), limit_name)),
                "ratio": ratio(ours, peer),
                "tuned_ratio": ratio(tuned, peer),
                "reach": reach.text(row.work) if reach else None,
                "met": reach.met(row.work, ours, peer) if reach else None,
                "tuned_met": reach.met(row.work, tuned, peer) if reach else None,
            })
    return judged


def ratio(ours, peer):
    return ours / peer if ours is not None and peer else None


def number(figure):
    if figure is None:
        return "-"
    return f"{figure:.4g}" if figure < 1000 else f"{figure:,.0f}"


def verdict(met):
    return "-" if met is None else "yes" if met else "**no**"


def markdown(judged):
    """The lines of the table."""
    header = ("work", "data", "unit", "default", "tuned", "peer", "its figure", "limit", "default : peer", "tuned : peer",
              "goal", "default meets it", "tuned meets it")
    lines = [header, tuple("---" for _ in header)]
    for row in judged:
        lines.append((row["work"], row["data"], row["unit"], number(row["ours"]), number(row["tuned"]), row["peer_name"],
                      number(row["peer"]), number(row["limit"]), number(row["ratio"]), number(row["tuned_ratio"]),
                      row["reach"] or "-", verdict(row["met"]), verdict(row["tuned_met"])))
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
