"""Changes tables: merges and drops parts, drops rows, changes columns, and repairs.

Programs that have the table open keep the rows and columns that they opened. A table is at a path or at an s3:// URL; `storage_options`
are those of cfile.open.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native, keeping
from .errors import ArgumentError
from .locations import located
from .optional import Lazy
from .selection import types_of
from .table import Table
from .writing import Data, names_of, settings_of

Path = str | os.PathLike[str]
values = Lazy("cfile.values")
_WEEK_SECONDS = 7 * 24 * 3600.0


def compact(path: Path, parts: Sequence[str] = (), *, encoding: str | dict[str, str] | None = None,
            compression: str | dict[str, str] | None = None, goal: str | dict[str, str] | None = None,
            pack_below_bytes: int | None = None, newest: bool = False,
            storage_options: Mapping[str, Any] | None = None) -> dict[str, int]:
    """Merges parts into one, in the order of the key. Without names of parts, all of them.

    newest: of rows with equal keys, keeps only the newest one: the last row of the last part (Table.get finds it).
    pack_below_bytes: as for cfile.write. 0 gives each column of the new part a file, also if the only part is packed.

    ArgumentError: another part is between these parts. It must be merged, too, because rows with equal keys keep the order of the parts.

    Blocks that stay together are copied without decoding. Returns rows, copied_blocks, recoded_blocks and copied_bytes.

    >>> cfile.write(tmp / "log", pyarrow.table({"n": [1]}))
    >>> cfile.append(tmp / "log", pyarrow.table({"n": [2]}))
    >>> cfile.compact(tmp / "log")["rows"]
    2
    """
    target = located(path, storage_options)
    settings = settings_of({"encoding": encoding, "compression": compression, "goal": goal, "pack_below_bytes": pack_below_bytes})
    return _native.compact(target, names_of(parts), settings, newest)


def drop_parts(path: Path, parts: Sequence[str], *, stored_rows: bool = False,
               storage_options: Mapping[str, Any] | None = None) -> None:
    """Removes parts (Table.parts names them). Their files stay until collect_garbage. NotFoundError: there is no such part.

    ArgumentError: the table has a merge rule, and rows that these parts may have replaced or deleted would come back. stored_rows: allows
    it.
    """
    target, dropped = located(path, storage_options), names_of(parts)
    if any(part["name"] in dropped for part in _native.open_table(target).parts()[:1]):
        keeping.before_dropping(target)
    _native.drop_parts(target, dropped, stored_rows)


def drop_rows_below(path: Path, key: Any, column: str | None = None, *, pack_below_bytes: int | None = None,
                    storage_options: Mapping[str, Any] | None = None) -> None:
    """Removes the rows whose key is less than `key`, for example old rows of a log.

    `key` and `column`: as for Table.seek. pack_below_bytes: as for cfile.write. ArgumentError: the table is not sorted by this column.
    """
    target = located(path, storage_options)
    settings = settings_of({"pack_below_bytes": pack_below_bytes})
    keeping.before_dropping(target)
    searched = Table(_native.open_table(target))._searched(column)
    _native.drop_rows_below(target, searched.name, searched._key(key), settings[""])


def collect_garbage(path: Path, older_than_seconds: float = _WEEK_SECONDS, *,
                    storage_options: Mapping[str, Any] | None = None) -> list[tuple[str, int]]:
    """Removes files that the table does not need any more and that are older. Returns their names and sizes in bytes.

    Open readers can read a dropped part until its files are removed. Use 0 only if no program has the table open.
    """
    return _native.collect_garbage(located(path, storage_options), older_than_seconds)


def raise_oldest_reader(path: Path, reader: str, *, storage_options: Mapping[str, Any] | None = None) -> str:
    """Lets a table be written for newer readers only: `reader` is the oldest program that must be able to read it, "0.1", "0.2" or "0.3".

    Returns the reader that it was before. To go back, write the rows into a new table, with `oldest_reader` of cfile.write.

    >>> cfile.write(tmp / "shared", pyarrow.table({"n": [1]}), oldest_reader="0.1")
    >>> cfile.raise_oldest_reader(tmp / "shared", "0.2")
    '0.1'
    """
    return _native.raise_oldest_reader(located(path, storage_options), reader)


def raise_time_bound(path: Path, time: Any, *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Raises the bound of a merge rule's time column (`merge` of cfile.write): keys whose newest row is before `time` have no row any more.

    compact removes such rows. ArgumentError: the table has no such column, or a later bound.
    """
    target = located(path, storage_options)
    opened = _native.open_table(target)
    column = (opened.merge_rule or {}).get("time_column")
    if column is None:
        raise ArgumentError(f"{opened.name}: the table has no merge rule with a time column")
    _native.raise_time_bound(target, values.exact_of(time, types_of(opened)[column]))


