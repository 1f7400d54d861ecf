"""Writes files and tables."""
from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _native, keeping, polars_types
from .errors import ArgumentError
from .locations import Location, is_foreign_url, located
from .optional import Lazy, need
from .replacing import publish
from .rows import OpenRows, Rows

sorting = Lazy("cfile.sorting")


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of the native writers, by column; "" is for all columns that have no settings of their own.

    Each option has one value for all columns, or a dict of values by column; pack_below_bytes, which is for whole parts, has no dict.
    """
    if isinstance(options.get("pack_below_bytes"), dict):
        raise ArgumentError(f"pack_below_bytes: expected a number, found {options['pack_below_bytes']!r}")
    for_all = {name: value for name, value in options.items() if value is not None and not isinstance(value, dict)}
    settings: dict[str, Any] = {"": for_all}
    for name, value in options.items():
        if isinstance(value, dict):
            for column, chosen in value.items():
                settings.setdefault(column, dict(for_all))[name] = chosen
    return settings


def _is_of(data: Any, package: str) -> bool:
    return any(base.__module__.partition(".")[0] == package for base in type(data).__mro__)


def _watched(batches: Iterable[Any], raised: list[BaseException]) -> Iterator[Any]:
    """Keeps the exception of a generator. A stream would make a text of it."""
    try:
        yield from batches
    except BaseException as error:
        raised.append(error)
        raise


def _arrow_data(data: Any, raised: list[BaseException]) -> Any:
    """Returns what has an Arrow stream for data that needs a call before it has one; all other data as they are."""
    if _is_of(data, "polars") and hasattr(data, "collect"):
        return data.collect(engine="streaming")  # a LazyFrame
    if isinstance(data, dict):
        return need("pyarrow", "writing a dict").Table.from_pydict(data)  # table() would import pandas
    if _is_of(data, "pyarrow") and hasattr(data, "scanner"):
        data = data.scanner()  # a Dataset
    if _is_of(data, "pyarrow") and hasattr(data, "to_reader") and not hasattr(data, "__arrow_c_stream__"):
        data = data.to_reader()  # a Scanner
    if _is_of(data, "pyarrow") and hasattr(data, "read_next_batch"):
        return need("pyarrow", "writing batches").RecordBatchReader.from_batches(data.schema, _watched(data, raised))
    if isinstance(data, (list, tuple, Iterator)) and not hasattr(data, "__arrow_c_stream__"):
        batches = iter(data)
        first: Any = next(batches, None)
        if hasattr(first, "schema"):
            return need("pyarrow", "writing batches").RecordBatchReader.from_batches(
                first.schema, _watched(itertools.chain([first], batches), raised))
    return data


class Data:
    """What is written: a stream, its type, and what keeping.py keeps of it.

    with Data(data) as source: if rows of this package could not be read, or a generator has raised an exception, the block raises that
    error, and not the one that the writer makes of it. The error of a RecordBatchReader has it as its cause. fields: see
    keeping.storable. table: the table that gets the rows; None if it is new. byte_lists: whether lists of a fixed length may be bytes.
    """

    def __init__(self, data: Any, fields: Collection[str] | None = None, table: _native.Opened | None = None,
                 byte_lists: bool = True) -> None:
        self.metadata: dict[str, str] = {}
        self._raised: list[BaseException] = []
        self._is_stream = hasattr(data, "__arrow_c_stream__")
        data = _arrow_data(data, self._raised)
        if _is_of(data, "pandas"):
            data = self._of_pandas(data)
        elif _is_of(data, "polars"):
            self.metadata = polars_types.kept(data)
            data = keeping.as_column(data, fields)
        elif not hasattr(data, "__arrow_c_stream__"):
            if not hasattr(data, "__arrow_c_array__"):
                raise TypeError(f"expected an object with __arrow_c_stream__, a DataFrame or Series of pandas, a LazyFrame of Polars, a "
                                f"dict of columns, or batches, got {type(data).__name__}")
            arrow = need("pyarrow", "writing a single array")
            data = arrow.chunked_array([arrow.array(data)])
        if _is_of(data, "pyarrow"):
            data = self._of_pyarrow(data, fields)
        self._rows: Any = data if hasattr(data, "select") and (_is_of(data, "pyarrow") or _is_of(data, "polars")) else None
        # All parts of a new table must have the same types.
        lists = keeping.byte_lists(data) if byte_lists and (table or fields is None) else []
        described = keeping.described_by(table) if table else None
        if table:
            lists = (keeping.fixed_columns(table) if described else []) + [name for name in lists if name not in table.fields]
        self._own: _native.Stream | None = None
        if isinstance(data, OpenRows) and data._column_only and _native.fields_of(data) is not None:
            data = data._all()._changed(column_only=False)  # structs, which may be null
        is_column = isinstance(data, Rows) and data._column_only
        if isinstance(data, Rows):
            self.metadata = keeping.kept(data._all()._metadata())
            data = self._own = data._all()._stream()
        self.stream = self.type = _native.Stream(data, described, lists)
        of_stream = dict(self.stream.metadata)  # for a column of a table, these describe the column of the new file
        self.metadata = {**self.metadata, **of_stream} if is_column else {**of_stream, **self.metadata}
        # The names of the columns; None if the data is one array.
        self.fields = _native.fields_of(self.type)

    def __enter__(self) -> Data:
        return self

    def __exit__(self, *error: object) -> None:
        if self._raised and isinstance(error[1], BaseException):
            if not self._is_stream or not isinstance(self._raised[0], Exception):
                raise self._raised[0]
            error[1].__cause__ = self._raised[0]
        if self._own is not None and isinstance(error[1], Exception):
            self._own.raise_error()

    def columns(self, names: Sequence[str]) -> Any:
        """These columns as a pyarrow.Table if all rows are in memory and have them. Otherwise None."""
        rows = self._rows
        if rows is None or not set(names).issubset(rows.column_names if hasattr(rows, "column_names") else rows.columns):
            return None
        chosen = rows.select(names)
        return chosen.to_arrow() if hasattr(chosen, "to_arrow") else chosen

    def _of_pandas(self, data: Any) -> Any:
        arrow = need("pyarrow", "writing pandas data")
        if hasattr(data, "columns"):
            self.metadata = keeping.python_strings(data)
            return arrow.Table.from_pandas(data)
        values, self.metadata = keeping.of_series(data)
        return values

    def _of_pyarrow(self, data: Any, fields: Collection[str] | None) -> Any:
        arrow = need("pyarrow", "writing pyarrow data")
        data = arrow.Table.from_batches([data]) if isinstance(data, arrow.RecordBatch) else keeping.as_column(data, fields)
        if isinstance(data, arrow.Table):
            data, metadata = keeping.storable(data, fields)
            self.metadata.update(metadata)
        return data


def with_metadata(settings: dict[str, Any], first: str, metadata: Mapping[str, str]) -> None:
    """Adds what keeping.py keeps. The file of the first column has it."""
    if metadata:
        settings[first] = {**settings.get(first, settings[""]), "metadata": metadata}


def names_of(given: Any) -> list[str]:
    """One name, or several."""
    return [given] if isinstance(given, str) else list(given)


def check_names(given: Collection[str], names: Collection[str], option: str = "sorted_by") -> None:
    """ArgumentError: a column that the option names does not exist."""
    for name in given:
        if name not in names:
            raise ArgumentError(f"{option}: there is no column {name}; there are {', '.join(names)}")


def write(path: str | os.PathLike[str], data: Any, *, sorted_by: str | Sequence[str] | bool | None = None,
          encoding: str | dict[str, str] | None = None, compression: str | dict[str, str] | None = None,
          goal: str | dict[str, str] | None = None, block_size_bytes: int | dict[str, int] | None = None,
          bloom_filter: int | dict[str, int] | None = None, oldest_reader: str | None = None, memory_limit_bytes: int = 1 << 30,
          max_metadata_size_bytes: int | None = None, pack_below_bytes: int | None = None, merge: str | None = None,
          deleted_column: str | None = None, time_column: str | None = None, overwrite: bool = False,
          storage_options: Mapping[str, Any] | None = None) -> None:
    """Writes data into a new table, or into a file if the data is one array.

    path: a path, or an s3:// URL; or a URL of fsspec such as "memory://name", to which the file or the table is copied at the end.
    data: any object with __arrow_c_stream__, for example of pyarrow, Polars, DuckDB or this package; a DataFrame or Series of pandas; a
        LazyFrame of Polars; a Dataset or Scanner of pyarrow; a dict of columns; or record batches, in a list or from a generator.
        The labels of a DataFrame become a column, unless they are numbers of rows from 0. Those of a Series are kept up to 1 MiB. The
        rows may need more memory than there is: they are written as they come. Structs become rows, or a column "value" if some are null.
    sorted_by: sorts the rows by these columns, so that they can be searched by key; nulls come first, and no key may be NaN. Rows with
        equal keys keep their order. For one array, True. Needs pyarrow. Rows that need more memory than memory_limit_bytes are sorted in
        parts on disk.
    encoding, compression: names, see cfile.encodings() and cfile.codecs(). Without them, each block gets the encoding that suits it.
    goal: "size", "speed" or "balanced" (the default), if the encoding is chosen for each block.
    block_size_bytes: the size of a block, before compression.
    bloom_filter: bits for each distinct value; 10 makes one of a hundred absent values pass.
    oldest_reader: the oldest program that must be able to read the file or the table: "0.1", "0.2", "0.3" (versions of cfile; default: the
        newest) or "kudu" (Apache Kudu). A table keeps it: later changes write nothing that this program cannot read, and changes that
        need a newer one are refused until cfile.raise_oldest_reader. A file for Kudu keeps no labels of a Series.
    max_metadata_size_bytes: the most bytes of metadata in a file, for example of categories. Without it, 16 MiB; then all programs can read
        the file. This package reads up to 256 MiB.
    pack_below_bytes: a part with at most this many bytes (8 MiB) is one file; larger parts, and all parts with 0, have one for each column.
        A table does not remember it.
    merge: "newest" gives the table a merge rule: the columns `sorted_by` are its key, and a row replaces the rows of its key in older
        parts (cfile.append, cfile.upsert). All readers obey the rule. The rows of one part must have
        different keys, and no key column holds floats.
    deleted_column: with merge, a column of bools. If it is true in the newest row of a key, the table has no row of the key.
    time_column: with merge, a column of integers, dates or times. Keys whose newest row is before cfile.raise_time_bound have no row.
    overwrite: whether to replace the file or the table at `path`. Without it, ExistsError is raised. Something else is never replaced: no
        other file, no other directory, and no table whose directory has further files. A table at a URL cannot be replaced.
    storage_options: as for cfile.open.

    Options with a dict hold for the columns that it names.

    Nothing appears at `path` unless all rows were written. UnsupportedError: a field has a type that no column can have; the text names
    it. ArgumentError: an option does not fit.

    >>> cfile.write(tmp / "t", pyarrow.table({"id": [2, 1], "name": ["b", "a"]}), sorted_by="id", compression={"name": "zstd"})
    >>> cfile.open(tmp / "t").to_pylist()
    [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}]
    """
    options = {"encoding": encoding, "compression": compression, "goal": goal, "block_size_bytes": block_size_bytes,
               "bloom_filter": bloom_filter, "oldest_reader": oldest_reader, "max_metadata_size_bytes": max_metadata_size_bytes,
               "pack_below_bytes": pack_below_bytes}

    rule: _native.MergeSettings | None = None
    if merge is not None:
        rule = {"deleted_column": deleted_column, "time_column": time_column}
    elif deleted_column is not None or time_column is not None:
        raise ArgumentError("deleted_column and time_column belong to merge=\"newest\"")
    if merge not in (None, "newest") or (rule and (not sorted_by or isinstance(sorted_by, bool))):
        raise ArgumentError(f"merge: expected \"newest\", and the key of the table in sorted_by; found {merge!r} and {sorted_by!r}")

    def write_at(target: Location) -> None:
        with Data(data) as source:
            write_data(target, source, options, sorted_by, memory_limit_bytes, overwrite, rule)
    if storage_options is None and is_foreign_url(path):
        from .ranges import put_new
        put_new(str(path), overwrite, write_at)
        return
    publish(located(path, storage_options), overwrite, write_at)


def write_data(target: Location, source: Data, options: Mapping[str, Any], sorted_by: Any = None, memory_limit_bytes: int = 1 << 30,
               overwrite: bool = False, rule: _native.MergeSettings | None = None) -> None:
    """Writes a new file or table; see write."""
    settings = settings_of(options)
    if source.fields is None:
        if len(settings) > 1:
            raise ArgumentError("one array has no names of columns: give the option without a dict")
        if sorted_by and not isinstance(sorted_by, bool):
            raise ArgumentError("one array has no names of columns: use sorted_by=True")
        file_settings: _native.WriterSettings = settings[""]
        if sorted_by:
            file_settings["value_index"] = True
        if options.get("oldest_reader") == "kudu":
            source.metadata.pop(keeping.LABELS, None)
        if source.metadata:
            file_settings["metadata"] = source.metadata
        writer = _native.Writer.create_file(target, source.type, file_settings, overwrite=overwrite)
        finish(writer, sorting.sorted_array(source.stream) if sorted_by else source.stream)
        return
    if isinstance(sorted_by, bool):
        raise ArgumentError("sorted_by: a table needs names of columns")
    names = names_of(sorted_by or ())
    leaves = _native.leaves_of(source.type)
    for option, column in (rule or {}).items():
        check_names([str(column)] if column else [], leaves, option)
    with_metadata(settings, next(iter(leaves), ""), source.metadata)
    if not names:
        finish(_native.Writer.create(target, source.type, settings), source.stream)
        return
    sorting.write_sorted(target, source, names, settings, memory_limit_bytes, rule)


def finish(writer: _native.Writer, stream: Any) -> None:
    try:
        writer.write(stream)
        writer.finish()
    finally:
        writer.close()
