"""Parquet: tables from Parquet files, and Parquet files from tables. No Parquet library is needed."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native, keeping
from .column import Column
from .errors import ArgumentError, LimitError
from .locations import Location, is_url, local_path, located
from .opening import opened
from .replacing import check_outside_tables, publish
from .selection import Selection, key_of
from .table import Table
from .writing import Data, names_of, settings_of, write, write_data


def from_parquet(source: Any, target: str | os.PathLike[str], *, sorted_by: str | Sequence[str] | None = None,
                 columns: Sequence[str] | None = None, encoding: str | dict[str, str] | None = None,
                 compression: str | dict[str, str] | None = None, goal: str | dict[str, str] | None = None,
                 block_size_bytes: int | dict[str, int] | None = None, bloom_filter: int | dict[str, int] | None = None,
                 oldest_reader: str | None = None, types: Mapping[str, str] | None = None, part_per_row_group: bool = False,
                 pack_below_bytes: int | None = None, append: bool = False, overwrite: bool = False, memory_limit_bytes: int = 1 << 30,
                 max_page_size_bytes: int = 1 << 30, filesystem: Any = None,
                 storage_options: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Makes a table of a Parquet file, or of a directory of Parquet files.

    source: the path of a file; a URL of fsspec, an open binary file or an object with read_ranges, as for cfile.open; or the path of a
        local directory. All files of a directory become one table. Folders with names such as "year=2024" become columns.
    sorted_by: the rows are sorted by these columns, so that they can be searched by key. If the rows have another order, they are sorted
        as by cfile.write. This needs pyarrow and disk space for a second table, and no more memory than memory_limit_bytes.
    columns: only these columns.
    encoding, compression, goal, block_size_bytes, bloom_filter, oldest_reader, pack_below_bytes: as for cfile.write. Without encoding,
        compression and goal, pages keep their encoding and compression, and most are copied without decoding their values. With goal, all
        values are encoded again.
    types: other types for columns, as --type of cfile-import. INT96 becomes timestamp(ns), which has the years 1677 to 2262 only; with
        "timestamp(us)" a time of any year, and with "int96" it stays as it is. "binary" is for strings that are not UTF-8.
    part_per_row_group: each row group becomes a part of the table. Its dictionaries are copied, too.
    append: the rows become a new part of the table at `target`, in its order.
    overwrite: whether to replace the table at `target`, as in cfile.write.
    source and target can be s3:// URLs, and the source an https:// URL. A source at a URL is one file. storage_options: as for
        cfile.open, for both.
    max_page_size_bytes: the largest page or dictionary of the file, as stored and before compression. LimitError: a page is larger.

    Returns rows, row_groups, copied_pages, recompressed_pages (the encoded values were copied, and compressed again), recoded_pages (the
    values were encoded again), bytes_in and bytes_out.

    Nothing appears at `target` unless all rows were written. Every page is checked before it is copied. The table keeps the metadata of
    the file (of a directory: what all files have), so pandas gets its index back. DataError: the file is damaged. UnsupportedError: it is
    encrypted, or has something that is not known. ArgumentError: it is no Parquet file, or an option does not fit.

    >>> import pyarrow.parquet
    >>> pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2, 5], "town": ["Bergen", "Oslo", "Paris"]}), tmp / "towns.parquet")
    >>> cfile.from_parquet(tmp / "towns.parquet", tmp / "towns", sorted_by="id")["rows"]
    3
    >>> towns = cfile.open(tmp / "towns")
    >>> towns[towns.find(5)]
    {'id': 5, 'town': 'Paris'}
    """
    path = located(target, storage_options if is_url(target) else None)
    options: dict[str, Any] = {"encoding": encoding, "compression": compression, "goal": goal,
                               "block_size_bytes": block_size_bytes, "bloom_filter": bloom_filter, "oldest_reader": oldest_reader,
                               "pack_below_bytes": pack_below_bytes}
    settings = settings_of(options)
    names = names_of(sorted_by or ())
    file: Any = local_path(source, filesystem)
    if file is None and filesystem is None and is_url(source):
        file = located(source, storage_options)
    elif file is None:
        from . import ranges
        file = ranges.file_of(source, filesystem)

    def made(at: Location, settings: Any, names: Sequence[str], append: bool = False) -> dict[str, int]:
        return _native.import_parquet(file, at, settings, {
            "columns": list(columns or ()), "sorted_by": names, "types": dict(types or {}), "append": append,
            "part_per_row_group": part_per_row_group, "copy_pages": goal is None, "max_page_size_bytes": max_page_size_bytes})

    if append:
        if names or overwrite or types:
            raise ArgumentError("append: the table has its order and its types already, and is not replaced")
        keeping.keep_index(_native.open_table(path), settings)
        return made(path, settings, (), append=True)

    def write_at(at: Location) -> dict[str, int]:
        try:
            return made(at, settings, names)
        except ArgumentError:
            if not names:
                raise
        # The rows may have another order. If the error is another one, it is raised again.
        import tempfile
        folder, name = os.path.split(os.path.abspath(at)) if isinstance(at, str) else (tempfile.gettempdir(), "cfile")
        with tempfile.TemporaryDirectory(prefix=f".{name}-unsorted-", dir=folder, ignore_cleanup_errors=True) as temporary:
            unsorted = os.path.join(temporary, "rows")
            report = made(unsorted, {"": {}}, ())
            try:
                write(at if isinstance(at, str) else target, Table(_native.open_table(unsorted)), sorted_by=names,
                      memory_limit_bytes=memory_limit_bytes, storage_options=None if isinstance(at, str) else storage_options, **options)
            except LimitError as error:
                if "int96" not in (types or {}).values():
                    raise
                raise LimitError(f"{error}. Times of any year can be sorted as microseconds: types={{column: 'timestamp(us)'}}") from None
        recoded = report["copied_pages"] + report["recompressed_pages"] + report["recoded_pages"]
        return report | {"copied_pages": 0, "recompressed_pages": 0, "recoded_pages": recoded, "bytes_out": _size_of(at)}
    return publish(path, overwrite, write_at)


