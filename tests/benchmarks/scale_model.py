#!/usr/bin/env python3
"""What a table of 10^12 rows in 10^5 parts costs in an object store, on paper: the manifest, reads by 10^3 workers, and commits.

  tests/benchmarks/scale_model.py                                prints the tables of the model
  tests/benchmarks/scale_model.py --check BUILD                  compares the manifest with tables in memory, of up to 1,000 parts
  tests/benchmarks/scale_model.py --check BUILD --server SERVER  also with a table of 10,000 parts, and compares reads and commits with
                                                                 measurements; SERVER: the program versitygw (object_store_benchmark.py)

The manifest is table.cft and the chunks, which describe the parts. Its constants are measured (MEASURED). Requests follow from the format
and from the options of the library. Times come from a simulation of requests: each takes the latency, and then its bytes pass through the
link of its worker, one after the other. A worker has at most 16 requests in flight.

The exit code is 1 if a comparison is off by more than its bound.
"""
import argparse
import heapq
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import object_store_benchmark as store

ENTRIES = 64  # of a chunk; table.cft names as many parts, and as many chunks of each height
OPEN_BYTES = 64 << 10  # both ends of a file
BLOCK_BYTES = 256 << 10
RANGE_BYTES = (1 << 20) + (1 << 16)  # ReaderOptions::read_ahead_bytes: a scan reads a file that is not longer with one request
LONGEST_RANGE_BYTES = 4 << 20
RANGES = 64  # a scan uses at most RANGES * RANGE_BYTES of memory
MAX_IN_FLIGHT = 16


