#!/usr/bin/env python3
"""Writes tables from the Arrow streams of pyarrow, nanoarrow and Polars, and compares what reader.py reads with the Arrow values.

    arrow_import_test.py LIBRARY

LIBRARY: the shared library of arrow_import_library.cc. Without pyarrow the exit code is 77, which ctest shows as skipped. Tests of
nanoarrow and Polars run if they are installed. reader.py needs brotli and zstandard in the same Python.
"""
import ctypes
import datetime
import decimal
import os
import random
import sys
import tempfile
import uuid

try:
    import pyarrow as pa
except ImportError:
    print("SKIPPED: pyarrow is not installed (pip install pyarrow nanoarrow polars brotli zstandard)")
    sys.exit(77)

from arrow_streams import Failed, import_stream
from reader import Table, present, pretty

failures = 0
values_seen = 0


def plain(scalar):
    """The value of a scalar in the form of reader.py's present()."""
    if not scalar.is_valid:
        return None
    kind = scalar.type
    if isinstance(kind, pa.BaseExtensionType):
        return str(uuid.UUID(bytes=scalar.value.as_py()))
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain(scalar.value if hasattr(scalar, "value") else pa.scalar(scalar.as_py(), kind.value_type))
    if pa.types.is_map(kind):
        return [[plain(pair[0]), plain(pair[1])] for pair in scalar.values]
    if pa.types.is_nested(kind) and not pa.types.is_struct(kind):
        return [plain(item) for item in scalar.values]
    if pa.types.is_struct(kind):
        return {kind.field(i).name: plain(scalar[i]) for i in range(kind.num_fields)}
    if pa.types.is_date64(kind):
        return scalar.value // 86_400_000
    if pa.types.is_temporal(kind):
        return scalar.value
    value = scalar.as_py()
    if isinstance(value, decimal.Decimal):
        return int(value.scaleb(kind.scale, decimal.Context(prec=80)))
    return value.hex() if isinstance(value, bytes) else value


def rows_of(path):
    """The rows of a table, as reader.py shows them."""
    table = Table(path)
    return [pretty(table.root, row, lambda leaf, value: present(leaf.shape, value, leaf.column.extensions)) for row in table.rows()]


def check(library, name, source, arrays=None):
    """Writes a table of `source` and compares it with `arrays`, a pyarrow.Table."""
    global failures, values_seen
    arrays = source if arrays is None else arrays
    try:
        with tempfile.TemporaryDirectory(prefix="arrow-import-") as directory:
            path = os.path.join(directory, "table")
            import_stream(library, source, path)
            read = rows_of(path)
        columns = {column: [plain(value) for chunk in arrays[column].chunks for value in chunk] for column in arrays.column_names}
        expected = [dict(zip(columns, row)) for row in zip(*columns.values())]
        if len(read) != len(expected):
            raise AssertionError(f"{len(read)} rows instead of {len(expected)}")
        for i, (found, wanted) in enumerate(zip(read, expected)):
            if found != wanted:
                raise AssertionError(f"row {i}: {str(found)[:300]} instead of {str(wanted)[:300]}")
        values_seen += len(expected) * len(columns)
    except Exception as error:
        failures += 1
        print(f"FAILED {name}: {type(error).__name__}: {error}")


def refuses(library, name, table, *texts):
    global failures
    with tempfile.TemporaryDirectory(prefix="arrow-import-") as directory:
        try:
            import_stream(library, table, os.path.join(directory, "table"))
            message = "no error"
        except Failed as error:
            message = str(error)
    if not all(text in message for text in texts):
        failures += 1
        print(f"FAILED {name}: {message}")


def some_nulls(values):
    return [None if random.random() < 0.3 else value for value in values]


