"""Builds conditions from the expressions of other libraries.

A conversion gives a condition that is true for at least the rows for which the expression is true, and says whether it is exact: true for
no other rows, and false where the expression is false. The library that asked applies its expression again, so nothing is lost if only a
part of it could be converted.
"""
from __future__ import annotations

from . import values
from .condition import Condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Converted = tuple["Condition | None", bool]

NOTHING: Converted = (None, False)


def flat_types(table: Any) -> dict[str, str]:
    """The types of the columns that conditions can test."""
    return {info["name"]: info["type"] for info in table._opened.columns if not info["levels"]}


def both(kind: str, left: Converted, right: Converted) -> Converted:
    """Combines with "and" or "or"."""
    if left[0] is not None and right[0] is not None:
        return Condition(kind, left[0], right[0]), left[1] and right[1]
    if kind == "and":
        return (left[0] if right[0] is None else right[0]), False
    return NOTHING


def negated(part: Converted) -> Converted:
    """The opposite. Only the opposite of an exact condition is known."""
    return (~part[0], True) if part[0] is not None and part[1] else NOTHING


def _comparable(value: Any, type_text: str) -> bool:
    """Whether this package compares the value as other libraries do."""
    base = values.base_of(type_text)
    if base.startswith(("int", "uint")):
        return isinstance(value, int)  # others convert the column to floats
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
    return base not in ("int96", "uuid")


def test(types: Mapping[str, str], kind: str, column: Any, *constants: Any, nan_is_greatest: bool = False) -> Converted:
    """Converts a test of a column."""
    if column not in types:
        return NOTHING
    type_text = types[column]
    for constant in constants:
        if constant is None or isinstance(constant, bool) != (type_text == "bool") or not _comparable(constant, type_text):
            return NOTHING
        try:
            values.floor_of(constant, type_text)
        except (TypeError, ValueError):
            return NOTHING
    if nan_is_greatest and values.base_of(type_text) in ("float", "double") and kind in (">", ">="):
        return Condition("not", Condition("<=" if kind == ">" else "<", column, *constants)), True
    return Condition(kind, column, *constants), True
