"""A table: columns of equal length in a directory."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _native, preview
from .column import Column, KeyColumns
from .condition import Condition
from .errors import ArgumentError
from .optional import Lazy, need
from .rows import OpenRows
from .rules import check_numbers, num_rows_of, stored_of
from .selection import Selection, key_of, single_ordinal, types_of

values = Lazy("cfile.values")


class Table(OpenRows):
    """An open table, with the rows that it had when it was opened.

    A table with a merge rule (`merge` of cfile.write) has one row for each key, the newest. Its rows have no numbers: what needs numbers
    raises ArgumentError, and so do statistics, which count stored rows. cfile.open(path, stored_rows=True) reads all stored rows.

    >>> path = tmp / "towns"
    >>> cfile.write(path, pyarrow.table({"id": [1, 2, 5], "town": ["Bergen", "Oslo", "Paris"]}), sorted_by="id")
    >>> towns = cfile.open(path)
    >>> towns[1]
    {'id': 2, 'town': 'Oslo'}
    >>> towns.seek(3), towns.find(5)
    (2, 2)
    >>> towns.scan(cfile.col("town") > "C", columns=["town"]).to_pylist()
    [{'town': 'Oslo'}, {'town': 'Paris'}]

    An object may be used by several threads at the same time.
    """

    __slots__ = ("_opened", "_leaves", "_fields", "_key", "_sorted", "_stored")

    def __init__(self, opened: _native.Opened) -> None:
        self._opened = opened
        # What single lookups need each time.
        self._leaves = [Column(opened, info) for info in opened.columns]
        self._fields = opened.fields
        self._key = key_of(opened)
        # What seek searches. In a table without key columns, the first call finds it.
        self._sorted: Column | None = KeyColumns(opened, self._key) if self._key else None
        self._stored: Table | None = None if opened.applies_rule else self  # what has the rows with the numbers that searches return

    @property
    def columns(self) -> list[str]:
        """The names of the columns. A group of nested records counts as one column."""
        return list(self._fields)

    @property
    def types(self) -> dict[str, str]:
        """The type of each column. Leaf columns of nested records have paths as names, for example "tcp.port"."""
        return {column.name: column.type for column in self._leaves}

    @property
    def key(self) -> list[str]:
        """The key columns, the most significant first; [] if there are none."""
        return list(self._key)

    @property
    def info(self) -> dict[str, Any]:
        """num_rows, num_parts, size_bytes, key, oldest_reader, and the metadata that `cfile.write` has kept."""
        return {"num_rows": len(self), "num_parts": self._opened.num_parts, "size_bytes": sum(part["size_bytes"] for part in self.parts),
                "key": self.key, "oldest_reader": self._opened.oldest_reader, "metadata": self._opened.metadata}

    @property
    def merge_rule(self) -> dict[str, Any] | None:
        """The merge rule (`merge` of cfile.write): deleted_column, time_column and time_bound, or None for each. None: no rule."""
        rule = self._opened.merge_rule
        if rule is not None and rule["time_bound"] is not None:
            rule["time_bound"] = values.python_of(rule["time_bound"], types_of(self._opened)[rule["time_column"]])
        return rule

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The parts of the table: name, first_ordinal, num_rows, size_bytes, and commit: the number of the commit that added the part.

        Each `cfile.append` makes one part. Stored rows are counted, also those that a merge rule hides.
        """
        return self._opened.parts()

    def __len__(self) -> int:
        return num_rows_of(self._opened)

    def _all(self) -> Selection:
        return Selection(self._opened, None)

    def __getitem__(self, key: str | int | slice | Sequence[int]) -> Any:
        """table["name"] is a Column, table[5] a dict; table[2:10], table[[5, 1]] and table[mask] are Rows, see take.

        KeyError: there is no such column. TypeError: `key` is something else, for example a float.
        """
        if isinstance(key, str):
            for column in self._leaves:
                if column.name == key:
                    return column
            if key in self._fields:
                return self._group(key)
            raise KeyError(f"there is no column {key!r}; there are {', '.join(self.columns)}")
        check_numbers(self._opened, "table[...]")
        ordinal = single_ordinal(key, len(self))
        if ordinal is not None:
            if any(column.is_nested for column in self._leaves) or self._fields != list(self.types):
                return self.take([ordinal]).to_pylist()[0]
            return {column.name: column._values([ordinal])[0] for column in self._leaves}
        several: Any = key
        return self._all()[several]

    def _group(self, name: str) -> Column:
        """A field of nested records: a column of structs, lists or maps."""
        field = need("pyarrow", "nested columns").schema(Selection(self._opened, [name])).field(name)
        return Column(self._opened, {"name": name, "type": str(field.type), "nullable": field.nullable, "levels": True, "key": None})

    def take(self, ordinals: Any, *, columns: Sequence[str] | None = None) -> Selection:
        """The rows with these ordinals, in this order, or the rows that a mask chooses.

        ordinals: a list, or an array of NumPy, pandas, pyarrow or Polars, of integers; an array of uint64 of NumPy is the fastest. Or a
        mask: one bool for each row. A null in a mask chooses no row.

        IndexError: there is no such row, or a mask has another length. TypeError: a value is neither an integer nor a bool, or the array
        has several dimensions.
        """
        return Selection(self._opened, columns).take(ordinals)

    def scan(self, where: Condition | str | None = None, *, columns: Sequence[str] | None = None, limit: int | None = None,
             reverse: bool = False) -> Selection:
        """The rows for which `where` is true: a condition such as cfile.col("delay") > 60, or text in the grammar of `--where` of the tools
        such as "delay > 60 and carrier like 'U%'".

        columns: only these columns, in this order. limit: at most so many rows. reverse: batches from the last to the first.
        The scan reads only blocks that may hold such rows: bounds, statistics, Bloom filters and value indexes exclude the others.
        """
        return self._all().scan(where, columns=columns, limit=limit, reverse=reverse)

    def _searched(self, column: str | None = None) -> Column:
        if column is not None:
            found: Column = self[column]
            if not found._is_stored:
                raise TypeError(f"{column} is a group of columns")
            return found
        if self._sorted is None:
            self._sorted = next((leaf for leaf in self._leaves if not leaf.is_nested and leaf.is_sorted), None)
        if self._sorted is None:
            raise ArgumentError(f"{self._opened.name}: no column has a value index; write the table with sorted_by")
        return self._sorted

    def seek(self, key: Any, column: str | None = None) -> int:
        """Returns the ordinal of the first row whose key is not less than `key`; len(self) if there is none.

        `key`: for a table with several key columns, a tuple of values of the first ones. column: the column to search; without it, the
        key columns, or else the first column with a value index. ArgumentError: the column has no value index.

        If parts of the table overlap in the order of the key, use key_range for a range of keys, and no slice.
        """
        return self._searched(column).seek(key)

    def find(self, key: Any, column: str | None = None) -> int | None:
        """Returns the ordinal of the first row with this key, or None. Arguments and errors as seek."""
        return self._searched(column).find(key)

    def key_range(self, low: Any = None, high: Any = None, *, columns: Sequence[str] | None = None) -> Selection:
        """The rows with low <= key < high, in the order of the keys, also if parts of the table overlap. None: no bound.

        Rows with equal keys keep the order of the parts. `low` and `high`: as `key` of seek. columns: only these columns.

        If parts overlap, the call reads the keys of these rows, and the result keeps 8 bytes for each row; it has no slices and cannot be
        scanned again. Otherwise, the call costs two searches. Errors as seek.

        >>> cfile.write(tmp / "log", pyarrow.table({"hour": [1, 5], "text": ["start", "stop"]}), sorted_by="hour")
        >>> cfile.append(tmp / "log", pyarrow.table({"hour": [3], "text": ["late"]}))
        >>> cfile.open(tmp / "log").key_range(2).to_pylist()
        [{'hour': 3, 'text': 'late'}, {'hour': 5, 'text': 'stop'}]
        """
        return self._searched()._between(low, high, Selection(self._opened, columns))

    def get(self, key: Any, *, columns: Sequence[str] | None = None) -> dict[str, Any] | None:
        """Returns the newest row with this key as a dict, or None: the last row of the last part that has the key.

        `key`: for a table with several key columns, a tuple of values of all of them; else a value of the column by which the table is
        sorted. columns: only these columns.
        """
        ordinal = self._searched()._newest(key)
        if ordinal is None:
            return None
        if self._stored is None:
            self._stored = Table(stored_of(self._opened))
        row: dict[str, Any] = self._stored[ordinal] if columns is None else self._stored.take([ordinal], columns=columns).to_pylist()[0]
        return row

    @property
    def statistics(self) -> dict[str, dict[str, Any] | None]:
        """Column.statistics of each column, from the table's own file: no column is opened."""
        return {column.name: column.statistics for column in self._leaves}

    @property
    def blocks(self) -> dict[str, list[dict[str, Any]]]:
        """Column.blocks of each column. Reads the whole table."""
        return {column.name: column.blocks for column in self._leaves}

    def verify(self) -> dict[str, Any]:
        """Reads and checks everything: checksums, structures, values, indexes.

        Returns a dict with rows, blocks and bytes (how many were checked), and with the lists damages and limits. An element is a dict
        with message, file, and offset: the position in the file, in bytes, or None. Without damage, both lists are empty.
        """
        return self._opened.verify()

    def to_dataset(self) -> Any:
        """Returns a pyarrow.dataset.Dataset. DuckDB pushes projections and filters down into it: duckdb.sql("... FROM dataset")."""
        need("pyarrow", "to_dataset")
        from .dataset import TableDataset
        return TableDataset(self)

    def __repr__(self) -> str:
        return preview.table_text(self, self._opened.name)

    def _repr_html_(self) -> str:
        return preview.table_html(self)