def add_column(path: Path, name: str, type: str, *, nullable: bool = True, default: Any = None,
               storage_options: Mapping[str, Any] | None = None) -> None:
    """Adds a column. Rows that exist get `default`, or null. `type`: as in Table.types. Writes no file of a column.

    >>> cfile.write(tmp / "people", pyarrow.table({"name": ["Ada"]}))
    >>> cfile.add_column(tmp / "people", "born", "int32", default=1815)
    >>> cfile.open(tmp / "people")[0]
    {'name': 'Ada', 'born': 1815}
    """
    stored = None if default is None else values.exact_of(default, type)
    _native.add_column(located(path, storage_options), name, type, nullable, stored)


def add_columns(path: Path, data: Any, *, encoding: str | dict[str, str] | None = None,
                compression: str | dict[str, str] | None = None, goal: str | dict[str, str] | None = None,
                storage_options: Mapping[str, Any] | None = None) -> None:
    """Adds columns with values. `data` has one row for each row of the table, in the same order. All arguments as for cfile.write.

    ArgumentError: `data` has more or fewer rows. ConflictError: since the call began, the table has got or lost rows or columns.

    >>> cfile.write(tmp / "trips", pyarrow.table({"miles": [10.0, 20.0]}))
    >>> miles = cfile.open(tmp / "trips")["miles"].to_numpy()
    >>> cfile.add_columns(tmp / "trips", pyarrow.table({"km": miles * 1.609344}))
    >>> cfile.open(tmp / "trips")[1]
    {'miles': 20.0, 'km': 32.18688}
    """
    _write_columns(path, data, {"encoding": encoding, "compression": compression, "goal": goal}, storage_options, replace=False)


def replace_columns(path: Path, data: Any, *, encoding: str | dict[str, str] | None = None,
                    compression: str | dict[str, str] | None = None, goal: str | dict[str, str] | None = None,
                    storage_options: Mapping[str, Any] | None = None) -> None:
    """Gives new values to the columns that `data` has. Arguments and errors as for add_columns. The types of the columns stay.

    Rows that are appended meanwhile keep their values. A column loses its value index; key columns cannot be replaced.

    >>> cfile.write(tmp / "trips", pyarrow.table({"miles": [10.0, 20.0], "to": ["Oslo", "Rome"]}))
    >>> cfile.replace_columns(tmp / "trips", pyarrow.table({"to": ["Bergen", "Paris"]}))
    >>> cfile.open(tmp / "trips")[1]
    {'miles': 20.0, 'to': 'Paris'}
    """
    _write_columns(path, data, {"encoding": encoding, "compression": compression, "goal": goal}, storage_options, replace=True)


def _write_columns(path: Path, data: Any, options: dict[str, Any], storage_options: Mapping[str, Any] | None, *, replace: bool) -> None:
    target = located(path, storage_options)
    settings = settings_of(options)
    with Data(data, (), _native.open_table(target)) as source:
        if source.fields is None:
            raise ArgumentError("one array has no name: pass a table with this column")
        _native.write_columns(target, source.stream, settings, replace)
        if not replace:
            fields = source.fields
            keeping.change(target, lambda now: keeping.extended(now, source.metadata, fields))


def drop_columns(path: Path, names: Sequence[str], *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Removes columns. Their files stay until collect_garbage."""
    target, dropped = located(path, storage_options), names_of(names)
    _native.drop_columns(target, dropped)
    keeping.change(target, lambda now: keeping.renamed(now, dict.fromkeys(dropped, "")))


def rename_column(path: Path, old: str, new: str, *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Gives a column another name."""
    target = located(path, storage_options)
    _native.rename_column(target, old, new)
    keeping.change(target, lambda now: keeping.renamed(now, {old: new}))


def reorder_columns(path: Path, names: Sequence[str], *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Puts the columns into this order. Each column must be named once."""
    _native.reorder_columns(located(path, storage_options), names_of(names))


def widen_column(path: Path, name: str, type: str, *, storage_options: Mapping[str, Any] | None = None) -> None:
    """Gives a column a type that can hold all values of the old one, for example "int64" instead of "int32"."""
    _native.widen_column(located(path, storage_options), name, type)


def repair(path: Path, *, salvage: bool = False, null_lost: bool = False, drop_damaged: bool = False, force: bool = False,
           dry_run: bool = False, stored_rows: bool = False,
           storage_options: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Reads a whole table, and rebuilds it from the parts if table.cft is damaged or missing. Damaged parts stay as they are.

    Returns name, state, num_rows, lost_rows, lost_values (by column) and reason of each part.
    salvage: replaces each damaged part by the rows that can be read. null_lost: lost values of nullable columns become None instead,
    and their rows stay. drop_damaged: leaves damaged parts out of the table; with salvage, only parts of which nothing can be read.
    Their files stay until collect_garbage, and force brings them back. force: rebuilds a sound table, too. dry_run: changes nothing.
    stored_rows: of a table with a merge rule, also if rows are lost, so that rows that they have replaced or deleted come back.
    """
    return _native.repair(located(path, storage_options), {"salvage": salvage, "null_lost": null_lost, "drop_damaged": drop_damaged,
                                                           "force": force, "dry_run": dry_run, "stored_rows": stored_rows})
