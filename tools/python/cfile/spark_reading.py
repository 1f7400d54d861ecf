"""Reads tables, and the parts that are appended to them as streams, for Spark. See cfile.spark."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _native, pushing, spark_types
from .condition import Condition, condition_of
from .errors import ArgumentError, ConflictError
from .locations import Place
from .optional import need
from .selection import Selection, types_of
from .spark_types import arrow

_source: Any = need("pyspark.sql.datasource", "cfile.spark")

_PARTITION_SIZE_BYTES = 32 << 20  # as stored; in memory, rows are often four times as large
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
        self.where = condition_of(options.get("where"))
        self.stored_rows = spark_types.flag(options, "stored_rows")
        self.size_bytes: int | None = None  # of a partition, if the options say so
        if "partition_size_bytes" in options:
            text = options["partition_size_bytes"].strip()
            self.size_bytes = int(text) if text.isdecimal() else 0
            if self.size_bytes < 1:
                raise ArgumentError(f"partition_size_bytes: expected a number of bytes, found {text!r}")

    def open(self, snapshot: bytes | None = None) -> _native.Opened:
        return _native.open_table(self.place.location(), snapshot=snapshot, stored_rows=self.stored_rows)

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
        count = sum(part["size_bytes"] for part in parts) * share / (self.size_bytes or _PARTITION_SIZE_BYTES)
        if self.size_bytes is None:
            count = max(count, rows / _PARTITION_ROWS, 2 if rows > _UNDIVIDED_ROWS else 1)
        return opened.split(max(1, round(count)), self.fields.names, native)

    def batches(self, snapshot: bytes | None, begin: int, end: int, where: Condition | None) -> Iterator[Any]:
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
        self._snapshot = _native.open_table(place.location()).snapshot
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
        own = arrow.schema(Selection(opened, None))
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


# An offset has the names of the parts that the table had when it was made, the number of their rows, and the number of the newest commit
# that had added one of them. Parts of later commits are new. Another part was made by merging or replacing parts; what it was made of
# (_native.part_origin) says whether its rows were read.
_START: dict[str, Any] = {"commit": -1, "rows": 0, "parts": []}


class StreamReader(_source.DataSourceStreamReader):  # type: ignore[misc]
    """Reads the rows of new parts. Spark makes it for each run of a query."""

    def __init__(self, place: Place, schema: Any, options: Mapping[str, str]) -> None:
        self._rows = TableRows(place, schema, options)
        self._ignores_removed = spark_types.flag(options, "ignore_removed")

    def _open(self) -> _native.Opened:
        opened = self._rows.open()
        if opened.applies_rule:
            raise ArgumentError(f"{self._rows.place}: the table has a merge rule, and a stream of new rows cannot say which rows were "
                                "replaced or deleted. The option stored_rows makes a stream of all rows that are stored")
        return opened

    def initialOffset(self) -> dict[str, Any]:
        return dict(_START)

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:
        """All parts that the table has now. Versions of Spark before 4.2 pass no arguments."""
        opened = self._open()
        parts = opened.parts()
        if not parts:
            return dict(start or _START)
        return {"commit": max(part["commit"] for part in parts), "rows": opened.num_rows, "parts": [part["name"] for part in parts]}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
        """The rows after the offset `start`, up to and with the offset `end`: whole parts, the small ones together."""
        if start == end:
            return []
        opened = self._open()
        parts = opened.parts()
        before, until = self._parts_until(parts, start), self._parts_until(parts, end)
        found: list[Any] = []
        size_bytes, most_bytes = 0, self._rows.size_bytes or _PARTITION_SIZE_BYTES
        for part in parts:
            if part["name"] in before or part["name"] not in until or part["num_rows"] == 0:
                continue
            last = part["first_ordinal"] + part["num_rows"]
            size_bytes += part["size_bytes"]
            if found and size_bytes <= most_bytes and found[-1].end == part["first_ordinal"]:
                found[-1].end = last
            else:
                found.append(Partition(part["first_ordinal"], last, opened.snapshot))
                size_bytes = part["size_bytes"]
        return found

    def _parts_until(self, parts: list[dict[str, Any]], offset: dict[str, Any]) -> set[str]:
        """The names of the parts whose rows are those of an offset. ConflictError: it cannot be told, or rows have gone."""
        if "parts" not in offset and offset["commit"] >= 0:
            raise ConflictError(f"{self._rows.place}: an earlier version of cfile wrote the checkpoint, which does not say what parts the "
                                f"stream has read. Begin a new query with a new checkpoint")
        named = set(offset.get("parts", ()))
        until = {part["name"] for part in parts if part["num_rows"] > 0 and self._is_until(part, named, offset["commit"])}
        rows = sum(part["num_rows"] for part in parts if part["name"] in until)
        if rows == offset["rows"] or (self._ignores_removed and rows < offset["rows"]):
            return until
        raise ConflictError(
            f"{self._rows.place}: rows that this stream has read were dropped or replaced: there were {offset['rows']:,} rows up to commit "
            f"{offset['commit']}, and there are {rows:,} now. If there are fewer, set the option ignore_removed to go on with the new rows")

    def _is_until(self, part: dict[str, Any], named: set[str], commit: int) -> bool:
        """Whether the rows of a part are those of an offset: it is one of the `named` parts, or was made of nothing else."""
        seen: set[str] = set()
        found: set[bool] = set()
        pending: list[tuple[str, int | None]] = [(part["name"], part["commit"])]
        while pending and len(found) < 2:
            name, added = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            is_known = name in named or (added or 0) > commit
            origin = None if is_known else _native.part_origin(self._rows.place.location(), name)
            if name in named:
                found.add(True)
            elif (origin[0] if origin else added or 0) > commit:
                found.add(False)
            elif origin and origin[1]:
                pending += [(replaced, None) for replaced in origin[1]]
            else:
                raise ConflictError(
                    f"{self._rows.place}: nothing says any more whether this stream has read all rows of part {part['name']}. Begin a new "
                    f"query with a new checkpoint, and run streams more often than cfile.collect_garbage removes merged parts")
        if len(found) == 2:
            raise ConflictError(
                f"{self._rows.place}: parts that this stream has read were merged with parts that it has not read: part {part['name']} has "
                f"rows of both. Begin a new query with a new checkpoint, and merge only parts that all streams have read")
        return found.pop()

    def read(self, partition: Any) -> Iterator[Any]:
        return self._rows.batches(partition.snapshot, partition.begin, partition.end, self._rows.where)

    def commit(self, end: dict[str, Any]) -> None:
        """Does nothing: the table keeps no state of its streams."""
