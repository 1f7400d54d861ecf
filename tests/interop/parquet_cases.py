"""The Parquet files of parquet_test.py. pyarrow, DuckDB, Polars and fastparquet write them when the test runs."""
import datetime
import decimal
import itertools
import random
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 300
CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 58, 123456)
PLAIN_AND_SPLIT = ("PLAIN", "DICTIONARY", "BYTE_STREAM_SPLIT")
INTEGER = (*PLAIN_AND_SPLIT, "DELTA_BINARY_PACKED")
BYTES = ("PLAIN", "DICTIONARY", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")
FIXED = (*PLAIN_AND_SPLIT, "DELTA_BYTE_ARRAY")


def integers(bits, signed=True):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return lambda chance, i: chance.choice((low, high, 0, i % 100, chance.randint(low, high)))


def floats(size):
    special = (0.0, -0.0, float("nan"), float("inf"), float("-inf"), 0.5, 65504.0)
    return lambda chance, i: chance.choice(special) if i % 9 == 0 else round(chance.uniform(-100, 100), 2) if size > 2 else i / 4


def decimals(precision, scale):
    most = 10**precision - 1
    context = decimal.Context(prec=80)
    return lambda chance, i: decimal.Decimal(chance.choice((most, -most, i, -i, chance.randint(-most, most)))).scaleb(-scale, context)


def text(chance, i):
    return chance.choice(("", "a", "naïve", f"https://example.org/{i // 10}/{i}", "x" * (i % 40), "\U0001f600"))


def octets(chance, i):
    return bytes(chance.randrange(256) for _ in range(i % 12))


# name: (Arrow type, encodings, function that makes value number i)
TYPES = {
    "bool": (pa.bool_(), ("PLAIN", "RLE"), lambda chance, i: chance.random() < (0.5 if i % 100 < 50 else 0.02)),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), INTEGER, integers(bits)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), INTEGER, integers(bits, False)) for bits in (8, 16, 32, 64)},
    "float16": (pa.float16(), FIXED, floats(2)),
    "float": (pa.float32(), PLAIN_AND_SPLIT, floats(4)),
    "double": (pa.float64(), PLAIN_AND_SPLIT, floats(8)),
    "date": (pa.date32(), INTEGER, lambda chance, i: datetime.date(1970, 1, 1) + datetime.timedelta(days=chance.randint(-9000, 30000))),
    "time_ms": (pa.time32("ms"), INTEGER, lambda chance, i: chance.randrange(86400 * 10**3)),
    "time_us": (pa.time64("us"), INTEGER, lambda chance, i: chance.randrange(86400 * 10**6)),
    "time_ns": (pa.time64("ns"), INTEGER, lambda chance, i: chance.randrange(86400 * 10**9)),
    "timestamp_ms": (pa.timestamp("ms"), INTEGER, lambda chance, i: 10**12 + i * 1000 + chance.randrange(500)),
    "timestamp_us": (pa.timestamp("us", "UTC"), INTEGER, lambda chance, i: 10**15 + i * 7),
    "timestamp_ns": (pa.timestamp("ns"), INTEGER, lambda chance, i: chance.randint(-(2**62), 2**62)),
    "decimal5": (pa.decimal128(5, 2), FIXED, decimals(5, 2)),
    "decimal18": (pa.decimal128(18, 0), FIXED, decimals(18, 0)),
    "decimal38": (pa.decimal128(38, 10), FIXED, decimals(38, 10)),
    "string": (pa.string(), BYTES, text),
    "binary": (pa.binary(), BYTES, octets),
    "fixed": (pa.binary(5), FIXED, lambda chance, i: bytes(chance.randrange(256) if i % 2 else i % 3 for _ in range(5))),
    "uuid": (pa.uuid(), FIXED, lambda chance, i: uuid.UUID(int=chance.getrandbits(128) if i % 2 else i % 7).bytes),
}


