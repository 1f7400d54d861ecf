"""Opens files and tables: by path, by URL, or from an object of Python."""
from __future__ import annotations

import copyreg
import os

from . import _native
from .column import Column
from .errors import ArgumentError
from .locations import is_url, local_path, located, opened_at
from .table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


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
    if isinstance(files, ranges.TableFiles):
        return _native.open_objects(files, **options)
    return _native.open_object(files, **options)


def _again(origin: tuple[Any, ...], snapshot: bytes | None) -> _native.Opened:
    source, filesystem, storage_options, options = origin
    if snapshot is not None:
        options = {**options, "snapshot": snapshot}
    return opened(source, filesystem=filesystem, storage_options=storage_options, **options)


# What was opened is pickled as its path, its options without passwords, and the snapshot of a table: its parts.
copyreg.pickle(_native.Opened, lambda found: (_again, (found.origin, found.snapshot)))


def open(source: Any, *, filesystem: Any = None, storage_options: Mapping[str, Any] | None = None, verify_checksums: bool = True,
         cache_size_bytes: int | None = None, threads: int | None = None) -> Any:
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
    cache_size_bytes: how many bytes of blocks stay in memory that look-ups and `take` have read. Without it, all files and tables share
        1 GiB, or an eighth of the machine's memory if that is less. Look-ups all over a table are fast if the cache holds its blocks.

    threads: how many threads read all rows of a local file or table at the same time. Without it two, if there are so many processors.
        One thread does scans with a condition, a limit or reverse, scans of few rows or of more than 64 columns, slices of a file, and
        to_polars and dictionaries=True of a table of several parts.

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
                           cache_size_bytes=cache_size_bytes, threads=min(2, os.cpu_count() or 1) if threads is None else threads)
    return Table(source_opened) if source_opened.is_table else Column(source_opened, source_opened.columns[0])
