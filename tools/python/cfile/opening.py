"""Opens files and tables, by path, by URL, or from an object of Python, and divides them into pieces."""
from __future__ import annotations

import bisect
import copyreg
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from .column import Column
from .condition import Condition, condition_of
from .errors import ArgumentError, ConflictError
from .locations import is_url, local_path, located, opened_at
from .rows import Rows
from .selection import Selection, types_of
from .table import Table


def opened(source: Any, *, filesystem: Any = None, storage_options: Mapping[str, Any] | None = None, threads: int = 1,
           **options: Any) -> _native.Opened:
    """Opens what `open` opens, for the modules of this package. `options`: those of the native module."""
    path = local_path(source, filesystem)
    again = source if path is None else os.path.abspath(path)
    # A table opens files later, when the process may have another working directory.
    found = _opened(again if path is not None and os.path.isdir(path) else source, filesystem, storage_options, options)
    options.pop("snapshot", None)
    found.origin = again, filesystem, storage_options, {**options, "threads": threads}
    if path is not None:  # other files read ahead themselves
        found.threads = threads
    return found


def _opened(source: Any, filesystem: Any, storage_options: Mapping[str, Any] | None, options: dict[str, Any]) -> _native.Opened:
    if filesystem is None and (storage_options or is_url(source)):
        location = located(source, storage_options)
        assert not isinstance(location, str)  # only URLs have options
        return opened_at(location, **options)
    path = local_path(source, filesystem)
    if path is not None:
        return _native.open_table(path, **options) if os.path.isdir(path) else _native.open_file(path, **options)
    from . import ranges
    files = ranges.files_of(source, filesystem)
    return _native.open_table(files, **options) if isinstance(files, ranges.TableFiles) else _native.open_file(files, **options)


def _again(origin: tuple[Any, ...], snapshot: bytes | None) -> _native.Opened:
    source, filesystem, storage_options, options = origin
    if snapshot is not None:
        options = {**options, "snapshot": snapshot}
    return opened(source, filesystem=filesystem, storage_options=storage_options, **options)


# What was opened is pickled as its path, its options without passwords, and the snapshot of a table: its parts.
copyreg.pickle(_native.Opened, lambda found: (_again, (found.origin, found.snapshot)))


def open(source: Any, *, filesystem: Any = None, storage_options: Mapping[str, Any] | None = None, verify_checksums: bool = True,
         cache_size_bytes: int | None = None, threads: int | None = None, stored_rows: bool = False) -> Any:
    """Opens a file or a table, to read it.

    source: the path of a file gives a Column, the path of a directory a Table. Other possibilities:

    - an s3:// or https:// URL of a file or a table;
    - a URL of fsspec: "memory://name", "zip://name::archive.zip", of a file or a table;
    - a path, and the fsspec file system that has it in `filesystem`;
    - an open binary file: any object with read, seek and tell;
    - an object with an attribute `size` (in bytes) and a method `read_ranges`, which takes a list of (offset, size) and returns a list of
      bytes.

    storage_options: how s3:// and https:// URLs are reached. All of these are optional:

    - "endpoint": the URL of a server other than Amazon's; "region"; "anonymous": True if requests are not signed; "path_style": True if
      the name of the bucket is in the path, as it always is with an endpoint. Without them, the usual variables of the environment and
      the files in ~/.aws count (AWS_ENDPOINT_URL, AWS_REGION, ...). Keys and passwords come from there only.
    - "cache": a directory that keeps what was read, up to 10 GiB. It must belong to this user alone, and be new, empty or a cache.
    - "certificate_file": the authorities that sign certificates of servers; else SSL_CERT_FILE of the environment, or the system's.

    verify_checksums: whether each block's checksum is compared when the block is read.
    cache_size_bytes: how many bytes of blocks stay in memory that lookups and `take` have read. Without it, all files and tables share
        1 GiB, or an eighth of the machine's memory if that is less. Lookups all over a table are fast if the cache holds its blocks.

    threads: how many threads read all rows of a local file or table at the same time. Without it two, if there are so many processors.
        One thread does scans with a condition, a limit or reverse, scans of few rows or of more than 64 columns, slices of a file, and
        to_polars and dictionaries=True of a table of several parts.

    stored_rows: of a table with a merge rule (`merge` of cfile.write), all stored rows, as if there were no rule: also those that were
        replaced or deleted, or are too old.

    NotFoundError: there is nothing at this path. DataError: it is damaged, or is no file or table. Exceptions of an object's methods
    come through. Local files are read with pread: if a file shrinks meanwhile, an exception is raised.

    The result closes its files with close(), or at the end of a `with` block. It can be pickled, if `source` can be: the copy has the
    rows of this moment, or raises ConflictError if `cfile.collect_garbage` has removed their files.

    >>> path = tmp / "numbers.cfile"
    >>> cfile.write(path, pyarrow.array([3, 5, 8]))
    >>> cfile.open(path)[1]
    5
    """
    if threads is not None and threads < 1:
        raise ArgumentError(f"threads: expected a number from 1, found {threads}")
    source_opened = opened(source, filesystem=filesystem, storage_options=storage_options, verify_checksums=verify_checksums,
                           cache_size_bytes=cache_size_bytes, threads=min(2, os.cpu_count() or 1) if threads is None else threads,
                           stored_rows=stored_rows)
    return Table(source_opened) if source_opened.is_table else Column(source_opened, source_opened.columns[0])