def column(name, kind, nulls=0.0, rows=ROWS, few=False):
    """An array of a type of TYPES. `nulls`: the share of nulls. `few`: few different values."""
    chance = random.Random(f"{name} {kind} {nulls} {rows}")
    arrow_type, _, make = TYPES[kind]
    pool = [make(chance, i) for i in range(7)] if few else None
    values = [None if chance.random() < nulls else chance.choice(pool) if few else make(chance, i) for i in range(rows)]
    return pa.array(values, arrow_type)


def table(kind, rows=ROWS):
    """Required and optional columns of a type."""
    runs = pa.concat_arrays([column("r", kind, 0, rows // 2), column("n", kind, 1.0, rows - rows // 2)])
    columns = {
        "required": column("required", kind, rows=rows), "optional": column("optional", kind, 0.2, rows),
        "few": column("few", kind, 0.1, rows, few=True), "without_nulls": column("without_nulls", kind, rows=rows),
        "nulls": column("nulls", kind, 1.0, rows), "runs": runs}
    return pa.table(columns, pa.schema([pa.field(name, array.type, nullable=name != "required") for name, array in columns.items()]))


def random_value(chance, arrow_type, depth=0):
    """A nested value for a nested type."""
    if pa.types.is_map(arrow_type):
        keys = chance.sample(range(20), chance.choice((0, 0, 1, 2, 5)))
        return [(f"k{key}", maybe(chance, arrow_type.item_field, depth)) for key in keys]
    if pa.types.is_list(arrow_type):
        return [maybe(chance, arrow_type.value_field, depth + 1) for _ in range(chance.choice((0, 0, 1, 2, 3, 7)))]
    if pa.types.is_struct(arrow_type):
        return {field.name: maybe(chance, field, depth) for field in arrow_type}
    if pa.types.is_string(arrow_type):
        return text(chance, chance.randrange(30))
    return chance.randrange(100)


def maybe(chance, field, depth=0):
    return None if field.nullable and chance.random() < 0.15 else random_value(chance, field.type, depth)


INT, TEXT = pa.int32(), pa.string()
POINT = pa.struct([pa.field("x", INT, False), ("y", pa.int64())])
NESTED = {
    "list": pa.list_(INT),
    "list_of_required": pa.list_(pa.field("element", TEXT, False)),
    "list_of_lists": pa.list_(pa.list_(TEXT)),
    "deep_lists": pa.list_(pa.list_(pa.list_(pa.list_(INT)))),
    "struct": POINT,
    "struct_of_structs": pa.struct([("a", POINT), ("b", pa.struct([("c", pa.struct([("d", TEXT)]))]))]),
    "list_of_structs": pa.list_(POINT),
    "struct_of_lists": pa.struct([("a", pa.list_(INT)), ("b", pa.list_(TEXT))]),
    "map": pa.map_(TEXT, INT),
    "map_of_lists": pa.map_(TEXT, pa.list_(INT)),
    "list_of_maps": pa.list_(pa.map_(TEXT, POINT)),
    "orders": pa.list_(pa.struct([("id", pa.int64()), ("lines", pa.list_(pa.struct([("sku", TEXT), ("counts", pa.list_(INT))])))])),
}


def nested_table(kind, nullable, rows=ROWS):
    chance = random.Random(kind)
    field = pa.field("nested", NESTED[kind], nullable)
    values = [maybe(chance, field) for _ in range(rows)]
    schema = pa.schema([pa.field("id", pa.int64(), False), field, ("name", TEXT)])
    return pa.table([pa.array(range(rows)), pa.array(values, field.type), pa.array([f"n{i % 5}" for i in range(rows)])], schema)


def encoded(written, encoding):
    """The options of pyarrow for an encoding of all columns."""
    if encoding == "DICTIONARY":
        return {"use_dictionary": True}
    return {"use_dictionary": False, "column_encoding": {name: encoding for name in written.column_names}}


def pyarrow_cases():
    codecs = itertools.cycle(CODECS)
    for kind, (_, encodings, _) in TYPES.items():
        for encoding, version in itertools.product(encodings, ("1.0", "2.0")):
            if kind == "bool" and (encoding, version) == ("RLE", "1.0"):
                continue  # pyarrow writes PLAIN then
            made = table(kind)
            yield f"{kind}_{encoding}_v{version[0]}", made, {
                "data_page_version": version, "compression": next(codecs), **encoded(made, encoding)}
    for kind, version, nullable in itertools.product(NESTED, ("1.0", "2.0"), (True, False)):
        yield f"nested_{kind}_v{version[0]}_{nullable}", nested_table(kind, nullable), {
            "data_page_version": version, "compression": next(codecs), "data_page_size": 400, "write_batch_size": 16}
    mixed = pa.table({kind: column("mixed", kind, 0.1, 1000) for kind in ("int32", "int64", "double", "string", "bool", "timestamp_us")})
    for codec, version in itertools.product(CODECS, ("1.0", "2.0")):
        for name, options in (
                ("groups", {"row_group_size": 90}), ("pages", {"data_page_size": 300, "write_batch_size": 10}),
                ("overflow", {"dictionary_pagesize_limit": 500, "data_page_size": 200, "write_batch_size": 20})):
            yield f"{name}_{codec}_v{version[0]}", mixed, {"data_page_version": version, "compression": codec, **options}
    for name, options in {
            "page_index": {"write_page_index": True, "data_page_size": 300, "write_batch_size": 10},
            "checksums": {"write_page_checksum": True},
            "no_statistics": {"write_statistics": False}, "arrow_schema": {"store_schema": True}, "format_1": {"version": "1.0"},
            "format_2_4": {"version": "2.4"}, "lists_of_items": {"use_compliant_nested_type": False},
            "bloom": {"bloom_filter_options": {"int64": {"ndv": 1000}, "string": {"ndv": 1000}}},
            "rows_per_page": {"max_rows_per_page": 7, "data_page_version": "2.0"},
            "decimals_as_integers": {"store_decimal_as_integer": True}}.items():
        yield f"options_{name}", mixed, options
    yield "int96", table("timestamp_us"), {"use_deprecated_int96_timestamps": True}
    short = pa.table({"a": column("a", "decimal5", 0.1), "b": column("b", "decimal18", 0.1)})
    yield "decimal_integers", short, {"store_decimal_as_integer": True}
    for rows in (0, 1, 2, 7, 8, 9, 1025):
        yield f"rows_{rows}", pa.table({kind: column("rows", kind, 0.1, rows) for kind in TYPES}), {}
        yield f"nested_rows_{rows}", nested_table("orders", True, rows), {"data_page_version": "2.0"}
    wide = pa.table({f"column {i}": column(f"w{i}", "int32", 0.1, 20) for i in range(300)})
    yield "wide", wide, {}
    yield "names", pa.table([pa.array([1, None], INT)] * 4, ["_", "a.b", "Ünï\"(", " x "]), {}
    long_values = pa.table({"s": ["y" * 100_000, None, "z" * 70_000, ""] * 3, "b": [b"\0" * 50_000, b"", None, b"\xff"] * 3})
    for encoding in BYTES:
        yield f"long_{encoding}", long_values, encoded(long_values, encoding)


def write_pyarrow(made, options):
    options = {"store_schema": False, "compression": "snappy", **options}
    return lambda path: pq.write_table(made, path, **options)


def duckdb_cases():
    import duckdb

    def write(made, settings):
        def to(path):
            connection = duckdb.connect()
            connection.register("made", made)
            connection.execute(f"COPY (SELECT * FROM made) TO '{path}' (FORMAT parquet, {settings})")
        return to
    codecs = itertools.cycle(("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"))
    for kind, version in itertools.product(TYPES, ("V1", "V2")):
        yield f"{kind}_{version}", write(table(kind, 1500), f"PARQUET_VERSION {version}, COMPRESSION {next(codecs)}")
    for kind in NESTED:
        yield f"nested_{kind}", write(nested_table(kind, True), f"PARQUET_VERSION V{1 + len(kind) % 2}, COMPRESSION {next(codecs)}")
    yield "groups", write(table("string", 5000), "ROW_GROUP_SIZE 2048, DICTIONARY_SIZE_LIMIT 10")
    yield "empty", write(table("int32", 0), "COMPRESSION snappy")


def polars_cases():
    import polars

    def write(made, **options):
        return lambda path: polars.from_arrow(made).write_parquet(path, **options)
    codecs = itertools.cycle(("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4"))
    for kind in TYPES:
        if kind not in ("fixed", "uuid"):
            yield kind, write(table(kind), compression=next(codecs), data_page_size=600)
    for kind in NESTED:
        if "map" not in kind:
            yield f"nested_{kind}", write(nested_table(kind, True), compression=next(codecs))
    yield "groups", write(table("string", 1000), row_group_size=100)
    yield "no_statistics", write(table("double"), statistics=False)
    yield "empty", write(table("string", 0))
    yield "categories", lambda path: polars.DataFrame({"c": ["a", "b", None, "a"] * 20}, {"c": polars.Categorical}).write_parquet(path)


def fastparquet_cases():
    import fastparquet
    import pandas

    def write(frame, **options):
        return lambda path: fastparquet.write(path, frame, **options)
    rows = range(ROWS)
    made = pandas.DataFrame({
        "int": rows, "small": pandas.array([i % 100 for i in rows], "int8"), "unsigned": pandas.array(rows, "uint32"),
        "double": [i / 3 for i in rows], "float": pandas.array([i / 4 for i in rows], "float32"),
        "maybe": pandas.array([None if i % 5 == 0 else i for i in rows], "Int64"), "flag": [i % 3 == 0 for i in rows],
        "maybe_flag": pandas.array([None if i % 7 == 0 else i % 2 == 0 for i in rows], "boolean"),
        "text": [None if i % 4 == 0 else f"t{i % 9}" for i in rows], "kind": pandas.Categorical([f"k{i % 6}" for i in rows]),
        "at": pandas.Timestamp("2024-02-29") + pandas.to_timedelta(rows, unit="h"), "bytes": [b"b" * (i % 5) for i in rows],
        "took": pandas.to_timedelta(rows, unit="s")})
    encodings = {"text": "utf8", "bytes": "bytes"}
    options = {"object_encoding": {name: encodings.get(name) for name in made}}
    for codec, version in itertools.product((None, "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW", "BROTLI"), ("1.0", "2.0")):
        yield f"{codec}_{version}", write(made.drop(columns="took"), compression=codec, **options)
    yield "groups", write(made, row_group_offsets=[0, 100, 101, 250], **options)
    yield "int96", write(made[["int", "at"]], times="int96")
    yield "required", write(made[["int", "double", "bytes"]], has_nulls=False,
                            object_encoding={"int": None, "double": None, "bytes": "bytes"})
    yield "fixed", write(made[["bytes"]].assign(bytes=[f"{i:04}".encode() for i in rows]), object_encoding="bytes", fixed_text={"bytes": 4})
    yield "no_statistics", write(made[["int", "double"]], stats=False)


def all_cases():
    """(name, function that writes the file at a path) of each file."""
    for name, made, options in pyarrow_cases():
        yield f"pyarrow_{name}", write_pyarrow(made, options)
    for writer, cases in (("duckdb", duckdb_cases), ("polars", polars_cases), ("fastparquet", fastparquet_cases)):
        try:
            __import__(writer)
        except ImportError:
            continue
        for name, write in cases():
            yield f"{writer}_{name}", write
