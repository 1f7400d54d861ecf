"""Measures files of other formats like file_comparison measures ours: file_peers.py DIRECTORY

DIRECTORY holds the data that file_comparison left there. Prints the same lines of JSON; figures are the median of five
measurements of processor time, one thread, warm. Peers that are not installed are skipped; errors are printed on the standard
error output. The Parquet files that arrow_scan reads stay in DIRECTORY.
"""

import json
import os
import statistics
import sys
import time

for name in ("LANCE_CPU_THREADS", "LANCE_IO_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.feather  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

TAKEN_ROWS = 10_000
SINGLE_ROWS = 100
RUNS = 5
NUMBERS = {"sequence": np.int64, "walk": np.float64, "prices": np.float64}
STRINGS = ("keys", "words", "urls")
# Only pyarrow and Vortex are measured with these columns, because their purpose is to compare sizes of files.
SIZES_ONLY = ("prices", "urls")


def median_seconds(work):
    work()
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
        del result  # not measured
    return statistics.median(seconds)


class Column:
    """The data of a column, and the rows and keys to look up."""

    def __init__(self, directory, name):
        self.name = name
        self.directory = directory
        if name in NUMBERS:
            array = pa.array(np.fromfile(f"{directory}/{name}.values", NUMBERS[name]))
        else:
            offsets = np.fromfile(f"{directory}/{name}.offsets", np.int32)
            text = pa.py_buffer(np.fromfile(f"{directory}/{name}.text", np.uint8))
            array = pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), text)
        self.array = array
        self.table = pa.table([array], schema=pa.schema([pa.field("v", array.type, nullable=False)]))
        random = np.random.default_rng(3)
        self.taken = np.sort(random.choice(len(array), min(TAKEN_ROWS, len(array)), replace=False))
        self.single = [int(i) for i in random.integers(0, len(array), SINGLE_ROWS)]

    def path(self, who):
        return f"{self.directory}/{self.name}-{who.replace(' ', '-').lower()}"

    def print(self, work, who, figure):
        print(json.dumps({"data": self.name, "work": work, "who": who, "figure": figure}), flush=True)

    def check(self, values, expected, who):
        values = pa.chunked_array([values]) if isinstance(values, pa.Array) else values
        if not values.cast(expected.type).combine_chunks().equals(pa.chunked_array([expected]).combine_chunks()):
            raise ValueError(f"{who} gives other values")

    def measure(self, who, write=None, scan=None, opened=None, take=None, one=None, path=None):
        """Measures the given functions: write(path); scan(path) -> Arrow's column; take(handle, ordinals) and one(handle, ordinal), where
        handle is opened(path)."""
        path = path or self.path(who)
        try:
            if write:
                self.print("write", who, len(self.array) / median_seconds(lambda: write(path)) / 1e6)
                self.print("size", who, os.path.getsize(path) / len(self.array))
            if scan:
                self.check(to_arrow(scan(path)), self.array, who)
                self.print("scan", who, len(self.array) / median_seconds(lambda: scan(path)) / 1e6)
            if take:
                handle = opened(path)
                self.check(to_arrow(take(handle, self.taken)), self.array.take(pa.array(self.taken)), who)
                seconds = median_seconds(lambda: take(handle, self.taken))
                self.print("take", who, seconds / len(self.taken) * 1e6)
            if one:
                handle = opened(path)
                seconds = median_seconds(lambda: [one(handle, i) for i in self.single])
                self.print("one row", who, seconds / len(self.single) * 1e6)
        except Exception as error:  # of any library; the other peers are still measured
            print(f"file_peers: {who} with {self.name}: {type(error).__name__}: {error}", file=sys.stderr)


def to_arrow(values):
    return values.to_arrow() if hasattr(values, "to_arrow") else values


def parquet_settings(column):
    """Options for Parquet's encodings by name, and the candidates for the smallest file."""
    kind = "DELTA_BINARY_PACKED" if column.name == "sequence" else "BYTE_STREAM_SPLIT"
    kind = "DELTA_BYTE_ARRAY" if column.name in STRINGS else kind
    plain = {"use_dictionary": False, "compression": "none"}
    delta = {"use_dictionary": False, "column_encoding": {"v": kind}, "compression": "none"}
    named = {"plain": plain, "delta": delta, "dictionary": {"use_dictionary": True, "compression": "snappy"}}
    smallest = [settings | {"compression": "zstd"} for settings in (plain, delta, {"use_dictionary": True})]
    return named, smallest


def measure_pyarrow(column):
    named, candidates = parquet_settings(column)

    def write(path, settings):
        pq.write_table(column.table, path, **settings)

    def scan(path):
        return pq.read_table(path, use_threads=False, memory_map=True).column(0)

    def measure(who, settings, path):
        column.measure(who, lambda path: write(path, settings), scan, lambda path: path,
                       lambda path, ordinals: scan(path).take(pa.array(ordinals)), path=path)

    for name, settings in named.items():
        if name != "dictionary" or column.name == "words":
            measure(f"pyarrow {name}", settings, column.path(f"{name}.parquet"))

    def size(settings):
        write(column.path("trial.parquet"), settings)
        return os.path.getsize(column.path("trial.parquet"))

    measure("pyarrow smallest", min(candidates, key=size), column.path("smallest.parquet"))


