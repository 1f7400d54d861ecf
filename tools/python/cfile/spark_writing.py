"""Writes tables for Spark. See cfile.spark."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import _native, keeping, preparing, spark_types
from .errors import ArgumentError, NotFoundError
from .locations import Place
from .optional import need
from .selection import Selection, key_of
from .spark_types import arrow
from .writing import check_names

_source: Any = need("pyspark.sql.datasource", "cfile.spark")

_SETTINGS = {"compression": str, "goal": str, "encoding": str, "block_size_bytes": int, "bloom_filter": int,
             "pack_below_bytes": int}


@dataclass
class Message(_source.WriterCommitMessage):  # type: ignore[misc]
    """What a task sends to the driver."""

    part: bytes | None  # a result of cfile.write_part; None: the task had no rows


class Writer(_source.DataSourceArrowWriter):  # type: ignore[misc]
    """Writes the rows of one job. Spark makes it once for a job, pickles it, and calls write in the tasks and commit at the end."""

    def __init__(self, place: Place, schema: Any, overwrite: bool, options: Mapping[str, str]) -> None:
        self._place = place
        spark_types.check_storable(schema, "")
        self._schema = spark_types.arrow_schema(schema)
        self._id = options.get("commit_id", "")  # a commit without an id is known by its parts
        self._options: dict[str, Any] = {name: self._setting(name, options[name]) for name in _SETTINGS if name in options}
        if "memory_limit_bytes" in options:
            self._options["memory_limit_bytes"] = _converted("memory_limit_bytes", int, options["memory_limit_bytes"])
        self._sorted_by = [name.strip() for name in options.get("sorted_by", "").split(",") if name.strip()]
        check_names(self._sorted_by, self._schema.names)
        self._replaced: list[str] = []
        try:
            opened = _native.open_table(place.location())
        except NotFoundError:
            return
        self._check(opened)
        if not self._sorted_by:
            self._sorted_by = _order_of(opened)
        if overwrite:
            # Parts that other jobs append while this job runs stay.
            self._replaced = [part["name"] for part in opened.parts()]

    def _setting(self, name: str, text: str) -> Any:
        """The value of an option for all columns, as "10", or a dict of values by column, as "id=10, name=8"."""
        convert = _SETTINGS[name]
        if "=" not in text or name == "pack_below_bytes":  # which is for a whole part
            return _converted(name, convert, text)
        leaves = _native.leaves_of(self._schema)
        found = {}
        for each in text.split(","):
            column, _, value = (part.strip() for part in each.rpartition("="))
            if column not in leaves:
                raise ArgumentError(f"{name}: there is no column {column!r}; there are {', '.join(leaves)}")
            found[column] = _converted(name, convert, value)
        return found

    def _check(self, opened: _native.Opened) -> None:
        """ArgumentError: the rows do not fit the columns of the table."""
        missing = set(opened.fields) ^ set(self._schema.names)
        if missing:
            raise ArgumentError(f"{self._place}: the table and the data differ in the columns {', '.join(sorted(missing))}")
        stored = arrow.schema(Selection(opened, None))
        own = spark_types.arrow_schema(spark_types.spark_schema(stored))
        for field in self._schema:
            if _nullable(own.field(field.name).type) != _nullable(field.type):
                raise ArgumentError(f"{self._place}: column {field.name} has the type {own.field(field.name).type}, not {field.type}")
        self._schema = stored

    def write(self, iterator: Iterator[Any]) -> Any:
        """Writes the rows of a task as a part that nobody sees yet. If the task is repeated, the other part becomes garbage."""
        first = next((batch for batch in iterator if batch.num_rows > 0), None)
        if first is None:
            return Message(None)

        def batches() -> Iterator[Any]:
            yield spark_types.converted(first, self._schema, cuts=False)
            for batch in iterator:
                yield spark_types.converted(batch, self._schema, cuts=False)
        rows = arrow.RecordBatchReader.from_batches(self._schema, batches())
        return Message(preparing.write_part(self._place.path, rows, sorted_by=self._sorted_by or None,
                                            storage_options=self._place.storage_options, **self._options))

    def commit(self, messages: list[Any]) -> None:
        """Makes the parts of all tasks visible in one step."""
        parts = [message.part for message in messages if message is not None and message.part is not None]
        preparing.commit(self._place.path, parts, id=self._id, replacing=self._replaced, schema=self._schema,
                         sorted_by=self._sorted_by or None, storage_options=self._place.storage_options)

    def abort(self, messages: list[Any]) -> None:
        """Does nothing: nobody sees the parts, and cfile.collect_garbage removes them. After a failed commit, they may be in the table."""


def _converted(name: str, convert: Callable[[str], Any], text: str) -> Any:
    try:
        return convert(text.strip())
    except ValueError:
        raise ArgumentError(f"{name}: expected a number, found {text!r}") from None


def _order_of(opened: _native.Opened) -> list[str]:
    """The columns by which the rows of each part are sorted."""
    indexed = None if key_of(opened) or opened.num_rows == 0 else keeping.indexed_column(opened)
    return [indexed] if indexed else key_of(opened)


def _nullable(data_type: Any) -> Any:
    """The type, in which all fields may be null: a null where the table has none is an error of its own."""
    types = arrow.types

    def field(of: Any) -> Any:
        return arrow.field(of.name, _nullable(of.type))
    if types.is_struct(data_type):
        return arrow.struct([field(each) for each in data_type])
    if types.is_map(data_type):
        return arrow.map_(_nullable(data_type.key_type), _nullable(data_type.item_type))
    if types.is_list(data_type):
        return arrow.list_(arrow.field("element", _nullable(data_type.value_type)))
    return data_type
