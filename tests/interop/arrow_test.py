#!/usr/bin/env python3
"""Exports golden files and tables as Arrow streams, and compares what pyarrow reads with what reader.py reads.

    arrow_test.py LIBRARY

LIBRARY: the shared library of arrow_library.cc. Also reads some files with nanoarrow and Polars if they are installed. Without
pyarrow the exit code is 77, which ctest shows as skipped; third_party/python-packages.txt lists what to install.
"""
import os
import sys

try:
    import pyarrow as pa
except ImportError:
    print("SKIPPED: pyarrow is not installed (pip install -r third_party/python-packages.txt)")
    sys.exit(77)

import reader
from arrow_streams import Failed, Library
from reader import CFile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
OPTIONS = ({}, {"views": True}, {"dictionaries": False, "batch_rows": 100}, {"batch_rows": 10**9})
failures = 0


def expect(actual, expected, what):
    if actual != expected:
        raise AssertionError(f"{what}: {str(actual)[:200]} should be {str(expected)[:200]}")


def run(name, test, *arguments):
    """Runs a test. Returns the number of values that it compared."""
    global failures
    try:
        return test(*arguments)
    except Exception as error:
        failures += 1
        print(f"FAILED {name}: {type(error).__name__}: {error}")
        return 0


def raw(array, shape):
    """The values of an array in reader.py's form."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_decimal(kind):
        return [value if value is None else int.from_bytes(value, "little", signed=True) for value in array.view(pa.binary(16)).to_pylist()]
    if shape.kind == "bool":
        return [value if value is None else int(value) for value in array.to_pylist()]
    if shape.kind == "bytes":
        return array.cast(pa.binary()).to_pylist()
    if shape.name == "INT96":
        return array.view(pa.int64()).to_pylist()
    if shape.kind == "fixed":
        return array.to_pylist()
    names = {("float", 4): pa.uint32(), ("float", 8): pa.uint64()}
    number = names.get((shape.kind, shape.size)) or getattr(pa, f"{'' if shape.signed else 'u'}int{8 * shape.size}")()
    return array.view(number).to_pylist()


def nanoseconds(value):
    """The time of an int96, or None if Arrow's timestamps have no such time."""
    time = (int.from_bytes(value[8:], "little") - 2440588) * 86400 * 10**9 + int.from_bytes(value[:8], "little", signed=True)
    return time if -(2**63) <= time < 2**63 else None


def lists(entries, depth, base, optional, values):
    """The nested lists of entries (repetition, definition, value); see cfile/arrow.h. Appends the values to `values`."""
    present = base + optional[depth]
    if entries[0][1] < present:
        return None
    if depth == len(optional) - 1:
        values.append(entries[0][2])
        return "value"
    if entries[0][1] == present:
        return []
    elements = []
    for entry in entries:
        if entry[0] <= depth + 1 and not (elements and entry[0] > depth + 1):
            elements.append([])
        elements[-1].append(entry)
    return [lists(element, depth + 1, present + 1, optional, values) for element in elements]


def shapes_of(value, depth):
    """The same form for a value of to_pylist."""
    if value is None:
        return None
    return "value" if depth == 0 else [shapes_of(element, depth - 1) for element in value]


def flat(array):
    """The values of nested lists that are not null."""
    while pa.types.is_list(array.type):
        array = array.flatten()
    return array.drop_null()


def chunks_of(stream):
    """The chunks of the only column."""
    batches = list(pa.RecordBatchReader.from_stream(stream))
    for batch in batches:
        batch.validate(full=True)
        expect(batch.num_rows > 0, True, "rows of a batch")
    return [batch.column(0) for batch in batches]