def flat_columns(count):
    """Arrays of each type, with nulls."""
    integers = lambda bits, signed: [random.getrandbits(bits) - (1 << bits - 1 if signed else 0) for _ in range(count)]
    words = ["", "a", "Ny-Ålesund", "a longer word of 29 characters", "x" * 100]
    texts = [random.choice(words) for _ in range(count)]
    columns = {"bool": pa.array(some_nulls([random.random() < 0.5 for _ in range(count)]), pa.bool_())}
    for bits in (8, 16, 32, 64):
        columns[f"int{bits}"] = pa.array(some_nulls(integers(bits, True)), f"int{bits}")
        columns[f"uint{bits}"] = pa.array(some_nulls(integers(bits, False)), f"uint{bits}")
    columns["float"] = pa.array(some_nulls([random.randrange(-1000, 1000) / 8 for _ in range(count)]), pa.float32())
    columns["double"] = pa.array(some_nulls([random.gauss(0, 1) for _ in range(count)]), pa.float64())
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        columns[str(kind)] = pa.array(some_nulls(texts), kind)
        columns["bytes " + str(kind)] = pa.array(some_nulls([text.encode() for text in texts]),
                                                 {"string": pa.binary(), "large_string": pa.large_binary()}.get(str(kind), pa.binary_view()))
    columns["fixed"] = pa.array(some_nulls([random.randbytes(5) for _ in range(count)]), pa.binary(5))
    columns["uuid"] = pa.ExtensionArray.from_storage(pa.uuid(), pa.array(some_nulls([random.randbytes(16) for _ in range(count)]), pa.binary(16)))
    numbers = [decimal.Decimal(random.randrange(-10**8, 10**8)).scaleb(-2) for _ in range(count)]
    for kind in (pa.decimal32(9, 2), pa.decimal64(15, 2), pa.decimal128(9, 2), pa.decimal128(38, 2), pa.decimal256(20, 2)):
        columns[str(kind)] = pa.array(some_nulls(numbers), kind)
    days = [datetime.date(1900, 1, 1) + datetime.timedelta(random.randrange(80_000)) for _ in range(count)]
    columns["date32"], columns["date64"] = pa.array(some_nulls(days), pa.date32()), pa.array(some_nulls(days), pa.date64())
    of_day = [random.randrange(86_400) for _ in range(count)]
    for unit in ("s", "ms", "us", "ns"):
        storage = pa.array(some_nulls(of_day), pa.int32() if unit in ("s", "ms") else pa.int64())
        columns["time " + unit] = storage.cast(pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit))
        for zone in (None, "UTC", "Asia/Tokyo"):
            columns[f"timestamp {unit} {zone}"] = pa.array(some_nulls(integers(60, True)), pa.int64()).cast(pa.timestamp(unit, zone))
    return columns


def encoded(columns):
    """The same columns, dictionary-encoded and run-end-encoded where pyarrow can."""
    out = {}
    for name, array in columns.items():
        for what, encode in (("dictionary", lambda a: a.dictionary_encode()), ("runs", lambda a: pa.compute.run_end_encode(a))):
            try:
                out[f"{name} {what}"] = encode(array)
            except (pa.ArrowNotImplementedError, AttributeError):
                pass
    return out


def nested_columns(count):
    words = [random.choice(["a", "bb", "a longer word of 29 characters"]) for _ in range(count)]
    small = [[random.randrange(100) for _ in range(random.randrange(4))] for _ in range(count)]
    item = pa.array(small, pa.list_(pa.int32()))
    columns = {"list": pa.array(some_nulls(small), pa.list_(pa.int32())),
               "large": pa.array(some_nulls(small), pa.large_list(pa.int64())),
               "view": pa.array(some_nulls(small), pa.list_view(pa.int8())),
               "large view": pa.array(some_nulls(small), pa.large_list_view(pa.int8())),
               "fixed": pa.array(some_nulls([[None, word] for word in words]), pa.list_(pa.string(), 2)),
               "deep": pa.array(some_nulls([[None, [word, None], []] for word in words]), pa.list_(pa.list_(pa.string()))),
               "struct": pa.array(some_nulls([{"x": i, "y": some_nulls([word])} for i, word in enumerate(words)]),
                                  pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])),
               "map": pa.array(some_nulls([[(word, i), ("z", None)] for i, word in enumerate(words)]), pa.map_(pa.string(), pa.int32())),
               "structs": pa.array(some_nulls([[{"a": word, "b": {"c": i}}, None] for i, word in enumerate(words)]),
                                   pa.list_(pa.struct([("a", pa.string()), ("b", pa.struct([("c", pa.int64())]))])))}
    offsets = item.offsets
    columns["dictionary in list"] = pa.ListArray.from_arrays(offsets, pa.array([str(i) for i in item.flatten().to_pylist()], pa.string()).dictionary_encode())
    columns["runs in list"] = pa.ListArray.from_arrays(offsets, pa.compute.run_end_encode(item.flatten()))
    return columns