@dataclass
class Manifest:
    """Bytes of the manifest of a table with some number of columns."""
    fixed: float  # of table.cft without parts and chunks
    part: float  # of the description of a part
    chunk: float  # of the description of a chunk

    def chunks(self, parts):
        """The number of chunks of each height."""
        numbers = []
        while (parts := (parts - 1) // ENTRIES) > 0:
            numbers.append(parts)
        return numbers

    def root_bytes(self, parts):
        counts = [parts, *self.chunks(parts)]
        in_root = [count - ENTRIES * above for count, above in zip(counts, [*counts[1:], 0])]
        return self.fixed + in_root[0] * self.part + sum(in_root[1:]) * self.chunk

    def chunk_bytes(self, height):
        return 16 + ENTRIES * (self.part if height == 0 else self.chunk)

    def all_chunk_bytes(self, parts):
        return sum(number * self.chunk_bytes(height) for height, number in enumerate(self.chunks(parts)))

    def chunks_to(self, parts, wanted):
        """Bytes of the chunks that describe `wanted` neighbouring parts in the middle: one list for each height, the highest first."""
        lists = []
        for height, number in reversed(list(enumerate(self.chunks(parts)))):
            count = min(number, 1 if wanted == 1 else 1 + -(-wanted // ENTRIES ** (height + 1)))
            lists.append([self.chunk_bytes(height)] * count)
        return lists


def fitted(tables):
    """The manifest that fits two measured tables: {parts: (root_bytes, chunk_bytes)}. The smaller one has chunks of height 0 only."""
    (few, (few_root, few_chunks)), (many, (many_root, _)) = sorted(tables.items())
    unit = Manifest(0, 1, 0)
    part = (few_chunks / ((few - 1) // ENTRIES) - 16) / ENTRIES
    # table.cft of the two tables differs in the numbers of parts and of chunks.
    def in_root(parts):
        counts = [parts, *unit.chunks(parts), 0]
        return counts[0] - ENTRIES * counts[1], sum(count - ENTRIES * above for count, above in zip(counts[1:], counts[2:]))
    (few_parts, few_named), (many_parts, many_named) = in_root(few), in_root(many)
    chunk = (many_root - few_root - (many_parts - few_parts) * part) / (many_named - few_named)
    return Manifest(few_root - few_parts * part - few_named * chunk, part, chunk)


def read_ahead(columns, longest=LONGEST_RANGE_BYTES):
    """How a column of a scan reads ahead: the most requests at the same time, and the greatest size of one (ReadAheadOfColumn)."""
    ranges = max(RANGES // columns, 1)
    requests = min(-(-MAX_IN_FLIGHT // columns), ranges)
    return requests, max(min(ranges * RANGE_BYTES // (requests + 1), longest), RANGE_BYTES)


def file_rounds(size_bytes, columns, longest=LONGEST_RANGE_BYTES):
    """The requests of a scan of a file: a list of sizes for each round trip. The first opens the file. A scan begins with one request. The
    number doubles with each round trip, and then the size."""
    if size_bytes <= RANGE_BYTES:
        return [[size_bytes]]
    most, longest = read_ahead(columns, longest)
    rounds, left, ranges, range_bytes = [opened(size_bytes)], size_bytes - OPEN_BYTES, 1, RANGE_BYTES
    while left > 0:
        now = min(left, ranges * range_bytes)
        rounds.append([min(range_bytes, now - at) for at in range(0, now, range_bytes)])
        left -= now
        if ranges == most:
            range_bytes = min(2 * range_bytes, longest)
        ranges = min(2 * ranges, most)
    return rounds


def opened(size_bytes):
    """The sizes of the requests that open a file: they read both ends."""
    return [min(size_bytes, 4 << 10), min(size_bytes, 60 << 10)]


def look_up_rounds(manifest, parts, columns, file_bytes):
    """A row by its key: table.cft, the chunks, the files of all columns, the block of the key, and then the blocks of the other columns. A
    scan finds the row if there are several columns, and a cursor if there is one."""
    first = manifest_rounds(manifest, parts, 1)
    if columns > 1 and file_bytes <= RANGE_BYTES:
        return [*first, [file_bytes] * columns]
    blocks = [[BLOCK_BYTES], [BLOCK_BYTES] * (columns - 1)] if file_bytes > OPEN_BYTES else []
    return [*first, opened(file_bytes) * columns, *filter(None, blocks)]


def manifest_rounds(manifest, parts, wanted):
    return [[manifest.root_bytes(parts)], *manifest.chunks_to(parts, wanted)]


def simulate(threads, latency, bytes_per_second, slots=MAX_IN_FLIGHT):
    """The seconds until all threads are done. A thread is an iterator of round trips: lists of sizes of requests at the same time."""
    events, order = [(0.0, number, None) for number in range(len(threads))], len(threads)
    running = {number: iter(thread) for number, thread in enumerate(threads)}
    open_requests, waiting, free, link, now = {}, [], slots, 0.0, 0.0
    heapq.heapify(events)
    numbers = {number: number for number in range(len(threads))}

    def begin_waiting():
        nonlocal free, order, link
        while waiting and free > 0:
            thread, size = waiting.pop(0)
            free -= 1
            order += 1
            link = max(link, now + latency) + size / bytes_per_second
            heapq.heappush(events, (link, order, thread))

    while events:
        now, number, thread = heapq.heappop(events)
        if thread is None:
            thread = numbers[number]
        else:
            free += 1
            open_requests[thread] -= 1
        if open_requests.get(thread, 0) == 0:
            sizes = next(running[thread], None)
            if sizes:
                open_requests[thread] = len(sizes)
                waiting.extend((thread, size) for size in sizes)
        begin_waiting()
    return now


def no_wait(failures, attempt):
    return 0.0


def library_wait(failures, attempt):
    """The greatest wait after some failures, of which the last one took `attempt` seconds (WaitAfterConflict)."""
    return min(attempt, 1.0) * 0.25 * 2 ** min(failures, 6)


def simulate_commits(writers, commits, latency, wait=library_wait, server_seconds=0.0, seed=1):
    """Writers append parts to one table. Returns the conditional PUTs of each commit, the seconds of each commit, and all seconds.

    Each request takes the latency, and up to a tenth more, and then `server_seconds` of a server that serves one request after another.
    The PUT of table.cft is refused if another one was successful since table.cft was read. Then the writer tries again, after a random
    time of at most wait(failures, seconds of the attempt).
    """
    rng = random.Random(seed)
    version, now, server, puts, seconds = 0, 0.0, 0.0, [], []

    def writer():
        """Each yield is a request, after a number of seconds."""
        nonlocal version
        for commit in range(commits):
            yield 0  # reads table.cft
            begin, failures, delay = now, 0, 0
            yield 0  # writes the file of a column
            while True:
                attempt_begin = now + delay
                yield delay  # reads table.cft
                seen = version
                yield 0  # lists the files of the part
                yield 0  # writes the copy of the part's description
                if commit == failures == 0:
                    yield 0  # tries whether the server knows conditions
                yield 0  # the conditional PUT
                if seen == version:
                    break
                failures += 1
                yield 0  # deletes the copy
                delay = wait(failures, now - attempt_begin) * rng.random()
            version += 1
            puts.append(1 + failures)
            seconds.append(now - begin)

    running = [writer() for _ in range(writers)]
    events = []  # (time, writer, whether the server has answered)

    def send(number):
        delay = next(running[number], None)
        if delay is not None:
            heapq.heappush(events, (now + delay + latency * (1 + rng.random() / 10), number, server_seconds == 0))

    for number in range(writers):
        send(number)
    while events:
        now, number, answered = heapq.heappop(events)
        if answered:
            send(number)
        else:
            server = max(server, now) + server_seconds
            heapq.heappush(events, (server, number, True))
    return puts, seconds, now


def totals(threads):
    """The requests and the bytes of threads."""
    sizes = [size for rounds in threads for one in rounds for size in one]
    return len(sizes), sum(sizes)


def scan(parts, columns, file_bytes, longest=LONGEST_RANGE_BYTES):
    """A scan reads in the background, from as many files as there may be requests in flight: like a thread for each file."""
    return [file_rounds(file_bytes, columns, longest)] * (parts * columns)


# fitted() to tables of `scale_parts` with 1,000 and 10,000 parts of 10 columns.
MEASURED = Manifest(fixed=441, part=585, chunk=447)
COLUMNS = 10
ROWS, PARTS, WORKERS = 10 ** 12, 10 ** 5, 10 ** 3
FILE_BYTES = 40_000_000  # 10^7 rows of 4 bytes
HOURS = 8760  # of the rows: a year
LINK = 1.25e9  # bytes per second of a worker: 10 Gbit/s
GETS_OF_PREFIX = 5500  # requests per second that S3 promises for one prefix


def print_manifest():
    print("| parts | table.cft, kB | chunks, by height | chunks, MB | bytes of each part |\n| --- | --- | --- | --- | --- |")
    for parts in (10 ** 2, 10 ** 3, 10 ** 4, 10 ** 5, 10 ** 6):
        chunks = MEASURED.all_chunk_bytes(parts)
        print(f"| {parts:,} | {MEASURED.root_bytes(parts) / 1e3:,.0f} | {' + '.join(f'{number:,}' for number in MEASURED.chunks(parts))} "
              f"| {chunks / 1e6:,.1f} | {(chunks + MEASURED.root_bytes(parts)) / parts:,.0f} |")


def print_reads():
    print("| work | requests | MB | time at 20 ms | time at 100 ms |\n| --- | --- | --- | --- | --- |")

    def row(name, first, threads=()):
        """`first`: the round trips before the threads begin."""
        requests, size = totals([first, *threads])
        times = " | ".join(f"{simulate([first], latency, LINK) + simulate(threads, latency, LINK):,.2f} s" for latency in (0.02, 0.1))
        print(f"| {name} | {requests:,} | {size / 1e6:,.1f} | {times} |")

    row("open the table", [[MEASURED.root_bytes(PARTS)]])
    row("the ordinal of a key", look_up_rounds(MEASURED, PARTS, 1, FILE_BYTES))
    row("a row by its key", look_up_rounds(MEASURED, PARTS, COLUMNS, FILE_BYTES))
    hour = -(-PARTS // HOURS) + 1
    row(f"an hour ({hour} parts) of all columns", manifest_rounds(MEASURED, PARTS, hour), scan(hour, COLUMNS, FILE_BYTES))
    print(f"\n| full scan by {WORKERS:,} workers | requests | TB | time at 20 ms | at 100 ms | requests per second at 20 ms |"
          "\n| --- | --- | --- | --- | --- | --- |")
    for longest in (RANGE_BYTES, LONGEST_RANGE_BYTES):
        work = scan(PARTS // WORKERS, COLUMNS, FILE_BYTES, longest)
        requests, size = totals(work)
        short, long = (simulate(work, latency, LINK) for latency in (0.02, 0.1))
        print(f"| requests of up to {read_ahead(COLUMNS, longest)[1] / 2**20:.1f} MiB | {requests * WORKERS:,} "
              f"| {size * WORKERS / 1e12:,.1f} | {short:,.0f} s | {long:,.0f} s | {requests * WORKERS / short:,.0f} |")


def print_commits():
    print("| writers | PUTs of table.cft for each commit | s for each commit, median | commits per second | without waits: PUTs | s | "
          "commits per second |\n| --- | --- | --- | --- | --- | --- | --- |")
    for writers in (1, 4, 16, 64, 256, 1000):
        cells = []
        for wait in (library_wait, no_wait):
            puts, seconds, whole = simulate_commits(writers, 4, 0.02, wait)
            cells += [f"{statistics.mean(puts):,.1f}", f"{statistics.median(seconds):,.2f}", f"{len(puts) / whole:,.1f}"]
        print(f"| {writers:,} | {' | '.join(cells)} |")


def run(command, **environment):
    done = subprocess.run([str(part) for part in command], env={**os.environ, **environment}, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


class Comparison:
    def __init__(self):
        self.failures = 0

    def compare(self, name, model, measured, bound, extra=0):
        """`bound`: the greatest relative difference; `extra` is added to what may differ."""
        off = abs(model - measured) > bound * measured + extra
        self.failures += off
        print(f"| {name} | {model:,.4g} | {measured:,.4g} | {(model / measured - 1) * 100:+.1f} % | {'WRONG' if off else ''} |")


def measured_manifest(build, parts, columns):
    """The bytes of table.cft, and of all chunks."""
    line = json.loads(run([build / "tests/benchmarks/scale_parts", parts, columns]))
    return line["root_bytes"], line["chunk_bytes"]


def check_manifest(build, comparison, parts_of_tables):
    for parts in parts_of_tables:
        root, chunks = measured_manifest(build, parts, COLUMNS)
        comparison.compare(f"table.cft of {parts:,} parts, bytes", MEASURED.root_bytes(parts), root, 0.02)
        comparison.compare(f"chunks of {parts:,} parts, bytes", MEASURED.all_chunk_bytes(parts), chunks, 0.02)


CHECKED_COLUMNS = 3  # of the tables in the object store
LATENCY = 0.02


def check_reads(build, folder, server_port, relay_port, comparison):
    manifest = fitted({parts: measured_manifest(build, parts, CHECKED_COLUMNS) for parts in (1000, 10_000)})
    for parts in (100, 1000):
        lines = run([build / "tests/benchmarks/scale_parts", parts, CHECKED_COLUMNS, f"s3://bucket/parts-{parts}"],
                    **store.environment(relay_port), CFILE_DIRECT_SERVER=f"http://127.0.0.1:{server_port}").splitlines()
        steps = {step["step"]: step for step in map(json.loads, lines[1:])}
        sizes = [path.stat().st_size for path in (folder / f"objects/bucket/parts-{parts}").rglob("*.cfile")]
        size, root = statistics.mean(sizes), [[manifest.root_bytes(parts)]]
        works = {
            "open": (root, []),
            "key": (look_up_rounds(manifest, parts, 1, size), []),
            "row": (look_up_rounds(manifest, parts, CHECKED_COLUMNS, size), []),
            "range": (manifest_rounds(manifest, parts, 60), scan(60, CHECKED_COLUMNS, size)),
            "scan": (manifest_rounds(manifest, parts, parts), scan(parts, CHECKED_COLUMNS, size)),
        }
        for name, (first, threads) in works.items():
            requests, total = totals([first, *threads])
            what = f"{name}, {parts:,} parts"
            # "scan" has 16 threads. Those that need the same chunk at the same time all read it. The model has one of these requests.
            several = name == "scan"
            comparison.compare(f"{what}: requests", requests, steps[name]["requests"], 0.05 if several else 0)
            comparison.compare(f"{what}: bytes", total, steps[name]["bytes"], 0.5 if several else 0.05)
            time = simulate([first], LATENCY, LINK) + simulate(threads, LATENCY, LINK)
            comparison.compare(f"{what}: seconds", time, steps[name]["seconds"], 0.3, extra=0.01)


def check_commits(many_writers, relay_port, comparison):
    # With 64 writers, the processor bounds the server, and its requests take different times. The median of the 16 commits of four writers
    # is the time of a commit without a conflict or with one.
    for writers, bound, bound_of_seconds in ((1, 0.3, 0.3), (4, 0.3, 1.5), (16, 0.3, 0.3), (64, 1.0, 1.0)):
        text = run([many_writers, f"http://127.0.0.1:{relay_port}", writers, 4], **store.environment(relay_port))
        print(text, end="", file=sys.stderr)
        puts, milliseconds = map(float, re.search(r"lost: ([\d.]+) PUTs.*; (\d+) ms in the median", text).groups())
        model_puts, model_seconds, _ = simulate_commits(writers, 4, LATENCY)
        comparison.compare(f"{writers} writers: PUTs of table.cft for each commit", statistics.mean(model_puts), puts, bound)
        comparison.compare(f"{writers} writers: seconds of a commit, median", statistics.median(model_seconds), milliseconds / 1e3,
                           bound_of_seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path, metavar="BUILD", help="a build with scale_parts, latency_relay and many_writers")
    parser.add_argument("--server", type=Path)
    options = parser.parse_args()
    if not options.check:
        print_manifest()
        print()
        print_reads()
        print()
        print_commits()
        return
    comparison = Comparison()
    print("| what | model | measured | difference | |\n| --- | --- | --- | --- | --- |")
    check_manifest(options.check, comparison, (100, 1000, 10_000) if options.server else (100, 1000))
    if options.server:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            server, port = store.start_server(options.server.resolve(), folder)
            relay = None
            try:
                relay = store.Relay(options.check, folder, port, round(LATENCY * 1000))
                check_reads(options.check, folder, port, relay.port, comparison)
                check_commits(options.check / "tests/http/many_writers", relay.port, comparison)
            finally:
                for process in (server, relay.process if relay else None):
                    if process is not None:
                        process.terminate()
                        process.wait()
    sys.exit(1 if comparison.failures else 0)


if __name__ == "__main__":
    main()
