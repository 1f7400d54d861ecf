"""Reads tables for Spark. See cfile.spark."""
from __future__ import annotations

from . import _native, pushing, spark_types
from .condition import of_text
from .errors import ArgumentError
from .optional import need
from .selection import Selection, types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from .condition import Condition
    from .locations import Place

_source: Any = need("pyspark.sql.datasource", "cfile.spark")

PARTITION_SIZE_BYTES = 32 << 20  # as stored; in memory, rows are often four times as large
# Columns that are stored in few bytes would make partitions of very many rows. But a partition costs Spark as much as 500,000 rows.
_PARTITION_ROWS = 8 << 20
_UNDIVIDED_ROWS = 1 << 20


class Partition(_source.InputPartition):  # type: ignore[misc]
    """Consecutive rows of a table: what one task reads."""

    def __init__(self, begin: int, end: int, snapshot: bytes | None = None) -> None:
        self.begin = begin
        self.end = end
        self.snapshot = snapshot  # None: the reader has it


class TableRows:
    """What all readers do: opens the table as it was when the query was planned, and reads rows of it."""

    def __init__(self, place: Place, schema: Any, options: Mapping[str, str]) -> None:
        self.place = place
        self.fields = spark_types.arrow_schema(schema)
        self.where = of_text(options["where"]) if "where" in options else None
        self.size_bytes: int | None = None  # of a partition, if the options say so
        if "partition_size_bytes" in options:
            text = options["partition_size_bytes"].strip()
            self.size_bytes = int(text) if text.isdecimal() else 0
            if self.size_bytes < 1:
                raise ArgumentError(f"partition_size_bytes: expected a number of bytes, found {text!r}")

    def open(self, snapshot: bytes) -> _native.Opened:
        return _native.open_table(self.place.location(), snapshot=snapshot)

    def divided(self, opened: _native.Opened, where: Condition | None) -> list[tuple[int, int]]:
        """Ranges of rows that begin at parts or blocks. Leaves out parts at both ends whose bounds show that no row matches."""
        parts = opened.parts()
        native = None if where is None else where.native(types_of(opened))
        # The ranges show which rows may match. A split opens a file for each range, so it makes few of them.
        few = 1 if native is None else min(64, len(parts))
        rows = sum(end - begin for begin, end in opened.split(max(1, few), self.fields.names, native))
        if rows == 0:
            return []
        # Columns that are not read do not count. Parts say only the size of all columns together.
        share = len(self.fields) / max(1, len(opened.fields)) * rows / opened.num_rows
        count = sum(part["size_bytes"] for part in parts) * share / (self.size_bytes or PARTITION_SIZE_BYTES)
        if self.size_bytes is None:
            count = max(count, rows / _PARTITION_ROWS, 2 if rows > _UNDIVIDED_ROWS else 1)
        return opened.split(max(1, round(count)), self.fields.names, native)

    def batches(self, snapshot: bytes, begin: int, end: int, where: Condition | None) -> Iterator[Any]:
        """pyarrow.RecordBatches in the types that Spark expects."""
        rows = Selection(self.open(snapshot), self.fields.names, where=where, begin=begin, end=end)
        for batch in rows.to_batches():
            if batch.num_rows > 0:
                yield spark_types.converted(batch, self.fields)
        spark_types.settle()


class BatchReader(_source.DataSourceReader):  # type: ignore[misc]
    """Reads a table once. Spark makes it for each query, pickles it, and calls read in the tasks."""

    def __init__(self, place: Place, schema: Any, options: Mapping[str, str]) -> None:
        self._rows = TableRows(place, schema, options)
        # All tasks read the table as it is now, even if its parts are merged or dropped meanwhile.
        self._snapshot = _native.read_snapshot(place.location())
        self._where = self._rows.where

    def partitions(self) -> list[Any]:
        opened = self._rows.open(self._snapshot)
        ranges = self._rows.divided(opened, self._where)
        spark_types.settle()
        # Spark needs one partition at least.
        return [Partition(begin, end) for begin, end in ranges or [(0, 0)]]

    def read(self, partition: Any) -> Iterator[Any]:
        return self._rows.batches(self._snapshot, partition.begin, partition.end, self._where)


class FilteringReader(BatchReader):
    """Also takes the filters of the query.

    Spark makes one reader for all queries of a DataFrame that load() has returned, and a new one only for a query with filters (4.1 to
    4.3). So a query without filters would get the rows of an earlier query. That is why users have to ask for this reader.
    """

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:
        """Takes the filters that cfile can test. Returns those that Spark must test again."""
        opened = self._rows.open(self._snapshot)
        types = {}
        own = need("pyarrow", "cfile.spark").schema(opened.arrow_type())
        flat = pushing.flat_types(opened)
        for field in self._rows.fields:
            if field.name in flat and spark_types.comparable(own.field(field.name).type, field.type):
                types[field.name] = flat[field.name]
        for each in filters:
            condition, is_exact = pushing.of_spark(each, types)
            if condition is not None:
                self._where = condition if self._where is None else self._where & condition
            if not is_exact:
                yield each
