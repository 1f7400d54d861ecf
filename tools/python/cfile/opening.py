"""Opens files and tables: by path, by URL, or from an object of Python."""
from __future__ import annotations

import os

from . import _native
from .column import Column
from .table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def local_path(source: Any, filesystem: Any = None) -> str | None:
    """Returns the path of a local file or directory; None if `source` is a URL, an object, or belongs to a filesystem of fsspec."""
    if filesystem is not None or not isinstance(source, (str, os.PathLike)):
        return None
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return None if "://" in path or "::" in path else path


def opened(source: Any, *, filesystem: Any = None, **options: Any) -> _native.Opened:
    """Opens what `open` opens, for the modules of this package. `options`: those of the native module."""
    path = local_path(source, filesystem)
    if path is not None:
        return _native.open_table(path, **options) if os.path.isdir(path) else _native.open_file(path, **options)
    from . import ranges
    files = ranges.files_of(source, filesystem)
    if isinstance(files, ranges.TableFiles):
        return _native.open_objects(files, **options)
    return _native.open_object(files, **options)


def open(source: Any, *, filesystem: Any = None, verify_checksums: bool = True, cache_size_bytes: int | None = None) -> Any:
    """Opens a file or a table, to read it.

    source: the path of a file gives a Column, the path of a directory a Table. Other possibilities:

    - a URL of fsspec: "memory://name", "zip://name::archive.zip", "https://host/name", of a file or a table;
    - a path, and the fsspec file system that has it in `filesystem`;
    - an open binary file: any object with read, seek and tell;
    - an object with an attribute `size` (in bytes) and a method `read_ranges`, which takes a list of (offset, size) and returns a list of
      bytes.

    verify_checksums: whether each block's checksum is compared when the block is read.
    cache_size_bytes: how many bytes of blocks stay in memory that look-ups and `take` have read. Without it, all files and tables share
        1 GiB, or an eighth of the machine's memory if that is less. Look-ups all over a table are fast if the cache holds its blocks.

    NotFoundError: there is nothing at this path. DataError: it is damaged, or is no file or table. Exceptions of an object's methods
    come through. Local files are read with pread: if a file shrinks meanwhile, an exception is raised.

    >>> path = tmp / "numbers.cfile"
    >>> cfile.write(path, pyarrow.array([3, 5, 8]))
    >>> cfile.open(path)[1]
    5
    """
    source_opened = opened(source, filesystem=filesystem, verify_checksums=verify_checksums, cache_size_bytes=cache_size_bytes)
    return Table(source_opened) if source_opened.is_table else Column(source_opened, source_opened.columns[0])
