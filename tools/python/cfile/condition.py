"""Conditions on rows: col("delay") > 60."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .optional import Lazy

values = Lazy("cfile.values")


class Condition:
    """A condition on the rows of a table. It is made with `col`, and combined with & (and), | (or) and ~ (not).

    A test of a null is neither true nor false, except is_null() and is_not_null(). A scan returns the rows for which the condition is
    true.

    >>> (cfile.col("carrier") == "UA") & ~(cfile.col("delay") <= 60)
    ((carrier == 'UA') & ~(delay <= 60))
    """

    __slots__ = ("_kind", "_parts", "_depth")

    def __init__(self, kind: str, *parts: Any) -> None:
        self._kind = kind  # "and", "or", "not" or a test
        self._parts = parts  # conditions, or the name of a column and constants
        inner = parts if kind in ("and", "or", "not") else ()
        self._depth: int = 1 + max((part._depth for part in inner), default=0)

    def __and__(self, other: Condition) -> Condition:
        return self._combined("and", other)

    def __or__(self, other: Condition) -> Condition:
        return self._combined("or", other)

    def _combined(self, kind: str, other: Condition) -> Condition:
        if not isinstance(other, Condition):
            raise TypeError(f"expected a condition, got {other!r}. Put comparisons in parentheses: (a == 1) & (b == 2)")
        # a & b & c is one node, so that long chains do not become deep.
        parts = [part for side in (self, other) for part in (side._parts if side._kind == kind else [side])]
        return Condition(kind, *parts)

    def __invert__(self) -> Condition:
        return Condition("not", self)

    def __bool__(self) -> bool:
        raise TypeError("a condition is neither true nor false. Combine conditions with &, | and ~, not with and, or and not. "
                        "Write between(a, b) and not a <= column <= b")

    def __repr__(self) -> str:
        if self._kind in ("and", "or"):
            sign = " & " if self._kind == "and" else " | "
            return f"({sign.join(map(repr, self._parts))})"
        if self._kind == "not":
            return f"~{self._parts[0]!r}"
        if self._kind == "text":
            return f"condition_of({self._parts[0]!r})"
        column, *constants = self._parts
        if self._kind == "in":
            return f"{column}.isin({constants!r})"
        if self._kind in _NAMES:
            return f"{column}.{_NAMES[self._kind]}({', '.join(map(repr, constants))})"
        return f"({column} {self._kind} {constants[0]!r})"

    def columns(self) -> set[str]:
        """Returns the names of the columns that the condition tests; not those in a text."""
        if self._kind in ("and", "or", "not"):
            return set().union(*(part.columns() for part in self._parts))
        if self._kind == "text":
            return set()  # the native module finds its columns
        return {self._parts[0], *(part._name for part in self._parts[1:] if isinstance(part, ColumnName))}

    def depth(self) -> int:
        """Returns how deep the condition is nested; 1 for a test."""
        return self._depth

    def native(self, types: Mapping[str, str]) -> tuple[Any, ...]:
        """Returns the filter of the native module. `types`: the type of each column. KeyError: there is no such column."""
        if self._kind == "not":
            return "not", self._parts[0].native(types)
        if self._kind == "text":
            return "text", self._parts[0]
        if self._kind in ("and", "or"):
            return self._kind, [part.native(types) for part in self._parts]
        column, *constants = self._parts
        for name in self.columns():
            if name not in types:
                raise KeyError(f"there is no column {name!r}; there are {', '.join(types)}")
        if constants and isinstance(constants[0], ColumnName):
            other = constants[0]._name
            if self._kind not in _COMPARISONS or types[column] != types[other]:
                raise TypeError(f"cannot compare {column!r} of type {types[column]} with {other!r} of type {types[other]} by {self._kind}")
            return "columns", column, self._kind, other
        return _native_test(column, self._kind, constants, types[column])


_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_NAMES = {"prefix": "startswith", **{name: name for name in
          ("between", "is_null", "is_not_null", "like", "ilike", "contains", "matches")}}


def _native_test(column: str, kind: str, constants: list[Any], type_text: str) -> tuple[Any, ...]:
    def test(kind: str, *stored: Any) -> tuple[Any, ...]:
        return "test", column, kind, list(stored)

    if kind in _NAMES and kind != "between":
        return test(kind, *constants)
    if kind == "between":
        low, high = constants
        return "and", [_native_test(column, ">=", [low], type_text), _native_test(column, "<=", [high], type_text)]
    if kind == "in":
        floors = [values.floor_of(constant, type_text) for constant in constants]
        return test("in", *(floor for floor, exact in floors if exact))
    floor, exact = values.floor_of(constants[0], type_text)
    if exact:
        return test(kind, floor)
    # The constant lies between two values of the column.
    if kind == "==":
        return test("in")
    if kind == "!=":
        return "not", test("in")
    return test("<=" if kind in ("<", "<=") else ">", floor)


class ColumnName(Condition):
    """A column in a condition. `col` makes it. A column of bools is a condition itself: col("late") & ~col("cancelled")."""

    __slots__ = ("_name",)
    __hash__ = None  # type: ignore[assignment]  # == makes a condition

    def __init__(self, name: str) -> None:
        super().__init__("==", name, True)
        self._name = name

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return Condition("==", self._name, value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return Condition("!=", self._name, value)

    def __lt__(self, value: Any) -> Condition:
        return Condition("<", self._name, value)

    def __le__(self, value: Any) -> Condition:
        return Condition("<=", self._name, value)

    def __gt__(self, value: Any) -> Condition:
        return Condition(">", self._name, value)

    def __ge__(self, value: Any) -> Condition:
        return Condition(">=", self._name, value)

    def isin(self, values: Iterable[Any]) -> Condition:
        """The value equals one of `values`."""
        return Condition("in", self._name, *values)

    def between(self, low: Any, high: Any) -> Condition:
        """low <= value <= high."""
        return Condition("between", self._name, low, high)

    def startswith(self, prefix: str | bytes) -> Condition:
        """The string begins with `prefix`."""
        return Condition("prefix", self._name, prefix)

    def like(self, pattern: str, escape: str = "") -> Condition:
        """The string matches `pattern`, in which % stands for any characters and _ for one. After `escape` both stand for themselves."""
        return Condition("like", self._name, pattern, *([escape] if escape else []))

    def ilike(self, pattern: str, escape: str = "") -> Condition:
        """As `like`, without regard to case."""
        return Condition("ilike", self._name, pattern, *([escape] if escape else []))

    def contains(self, part: str | bytes) -> Condition:
        """`part` is a part of the string."""
        return Condition("contains", self._name, part)

    def matches(self, expression: str) -> Condition:
        """A part of the string matches a regular expression of RE2."""
        return Condition("matches", self._name, expression)

    def is_null(self) -> Condition:
        """The row has no value."""
        return Condition("is_null", self._name)

    def is_not_null(self) -> Condition:
        """The row has a value."""
        return Condition("is_not_null", self._name)

    def __repr__(self) -> str:
        return f"col({self._name!r})"


def col(name: str) -> ColumnName:
    """Names a column in a condition. A leaf column of nested records has a path, for example "tcp.port".

    Constants are plain values of Python: numbers, str, bytes, bool, datetime, date, time, Decimal and UUID. Dates and times may also
    be text in ISO form, with any number of digits. A constant is compared exactly, but with a column of floats it is rounded to the type of
    the column first, and a float that is compared with decimals is the number that Python prints: 0.05 is 5/100.

    >>> cfile.col("delay") > 60
    (delay > 60)
    """
    return ColumnName(name)


def condition_of(where: Condition | str | None) -> Condition | None:
    """Makes a condition of a text in the grammar of `--where` of the tools: "delay > 60 and carrier like 'U%'".

    Mistakes in a text are found when rows are read. TypeError: `where` is something else.
    """
    if where is not None and not isinstance(where, (Condition, str)):
        raise TypeError(f"where: expected a condition such as cfile.col('delay') > 60, got {where!r}")
    return Condition("text", where) if isinstance(where, str) else where