def compare_file(library, path):
    with open(path, "rb") as data:
        file = CFile(data.read(), path)
    shape, column, rows = file.column.shape, file.column, list(file.rows())
    nested = rows and isinstance(next((row for row in rows if row is not None), None), list)
    if shape.name == "INT96":
        times = [value if value is None else nanoseconds(value) for value in (rows if not nested else [e[2] for row in rows for e in row])]
        if any(time is None and value is not None for time, value in zip(times, rows if not nested else [e[2] for row in rows for e in row])):
            try:
                chunks_of(library.file(path))
            except pa.ArrowException as error:
                expect("an int96 is a time" in str(error), True, str(error))
                return 0
            raise AssertionError("a time out of range has no error")
    if shape.name == "INT128" and any(isinstance(row, int) and abs(row) >= 10**38 for row in rows):
        try:
            chunks_of(library.file(path))
        except pa.ArrowException as error:
            expect("38 digits" in str(error), True, str(error))
            return 0
        raise AssertionError("a number of 39 digits has no error")
    for options in OPTIONS:
        chunks = chunks_of(library.file(path, **options))
        most = options.get("batch_rows") or 65536
        expect(all(len(chunk) <= most for chunk in chunks), True, "rows of a batch")
        if nested:
            compare_lists(chunks, file, rows)
            continue
        actual = [value for chunk in chunks for value in raw(chunk, shape)]
        expected = rows
        if shape.name == "INT96":
            expected = [value if value is None else nanoseconds(value) for value in rows]
        expect(len(actual), len(expected), "number of rows")
        for i, (a, b) in enumerate(zip(actual, expected)):
            if a != b:
                expect(a, b, f"row {i} with {options}")
    return len(rows) * len(OPTIONS)


def compare_lists(chunks, file, rows):
    shape = file.column.shape
    kudu = file.column.levels is None
    if kudu:
        nullable = file.column.nullable
        rows = [reader_checks.array_entries(row, nullable) for row in rows]
        optional = [int(nullable), 1]
    else:
        repetition, definition = file.column.levels
        optional = [int(i < definition - repetition) for i in range(repetition + 1)]
    values, expected = [], [lists(row, 0, 0, optional, []) for row in rows]
    for row in rows:
        lists(row, 0, 0, optional, values)
    actual = [shapes_of(value, len(optional) - 1) for chunk in chunks for value in chunk.to_pylist()]
    expect(actual, expected, "lists")
    if shape.name == "INT96":
        values = [nanoseconds(value) for value in values]
    expect([value for chunk in chunks for value in raw(flat(chunk), shape)], values, "values of the lists")


def compare_table(library, path):
    count = sum(part.num_rows for part in reader.Table(path).parts)
    for options in OPTIONS:
        table = pa.RecordBatchReader.from_stream(library.table(path, **options)).read_all()
        table.validate(full=True)
        expect(table.num_rows, count, "rows")
    return count


def compare_others(library, paths):
    """Other libraries read the same rows as pyarrow."""
    try:
        import nanoarrow
        import polars
    except ImportError as error:
        print(f"not compared with others: {error}")
        return 0
    count = 0
    for path in paths:
        expected = pa.RecordBatchReader.from_stream(library.file(path)).read_all()
        rows = expected.to_pylist()
        # nanoarrow has no values of dictionaries in to_pylist of a stream of structs.
        expect(nanoarrow.Array(library.file(path, dictionaries=False)).to_pylist(), rows, f"nanoarrow {path}")
        for views in (False, True):
            expect(polars.DataFrame(library.file(path, views=views)).to_dicts(), rows, f"Polars {path}")
        count += len(rows)
    return count


import reader_checks  # noqa: E402

library = Library(sys.argv[1])
for folder in ("cfile", "cfile-0.2", "kudu"):
    files = values = 0
    for name in sorted(os.listdir(os.path.join(GOLDEN, folder))):
        path = os.path.join(GOLDEN, folder, name)
        if name.endswith(".cfile"):
            files, values = files + 1, values + run(f"{folder}/{name}", compare_file, library, path)
        elif os.path.exists(os.path.join(path, "table.cft")):
            files, values = files + 1, values + run(f"{folder}/{name}", compare_table, library, path)
    print(f"{folder}: {files} files and tables, {values} values")
some = ("int32_plain_none_nulls", "string_dict_none_nulls", "double_plain_none_full", "bool_plain_none_nulls",
        "string_plain_none_nulls", "date_plain_none_nulls")
others = [path for path in (os.path.join(GOLDEN, "cfile", name + ".cfile") for name in some) if os.path.exists(path)]
print(f"nanoarrow and Polars: {len(others)} files, {run('others', compare_others, library, others)} rows")
sys.exit(1 if failures else 0)
