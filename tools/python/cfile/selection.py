"""Selected rows and columns: the results of slices, take and scan."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _native, keeping
from .condition import Condition, condition_of
from .errors import ArgumentError
from .rows import OpenRows
from .rules import check_numbers, num_rows_of


def ordinals_of(ordinals: Iterable[Any], num_rows: int) -> list[int]:
    """Returns ordinals that count from the start; -1 is the last row. IndexError: there is no such row. TypeError: one is no integer."""
    found = []
    for given in ordinals:
        try:
            if isinstance(given, bool):
                raise TypeError
            ordinal = operator.index(given)
        except TypeError:
            raise TypeError(f"expected the number of a row, found {given!r} of type {type(given).__name__}") from None
        counted = ordinal + num_rows if ordinal < 0 else ordinal
        if not 0 <= counted < num_rows:
            raise IndexError(f"row {ordinal} of {num_rows} rows")
        found.append(counted)
    return found


def single_ordinal(key: Any, num_rows: int) -> int | None:
    """Returns the ordinal that counts from the start if `key` is one integer, also of NumPy; None if it is a slice, or several.

    IndexError: there is no such row. TypeError: `key` is something else, for example a float or None.
    """
    if isinstance(key, slice) or (hasattr(key, "__iter__") and getattr(key, "ndim", 1) != 0):
        return None
    return ordinals_of([key], num_rows)[0]


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # of NumPy


def _chosen(rows: Any, num_rows: int) -> Any:
    """Returns the ordinals in a list or an array; a mask chooses the rows where it is true, and a null in it chooses no row.

    IndexError: a mask has another length. TypeError: there is more than one dimension.
    """
    if len(getattr(rows, "shape", (0,))) != 1:
        raise TypeError(f"expected one dimension, found a {type(rows).__name__} of shape {tuple(rows.shape)}")
    is_mask = str(getattr(rows, "dtype", getattr(rows, "type", ""))).rpartition(".")[2].lower().startswith("bool")
    if is_mask and type(rows).__module__ == "numpy" and len(rows) == num_rows:
        return rows.nonzero()[0].astype("uint64")  # much faster than a list
    # Of NumPy, pandas and memoryview; of Polars; of pyarrow.
    to_list = next((getattr(rows, name) for name in ("tolist", "to_list", "to_pylist") if hasattr(rows, name)), None)
    if to_list is None and not hasattr(rows, "__iter__"):
        raise TypeError(f"expected a list or an array of numbers of rows, or a mask, found {rows!r}")
    rows = list(rows) if to_list is None else to_list()
    if not is_mask and not (rows and all(map(_is_bool, rows))):
        return rows
    if len(rows) != num_rows:
        raise IndexError(f"a mask of {len(rows)} values, but there are {num_rows} rows")
    return [ordinal for ordinal, chosen in enumerate(rows) if _is_bool(chosen) and chosen]


def _is_buffer_of_ordinals(ordinals: Any) -> bool:
    try:
        view = memoryview(ordinals)
    except (TypeError, ValueError):  # NumPy's times have no buffer
        return False
    return view.ndim == 1 and view.format in ("Q", "L")


class KeyPosition(int):
    """The position of a row that seek or find has found in a table whose parts overlap in key order.

    The next row of the table need not have the next key. So a slice that begins or ends at such a position is an error.
    """

    def __add__(self, other: int) -> KeyPosition:
        return KeyPosition(int(self) + other)

    def __sub__(self, other: int) -> KeyPosition:
        return KeyPosition(int(self) - other)

    __radd__ = __add__


class Selection(OpenRows):
    """Rows of a table or of a column, and columns of these rows. Immutable. Nothing is read before a method asks for it.

    The selection knows the table as it was when it was opened.
    """

    __slots__ = ("_opened", "_columns", "_where", "_begin", "_end", "_limit", "_reverse", "_ordinals", "_column_only",
                 "_native_condition")

    def __init__(self, opened: _native.Opened, columns: Sequence[str] | None, *, column_only: bool = False,
                 where: Condition | None = None, begin: int = 0, end: int | None = None, limit: int | None = None,
                 reverse: bool = False, ordinals: Any = None) -> None:
        self._opened = opened
        self._columns = None if columns is None else list(columns)
        "".join(self._columns or ()).encode()  # TypeError, UnicodeError: a name is no text
        self._column_only = column_only
        self._where = where
        self._native_condition: tuple[Any, ...] | None = None  # see _native_where
        self._begin = begin
        self._end = opened.num_rows if end is None else end
        self._limit = limit
        self._reverse = reverse
        self._ordinals = ordinals  # None, or what Opened.take takes

    def _changed(self, **changes: Any) -> Selection:
        now: dict[str, Any] = {"column_only": self._column_only, "where": self._where, "begin": self._begin, "end": self._end,
                               "limit": self._limit, "reverse": self._reverse, "ordinals": self._ordinals}
        columns = changes.pop("columns", self._columns)
        return Selection(self._opened, columns, **{**now, **changes})

    def _all(self) -> Selection:
        return self

    def _head(self, count: int) -> Selection:
        if count < 0:
            raise ValueError(f"head: expected a number of rows, found {count}")
        if self._is_range and not self._opened.applies_rule:
            return self[:count]
        if self._ordinals is not None:
            return self._changed(ordinals=self._ordinals[:count])
        return self._changed(limit=count if self._limit is None else min(count, self._limit))

    def _stream(self, **options: Any) -> _native.Stream:
        # A file has one column, which needs no name.
        columns = self._columns if self._opened.is_table else None
        if self._ordinals is not None:
            for name in ("dictionaries", "dictionary_views"):
                options.pop(name, None)
            return self._opened.take(self._ordinals, columns=columns, column_only=self._column_only, **options)
        options.setdefault("dictionaries", False)
        return self._opened.stream(columns=columns, where=self._native_where(), begin=self._begin, end=self._end, limit=self._limit,
                                   reverse=self._reverse, column_only=self._column_only, **options)

    def _native_where(self) -> tuple[Any, ...] | None:
        if self._native_condition is None and self._where is not None:
            self._native_condition = self._where.native(types_of(self._opened))
        return self._native_condition

    def _metadata(self) -> Mapping[str, str]:
        """The metadata of a table or a file. The labels of a RangeIndex are left out unless the selection has all rows, in the order in
        which they were written.
        """
        if self._column_only and self._opened.is_table:
            return {}
        metadata: Mapping[str, str] = self._opened.metadata
        is_whole = self._is_range and self._begin == 0 and self._end == self._opened.num_rows and self._opened.num_parts == 1
        if is_whole and not any(column["key"] is not None or self._opened.has_index(column["name"]) for column in self._opened.columns):
            return metadata
        return keeping.without_ranges(metadata)

    def _kept(self) -> Mapping[str, str]:
        """The metadata for restoring.to_polars. If a table cannot have any, this reads nothing."""
        if not self._opened.is_table:
            return self._opened.metadata
        is_kept = self._opened.arrow_schema or any(info["type"] == "int128" or info["levels"] for info in self._opened.columns)
        return {**self._opened.metadata, keeping.SERIES: "{}"} if is_kept else {}  # the columns of a table have their own names

    @property
    def _is_range(self) -> bool:
        return self._where is None and self._ordinals is None and self._limit is None and not self._reverse

    def __getitem__(self, key: slice | Sequence[int]) -> Selection:
        """A slice, a list of ordinals or a mask, of rows that are consecutive: of a table, a column or a slice.

        ArgumentError: a bound of the slice is a result of seek or find, and parts of the table overlap in the order of the key.
        """
        if not self._is_range:
            raise TypeError("only slices and lists of a table, a column or a slice are possible; use limit for a scan")
        check_numbers(self._opened, "a slice")
        count = self._end - self._begin
        if not isinstance(key, slice):
            return self.take(key)
        if isinstance(key.start, KeyPosition) or isinstance(key.stop, KeyPosition):
            raise ArgumentError(
                f"{self._opened.name}: parts overlap in the order of the key, so the rows between two keys are no slice: use "
                "key_range(low, high) or scan, or merge the parts with cfile.compact")
        begin, end, step = key.indices(count)
        if step != 1:
            return self.take(list(range(begin, end, step)))
        return self._changed(begin=self._begin + begin, end=self._begin + max(begin, end))

    def _part(self, begin: int, end: int) -> Selection:
        """The rows of this range of stored rows: a merge rule may hide some of them."""
        return self._changed(begin=begin, end=min(end, self._end))

    def take(self, ordinals: Any) -> Selection:
        """The rows with these positions, in this order, or the rows that a mask chooses; see Table.take."""
        if not self._is_range:
            raise TypeError("take needs consecutive rows: a table, a column or a slice")
        check_numbers(self._opened, "take")
        if self._begin > 0 or self._end < self._opened.num_rows or not _is_buffer_of_ordinals(ordinals):
            num_rows = self._end - self._begin
            ordinals = _chosen(ordinals, num_rows)
            if isinstance(ordinals, list):
                ordinals = ordinals_of(ordinals, num_rows)
            if self._begin > 0:
                ordinals = [self._begin + int(ordinal) for ordinal in ordinals]
        return self._changed(ordinals=ordinals)

    def scan(self, where: Condition | str | None = None, *, columns: Sequence[str] | None = None, limit: int | None = None,
             reverse: bool = False) -> Selection:
        """The rows of this selection for which `where` is true; see Table.scan."""
        if self._ordinals is not None or self._limit is not None or self._reverse:
            raise TypeError("rows of take, and rows with a limit, cannot be scanned again")
        where = condition_of(where)
        both = where if self._where is None else self._where if where is None else self._where & where
        selected = self._changed(where=both, columns=self._columns if columns is None else columns, limit=limit, reverse=reverse)
        selected._native_where()  # finds mistakes at once
        return selected

    def count(self) -> int:
        """Returns the number of rows. With a condition, this reads the columns of the condition."""
        if self._ordinals is not None:
            return len(self._ordinals)
        is_whole = self._begin == 0 and self._end == self._opened.num_rows
        if self._where is None and (is_whole or not self._opened.applies_rule):
            rows = num_rows_of(self._opened) if is_whole else self._end - self._begin
            return rows if self._limit is None else min(rows, self._limit)
        return self._opened.count(where=self._native_where(), begin=self._begin, end=self._end, limit=self._limit)

    __len__ = count

    def __bool__(self) -> bool:
        return True  # not whether there are rows: this could read a whole column

    def __repr__(self) -> str:
        what = "all columns" if self._columns is None else ", ".join(self._columns)
        if self._ordinals is not None:
            return f"<{len(self._ordinals):,} taken rows of {self._opened.name}: {what}>"
        parts = [f"rows {self._begin:,} to {self._end:,} of {self._opened.name}: {what}"]
        if self._where is not None:
            parts.append(f"where {self._where!r}")
        if self._limit is not None:
            parts.append(f"at most {self._limit:,} rows")
        if self._reverse:
            parts.append("the last rows first")
        return f"<{', '.join(parts)}>"


def types_of(opened: _native.Opened) -> Mapping[str, str]:
    """The types of all columns by their names."""
    if opened.types is None:
        opened.types = {column["name"]: column["type"] for column in opened.columns}
    return opened.types


def key_of(opened: _native.Opened) -> list[str]:
    """The names of the key columns, the most significant first."""
    keys = [(column["key"], column["name"]) for column in opened.columns if column["key"] is not None]
    return [name for _, name in sorted(keys)]
