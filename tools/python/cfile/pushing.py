"""Builds conditions from the expressions of other libraries.

A conversion gives a condition that is true for at least the rows for which the expression is true, and says whether it is exact: true for
no other rows, and false where the expression is false. If it is not exact, because only a part of the expression could be converted, the
library that asked applies its expression again.
"""
from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from . import _native, values
from .condition import Condition

Converted = tuple["Condition | None", bool]
NOTHING: Converted = (None, False)
_MAX_DEPTH = 100  # of conditions. The library refuses those that are nested more than 200 deep.
_EXACT_DIGITS = 28  # Spark rounds longer constants before it passes them
# What Polars, pyarrow and Spark call the tests.
_NAMES = {"==": "Eq equal EqualTo", "!=": "NotEq not_equal", "<": "Lt less LessThan", "<=": "LtEq less_equal LessThanOrEqual",
          ">": "Gt greater GreaterThan", ">=": "GtEq greater_equal GreaterThanOrEqual", "is_null": "IsNull is_null",
          "is_not_null": "IsNotNull is_valid", "in": "IsIn is_in In", "prefix": "StartsWith starts_with StringStartsWith"}
KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def flat_types(opened: _native.Opened) -> dict[str, str]:
    """The types of the columns that conditions can test."""
    return {info["name"]: info["type"] for info in opened.columns if not info["levels"]}


def both(kind: str, left: Converted, right: Converted) -> Converted:
    """Combines with "and" or "or"."""
    if left[0] is not None and right[0] is not None:
        combined = left[0] & right[0] if kind == "and" else left[0] | right[0]
        return (combined, left[1] and right[1]) if combined.depth() < _MAX_DEPTH else NOTHING
    if kind == "and":
        return (left[0] if right[0] is None else right[0]), False
    return NOTHING


def negated(part: Converted) -> Converted:
    """The opposite. Only the opposite of an exact condition is known."""
    return (~part[0], True) if part[0] is not None and part[1] and part[0].depth() < _MAX_DEPTH else NOTHING


def _comparable(value: Any, type_text: str) -> bool:
    """Whether this package compares the value as other libraries do.

    They convert the column or the constant if their types differ. So the value must have the kind of the column, and be a value that the
    column can hold: 0.05 for a decimal becomes a comparison of floats, and a time may lose its nanoseconds.
    """
    base = values.base_of(type_text)
    if base == "bool" or isinstance(value, bool):
        return base == "bool" and isinstance(value, bool)
    if base in ("float", "double"):
        if not isinstance(value, (int, float)) or value != value:
            return False
        if base == "float":
            import struct
            try:
                return bool(struct.unpack("f", struct.pack("f", value))[0] == value)
            except OverflowError:
                return False
        return isinstance(value, float) or abs(value) <= 2**53
    kinds = next((kinds for prefix, kinds in _KINDS.items() if base.startswith(prefix)), ())
    if base == "int96" or not isinstance(value, kinds) or (base == "date" and isinstance(value, datetime.datetime)):
        return False
    try:
        return values.floor_of(value, type_text)[1]
    except (TypeError, ValueError, ArithmeticError):
        return False


# The classes of constants by the first letters of a column's type.
_KINDS: dict[str, tuple[type[Any], ...]] = {
    "int": (int,), "uint": (int,), "decimal": (int, Decimal), "date": (datetime.date,), "timestamp": (datetime.datetime,),
    "time": (datetime.time,), "string": (str,), "varchar": (str,), "binary": (bytes,), "fixed": (bytes,),
}


def test(types: Mapping[str, str], kind: str, column: Any, *constants: Any, nan_is_greatest: bool = False) -> Converted:
    """Converts a test of a column. The constants of "in" are not null."""
    if column not in types:
        return NOTHING
    type_text = types[column]
    if not all(_comparable(constant, type_text) for constant in constants):
        return NOTHING
    if nan_is_greatest and values.base_of(type_text) in ("float", "double") and kind in (">", ">="):
        return Condition("not", Condition("<=" if kind == ">" else "<", column, *constants)), True
    return Condition(kind, column, *constants), True


def of_spark(condition: Any, types: Mapping[str, str]) -> Converted:
    """Converts a filter of pyspark.sql.datasource."""
    name = type(condition).__name__
    if name == "Not":
        return negated(of_spark(condition.child, types))
    path: tuple[str, ...] = getattr(condition, "attribute", ())
    constants = [*condition.value] if name == "In" else [condition.value] if hasattr(condition, "value") else []
    if len(path) != 1 or any(isinstance(each, Decimal) and len(each.as_tuple().digits) >= _EXACT_DIGITS for each in constants):
        return NOTHING
    if name == "EqualNullSafe":
        if constants == [None]:
            return test(types, "is_null", path[0])
        return test(types, "==", path[0], *constants)[0], False  # where the column is null, it is false and not null
    if name not in KINDS:
        return NOTHING
    found = [each for each in constants if each is not None] if name == "In" else constants
    converted, is_exact = test(types, KINDS[name], path[0], *found, nan_is_greatest=True)
    return converted, is_exact and len(found) == len(constants)
