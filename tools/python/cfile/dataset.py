"""A pyarrow.dataset.Dataset of a table. DuckDB asks such an object for the columns and rows that it needs."""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.fs

from . import pushing
from .condition import Condition
from .errors import UnsupportedError
from .table import Table


def _pairs(schema: Any) -> list[tuple[str, str]]:
    """The metadata of a schema, in order. (pyarrow's own view has each key once.)"""
    capsule = schema.__arrow_c_schema__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    position = ctypes.cast(pointer_of(capsule, b"arrow_schema"), ctypes.POINTER(ctypes.c_void_p))[2]
    if not position:
        return []

    def taken(size: int) -> bytes:
        nonlocal position
        value = ctypes.string_at(position, size)
        position += size
        return value

    def number() -> int:
        return int.from_bytes(taken(4), sys.byteorder)
    return [(taken(number()).decode(), taken(number()).decode()) for _ in range(number())]


_UNKNOWN = object()  # a constant that Python cannot express


def _constant(scalar: Any) -> Any:
    """The value of Python that equals a pyarrow.Scalar. Times may lose their nanoseconds, and dates can be too far away."""
    try:
        value = scalar.as_py()
        return value if value is None or pa.scalar(value, scalar.type) == scalar else _UNKNOWN
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        return _UNKNOWN


class _Expression:
    """Reads an expression in the form that pyarrow pickles: metadata with calls, and a batch with constants."""

    def __init__(self, expression: Any, types: Mapping[str, str]) -> None:
        self._types = types
        file = pa.ipc.open_file(expression.__reduce__()[1][0])
        self._batch = file.get_batch(0)
        pairs = _pairs(file.schema)
        self.columns = [value for key, value in pairs if key == "field_ref"]
        self._next = iter(pairs)
        self.converted = self._convert(self._node(*next(self._next)))

    def _node(self, key: str, value: str) -> tuple[str, Any, list[Any], Any]:
        """(kind, value, arguments, options)"""
        if key == "literal":
            return "literal", _constant(self._batch.column(int(value))[0]), [], None
        if key == "nested_field_ref":
            for _ in range(int(value)):
                next(self._next)
            return "nested", None, [], None
        if key != "call":
            return "column", value, [], None
        arguments, options = [], None
        for inner_key, inner_value in self._next:
            if inner_key == "end":
                break
            if inner_key == "options":
                options = self._batch.column(int(inner_value))[0]
            else:
                arguments.append(self._node(inner_key, inner_value))
        return "call", value, arguments, options

    def _convert(self, node: tuple[str, Any, list[Any], Any]) -> pushing.Converted:
        kind, name, arguments, options = node
        if kind == "column":
            return pushing.test(self._types, "==", name, True)  # a column of bool
        if kind != "call":
            return pushing.NOTHING
        if name in ("and_kleene", "or_kleene"):
            return pushing.both(name[:-7], self._convert(arguments[0]), self._convert(arguments[1]))
        if name == "invert":
            return pushing.negated(self._convert(arguments[0]))
        if name == "if_else":
            return self._if_else(arguments)
        test = pushing.KINDS.get(name, "")
        if test in pushing.TURNED:
            left, right = arguments
            if left[0] == "literal":
                left, right, test = right, left, pushing.TURNED[test]
            if left[0] == "column" and right[0] == "literal":
                return pushing.test(self._types, test, left[1], right[1])
            return pushing.NOTHING
        if not arguments or arguments[0][0] != "column":
            return pushing.NOTHING
        column = arguments[0][1]
        if test == "is_not_null" or (test == "is_null" and not options["nan_is_null"].as_py()):
            return pushing.test(self._types, test, column)
        if test == "in":
            return self._is_in(arguments, options)[0], False  # false where the column is null
        if test == "prefix" and not options["ignore_case"].as_py():
            return pushing.test(self._types, test, column, _constant(options["pattern"]))
        return pushing.NOTHING

    def _is_in(self, arguments: list[Any], options: Any) -> pushing.Converted:
        """An is_in that is null where the column is null. pyarrow's is_in tells 0.0 and -0.0 apart."""
        (kind, column, *_), = arguments
        constants = [_constant(value) for value in options["value_set"].values]
        if kind != "column":
            return pushing.NOTHING
        condition, is_exact = pushing.test(self._types, "in", column, *constants)
        return condition, is_exact and not (0 in constants and self._types[column] in ("float", "double"))

    def _if_else(self, arguments: list[Any]) -> pushing.Converted:
        """DuckDB writes IN as: if the column is valid, is_in, else null. This is what is_in means here."""
        condition, then, otherwise = arguments
        is_valid = condition[:2] == ("call", "is_valid") and then[:2] == ("call", "is_in") and condition[2] == then[2][:1]
        return self._is_in(*then[2:]) if is_valid and otherwise[:2] == ("literal", None) else pushing.NOTHING


