"""Puts new files and tables in their places. What it replaces and removes is only what this library has written."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from . import _native
from .errors import AccessError, ArgumentError, DataError, ExistsError, NotFoundError, UnsupportedError
from .locations import Location, opened_at

T = TypeVar("T")
FILE_MAGICS = (b"kuducfl2", b"kuducfil")
_TABLE_MAGICS = (b"cfiletb1", b"cfiletb2")


def publish(target: Location, overwrite: bool, write_at: Callable[[Location], T]) -> T:
    """Calls write_at(path), which writes what will be at `target`, and returns its result.

    If something is there, it writes beside `target`, and both are exchanged at the end. ExistsError: something is there, and not overwrite.
    ArgumentError: it is something else than a file or a table of this library, the table's directory has further files, or `target` is
    inside a table.
    """
    if not isinstance(target, str):
        return _publish_url(target, overwrite, write_at)
    check_outside_tables(target)
    is_there = os.path.lexists(target) and not (os.path.isdir(target) and not os.listdir(target))
    if not is_there:
        return write_at(target)
    if not overwrite:
        raise ExistsError(f"{target}: something is there; use overwrite=True, or append to it")
    _check_own(target, target)
    import shutil
    import uuid
    beside = f"{target.rstrip('/')}.{uuid.uuid4().hex}"
    old = f"{beside}.old"
    try:
        result = write_at(beside)
        os.rename(target, old)
        try:
            _check_own(old, target)  # again: another program may have added files meanwhile
            os.rename(beside, target)
        except BaseException:
            os.rename(old, target)
            raise
        return result
    finally:
        for left in (beside, old):
            if os.path.isdir(left) and not os.path.islink(left):
                shutil.rmtree(left)
            elif os.path.lexists(left):
                os.unlink(left)


def _publish_url(target: _native.Location, overwrite: bool, write_at: Callable[[Location], T]) -> T:
    is_table = is_own = False
    is_there = True
    try:
        is_table, is_own = opened_at(target).is_table, True
    except NotFoundError:
        is_there = False
    except UnsupportedError:
        is_own = True  # of a newer version
    except DataError:
        pass
    except AccessError:  # S3 also says so of a new file, if the user may not list the bucket
        if not overwrite:
            raise
        is_there = False
    if is_there and not overwrite:
        raise ExistsError(f"{target}: something is there; use overwrite=True for a file, or append to a table")
    if is_table:
        raise ArgumentError(f"{target}: a table at a URL cannot be replaced; remove it first, or write to another URL")
    if is_there and not is_own:
        raise ArgumentError(f"{target} is not a file of cfile, or it is damaged: overwrite=True does not replace it; remove it first")
    return write_at(target)


def check_outside_tables(target: str) -> None:
    """ArgumentError: the path is inside the directory of a table, which has only its own files."""
    folder = os.path.realpath(target)
    while folder != (folder := os.path.dirname(folder)):
        if os.path.lexists(os.path.join(folder, "table.cft")):
            raise ArgumentError(f"{target} is inside the directory of the table {folder}: choose another place")


def _check_own(path: str, name: str) -> None:
    """ArgumentError: what is at `path` is not a file or a table of this library, or has other files. `name`: for messages."""
    is_table = os.path.isdir(path)
    file = os.path.join(path, "table.cft") if is_table else path
    start = None
    if os.path.isfile(file):
        with open(file, "rb") as opened:
            start = opened.read(8)
    if start not in (_TABLE_MAGICS if is_table else (*FILE_MAGICS, b"")):  # nothing is lost with an empty file
        raise ArgumentError(f"{name} is not a {'table' if is_table else 'file'} of cfile: overwrite=True replaces only files and tables "
                            "of cfile")
    foreign = _foreign(path, "") if is_table else None
    if foreign is not None:
        raise ArgumentError(f"{name} has files of its table, and also {foreign}, which overwrite=True would remove: move it to another "
                            "place first")


def _foreign(table: str, folder: str) -> str | None:
    """A file or a folder in a folder of a table whose name tables do not give."""
    with os.scandir(os.path.join(table, folder)) as entries:
        for entry in entries:
            name = os.path.join(folder, entry.name)
            if entry.is_dir(follow_symlinks=False):
                found = _foreign(table, name) if not folder and _native.is_table_path(f"{name}/") else name
            else:
                found = None if entry.is_file(follow_symlinks=False) and _native.is_table_path(name) else name
            if found is not None:
                return found
    return None
