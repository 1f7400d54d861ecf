"""The exceptions of the package. All have the base class Error."""
from __future__ import annotations

import errno
import os


class Error(Exception):
    """The base class of all exceptions of this package."""


class DataError(Error):
    """A file or table is damaged.

    `file` is the path of the damaged file, and `offset` is the position of the damaged block in the file, in bytes. Each is None if it
    is not known.
    """

    def __init__(self, message: str, file: str | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.offset = offset

    def __reduce__(self) -> tuple[type[DataError], tuple[object, ...]]:
        return type(self), (str(self), self.file, self.offset)


class LimitError(Error):
    """A file or a value exceeds a limit. The file is not damaged. The text names the limit."""


class UnsupportedError(Error):
    """This version of the library does not have a type, a codec or a feature. The text names it."""


class ConflictError(Error):
    """The table has changed in a way that makes this operation impossible. Open the table again."""


class ArgumentError(Error, ValueError):
    """An argument does not fit the table, the file or the data."""

    _unfit_rows = False  # the columns of the table can be changed so that the rows fit


class NotFoundError(Error, FileNotFoundError):
    """There is no such file, table, column or part."""


class ExistsError(Error, FileExistsError):
    """Something is at this path already."""


class AccessError(Error, PermissionError):
    """The system does not allow this operation."""


class SystemFailure(Error, OSError):
    """The system has failed to read or to write."""


# The numbers of absl::StatusCode.
_CLASSES: dict[int, type[Error]] = {
    3: ArgumentError,
    5: NotFoundError,
    6: ExistsError,
    7: AccessError,
    9: ArgumentError,
    10: ConflictError,
    11: LimitError,
    12: UnsupportedError,
    16: AccessError,
}


def error_of(code: int, message: str) -> BaseException:
    """Returns the exception for an error of the library. The native module calls this function."""
    if code == 15:
        return _data_error(message)
    message = message.replace("ReaderOptions::stored_rows", "stored_rows=True")
    if message.endswith("must have different keys"):
        message += ("; keep the last row of each key before writing, for example with drop_duplicates(key, keep='last') of pandas or "
                    "unique(key, keep='last') of Polars")
    # The text of an error of the system ends with the name of the error.
    number = next((number for number in errno.errorcode if message.endswith(os.strerror(number))), None)
    if code == 8 and number in (None, errno.ENOMEM):
        return MemoryError(message)
    error = _CLASSES.get(code, SystemFailure)(message)
    if isinstance(error, OSError):
        error.errno = number
    return error


def _data_error(message: str) -> DataError:
    """Finds the file and the offset in a text: "FILE: block at offset 5, ..." or "block at offset 5, 9 bytes: FILE: ..."."""
    import re
    block = re.search(r"(?:^|: )block at offset (\d+)[^:]*(: |$)", message)
    before = message[:block.start()] if block else message
    file = before or message[block.end() if block else 0:]
    offset = re.search(r"\boffset (\d+)", message)
    return DataError(message, file.partition(": ")[0] if ": " in message else None, int(offset[1]) if offset else None)
