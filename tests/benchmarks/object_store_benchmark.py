#!/usr/bin/env python3
"""Measures tables in an object store with 20 ms for each request, and pyarrow.dataset on the same store and data beside them.

  tests/benchmarks/object_store_benchmark.py SERVER BUILD FOLDER [--latency MILLISECONDS] [--megabytes PER_SECOND]
                                             [--pyarrow PYTHON] [--works WORK...]

SERVER is the program versitygw (tests/campaign/s3_server builds it), and BUILD a release build with object_store and latency_relay.
FOLDER keeps the objects for the next run. PYTHON has pyarrow. The server listens on loopback. A relay holds back each request, and writes
down when it began and ended. So the round trips are counted: a request is one round trip later than the requests that had ended before it
began. Prints a table. The goal of a scan is 0.8 of what curl reaches with 16 range requests at a time, through the same relay.
"""
import argparse
import functools
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

HOST = "127.0.0.1"
KEY, SECRET = "benchmark", "benchmark-secret"
RUNS = 3
THREADS = 16
CURL_RANGE_BYTES = 8 << 20
# Works of object_store, and the goals of their steps: round trips.
GOALS = {"open": {"open": 3}, "ordinal": {"cold": 4, "warm": 1}, "key": {"cold": 4, "warm": 1}, "row-of-key": {},
         "compound": {"cold": 6, "warm": 1}, "row-of-compound-key": {}, "take": {"take": 10}, "take-of-parts": {}}
SCANS = ("scan-hundred", "scan-long")

PYARROW = """
import json, sys, time
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs
endpoint, key, secret = sys.argv[1:]
store = fs.S3FileSystem(access_key=key, secret_key=secret, endpoint_override=endpoint, scheme="http", region="us-east-1")
def step(name, work):
    begin = time.monotonic_ns()
    result = work()
    print(json.dumps({"step": name, "begin": begin, "end": time.monotonic_ns()}))
    return result
def look_up(hundred, row):
    mixed = row * 0x9E3779B97F4A7C15 % 2**64
    id = row * 4096 + ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64 >> 52)
    table = hundred.to_table(filter=ds.field("id") == id)
    assert table.num_rows == 1 and table["id"][0].as_py() == id
def opened():
    return ds.dataset("bucket/parquet", filesystem=store)
work = sys.stdin.read()
if work == "open":
    step("open", opened)
elif work == "ordinal":
    hundred = step("open", opened)
    step("cold", lambda: hundred.take([1_234_567], columns=["value"]))
    step("warm", lambda: hundred.take([1_234_568], columns=["value"]))
elif work == "row-of-key":
    hundred = step("open", opened)
    step("cold", lambda: look_up(hundred, 1_234_567))
    step("warm", lambda: look_up(hundred, 1_234_568))
elif work == "take-of-parts":
    hundred = step("open", opened)
    import random
    ordinals = [i % 100 * 100_000 + random.randrange(100_000) for i in range(1000)]
    step("take", lambda: hundred.take(ordinals, columns=["value"]))
elif work == "scan":
    hundred = step("open", opened)
    rows = [0]
    def scan():
        for batch in hundred.to_batches(batch_size=65_536):
            rows[0] += batch.num_rows
    step("scan", scan)
    assert rows[0] == 10_000_000
elif work == "write":
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    for part in range(100):
        row = np.arange(part * 100_000, (part + 1) * 100_000)
        with np.errstate(over="ignore"):
            mixed = row.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            text = (row.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
            more = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        id = row * 4096 + (more >> np.uint64(52)).astype(np.int64)
        value = (mixed >> np.uint64(12)).astype(np.float64)
        table = pa.table({"id": id, "time": id // 4, "value": value,
                          "service": pa.array([f"service-{number:02d}" for number in row * 31 % 20]),
                          "text": pa.array([f"request {number:016x}" for number in text.tolist()])})
        pq.write_table(table, f"bucket/parquet/part-{part:03d}.parquet", filesystem=store, compression="zstd")
"""


def free_port():
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return taken.getsockname()[1]


def start_server(program, folder):
    """Starts the S3 server. Returns its process and its port."""
    (folder / "objects" / "bucket").mkdir(parents=True, exist_ok=True)
    port = free_port()
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen([program, "--port", f"{HOST}:{port}", "--quiet", "posix", folder / "objects"],
                                  env={**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET},
                                  stdout=log, stderr=log)
    for _ in range(500):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return server, port
        time.sleep(0.02)
    sys.exit(f"the server did not start: {(folder / 'server.log').read_text()}")


class Relay:
    """A relay that holds back each request for some milliseconds. It may also limit the megabytes per second."""

    def __init__(self, build, folder, server_port, latency, megabytes=None):
        self.log = folder / f"relay-{latency}.log"
        with self.log.open("w") as log:
            limit = [str(megabytes)] if megabytes else []
            self.process = subprocess.Popen([build / "tests/benchmarks/latency_relay", str(server_port), str(latency), *limit], stdout=log)
        while not self.log.read_text().endswith("\n"):
            time.sleep(0.01)
        self.port = int(self.log.read_text())

    def requests(self, step):
        """The requests during a step: [(begin, end, bytes)] in the order of their begins. Their connections must be closed."""
        time.sleep(0.1)  # until the relay has written the last lines
        lines = [line.split(" ", 4) for line in self.log.read_text().splitlines()[1:]]
        found = [(int(begin), int(end), int(received)) for begin, end, _, received, _ in lines]
        return sorted(request for request in found if step["begin"] <= request[0] <= step["end"])


