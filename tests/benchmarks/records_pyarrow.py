"""The peer of records_benchmark: records_pyarrow.py RECORDS.jsonl.

With one thread, imports the JSON Lines into a Parquet file beside them, imports them again with a known schema, and reads the
Parquet file. Prints a line "NAME SECONDS" for each of the three.
"""

import os
import sys
import time

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq


def main(path):
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    parquet = os.path.splitext(path)[0] + ".parquet"
    read = pa.json.ReadOptions(use_threads=False)

    start = time.perf_counter()
    table = pa.json.read_json(path, read_options=read)
    pq.write_table(table, parquet, compression="none")
    print("import", time.perf_counter() - start)

    parse = pa.json.ParseOptions(explicit_schema=table.schema, unexpected_field_behavior="error")
    del table
    start = time.perf_counter()
    pq.write_table(pa.json.read_json(path, read_options=read, parse_options=parse), parquet, compression="none")
    print("import_schema", time.perf_counter() - start)

    start = time.perf_counter()
    pq.read_table(parquet, use_threads=False)
    print("read", time.perf_counter() - start)


if __name__ == "__main__":
    main(sys.argv[1])
