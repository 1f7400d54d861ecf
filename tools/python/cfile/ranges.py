"""Reads files that are no local files: through fsspec, or from objects of Python."""
from __future__ import annotations

import bisect
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .errors import ArgumentError, ExistsError
from .optional import need
from .replacing import FILE_MAGICS

MOST_SIZE = 1 << 64
MOST_GAP_BYTES = 64 * 1024  # two ranges with a smaller gap between them are read in one request


def merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merges (offset, size) pairs that lie near each other. The result is in ascending order."""
    requests: list[tuple[int, int]] = []
    for offset, size in sorted(ranges):
        if requests:
            begin, length = requests[-1]
            if offset <= begin + length + MOST_GAP_BYTES:
                requests[-1] = begin, max(length, offset + size - begin)
                continue
        requests.append((offset, size))
    return requests


class RangedFile:
    """A file that the native module reads in ranges, from any thread.

    read: takes (offset, size) pairs, as `merged` returns them, and returns the bytes of each. has_latency: whether one call for several
    ranges takes less time than a call for each. Cached blocks of an object are not used for another object, even if both have the same
    name: the file may have changed meanwhile.
    """

    def __init__(self, name: str, size: int, read: Callable[[list[tuple[int, int]]], Sequence[Any]], has_latency: bool = True) -> None:
        self.name = name
        self.size = size
        self.has_latency = has_latency
        self._read = read

    def read_ranges(self, ranges: list[tuple[int, int]]) -> Sequence[Any]:
        """Returns one bytes-like object of exactly its size for each range, with as few requests as possible."""
        requests = merged(ranges)
        pieces = self._read(requests)
        if len(pieces) != len(requests):
            raise ArgumentError(f"{self.name}: {len(requests)} ranges were asked for, and {len(pieces)} were returned")
        results = []
        for offset, size in ranges:
            index = bisect.bisect_right(requests, (offset, MOST_SIZE)) - 1
            begin = offset - requests[index][0]
            results.append(memoryview(pieces[index])[begin:begin + size])
        return results


class TableFiles:
    """The files of a table in an fsspec file system, for the native module. FileNotFoundError, of fsspec: there is no such file."""

    def __init__(self, filesystem: Any, path: str, name: str) -> None:
        self.name = name
        self._filesystem = filesystem
        self._path = path.rstrip("/")

    def open(self, path: str) -> RangedFile:
        """Opens one file of the table."""
        return _of_filesystem(self._filesystem, f"{self._path}/{path}", f"{self.name}/{path}")

    def list(self, folder: str) -> list[tuple[str, int]]:
        """(path, size in bytes) of all files in a folder; "" is the whole table."""
        top = f"{self._path}/{folder}" if folder else self._path
        found = self._filesystem.find(top, detail=True)
        begin = len(self._filesystem._strip_protocol(self._path)) + 1
        return [(path[begin:], int(info["size"])) for path, info in found.items()]

    def read(self, path: str, max_size_bytes: int) -> tuple[bytes, str]:
        """The bytes of a small file, and its version."""
        data = bytes(self._filesystem.cat_file(f"{self._path}/{path}", start=0, end=max_size_bytes + 1))
        import hashlib
        return data, hashlib.sha256(data).hexdigest()


def _of_filesystem(filesystem: Any, path: str, name: str) -> RangedFile:
    info = filesystem.info(path)
    size = info.get("size")
    if size is None:
        raise ArgumentError(f"{name}: its size is not known, so it cannot be read in ranges")

    def read(ranges: list[tuple[int, int]]) -> Sequence[Any]:
        if len(ranges) == 1:
            offset, length = ranges[0]
            return [filesystem.cat_file(path, start=offset, end=offset + length)]
        pieces: Sequence[Any] = filesystem.cat_ranges([path] * len(ranges), [offset for offset, _ in ranges],
                                                      [offset + length for offset, length in ranges], on_error="raise")
        return pieces
    return RangedFile(name, int(size), read)


def _of_stream(file: Any) -> RangedFile:
    lock = threading.Lock()
    with lock:
        size = file.seek(0, 2)
    if size is None:
        size = file.tell()

    def read(ranges: list[tuple[int, int]]) -> Sequence[Any]:
        pieces = []
        with lock:
            for offset, length in ranges:
                file.seek(offset)
                data = b""
                while len(data) < length and (more := file.read(length - len(data))):
                    data += more
                pieces.append(data)
        return pieces
    return RangedFile(str(getattr(file, "name", "") or f"<{type(file).__name__}>"), size, read, has_latency=False)


def file_of(source: Any, filesystem: Any) -> RangedFile:
    """Returns the file that `source` names; see cfile.open."""
    if hasattr(source, "read_ranges") and hasattr(source, "size"):
        return RangedFile(str(getattr(source, "name", f"<{type(source).__name__}>")), int(source.size), source.read_ranges)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return _of_stream(source)
    return _of_filesystem(*_located(source, filesystem), str(source))


def put_new(url: str, overwrite: bool, write_at: Callable[[str], object]) -> None:
    """Calls write_at(path), and copies the new file or table to a URL of fsspec. Errors as publish in replacing.py.

    A table becomes visible at the end, with its last file.
    """
    filesystem, path = _located(url, None)
    if filesystem.exists(path):
        if not overwrite:
            raise ExistsError(f"{url}: something is there; use overwrite=True for a file")
        if filesystem.isdir(path) or filesystem.cat_file(path, start=0, end=8) not in FILE_MAGICS:
            raise ArgumentError(f"{url} is not a file of cfile: overwrite=True replaces only such files; remove it first")
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        local = os.path.join(folder, "new")
        write_at(local)
        if not os.path.isdir(local):
            filesystem.put_file(local, path)
            return
        files = [os.path.relpath(os.path.join(folder, name), local) for folder, _, names in os.walk(local) for name in names]
        for name in sorted(files, key=lambda name: name == "table.cft"):
            target = f"{path}/{name}"
            filesystem.makedirs(target.rpartition("/")[0], exist_ok=True)
            filesystem.put_file(os.path.join(local, name), target)


def _located(source: Any, filesystem: Any) -> tuple[Any, str]:
    """Returns the file system of `source`, and the path in it."""
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        raise TypeError(f"expected a path, a URL, or an object with read and seek or with read_ranges and size, "
                        f"got {type(source).__name__}")
    if filesystem is not None:
        return filesystem, str(source)
    located: tuple[Any, str] = need("fsspec", "opening a URL").core.url_to_fs(str(source))
    return located


def files_of(source: Any, filesystem: Any) -> RangedFile | TableFiles:
    """Returns the file or the files of a table that `source` names; see cfile.open."""
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        located, path = _located(source, filesystem)
        if located.exists(f"{path.rstrip('/')}/table.cft"):
            return TableFiles(located, path, str(source))
    return file_of(source, filesystem)