def round_trips(requests):
    """The length of the longest chain of requests, in which each one begins after the end of the one before it."""
    done = []  # (end, length of the chain)
    for begin, end, _ in requests:
        done.append((end, 1 + max((length for before, length in done if before <= begin), default=0)))
    return max((length for _, length in done), default=0)


def environment(port):
    return {**os.environ, "AWS_ENDPOINT_URL": f"http://{HOST}:{port}", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}


def run_own(build, port, *arguments):
    """Runs object_store. Returns its steps."""
    done = subprocess.run([build / "tests/benchmarks/object_store", *map(str, arguments)], env=environment(port), check=True, text=True,
                          stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()]


def run_pyarrow(python, port, work):
    done = subprocess.run([python, "-c", PYARROW, f"{HOST}:{port}", KEY, SECRET], input=work, check=True, text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "AWS_EC2_METADATA_DISABLED": "true"})
    return [json.loads(line) for line in done.stdout.splitlines()]


def seconds(step):
    return (step["end"] - step["begin"]) / 1e9


def described(relay, steps):
    """{step: (requests, round trips, bytes, seconds)}"""
    found = {}
    for step in steps:
        requests = relay.requests(step)
        found[step["step"]] = (len(requests), round_trips(requests), sum(request[2] for request in requests), seconds(step))
    return found


def measured(relay, run):
    """Runs a work several times: the counts of the last run, and the median of the seconds."""
    results = [described(relay, run()) for _ in range(RUNS)]
    return {step: (*results[-1][step][:3], statistics.median(result[step][3] for result in results)) for step in results[-1]}


def curl_bytes_per_second(folder, port, table):
    """What 16 parallel range requests of curl reach when they read all columns of a table."""
    config = folder / "curl.txt"
    text, total = [], 0
    for path in sorted((folder / "objects/bucket/tables" / table).glob("part-*/*")):
        if path.suffix == ".cft":
            continue
        size = path.stat().st_size
        total += size
        for begin in range(0, size, CURL_RANGE_BYTES):
            text.append(f'url = "http://{HOST}:{port}/bucket/{path.relative_to(folder / "objects/bucket")}"\n'
                        f'output = "/dev/null"\nrange = {begin}-{min(begin + CURL_RANGE_BYTES, size) - 1}\n'
                        f'aws-sigv4 = "aws:amz:us-east-1:s3"\nuser = "{KEY}:{SECRET}"\n'
                        'header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\nnext\n')
    config.write_text("".join(text).removesuffix("next\n"))
    times = []
    for _ in range(RUNS):
        begin = time.monotonic()
        subprocess.run(["curl", "--silent", "--fail", "--parallel", "--parallel-max", str(THREADS), "--parallel-immediate", "-K", config],
                       check=True, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return total, len(text), total / statistics.median(times)


def print_row(*cells):
    print(f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else cell for cell in cells)} |", flush=True)


def print_rows(who, work, steps):
    for step, (requests, trips, size, time_seconds) in steps.items():
        goal = GOALS[work].get(step, "") if who == "cfile" else ""
        name = work if step in (work, "take") else f"{work}, {step}"
        print_row(name, who, requests, trips, f"{size / 1e3:,.0f}", f"{time_seconds * 1e3:,.0f} ms", str(goal))


def print_scan(who, size, requests, time_seconds, useful_bytes):
    print_row(who, f"{size / 1e6:,.0f}", requests, f"{time_seconds:.2f} s", f"{useful_bytes / time_seconds / 1e6:,.0f}")


def compare_scans(options, folder, relay, work, url):
    table = work.removeprefix("scan-")
    print(f"\n| scan of all columns of {table} | MB | requests | time | MB/s |\n| --- | --- | --- | --- | --- |")
    total, requests, rate = curl_bytes_per_second(folder, relay.port, table)
    print_scan(f"curl, {THREADS} ranges at a time", total, requests, total / rate, total)
    for threads in (1, 4, THREADS):
        scan = measured(relay, functools.partial(run_own, options.build, relay.port, work, url, threads))["scan"]
        print_scan(f"cfile, {threads} threads", scan[2], scan[0], scan[3], total)
    if options.pyarrow and table == "hundred":
        scan = measured(relay, lambda: run_pyarrow(options.pyarrow, relay.port, "scan"))["scan"]
        print_scan("pyarrow.dataset", scan[2], scan[0], scan[3], scan[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--latency", type=int, default=20)
    parser.add_argument("--megabytes", type=int, help="limits the bytes per second")
    parser.add_argument("--pyarrow", metavar="PYTHON")
    parser.add_argument("--works", nargs="+", choices=[*GOALS, *SCANS])
    options = parser.parse_args()
    folder = options.folder.resolve()
    server, port = start_server(options.server.resolve(), folder)
    relay = None
    try:
        url = "s3://bucket/tables"
        if not (folder / "written").exists():
            run_own(options.build, port, "write", url)
            if options.pyarrow:
                run_pyarrow(options.pyarrow, port, "write")
            (folder / "written").touch()
        relay = Relay(options.build, folder, port, options.latency, options.megabytes)
        works = options.works or [*GOALS, *SCANS]
        if not set(works) <= set(SCANS):
            print("| work | reader | requests | round trips | kB | time | goal |\n| --- | --- | --- | --- | --- | --- | --- |")
        for work in (work for work in works if work in GOALS):
            print_rows("cfile", work, measured(relay, lambda work=work: run_own(options.build, relay.port, work, url)))
            if options.pyarrow and f'work == "{work}"' in PYARROW:
                print_rows("pyarrow", work, measured(relay, lambda work=work: run_pyarrow(options.pyarrow, relay.port, work)))
        for work in (work for work in works if work in SCANS):
            compare_scans(options, folder, relay, work, url)
    finally:
        for process in (server, relay.process if relay else None):
            if process is not None:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
