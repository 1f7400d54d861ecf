"""A column of a table, or a file."""
from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import _native, preview
from .condition import Condition
from .errors import ArgumentError
from .optional import Lazy
from .rows import OpenRows
from .rules import check_numbers, num_rows_of, stored_of
from .selection import KeyPosition, Selection, single_ordinal, types_of

values = Lazy("cfile.values")
# Not "float": a key is rounded to 32 bits.
_PLAIN: dict[str, type[Any]] = {"bool": bool, "double": float, "string": str, "varchar": str, "binary": bytes}
_PLAIN |= {f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)}


class Column(OpenRows):
    """A column. It is a file that cfile.open has opened, or a column of a table.

    >>> path = tmp / "names.cfile"
    >>> cfile.write(path, pyarrow.array(["apple", "banana", "cherry"]), sorted_by=True)
    >>> names = cfile.open(path)
    >>> len(names), names[1], names.find("cherry")
    (3, 'banana', 2)

    An object may be used by several threads at the same time.
    """

    __slots__ = ("_opened", "_info", "_plain", "_in_order")
    _column_only = True

    def __init__(self, opened: _native.Opened, info: _native.ColumnInfo) -> None:
        self._opened = opened
        self._info = info
        # The type of Python whose values are stored as they are, and read as they are. None: they are converted.
        self._plain: type[Any] | None = _PLAIN.get(info["type"])
        self._in_order: bool | None = None  # whether parts follow each other in key order, found by the first search

    @property
    def name(self) -> str:
        """The name of the column in its table; "value" for a file."""
        return self._info["name"]

    @property
    def type(self) -> str:
        """The type as text, for example "int32", "decimal(10,2)" or "timestamp(us,UTC)"."""
        return self._info["type"]

    @property
    def nullable(self) -> bool:
        """Whether rows may have no value."""
        return self._info["nullable"]

    @property
    def is_nested(self) -> bool:
        """Whether a row is a list or a part of a nested record."""
        return self._info["levels"]

    @property
    def _is_stored(self) -> bool:
        """Whether the values have a file of their own: not a struct, a list or a map of nested records."""
        return any(info["name"] == self.name for info in self._opened.columns)

    def __len__(self) -> int:
        return num_rows_of(self._opened)

    def _all(self) -> Selection:
        return Selection(self._opened, [self.name], column_only=True)

    def __getitem__(self, key: int | slice | Sequence[int]) -> Any:
        """column[5] is a value; column[2:10], column[[5, 1]] and column[mask] are Rows, see Table.take."""
        check_numbers(self._opened, "column[...]")
        ordinal = single_ordinal(key, len(self))
        if ordinal is not None:
            return self._values([ordinal])[0]
        several: Any = key
        return self._all()[several]

    def __iter__(self) -> Iterator[Any]:
        check_numbers(self._opened, "an iteration")
        for begin in range(0, len(self), 4096):
            yield from self._values(range(begin, min(begin + 4096, len(self))))

    def _values(self, ordinals: Sequence[int]) -> list[Any]:
        if self.is_nested:
            rows: list[Any] = self._all().take(ordinals).to_pylist()
            return rows
        stored = self._opened.values(self.name, ordinals if isinstance(ordinals, list) else list(ordinals))
        return stored if self._plain else [values.python_of(value, self.type) for value in stored]

    def take(self, ordinals: Any) -> Selection:
        """The rows with these ordinals, in this order, or the rows that a mask chooses; see Table.take."""
        return self._all().take(ordinals)

    def is_null(self) -> Any:
        """A mask of the rows that have no value, as a pyarrow.ChunkedArray: table[column.is_null()]."""
        return self.to_arrow().is_null()

    def scan(self, where: Condition | str | None = None, *, limit: int | None = None, reverse: bool = False) -> Selection:
        """The rows for which `where` is true. In a file, the column has the name "value".

        limit: at most so many rows. reverse: batches from the last to the first.
        """
        return self._all().scan(where, limit=limit, reverse=reverse)

    def seek(self, key: Any) -> int:
        """Returns the ordinal of the first row whose value is not less than `key`; len(self) if there is none.

        If parts of the table overlap in the order of the values, use key_range for a range of keys, and no slice.
        ArgumentError: the column has no value index (`sorted_by` of cfile.write).
        """
        stored = key if type(key) is self._plain else self._key(key)
        return self._position(self._opened.seek(self.name, stored)[0])

    def _key(self, key: Any) -> Any:
        """The least stored key that is not less than `key`."""
        return values.key_of(key, self.type)

    def _exact_key(self, key: Any) -> Any:
        """The stored key that equals `key`; None if no value of the column can equal it."""
        return values.key_of(key, self.type) if values.floor_of(key, self.type)[1] else None

    def _position(self, ordinal: int) -> int:
        if self._in_order is None:
            self._in_order = self._opened.in_key_order(self.name)
        return ordinal if self._in_order else KeyPosition(ordinal)

    def find(self, key: Any) -> int | None:
        """Returns the ordinal of the first row whose value equals `key`, or None. Errors as seek."""
        stored = key if type(key) is self._plain else self._exact_key(key)
        if stored is None:
            return None
        ordinal, exact = self._opened.seek(self.name, stored)
        return self._position(ordinal) if exact else None

    def _newest(self, key: Any) -> int | None:
        """The ordinal of the newest row with this key, or None."""
        stored = self._exact_key(key)
        return None if stored is None else self._opened.newest(self.name, stored)

    def key_range(self, low: Any = None, high: Any = None) -> Selection:
        """The rows with low <= value < high, in the order of the values; see Table.key_range. Errors as seek."""
        return self._between(low, high, self._all())

    def _between(self, low: Any, high: Any, rows: Selection) -> Selection:
        bounds = [None if key is None else self._key(key) for key in (low, high)]
        found = self._opened.key_range(self.name, *bounds)
        if not isinstance(found, bytes):
            return rows._part(*found)
        if self._opened.applies_rule:
            rows = Selection(stored_of(self._opened), rows._columns, column_only=rows._column_only)
        return rows._changed(ordinals=array("Q", found))

    @property
    def is_sorted(self) -> bool:
        """Whether `seek`, `find` and `key_range` work: the column has a value index."""
        return self._opened.has_index(self.name)

    @property
    def statistics(self) -> dict[str, Any] | None:
        """Counts and bounds of the values, without reading them; None if the file has no statistics.

        The keys are present_count, null_count, nan_count, min, max, and min_exact and max_exact: whether the bound is a value of the
        column. A bound of a long string may be shortened. A bound is None if it is not known.
        """
        found = self._opened.statistics(self.name) if self._is_stored else None
        return None if found is None else preview.with_bounds(found, self.type)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """Describes each data block: rows, encoding, sizes in bytes, and bounds. Reads all blocks of the column."""
        return [preview.with_bounds(block, self.type) for block in self._opened.blocks(self.name)]

    @property
    def info(self) -> Mapping[str, Any]:
        """What header and footer of a file say. For a column of a table: its name and type."""
        return dict(self._info) if self._opened.is_table else self._opened.info()

    def verify(self) -> dict[str, Any]:
        """Reads and checks the whole file, or all files of the column's table; see Table.verify."""
        return self._opened.verify()

    def __repr__(self) -> str:
        return preview.column_text(self, self._opened.name)

    def _repr_html_(self) -> str:
        return preview.column_html(self)


