"""Adds rows to tables."""
from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native, keeping, preparing
from .errors import ArgumentError
from .locations import located
from .selection import key_of
from .writing import Data, finish, names_of, settings_of, with_metadata


def append(path: str | os.PathLike[str], data: Any, *, encoding: str | dict[str, str] | None = None,
           compression: str | dict[str, str] | None = None, goal: str | dict[str, str] | None = None,
           block_size_bytes: int | dict[str, int] | None = None, bloom_filter: int | dict[str, int] | None = None,
           max_metadata_size_bytes: int | None = None, pack_below_bytes: int | None = None, replacing: Sequence[str] = (),
           stored_rows: bool = False, evolve: bool = False, storage_options: Mapping[str, Any] | None = None) -> None:
    """Appends rows to a table, as a new part. Arguments as for write; columns are found by their names.

    replacing: the names of parts (Table.parts) whose place the new part takes. Their rows disappear in the same step.
    stored_rows: of a table with a merge rule, replaces parts even if rows that they have replaced or deleted come back.
    evolve: changes the columns of the table in the same step, so that the rows fit. A column that gets a null becomes nullable, a number
        gets a wider type (also an integer becomes a double, if all its values are exact), and new columns are added, which are null in
        older rows. Columns that the data lacks get nulls. Columns that change are written again. The data is first written to a temporary
        folder. Tables of nested records, and the columns by which rows are sorted, do not change so.

    The rows become visible to `cfile.open` in one step. If the table has key columns, the rows must be in their order. If it has a merge
    rule (`merge` of cfile.write), they replace older rows of their keys. Many small parts make reading slower; `cfile.compact` merges them.

    >>> cfile.write(tmp / "log", pyarrow.table({"message": ["start"]}))
    >>> cfile.append(tmp / "log", pyarrow.table({"message": ["stop"]}))
    >>> cfile.append(tmp / "log", pyarrow.table({"message": ["restart"], "code": [7]}), evolve=True)
    >>> cfile.open(tmp / "log").to_pylist()[1:]
    [{'message': 'stop', 'code': None}, {'message': 'restart', 'code': 7}]
    """
    target = located(path, storage_options)
    if evolve and replacing:
        raise ArgumentError("evolve=True adds rows: it does not replace parts")
    settings = settings_of({"encoding": encoding, "compression": compression, "goal": goal, "block_size_bytes": block_size_bytes,
                            "bloom_filter": bloom_filter, "max_metadata_size_bytes": max_metadata_size_bytes,
                            "pack_below_bytes": pack_below_bytes})
    opened = _native.open_table(target)
    keeping.keep_index(opened, settings)
    metadata: Mapping[str, str] = keeping.kept(opened.metadata)
    with Data(data, opened.fields, opened) as source:
        if not opened.num_parts:
            metadata = metadata or source.metadata
        elif not replacing:
            metadata = keeping.of_further_part(metadata, opened.oldest_reader)
        with_metadata(settings, opened.columns[0]["name"], metadata)
        if evolve:
            with tempfile.TemporaryDirectory() as folder:
                rows = os.path.join(folder, "rows")
                finish(_native.Writer.create(rows, source.type, {}), source.stream)
                _native.append_table(target, rows, settings)
            if added := [name for name in source.fields or () if name not in opened.fields]:
                keeping.change(target, lambda now: keeping.extended(now, source.metadata, added))
            return
        try:
            finish(_native.Writer.append(target, settings, names_of(replacing), stored_rows), source.stream)
        except ArgumentError as error:
            if error._unfit_rows:
                raise ArgumentError(f"{error}; evolve=True changes the columns of the table so that the rows fit") from None
            raise


def upsert(path: str | os.PathLike[str], data: Any, *, memory_limit_bytes: int = 1 << 30,
           storage_options: Mapping[str, Any] | None = None, **options: Any) -> None:
    """Adds rows to a table with a merge rule (`merge` of cfile.write), or replaces the rows of their keys, in one step.

    As append, but the rows may be in any order. options: those of cfile.write_part for columns, for example compression. ArgumentError:
    the table has no merge rule, or two rows have the same key.

    >>> cfile.write(tmp / "stock", pyarrow.table({"item": ["bolt", "nut"], "count": [5, 7]}), sorted_by="item", merge="newest")
    >>> cfile.upsert(tmp / "stock", pyarrow.table({"item": ["screw", "nut"], "count": [9, 6]}))
    >>> cfile.open(tmp / "stock").get("nut")
    {'item': 'nut', 'count': 6}
    """
    opened = _native.open_table(located(path, storage_options))
    if opened.merge_rule is None:
        raise ArgumentError(f"{opened.name}: the table has no merge rule, so rows replace no others; use append")
    part = preparing.write_part(path, data, sorted_by=key_of(opened), memory_limit_bytes=memory_limit_bytes,
                                storage_options=storage_options, **options)
    preparing.commit(path, [part], storage_options=storage_options)