def measure_ipc(column):
    def scan(path):
        return pa.ipc.open_file(pa.memory_map(path)).read_all().column(0)

    def opened(path):
        return scan(path).combine_chunks()

    column.measure(
        "Arrow IPC", lambda path: pa.feather.write_feather(column.table, path, compression="uncompressed"), scan, opened,
        lambda array, ordinals: array.take(pa.array(ordinals)), lambda array, ordinal: array[ordinal])
    reader = pa.ipc.open_file(pa.memory_map(column.path("Arrow IPC")))
    column.print("scan again", "Arrow IPC", len(column.array) / median_seconds(reader.read_all) / 1e6)


def measure_polars(column):
    import polars

    for name in ("plain", "dictionary") if column.name == "words" else ("plain", "delta"):
        column.measure(f"Polars {name}", scan=lambda path: polars.read_parquet(path)["v"],
                       path=column.path(f"{name}.parquet"))


def measure_vortex(column):
    import vortex

    vortex.set_worker_threads(0)  # the calling thread does the work
    schema = column.table.schema if column.name in STRINGS else None

    def scan(path):
        return vortex.open(path, memory_map=True).to_arrow(schema=schema).read_all().column(0)

    def take(file, ordinals):
        indices = vortex.array(pa.array(ordinals, pa.uint64()))
        return file.scan(indices=indices).read_all().to_arrow_table().column(0)

    column.measure("Vortex", lambda path: vortex.io.write(column.table, path), scan,
                   lambda path: vortex.open(path, memory_map=True), take)
    column.measure("Vortex", opened=lambda path: vortex.open(path, memory_map=True).to_repeated_scan(),
                   one=lambda scans, ordinal: scans.scalar_at(ordinal))
    compact = vortex.io.VortexWriteOptions.compact()
    column.measure("Vortex compact", lambda path: compact.write(column.table, path), scan)


def measure_lance(column):
    import lance.file

    def write(path):
        if os.path.exists(path):
            os.remove(path)
        with lance.file.LanceFileWriter(path, column.table.schema) as writer:
            writer.write_batch(column.table)

    def scan(path):
        return lance.file.LanceFileReader(path).read_all(batch_size=65536).to_table().column(0)

    def take(reader, ordinals):
        return reader.take_rows(ordinals.tolist(), batch_size=65536).to_table().column(0)

    column.measure("Lance", write, scan, lance.file.LanceFileReader, take,
                   lambda reader, ordinal: reader.take_rows([ordinal]).to_table().column(0)[0])


def measure_pcodec(column):
    """Compressed numbers in a file of their own. The arrays that pcodec fills exist before the measurement."""
    import pcodec

    values = column.array.to_numpy()
    out = np.empty_like(values)

    def write(path):
        with open(path, "wb") as file:
            file.write(pcodec.standalone.simple_compress(values, pcodec.ChunkConfig(compression_level=8)))

    def scan(path):
        with open(path, "rb") as file:
            pcodec.standalone.simple_decompress_into(file.read(), out)
        return pa.array(out)

    column.measure("pcodec", write, scan)


def measure_duckdb(column):
    import duckdb

    connections = []

    def opened(path):
        while connections:
            connections.pop().close()
        connections.append(duckdb.connect(path, config={"threads": 1}))
        return connections[0]

    def write(path):
        if os.path.exists(path):
            os.remove(path)
        connection = opened(path)
        connection.register("source", column.table)
        connection.execute("CREATE TABLE data AS SELECT v FROM source")
        connection.execute("CHECKPOINT")
        opened(path)

    def take(connection, ordinals):
        connection.register("wanted", pa.table({"i": pa.array(ordinals)}))
        query = "SELECT v FROM data WHERE rowid IN (SELECT i FROM wanted) ORDER BY rowid"
        return connection.sql(query).to_arrow_table().column(0)

    column.measure("DuckDB", write,
                   lambda path: connections[0].sql("SELECT v FROM data").to_arrow_table().column(0), opened, take,
                   lambda connection, ordinal: connection.execute("SELECT v FROM data WHERE rowid = ?", [ordinal]).fetchall())
    while connections:
        connections.pop().close()


def main(directory):
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    for name in (*NUMBERS, *STRINGS):
        column = Column(directory, name)
        peers = (measure_pyarrow, measure_vortex)
        if name in NUMBERS:
            peers += (measure_pcodec,)
        if name not in SIZES_ONLY:
            peers += (measure_ipc, measure_polars, measure_lance, measure_duckdb)
        for measure in peers:
            try:
                measure(column)
            except ImportError as error:
                print(f"file_peers: {error}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