def test_pyarrow(library):
    import pyarrow.compute  # noqa: F401 (used as pa.compute)
    for count in (0, 1, 257):
        flat = flat_columns(count)
        for columns in (flat, encoded(flat), nested_columns(count)):
            for name, array in columns.items():
                table = pa.table({"c": array})
                check(library, f"{name}, {count} rows", table)
                if count > 1:
                    check(library, f"{name}, sliced", pa.concat_tables([table.slice(13, 100), table.slice(3, 1), table.slice(0, 0), table.slice(200)]))
    whole = pa.table(flat_columns(100) | nested_columns(100))
    check(library, "all types", whole)
    check(library, "all types, sliced", whole.slice(33, 50))
    required = pa.table({"c": pa.array([1, 2, 3])}, schema=pa.schema([pa.field("c", pa.int64(), nullable=False)]))
    check(library, "required", required)
    # Structs inside of which slices and nulls meet.
    inner = pa.StructArray.from_arrays([pa.array(some_nulls(range(100)))], ["x"], mask=pa.array([i % 3 == 0 for i in range(100)]))
    check(library, "struct with a mask, sliced", pa.table({"c": inner.slice(7, 80)}))
    large = pa.table({"c": pa.array(range(300_000)), "d": pa.array(["word %d" % (i % 1000) for i in range(300_000)]).dictionary_encode()})
    check(library, "a large batch", large)


def test_refused(library):
    one = lambda array: pa.table({"good": pa.array([1] * len(array)), "bad": array})
    for array in (pa.array([1.5], pa.float16()), pa.array([1], pa.duration("s")), pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
                  pa.array([None], pa.null()), pa.array([decimal.Decimal(1)], pa.decimal256(60, 2)),
                  pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])])):
        refuses(library, str(array.type), one(array), "UNIMPLEMENTED", "bad")
    refuses(library, "date64", one(pa.array([5], pa.int64()).cast(pa.timestamp("ms")).view(pa.date64())), "bad", "whole days")

    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            def batches():
                yield pa.record_batch({"c": [1]})
                raise ValueError("the source is broken")
            return pa.RecordBatchReader.from_batches(pa.schema([("c", pa.int64())]), batches()).__arrow_c_stream__()
    refuses(library, "a stream that fails", Broken(), "the source is broken")


def polars_frame(pl):
    return pl.DataFrame({"i": [1, None, 3], "s": ["a", None, "a longer word of 29 characters"], "c": pl.Series(["x", "y", None], dtype=pl.Categorical),
                         "e": pl.Series(["x", "y", None], dtype=pl.Enum(["x", "y"])), "l": [[1, None], [], None], "b": [b"1", None, b"3"],
                         "a": pl.Series([[1, 2], None, [3, 4]], dtype=pl.Array(pl.Int16, 2)), "t": pl.Series([1, None, 3], dtype=pl.Datetime("ns", "UTC")),
                         "d": pl.Series([decimal.Decimal("1.25"), None, decimal.Decimal("-3")], dtype=pl.Decimal(20, 2)),
                         "n": [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, {"x": 3, "y": None}], "f": [True, None, False],
                         "day": [datetime.date(2020, 1, 1), None, datetime.date(1960, 1, 1)], "time": [datetime.time(1, 2, 3), None, datetime.time(0)]})


def test_polars(library):
    try:
        import polars as pl
    except ImportError:
        print("Polars is not installed: not tested")
        return
    frame = polars_frame(pl)
    for name, data in (("whole", frame), ("sliced", frame.slice(1, 2)), ("empty", frame.slice(0, 0)), ("many", pl.concat([frame] * 100, rechunk=False))):
        check(library, f"Polars, {name}", data, pa.table(data))
    refuses(library, "Polars, duration", pl.DataFrame({"bad": pl.Series([1], dtype=pl.Duration)}), "UNIMPLEMENTED", "bad")


def test_nanoarrow(library):
    try:
        import nanoarrow as na
    except ImportError:
        print("nanoarrow is not installed: not tested")
        return
    columns = {"i": ([1, None, 3], na.int32()), "s": (["a", None, "ccc"], na.string()), "b": ([True, None, False], na.bool_())}
    for name, (values, kind) in columns.items():
        array = na.c_array_from_buffers(na.struct({name: kind}), len(values), [None], children=[na.c_array(values, kind)])
        stream = na.c_array_stream(na.Array(array))
        check(library, f"nanoarrow, {name}", stream, pa.table({name: pa.array(values, pa.array(na.Array(values, kind)).type)}))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    random.seed(1)
    library = ctypes.CDLL(sys.argv[1])
    for test in (test_pyarrow, test_refused, test_polars, test_nanoarrow):
        test(library)
    print(f"{values_seen} values compared, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
