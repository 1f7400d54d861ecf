"""Where files and tables are: paths, and URLs that the native module reads and writes."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _native
from .errors import AccessError, ArgumentError, DataError, NotFoundError

Location = str | _native.Location  # what the native module takes
_SCHEMES = ("s3://", "https://", "http://")


def _text(path: Any) -> str:
    """The path as a str. ArgumentError: it has a zero byte, at which the system would cut it."""
    text = os.fspath(path)
    text = os.fsdecode(text) if isinstance(text, bytes) else text
    if "\0" in text:
        raise ArgumentError(f"a path with a zero byte: {text!r}")
    return text


def is_url(source: Any) -> bool:
    """True if `source` is a URL that the native module can use. fsspec opens other URLs."""
    return isinstance(source, str) and source.startswith(_SCHEMES) and "::" not in source and _native.has_http()


def is_foreign_url(source: Any) -> bool:
    """True if `source` is a URL that only fsspec can use."""
    return isinstance(source, str) and "://" in source and not is_url(source)


def local_path(source: Any, filesystem: Any = None) -> str | None:
    """Returns the path of a local file or directory; None if `source` is a URL, an object, or belongs to a filesystem of fsspec."""
    if filesystem is not None or not isinstance(source, (str, os.PathLike)):
        return None
    path = _text(source)
    return None if "://" in path or "::" in path else path


def located(path: Any, storage_options: Mapping[str, Any] | None = None) -> Location:
    """Returns the location of a file or table, for the native module. `storage_options`: as for cfile.open."""
    if is_url(path):
        return _native.Location(_text(path), dict(storage_options or {}))
    if storage_options:
        raise ArgumentError(f"storage_options are for s3:// and https:// URLs, but not for {path!r}")
    text = _text(path)
    if "://" in text:
        raise ArgumentError(f"expected a path, or an s3:// or https:// URL that this build can use, found {text!r}")
    return text


class Place:
    """A path or a URL, and how it is reached. Unlike a Location, it can be pickled."""

    def __init__(self, path: str, storage_options: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.storage_options = dict(storage_options or {})

    def __str__(self) -> str:
        return self.path

    def location(self) -> Location:
        return located(self.path, self.storage_options)


def opened_at(location: _native.Location, **options: Any) -> _native.Opened:
    """Opens the table or the file at a URL."""
    of_table: DataError | None = None
    if "?" not in str(location) or str(location).startswith("s3://"):
        try:
            return _native.open_table(location, **options)
        except (NotFoundError, AccessError):
            pass  # perhaps it is a file. Without the right to list a bucket, S3 denies access to what does not exist.
        except DataError as error:
            of_table = error  # some web servers answer with a page to each path
    try:
        return _native.open_file(location, **options)
    except DataError as error:
        raise of_table or error from None
