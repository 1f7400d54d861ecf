#!/usr/bin/env python3
"""Writes the files of this folder that Spark, parquet-java and the Rust crate make, and the values of all files.

    make_peers.py FOLDER RUST

RUST: the program of tests/interop/parquet_peers/src. Needs pyspark, whose Java libraries include parquet-java, and pyarrow. The bytes
depend on the versions of the writers, so the files are not made again: a new case is a new file.

NAME.values.gz has a JSON object for each row of NAME.parquet. Decimals are texts of their digits, times are numbers of their unit
since 1970 or midnight (INT96: nanoseconds), bytes are "0x" and hexadecimal digits, maps are lists of {"key", "value"}. The values of
Spark, parquet-java and Rust are those that the writers got; those of the other files are what pyarrow reads.
"""
import datetime
import decimal
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark

FOLDER, RUST = map(pathlib.Path, sys.argv[1:])
JAVA = pathlib.Path(__file__).resolve().parents[2] / "interop/parquet_peers/WriteParquet.java"
JARS = pathlib.Path(pyspark.__file__).parent / "jars"
ROWS = 40


def json_of(array):
    """The values of an array of pyarrow."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return json_of(array.storage)
    if pa.types.is_dictionary(kind):
        return json_of(array.dictionary_decode())
    valid = array.is_valid().to_pylist()
    if pa.types.is_struct(kind):
        columns = {kind[i].name: json_of(child) for i, child in enumerate(array.flatten())}
        return [{name: values[i] for name, values in columns.items()} if valid[i] else None for i in range(len(array))]
    if pa.types.is_map(kind):
        array = array.cast(pa.list_(pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])))
        return json_of(array)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        elements, lengths = iter(json_of(array.flatten())), pc.list_value_length(array).to_pylist()
        return [None if length is None else [next(elements) for _ in range(length)] for length in lengths]
    if pa.types.is_decimal(kind):
        return [None if value is None else str(int(value.scaleb(kind.scale, decimal.Context(prec=80)))) for value in array.to_pylist()]
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.view(pa.int32())
    elif pa.types.is_time64(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        array = array.view(pa.int64())
    elif pa.types.is_float16(kind):
        array = array.view(pa.binary(2))
    values = array.to_pylist()
    return [f"0x{value.hex()}" if isinstance(value, bytes) else value for value in values]


def write_values(name, table):
    columns = {field.name: json_of(table.column(i).combine_chunks()) for i, field in enumerate(table.schema)}
    lines = [json.dumps({key: values[i] for key, values in columns.items()}, allow_nan=False) for i in range(len(table))]
    write_lines(name, lines)


def write_lines(name, lines):
    with gzip.GzipFile(FOLDER / f"{name}.values.gz", "wb", mtime=0) as out:
        out.write("".join(f"{line}\n" for line in lines).encode())


def nulls(values, every):
    return [None if every and i % every == every - 1 else value for i, value in enumerate(values)]


def flat(every):
    """Columns of the types of Spark that Arrow has, too."""
    numbers = [(i * 37) % 101 - 50 for i in range(ROWS)]
    moment = datetime.datetime(1969, 12, 31, 23, 59, 58, 123456, datetime.timezone.utc)
    moments = [moment + datetime.timedelta(days=377 * n, microseconds=n) for n in numbers]
    made = {
        "boolean": pa.array(nulls([n % 3 == 0 for n in numbers], every)),
        "byte": pa.array(nulls(numbers, every), pa.int8()),
        "short": pa.array(nulls([n * 600 for n in numbers], every), pa.int16()),
        "int": pa.array(nulls([n * 40_000_000 for n in numbers], every), pa.int32()),
        "long": pa.array(nulls([n * 10**17 for n in numbers], every), pa.int64()),
        "float": pa.array(nulls([n / 8 for n in numbers], every), pa.float32()),
        "double": pa.array(nulls([n / 7 for n in numbers], every), pa.float64()),
        "decimal9": pa.array(nulls([decimal.Decimal(n * 1000001) / 100 for n in numbers], every), pa.decimal128(9, 2)),
        "decimal18": pa.array(nulls([decimal.Decimal(n * 10**13 + 7) / 1000 for n in numbers], every), pa.decimal128(18, 3)),
        "decimal38": pa.array(nulls([decimal.Decimal(n) * 10**30 for n in numbers], every), pa.decimal128(38, 4)),
        "string": pa.array(nulls([f"naïve {n % 7}" for n in numbers], every)),
        "binary": pa.array(nulls([bytes([i, 255 - i]) * (i % 5) for i in range(ROWS)], every)),
        "date": pa.array(nulls([moment.date() + datetime.timedelta(days=100 * n) for n in numbers], every)),
        "timestamp": pa.array(nulls(moments, every), pa.timestamp("us", "UTC")),
        "timestamp_ntz": pa.array(nulls([m.replace(tzinfo=None) for m in moments], every), pa.timestamp("us")),
    }
    return pa.table(made)


POINT = pa.struct([("x", pa.int32()), ("tags", pa.list_(pa.string()))])


def nested(every):
    rows = range(ROWS)
    return pa.table({
        "id": pa.array(rows, pa.int64()),
        "numbers": pa.array(nulls([[None if n == 2 else n for n in range(i % 4)] for i in rows], every), pa.list_(pa.int32())),
        "names": pa.array(nulls([[(f"k{n}", None if n == 1 else n * i) for n in range(i % 3)] for i in rows], every),
                          pa.map_(pa.string(), pa.int64())),
        "point": pa.array(nulls([{"x": i, "tags": [None, "t"] if i % 2 else []} for i in rows], every), POINT),
        "points": pa.array(nulls([[{"x": None if n else i, "tags": None if n == 1 else ["a"] * n} for n in range(i % 4)] for i in rows],
                                 every), pa.list_(POINT)),
        "lists": pa.array(nulls([[None if n == 2 else [n] * n for n in range(i % 4)] for i in rows], every),
                          pa.list_(pa.list_(pa.int32()))),
        "lists_by_name": pa.array(nulls([[(f"k{n}", [i] * n) for n in range(i % 3)] for i in rows], every),
                                  pa.map_(pa.string(), pa.list_(pa.int32()))),
    })


def words(rows):
    """Strings of which only the first ones fit a small dictionary."""
    return pa.table({"word": pa.array([f"word {i % 5}" if i < rows // 2 else f"a longer word, number {i}" for i in range(rows)]),
                     "number": pa.array([None if i % 11 == 0 else i * i for i in range(rows)], pa.int64())})


def spark_type(kind):
    """The type of Spark for a type of pyarrow, in SQL."""
    if pa.types.is_list(kind):
        return f"array<{spark_type(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{spark_type(kind.key_type)},{spark_type(kind.item_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{field.name}:{spark_type(field.type)}' for field in kind)}>"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    names = {pa.bool_(): "boolean", pa.int8(): "byte", pa.int16(): "short", pa.int32(): "int", pa.int64(): "long", pa.float32(): "float",
             pa.float64(): "double", pa.string(): "string", pa.binary(): "binary", pa.date32(): "date",
             pa.timestamp("us", "UTC"): "timestamp", pa.timestamp("us"): "timestamp_ntz"}
    return names[kind]


def spark_value(value, kind):
    if value is None:
        return None
    if pa.types.is_map(kind):
        return {key: spark_value(item, kind.item_type) for key, item in value}
    if pa.types.is_list(kind):
        return [spark_value(element, kind.value_type) for element in value]
    if pa.types.is_struct(kind):
        return tuple(spark_value(value[field.name], field.type) for field in kind)
    return value


def spark_files():
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
             .getOrCreate())

    def write(name, table, codec, version, **options):
        schema = ", ".join(f"{field.name} {spark_type(field.type)}" for field in table.schema)
        rows = [tuple(spark_value(row[field.name], field.type) for field in table.schema) for row in table.to_pylist()]
        settings = {"parquet.writer.version": f"PARQUET_{version}_0", "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
                    **options}
        for key, value in settings.items():
            spark.conf.set(key, value)
        with tempfile.TemporaryDirectory() as folder:
            spark.createDataFrame(rows, schema).coalesce(1).write.option("compression", codec).options(**settings).parquet(f"{folder}/out")
            [file] = pathlib.Path(folder, "out").glob("*.parquet")
            (FOLDER / f"spark_{name}.parquet").write_bytes(file.read_bytes())
        if settings["spark.sql.parquet.outputTimestampType"] == "INT96":
            table = table.set_column(table.column_names.index("timestamp"), "timestamp", table["timestamp"].cast(pa.timestamp("ns", "UTC")))
        write_values(f"spark_{name}", table)
        for key in options:
            spark.conf.unset(key)
    write("int96", flat(0), "snappy", 1, **{"spark.sql.parquet.outputTimestampType": "INT96"})
    write("int96_nulls", flat(5), "gzip", 2, **{"spark.sql.parquet.outputTimestampType": "INT96"})
    write("types_v1", flat(5), "uncompressed", 1)
    write("types_v2", flat(7), "zstd", 2)
    write("plain_v2", flat(3), "lz4_raw", 2, **{"parquet.enable.dictionary": "false"})
    write("legacy", flat(5).select(["int", "decimal9", "decimal18", "decimal38"]), "snappy", 1,
          **{"spark.sql.parquet.writeLegacyFormat": "true"})
    write("legacy_lists", nested(5), "uncompressed", 1, **{"spark.sql.parquet.writeLegacyFormat": "true"})
    write("nested_v1", nested(5), "zstd", 1)
    write("nested_v2", nested(7), "snappy", 2)
    small = {"parquet.dictionary.page.size": "300", "parquet.page.size": "500", "parquet.page.row.count.limit": "60"}
    write("fallback_v1", words(400), "snappy", 1, **small)
    write("fallback_v2", words(400), "uncompressed", 2, **small, **{"parquet.bloom.filter.enabled#word": "true",
                                                                   "parquet.bloom.filter.expected.ndv#word": "200"})
    spark.stop()


def rust_files():
    arrow = flat(5)
    more = {"uint8": pa.uint8(), "uint16": pa.uint16(), "uint32": pa.uint32(), "uint64": pa.uint64(), "float16": pa.float16(),
            "time_ms": pa.time32("ms"), "time_us": pa.time64("us"), "time_ns": pa.time64("ns"), "timestamp_ns": pa.timestamp("ns"),
            "timestamp_ms": pa.timestamp("ms", "Europe/Berlin")}
    for name, kind in more.items():
        values = [3 * i for i in range(ROWS)]
        arrow = arrow.append_column(name, pa.array(nulls([float(v) / 4 if name == "float16" else v for v in values], 6), kind))
    arrow = arrow.append_column("fixed", pa.array(nulls([bytes([i, 255 - i, 7]) for i in range(ROWS)], 4), pa.binary(3)))
    kinds = pa.array(nulls([f"k{i % 3}" for i in range(ROWS)], 4)).dictionary_encode()
    cases = [("types_v1", arrow, 1, "uncompressed", True), ("types_v2", arrow, 2, "brotli", False),
             ("types_v2_dictionary", arrow.append_column("kind", kinds), 2, "zstd", True), ("nested_v1", nested(5), 1, "gzip", True),
             ("nested_v2", nested(7), 2, "lz4_raw", False), ("words_v2", words(400), 2, "snappy", True)]
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/source.parquet"
        for name, table, version, codec, dictionary in cases:
            pq.write_table(table, source)
            target = FOLDER / f"rust_{name}.parquet"
            subprocess.run([RUST, str(version), codec, str(dictionary).lower(), source, target], check=True)
            write_values(f"rust_{name}", table)


def java_files():
    names = subprocess.run(["java", "-cp", f"{JARS}/*", JAVA, FOLDER], check=True, text=True, capture_output=True).stdout.split()
    for name in names:
        lines = (FOLDER / f"{name}.values").read_text().splitlines()
        (FOLDER / f"{name}.values").unlink()
        (FOLDER / f".{name}.parquet.crc").unlink(missing_ok=True)
        write_lines(name, lines)


def main():
    spark_files()
    rust_files()
    java_files()
    for path in sorted(FOLDER.glob("*.parquet")):
        if "encrypted" not in path.name and not (FOLDER / f"{path.stem}.values.gz").exists():
            write_values(path.stem, pq.ParquetFile(path).read())


if __name__ == "__main__":
    main()
