"""Writes parts of tables in many processes, and publishes them in one commit."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from . import _native, keeping
from .errors import ArgumentError, NotFoundError
from .locations import located
from .optional import Lazy
from .writing import Data, check_names, names_of, settings_of, with_metadata

arrow, sorting = Lazy("pyarrow", "sorted_by"), Lazy("cfile.sorting")


def write_part(path: str | os.PathLike[str], data: Any, *, sorted_by: str | Sequence[str] | None = None,
               encoding: str | dict[str, str] | None = None, compression: str | dict[str, str] | None = None,
               goal: str | dict[str, str] | None = None, block_size_bytes: int | dict[str, int] | None = None,
               bloom_filter: int | dict[str, int] | None = None, oldest_reader: str | None = None,
               memory_limit_bytes: int = 1 << 30, max_metadata_size_bytes: int | None = None,
               pack_below_bytes: int | None = None, storage_options: Mapping[str, Any] | None = None) -> bytes:
    """Writes rows as a part of a table, but does not make them visible. Returns a description of the part, for `cfile.commit`.

    Any number of processes on any machines may write parts of one table at the same time. The table need not exist. If it exists, columns
    are found by their names, as in `cfile.append`. If it does not, all parts must get data of the same type.

    sorted_by: sorts the rows of the part by these columns. For a new table, the columns become its key; all parts must name the same. One
        column whose field cannot be null gets a value index instead.
    Other arguments and errors as for cfile.write. `path` may be an s3:// URL.

    If nobody commits the part, `cfile.collect_garbage` removes its files, when they are old enough.

    >>> parts = [cfile.write_part(tmp / "days", pyarrow.table({"day": [day], "count": [day * 10]})) for day in (1, 2)]
    >>> cfile.commit(tmp / "days", parts, id="load 1")
    True
    >>> cfile.open(tmp / "days").to_pylist()
    [{'day': 1, 'count': 10}, {'day': 2, 'count': 20}]
    """
    target = located(path, storage_options)
    settings = settings_of({"encoding": encoding, "compression": compression, "goal": goal, "block_size_bytes": block_size_bytes,
                            "bloom_filter": bloom_filter, "oldest_reader": oldest_reader,
                            "max_metadata_size_bytes": max_metadata_size_bytes, "pack_below_bytes": pack_below_bytes})
    names = names_of(sorted_by or ())
    try:
        opened: _native.Opened | None = _native.open_table(target)
    except NotFoundError:
        opened = None
    # Slices of one DataFrame have different ranges of labels, but parts of a new table need the same columns.
    metadata = keeping.kept(opened.metadata) if opened else {}
    with Data(data, opened.fields if opened else (), opened) as source:
        if source.fields is None:
            raise ArgumentError("one array has no name: pass a table with this column")
        check_names(names, source.fields)
        if opened is None:
            with_metadata(settings, next(iter(_native.leaves_of(source.type)), ""), source.metadata)
            schema: Any = arrow.schema(source.type) if names else source.type
            # A single column that cannot be null gets a value index; other columns become the key.
            indexed = names[0] if len(names) == 1 and not schema.field(names[0]).nullable else None
            if indexed:
                schema = sorting.with_index(schema, indexed, settings)
            new = {"schema": schema, "keys": [] if indexed else names}
            create, writer = partial(_native.Writer.create, **new), _native.Writer.prepare(target, settings=settings, **new)
        else:
            with_metadata(settings, opened.columns[0]["name"], metadata or source.metadata)
            indexed = keeping.keep_index(opened, settings)
            create, writer = partial(_native.Writer.create_like, table=target), _native.Writer.append(target, settings)
        with closing(writer):
            if names:
                sorting.fill_sorted(writer, source.stream, names, memory_limit_bytes, create, indexed)
            else:
                writer.write(source.stream)
            return writer.finish_prepared()


def commit(path: str | os.PathLike[str], parts: Iterable[bytes], *, id: str = "", replacing: Sequence[str] = (),
           stored_rows: bool = False, schema: Any = None, sorted_by: str | Sequence[str] | None = None,
           storage_options: Mapping[str, Any] | None = None) -> bool:
    """Publishes parts in one step. All their rows become visible at once, after the rows that the table has then.

    parts: the results of `cfile.write_part` in a list, in the order of the rows. If there is no table, it is created.
    id: names the work, in at most 128 bytes, for example "load of 2013-01-01". The table remembers the newest 1,000 ids. A second commit
        with the same id changes nothing, so a job that failed after its commit can run again.
    replacing: the names of parts (Table.parts) whose place the new parts take. Their rows disappear in the same step.
    stored_rows: of a table with a merge rule, replaces parts even if rows that they have replaced or deleted come back.
    schema, sorted_by: make a table without rows if there are neither parts nor a table. `schema`: a pyarrow.Schema, or any object with
        __arrow_c_schema__.
    storage_options: as for cfile.open.

    Returns whether this call has published the parts: False if an earlier one has. ConflictError: the table has got another schema, a
    part to replace is gone, or files of the parts are gone. SystemFailure: it may be unknown whether the parts are visible; commit again
    with the same arguments.

    >>> cfile.write(tmp / "log", pyarrow.table({"message": ["start"]}))
    >>> part = cfile.write_part(tmp / "log", pyarrow.table({"message": ["stop"]}))
    >>> cfile.commit(tmp / "log", [part], id="job 7"), cfile.commit(tmp / "log", [part], id="job 7")
    (True, False)
    >>> len(cfile.open(tmp / "log"))
    2
    """
    if isinstance(parts, (bytes, bytearray, memoryview, str)):
        raise TypeError("parts: expected a list of results of cfile.write_part, found a single result: pass [part]")
    listed = list(parts)
    for part in listed:
        if not isinstance(part, bytes):
            raise TypeError(f"parts: expected results of cfile.write_part (bytes), found {type(part).__name__}")
    # A table without rows has no file that could have a value index, so one column becomes a key, too.
    keys = [] if schema is None else names_of(sorted_by or ())
    return _native.commit_parts(located(path, storage_options), listed, id, names_of(replacing), schema, keys, stored_rows)
