"""A table: columns of equal length in a directory."""
from __future__ import annotations

from . import preview
from .column import Column
from .errors import ArgumentError
from .optional import Lazy, need
from .rows import Rows
from .selection import Selection, ordinals_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from . import _native, values
    from .condition import Condition
else:
    values = Lazy("cfile.values")


class Table(Rows):
    """An open table, with the rows that it had when it was opened.

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

    __slots__ = ("_opened",)

    def __init__(self, opened: _native.Opened) -> None:
        self._opened = opened

    @property
    def columns(self) -> list[str]:
        """The names of the columns. A group of nested records counts as one column."""
        return self._opened.fields

    @property
    def types(self) -> dict[str, str]:
        """The type of each column. Leaf columns of nested records have paths as names, for example "tcp.port"."""
        return {info["name"]: info["type"] for info in self._opened.columns}

    @property
    def key(self) -> list[str]:
        """The key columns, the most significant first; [] if there are none."""
        return list(self._opened.info()["key"])

    @property
    def info(self) -> dict[str, Any]:
        """num_rows, num_parts, size_bytes, key, and the metadata that `cfile.write` has kept."""
        return self._opened.info()

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The parts of the table: name, first_ordinal, num_rows, size_bytes. Each `cfile.append` makes one."""
        return self._opened.parts()

    def __len__(self) -> int:
        return self._opened.num_rows

    def _all(self) -> Selection:
        return Selection(self._opened, None)

    def _stream(self, **options: Any) -> _native.Stream:
        return self._all()._stream(**options)

    def _arrow_type(self) -> _native.ArrowType:
        return self._all()._arrow_type()

    def _metadata(self) -> Mapping[str, str]:
        return self._all()._metadata()

    def _leaf(self, info: _native.ColumnInfo) -> Column:
        return Column(self._opened, info)

    def __getitem__(self, key: str | int | slice | Sequence[int]) -> Any:
        """table["name"] is a Column, table[5] a dict, and table[2:10] and table[[5, 1]] are Rows. KeyError: there is no such column."""
        if isinstance(key, str):
            for info in self._opened.columns:
                if info["name"] == key:
                    return self._leaf(info)
            if key in self.columns:
                return Selection(self._opened, [key])  # a group of nested records
            raise KeyError(f"there is no column {key!r}; there are {', '.join(self.columns)}")
        if isinstance(key, int):
            ordinal = ordinals_of([key], len(self))
            if any(info["levels"] for info in self._opened.columns) or self.columns != list(self.types):
                return self.take(ordinal).to_pylist()[0]
            return {name: values.python_of(self._opened.values(name, ordinal)[0], text) for name, text in self.types.items()}
        return self._all()[key]

    def take(self, ordinals: Any, *, columns: Sequence[str] | None = None) -> Selection:
        """The rows with these ordinals, in this order. `ordinals`: a list, or an array of integers. IndexError: there is no such row.

        An array of uint64 of NumPy is the fastest.
        """
        return Selection(self._opened, columns).take(ordinals)

    def scan(self, where: Condition | None = None, *, columns: Sequence[str] | None = None, limit: int | None = None,
             reverse: bool = False) -> Selection:
        """The rows for which `where` is true.

        columns: only these columns, in this order. limit: at most so many rows. reverse: batches from the last to the first.
        The scan reads only blocks that may hold such rows: bounds, statistics, Bloom filters and value indexes exclude the others.
        """
        return self._all().scan(where, columns=columns, limit=limit, reverse=reverse)

    def _searched(self, column: str | None) -> Column:
        if column is not None:
            found = self[column]
            if not isinstance(found, Column):
                raise TypeError(f"{column} is a group of columns")
            return found
        for info in self._opened.columns:
            if not info["levels"] and self._opened.has_index(info["name"]):
                return self._leaf(info)
        raise ArgumentError(f"{self._opened.name}: no column has a value index; write the table with sorted_by")

    def _compound(self, key: Any) -> list[Any]:
        key = list(key) if isinstance(key, (tuple, list)) else [key]
        names = self.key
        if len(key) > len(names):
            raise ArgumentError(f"the key has {len(key)} values, but the table has the key columns {', '.join(names)}")
        types = self.types
        return [None if part is None else values.exact_of(part, types[name]) for part, name in zip(key, names)]

    def seek(self, key: Any, column: str | None = None) -> int:
        """Returns the ordinal of the first row whose key is not less than `key`; len(self) if there is none.

        `key`: for a table with several key columns, a tuple of values of the first ones. column: the column to search; without it, the
        key columns, or else the first column with a value index. ArgumentError: the column has no value index.
        """
        if column is None and self.key:
            return self._opened.seek_compound(self._compound(key))[0]
        return self._searched(column).seek(key)

    def find(self, key: Any, column: str | None = None) -> int | None:
        """Returns the ordinal of the first row with this key, or None. Arguments and errors as seek."""
        if column is None and self.key:
            ordinal, exact = self._opened.seek_compound(self._compound(key))
            return ordinal if exact else None
        return self._searched(column).find(key)

    @property
    def statistics(self) -> dict[str, dict[str, Any] | None]:
        """Column.statistics of each column, from the table's own file: no column is opened."""
        return {info["name"]: self._leaf(info).statistics for info in self._opened.columns}

    @property
    def blocks(self) -> dict[str, list[dict[str, Any]]]:
        """Column.blocks of each column. Reads the whole table."""
        return {info["name"]: self._leaf(info).blocks for info in self._opened.columns}

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
