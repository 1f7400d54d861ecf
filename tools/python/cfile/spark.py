"""Apache Spark reads and writes tables of cfile, through its Python Data Source API.

    import cfile.spark
    cfile.spark.register(spark)
    spark.read.format("cfile").load("flights")
    frame.write.format("cfile").mode("append").option("sorted_by", "time").save("flights")

spark.md of this package describes the options. Needs PySpark 4.1 or later and pyarrow, on all machines of the cluster.
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import _native, spark_types
from .errors import ArgumentError
from .locations import Place
from .optional import need
from .selection import Selection
from .spark_types import arrow, flag

_source: Any = need("pyspark.sql.datasource", "cfile.spark")

_READ_OPTIONS = ("columns", "where", "push_filters", "partition_size_bytes", "ignore_removed", "stored_rows")
_WRITE_OPTIONS = ("sorted_by", "commit_id", "compression", "goal", "encoding", "block_size_bytes", "bloom_filter", "pack_below_bytes",
                  "memory_limit_bytes")

_STORAGE_OPTIONS = ("endpoint", "region", "anonymous", "path_style", "cache", "certificate_file")  # of cfile.open
_STORAGE_FLAGS = ("anonymous", "path_style")


def register(spark: Any) -> None:
    """Makes the format "cfile" known to a SparkSession, and lets Spark push filters into it."""
    spark.dataSource.register(CfileSource)
    # Without this setting, Spark refuses to read from a source that can take filters.
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


class CfileSource(_source.DataSource):  # type: ignore[misc]
    """The format "cfile". Spark makes the objects."""

    @classmethod
    def name(cls) -> str:
        return "cfile"

    def _place(self) -> Place:
        options: Mapping[str, str] = self.options
        known = {"path", *_READ_OPTIONS, *_WRITE_OPTIONS, *_STORAGE_OPTIONS}
        for name in options:
            if name.lower() not in known:
                raise ArgumentError(f"there is no option {name!r} of the format cfile; there are {', '.join(sorted(known))}")
        path = options.get("path")
        if not path:
            raise ArgumentError("the format cfile needs a path: load(path), save(path)")
        storage: dict[str, Any] = {name: options[name] for name in _STORAGE_OPTIONS if name in options}
        for name in _STORAGE_FLAGS:
            if name in storage:
                storage[name] = flag(options, name)
        return Place(re.sub("^file:(//)?(?=/)", "", path), storage)

    def _columns(self) -> list[str] | None:
        """The option "columns": names with commas between them."""
        text = self.options.get("columns")
        return None if text is None else [name.strip() for name in text.split(",")]

    def schema(self) -> Any:
        """The StructType of the table."""
        opened = _native.open_table(self._place().location())
        found = spark_types.spark_schema(arrow.schema(Selection(opened, self._columns())))
        spark_types.settle()
        return found

    def reader(self, schema: Any) -> Any:
        from .spark_reading import BatchReader, FilteringReader
        return (FilteringReader if flag(self.options, "push_filters") else BatchReader)(self._place(), schema, self.options)

    def streamReader(self, schema: Any) -> Any:
        from .spark_reading import StreamReader
        return StreamReader(self._place(), schema, self.options)

    def writer(self, schema: Any, overwrite: bool) -> Any:
        from .spark_writing import Writer
        return Writer(self._place(), schema, overwrite, self.options)
