"""Reads the parts that are appended to a table as a stream of Spark. See cfile.spark."""
from __future__ import annotations

from . import _native, spark_types
from .errors import ConflictError
from .optional import need
from .spark_reading import PARTITION_SIZE_BYTES, Partition, TableRows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from .locations import Place

_source: Any = need("pyspark.sql.datasource", "cfile.spark")

# An offset has the names of the parts that the table had when it was made, the number of their rows, and the number of the newest commit
# that had added one of them. Parts of later commits are new. Another part was made by merging or replacing parts; what it was made of
# (_native.part_origin) says whether its rows were read.
_START: dict[str, Any] = {"commit": -1, "rows": 0, "parts": []}


class StreamReader(_source.DataSourceStreamReader):  # type: ignore[misc]
    """Reads the rows of new parts. Spark makes it for each run of a query."""

    def __init__(self, place: Place, schema: Any, options: Mapping[str, str]) -> None:
        self._rows = TableRows(place, schema, options)
        self._ignores_removed = spark_types.flag(options, "ignore_removed")

    def initialOffset(self) -> dict[str, Any]:
        return dict(_START)

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:
        """All parts that the table has now. Versions of Spark before 4.2 pass no arguments."""
        opened = _native.open_table(self._rows.place.location())
        parts = opened.parts()
        if not parts:
            return dict(start or _START)
        return {"commit": max(part["commit"] for part in parts), "rows": opened.num_rows, "parts": [part["name"] for part in parts]}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
        """The rows after the offset `start`, up to and with the offset `end`: whole parts, the small ones together."""
        if start == end:
            return []
        snapshot = _native.read_snapshot(self._rows.place.location())
        parts = self._rows.open(snapshot).parts()
        before, until = self._parts_until(parts, start), self._parts_until(parts, end)
        found: list[Any] = []
        size_bytes, most_bytes = 0, self._rows.size_bytes or PARTITION_SIZE_BYTES
        for part in parts:
            if part["name"] in before or part["name"] not in until or part["num_rows"] == 0:
                continue
            last = part["first_ordinal"] + part["num_rows"]
            size_bytes += part["size_bytes"]
            if found and size_bytes <= most_bytes and found[-1].end == part["first_ordinal"]:
                found[-1].end = last
            else:
                found.append(Partition(part["first_ordinal"], last, snapshot))
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