class KeyColumns(Column):
    """The key columns of a table, which are searched like one column. A key is a tuple of values of the first ones, or one value."""

    __slots__ = ("_types",)

    def __init__(self, opened: _native.Opened, names: Sequence[str]) -> None:
        super().__init__(opened, {"name": "", "type": "", "nullable": False, "levels": False, "key": None})
        types = types_of(opened)
        self._types = {name: types[name] for name in names}

    def _key(self, key: Any) -> Any:
        key = list(key) if isinstance(key, (tuple, list)) else [key]
        if len(key) > len(self._types):
            raise ArgumentError(f"the key has {len(key)} values, but the table has the key columns {', '.join(self._types)}")
        return [None if part is None else values.exact_of(part, kind) for part, kind in zip(key, self._types.values())]

    def find(self, key: Any) -> int | None:
        stored = self._key(key)
        ordinal, exact = self._opened.seek(self.name, stored)
        if len(stored) < len(self._types):
            exact = self._opened.has_prefix(stored)
        return self._position(ordinal) if exact else None

    def _newest(self, key: Any) -> int | None:
        stored = self._key(key)
        if len(stored) < len(self._types):
            raise ArgumentError(f"expected a key of {len(self._types)} values, found {len(stored)}")
        return self._opened.newest(self.name, stored)
