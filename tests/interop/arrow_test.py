#!/usr/bin/env python3
"""Exports golden files and tables as Arrow streams, and compares what pyarrow reads with what reader.py reads.

    arrow_test.py LIBRARY

LIBRARY: the shared library of arrow_library.cc. Also reads some files with nanoarrow and Polars if they are installed. Without
pyarrow the exit code is 77, which ctest shows as skipped; third_party/python-packages.txt lists what to install.
"""
import functools
import os
import sys
import uuid
import warnings

try:
    import pyarrow as pa
except ImportError:
    print("SKIPPED: pyarrow is not installed (pip install -r third_party/python-packages.txt)")
    sys.exit(77)
try:
    import nanoarrow
    import polars
except ImportError:
    nanoarrow = None

import reader
from arrow_streams import Failed, Library
from reader import CFile
from reader_checks import array_entries

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")
OPTIONS = ({}, {"views": True}, {"dictionaries": False, "batch_rows": 100}, {"batch_rows": 10**9})
failures = 0
warnings.simplefilter("ignore")  # nanoarrow warns of extension types


def expect(actual, expected, what):
    if actual != expected:
        raise AssertionError(f"{what}: {str(actual)[:200]} should be {str(expected)[:200]}")


def run(name, test, *arguments):
    """Runs a test. Returns the number of values that it compared."""
    global failures
    try:
        return test(*arguments) or 0
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


class OtherSchema(Exception):
    """The levels are not those of the schema that cfile/arrow.h gives to a column outside of a table of records."""


def lists(entries, depth, base, optional, values):
    """The nested lists of entries (repetition, definition, value); see cfile/arrow.h. Appends the values to `values`."""
    present = base + optional[depth]
    if depth == len(optional) - 1:
        if len(entries) > 1 or entries[0][1] < base:
            raise OtherSchema
        values.append(entries[0][2])
        return None if entries[0][1] < present else "value"
    if entries[0][1] <= present:
        if len(entries) > 1 or entries[0][1] < base:
            raise OtherSchema
        return None if entries[0][1] < present else []
    elements = []
    for entry in entries:
        if not elements or entry[0] <= depth + 1:
            elements.append([])
        elements[-1].append(entry)
    return [lists(element, depth + 1, present + 1, optional, values) for element in elements]


def shapes_of(array, depth):
    """The same form for an array of nested lists."""
    valid = array.is_valid().to_pylist()
    if depth == 0:
        return ["value" if one else None for one in valid]
    inner, offsets = shapes_of(array.values, depth - 1), array.offsets.to_pylist()
    return [inner[offsets[i]:offsets[i + 1]] if one else None for i, one in enumerate(valid)]


def leaves_of(array):
    while pa.types.is_list(array.type):
        array = array.flatten()
    return array


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
    shape, rows = file.column.shape, list(file.rows())
    nested = file.column.levels is not None or file.column.array
    values = [entry[2] for row in rows for entry in row] if nested and file.column.levels else rows
    try:
        chunks_of(library.stream(path))
    except (pa.ArrowException, Failed) as error:
        return expect_refused(str(error), file, shape, values)
    for options in OPTIONS:
        chunks = chunks_of(library.stream(path, **options))
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


def expect_refused(error, file, shape, values):
    """Only these values and levels have no Arrow type."""
    if "an int96 is a time" in error:
        return expect(shape.name, "INT96", error)
    if "38 digits" in error:
        return expect(shape.name, "INT128", error)
    repetition, definition = file.column.levels or (0, 0)
    expect("has no Arrow type" in error and definition > 2 * repetition + 1, True, error)


def compare_lists(chunks, file, rows):
    shape = file.column.shape
    if file.column.levels is None:  # an array of Kudu
        nullable = file.column.nullable
        rows = [array_entries(row, nullable) for row in rows]
        optional = [int(nullable), 1]
    else:
        repetition, definition = file.column.levels
        optional = [int(i < definition - repetition) for i in range(repetition + 1)]
    expect(sum(map(len, chunks)), len(rows), "rows")
    values = []
    try:
        expected = [lists(row, 0, 0, optional, values) for row in rows]
    except OtherSchema:
        return
    actual = [shape for chunk in chunks for shape in shapes_of(chunk, len(optional) - 1)]
    expect(actual, expected, "lists")
    if shape.name == "INT96":
        values = [value if value is None else nanoseconds(value) for value in values]
    expect([value for chunk in chunks for value in raw(leaves_of(chunk), shape)], values, "values of the lists")


def compare_table(library, path):
    count = sum(part.num_rows for part in reader.Table(path).parts)
    for options in OPTIONS:
        try:
            table = pa.RecordBatchReader.from_stream(library.stream(path, **options)).read_all()
        except pa.ArrowException as error:
            expect("an int96 is a time" in str(error) or "38 digits" in str(error), True, str(error))
            continue
        table.validate(full=True)
        expect(table.num_rows, count, "rows")
    return count


def plain(value):
    """A value of to_pylist in a form that all libraries agree on."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, uuid.UUID):
        return value.bytes
    if getattr(value, "nanosecond", 0):
        raise ValueError("a time that Python does not have")  # pandas has it, so pyarrow returns it if pandas is installed
    return "NaN" if value != value else value


def compare_others(path, stream):
    """Other libraries read the same rows as pyarrow. stream(): opens the file or the table at `path`."""
    try:
        table = pa.RecordBatchReader.from_stream(stream()).read_all()
        rows = plain(table.to_pylist())
    except (pa.ArrowException, Failed, ValueError, OverflowError):
        return 0  # no Arrow type, or times that Python does not have
    # nanoarrow reads negative decimals as other numbers, and leaves out the values of dictionaries.
    if "decimal" not in str(table.schema):
        expect(plain(nanoarrow.Array(stream(dictionaries=False)).to_pylist()), rows, f"nanoarrow {path}")
    for views in (False, True):
        expect(plain(polars.DataFrame(stream(views=views)).to_dicts()), rows, f"Polars {path}")
    return len(rows)


library = Library(sys.argv[1])
others = other_files = number = 0
for folder in ("cfile", "cfile-0.2", "kudu"):
    files = values = 0
    for name in sorted(os.listdir(os.path.join(GOLDEN, folder))):
        path = os.path.join(GOLDEN, folder, name)
        if name.endswith(".cfile"):
            compare, stream = compare_file, functools.partial(library.stream, path)
        elif os.path.exists(os.path.join(path, "table.cft")):
            compare, stream = compare_table, functools.partial(library.stream, path)
        else:
            continue
        files, values = files + 1, values + run(f"{folder}/{name}", compare, library, path)
        number += 1
        if nanoarrow and (compare == compare_table or (number % 4 == 0 and os.path.getsize(path) < 20000)):
            other_files, others = other_files + 1, others + run(f"{folder}/{name}", compare_others, path, stream)
    print(f"{folder}: {files} files and tables, {values} values")
print(f"nanoarrow and Polars: {other_files} files and tables, {others} rows" if nanoarrow else "nanoarrow or Polars is not installed")
sys.exit(1 if failures else 0)
