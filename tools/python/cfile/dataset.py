"""A pyarrow.dataset.Dataset of a table. DuckDB asks such an object for the columns and rows that it needs."""
from __future__ import annotations

import ctypes

import pyarrow as pa
import pyarrow.dataset

from . import pushing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .condition import Condition
    from .table import Table

_COMPARISONS = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _pairs(schema: Any) -> list[tuple[str, str]]:
    """The metadata of a schema, in order. (pyarrow's own view has each key once.)"""
    capsule = schema.__arrow_c_schema__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    position = ctypes.cast(pointer_of(capsule, b"arrow_schema"), ctypes.POINTER(ctypes.c_void_p))[2]
    if not position:
        return []

    def number() -> int:
        nonlocal position
        value = ctypes.cast(position, ctypes.POINTER(ctypes.c_int32))[0]
        position += 4
        return int(value)

    def text() -> str:
        nonlocal position
        size = number()
        value = ctypes.string_at(position, size)
        position += size
        return value.decode()
    return [(text(), text()) for _ in range(number())]


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
            return "literal", self._batch.column(int(value))[0].as_py(), [], None
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
        if name in _COMPARISONS:
            left, right = arguments
            comparison = _COMPARISONS[name]
            if left[0] == "literal":
                left, right, comparison = right, left, _TURNED[comparison]
            if left[0] == "column" and right[0] == "literal":
                return pushing.test(self._types, comparison, left[1], right[1])
            return pushing.NOTHING
        if not arguments or arguments[0][0] != "column":
            return pushing.NOTHING
        column = arguments[0][1]
        if name == "is_valid":
            return pushing.test(self._types, "is_not_null", column)
        if name == "is_null" and not options["nan_is_null"].as_py():
            return pushing.test(self._types, "is_null", column)
        if name == "is_in":
            return pushing.test(self._types, "in", column, *options["value_set"].as_py())
        if name == "starts_with" and not options["ignore_case"].as_py():
            return pushing.test(self._types, "prefix", column, options["pattern"].as_py())
        return pushing.NOTHING

    def _if_else(self, arguments: list[Any]) -> pushing.Converted:
        """DuckDB writes IN as: if the column is valid, is_in, else null. This is what is_in means here."""
        condition, then, otherwise = arguments
        is_valid = condition[:2] == ("call", "is_valid") and then[:2] == ("call", "is_in") and condition[2] == then[2][:1]
        return self._convert(then) if is_valid and otherwise[:2] == ("literal", None) else pushing.NOTHING


def pushed(expression: Any, types: Mapping[str, str]) -> tuple[Condition | None, list[str]]:
    """Returns the condition for a pyarrow.compute.Expression, as far as it can be converted, and the columns that it names."""
    read = _Expression(expression, types)
    return read.converted[0], read.columns


class TableDataset(pyarrow.dataset.Dataset):  # type: ignore[misc]
    """The rows of a table. Each scan reads the columns that it needs, and blocks that may hold rows for which its filter is true."""

    def __init__(self, table: Table) -> None:  # the base class cannot be made from Python
        self._table = table
        self._types = pushing.flat_types(table)

    @property
    def schema(self) -> Any:
        """The pyarrow.Schema of the table."""
        return pa.schema(self._table)

    def scanner(self, columns: Any = None, filter: Any = None, batch_size: int | None = None, **options: Any) -> Any:
        """Returns a pyarrow.dataset.Scanner; see pyarrow."""
        condition, tested = (None, []) if filter is None else pushed(filter, self._types)
        names = None
        if columns is not None:
            wanted = list(columns)
            if isinstance(columns, dict):  # names and expressions
                wanted = [name for expression in columns.values() for name in pushed(expression, self._types)[1]]
            fields = self._table.columns
            names = [name for name in dict.fromkeys([*wanted, *tested]) if name in fields] or fields[:1]
        reader = self._table.scan(condition, columns=names).to_batches()
        if batch_size is not None:
            options["batch_size"] = batch_size
        return pyarrow.dataset.Scanner.from_batches(reader, columns=columns, filter=filter, **options)

    def __reduce__(self) -> Any:
        raise TypeError("a TableDataset cannot be pickled; use cfile.fragments")