def _size_of(table: Location) -> int:
    if not isinstance(table, str):
        return sum(part["size_bytes"] for part in _native.open_table(table).parts())
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(table) for name in names)


def to_parquet(source: Any, target: Any, *, columns: Sequence[str] | None = None, row_group_rows: int = 1 << 20,
               compression: str | None = None, page_version: int = 2, page_index: bool = True, page_checksums: bool = True,
               check_values: bool = True, metadata: Mapping[str, str] | None = None, filesystem: Any = None,
               storage_options: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Makes a Parquet file of a table or a file. Blocks in Parquet's encodings become pages without decoding their values.

    source: a Table, the Column of a file, or anything that cfile.open takes, with `filesystem` or `storage_options` if needed.
    target: a path or an s3:// URL, whose file is replaced; or an object with a method write, such as an open binary file. It stays open.
    columns: only these columns. They keep the order of the table.
    row_group_rows: a row group ends after this number of rows, or some rows before, and at the end of each part.
    compression: the codec of all pages. Without it, pages keep the codec of their blocks, if Parquet has this codec.
    page_version: of page headers, 1 or 2. Pages of version 2 are copied more often. Old readers know only version 1.
    page_index: whether to write the column index and the offset index, with which readers skip pages.
    page_checksums: whether pages have checksums.
    check_values: whether all values of a block are checked before its bytes are copied. Without it, only checksums and counts are.
    metadata: strings for the metadata of the file, in addition to what the table has.

    Returns rows, row_groups, copied_pages, recompressed_pages (the encoded values were copied, and compressed again), recoded_pages (the
    values were encoded again), bytes_in and bytes_out.

    A file appears at a path when it is complete. DataError: the table is damaged. ArgumentError: an option does not fit, or Parquet
    cannot have a value. Rows of a scan, and some rows of a table: use pyarrow.parquet.write_table(rows.to_arrow(), ...).

    >>> cfile.write(tmp / "towns", pyarrow.table({"id": [1, 2, 5], "town": ["Bergen", "Oslo", "Paris"]}))
    >>> cfile.to_parquet(tmp / "towns", tmp / "towns.parquet", compression="zstd")["rows"]
    3
    >>> import pyarrow.parquet
    >>> pyarrow.parquet.read_table(tmp / "towns.parquet").to_pydict()
    {'id': [1, 2, 5], 'town': ['Bergen', 'Oslo', 'Paris']}
    """
    if isinstance(source, (Table, Column)):
        native = source._opened
        if isinstance(source, Column) and native.is_table:
            raise TypeError(f"a column of a table: give the table, and columns=[{source.name!r}]")
    else:
        native = opened(source, filesystem=filesystem, storage_options=storage_options if is_url(source) else None)
    if not native.is_table and columns is not None:
        raise ArgumentError("columns: a file has one column")
    path: Any = target
    if not hasattr(target, "write"):
        path = located(target, storage_options) if is_url(target) else local_path(target)
        if path is None:
            raise TypeError(f"target: expected a path of a local file, or an object with write, for example of fsspec.open, got {target!r}")
        if isinstance(path, str):
            check_outside_tables(path)
    options = {"max_row_group_rows": row_group_rows, "compression": compression, "page_version": page_version, "page_index": page_index,
               "page_checksums": page_checksums, "check_values": check_values, "metadata": list((metadata or {}).items())}
    rows = Selection(native, columns, column_only=not native.is_table)
    if native.applies_rule or keeping.has_byte_lists(rows):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            lists = os.path.join(folder, "lists")
            # Rows that a merge rule has chosen are not in the order of the key.
            names = [name for name in key_of(native) if native.applies_rule and name in (columns or native.fields)]
            with Data(rows, byte_lists=False) as data:
                write_data(lists, data, {}, names)
            return _native.export_parquet(opened(lists), path, options)
    return _native.export_parquet(native, path, {**options, "columns": list(columns or ())})
