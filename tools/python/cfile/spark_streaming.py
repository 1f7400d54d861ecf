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

# An offset names a commit of the table: {"commit": number, "rows": rows of the table up to this commit}. The stream has read the rows of
# all parts whose `commit` is not greater. A part that is made by merging has the commit of the first merged part, so merging parts that
# were read, or parts that were not read, changes no offset. "rows" shows other changes: if parts on both sides of an offset are merged,
# the rows up to the offset become more, and if read rows are dropped, they become fewer. If rows are replaced by as many rows, nothing
# shows it.
_START = {"commit": -1, "rows": 0}


class StreamReader(_source.DataSourceStreamReader):  # type: ignore[misc]
    """Reads the rows of new parts. Spark makes it for each run of a query."""

    def __init__(self, place: Place, schema: Any, options: Mapping[str, str]) -> None:
        self._rows = TableRows(place, schema, options)
        self._ignores_removed = spark_types.flag(options, "ignore_removed")

    def initialOffset(self) -> dict[str, int]:
        return dict(_START)

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        """The newest commit that has added a part. Versions of Spark before 4.2 pass no arguments."""
        opened = _native.open_table(self._rows.place.location())
        parts = opened.parts()
        return {"commit": parts[-1]["commit"], "rows": opened.num_rows} if parts else dict(start or _START)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Any]:
        """The rows after the offset `start`, up to and with the offset `end`: whole parts, the small ones together."""
        if start == end:
            return []
        snapshot = _native.read_snapshot(self._rows.place.location())
        opened = self._rows.open(snapshot)
        begin, end_row = self._rows_until(opened, start), self._rows_until(opened, end)
        found: list[Any] = []
        size_bytes, most_bytes = 0, self._rows.size_bytes or PARTITION_SIZE_BYTES
        for part in opened.parts():
            if not begin <= part["first_ordinal"] < end_row or part["num_rows"] == 0:
                continue
            last = part["first_ordinal"] + part["num_rows"]
            size_bytes += part["size_bytes"]
            if found and size_bytes <= most_bytes:
                found[-1].end = last
            else:
                found.append(Partition(part["first_ordinal"], last, snapshot))
                size_bytes = part["size_bytes"]
        return found

    def _rows_until(self, opened: _native.Opened, offset: dict[str, int]) -> int:
        """The number of rows up to an offset. ConflictError: they are not those that the offset has counted."""
        parts = opened.parts()
        rows: int = sum(part["num_rows"] for part in parts if part["commit"] <= offset["commit"])
        if rows == offset["rows"] or (self._ignores_removed and rows < offset["rows"]):
            return rows
        if rows < offset["rows"]:
            raise ConflictError(
                f"{self._rows.place}: rows that this stream has read were dropped or replaced: the table had {offset['rows']:,} rows up to "
                f"commit {offset['commit']}, and has {rows:,} now. Set the option ignore_removed to go on with the rows that are new")
        raise ConflictError(
            f"{self._rows.place}: parts that this stream has read were merged with parts that it has not read, or were replaced by more "
            f"rows: the table had {offset['rows']:,} rows up to commit {offset['commit']}, and has {rows:,} now. Begin a new query with a "
            f"new checkpoint, and merge only parts that all streams have read")

    def read(self, partition: Any) -> Iterator[Any]:
        return self._rows.batches(partition.snapshot, partition.begin, partition.end, self._rows.where)

    def commit(self, end: dict[str, int]) -> None:
        """Does nothing: the table keeps no state of its streams."""
