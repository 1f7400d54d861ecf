#!/usr/bin/env python3
"""Writes the files of this folder that pyarrow, DuckDB, Polars and fastparquet make.

    make.py FOLDER

The bytes depend on the versions of these packages, so the files are not made again: a new case is a new file.
"""
import datetime
import decimal
import pathlib
import sys
import tempfile
import uuid

import duckdb
import fastparquet
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.parquet import encryption

FOLDER = pathlib.Path(sys.argv[1])
ROWS = 24
DAY = datetime.date(2024, 2, 29)


def nulls(values, every):
    return [None if every and i % every == every - 1 else value for i, value in enumerate(values)]


def columns(every=0):
    """A column of each type; each value number `every` is null."""
    numbers = [(i * 37) % 101 - 50 for i in range(ROWS)]
    moment = datetime.datetime(2024, 2, 29, 23, 59, 58, 123456)
    times = [moment + datetime.timedelta(hours=7 * i) for i in range(ROWS)]
    made = {
        "bool": pa.array(nulls([i % 3 == 0 for i in range(ROWS)], every)),
        **{f"int{bits}": pa.array(nulls(numbers, every), getattr(pa, f"int{bits}")()) for bits in (8, 16, 32, 64)},
        **{f"uint{bits}": pa.array(nulls([n + 50 for n in numbers], every), getattr(pa, f"uint{bits}")()) for bits in (8, 16, 32, 64)},
        "float16": pa.array(nulls([n / 4 for n in numbers], every), pa.float16()),
        "float": pa.array(nulls([n / 8 for n in numbers], every), pa.float32()),
        "double": pa.array(nulls([n / 7 for n in numbers], every)),
        "date": pa.array(nulls([DAY + datetime.timedelta(days=n) for n in numbers], every)),
        "time_ms": pa.array(nulls([n + 50 for n in numbers], every), pa.time32("ms")),
        "time_us": pa.array(nulls([n + 50 for n in numbers], every), pa.time64("us")),
        "time_ns": pa.array(nulls([n + 50 for n in numbers], every), pa.time64("ns")),
        "timestamp_ms": pa.array(nulls(times, every), pa.timestamp("us")).cast(pa.timestamp("ms"), safe=False),
        "timestamp_us": pa.array(nulls(times, every), pa.timestamp("us", "UTC")),
        "timestamp_ns": pa.array(nulls(times, every), pa.timestamp("ns")),
        "decimal9": pa.array(nulls([decimal.Decimal(n) / 100 for n in numbers], every), pa.decimal128(9, 2)),
        "decimal18": pa.array(nulls([decimal.Decimal(n) / 1000 for n in numbers], every), pa.decimal128(18, 3)),
        "decimal38": pa.array(nulls([decimal.Decimal(n) * 10**20 for n in numbers], every), pa.decimal128(38, 4)),
        "string": pa.array(nulls([f"name {n % 7}" for n in numbers], every)),
        "binary": pa.array(nulls([bytes([i]) * (i % 5) for i in range(ROWS)], every)),
        "fixed": pa.array(nulls([bytes([i, 255 - i, 7]) for i in range(ROWS)], every), pa.binary(3)),
        "uuid": pa.array(nulls([uuid.UUID(int=i << 100 | 5).bytes for i in range(ROWS)], every), pa.uuid()),
    }
    return pa.table(made)


def nested(every):
    rows = range(ROWS)
    element = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])
    return pa.table({
        "id": pa.array(rows, pa.int64()),
        "numbers": pa.array(nulls([[n for n in range(i % 4)] for i in rows], every), pa.list_(pa.int32())),
        "names": pa.array(nulls([{f"k{n}": n * i for n in range(i % 3)} for i in rows], every), pa.map_(pa.string(), pa.int64())),
        "point": pa.array(nulls([{"x": i, "tags": [None, "t"] if i % 2 else []} for i in rows], every), element),
        "groups": pa.array(nulls([[{"x": None if n else i, "tags": None if n == 1 else ["a"] * n} for n in range(i % 4)] for i in rows],
                                 every), pa.list_(element)),
        "lists": pa.array(nulls([[None if n == 2 else [n] * n for n in range(i % 4)] for i in rows], every),
                          pa.list_(pa.list_(pa.int32()))),
    })


def write(table, name, **options):
    pq.write_table(table, FOLDER / f"pyarrow_{name}.parquet", **{"store_schema": False, "compression": "none", **options})