class Fragment(Rows):
    """Consecutive rows of one part. It can be pickled, and opens the table when it is read.

    ConflictError: since `fragments` was called, the part was dropped or replaced. (Of a table with a merge rule, a fragment has the rows
    of that moment, and raises ConflictError if cfile.collect_garbage has removed their files.)
    """

    __slots__ = ("path", "part", "begin", "end", "_columns", "_where", "_options")

    def __init__(self, path: Any, part: str | None, begin: int, end: int, columns: Sequence[str] | None, where: Condition | None,
                 options: Mapping[str, Any]) -> None:
        self.path = path
        self.part = part  # its name; None in a file
        self.begin = begin  # the first row in the part
        self.end = end
        self._columns = columns
        self._where = where
        self._options = dict(options)

    def _all(self) -> Selection:
        table = opened(self.path, **self._options)
        begin = 0
        if self.part is not None:
            parts = {part["name"]: part["first_ordinal"] for part in table.parts()}
            if self.part not in parts:
                raise ConflictError(f"{self.path}: the part {self.part} was dropped or replaced; call fragments again")
            begin = parts[self.part]
        return Selection(table, self._columns, where=self._where, begin=begin + self.begin, end=begin + self.end,
                         column_only=not table.is_table)

    @property
    def _column_only(self) -> bool:  # type: ignore[override]
        return self.part is None

    def count(self) -> int:
        """Returns the number of rows. With a condition, this reads the columns of the condition."""
        return self._all().count()

    __len__ = count

    def __bool__(self) -> bool:
        return True  # not whether there are rows: this could read a whole column

    def __repr__(self) -> str:
        part = "" if self.part is None else f" of {self.part}"
        return f"<rows {self.begin:,} to {self.end:,}{part} in {self.path}>"


def fragments(path: Any, count: int | None = None, *, columns: Sequence[str] | None = None, where: Condition | str | None = None,
              filesystem: Any = None, storage_options: Mapping[str, Any] | None = None) -> list[Fragment]:
    """Divides a table or a file into pieces of similar size that begin at parts or blocks.

    count: about so many pieces; without it, one for each million rows. columns, where: as for Table.scan. Parts whose bounds exclude
    `where` are left out. path, filesystem, storage_options: as for cfile.open. A pickled fragment has the path and the storage options,
    and no keys or passwords: these come from the environment of the program that reads the fragment.

    >>> cfile.write(tmp / "n", pyarrow.table({"n": range(300_000)}))
    >>> sum(piece.to_arrow().num_rows for piece in cfile.fragments(tmp / "n", 4))
    300000
    """
    given = (("filesystem", filesystem), ("storage_options", storage_options))
    options: dict[str, Any] = {name: value for name, value in given if value is not None}
    table = opened(path, **options)
    if table.applies_rule:  # rows of parts that are appended later would hide some
        if table.snapshot is None:
            raise ArgumentError(f"{path}: fragments of a table with a merge rule need a local path, or an s3:// or https:// URL")
        options["snapshot"] = table.snapshot
    where = condition_of(where)
    native = None if where is None else where.native(types_of(table))
    ranges = table.split(count or max(1, -(-table.num_rows // 1_000_000)), columns, native)
    if not table.is_table:
        return [Fragment(path, None, begin, end, columns, where, options) for begin, end in ranges]
    begins, ends = [begin for begin, _ in ranges], [end for _, end in ranges]
    pieces = []
    for part in table.parts():
        first = part["first_ordinal"]
        last = first + part["num_rows"]
        overlapping = ranges[bisect.bisect_right(ends, first):bisect.bisect_left(begins, last)]
        pieces += [Fragment(path, part["name"], max(begin, first) - first, min(end, last) - first, columns, where, options)
                   for begin, end in overlapping]
    return pieces