def pushed(expression: Any, types: Mapping[str, str]) -> tuple[Condition | None, bool, list[str] | None]:
    """Returns the condition for a pyarrow.compute.Expression, as far as it can be converted, whether it is exact (see pushing.py), and the
    columns that the expression names.

    None, False, None: the expression cannot be read, so it may name any column.
    """
    try:
        read = _Expression(expression, types)
    except (pa.ArrowException, RecursionError, ValueError):
        return None, False, None
    return *read.converted, read.columns


_FRAGMENT_ROWS = 1 << 18  # of one file that Arrow's own engine reads


class _Files(pyarrow.fs.FileSystemHandler):  # type: ignore[misc]
    """The rows of a table as files in Arrow's IPC format, which are made in memory when they are opened: "0-1000" has 1,000 rows."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_type_name(self) -> str:
        return "cfile"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[Any]:
        return [pyarrow.fs.FileInfo(path, pyarrow.fs.FileType.File) for path in paths]

    def get_file_info_selector(self, selector: Any) -> list[Any]:
        return []

    def open_input_file(self, path: str) -> Any:
        begin, _, end = path.partition("-")
        reader = self._table._all()._part(int(begin), int(end)).to_batches()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        return pa.BufferReader(sink.getvalue())

    open_input_stream = open_input_file

    def _refused(self, *arguments: Any, **options: Any) -> None:
        raise UnsupportedError("a TableDataset is read only; use cfile.write and cfile.append")

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = move = copy_file = _refused
    open_output_stream = open_append_stream = _refused


class TableDataset(pyarrow.dataset.FileSystemDataset):  # type: ignore[misc]
    """The rows of a table. Each scan reads the columns that it needs, and blocks that may hold rows for which its filter is true.

    Methods that run in Arrow's own engine read all columns: sort_by, join, join_asof, replace_schema, get_fragments, and what other
    objects of pyarrow do with the dataset, for example UnionDataset. They make fragments of 262,144 rows in memory.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._types = pushing.flat_types(table._opened)
        schema = pa.schema(table)
        files = pyarrow.fs.PyFileSystem(_Files(table))
        format = pyarrow.dataset.IpcFileFormat()
        fragments = [format.make_fragment(f"{begin}-{begin + _FRAGMENT_ROWS}", files)
                     for begin in range(0, table._opened.num_rows, _FRAGMENT_ROWS)]
        super().__init__(fragments, schema, format, files)

    def scanner(self, columns: Any = None, filter: Any = None, batch_size: int | None = None, **options: Any) -> Any:
        """Returns a pyarrow.dataset.Scanner; see pyarrow."""
        filters = [one for one in (self._scan_options.get("filter"), filter) if one is not None]
        filter = filters[0] & filters[1] if len(filters) == 2 else filters[0] if filters else None
        condition, is_exact, tested = (None, True, []) if filter is None else pushed(filter, self._types)
        if is_exact:  # the rows need no second test
            filter, tested = None, []
        read = [tested]
        if isinstance(columns, dict):  # names and expressions
            read += [pushed(expression, self._types)[2] for expression in columns.values()]
        elif columns is not None:
            read.append(list(columns))
        known = [named for named in read if named is not None]
        names = None
        if columns is not None and len(known) == len(read):
            fields = self._table.columns
            names = [name for name in dict.fromkeys(chain.from_iterable(known)) if name in fields] or fields[:1]
        reader = self._table.scan(condition, columns=names).to_batches()
        if batch_size is not None:
            options["batch_size"] = batch_size
        return pyarrow.dataset.Scanner.from_batches(reader, columns=columns, filter=filter, **options)

    def filter(self, expression: Any) -> TableDataset:
        """Returns the dataset of the rows for which the expression is true; see pyarrow."""
        filtered: TableDataset = super().filter(expression)
        filtered._table, filtered._types = self._table, self._types
        return filtered

    def __reduce__(self) -> Any:
        raise TypeError("a TableDataset cannot be pickled; use cfile.fragments")