class Kms(encryption.KmsClient):
    """Keeps keys in the file without protection: only to have encrypted files."""

    def wrap_key(self, key_bytes, master_key_identifier):
        return key_bytes.hex()

    def unwrap_key(self, wrapped_key, master_key_identifier):
        return bytes.fromhex(wrapped_key)


def pyarrow_files():
    write(columns(), "types_v1", data_page_version="1.0", version="2.6")
    write(columns(5), "types_v2", data_page_version="2.0", version="2.6", compression="snappy", write_page_checksum=True)
    write(columns(5).select(["int32", "string"]), "old_types", version="1.0", use_deprecated_int96_timestamps=True)
    write(columns().select(["timestamp_ns", "date"]), "int96", use_deprecated_int96_timestamps=True)
    write(columns(7).select(["int64", "double", "string"]), "arrow_schema", store_schema=True, compression="zstd")
    write(nested(0), "nested_v1", data_page_version="1.0")
    write(nested(5), "nested_v2", data_page_version="2.0", compression="zstd")
    write(columns(4).select(["int32", "string", "bool"]), "page_index", write_page_index=True, row_group_size=10, max_rows_per_page=4,
          sorting_columns=[pq.SortingColumn(0, descending=True, nulls_first=True)])
    write(columns(4).select(["int64", "string"]), "bloom", bloom_filter_options={"int64": {"ndv": 30}, "string": {"ndv": 30}})
    write(columns(3).slice(0, 0), "empty")
    write(columns(3).select(["int32", "double"]), "no_statistics", write_statistics=False, use_dictionary=False)
    delta = {"int32": "DELTA_BINARY_PACKED", "int64": "DELTA_BINARY_PACKED", "string": "DELTA_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY",
             "binary": "DELTA_LENGTH_BYTE_ARRAY", "double": "BYTE_STREAM_SPLIT", "bool": "RLE"}
    write(columns(6).select(list(delta)), "encodings", use_dictionary=False, column_encoding=delta, data_page_version="2.0")
    factory = encryption.CryptoFactory(lambda configuration: Kms())
    for name, plaintext in (("encrypted_columns", True), ("encrypted_footer", False)):
        properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), encryption.EncryptionConfiguration(
            footer_key="f", column_keys={"c": ["string"]}, plaintext_footer=plaintext))
        write(columns().select(["int32", "string"]), name, encryption_properties=properties)


def duckdb_files():
    with tempfile.TemporaryDirectory() as folder:
        for name, table in (("types", columns(5)), ("nested", nested(5))):
            source = f"{folder}/source.parquet"
            pq.write_table(table, source)
            for version, codec in (("V1", "snappy"), ("V2", "uncompressed")):
                duckdb.sql(f"COPY (SELECT * FROM '{source}') TO '{FOLDER}/duckdb_{name}_{version.lower()}.parquet' "
                           f"(FORMAT parquet, PARQUET_VERSION {version}, COMPRESSION {codec})")


def polars_files():
    for name, table in (("types", columns(5).drop_columns(["uuid", "fixed", "decimal38"])), ("nested", nested(5).drop_columns("names"))):
        polars.from_arrow(table).write_parquet(FOLDER / f"polars_{name}.parquet", compression="uncompressed", row_group_size=10)


def fastparquet_files():
    frame = pandas.DataFrame({
        "int": range(ROWS), "double": [i / 3 for i in range(ROWS)], "maybe": pandas.array(nulls(range(ROWS), 5), "Int32"),
        "text": nulls([f"t{i % 3}" for i in range(ROWS)], 4), "flag": [i % 2 == 0 for i in range(ROWS)],
        "kind": pandas.Categorical(nulls([f"k{i % 4}" for i in range(ROWS)], 6)),
        "at": pandas.Timestamp("2024-02-29") + pandas.to_timedelta(range(ROWS), unit="h"), "json": [{"a": i} for i in range(ROWS)]})
    encodings = {"text": "utf8", "json": "json"} | {name: None for name in frame if name not in ("text", "json")}
    fastparquet.write(str(FOLDER / "fastparquet_types.parquet"), frame, object_encoding=encodings, row_group_offsets=[0, 10])
    fastparquet.write(str(FOLDER / "fastparquet_int96.parquet"), frame[["int", "at"]], times="int96", compression="SNAPPY")


pyarrow_files()
duckdb_files()
polars_files()
fastparquet_files()
